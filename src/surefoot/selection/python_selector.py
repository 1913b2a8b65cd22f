"""Selectors whose model of a bag is found by Python code, one bag at a time."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from surefoot.selection.selector import BagError


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
