"""Missing values of a bag, filled in plain NumPy."""

import numpy as np


def filled(rows):
    """A bag's rows with the medians of its known values where there are gaps, and 0 where none is known."""
    rows = np.array(rows)
    for column in rows.T:
        known = column[~np.isnan(column)]
        column[np.isnan(column)] = np.median(known) if len(known) else 0.0
    return rows
