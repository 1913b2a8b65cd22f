"""Question 1's boosters as they are by default: log-loss, AUC, calibration slope and accuracy on rows never seen.

    SUREFOOT_DATA=<folder of the Parquet files> .venv/bin/python benchmarks/default_boosters.py [--quick]

Each table is split at random several times; ``--rows`` rows train, up to 4,000 others judge. The tables are in two
groups: on the first, the link from votes to probabilities and the rule of choice were made; the second only judges.

The calibration slope is that of a logistic regression of the outcome on the logit of the predicted probability: 1 is
right, below 1 the probabilities are too extreme. It is fitted to the judging rows of all splits together, because that
of a few rows with hardly an error is too large more often than not; its range over single splits stands beside it. For
several classes it is taken over all classes at once, each against the rest. Probabilities are clipped to 1e-15 from
0 and 1.

"as before" are the boosters with ``calibrate=False``: probabilities are then fractions of the members' votes, or
scikit-learn's softmax of AdaBoost's vote.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

import surefoot

CHOSEN_ON = ("breast cancer", "pima", "adult", "higgs", "kick")
JUDGED_ON = ("wine", "digits", "covertype", "internet", "amazon", "click", "churn")
BUNDLED = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
FILES = {
    "pima": "pima", "adult": "adult", "higgs": "higgs_56k", "kick": "kick", "covertype": "covertype_177k",
    "internet": "internet_usage", "amazon": "amazon_employee_access", "click": "click_small",
    "churn": "kdd09_casecontrol",
}  # fmt: skip
MAX_TEST_ROWS = 4000
LEAST = 1e-15
MODELS: dict[str, Callable[[int], Any]] = {
    "AdaBoost as before": lambda seed: surefoot.AdaBoostClassifier(calibrate=False),
    "AdaBoost": lambda seed: surefoot.AdaBoostClassifier(),
    "Majority as before": lambda seed: surefoot.MajorityBoostClassifier(calibrate=False, random_state=seed),
    "Majority": lambda seed: surefoot.MajorityBoostClassifier(random_state=seed),
    "Bagged as before": lambda seed: surefoot.BaggedBoostClassifier(calibrate=False, random_state=seed),
    "Bagged": lambda seed: surefoot.BaggedBoostClassifier(random_state=seed),
    "Larsen-Ritzert": lambda seed: surefoot.LarsenRitzertClassifier(random_state=seed),
    "Best": lambda seed: surefoot.BestBoostClassifier(random_state=seed),
    "scikit-learn AdaBoost": lambda seed: PeerAdaBoost(n_estimators=300, random_state=seed),
    "surefoot gradient boosting": lambda seed: surefoot.GradientBoostingClassifier(random_state=seed),
    "scikit-learn HistGradientBoosting": lambda seed: HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=seed
    ),
}


def load_table(name: str, data: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """A table and its classes as numbers from 0 on."""
    if name in BUNDLED:
        bunch = BUNDLED[name](as_frame=True)
        return bunch.data, bunch.target.to_numpy()
    table = pd.read_parquet(data / f"{FILES[name]}.parquet")
    target = "target_churn" if name == "churn" else "target"
    if name == "covertype":
        table = table[table[target] <= 2]
    labels = pd.factorize(table[target], sort=True)[0]
    return table.drop(columns=[column for column in table if str(column).startswith("target")]), labels


def splits(n_rows: int, n_train: int, n_splits: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(seed, rows to train on, rows to judge by); at most two thirds of the rows train."""
    n_train = min(n_train, 2 * n_rows // 3)
    for seed in range(n_splits):
        rows = np.random.default_rng(seed).permutation(n_rows)
        yield seed, rows[:n_train], rows[n_train : n_train + MAX_TEST_ROWS]


def as_numbers(X: pd.DataFrame) -> np.ndarray:
    """The table for a model that takes numbers only: categories as codes, missing values as a number below all."""
    codes = {name: X[name].cat.codes if isinstance(X[name].dtype, pd.CategoricalDtype) else X[name] for name in X}
    numbers = pd.DataFrame(codes).to_numpy(dtype=np.float64)
    return np.where(np.isnan(numbers), np.nanmin(numbers, initial=0.0) - 1, numbers)


def few_categories(X: pd.DataFrame) -> pd.DataFrame:
    """The table for HistGradientBoosting, which takes categories up to 255: columns of more are codes."""
    many = [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype) and len(X[name].cat.categories) > 255]
    return X.assign(**{name: X[name].cat.codes for name in many})


def calibration_slope(logits: np.ndarray, outcomes: np.ndarray) -> float:
    return float(LogisticRegression(C=1e6).fit(logits[:, np.newaxis], outcomes).coef_[0, 0])


class Judgement(NamedTuple):
    """What one fitted model is worth on rows that are new to it."""

    loss: float
    auc: float
    accuracy: float
    seconds: float
    logits: np.ndarray
    outcomes: np.ndarray


def judge(model: Any, X: Any, y: np.ndarray, seconds: float) -> Judgement:
    found = np.clip(model.predict_proba(X), LEAST, 1 - LEAST)
    accuracy, loss = float((model.predict(X) == y).mean()), float(log_loss(y, found, labels=model.classes_))
    logits, outcomes = np.log(found) - np.log1p(-found), y[:, np.newaxis] == model.classes_
    if len(model.classes_) == 2:
        auc = float(roc_auc_score(y, found[:, 1]))
        return Judgement(loss, auc, accuracy, seconds, logits[:, 1], outcomes[:, 1])
    auc = float(roc_auc_score(y, found, multi_class="ovr"))
    return Judgement(loss, auc, accuracy, seconds, logits.ravel(), outcomes.ravel())


def measure(name: str, data: Path, models: list[str], n_train: int, n_splits: int) -> dict[str, list[Judgement]]:
    """For each model how it did on the splits of one table."""
    X, y = load_table(name, data)
    views = {"scikit-learn AdaBoost": as_numbers(X), "scikit-learn HistGradientBoosting": few_categories(X)}
    found: dict[str, list[Judgement]] = {model: [] for model in models}
    for seed, train, test in splits(len(y), n_train, n_splits):
        for model in models:
            table = views.get(model, X)
            rows = table.iloc if isinstance(table, pd.DataFrame) else table
            start = time.perf_counter()
            fitted = MODELS[model](seed).fit(rows[train], y[train])
            seconds = time.perf_counter() - start
            found[model].append(judge(fitted, rows[test], y[test], seconds))
    return found


def line(name: str, model: str, judgements: list[Judgement]) -> str:
    """Means over the splits and their standard errors, as a row of a table."""
    numbers = np.array([judgement[:4] for judgement in judgements])
    mean, error = numbers.mean(axis=0), numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))
    slopes = [calibration_slope(one.logits, one.outcomes) for one in judgements]
    pooled = calibration_slope(*(np.concatenate(parts) for parts in list(zip(*judgements, strict=True))[4:]))
    return (
        f"| {name} | {model} | {mean[0]:.3f} ± {error[0]:.3f} | {mean[1]:.3f} ± {error[1]:.3f} | "
        f"{pooled:.2f} ({min(slopes):.2f} to {max(slopes):.2f}) | {100 * mean[2]:.1f} ± {100 * error[2]:.1f} | "
        f"{mean[3]:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two splits of three tables, 500 rows")
    parser.add_argument("--rows", type=int, default=2000, help="rows to train on")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--tables", nargs="+", choices=CHOSEN_ON + JUDGED_ON, default=list(CHOSEN_ON + JUDGED_ON))
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    given = parser.parse_args()
    tables, n_rows, n_splits = given.tables, given.rows, given.splits
    if given.quick:
        tables, n_rows, n_splits = ["breast cancer", "wine", "digits"], 500, 2
    warnings.simplefilter("ignore")
    data = Path(os.environ.get("SUREFOOT_DATA", "data"))
    print("| table | model | log-loss | AUC | slope (range) | accuracy | seconds to fit |")
    print("|---|---|---|---|---|---|---|")
    for name in tables:
        for model, judgements in measure(name, data, given.models, n_rows, n_splits).items():
            print(line(name, model, judgements), flush=True)


if __name__ == "__main__":
    main()
