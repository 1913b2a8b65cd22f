"""A selector of the number of clusters."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from surefoot._exceptions import ParameterError
from surefoot._parameters import check_boolean, check_integer
from surefoot.selection.selector import PreparedPython, Selector
from surefoot.selection.table import NO_TARGET, SelectionTable


class ClusterCountSelector(Selector):
    """Choose the number of clusters with the largest silhouette score, by k-means (scikit-learn's ``KMeans``).

    If scores are tied, the smallest number is chosen. A number is chosen only in bags that have more distinct rows.

    Parameters
    ----------
    candidates : iterable of int, default=range(2, 9)
        The numbers to choose from, each 2 or more.
    n_init : int, default=5
        How many times k-means is run, from centres drawn with ``random_state=0`` in every bag; the run with the
        tightest clusters counts.
    standardize : bool, default=True
        Whether columns are first scaled to unit variance, by each bag's own variances. If not, a change of units
        changes the clusters.

    See Also
    --------
    surefoot.StableSelector : Runs a selector on many bags of rows.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from surefoot import StableSelector
    >>> from surefoot.selection.cluster_selector import ClusterCountSelector
    >>> X, _ = make_blobs(120, centers=3, random_state=0)
    >>> stable = StableSelector(ClusterCountSelector(range(2, 5)), n_bags=20, bag_size=0.3, random_state=0).fit(X)
    >>> stable.selected_
    (3,)
    """

    target = NO_TARGET
    may_be_constant = True

    def __init__(self, candidates: Iterable[int] = range(2, 9), *, n_init: int = 5, standardize: bool = True) -> None:
        self.candidates = candidates
        self.n_init = n_init
        self.standardize = standardize

    def prepare(self, table: SelectionTable) -> "PreparedClusterCount":
        """Check the candidates.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedClusterCount
            Chooses a model for each bag of rows.
        """
        n_init = check_integer("n_init", self.n_init, 1)
        check_boolean("standardize", self.standardize)
        if isinstance(self.candidates, str | bytes) or not np.iterable(self.candidates):
            message = f"candidates must be whole numbers such as range(2, 9), got {self.candidates!r}."
            raise ParameterError(message, argument="candidates")
        counts = sorted({check_integer("candidates", count, 2) for count in self.candidates})
        if not counts:
            raise ParameterError("candidates is empty: give at least one number of clusters.")
        return PreparedClusterCount(X=table.X, counts=tuple(counts), n_init=n_init, standardize=self.standardize)


@dataclass(frozen=True)
class PreparedClusterCount(PreparedPython):
    """Numbers of clusters to choose from, with a table."""

    X: np.ndarray
    counts: tuple[int, ...]
    n_init: int
    standardize: bool
    bags_per_call = 1  # k-means takes milliseconds for each number of clusters

    def model_of(self, rows: np.ndarray) -> Any:
        """The number of clusters of a bag."""
        X = StandardScaler().fit_transform(self.X[rows]) if self.standardize else self.X[rows]
        n_distinct = len(np.unique(X, axis=0))
        possible = [count for count in self.counts if count < n_distinct]
        if not possible:
            raise ValueError(f"too few distinct rows, {n_distinct}, for {self.counts[0]} clusters; use larger bags.")
        with _compiled_threads().limit(limits=1, user_api="openmp"):  # several threads add in any order, and are slow
            scores = [silhouette_score(X, self._clusters(X, count)) for count in possible]
        return possible[int(np.argmax(scores))]

    def _clusters(self, X: np.ndarray, count: int) -> np.ndarray:
        return KMeans(count, n_init=self.n_init, random_state=0).fit_predict(X)


@cache
def _compiled_threads() -> Any:
    """The controller of the threads of compiled code; created once, because that takes longer than k-means."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # scikit-learn needs it too

    return ThreadpoolController()
