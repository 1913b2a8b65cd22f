"""Coverage of the interval of a cross-fitted loss: for the fold models, and for the model of all rows.

    .venv/bin/python benchmarks/cross_fitting_coverage.py [--replications 1000] [--trees 200] [--rows 60 200 1000]

Every row is held out once (five folds). *Plain*: the interval of independent losses; *wider*: the same with
``cross_fitted``. Columns: the fraction of replications whose interval contains the expected loss of models fitted to
four fifths of the rows, the mean true loss of the five models, and the true loss of the model fitted to all rows (with
the misses of the wider interval on either side); and the ratio of the standard deviation of the mean loss to the
standard error behind the plain interval.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

from surefoot.report.statistics import Estimate, cross_fitted, rate_interval
from surefoot.report.statistics.standard_errors import spread_of

N_FOLDS, ROWS = 5, (60, 200, 1000)
MIN_TEST, TEST_ROWS = 5_000, 25  # in all, and for each row, so that the error of the truth is small
LINE = "| {:<34} | {:>5} | {:>8} | {:>10} | {:>9} | {:>8} | {:>10} | {:>9} | {:>11} | {:>11} | {:>5} |"
NAMES = ("expected", "the five", "all rows")
Table = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Setting:
    """A model, the distribution of its tables, and the loss."""

    name: str
    n: int
    model: Any
    draw: Callable[[np.random.Generator, int], Table]
    losses: Callable[[Any, np.ndarray, np.ndarray], np.ndarray]
    slow: bool = False


def settings(rows: list[int]) -> Iterator[Setting]:
    for n in rows:
        for p in (5, 20):
            name = f"{p} columns"
            yield Setting(f"ridge, squared error, {name}", n, Ridge(), numbers(p), squared)
            yield Setting(f"logistic, error rate, {name}", n, LogisticRegression(), classes(p), wrong)
            yield Setting(f"logistic, log-loss, {name}", n, LogisticRegression(), classes(p), log_loss)
        trees = {"max_iter": 30, "max_leaf_nodes": 8, "min_samples_leaf": 5, "early_stopping": False}
        boosted, classifier = HistGradientBoostingRegressor(**trees), HistGradientBoostingClassifier(**trees)
        yield Setting("boosting, squared error, 5 columns", n, boosted, numbers(5), squared, True)
        yield Setting("boosting, error rate, 5 columns", n, classifier, classes(5), wrong, True)
        yield Setting("boosting, log-loss, 5 columns", n, classifier, classes(5), log_loss, True)


def numbers(p: int) -> Callable[[np.random.Generator, int], Table]:
    def draw(rng: np.random.Generator, n: int) -> Table:
        X = rng.normal(size=(n, p))
        return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + rng.normal(size=n)

    return draw


def classes(p: int) -> Callable[[np.random.Generator, int], Table]:
    def draw(rng: np.random.Generator, n: int) -> Table:
        X = rng.normal(size=(n, p))
        return X, rng.random(n) < expit(1.5 * X[:, 0] + X[:, 1] + X[:, 2] * X[:, 3])

    return draw


def squared(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (model.predict(X) - y) ** 2


def wrong(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (model.predict(X) != y) * 1.0


def log_loss(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    probability = np.clip(model.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
    return -np.log(np.where(y, probability, 1 - probability))


def interval(losses: np.ndarray) -> Estimate:
    """The interval without the rules for withheld intervals and open ends, to isolate the effect of overlap."""
    if np.isin(losses, (0.0, 1.0)).all():
        return rate_interval(losses)
    spread, value = spread_of(losses), float(losses.mean())
    assert spread is not None
    return Estimate(value, *spread.skewed_ends(value))


def one(setting: Setting, rng: np.random.Generator, test: Table) -> tuple[np.ndarray, float, float]:
    """Losses of held-out rows, the mean true loss of the fold models, and that of the model of all rows."""
    X, y = setting.draw(rng, setting.n)
    losses, true = np.empty(setting.n), []
    for train, held_out in KFold(N_FOLDS, shuffle=True, random_state=0).split(X):
        model = clone(setting.model).fit(X[train], y[train])
        losses[held_out] = setting.losses(model, X[held_out], y[held_out])
        true.append(setting.losses(model, *test).mean())
    return losses, float(np.mean(true)), float(setting.losses(clone(setting.model).fit(X, y), *test).mean())


def measure(setting: Setting, replications: int) -> str:
    """One line of the table."""
    test = setting.draw(np.random.default_rng(10**6), max(MIN_TEST, TEST_ROWS * setting.n))
    draws = [one(setting, np.random.default_rng(seed), test) for seed in range(replications)]
    plain = [interval(losses) for losses, _, _ in draws]
    wider = [cross_fitted(each, setting.n) for each in plain]
    folds, full = (np.array([draw[k] for draw in draws]) for k in (1, 2))
    parts = []
    for intervals in (plain, wider):
        low, high = (np.array([getattr(each, end) for each in intervals]) for end in ("low", "high"))
        parts += [np.mean((low <= truth) & (truth <= high)) for truth in (folds.mean(), folds, full)]
    parts += [np.mean(full < low), np.mean(full > high)]
    error = np.mean([losses.var(ddof=1) / len(losses) for losses, _, _ in draws]) ** 0.5
    ratio = np.std([each.value for each in plain], ddof=1) / error
    return LINE.format(setting.name, setting.n, *(f"{part:.3f}" for part in parts), f"{ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--trees", type=int, default=200, help="replications of boosting")
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = [f"{kind} {name}" if name == "expected" else name for kind in ("plain:", "wider:") for name in NAMES]
    print(LINE.format("model", "rows", *heads, "truth below", "truth above", "sd/se"))
    print("|" + "|".join(["---"] + ["---:"] * 10) + "|", flush=True)
    for setting in settings(arguments.rows):
        replications = arguments.trees if setting.slow else arguments.replications
        print(measure(setting, replications), flush=True)


if __name__ == "__main__":
    main()
