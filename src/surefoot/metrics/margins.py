"""Margins of a vote."""

import numpy as np

from surefoot._exceptions import DataError
from surefoot._numbers import array_of, real_numbers


def voting_margins(tally: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The vote for each row's true class minus the largest vote for another class, between -1 and 1.

    Parameters
    ----------
    tally : array of shape (1, n_rows) or (n_classes, n_rows)
        For two classes one row: the fraction of votes for class 1 minus that for class 0. For more, the fraction of
        votes for each class.
    codes : array of shape (n_rows,)
        Index of each row's true class.

    Returns
    -------
    array of shape (n_rows,)
        The margins; a row with a negative margin is misclassified.

    Examples
    --------
    >>> import numpy as np
    >>> voting_margins(np.array([[0.5, -0.2]]), np.array([1, 1]))
    array([ 0.5, -0.2])
    >>> voting_margins(np.array([[0.5], [0.3], [0.2]]), np.array([1]))
    array([-0.2])
    """
    tally, codes = real_numbers("tally", tally), array_of("codes", codes)
    n_classes = max(2, len(tally)) if tally.ndim else 0
    if tally.ndim != 2 or not len(tally):
        raise DataError(
            f"tally must have shape (1, n_rows) or (n_classes, n_rows), got {tally.shape}.", argument="tally"
        )
    if codes.shape != tally.shape[1:] or codes.dtype.kind not in "biu":
        message = f"codes must be {tally.shape[1]} whole numbers, one for each row; got {codes.dtype} of {codes.shape}."
        raise DataError(message, argument="codes")
    if len(codes) and not 0 <= codes.min() <= codes.max() < n_classes:
        raise DataError(f"codes must be from 0 to {n_classes - 1}: the index of each row's class.", argument="codes")
    if len(tally) == 1:
        return tally[0] * (2.0 * codes - 1.0)
    rows = np.arange(len(codes))
    own = tally[codes, rows]
    others = tally.copy()
    others[codes, rows] = -np.inf
    return own - others.max(axis=0)
