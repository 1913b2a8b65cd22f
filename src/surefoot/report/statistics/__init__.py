"""95% intervals of what is measured on held-out rows, and what they decide."""

from surefoot.report.statistics.auc_intervals import auc_interval, paired_auc_difference
from surefoot.report.statistics.estimates import (
    INSIDE,
    OUTSIDE,
    UNDECIDED,
    Estimate,
    decide,
    is_one_sided,
    is_withheld,
    root_of,
    rows_needed,
    unpaired_difference,
    unpaired_ratio,
    withheld,
    within,
)
from surefoot.report.statistics.fold_draws import cross_fitted, mean_record, narrowed_record, redrawn, standard_error
from surefoot.report.statistics.means import (
    explained_variance,
    mean_interval,
    mean_loss_interval,
    paired_mean_difference,
    paired_rms_difference,
    paired_rms_ratio,
    rms_ratio,
    root_mean_square_interval,
)
from surefoot.report.statistics.rates import paired_rate_difference, rate_interval
from surefoot.report.statistics.rejection import rejection_ratio_interval
from surefoot.report.statistics.standard_errors import mean_of, size_of

__all__ = [
    "INSIDE",
    "OUTSIDE",
    "UNDECIDED",
    "Estimate",
    "auc_interval",
    "cross_fitted",
    "decide",
    "explained_variance",
    "is_one_sided",
    "is_withheld",
    "mean_interval",
    "mean_loss_interval",
    "mean_of",
    "mean_record",
    "narrowed_record",
    "paired_auc_difference",
    "paired_mean_difference",
    "paired_rate_difference",
    "paired_rms_difference",
    "paired_rms_ratio",
    "rate_interval",
    "redrawn",
    "rejection_ratio_interval",
    "rms_ratio",
    "root_mean_square_interval",
    "root_of",
    "rows_needed",
    "size_of",
    "standard_error",
    "unpaired_difference",
    "unpaired_ratio",
    "withheld",
    "within",
]
