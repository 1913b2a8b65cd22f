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
from surefoot.report.table import AuditTable
from surefoot.selection.table import take_rows
from surefoot.uncertainty import GradientBoostingClassifier, GradientBoostingRegressor

CONSTANT = "constant"
YOURS = "your model"
YOUR_PREDICTIONS = "your predictions"
TREES = 200
MOST_COLUMNS_OF_A_CATEGORY = 30


@dataclass(frozen=True)
class Contestant:
    """A model by name; ``raw`` models are a user's own, fitted to the table as it came."""

    name: str
    what: str
    model: Any
    raw: bool = False

    def fitted(self, table: AuditTable, rows: np.ndarray) -> Any:
        """A clone, fitted to some rows; warnings of models that have not quite converged are no one's business here."""
        model = clone(self.model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.raw:
                return model.fit(take_rows(table.raw, rows), table.target.original[rows])
            return model.fit(table.frame.iloc[rows], table.target.labels[rows])

    def table_of(self, table: AuditTable, rows: np.ndarray) -> Any:
        """Rows as the model reads them."""
        return take_rows(table.raw, rows) if self.raw else table.frame.iloc[rows]

    def predict(self, model: Any, table: AuditTable, rows: np.ndarray) -> np.ndarray:
        """Labels or numbers that a fitted model predicts for some rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = model.predict(self.table_of(table, rows))
        return table.target.read_predictions(predicted, len(rows), self.name) if self.raw else np.asarray(predicted)


def contestants(table: AuditTable, seed: int, n_jobs: int | None) -> list[Contestant]:
    """Those for the task of the table, the constant first."""
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    columns, categories = list(table.frame.columns), table.categories
    numbers = [name for name in columns if name not in categories]
    forest_input = ColumnTransformer(
        [("categories", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), categories)],
        remainder="passthrough",
    )
    linear_input = linear_input_of(numbers, categories)
    if not table.target.is_classes:
        return [
            Contestant(CONSTANT, "the mean of the training rows", DummyRegressor()),
            Contestant("linear", "ridge regression", make_pipeline(linear_input, RidgeCV(np.logspace(-3, 3, 13)))),
            Contestant(
                "forest",
                f"random forest of {TREES} trees",
                make_pipeline(forest_input, RandomForestRegressor(TREES, min_samples_leaf=2, **shared)),
            ),
            Contestant("gradient boosting", "surefoot, stopped early", GradientBoostingRegressor(**shared)),
        ]
    return [
        Contestant(CONSTANT, "always the most frequent class", DummyClassifier()),
        Contestant("linear", "logistic regression", make_pipeline(linear_input, LogisticRegression(max_iter=1000))),
        Contestant(
            "forest",
            f"random forest of {TREES} trees",
            make_pipeline(forest_input, RandomForestClassifier(TREES, min_samples_leaf=2, **shared)),
        ),
        Contestant("AdaBoost", "300 stumps", AdaBoostClassifier(**shared)),
        Contestant("Majority-of-5", "AdaBoosts on five parts of the rows", MajorityBoostClassifier(**shared)),
        Contestant("Bagged AdaBoost", "AdaBoosts on drawn rows", BaggedBoostClassifier(**shared)),
        Contestant("gradient boosting", "surefoot, stopped early", GradientBoostingClassifier(**shared)),
    ]


def linear_input_of(numbers: list[Any], categories: list[Any]) -> ColumnTransformer:
    """Numbers filled up and scaled, with marks for missing values; categories as columns, the rare ones as one."""
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_COLUMNS_OF_A_CATEGORY, sparse_output=False
    )
    return ColumnTransformer(
        [("numbers", make_pipeline(fill, StandardScaler()), numbers), ("categories", one_hot, categories)]
    )
