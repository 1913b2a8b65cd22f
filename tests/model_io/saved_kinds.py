"""A very small fitted model of every kind that can be saved: all estimators, and what their files may contain."""

from functools import cache

import numpy as np
from contract.registry import those
from scipy.sparse import csr_matrix
from small_models import table

import surefoot
from surefoot.uncertainty.families import Quantile

TREES = {"n_estimators": 3, "max_depth": 2, "random_state": 0, "early_stopping": False}
SMALLER = {"n_estimators": 3, "n_members": 2, "max_depth": 2, "max_bins": 15, "max_leaf_nodes": 3}


@cache
def saved_kinds():
    """By name: an estimator, its table and target, and what else ``fit`` needs."""
    (few, y), many = table(), table(n_rows=2400, n_categories=60)
    X = few[["a", "b"]].to_numpy()
    counts, three = np.exp(np.clip(y, 0, 3)).round(), np.digitize(y, [0.0, 2.0])
    regressor, classifier = surefoot.GradientBoostingRegressor, surefoot.GradientBoostingClassifier
    kinds = {
        "votes, categories": (surefoot.AdaBoostClassifier(n_estimators=4, max_depth=2), few, three, {}),
        "votes, text": (
            surefoot.MajorityBoostClassifier(n_members=2, n_estimators=2),
            X,
            np.where(y > 1, "a", "b"),
            {},
        ),
        "sparse": (classifier(**TREES), csr_matrix(np.nan_to_num(X)), three, {}),
        "leafwise": (regressor(grow_policy="leafwise", max_leaf_nodes=3, **TREES), few, y, {}),
        "interactions": (regressor(interaction_cst="pairwise", **TREES), few, y, {}),
        "exposures": (regressor(distribution="poisson", **TREES), X, counts, {"exposure": 1.0 + (np.arange(60) % 3)}),
        "quantiles": (regressor(distribution=Quantile((0.1, 0.5, 0.9)), **TREES), X, y, {}),
        "statistics": (surefoot.BoostingEnsembleRegressor(n_members=2, **TREES), *many, {}),
        "vmatrix, categories": (surefoot.VMatrixBoostingClassifier(n_estimators=3, max_leaf_nodes=3), few, three, {}),
    }
    for family in ("negative_binomial", "zero_inflated_poisson"):
        kinds[family] = (regressor(distribution=family, **TREES), X, counts, {})
    for subject in those(is_saved=True):
        model = subject.make()
        known = model.get_params(deep=False)
        model.set_params(**{name: value for name, value in SMALLER.items() if known.get(name) is not None})
        kinds[subject.name] = (model, *subject.problem(n_rows=60, n_columns=2, n_classes=3), {})
    return kinds


def save_kind(name, path):
    """Fit the model and save it."""
    model, X, y, more = saved_kinds()[name]
    surefoot.save(model.fit(X, y, **more), path)
