"""Table 4: likelihood and error of single models, ensembles and virtual ensembles."""

from surefoot.reproduce.uncertainty.comparison_table import Layout
from surefoot.reproduce.uncertainty.datasets import CLASSIFICATION, REGRESSION
from surefoot.reproduce.uncertainty.methods import BOOSTERS

LAYOUT = Layout(
    4,
    "NLL, and RMSE or error rate",
    BOOSTERS,
    tuple((task, measure) for task in (CLASSIFICATION, REGRESSION) for measure in ("nll", "error")),
)
