"""Table 1: how well total and knowledge uncertainty find errors and out-of-domain rows."""

from surefoot_experiments.uncertainty.comparison_table import Layout
from surefoot_experiments.uncertainty.datasets import CLASSIFICATION, REGRESSION
from surefoot_experiments.uncertainty.methods import BOOSTERS

LAYOUT = Layout(
    1,
    "Detection of errors and of out-of-domain rows",
    BOOSTERS,
    tuple((task, measure) for task in (CLASSIFICATION, REGRESSION) for measure in ("prr", "auc", "auc2")),
    ("total", "knowledge"),
)
