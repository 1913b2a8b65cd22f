"""A selector of the parameters that win a search."""

from collections.abc import Hashable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from surefoot._exceptions import ParameterError
from surefoot.selection.selector import PreparedPython, Selector, open_random_states
from surefoot.selection.table import ANY_TARGET, SelectionTable, take_rows


class SearchSelector(Selector):
    """Choose the parameters that win a search, such as scikit-learn's ``GridSearchCV``.

    A model is a tuple of pairs ``(name, value)``, sorted by name. Values that are not hashable, or not equal to a copy
    of themselves (estimators), are replaced by their ``repr``.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV, or another estimator that has ``best_params_`` after ``fit``
        A copy is fitted on each bag, with the bag's rows of the X and y that were passed to ``StableSelector.fit``: a
        frame stays a frame. Random states that are None are set to 0, in the search and in its estimator, so that a
        bag's winner depends on the rows of the bag only; set the random state of a ``cv`` that shuffles.

    See Also
    --------
    surefoot.StableSelector : Runs a selector on many bags of rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefoot import StableSelector
    >>> from surefoot.selection.search_selector import SearchSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, cv=3)
    >>> stable = StableSelector(SearchSelector(search), n_bags=20, bag_size=0.4, random_state=0).fit(X, y)
    >>> stable.selected_
    ((('max_depth', 2),),)
    """

    target = ANY_TARGET
    may_be_constant = True

    def __init__(self, search: Any) -> None:
        self.search = search

    def prepare(self, table: SelectionTable) -> "PreparedSearch":
        """Copy the search, with fixed random states and without refitting the winner.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedSearch
            Chooses a model for each bag of rows.
        """
        if isinstance(self.search, type) or not all(hasattr(self.search, name) for name in ("fit", "get_params")):
            raise ParameterError(f"search must be a search such as scikit-learn's GridSearchCV, got {self.search!r}.")
        search = clone(self.search)
        search.set_params(**dict.fromkeys(open_random_states(search), 0))
        if isinstance(search, GridSearchCV | RandomizedSearchCV) and search.refit is True:
            search.set_params(refit=False)
        return PreparedSearch(search, *table.given)


@dataclass(frozen=True)
class PreparedSearch(PreparedPython):
    """A search with its table."""

    search: Any
    X: Any
    y: Any
    bags_per_call = 1  # a search is many fits

    def model_of(self, rows: np.ndarray) -> Any:
        """The winner's parameters."""
        fitted = clone(self.search).fit(take_rows(self.X, rows), take_rows(self.y, rows))
        return tuple((name, _comparable(value)) for name, value in sorted(fitted.best_params_.items()))


def _comparable(value: Any) -> Hashable:
    """The value, if it can be compared with the values of other bags; if not, its ``repr``."""
    try:
        hash(value)
        return value if bool(deepcopy(value) == value) else repr(value)
    except (TypeError, ValueError):
        return repr(value)
