"""How much each row counts: weights that the user passes, and rows drawn in proportion to them."""

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import real_numbers

MIN_DRAWN = 20  # rows that must remain to compare two tables; of smaller ones, half


def read_weights(values: np.ndarray | None) -> np.ndarray | None:
    """The weights of all rows as numbers; missing, negative and infinite ones are refused."""
    if values is None:
        return None
    try:
        weights = real_numbers("sample_weight", values)
    except DataError as error:
        raise DataError("sample_weight has values that are not numbers.", argument="sample_weight") from error
    for is_wrong, what in (
        (np.isnan(weights), "missing values: fill them in, or leave these rows out"),
        (np.isinf(weights), "infinite values: leave these rows out"),
        (weights < 0, "negative values: weights say how much a row counts"),
    ):
        if is_wrong.any():
            raise DataError(f"sample_weight has {what}.", argument="sample_weight")
    if not weights.any():
        raise DataError("sample_weight is 0 in every row: no row counts.", argument="sample_weight")
    return weights


def unequal(weights: np.ndarray | None) -> np.ndarray | None:
    """The weights, with a mean of 1; None if they are equal, and so change nothing."""
    return None if weights is None or np.ptp(weights) == 0 else weights / weights.mean()


def drawn_by_weight(weights: np.ndarray | None, n_rows: int, seed: int) -> np.ndarray:
    """Numbers of rows that are drawn in proportion to their weights, without replacement; all, if there are none.

    Each row is kept with the probability of its weight divided by the largest one. The rows that remain are a sample of
    the weighted rows in which all count the same, so that methods without weights apply to them.
    """
    if weights is None:
        return np.arange(n_rows)
    drawn = np.flatnonzero(np.random.default_rng([seed, 4]).random(n_rows) * weights.max() < weights)
    enough = min(MIN_DRAWN, (n_rows + 1) // 2)
    if len(drawn) < enough:
        message = (
            f"sample_weight is so uneven that only {len(drawn)} of {n_rows} rows would remain to compare the training "
            f"data with the deployment data (at least {enough}): limit the largest weights, or leave X_new out."
        )
        raise ParameterError(message, argument="sample_weight")
    return drawn
