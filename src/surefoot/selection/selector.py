"""The interface of selectors, which choose a model from some rows of a table."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from surefoot.selection.table import NO_TARGET, SelectionTable


class BagError(Exception):
    """A bag has no model: its index among the bags of one call, and the reason."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index, self.reason = index, reason


class PreparedSelector(Protocol):
    """A selector with its table, after the computations that all bags share. Several threads call it at once."""

    @property
    def items(self) -> tuple[Hashable, ...] | None:
        """What models are subsets of (names of variables, edges, ...); None: models are any hashable objects."""

    @property
    def are_variables(self) -> bool:
        """Whether the items are the table's variables, in their order."""

    @property
    def bags_per_call(self) -> int:
        """How many bags take well under 200 milliseconds: Ctrl-C is noticed between calls."""

    def select(self, bags: np.ndarray) -> np.ndarray | list:
        """Choose the model of each bag.

        Parameters
        ----------
        bags : int32 array of shape (n_bags, size)
            Row numbers in ascending order; a row that was drawn twice appears twice.

        Returns
        -------
        models : bool array of shape (n_bags, n_items), or a list
            Which items a bag's model has. Without items, a hashable model for each bag, or a dict of models and their
            weights.
        """


class Selector(ABC, BaseEstimator):
    """Chooses a model from some rows of a table; ``StableSelector`` lets it choose on many bags of rows."""

    pool_is_exact: ClassVar[bool] = True  # whether the model of a bag depends on the rows of the bag only
    may_be_constant: ClassVar[bool] = False  # whether columns may have the same value in every row
    target: ClassVar[str] = NO_TARGET
    fit_arguments: ClassVar[tuple[str, ...]] = ()  # further arguments of ``fit``

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
    """A selector with its table that chooses in Python: for each bag a hashable model, or weights of several models.

    Subclasses are frozen dataclasses with fields that can be pickled: no functions defined inside functions.
    """

    items = None
    are_variables = False
    bags_per_call = 16

    @abstractmethod
    def model_of(self, rows: np.ndarray) -> Any:
        """The model of one bag, or a dict of models and their weights."""

    def select(self, bags: np.ndarray) -> list:
        """Choose the model of each bag."""
        return [self._model(index, rows) for index, rows in enumerate(bags)]

    def _model(self, index: int, rows: np.ndarray) -> Any:
        try:
            return self.model_of(rows)
        except Exception as error:  # whatever the user's code raises, but not Ctrl-C
            raise BagError(index, f"{type(error).__name__}: {error}") from error


def open_random_states(estimator: Any) -> list[str]:
    """The ``random_state`` parameters that are None, of an estimator and of the estimators inside it."""
    parameters = estimator.get_params()
    return [name for name, value in parameters.items() if value is None and name.split("__")[-1] == "random_state"]
