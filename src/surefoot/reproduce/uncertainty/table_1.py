"""Table 1: how well total and knowledge uncertainty find errors and out-of-domain rows."""

from surefoot.reproduce.uncertainty.comparison_table import Layout
from surefoot.reproduce.uncertainty.datasets import CLASSIFICATION, REGRESSION
from surefoot.reproduce.uncertainty.methods import BOOSTERS

LAYOUT = Layout(
    1,
    "Detection of errors and of out-of-domain rows",
    BOOSTERS,
    tuple((task, measure) for task in (CLASSIFICATION, REGRESSION) for measure in ("prr", "auc", "auc2")),
    ("total", "knowledge"),
)
