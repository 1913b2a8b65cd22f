"""Rules that return models, given their weights; above all the inflated argmax."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import array_of, real_numbers
from surefoot._parameters import check_integer, check_number, is_one_of
from surefoot.selection.guarantee import MAX_EPSILON, check_epsilon

INFLATED_ARGMAX = "inflated_argmax"  # the rule whose epsilon follows from delta
ROUNDING = 1e-12  # a distance that differs from epsilon by at most this fraction of it counts as equal to epsilon
CELLS_AT_ONCE = 2**19


class SelectionRule(ABC):
    """Choose models by their weights; weights are fractions of the bags, so equal weights are equal to the last bit."""

    def choose_many(self, weights: np.ndarray) -> np.ndarray:
        """Choose models for each of many weightings.

        Parameters
        ----------
        weights : array of shape (n_sets, n_models)
            A weighting of the models in each row.

        Returns
        -------
        bool array of shape (n_sets, n_models)
            Which models are chosen.
        """
        weightings = real_numbers("weights", weights)
        if weightings.ndim != 2 or weightings.shape[1] == 0 or np.isnan(weightings).any():
            message = f"weights must be numbers of shape (n_sets, n_models), none missing; got {weightings.shape}."
            raise DataError(message, argument="weights")
        return self._choose_many(weightings)

    @abstractmethod
    def _choose_many(self, weights: np.ndarray) -> np.ndarray:
        """The same; each rule has its own."""

    def choose(self, weights: np.ndarray, members: np.ndarray | None = None) -> np.ndarray:
        """Choose models.

        Parameters
        ----------
        weights : array of shape (n_models,)
            The weights of the models.
        members : bool array of shape (n_models, n_items) or None, default=None
            Which items each model has, if models are sets.

        Returns
        -------
        array of int
            The indices of the chosen models, heaviest first.
        """
        weights = real_numbers("weights", weights)
        return heaviest_first(weights, self.choose_many(weights[np.newaxis])[0])

    def chosen_items(self, weights: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return the items of the chosen models.

        Parameters
        ----------
        weights : array of shape (n_models,)
            The weights of the models.
        members : bool array of shape (n_models, n_items)
            Which items each model has, if models are sets.

        Returns
        -------
        bool array of shape (n_chosen, n_items)
            The items of each chosen model, heaviest first.
        """
        return _checked_members(members, weights)[self.choose(weights, members)]


@dataclass(frozen=True)
class Argmax(SelectionRule):
    """The model that most bags chose; several models if they are tied.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.rules import Argmax
    >>> Argmax().choose(np.array([0.2, 0.4, 0.4])).tolist()
    [1, 2]
    """

    def _choose_many(self, weights: np.ndarray) -> np.ndarray:
        return weights == weights.max(axis=1, keepdims=True)


@dataclass(frozen=True)
class TopK(SelectionRule):
    """The ``k`` heaviest models and those tied with the last of them, but never a model that no bag chose.

    Parameters
    ----------
    k : int
        How many models are chosen, 1 or more.

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

    def _choose_many(self, weights: np.ndarray) -> np.ndarray:
        chosen = weights > 0
        place = weights.shape[1] - self.k  # of the last chosen model, counted from the lightest
        if place <= 0:
            return chosen
        n_sets = max(1, CELLS_AT_ONCE // weights.shape[1])
        for start in range(0, len(weights), n_sets):
            block = weights[start : start + n_sets]
            chosen[start : start + n_sets] &= block >= np.partition(block, place, axis=1)[:, place, np.newaxis]
        return chosen


@dataclass(frozen=True)
class InclusionProbability(SelectionRule):
    """A single model: all items that are in at least a fraction ``tau`` of the bags' models.

    This rule is only for models that are sets of items, such as variables. It chooses items (``chosen_items``), and may
    return a model that no bag chose; ``choose`` and ``choose_many`` raise a ParameterError.

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
        check_number("tau", self.tau, 0, 1, include_boundaries="right")

    def _choose_many(self, weights: np.ndarray) -> np.ndarray:
        raise ParameterError(
            "InclusionProbability chooses items, not models: it is only for models that are sets of items (such as "
            "variables). Use another rule."
        )

    def chosen_items(self, weights: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return the items that are in at least a fraction ``tau`` of the bags' models.

        Parameters
        ----------
        weights : array of shape (n_models,)
            The weights of the models.
        members : bool array of shape (n_models, n_items)
            Which items each model has, if models are sets.

        Returns
        -------
        bool array of shape (1, n_items)
            The one chosen model.
        """
        members = _checked_members(members, weights)
        weights = real_numbers("weights", weights)
        # adds in the order of the models, with any number of threads
        fractions = np.einsum("m,mi->i", weights, members)
        return (fractions >= self.tau - ROUNDING)[np.newaxis]


@dataclass(frozen=True)
class InflatedArgmax(SelectionRule):
    """Every model that could be the clear winner if the weights were slightly different: see `inflated_argmax`.

    If ``epsilon`` is so large that models of weight 0 could win, all of them are chosen.

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

    def _choose_many(self, weights: np.ndarray) -> np.ndarray:
        return inflated_argmax_many(weights, float(self.epsilon))


def check_rule(rule: Any, **arguments: Any) -> None:
    """Raise an error if this is not a rule, or if it does not use the given arguments (None: not given)."""
    if not (isinstance(rule, SelectionRule) or is_one_of(rule, (INFLATED_ARGMAX,))):
        raise ParameterError(
            f"rule must be 'inflated_argmax' or a rule such as surefoot.selection.TopK(2), got {rule!r}."
        )
    for name, value in arguments.items():
        if value is not None and rule != INFLATED_ARGMAX:
            raise ParameterError(f"{name} is for rule='inflated_argmax': leave it out with another rule.")


def inflated_argmax(weights: Any, epsilon: float) -> np.ndarray:
    """The models that are less than ``epsilon`` away from being the heaviest by a margin of ``epsilon / sqrt(2)``.

    A model is returned if some weights that are nonnegative, sum to 1 and are less than ``epsilon`` away from the given
    weights make it heavier than every other model by at least ``epsilon / sqrt(2)``. So the heaviest model is
    always returned, models of equal weight are returned together, and of two models the second is returned exactly if
    it is less than ``epsilon / sqrt(2)`` lighter than the first. Any two weightings less than ``epsilon`` apart have a
    returned model in common.

    Parameters
    ----------
    weights : array of shape (n_models,)
        Nonnegative, with the sum 1. Models of weight 0 may be left out: they change nothing for the others.
    epsilon : float
        Above 0 and at most the square root of 2. `stability_epsilon` computes the one that guarantees a delta.

    Returns
    -------
    array of int
        The indices of the models, heaviest first; models of equal weight in the order given.

    Examples
    --------
    >>> from surefoot.selection.rules import inflated_argmax
    >>> inflated_argmax([0.10, 0.46, 0.44], epsilon=0.1).tolist()
    [1, 2]
    >>> inflated_argmax([0.10, 0.60, 0.30], epsilon=0.1).tolist()
    [1]
    """
    checked = check_weights(weights)
    chosen = inflated_argmax_many(checked[np.newaxis], check_epsilon(epsilon))[0]
    return heaviest_first(checked, chosen)


def inflated_argmax_many(weights: np.ndarray, epsilon: float) -> np.ndarray:
    """Which models are returned for each of many weightings: bool (n_sets, n_models) of float64 (n_sets, n_models).

    The weights and ``epsilon`` are those of `inflated_argmax`, and are not checked again.
    """
    chosen = np.empty(weights.shape, dtype=bool)
    n_sets = max(1, CELLS_AT_ONCE // weights.shape[1])
    for start in range(0, len(weights), n_sets):
        gaps = _gaps(weights[start : start + n_sets], epsilon)
        chosen[start : start + n_sets] = gaps < _reach(gaps)[:, np.newaxis] - ROUNDING
    return chosen


def unseen_would_enter(weights: np.ndarray, epsilon: float) -> bool:
    """Whether a model that no bag chose would be returned: then all such models would, and nothing is decided."""
    return bool(inflated_argmax_many(np.append(weights, 0.0)[np.newaxis], epsilon)[0, -1])


def _checked_members(members: Any, weights: Any) -> np.ndarray:
    """Which items each model has, as an array with a row for each weight."""
    items = array_of("members", members)
    if items.ndim != 2 or items.dtype.kind not in "biu" or items.shape[:1] != array_of("weights", weights).shape:
        message = f"members must be booleans of shape (n_models, n_items), for one weight per model; got {items.shape}."
        raise DataError(message, argument="members")
    return items


def heaviest_first(weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The indices of the chosen models by descending weight; models of equal weight in the order given."""
    indices = np.flatnonzero(chosen)
    return indices[np.argsort(-weights[indices], kind="stable")]


def check_weights(weights: Any) -> np.ndarray:
    """Weights as float64, if they are nonnegative and sum to 1."""
    array = array_of("weights", weights)
    if array.dtype.kind not in "biuf":
        raise DataError(f"weights must be numbers, got an array of dtype {array.dtype}.")
    if array.ndim != 1 or len(array) == 0:
        raise DataError(f"weights must be one-dimensional, a weight for each model; got shape {array.shape}.")
    array = real_numbers("weights", array)
    if not np.isfinite(array).all() or (array < 0).any():
        raise DataError("weights must be 0 or more, and finite: pass the fraction of the bags that chose each model.")
    with np.errstate(over="ignore"):
        total = array.sum()
    if abs(total - 1) > 1e-6:
        raise DataError(f"weights must have the sum 1, not {total:.6g}: divide them by their sum.")
    return array


def _gaps(weights: np.ndarray, epsilon: float) -> np.ndarray:
    """How much lighter each model is than the heaviest of its set, in margins; larger gaps than 2 become 2."""
    margin = epsilon / MAX_EPSILON
    behind = weights.max(axis=1, keepdims=True) - weights
    return np.minimum(behind, 2 * margin) / margin  # the limit of 2 keeps the result finite for the smallest epsilon


def _reach(gaps: np.ndarray) -> np.ndarray:
    """The gap from which on models are not returned, for each set (n_sets, n_models) of gaps.

    The nearest weights that let a model of gap g win do two things: they lower all models whose gap is below a level t
    to that level, and they raise the model to one margin above it, by as much as the others lose together:
    ``g + 1 - t = sum(t - gap)`` over the lowered models. Nothing else moves, and no weight becomes negative: the level
    is above the unchanged weights, and if all change, they have equal parts of the rest of 1. The squared distance
    ``sum(t - gap)**2 + sum((t - gap)**2)`` grows with t, and so does g: the reach is the g at which it is 2, which is
    epsilon squared. A model with a gap below its level is within the reach.

    The two sums are accumulated from gap to gap in ascending order, as sums of positive terms: nothing cancels.
    """
    gaps = np.sort(gaps, axis=1)
    steps = np.diff(gaps, axis=1)
    lowered, squares = np.zeros_like(gaps), np.zeros_like(gaps)  # the two sums if the level is at each gap
    np.cumsum(steps * np.arange(1, gaps.shape[1]), axis=1, out=lowered[:, 1:])
    np.cumsum(steps * (lowered[:, :-1] + lowered[:, 1:]), axis=1, out=squares[:, 1:])
    n_lowered = (lowered**2 + squares < 2).sum(axis=1)

    last = (np.arange(len(gaps)), n_lowered - 1)
    lost = np.sqrt((lowered[last] ** 2 + n_lowered * (2 - squares[last])) / (n_lowered + 1))  # at the level sought
    level = gaps[last] + (lost - lowered[last]) / n_lowered
    return level + lost - 1
