"""Reproductions of the papers' experiments: what ``surefoot reproduce`` runs."""

from surefoot_experiments.exceptions import DatasetMissingError

__version__ = "0.2.0"

EXPERIMENTS = {
    "weak-to-strong": "Høgsgaard, Larsen & Mathiasen 2024, figures 1 and 2: four boosters by number of members",
    "uncertainty": "Malinin, Prokhorenkova & Ustimenko 2021, tables 1, 2, 4 to 7 and figures 2 to 4: total, data and "
    "knowledge uncertainty",
    "stability": "Adrian, Soloff & Willett 2024, figures 2 to 15 and tables 2 to 4: model selection without a row",
    "shift": "the V-matrix for deployment data: the theorems' bounds, and boosting on biased samples",
}

__all__ = ["EXPERIMENTS", "DatasetMissingError", "__version__"]
