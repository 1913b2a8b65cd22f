"""Table 6: SGLB beside random forests, RMSE."""

from surefoot_experiments.uncertainty.comparison_table import Layout
from surefoot_experiments.uncertainty.datasets import REGRESSION
from surefoot_experiments.uncertainty.methods import FOREST, FORESTS, SGLB, SGLB_ENSEMBLE

LAYOUT = Layout(
    6,
    "Comparison with random forests: RMSE",
    (SGLB, FOREST, SGLB_ENSEMBLE, FORESTS),
    ((REGRESSION, "error"),),
)
