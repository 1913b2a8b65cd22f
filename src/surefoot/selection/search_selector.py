"""Parameters that a search over parameters prefers."""

from collections.abc import Hashable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from surefoot._exceptions import ParameterError
from surefoot.selection.selector import ANY_TARGET, PreparedPython, Selector, open_random_states
from surefoot.selection.table import SelectionTable, take_rows


class SearchSelector(Selector):
    """Choose the parameters that win a search, such as scikit-learn's ``GridSearchCV``.

    A model is a tuple of pairs ``(name, value)``, by name. Values that are not hashable, or not equal to a copy of
    themselves (estimators), are there as their text.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV, or another estimator that has ``best_params_`` when it is fitted
        Each bag fits a copy, with a bag's rows of X and y as they were given to ``StableSelector.fit``: a frame stays a
        frame. Random states that are None are set to 0, in the search and in its estimator, for a bag's winner to
        depend on its rows alone; give one to a ``cv`` that shuffles.

    See Also
    --------
    surefoot.StableSelector : Bags of rows, and what they agree on.

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
        """Copy the search, with fixed random states and without fitting the winner again.

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
        return tuple((name, _told_apart(value)) for name, value in sorted(fitted.best_params_.items()))


def _told_apart(value: Any) -> Hashable:
    """The value if equal ones of other bags will be known as equal, or else its text."""
    try:
        hash(value)
        return value if bool(deepcopy(value) == value) else repr(value)
    except (TypeError, ValueError):
        return repr(value)
