"""Table 5: SGLB beside random forests, likelihood and error of classifiers."""

from surefoot_experiments.uncertainty.comparison_table import Layout
from surefoot_experiments.uncertainty.datasets import CLASSIFICATION
from surefoot_experiments.uncertainty.methods import FOREST, FORESTS, SGLB, SGLB_ENSEMBLE

LAYOUT = Layout(
    5,
    "Comparison with random forests: NLL and error rate of classifiers",
    (SGLB, FOREST, SGLB_ENSEMBLE, FORESTS),
    ((CLASSIFICATION, "nll"), (CLASSIFICATION, "error")),
)
