"""Margins of a vote."""

import numpy as np


def voting_margins(tally: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The vote for each row's own class less the strongest vote for another, between -1 and 1.

    Parameters
    ----------
    tally : array of shape (1, n_rows) or (n_classes, n_rows)
        One row for two classes: the share of the vote for class 1 less that for class 0. Else the share of each class.
    codes : array of shape (n_rows,)
        Index of each row's own class.

    Returns
    -------
    array of shape (n_rows,)
        The margins; a row with a margin below 0 is misclassified.

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
