"""95% intervals of what is measured on held-out rows: the names under one roof."""

from surefoot.report.statistics.bootstrap import bootstrap_interval
from surefoot.report.statistics.cross_fitting import cross_fitted, redrawn
from surefoot.report.statistics.decision import INSIDE, OUTSIDE, UNDECIDED, decide, rows_needed
from surefoot.report.statistics.estimates import (
    is_one_sided,
    is_withheld,
    root_of,
    unpaired_difference,
    unpaired_ratio,
    withheld,
    within,
)
from surefoot.report.statistics.means import mean_interval, mean_loss_interval, paired_mean_difference
from surefoot.report.statistics.ranking import auc_interval, paired_auc_difference
from surefoot.report.statistics.rates import paired_share_difference, rate_difference, rate_ratio, share_interval
from surefoot.report.statistics.rejection import rejection_ratio_interval
from surefoot.report.statistics.squared_errors import (
    explained_variance,
    paired_rms_difference,
    paired_rms_ratio,
    rms_ratio,
    root_mean_square_interval,
)

__all__ = [
    "INSIDE",
    "OUTSIDE",
    "UNDECIDED",
    "auc_interval",
    "bootstrap_interval",
    "cross_fitted",
    "decide",
    "explained_variance",
    "is_one_sided",
    "is_withheld",
    "mean_interval",
    "mean_loss_interval",
    "paired_auc_difference",
    "paired_mean_difference",
    "paired_rms_difference",
    "paired_rms_ratio",
    "paired_share_difference",
    "rate_difference",
    "rate_ratio",
    "redrawn",
    "rejection_ratio_interval",
    "rms_ratio",
    "root_mean_square_interval",
    "root_of",
    "rows_needed",
    "share_interval",
    "unpaired_difference",
    "unpaired_ratio",
    "withheld",
    "within",
]
