"""Derivatives of states with respect to time, from the parabola through each state and its neighbours."""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError

MIN_ROWS = 3  # for a parabola


def check_times(t: Any, n_rows: int) -> np.ndarray:
    """``t`` as float64, if it has a time for each row and is strictly increasing."""
    times = np.asarray(t)
    if times.shape != (n_rows,):
        raise DataError(f"t must have one time for each of the {n_rows} rows of X, got shape {times.shape}.")
    try:
        if times.dtype.kind in "mMSUc":
            raise TypeError
        times = times.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("t must be numbers: give dates as days or seconds since the first date.") from None
    if not np.isfinite(times).all():
        raise DataError("t has missing or infinite times: drop these rows.")
    if not (times[1:] > times[:-1]).all():
        raise DataError("t must be strictly increasing: sort the rows by time, and keep one row for each time.")
    return times


def differentiate(states: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Derivatives of states at their times, exact for parabolas, whether or not the times are evenly spaced.

    The derivative of a state between two others is the slope of the parabola through the three. The first and the last
    state use the parabola through the first and the last three states.

    Parameters
    ----------
    states : array of shape (n_rows, n_variables)
        The states, at least three rows.
    times : array of shape (n_rows,)
        Strictly increasing.

    Returns
    -------
    derivatives : array of shape (n_rows, n_variables)
        Infinite or NaN where a slope exceeds float64.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.finite_differences import differentiate
    >>> times = np.array([0.0, 1.0, 2.0, 4.0])
    >>> differentiate(np.column_stack([times, times**2]), times)
    array([[1., 0.],
           [1., 2.],
           [1., 4.],
           [1., 8.]])
    """
    with np.errstate(all="ignore"):
        return np.gradient(states, times, axis=0, edge_order=2)
