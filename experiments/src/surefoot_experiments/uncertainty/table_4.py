"""Table 4: likelihood and error of single models, ensembles and virtual ensembles."""

from surefoot_experiments.uncertainty.comparison_table import Layout
from surefoot_experiments.uncertainty.datasets import CLASSIFICATION, REGRESSION
from surefoot_experiments.uncertainty.methods import BOOSTERS

LAYOUT = Layout(
    4,
    "NLL, and RMSE or error rate",
    BOOSTERS,
    tuple((task, measure) for task in (CLASSIFICATION, REGRESSION) for measure in ("nll", "error")),
)
