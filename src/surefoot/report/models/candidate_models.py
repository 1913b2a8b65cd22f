"""The models that an audit compares: a constant, what everyone would try, and boosters with a reason."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from surefoot.boosting import AdaBoostClassifier, BaggedBoostClassifier, MajorityBoostClassifier
from surefoot.report.checks.count_target import looks_like_counts
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target
from surefoot.report.models.predictions import ModelPredictions, predictions_of
from surefoot.selection.table import take_rows
from surefoot.uncertainty import BoostingEnsembleClassifier, BoostingEnsembleRegressor

CONSTANT = "constant"
ENSEMBLE = "ensemble"
YOURS = "your model"
YOUR_PREDICTIONS = "your predictions"
FOREST_TREES = 100
MAX_ROWS_OF_A_TREE = 20_000  # of a forest, whose trees would take most of the time of an audit
MAX_COLUMNS_OF_A_CATEGORY = 30


@dataclass(frozen=True)
class CandidateModel:
    """A model by name; ``raw`` models are a user's own, fitted to the table as it came."""

    name: str
    description: str
    model: Any
    raw: bool = False

    def fit(self, table: AuditTable, rows: np.ndarray) -> Any:
        """A clone, fitted to some rows, without its warnings: the page shows how well it did."""
        model = clone(self.model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.raw:
                return model.fit(take_rows(table.raw, rows), table.target.original[rows])
            return model.fit(table.frame.iloc[rows], table.target.labels[rows])

    def predict(self, model: Any, table: AuditTable, rows: np.ndarray) -> ModelPredictions:
        """What a fitted model predicts for some rows of the table."""
        truth = None if table.target.is_classes else table.target.y[rows]
        X = take_rows(table.raw, rows) if self.raw else table.frame.iloc[rows]
        return self.predict_table(model, X, table.target, truth)

    def predict_table(self, model: Any, X: Any, target: Target, truth: np.ndarray | None = None) -> ModelPredictions:
        """What a fitted model predicts for a table, as the model reads it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return predictions_of(model, X, target, truth, self.name if self.raw else None)


def new_ensemble(target: Target, method: str | None = None, **settings: Any) -> Any:
    """The ensemble of boosters for a target, with its defaults; ``method`` None is the default too."""
    kind = BoostingEnsembleClassifier if target.is_classes else BoostingEnsembleRegressor
    return kind(**settings) if method is None else kind(method=method, **settings)


def candidate_models(table: AuditTable, seed: int, n_jobs: int | None) -> list[CandidateModel]:
    """Those for the task of the table: the constant first, then the quick ones."""
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    columns, categories = list(table.frame.columns), table.categories
    numbers = [name for name in columns if name not in categories]
    is_classes, linear_input = table.target.is_classes, linear_input_of(numbers, categories)
    forest = _forest(table, shared)
    family: dict[str, Any] = {}
    if not is_classes and looks_like_counts(table.target.y):
        family = {"distribution": "poisson"}
    ensemble = CandidateModel(
        ENSEMBLE, f"surefoot, ten boosters that differ{_of(family)}", new_ensemble(table.target, **family, **shared)
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
        CandidateModel("Bagged AdaBoost", "AdaBoosts on drawn rows", BaggedBoostClassifier(**shared)),
        ensemble,
        forest,
    ]


def _of(family: dict[str, Any]) -> str:
    """Which distribution a booster predicts, if not the default one."""
    return f", {family['distribution']} distribution" if family else ""


def _forest(table: AuditTable, shared: dict[str, Any]) -> CandidateModel:
    """A random forest whose cost is bounded: every tree draws at most a certain number of rows."""
    kind = RandomForestClassifier if table.target.is_classes else RandomForestRegressor
    bounded = table.n_rows > 2 * MAX_ROWS_OF_A_TREE  # smaller training sets could have fewer rows than that
    n_drawn = MAX_ROWS_OF_A_TREE if bounded else None
    encoder = ColumnTransformer(
        [("categories", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), table.categories)],
        remainder="passthrough",
    )
    forest = kind(FOREST_TREES, min_samples_leaf=2, max_samples=n_drawn, **shared)
    drawn = f", each on {MAX_ROWS_OF_A_TREE:,} drawn rows to bound its cost" if bounded else ""
    return CandidateModel("forest", f"random forest of {FOREST_TREES} trees{drawn}", make_pipeline(encoder, forest))


def linear_input_of(numbers: list[Any], categories: list[Any]) -> ColumnTransformer:
    """Numbers filled up and scaled, with marks for missing values; categories as columns, the rare ones as one."""
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_COLUMNS_OF_A_CATEGORY, sparse_output=False
    )
    return ColumnTransformer(
        [("numbers", make_pipeline(fill, StandardScaler()), numbers), ("categories", one_hot, categories)]
    )
