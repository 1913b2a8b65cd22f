"""The models that an audit compares: a constant, a linear model, a forest, and the boosters of surefoot."""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from surefoot.boosting import AdaBoostClassifier, BaggedBoostClassifier, MajorityBoostClassifier
from surefoot.report.checks.count_target import looks_like_counts
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target
from surefoot.report.models.cross_fitting import CONSTANT, ENSEMBLE, CandidateModel
from surefoot.shift.linear_input import linear_input_of
from surefoot.uncertainty import BoostingEnsembleClassifier, BoostingEnsembleRegressor

FOREST_TREES = 100
MAX_ROWS_OF_A_TREE = 20_000  # otherwise the forest would take most of the time of an audit


def candidate_models(table: AuditTable, seed: int, n_jobs: int | None) -> list[CandidateModel]:
    """The candidates for the task of the table: the constant first, then the fast ones."""
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    columns, categories = list(table.frame.columns), table.categories
    numbers = [name for name in columns if name not in categories]
    is_classes, linear_input = table.target.is_classes, linear_input_of(numbers, categories)
    forest = _forest(table, shared)
    family: dict[str, Any] = {}
    if not is_classes and looks_like_counts(table.target.y):
        family = {"distribution": "poisson"}
    ensemble = CandidateModel(
        ENSEMBLE, f"surefoot, ten different boosters{_in_words(family)}", new_ensemble(table.target, **family, **shared)
    )
    if not is_classes:
        ridge = make_pipeline(linear_input, RidgeCV(np.logspace(-3, 3, 13)))
        return [
            CandidateModel(CONSTANT, "the mean of the training rows", DummyRegressor()),
            CandidateModel("linear", "ridge regression", ridge),
            ensemble,
            forest,
        ]
    logistic = make_pipeline(linear_input, LogisticRegression(max_iter=1000))
    return [
        CandidateModel(CONSTANT, "the fractions of the classes", DummyClassifier()),
        CandidateModel("linear", "logistic regression", logistic),
        CandidateModel("AdaBoost", "300 stumps", AdaBoostClassifier(**shared)),
        CandidateModel("Majority-of-5", "AdaBoosts on five parts of the rows", MajorityBoostClassifier(**shared)),
        CandidateModel("Bagged AdaBoost", "AdaBoosts on random samples of the rows", BaggedBoostClassifier(**shared)),
        ensemble,
        forest,
    ]


def new_ensemble(target: Target, method: str | None = None, **settings: Any) -> Any:
    """The ensemble of boosters for a target; ``method=None`` is the default method."""
    kind = BoostingEnsembleClassifier if target.is_classes else BoostingEnsembleRegressor
    return kind(**settings) if method is None else kind(method=method, **settings)


def _in_words(family: dict[str, Any]) -> str:
    """The distribution that a booster predicts, if not the default one."""
    return f", {family['distribution']} distribution" if family else ""


def _forest(table: AuditTable, shared: dict[str, Any]) -> CandidateModel:
    """A random forest with a bounded cost: every tree samples at most a certain number of rows."""
    kind = RandomForestClassifier if table.target.is_classes else RandomForestRegressor
    is_bounded = table.n_rows > 2 * MAX_ROWS_OF_A_TREE  # smaller training sets could have fewer rows than that
    n_sampled = MAX_ROWS_OF_A_TREE if is_bounded else None
    encoder = ColumnTransformer(
        [("categories", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), table.categories)],
        remainder="passthrough",
    )
    forest = kind(FOREST_TREES, min_samples_leaf=2, max_samples=n_sampled, **shared)
    sampled = f", each on {MAX_ROWS_OF_A_TREE:,} sampled rows to limit its cost" if is_bounded else ""
    return CandidateModel("forest", f"random forest of {FOREST_TREES} trees{sampled}", make_pipeline(encoder, forest))
