"""The guarantee of the inflated argmax: which delta goes with an epsilon, and which epsilon with a delta."""

from dataclasses import dataclass
from math import e, expm1, inf, isnan, log1p, nan, sqrt
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._formatting import rounded_up
from surefoot._parameters import check_boolean, check_integer, check_number

MIN_ROWS = 3
MAX_EPSILON = sqrt(2)
DEFAULT_DELTA = 0.05


@dataclass(frozen=True)
class Guarantee:
    """An epsilon and its deltas: without and with the randomness of drawing the bags, and at most 1."""

    epsilon: float
    delta: float
    delta_monte_carlo: float

    @classmethod
    def of(
        cls, delta: float | None, epsilon: float | None, n_bags: int, *, monte_carlo: bool = False, **setting: Any
    ) -> "Guarantee":
        """Compute what is not given; ``setting`` has the other arguments of `stability_epsilon`."""
        if epsilon is None:
            delta = DEFAULT_DELTA if delta is None else delta
            epsilon = stability_epsilon(delta, n_bags=n_bags if monte_carlo else None, **setting)
        deltas = [min(1.0, stability_delta(epsilon, n_bags=bags, **setting)) for bags in (None, n_bags)]
        return cls(epsilon=check_epsilon(epsilon), delta=deltas[0], delta_monte_carlo=deltas[1])

    def without_theorem(self) -> "Guarantee":
        """The same epsilon for models to which the theorem does not apply: no guarantee."""
        return Guarantee(epsilon=self.epsilon, delta=1.0, delta_monte_carlo=1.0)


NO_GUARANTEE = Guarantee(epsilon=nan, delta=nan, delta_monte_carlo=nan)


def refuse_both(delta: Any, epsilon: Any) -> None:
    """Raise an error if both are given."""
    if delta is not None and epsilon is not None:
        raise ParameterError("delta and epsilon are both given, but each follows from the other: give one of them.")


def check_epsilon(epsilon: float, name: str = "epsilon") -> float:
    """``epsilon`` as a float, if it is above 0 and at most the square root of 2."""
    checked = check_number(name, epsilon, 0, np.inf, include_boundaries="neither")
    if checked > MAX_EPSILON:
        raise ParameterError(
            f"{name} must be at most the square root of 2 (1.4142...), got {epsilon!r}: above it no model could ever "
            "win, because even a model with all the weight would lack the required margin."
        )
    return checked


def stability_epsilon(
    delta: float,
    *,
    n_samples: int,
    bag_size: int | float,
    n_bags: int | None = None,
    n_models: int | None = None,
    replace: bool = False,
) -> float:
    """The smallest epsilon for which `inflated_argmax` guarantees ``delta``.

    The guarantee: for at most a share delta of the rows, removing that row would give a set of models that shares none
    with this one. It does not say that any of them is right.

    Parameters
    ----------
    delta : float
        A fraction of the rows, above 0 and below 1. With few rows not every delta is possible; the error names the
        smallest one that is.
    n_samples : int
        The number of rows, 3 or more.
    bag_size : int or float
        The number of rows in a bag, or their fraction of all rows.
    n_bags : int, default=None
        The number of bags, for a guarantee that also covers the randomness of drawing them. The bound on it is known
        to be very loose. None: without it, as if all possible bags had been drawn.
    n_models : int, default=None
        The number of models to choose from. None: very many.
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
    delta = check_number("delta", delta, 0, 1, include_boundaries="neither")
    movement = _mean_squared_movement(n_samples, bag_size, n_bags, n_models, replace)
    min_delta = movement / MAX_EPSILON**2
    if delta < min_delta * (1 - 1e-12):
        raise ParameterError(_unreachable(delta, min_delta, n_bags))
    return min(sqrt(movement / delta), MAX_EPSILON)


def stability_delta(
    epsilon: float,
    *,
    n_samples: int,
    bag_size: int | float,
    n_bags: int | None = None,
    n_models: int | None = None,
    replace: bool = False,
) -> float:
    """The delta that `inflated_argmax` guarantees with ``epsilon``: the inverse of `stability_epsilon`.

    Parameters
    ----------
    epsilon : float
        Above 0 and at most the square root of 2.
    n_samples : int
        The number of rows, 3 or more.
    bag_size : int or float
        The number of rows in a bag, or their fraction of all rows.
    n_bags : int, default=None
        The number of bags, for a guarantee that also covers the randomness of drawing them. None: without it.
    n_models : int, default=None
        The number of models to choose from. None: very many.
    replace : bool, default=False
        Whether bags are drawn with replacement.

    Returns
    -------
    float
        A fraction of the rows. A value of 1 or more is no guarantee: it holds for any selection.

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
    return movement / checked / checked  # two divisions, because the square of a tiny epsilon would be 0


def guarantee_in_words(delta: float, *, of_labels: bool = False) -> str:
    """The guarantee of a delta, for models or for labels of a row to predict; the number is rounded up."""
    if isnan(delta) or delta < 0:
        raise ParameterError(f"delta must be 0 or more, got {delta!r}.")
    if delta >= 1:
        return "This epsilon carries no guarantee."
    start, rows, members = "For", "rows", "models"
    if of_labels:
        start, rows, members = "For each row to predict, and with very many bags: for", "training rows", "labels"
    return (
        f"{start} at most a share {rounded_up(delta)} of the {rows}, removing that row would give a set of {members} "
        "that shares none with this one. It does not say that any of them is right."
    )


def refuse_few_rows(n_samples: int) -> None:
    """Raise an error if fewer than two rows are left after removing one."""
    if n_samples < MIN_ROWS:
        raise DataError(
            f"Found n_samples={n_samples}, but at least {MIN_ROWS} rows are needed to see the effect of removing one: "
            "use more rows."
        )


def bag_rows(bag_size: Any, n_samples: int, replace: bool) -> int:
    """The number of rows in a bag; a float is a fraction of all rows, and is rounded to the nearest row."""
    refuse_few_rows(n_samples)
    if isinstance(bag_size, float | np.floating):
        if not 0 < bag_size < 1:
            raise ParameterError(
                f"bag_size must be a fraction of the rows between 0 and 1, or a number of rows, got {bag_size!r}."
            )
        size = max(1, int(bag_size * n_samples + 0.5))
    else:
        size = check_integer("bag_size", bag_size, 1)
    if size >= n_samples and not replace:
        raise ParameterError(
            f"bag_size={bag_size!r} makes bags of {size} of {n_samples} rows, but a bag drawn without replacement must "
            "leave a row out: use smaller bags."
        )
    return size


def _mean_squared_movement(
    n_samples: int, bag_size: int | float, n_bags: int | None, n_models: int | None, replace: bool
) -> float:
    """A bound on how far the weights move when a row is removed: squared, and averaged over the rows."""
    n_rows = check_integer("n_samples", n_samples, MIN_ROWS)
    check_boolean("replace", replace)
    size = bag_rows(bag_size, n_rows, replace)
    movement = _odds_of_being_drawn(n_rows, size, replace) / (n_rows - 1)
    if n_bags is not None:
        movement += 16 * e**2 / check_integer("n_bags", n_bags, 1)
    if n_models is not None:
        movement *= 1 - 1 / check_integer("n_models", n_models, 2, inf)
    return movement


def _odds_of_being_drawn(n_rows: int, size: int, replace: bool) -> float:
    """How many times more probable it is that a bag holds a row than that it does not."""
    if not replace:
        return size / (n_rows - size)
    log_missed = size * log1p(-1 / n_rows)  # logarithm of the probability that the bag does not hold the row
    return expm1(-log_missed) if log_missed > -700 else inf


def _unreachable(delta: float, min_delta: float, n_bags: int | None) -> str:
    """The error message for a delta that is too small."""
    more_bags = ", more bags, or leave the randomness of the bags out (monte_carlo=False, n_bags=None)"
    advice = f"smaller bags, more rows{'' if n_bags is None else more_bags}"
    if min_delta >= 1:
        return (
            f"delta={delta!r} cannot be guaranteed, nor can any other with so few rows or such large bags: use "
            f"{advice}."
        )
    return (
        f"delta={delta!r} would need an epsilon above the square root of 2, with which no model could ever win: the "
        f"smallest possible delta is {rounded_up(min_delta)}; use that, or {advice}."
    )
