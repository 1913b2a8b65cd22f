"""Table 7: SGLB beside random forests, detection of errors and out-of-domain rows."""

from surefoot_experiments.uncertainty.comparison_table import Layout
from surefoot_experiments.uncertainty.datasets import CLASSIFICATION, REGRESSION
from surefoot_experiments.uncertainty.methods import FORESTS, SGLB_ENSEMBLE, VIRTUAL_FOREST, VIRTUAL_SGLB

LAYOUT = Layout(
    7,
    "Comparison with random forests: detection of errors and of out-of-domain rows",
    (VIRTUAL_SGLB, VIRTUAL_FOREST, SGLB_ENSEMBLE, FORESTS),
    tuple((task, measure) for task in (CLASSIFICATION, REGRESSION) for measure in ("prr", "auc", "auc2")),
    ("total", "knowledge"),
)
