"""Scenarios of the section on subgroups, for `audit_honesty.py --section subgroups`: false alarms and planted segments.

Scenarios of ``losses_`` draw the losses of held-out rows directly; ``model_`` cross-fit one model and measure its
held-out rows; ``audit_`` are whole audits with small models. In those of no difference (``null``), every interval that
excludes a ratio of 1 misses the truth, and the table counts tables with such an interval, and tables in which a
subgroup is reported as clearly worse. In the others, a tenth of the rows has twice the error rate, or twice the mean
squared error; it is found if an interval lies above 1 for a subgroup or segment that shares most rows with it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from surefoot import GradientBoostingRegressor
from surefoot._formatting import MINUS
from surefoot.report import run
from surefoot.report.audit import audit_run
from surefoot.report.inputs.column_readers import ColumnReader, kind_of
from surefoot.report.models.cross_fitting import CONSTANT, ENSEMBLE, YOURS
from surefoot.report.models.scoring import ERROR_RATE, RMSE
from surefoot.report.run import AuditRun
from surefoot.report.sections.stability import column_selection, measure
from surefoot.report.sections.subgroups.columns import SliceColumn
from surefoot.report.sections.subgroups.findings import SubgroupFindings
from surefoot.report.sections.subgroups.measure import measure_errors, measure_subgroups
from surefoot.report.sections.subgroups.row_errors import RowErrors

RATE, PLANTED_RATE, RARE_RATE = 0.2, 0.2, 0.02  # error rates; that of planted rows is twice as large
PLANTED = 0.1  # of the rows
MIN_SHARED = 0.5  # of the planted rows in a segment that counts as found, and of its rows that are planted
N_GROUPS = 60
SCENARIOS: dict[str, Callable[[np.random.Generator, int], dict[str, Any]]] = {}


def columns(generator: np.random.Generator, n: int) -> pd.DataFrame:
    """Numbers, a skewed one, categories with unequal levels, booleans and missing values."""
    X = pd.DataFrame(generator.normal(size=(n, 4)), columns=["age", "weight", "dose", "score"])
    X["income"] = np.exp(generator.normal(size=n))
    X["ward"] = generator.choice(list("abcdefg"), n, p=[0.4, 0.3, 0.1, 0.08, 0.06, 0.04, 0.02])
    X["sex"] = generator.choice(["female", "male"], n)
    X["smoker"] = generator.random(n) < 0.2
    X["region"] = generator.choice(["north", "east", "south"], n, p=[1 / 3, 1 / 3, 1 / 3])
    X.loc[generator.random(n) < 0.1, "weight"] = np.nan
    return X


def planted_rows(X: pd.DataFrame, kind: str) -> np.ndarray:
    """A tenth of the rows, by a condition on one column, on two, or on a category and a number."""
    age, dose = (X[name].rank(pct=True).to_numpy() for name in ("age", "dose"))
    if kind == "one":
        return age > 1 - PLANTED
    if kind == "two":
        side = PLANTED**0.5
        return (age > 1 - side) & (dose > 1 - side)
    return (X["region"] == "south").to_numpy() & (age > 1 - 3 * PLANTED)


# ---- losses drawn directly


def normal(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.normal(size=n) ** 2


def heavy(generator: np.random.Generator, n: int, freedom: float = 3) -> np.ndarray:
    return generator.standard_t(freedom, size=n) ** 2


def lognormal(generator: np.random.Generator, n: int) -> np.ndarray:
    return (np.exp(generator.normal(size=n)) - np.exp(0.5)) ** 2


def wrong(generator: np.random.Generator, n: int, rate: float = RATE) -> np.ndarray:
    return (generator.random(n) < rate).astype(np.float64)


def losses_null(
    draw: Callable[..., np.ndarray], measure: str, has_units: bool, generator: np.random.Generator, n: int
) -> dict[str, Any]:
    """No subgroup differs; with units, losses of a group of rows are alike, and some columns are those of groups."""
    X, losses, units = columns(generator, n), draw(generator, n), None
    if has_units:
        units = np.sort(generator.choice(N_GROUPS, n, p=generator.dirichlet(np.full(N_GROUPS, 4.0))))
        X["ward"] = generator.choice(list("abcd"), N_GROUPS)[units]
        X["score"] = generator.normal(size=N_GROUPS)[units]
        rate = generator.beta(2, 8, N_GROUPS)[units]
        levels = generator.gamma(4.0, 0.25, N_GROUPS)[units]
        losses = (generator.random(n) < rate).astype(np.float64) if measure == ERROR_RATE else losses * levels
    return told(measured(X, losses, measure, units, int(generator.integers(1 << 30))))


def losses_at_the_tolerance(measure: str, generator: np.random.Generator, n: int) -> dict[str, Any]:
    """The error of one sex is exactly 1.25 times that of the other: not larger than is tolerated."""
    X = columns(generator, n)
    is_worse = (X["sex"] == "female").to_numpy()
    if measure == ERROR_RATE:
        losses = wrong(generator, n, np.where(is_worse, 1.25 * RATE, RATE))
    else:
        losses = normal(generator, n) * np.where(is_worse, 1.25**2, 1.0)
    return told(measured(X, losses, measure, None, int(generator.integers(1 << 30))))


def losses_planted(kind: str, measure: str, factor: float, generator: np.random.Generator, n: int) -> dict[str, Any]:
    X = columns(generator, n)
    is_planted = planted_rows(X, kind)
    if measure == ERROR_RATE:
        losses = wrong(generator, n, np.where(is_planted, factor, 1) * PLANTED_RATE)
    else:
        losses = normal(generator, n) * np.where(is_planted, factor, 1.0)
    return told(measured(X, losses, measure, None, int(generator.integers(1 << 30))), X, is_planted)


def measured(
    X: pd.DataFrame, losses: np.ndarray, measure: str, units: np.ndarray | None, seed: int
) -> SubgroupFindings:
    errors = RowErrors(measure, losses, units, len(losses))
    return measure_errors(errors, np.arange(len(X)), (), [_read(X[name]) for name in X], X.shape[1], seed)


def _read(series: pd.Series) -> SliceColumn:
    """A column as an audit reads it, without its slow checks of leaks."""
    reader = ColumnReader(series.name, kind_of(series))
    return SliceColumn(series.name, reader.kind, reader.read(series), series.dtype == bool)


# ---- models


class Nearest(ClassifierMixin, BaseEstimator):
    """A rule that is fitted to nothing: the sign of the first column."""

    def fit(self, X: Any, y: Any) -> "Nearest":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[(np.asarray(X)[:, 0].astype(float) > 0).astype(int)]


def coded(X: pd.DataFrame) -> pd.DataFrame:
    """Categories as numbers, for models that need numbers."""
    frame = X.copy()
    for name in ("ward", "sex", "region"):
        frame[name] = frame[name].astype("category").cat.codes
    return frame.fillna(0.0).astype(float)


def forest_of(model: Any) -> Any:
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), model)


MODELS: dict[str, tuple[str, Any]] = {
    "linear": ("numbers", LinearRegression()),
    "boosting": ("numbers", HistGradientBoostingRegressor(max_iter=50)),
    "distribution": ("numbers", GradientBoostingRegressor(n_estimators=50)),
    "logistic": ("two", LogisticRegression(max_iter=1000)),
    "boosted_classes": ("two", HistGradientBoostingClassifier(max_iter=50)),
    "forest_classes": ("several", RandomForestClassifier(100, min_samples_leaf=5)),
}


def target(kind: str, X: pd.DataFrame, generator: np.random.Generator, is_planted: np.ndarray) -> np.ndarray:
    """A target with noise whose variance, or whose rate of flipped labels, is twice as large in the planted rows.

    Classes are easy to tell apart but for flipped labels, so that no subgroup is harder by nature.
    """
    n, signal = len(X), (X["score"] + X["dose"]).to_numpy()
    if kind == "numbers":
        return signal + generator.normal(size=n) * np.where(is_planted, 2**0.5, 1.0)
    is_flipped = generator.random(n) < np.where(is_planted, 2 * PLANTED_RATE, PLANTED_RATE)
    labels = (X["smoker"].to_numpy() + 0) if kind == "two" else X["region"].astype("category").cat.codes.to_numpy()
    n_classes = 2 if kind == "two" else 3
    moved = (labels + generator.integers(1, n_classes, n)) % n_classes
    return np.array([f"class {label}" for label in np.where(is_flipped, moved, labels)])


def balanced(generator: np.random.Generator, n: int) -> pd.DataFrame:
    """Columns in which half of the people smoke: labels are balanced."""
    X = columns(generator, n)
    X["smoker"] = generator.random(n) < 0.5
    return X


def model_null(name: str, generator: np.random.Generator, n: int) -> dict[str, Any]:
    X = balanced(generator, n)
    return told(cross_fitted(name, X, target(MODELS[name][0], X, generator, np.zeros(n, dtype=bool)), generator))


def model_planted(name: str, kind: str, generator: np.random.Generator, n: int) -> dict[str, Any]:
    X = balanced(generator, n)
    is_planted = planted_rows(X, kind)
    found = cross_fitted(name, X, target(MODELS[name][0], X, generator, is_planted), generator)
    return told(found, X, is_planted)


def cross_fitted(name: str, X: pd.DataFrame, y: np.ndarray, generator: np.random.Generator) -> SubgroupFindings:
    """The section of an audit of one model, without the other models."""
    seed = int(generator.integers(1 << 30))
    audited = AuditRun.begin(X, y, model=OnCodes(MODELS[name][1]), random_state=seed)
    audited.draws.append(audited._fit(0, {CONSTANT, YOURS}))
    return measure_subgroups(audited.audited, (), seed)


class OnCodes(BaseEstimator):
    """A model that gets categories as numbers."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> "OnCodes":
        from sklearn.base import clone

        self.fitted_ = clone(self.model).fit(coded(X), y)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("predict", "predict_proba", "classes_", "predict_distribution") and "fitted_" in self.__dict__:
            found = getattr(self.fitted_, name)
            return found if name == "classes_" else lambda X: found(coded(X))
        raise AttributeError(name)

    def predict(self, X: Any) -> Any:
        return self.fitted_.predict(coded(X))


def audit_null(kind: str, options: dict[str, Any], generator: np.random.Generator, n: int) -> dict[str, Any]:
    """A whole audit of a table in which no subgroup differs."""
    X = balanced(generator, n)
    y: Any = target("two" if kind == "classes" else "numbers", X, generator, np.zeros(n, dtype=bool))
    if kind == "heavy":
        y = (X["score"] + X["dose"]).to_numpy() + generator.standard_t(3, size=n)
    if kind == "groups":
        group = generator.integers(0, N_GROUPS, n)
        X["group"] = [f"g{k}" for k in group]
        y = y + generator.normal(size=N_GROUPS)[group]
    if kind == "rare":
        y = (generator.random(n) < 0.05).astype(int)
    with small_models():
        _, result = audit_run(X, y, **options, random_state=int(generator.integers(1 << 30)), n_jobs=1)
    return {**told(result.subgroups), "answer": result.answer("accuracy")}


@contextmanager
def small_models() -> Iterator[None]:
    """Whole audits take seconds: a constant, a linear model and a small ensemble, one draw of the folds, fewer bags."""
    every = run.candidate_models

    def small(*given: Any) -> list[Any]:
        kept = [each for each in every(*given) if each.name in (CONSTANT, "linear", ENSEMBLE)]
        kept[-1].model.set_params(n_members=3, n_estimators=40, learning_rate=0.2)
        return kept

    smaller = ((run, "candidate_models", small), (run, "MAX_DRAWS", 1), (measure, "N_BAGS", 500))
    smaller += ((column_selection, "N_LASSO_BAGS", 300), (column_selection, "N_TREE_BAGS", 60))
    with ExitStack() as stack:
        for module, name, value in smaller:
            stack.enter_context(patch.object(module, name, value))
        yield


# ---- what was found


def told(
    found: SubgroupFindings, X: pd.DataFrame | None = None, is_planted: np.ndarray | None = None
) -> dict[str, Any]:
    """What is counted: intervals that exclude 1, subgroups that are clearly worse, and planted rows that were found."""
    above = [each.name for each in (*found.groups, *found.segments) if each.ratio.low > 1]
    line = {
        "missed": any(each.ratio.low > 1 or each.ratio.high < 1 for each in (*found.groups, *found.segments)),
        "missed_by_segments": any(each.ratio.low > 1 or each.ratio.high < 1 for each in found.segments),
        "worse": list(found.clearly_worse),
        "comparisons": found.n_comparisons,
    }
    if X is None or is_planted is None:
        return line
    rows = {name: rows_of(X, name) for name in (*above, *found.clearly_worse)}
    return line | {
        "found": any(is_same(rows[name], is_planted) for name in above),
        "found_worse": any(is_same(rows[name], is_planted) for name in found.clearly_worse),
        "false": any(not (rows[name] & is_planted).any() for name in above),
    }


def rows_of(X: pd.DataFrame, name: str) -> np.ndarray:
    """The rows that a rule in words describes."""
    inside = np.ones(len(X), dtype=bool)
    for condition in name.split(" and "):
        inside &= rows_of_one(X, condition)
    return inside


def rows_of_one(X: pd.DataFrame, condition: str) -> np.ndarray:
    if condition.endswith(" is missing"):
        return X[condition.removesuffix(" is missing")].isna().to_numpy()
    words = condition.replace(MINUS, "-").split(" ")
    if len(words) == 5 and words[1] == "<":
        return ((X[words[2]] > float(words[0])) & (X[words[2]] <= float(words[4]))).to_numpy()
    column, sign, text = words[0], words[1], " ".join(words[2:])
    if sign in (">", "≤"):
        return (X[column] > float(text) if sign == ">" else X[column] <= float(text)).to_numpy()
    if text.startswith("one of"):
        return np.zeros(len(X), dtype=bool)
    equal = (X[column].astype(str).str.lower() == text).to_numpy()
    return equal if sign == "=" else ~equal


def is_same(inside: np.ndarray, is_planted: np.ndarray) -> bool:
    """Whether at least half of the planted rows are inside, and at least half of those inside are planted."""
    shared = float((inside & is_planted).sum())
    return bool(shared >= MIN_SHARED * is_planted.sum() and shared >= MIN_SHARED * max(inside.sum(), 1))


for _name, _draw, _measure in (
    ("rates", wrong, ERROR_RATE),
    ("few_errors", partial(wrong, rate=RARE_RATE), ERROR_RATE),
    ("normal", normal, RMSE),
    ("heavy_tails", heavy, RMSE),
    ("lognormal", lognormal, RMSE),
):
    SCENARIOS[f"losses_null_{_name}"] = partial(losses_null, _draw, _measure, False)
    if _name in ("rates", "normal", "heavy_tails"):
        SCENARIOS[f"losses_null_{_name}_groups"] = partial(losses_null, _draw, _measure, True)
SCENARIOS["losses_at_the_tolerance_rates"] = partial(losses_at_the_tolerance, ERROR_RATE)
SCENARIOS["losses_at_the_tolerance_normal"] = partial(losses_at_the_tolerance, RMSE)
for _kind in ("one", "two", "mixed"):
    SCENARIOS[f"losses_planted_{_kind}_rates"] = partial(losses_planted, _kind, ERROR_RATE, 2.0)
    SCENARIOS[f"losses_planted_{_kind}_normal"] = partial(losses_planted, _kind, RMSE, 2.0)
    SCENARIOS[f"losses_planted_{_kind}_twice_the_rmse"] = partial(losses_planted, _kind, RMSE, 4.0)
for _name in MODELS:
    SCENARIOS[f"model_null_{_name}"] = partial(model_null, _name)
    for _kind in ("one", "two", "mixed"):
        SCENARIOS[f"model_planted_{_kind}_{_name}"] = partial(model_planted, _name, _kind)
for _name, _options in {
    "numbers": {},
    "heavy": {},
    "classes": {},
    "rare": {},
    "groups": {"groups": "group"},
}.items():
    SCENARIOS[f"audit_null_{_name}"] = partial(audit_null, _name, _options)


def summary(lines: Sequence[dict[str, Any]]) -> str:
    """A table in Markdown; the false statements of planted tables are about rows that are not planted."""
    by_scenario: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_scenario[line["scenario"], line["n"]].append(line)
    rows = [
        "| scenario | rows | tables | comparisons | an interval misses | of a segment | clearly worse | found | "
        "found clearly worse |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in SCENARIOS:
        for (_, n), group in sorted((key, each) for key, each in by_scenario.items() if key[0] == name):
            is_planted = "found" in group[0]
            cells = [
                name.replace("_", " "),
                f"{n:,}",
                len(group),
                f"{np.mean([line['comparisons'] for line in group]):.0f}",
            ]
            cells += ["-", "-"] if is_planted else [_rate(group, "missed"), _rate(group, "missed_by_segments")]
            cells += [_rate(group, "worse")]
            cells += [_rate(group, "found"), _rate(group, "found_worse")] if is_planted else ["-", "-"]
            rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def _rate(group: Sequence[dict[str, Any]], key: str) -> str:
    return f"{np.mean([bool(line[key]) for line in group]):.1%}"
