"""Table 6: SGLB beside random forests, RMSE."""

from surefoot.reproduce.uncertainty.comparison_table import Layout
from surefoot.reproduce.uncertainty.datasets import REGRESSION
from surefoot.reproduce.uncertainty.methods import FOREST, FORESTS, SGLB, SGLB_ENSEMBLE

LAYOUT = Layout(
    6,
    "Comparison with random forests: RMSE",
    (SGLB, FOREST, SGLB_ENSEMBLE, FORESTS),
    ((REGRESSION, "error"),),
)
