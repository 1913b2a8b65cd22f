"""Margins of a vote."""

import numpy as np


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
    if len(tally) == 1:
        return tally[0] * (2.0 * codes - 1.0)
    rows = np.arange(len(codes))
    own = tally[codes, rows]
    others = tally.copy()
    others[codes, rows] = -np.inf
    return own - others.max(axis=0)
