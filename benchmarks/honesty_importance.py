"""Importance of columns in the audit: is noise said to be used? For `audit_honesty.py --section importance`.

    python benchmarks/audit_honesty.py --section importance --replications 200 --sizes 300

Every table has two columns that matter and eight that are independent of them and of the target. *Alarms* are tables in
which at least one of the eight has an interval above 0; *found* is how often the stronger of the two has one. The model
overfits: a forest of deep trees, or boosting for many rounds, by turns.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from honesty_tables import probability_of
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from surefoot.report import run as audit_run
from surefoot.report.sections.importance.measure import importance_of

N_NOISE = 8
Found = dict[str, Any]


def model_of(is_classes: bool, is_forest: bool) -> Any:
    forest, boosting = (
        (RandomForestClassifier, HistGradientBoostingClassifier)
        if is_classes
        else (RandomForestRegressor, HistGradientBoostingRegressor)
    )
    model = forest(20, n_jobs=1) if is_forest else boosting(max_iter=60, learning_rate=0.2, early_stopping=False)
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer(
        (encoder, make_column_selector(dtype_include=["object", "str", "category"])), remainder="passthrough"
    )
    return make_pipeline(columns, model)


def numeric(generator: np.random.Generator, n: int) -> pd.DataFrame:
    return pd.DataFrame(generator.normal(size=(n, N_NOISE)), columns=[f"noise{j}" for j in range(N_NOISE)])


def heavy(generator: np.random.Generator, n: int) -> pd.DataFrame:
    return numeric(generator, n).map(lambda value: np.sign(value) * np.exp(2 * abs(value)))


def categorical(generator: np.random.Generator, n: int) -> pd.DataFrame:
    """Categories of about five rows each."""
    codes = generator.integers(n // 5, size=(n, N_NOISE))
    return pd.DataFrame(codes, columns=[f"noise{j}" for j in range(N_NOISE)]).map(lambda code: f"c{code}")


def correlated(generator: np.random.Generator, n: int) -> pd.DataFrame:
    """Noise columns with a correlation of 0.9 among them."""
    return 0.9**0.5 * generator.normal(size=(n, 1)) + 0.1**0.5 * numeric(generator, n)


def line(generator: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    return signal + generator.normal(size=len(signal))


def heavy_line(generator: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    return signal + generator.standard_t(2.5, len(signal))


def two_classes(generator: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    return np.where(generator.random(len(signal)) < probability_of(signal), "yes", "no")


def three_classes(generator: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    return np.array(["low", "middle", "high"])[np.digitize(signal + generator.normal(size=len(signal)), [-1, 1])]


def audit_of(draw: Callable[..., pd.DataFrame], target: Callable[..., np.ndarray], n_groups: int | None) -> Any:
    def run(generator: np.random.Generator, n: int) -> Found:
        noise = draw(generator, n)
        x, z = generator.normal(size=(2, n))
        y = target(generator, 1.5 * x + 0.5 * z)
        groups = None
        if n_groups is not None:
            groups = generator.integers(n_groups, size=n)
            noise = noise + 2 * generator.normal(size=(n_groups, N_NOISE))[groups]
            y = y + generator.normal(size=n_groups)[groups]
        X = pd.concat([pd.DataFrame({"x": x, "z": z}), noise], axis=1)
        model = model_of(y.dtype.kind != "f", bool(generator.integers(2)))
        every = audit_run.candidate_models
        audit_run.candidate_models = lambda *arguments: every(*arguments)[:1]
        try:
            fitted = audit_run.AuditRun.begin(X, y, groups=groups, model=model, n_jobs=1).fit()
        finally:
            audit_run.candidate_models = every
        columns = importance_of(fitted.audited, fitted.loss_increases(fitted.audited))
        used = [each.column for each in columns if each.rise.low > 0]
        return {"alarm": any(name.startswith("noise") for name in used), "found": "x" in used}

    return run


SCENARIOS: dict[str, Callable[[np.random.Generator, int], Found]] = {
    "numbers": audit_of(numeric, line, None),
    "heavy_columns": audit_of(heavy, line, None),
    "heavy_target": audit_of(numeric, heavy_line, None),
    "many_categories": audit_of(categorical, line, None),
    "correlated_noise": audit_of(correlated, line, None),
    "two_classes": audit_of(numeric, two_classes, None),
    "two_classes_many_categories": audit_of(categorical, two_classes, None),
    "three_classes": audit_of(correlated, three_classes, None),
    "groups": audit_of(numeric, line, 40),
}


def summary(lines: list[dict[str, Any]]) -> str:
    """A table in Markdown."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for each in lines:
        groups[each["scenario"], each["n"]].append(each)
    rows = ["| scenario | rows | tables | alarms | found |", "|---|---|---|---|---|"]
    for (name, n), group in groups.items():
        alarms, found = (np.mean([each[key] for each in group]) for key in ("alarm", "found"))
        rows.append(f"| {name.replace('_', ' ')} | {n} | {len(group)} | {alarms:.1%} | {found:.0%} |")
    return "\n".join(rows)
