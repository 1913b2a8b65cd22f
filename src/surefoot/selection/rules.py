"""Rules that turn the models' weights into the models to return."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._parameters import check_integer, check_number
from surefoot.selection.inflated_argmax import check_epsilon, heaviest_first, inflated_argmax_many

CELLS_AT_ONCE = 2**19
ROUNDING = 1e-12


class SelectionRule(ABC):
    """Says which models to return; weights are shares of the bags, so equal ones are equal to the last bit."""

    @abstractmethod
    def choose_many(self, weights: np.ndarray) -> np.ndarray:
        """Which models are chosen for each of many weightings: bool (n_sets, n_models) of (n_sets, n_models)."""

    def choose(self, weights: np.ndarray, members: np.ndarray | None = None) -> np.ndarray:
        """The indices of the chosen models, heaviest first; ``members`` (n_models, n_items) are the models' items."""
        return heaviest_first(weights, self.choose_many(weights[np.newaxis])[0])

    def chosen_items(self, weights: np.ndarray, members: np.ndarray) -> np.ndarray:
        """The items of the chosen models, heaviest first: bool (n_chosen, n_items)."""
        return members[self.choose(weights, members)]


@dataclass(frozen=True)
class Argmax(SelectionRule):
    """The model that most bags chose; several where they are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.rules import Argmax
    >>> Argmax().choose(np.array([0.2, 0.4, 0.4])).tolist()
    [1, 2]
    """

    def choose_many(self, weights: np.ndarray) -> np.ndarray:
        return weights == weights.max(axis=1, keepdims=True)


@dataclass(frozen=True)
class TopK(SelectionRule):
    """The ``k`` heaviest models, and those that equal the last of them; never a model that no bag chose.

    Parameters
    ----------
    k : int

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.rules import TopK
    >>> TopK(2).choose(np.array([0.2, 0.4, 0.1, 0.2, 0.1])).tolist()
    [1, 0, 3]
    """

    k: int

    def __post_init__(self) -> None:
        check_integer("k", self.k, 1)

    def choose_many(self, weights: np.ndarray) -> np.ndarray:
        chosen = weights > 0
        place = weights.shape[1] - self.k  # of the last one, counted from the lightest
        if place <= 0:
            return chosen
        n_sets = max(1, CELLS_AT_ONCE // weights.shape[1])
        for start in range(0, len(weights), n_sets):
            block = weights[start : start + n_sets]
            chosen[start : start + n_sets] &= block >= np.partition(block, place, axis=1)[:, place, np.newaxis]
        return chosen


@dataclass(frozen=True)
class InclusionProbability(SelectionRule):
    """The one model of all items that are in at least a share ``tau`` of the bags' models.

    It is only for models that are sets of items, such as variables, and may be a model that no bag chose.

    Parameters
    ----------
    tau : float
        Above 0 and at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.rules import InclusionProbability
    >>> members = np.array([[True, True, False], [True, False, True], [False, True, True]])
    >>> InclusionProbability(0.6).chosen_items(np.array([0.4, 0.4, 0.2]), members).tolist()
    [[True, True, True]]
    """

    tau: float

    def __post_init__(self) -> None:
        check_number("tau", self.tau, 0, 1, most_included=True)

    def choose_many(self, weights: np.ndarray) -> np.ndarray:
        raise ParameterError(
            "InclusionProbability chooses items, not models: it is only for models that are sets of items (such as "
            "variables). Take another rule."
        )

    def chosen_items(self, weights: np.ndarray, members: np.ndarray) -> np.ndarray:
        shares = np.einsum("m,mi->i", weights, members)  # adds in the order of the models, on any number of threads
        return (shares >= self.tau - ROUNDING)[np.newaxis]


@dataclass(frozen=True)
class InflatedArgmax(SelectionRule):
    """Every model that could be the clear winner if the weights were a little different: see `inflated_argmax`.

    Where ``epsilon`` is so large that models without weight could win, all of them are chosen.

    Parameters
    ----------
    epsilon : float
        Above 0 and at most the square root of 2.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.rules import InflatedArgmax
    >>> InflatedArgmax(0.1).choose(np.array([0.10, 0.46, 0.44])).tolist()
    [1, 2]
    """

    epsilon: float

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def choose_many(self, weights: np.ndarray) -> np.ndarray:
        return inflated_argmax_many(weights, float(self.epsilon))
