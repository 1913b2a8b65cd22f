"""What epsilon and delta promise each other: how many rows may turn the conclusion over when they are removed."""

from dataclasses import dataclass
from math import e, expm1, inf, isnan, log1p, sqrt
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._formatting import rounded_up
from surefoot._parameters import check_integer, check_number
from surefoot.selection.rules import LARGEST_EPSILON, check_epsilon

MIN_ROWS = 3
DEFAULT_DELTA = 0.05


@dataclass(frozen=True)
class Promise:
    """An epsilon and the deltas that go with it: without and with the chance in drawing the bags, and at most 1."""

    epsilon: float
    delta: float
    delta_monte_carlo: float

    @classmethod
    def of(
        cls, delta: float | None, epsilon: float | None, n_bags: int, *, monte_carlo: bool = False, **setting: Any
    ) -> "Promise":
        """From the one of the two that the user gave; ``setting`` is that of `stability_epsilon`."""
        if epsilon is None:
            wanted = DEFAULT_DELTA if delta is None else delta
            epsilon = stability_epsilon(wanted, n_bags=n_bags if monte_carlo else None, **setting)
        deltas = (stability_delta(epsilon, n_bags=bags, **setting) for bags in (None, n_bags))
        return cls(check_epsilon(epsilon), *(min(1.0, delta) for delta in deltas))


def refuse_both(delta: Any, epsilon: Any) -> None:
    """An error if the user gave both."""
    if delta is not None and epsilon is not None:
        raise ParameterError("delta and epsilon are both given, but each follows from the other: give one of them.")


def stability_epsilon(
    delta: float,
    *,
    n_samples: int,
    bag_size: int | float,
    n_bags: int | None = None,
    n_models: int | None = None,
    replace: bool = False,
) -> float:
    """The smallest epsilon with which `inflated_argmax` keeps the promise of ``delta``.

    The promise: for at most a share delta of the rows, removing that row would give a set of models that shares none
    with this one. It does not say that any of them is right.

    Parameters
    ----------
    delta : float
        A fraction of the rows, above 0 and below 1. Few rows cannot promise every delta; the error names the
        smallest.
    n_samples : int
        The number of rows, 3 or more.
    bag_size : int or float
        The number of rows in a bag, or their fraction of all rows.
    n_bags : int, default=None
        The number of bags, for a promise that covers the chance in drawing them too. That term is known to be far too
        careful; None leaves it out, as if all bags had been drawn.
    n_models : int, default=None
        How many models there are to choose from. None stands for very many.
    replace : bool, default=False
        Whether bags are drawn with replacement.

    Returns
    -------
    float
        Above 0 and at most the square root of 2.

    References
    ----------
    "Stabilizing black-box model selection with the inflated argmax", theorem 4.2.

    Examples
    --------
    >>> from surefoot.selection.guarantee import stability_epsilon
    >>> round(stability_epsilon(0.05, n_samples=300, bag_size=25), 3)
    0.078
    >>> round(stability_epsilon(0.05, n_samples=300, bag_size=25, n_bags=10_000), 3)
    0.492
    """
    delta = check_number("delta", delta, 0, 1, most_included=False)
    movement = _mean_squared_movement(n_samples, bag_size, n_bags, n_models, replace)
    least = movement / LARGEST_EPSILON**2
    if delta < least * (1 - 1e-12):
        raise ParameterError(_unreachable(delta, least, n_bags))
    return min(sqrt(movement / delta), LARGEST_EPSILON)


def stability_delta(
    epsilon: float,
    *,
    n_samples: int,
    bag_size: int | float,
    n_bags: int | None = None,
    n_models: int | None = None,
    replace: bool = False,
) -> float:
    """The delta that `inflated_argmax` promises with ``epsilon``: the counterpart of `stability_epsilon`.

    Parameters
    ----------
    epsilon : float
        Above 0 and at most the square root of 2.
    n_samples : int
        The number of rows, 3 or more.
    bag_size : int or float
        The number of rows in a bag, or their fraction of all rows.
    n_bags : int, default=None
        The number of bags, for a promise that covers the chance in drawing them too. None leaves that term out.
    n_models : int, default=None
        How many models there are to choose from. None stands for very many.
    replace : bool, default=False
        Whether bags are drawn with replacement.

    Returns
    -------
    float
        A fraction of the rows. A value of 1 or more is no guarantee: it allows every row to turn the conclusion over.

    Examples
    --------
    >>> from surefoot.selection.guarantee import stability_delta
    >>> round(stability_delta(0.1, n_samples=300, bag_size=25), 4)
    0.0304
    >>> round(stability_delta(0.02, n_samples=759, bag_size=700), 1)  # above 1: no guarantee
    39.1
    """
    checked = check_epsilon(epsilon)
    movement = _mean_squared_movement(n_samples, bag_size, n_bags, n_models, replace)
    return movement / checked / checked  # one after the other: the square of a tiny epsilon would be 0


def guarantee_in_words(delta: float) -> str:
    """What a delta promises, in the only words there are for it; the number is rounded up."""
    if isnan(delta) or delta < 0:
        raise ParameterError(f"delta must be 0 or more, got {delta!r}.")
    if delta >= 1:
        return "This epsilon carries no guarantee."
    return (
        f"For at most a share {rounded_up(delta)} of the rows, removing that row would give a set of models that "
        "shares none with this one. It does not say that any of them is right."
    )


def refuse_few_rows(n_samples: int) -> None:
    """An error where removing a row leaves fewer than two."""
    if n_samples < MIN_ROWS:
        raise DataError(
            f"Found n_samples={n_samples}, but at least {MIN_ROWS} rows are needed to tell what removing one does: "
            "take more rows."
        )


def bag_rows(bag_size: Any, n_samples: int, replace: bool) -> int:
    """The number of rows in a bag: a fraction is a share of all rows (to the nearest row), else it is a count."""
    refuse_few_rows(n_samples)
    if isinstance(bag_size, float | np.floating):
        if not 0 < bag_size < 1:
            raise ParameterError(
                f"bag_size must be a share of the rows between 0 and 1, or a whole number of rows, got {bag_size!r}."
            )
        size = max(1, int(bag_size * n_samples + 0.5))
    else:
        size = check_integer("bag_size", bag_size, 1)
    if size >= n_samples and not replace:
        raise ParameterError(
            f"bag_size={bag_size!r} makes bags of {size} of {n_samples} rows, but a bag drawn without replacement must "
            "leave a row out: take smaller bags."
        )
    return size


def _mean_squared_movement(
    n_samples: int, bag_size: int | float, n_bags: int | None, n_models: int | None, replace: bool
) -> float:
    """A bound on how far the weights move when a row is removed: squared, and averaged over the rows."""
    n_rows = check_integer("n_samples", n_samples, MIN_ROWS)
    size = bag_rows(bag_size, n_rows, replace)
    movement = _odds_of_being_drawn(n_rows, size, replace) / (n_rows - 1)
    if n_bags is not None:
        movement += 16 * e**2 / check_integer("n_bags", n_bags, 1)
    if n_models is not None:
        movement *= 1 - 1 / check_integer("n_models", n_models, 2)
    return movement


def _odds_of_being_drawn(n_rows: int, size: int, replace: bool) -> float:
    """How much more likely a row is in a bag than not in it."""
    if not replace:
        return size / (n_rows - size)
    missed = size * log1p(-1 / n_rows)  # the logarithm of the chance
    return expm1(-missed) if missed > -700 else inf


def _unreachable(delta: float, least: float, n_bags: int | None) -> str:
    more_bags = (
        ""
        if n_bags is None
        else ", more bags, or leave their chance out of the promise (monte_carlo=False, n_bags=None)"
    )
    if least >= 1:
        return (
            f"delta={delta!r} cannot be promised, nor can any other with rows this few or bags this large: "
            f"take smaller bags, more rows{more_bags}."
        )
    return (
        f"delta={delta!r} would need an epsilon above the square root of 2, with which no model could ever win: the "
        f"least delta within reach is {rounded_up(least)}; allow that, or take smaller bags, more rows{more_bags}."
    )
