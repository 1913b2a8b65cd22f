"""The boosters of question 1 with default parameters: log-loss, AUC, calibration slope and accuracy on test rows.

    SUREFOOT_DATA=<folder of the Parquet files> .venv/bin/python benchmarks/default_boosters.py [--quick]

Each table is split at random several times, into ``--rows`` training rows and up to 4,000 test rows. There are two
groups of tables: the link from votes to probabilities and the selection rule were developed on the first; the second is
used for evaluation only.

The calibration slope is that of a logistic regression of the outcome on the logit of the predicted probability: 1 is
right, below 1 the probabilities are too extreme. It is fitted to the test rows of all splits together, because it is
usually too large for a few rows with hardly any errors. It is printed with its standard error: if that is large, as for
nearly separated rows, the slope is not informative. The standard error is that of the jackknife, which leaves out one
split at a time (splits of a small table share rows, so it is somewhat too small for them). For several classes, the
slope is fitted to all classes together, each against the rest. Probabilities are clipped to 1e-15 from 0 and 1.

    .venv/bin/python benchmarks/default_boosters.py --choice --rows 1000 --rounds 100

compares ``BestBoostClassifier`` with each candidate at each depth, and with gradient boosting, on the same splits;
differences are paired, with standard errors over the splits.

"as before" are the boosters with ``calibrate=False``: their probabilities are fractions of the members' votes, or
scikit-learn's softmax of AdaBoost's vote.
"""

import argparse
import os
import time
import warnings
from collections import Counter
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

DEVELOPMENT_TABLES = ("breast cancer", "pima", "adult", "higgs", "kick", "wine", "digits")
EVALUATION_TABLES = ("covertype", "internet", "amazon", "click", "churn")
SIMULATED = ("xor", "spirals")
CHOICE_TABLES = ("pima", "breast cancer", "wine", "digits", "adult", "higgs", "covertype", "internet", "xor", "spirals")
BUNDLED = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
FILES = {
    "pima": "pima", "adult": "adult", "higgs": "higgs_56k", "kick": "kick", "covertype": "covertype_177k",
    "internet": "internet_usage", "amazon": "amazon_employee_access", "click": "click_small",
    "churn": "kdd09_casecontrol",
}  # fmt: skip
MAX_TEST_ROWS = 4000
MIN_PROBABILITY = 1e-15
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
CANDIDATES = {
    "AdaBoost": surefoot.AdaBoostClassifier,
    "Bagged": surefoot.BaggedBoostClassifier,
    "Majority": surefoot.MajorityBoostClassifier,
}
DEPTHS = (1, 2, 3)
BEST, GRADIENT = "Best", "surefoot gradient boosting"
CHOICE_MODELS: dict[str, Callable[[int], Any]] = {
    f"{name} {depth}": lambda seed, booster=booster, depth=depth: booster(max_depth=depth, random_state=seed)
    for name, booster in CANDIDATES.items()
    for depth in DEPTHS
} | {name: MODELS[name] for name in (BEST, GRADIENT)}


def simulate(name: str, n_rows: int = 20_000) -> tuple[pd.DataFrame, np.ndarray]:
    """Two columns that are informative only together, six columns of noise, and a tenth of the labels flipped."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, n_rows)
    if name == "xor":
        first = generator.integers(0, 2, n_rows)
        signal = np.stack([first, first ^ y], axis=1) + generator.normal(scale=0.4, size=(n_rows, 2))
    else:
        turn = 3 * np.pi * np.sqrt(generator.random(n_rows))
        signal = turn[:, np.newaxis] * np.stack([np.cos(turn + np.pi * y), np.sin(turn + np.pi * y)], axis=1)
        signal += generator.normal(scale=0.5, size=(n_rows, 2))
    X = pd.DataFrame(np.hstack([signal, generator.normal(size=(n_rows, 6))])).add_prefix("x")
    return X, y ^ (generator.random(n_rows) < 0.1)


def load_table(name: str, data: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """A table and its classes as numbers from 0."""
    if name in SIMULATED:
        return simulate(name)
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
    """(seed, training rows, test rows); at most two thirds of the rows are training rows."""
    n_train = min(n_train, 2 * n_rows // 3)
    for seed in range(n_splits):
        rows = np.random.default_rng(seed).permutation(n_rows)
        yield seed, rows[:n_train], rows[n_train : n_train + MAX_TEST_ROWS]


def as_numbers(X: pd.DataFrame) -> np.ndarray:
    """The table for a model of numbers only: categories as codes, missing values as a number below all others."""
    codes = {name: X[name].cat.codes if isinstance(X[name].dtype, pd.CategoricalDtype) else X[name] for name in X}
    numbers = pd.DataFrame(codes).to_numpy(dtype=np.float64)
    return np.where(np.isnan(numbers), np.nanmin(numbers, initial=0.0) - 1, numbers)


def few_categories(X: pd.DataFrame) -> pd.DataFrame:
    """The table for HistGradientBoosting, which supports 255 categories: columns with more become codes."""
    many = [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype) and len(X[name].cat.categories) > 255]
    return X.assign(**{name: X[name].cat.codes for name in many})


def calibration_slope(logits: np.ndarray, outcomes: np.ndarray) -> float:
    return float(LogisticRegression(C=1e6).fit(logits[:, np.newaxis], outcomes).coef_[0, 0])


def pooled_slope(evaluations: list["Evaluation"]) -> tuple[float, float]:
    """The calibration slope over the rows of all splits, and its standard error by the jackknife over splits."""

    def slope(some: list["Evaluation"]) -> float:
        return calibration_slope(*(np.concatenate(parts) for parts in list(zip(*some, strict=True))[4:6]))

    n = len(evaluations)
    without = np.array([slope(evaluations[:k] + evaluations[k + 1 :]) for k in range(n)])
    return slope(evaluations), float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


class Evaluation(NamedTuple):
    """The results of one fitted model on test rows."""

    loss: float
    auc: float
    accuracy: float
    seconds: float
    logits: np.ndarray
    outcomes: np.ndarray
    chosen: str = ""  # by BestBoostClassifier


def evaluate(model: Any, X: Any, y: np.ndarray, seconds: float) -> Evaluation:
    probabilities = np.clip(model.predict_proba(X), MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    accuracy, loss = float((model.predict(X) == y).mean()), float(log_loss(y, probabilities, labels=model.classes_))
    logits, outcomes = np.log(probabilities) - np.log1p(-probabilities), y[:, np.newaxis] == model.classes_
    if len(model.classes_) == 2:
        auc = float(roc_auc_score(y, probabilities[:, 1]))
        return Evaluation(loss, auc, accuracy, seconds, logits[:, 1], outcomes[:, 1])
    auc = float(roc_auc_score(y, probabilities, multi_class="ovr"))
    return Evaluation(loss, auc, accuracy, seconds, logits.ravel(), outcomes.ravel())


def measure(
    name: str, data: Path, models: list[str], n_train: int, n_splits: int, n_rounds: int | None = None
) -> dict[str, list[Evaluation]]:
    """The results of each model on the splits of one table."""
    X, y = load_table(name, data)
    views = {"scikit-learn AdaBoost": as_numbers(X), "scikit-learn HistGradientBoosting": few_categories(X)}
    results: dict[str, list[Evaluation]] = {model: [] for model in models}
    for seed, train, test in splits(len(y), n_train, n_splits):
        for model in models:
            table = views.get(model, X)
            rows = table.iloc if isinstance(table, pd.DataFrame) else table
            start = time.perf_counter()
            fitted = (MODELS | CHOICE_MODELS)[model](seed)
            if n_rounds is not None and model != GRADIENT:
                fitted.set_params(n_estimators=n_rounds)
            fitted.fit(rows[train], y[train])
            seconds = time.perf_counter() - start
            evaluation = evaluate(fitted, rows[test], y[test], seconds)
            if model == BEST:
                evaluation = evaluation._replace(chosen=f"{fitted.best_name_} {fitted.best_depth_}")
            results[model].append(evaluation)
    return results


def line(name: str, model: str, evaluations: list[Evaluation]) -> str:
    """Means over the splits and their standard errors, as a row of a table."""
    numbers = np.array([evaluation[:4] for evaluation in evaluations])
    mean, error = numbers.mean(axis=0), numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))
    slope, slope_error = pooled_slope(evaluations)
    return (
        f"| {name} | {model} | {mean[0]:.3f} ± {error[0]:.3f} | {mean[1]:.3f} ± {error[1]:.3f} | "
        f"{slope:.2f} ± {slope_error:.2f} | {100 * mean[2]:.1f} ± {100 * error[2]:.1f} | "
        f"{mean[3]:.1f} |"
    )


def choice_line(name: str, results: dict[str, list[Evaluation]]) -> str:
    """Best compared with stumps, with the candidate that is best on the test rows, and with gradient boosting."""
    candidates = [model for model in results if model not in (BEST, GRADIENT)]
    hindsight = min(candidates, key=lambda model: np.mean([one.loss for one in results[model]]))
    others = ("AdaBoost 1", hindsight, GRADIENT)
    chosen = Counter(one.chosen for one in results[BEST])
    cells = [scores(results[model]) for model in (*others[:2], BEST, GRADIENT)]
    cells[1] = f"{hindsight}: {cells[1]}"
    cells += [difference(results[BEST], results[model]) for model in others]
    cells.append(", ".join(f"{model} ({times})" for model, times in chosen.most_common()))
    return f"| {name} | {' | '.join(cells)} |"


def scores(evaluations: list[Evaluation]) -> str:
    """Accuracy (%) and log-loss, means over the splits."""
    return (
        f"{100 * np.mean([one.accuracy for one in evaluations]):.1f} / {np.mean([one.loss for one in evaluations]):.3f}"
    )


def difference(ours: list[Evaluation], others: list[Evaluation]) -> str:
    """The paired differences in accuracy (points) and in log-loss, with their standard errors."""
    pairs = list(zip(ours, others, strict=True))
    accuracy = np.array([100 * (one.accuracy - other.accuracy) for one, other in pairs])
    loss = np.array([one.loss - other.loss for one, other in pairs])
    errors = [values.std(ddof=1) / np.sqrt(len(pairs)) for values in (accuracy, loss)]
    return f"{accuracy.mean():+.1f} ± {errors[0]:.1f} / {loss.mean():+.3f} ± {errors[1]:.3f}"


def evaluate_choice(tables: list[str], data: Path, n_rows: int, n_splits: int, n_rounds: int | None) -> None:
    """Print, for each table, every candidate at every depth, and then the comparison with Best."""
    results = {}
    print(f"| table | {' | '.join(CHOICE_MODELS)} |")
    print("|---" * (len(CHOICE_MODELS) + 1) + "|")
    for name in tables:
        results[name] = measure(name, data, list(CHOICE_MODELS), n_rows, n_splits, n_rounds)
        print(f"| {name} | {' | '.join(scores(evaluations) for evaluations in results[name].values())} |", flush=True)
    print(
        "\n| table | AdaBoost 1 | best in hindsight | Best | gradient boosting | Best - AdaBoost 1 | Best - hindsight "
        "| Best - gradient boosting | chosen (splits) |"
    )
    print("|---" * 9 + "|")
    for name in tables:
        print(choice_line(name, results[name]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two splits of three tables, 500 rows")
    parser.add_argument("--rows", type=int, default=2000, help="rows to train on")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rounds", type=int, help="with --choice: rounds of each booster, by default 300")
    parser.add_argument("--choice", action="store_true", help="evaluate the choice of BestBoostClassifier")
    parser.add_argument("--tables", nargs="+", choices=DEVELOPMENT_TABLES + EVALUATION_TABLES + SIMULATED)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    arguments = parser.parse_args()
    n_rows, n_splits = arguments.rows, arguments.splits
    tables = arguments.tables or list(CHOICE_TABLES if arguments.choice else DEVELOPMENT_TABLES + EVALUATION_TABLES)
    if arguments.quick:
        tables, n_rows, n_splits = ["breast cancer", "wine", "digits"], 500, 2
    warnings.simplefilter("ignore")
    data = Path(os.environ.get("SUREFOOT_DATA", "data"))
    if arguments.choice:
        evaluate_choice(tables, data, n_rows, n_splits, arguments.rounds)
        return
    print("| table | model | log-loss | AUC | slope | accuracy | seconds to fit |")
    print("|---|---|---|---|---|---|---|")
    for name in tables:
        for model, evaluations in measure(name, data, arguments.models, n_rows, n_splits).items():
            print(line(name, model, evaluations), flush=True)


if __name__ == "__main__":
    main()
