"""The area under the ROC curve: of an uncertainty as a detector of out-of-domain rows, or of any other score."""

from typing import Any

import numpy as np

from surefoot.metrics.checks import check_numbers, check_row_weights, weighted_mean


def ood_auc(
    in_domain: Any, out_of_domain: Any, *, in_domain_weight: Any = None, out_of_domain_weight: Any = None
) -> float:
    """The probability that an out-of-domain row is more uncertain than an in-domain row: the area under the ROC curve.

    1 is perfect detection, 1/2 is no better than chance. Equal uncertainties count one half.

    Parameters
    ----------
    in_domain, out_of_domain : arrays
        The uncertainties of rows that are like the training data, and of other rows. Only their order counts, so they
        may be infinite.
    in_domain_weight, out_of_domain_weight : arrays, default=None
        Weights of these rows. None: every row counts 1.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from surefoot.metrics import ood_auc
    >>> ood_auc([0.1, 0.2, 0.3, 0.4], [0.25, 0.5])
    0.75
    """
    inside = check_numbers("in_domain", in_domain, infinite_allowed=True)
    outside = check_numbers("out_of_domain", out_of_domain, infinite_allowed=True)
    inside_weights = check_row_weights(in_domain_weight, len(inside), "in_domain_weight")
    outside_weights = check_row_weights(out_of_domain_weight, len(outside), "out_of_domain_weight")
    return weighted_auc(inside, outside, inside_weights, outside_weights)


def weighted_auc(
    negative: np.ndarray, positive: np.ndarray, negative_weights: np.ndarray, positive_weights: np.ndarray
) -> float:
    """The probability that a positive row scores higher than a negative one; equal scores count one half."""
    order = np.argsort(negative)
    negative = negative[order]
    mass_before = np.concatenate([[0.0], np.cumsum(negative_weights[order])])
    less = mass_before[np.searchsorted(negative, positive, side="left")]
    at_most = mass_before[np.searchsorted(negative, positive, side="right")]
    return weighted_mean((less + at_most) / (2 * mass_before[-1]), positive_weights)


def auc_of_ranks(ranks: np.ndarray, positive: np.ndarray) -> float:
    """The AUC from the ranks of the scores (``scipy.stats.rankdata``); 0.5 if there are rows of one kind only."""
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    return float((ranks[positive].sum() - n1 * (n1 + 1) / 2) / (n0 * n1)) if n0 * n1 else 0.5
