"""The heart: two categorical features of nine values each, and no training rows inside a heart-shaped region.

The target is a random level of its cell, uniform between 0 and 1, plus normal noise. The paper shows its heart and its
noise only as a picture, so the mask and the noise are our own. The variance of the noise is four times as large in the
cells around the heart as in the other cells, so that a border in the wrong place is visible.
"""

from typing import Any

import numpy as np

from surefoot import BoostingEnsembleRegressor, metrics
from surefoot_experiments.uncertainty.maps import make_map
from surefoot_experiments.uncertainty.methods import SGLB_ENSEMBLE, VIRTUAL_SGLB, UncertaintySettings

DRAWING = """
.........
..##.##..
.#######.
.#######.
..#####..
...###...
....#....
.........
.........
"""
LOW_NOISE, HIGH_NOISE = 0.01, 0.04  # variances
SEED = 0


def mask() -> np.ndarray:
    """Which of the 9 x 9 cells are inside the heart."""
    return np.array([[mark == "#" for mark in line] for line in DRAWING.split()])


def variances() -> np.ndarray:
    """The variance of the noise of every cell."""
    inside = np.pad(mask(), 1)
    shifted = [inside[1 + i : 10 + i, 1 + j : 10 + j] for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return np.where(np.any(shifted, axis=0), HIGH_NOISE, LOW_NOISE)


def training_rows(rows_per_cell: int) -> tuple[Any, np.ndarray]:
    """The rows of all cells outside the heart, and their targets."""
    rng = np.random.default_rng(SEED)
    levels = rng.uniform(size=mask().shape)
    up, across = (np.repeat(index, rows_per_cell) for index in np.nonzero(~mask()))
    noise = rng.normal(size=len(up)) * np.sqrt(variances())[up, across]
    return _frame(up, across), levels[up, across] + noise


def run(settings: UncertaintySettings, n_jobs: int | None) -> Any:
    """Train the ensemble and make a map of all cells, with the further columns ``inside`` and ``true_variance``."""
    import pandas as pd

    X, y = training_rows(settings.rows_per_cell)
    ensemble = BoostingEnsembleRegressor(
        method="sglb",
        n_members=settings.members,
        n_estimators=settings.trees,
        early_stopping=False,
        learning_rate=0.1,
        l2_regularization=3.0,
        random_state=SEED,
        n_jobs=n_jobs,
    ).fit(X, y)
    up, across = (index.ravel() for index in np.indices(mask().shape))
    places = pd.DataFrame({"x2": across, "x1": up, "inside": mask().ravel(), "true_variance": variances().ravel()})
    return make_map(places, ensemble, _frame(up, across), settings.members)


def detection_aucs(frame: Any) -> dict[str, dict[str, float]]:
    """The AUC-ROC of the cells of the heart against the others, by method and kind of uncertainty."""
    inside = frame["inside"].to_numpy(bool)

    def auc(column: str) -> float:
        values = frame[column].to_numpy()
        return metrics.ood_auc(values[~inside], values[inside])

    return {
        method: {kind: auc(f"{method} {kind}") for kind in ("total", "knowledge")}
        for method in (SGLB_ENSEMBLE, VIRTUAL_SGLB)
    }


def _frame(up: np.ndarray, across: np.ndarray) -> Any:
    import pandas as pd

    kind = pd.CategoricalDtype([str(value) for value in range(len(mask()))])
    return pd.DataFrame(
        {name: pd.Categorical.from_codes(codes, dtype=kind) for name, codes in (("x1", up), ("x2", across))}
    )
