"""Table 5: SGLB beside random forests, likelihood and error of classifiers."""

from surefoot.reproduce.uncertainty.comparison_table import Layout
from surefoot.reproduce.uncertainty.datasets import CLASSIFICATION
from surefoot.reproduce.uncertainty.methods import FOREST, FORESTS, SGLB, SGLB_ENSEMBLE

LAYOUT = Layout(
    5,
    "Comparison with random forests: NLL and error rate of classifiers",
    (SGLB, FOREST, SGLB_ENSEMBLE, FORESTS),
    ((CLASSIFICATION, "nll"), (CLASSIFICATION, "error")),
)
