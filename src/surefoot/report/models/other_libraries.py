"""Candidates of other libraries, with their defaults: strong rivals, for those who ask for them."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline

from surefoot._exceptions import ParameterError
from surefoot._numbers import naming
from surefoot._parameters import is_one_of
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CandidateModel

INSTALLED = "installed"  # in place of names: all that are
MISSING = "missing"  # the category of a missing value, for models that take none
MAX_CATEGORIES = 254  # of a column, for HistGradientBoosting; rarer ones count as missing


class PlainColumns(TransformerMixin, BaseEstimator):
    """Columns named c0, c1 and so on, because some libraries refuse other names, with the categories of the fit.

    Categories that the fit does not have become missing values, and so do the rarest beyond ``max_categories``. With
    ``as_text``, categories are text, and a missing one is a category too.
    """

    def __init__(self, max_categories: int | None = None, as_text: bool = False) -> None:
        self.max_categories = max_categories
        self.as_text = as_text

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the categories of each column."""
        self.categories_ = [self._known(X.iloc[:, j]) for j in range(X.shape[1])]
        return self

    def _known(self, column: Any) -> list[Any] | None:
        if column.dtype != "category":
            return None
        counts = column.value_counts()
        return sorted(counts[counts > 0].index[: self.max_categories], key=str)

    def transform(self, X: Any) -> Any:
        """The same columns under other names."""
        import pandas as pd

        columns = {}
        for j, known in enumerate(self.categories_):
            column = X.iloc[:, j]
            if known is not None:
                column = column.cat.set_categories(known)
            if known is not None and self.as_text:
                column = column.astype(object).where(column.notna(), MISSING).astype(str)
            columns[f"c{j}"] = column
        return pd.DataFrame(columns, index=X.index)


class WithCodes(ClassifierMixin, BaseEstimator):
    """A classifier that takes only the labels 0, 1 and so on."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> Self:
        """Fit to codes of the labels."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.estimator.fit(X, codes, sample_weight=sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels."""
        return self.classes_[np.ravel(self.estimator.predict(X)).astype(int)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probabilities of the labels."""
        return np.asarray(self.estimator.predict_proba(X))


def library_models(
    wanted: str | Sequence[str] | None, table: AuditTable, seed: int, n_jobs: int | None
) -> list[CandidateModel]:
    """Candidates by name, or all that are installed; a name that is unknown or not installed is refused."""
    candidates = []
    for name in check_libraries(wanted):
        label, _, build = LIBRARIES[name]
        candidates.append(CandidateModel(label, f"{package_of(name)}, with its defaults", build(table, seed, n_jobs)))
    return candidates


def check_libraries(wanted: str | Sequence[str] | None) -> list[str]:
    """The names in ``wanted``, each once, in the order of ``LIBRARIES``."""
    if wanted is None:
        return []
    with naming("models"):
        names = [wanted] if isinstance(wanted, str) else list(wanted)
    if names == [INSTALLED]:
        return [name for name in LIBRARIES if is_installed(name) and name not in ONLY_BY_NAME]
    for name in names:
        if not is_one_of(name, tuple(LIBRARIES)):
            known = ", ".join(map(repr, (*LIBRARIES, INSTALLED)))
            raise ParameterError(f"models has the unknown entry {name!r}: choose from {known}.", argument="models")
        if not is_installed(name):
            message = f"models has the entry {name!r}, which is not installed: pip install {package_of(name)}."
            raise ParameterError(message, argument="models")
    return [name for name in LIBRARIES if name in names]


def is_installed(name: str) -> bool:
    """Whether the package of a library is installed."""
    return find_spec(LIBRARIES[name][1]) is not None


def package_of(name: str) -> str:
    """The package of a library, as pip knows it."""
    package = LIBRARIES[name][1]
    return "scikit-learn" if package == "sklearn" else package


def _scikit_learn(table: AuditTable, seed: int, n_jobs: int | None) -> Any:
    kind = HistGradientBoostingClassifier if table.target.is_classes else HistGradientBoostingRegressor
    return make_pipeline(PlainColumns(MAX_CATEGORIES), kind(categorical_features="from_dtype", random_state=seed))


def _lightgbm(table: AuditTable, seed: int, n_jobs: int | None) -> Any:
    module = import_module("lightgbm")
    kind = module.LGBMClassifier if table.target.is_classes else module.LGBMRegressor
    return make_pipeline(PlainColumns(), kind(random_state=seed, n_jobs=n_jobs or 1, verbose=-1))


def _xgboost(table: AuditTable, seed: int, n_jobs: int | None) -> Any:
    module = import_module("xgboost")
    shared = {"enable_categorical": True, "random_state": seed, "n_jobs": n_jobs or 1}
    if table.target.is_classes:
        return make_pipeline(PlainColumns(), WithCodes(module.XGBClassifier(**shared)))
    return make_pipeline(PlainColumns(), module.XGBRegressor(**shared))


def _catboost(table: AuditTable, seed: int, n_jobs: int | None) -> Any:
    module = import_module("catboost")
    kind = module.CatBoostClassifier if table.target.is_classes else module.CatBoostRegressor
    settings = {"thread_count": n_jobs or 1, "verbose": False, "allow_writing_files": False, "random_seed": seed}
    model = kind(cat_features=_positions(table), **settings)
    return make_pipeline(PlainColumns(as_text=True), WithCodes(model) if table.target.is_classes else model)


def _chimeraboost(table: AuditTable, seed: int, n_jobs: int | None) -> Any:
    module = import_module("chimeraboost")
    kind = module.ChimeraBoostClassifier if table.target.is_classes else module.ChimeraBoostRegressor
    model = kind(cat_features=_positions(table), random_state=seed, thread_count=n_jobs or 1)
    return make_pipeline(PlainColumns(as_text=True), WithCodes(model) if table.target.is_classes else model)


def _tabicl(table: AuditTable, seed: int, n_jobs: int | None) -> Any:
    module = import_module("tabicl")
    kind = module.TabICLClassifier if table.target.is_classes else module.TabICLRegressor
    return make_pipeline(PlainColumns(), kind(random_state=seed, n_jobs=n_jobs))


def _positions(table: AuditTable) -> list[int]:
    """The positions of the categorical columns."""
    return [j for j, name in enumerate(table.frame.columns) if name in table.categories]


Builder = Callable[[AuditTable, int, int | None], Any]
LIBRARIES: dict[str, tuple[str, str, Builder]] = {  # the name on the page, the module, and the model
    "hist_gradient_boosting": ("HistGradientBoosting", "sklearn", _scikit_learn),
    "lightgbm": ("LightGBM", "lightgbm", _lightgbm),
    "xgboost": ("XGBoost", "xgboost", _xgboost),
    "catboost": ("CatBoost", "catboost", _catboost),
    "chimeraboost": ("ChimeraBoost", "chimeraboost", _chimeraboost),
    "tabicl": ("TabICL", "tabicl", _tabicl),
}
ONLY_BY_NAME = ("tabicl",)  # its first fit downloads the weights of a large network, which may be impossible, or slow
