"""What a selector is: something that chooses a model from some rows of a table."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from surefoot._parameters import check_choice
from surefoot.selection.table import ANY_TARGET, CLASSES, NO_TARGET, NUMBERS, SelectionTable

__all__ = [
    "ANY_TARGET",
    "BAG_MEDIAN",
    "CLASSES",
    "ERROR",
    "NO_TARGET",
    "NUMBERS",
    "BagError",
    "PreparedPython",
    "PreparedSelector",
    "Selector",
    "open_random_states",
]


ERROR, BAG_MEDIAN = "error", "bag_median"  # what a selector does with missing values


class BagError(Exception):
    """A bag has no model: its place among the bags of one call, and why."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index, self.reason = index, reason


class PreparedSelector(Protocol):
    """A selector with a table: what all bags share is computed. Several threads call it at once."""

    @property
    def items(self) -> tuple[Hashable, ...] | None:
        """What models are subsets of (names of variables, edges, ...), or None: models are anything hashable."""

    @property
    def are_variables(self) -> bool:
        """Whether the items are the table's variables, in their order."""

    @property
    def bags_per_call(self) -> int:
        """So many bags take well under 200 milliseconds, for Ctrl-C to be noticed between calls."""

    def select(self, bags: np.ndarray) -> np.ndarray | list:
        """The model of each bag.

        Parameters
        ----------
        bags : int32 array of shape (n_bags, size)
            Row numbers in ascending order; a row that was drawn twice is there twice.

        Returns
        -------
        models : bool array of shape (n_bags, n_items), or a list
            Which items a bag's model has. Without items, a hashable model for each bag, or a dict of models and their
            weights.
        """


class Selector(ABC, BaseEstimator):
    """Chooses a model from some rows of a table; ``StableSelector`` lets it choose on many bags of rows."""

    pool_is_exact: ClassVar[bool] = True  # a bag's model depends on its rows alone, not on those that it leaves out
    may_be_constant: ClassVar[bool] = False  # whether a column of equal values is no error
    target: ClassVar[str] = NO_TARGET
    fit_arguments: ClassVar[tuple[str, ...]] = ()  # what else ``fit`` takes

    @property
    def fills_gaps(self) -> bool:
        """Whether missing values are filled in each bag; else they are refused."""
        return check_choice("missing", getattr(self, "missing", ERROR), (ERROR, BAG_MEDIAN)) == BAG_MEDIAN

    @abstractmethod
    def prepare(self, table: SelectionTable) -> PreparedSelector:
        """Check parameters and table, and compute what all bags share.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedSelector
            Chooses a model for each bag of rows.
        """


class PreparedPython(ABC):
    """A selector with its table, for which Python code finds a hashable model of each bag, or weights of several.

    Subclasses are frozen dataclasses of things that can be pickled: no function made on the spot.
    """

    items = None
    are_variables = False
    bags_per_call = 16

    @abstractmethod
    def model_of(self, rows: np.ndarray) -> Any:
        """The model of one bag, or a dict of models and their weights."""

    def select(self, bags: np.ndarray) -> list:
        """The model of each bag."""
        return [self._model(index, rows) for index, rows in enumerate(bags)]

    def _model(self, index: int, rows: np.ndarray) -> Any:
        try:
            return self.model_of(rows)
        except Exception as error:  # whatever the user's code raises; Ctrl-C passes
            raise BagError(index, f"{type(error).__name__}: {error}") from error


def open_random_states(estimator: Any) -> list[str]:
    """The parameters of an estimator, and of those inside it, that leave random numbers to chance."""
    parameters = estimator.get_params()
    return [name for name, value in parameters.items() if value is None and name.split("__")[-1] == "random_state"]
