"""Wrong labels of the audit: tables with planted ones, and clean tables with noise, for `audit_honesty.py --section`.

    SUREFOOT_DATA=FOLDER python benchmarks/audit_honesty.py --section labels --replications 5 --scenarios breast_cancer
    python benchmarks/audit_honesty.py --section labels --replications 200 --scenarios linear softmax

Scenarios of the first kind are real tables, in which labels are planted: 2, 5 and 10% of them exchanged for any other
class, or only labels of the more frequent half of the classes. Those of the second kind are simulated from smooth
probabilities, so that no label is wrong, or they are numbers with a known mean. The ensemble and the forest are small.
In ``floor`` 5% of the rows disagree with a rule that is exact otherwise: this is what wrong labels look like, and an
alarm is no mistake.
If cleanlab is installed, its ranking of the same probabilities is measured too, with its defaults.
"""

import os
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from honesty_tables import probability_of, table
from sklearn import datasets

from surefoot.report import run as audit_run
from surefoot.report.sections.labels.measure import contradicting_models, fit_of
from surefoot.report.sections.labels.noise_fit import NoiseFit, fit_numbers

MAX_ROWS = 600  # of a real table
PLANTED = ((0.02, "any"), (0.05, "any"), (0.1, "any"), (0.05, "frequent"), (0.1, "frequent"))
CANDIDATES = ("constant", "linear", "ensemble", "forest")
SMALL = {  # as there are many tables
    "ensemble": {"n_members": 3, "n_estimators": 30, "learning_rate": 0.3},
    "forest": {"randomforestclassifier__n_estimators": 25, "randomforestclassifier__n_jobs": 1},
}
Found = dict[str, Any]


def fit_table(X: Any, y: Any, seed: int) -> tuple[NoiseFit, Any]:
    """The section's fit to the held-out predictions of the linear model, the ensemble and the forest."""
    every = audit_run.candidate_models

    def some(*arguments: Any) -> Any:
        candidates = [each for each in every(*arguments) if each.name in CANDIDATES]
        for each in candidates:
            each.model.set_params(**SMALL.get(each.name, {}))
        return candidates

    audit_run.candidate_models = some
    try:
        run = audit_run.AuditRun.begin(X, y, random_state=seed, n_jobs=1).fit()
    finally:
        audit_run.candidate_models = every
    return fit_of(contradicting_models(run.fitted, run.audited), run.audited, seed), run


def planted(read: Callable[[], tuple[Any, Any]], generator: np.random.Generator, n: int) -> Found:
    """The wrong labels that are found among the first rows, for every way of planting them."""
    X, y = read()
    rows = np.sort(generator.permutation(len(y))[:MAX_ROWS])
    X, (classes, codes) = X.iloc[rows].reset_index(drop=True), np.unique(np.asarray(y)[rows], return_inverse=True)
    found = {}
    for rate, kind in PLANTED:
        given, wrong = plant(codes, rate, kind, generator)
        fit, run = fit_table(X, pd.Series(classes[given].astype(str)), int(generator.integers(1000)))
        found[f"{rate:.0%} {kind}"] = measured(fit, wrong, rate) | cleanlab_of(run, wrong, rate)
    return {"planted": found}


def plant(codes: np.ndarray, rate: float, kind: str, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels with wrong ones, and which they are."""
    n_classes, n_wrong = int(codes.max()) + 1, round(rate * len(codes))
    frequent = np.argsort(-np.bincount(codes), kind="stable")[: (n_classes + 1) // 2 if kind == "frequent" else None]
    chosen = generator.permutation(np.flatnonzero(np.isin(codes, frequent)))[:n_wrong]
    given, wrong = codes.copy(), np.zeros(len(codes), dtype=np.bool_)
    given[chosen] = (codes[chosen] + generator.integers(1, n_classes, len(chosen))) % n_classes
    wrong[chosen] = True
    return given, wrong


def measured(fit: NoiseFit, wrong: np.ndarray, rate: float) -> Found:
    """Precision among the first 5% of the rows (2%, if no more are planted), recall, and the estimated number."""
    order, n_first = np.lexsort((fit.plausibility, -fit.wrong)), first_rows(wrong, rate)
    number, n_wrong = fit.n_wrong, int(wrong.sum())
    return {
        "precision": float(wrong[order[:n_first]].mean()),
        "recall": float(wrong[order[:n_first]].sum() / n_wrong),
        "shown": number is not None,
        "ratio": None if number is None else number.value / n_wrong,
        "inside": None if number is None else bool(number.low <= n_wrong <= number.high),
    }


def first_rows(wrong: np.ndarray, rate: float) -> int:
    return max(1, round((0.05 if rate >= 0.05 else 0.02) * len(wrong)))


def cleanlab_of(run: Any, wrong: np.ndarray, rate: float) -> Found:
    """Precision of cleanlab's ranking of the ensemble's probabilities, and of the mean of the models."""
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return {}
    models = {each.name: np.asarray(each.predictions.probabilities) for each in run.fitted if each.name != "constant"}
    found = {}
    for name, chances in (("ensemble", models["ensemble"]), ("mean", np.mean(list(models.values()), axis=0))):
        scores = get_label_quality_scores(run.table.target.y, np.clip(chances, 1e-6, 1.0))
        found[f"cleanlab {name}"] = float(wrong[np.argsort(scores, kind="stable")[: first_rows(wrong, rate)]].mean())
    return found


def bundled(load: Callable[..., Any], n_classes: int | None = None) -> tuple[Any, Any]:
    X, y = load(return_X_y=True, as_frame=True)
    kept = np.ones(len(y), dtype=np.bool_) if n_classes is None else (y < n_classes).to_numpy()
    return X[kept], y[kept]


def stored(name: str, classes: tuple[Any, ...] | None = None) -> tuple[Any, Any]:
    frame = pd.read_parquet(Path(os.environ["SUREFOOT_DATA"]) / f"{name}.parquet")
    frame = frame if classes is None else frame[frame["target"].isin(classes)]
    return frame.drop(columns="target"), frame["target"]


def clean(draw: Callable[[np.random.Generator, int], tuple[Any, Any]], generator: np.random.Generator, n: int) -> Found:
    """Whether labels of a clean table are said to be wrong."""
    X, y = draw(generator, n)
    fit, _ = fit_table(X, pd.Series(np.asarray(y).astype(str)), int(generator.integers(1000)))
    return {"shown": fit.n_wrong is not None}


def clean_numbers(draw: Callable[[np.random.Generator, int], Any], generator: np.random.Generator, n: int) -> Found:
    """Whether numbers with a known mean are said to be wrong."""
    mean, noise = 2 * generator.normal(size=n), draw(generator, n)
    return {"shown": fit_numbers(mean, np.ones(n), mean + noise, None, 0).n_wrong is not None}


def by_odds(score: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.random.Generator, int], tuple[Any, Any]]:
    def draw(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
        X = table(generator, n, 6)
        return X, generator.random(n) < probability_of(score(X.to_numpy().T))

    return draw


def softmax(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = table(generator, n, 6)
    odds = np.exp(3 * X.to_numpy()[:, :4])
    return X, ((odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1) < generator.random((n, 1))).sum(axis=1)


def probit(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = table(generator, n, 6)
    return X, (2 * X["x0"] + X["x1"] + generator.normal(size=n) > 0).to_numpy()


def two_clouds(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
    y, X = generator.integers(2, size=n), table(generator, n, 6)
    return X.assign(x0=X["x0"] + 2.5 * y, x1=X["x1"] * (1 + y)), y


def categories(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
    X, kind = table(generator, n, 3), generator.integers(8, size=n)
    y = generator.random(n) < probability_of(np.linspace(-3, 3, 8)[kind] + 1.5 * X["x0"].to_numpy())
    return X.assign(kind=[f"k{each}" for each in kind]), y


def floor(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = table(generator, n, 6)
    return X, (X["x0"] + X["x1"] > 0).to_numpy() ^ (generator.random(n) < 0.05)


REAL: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast_cancer": partial(bundled, datasets.load_breast_cancer),
    "wine": partial(bundled, datasets.load_wine),
    "iris": partial(bundled, datasets.load_iris),
    "digits_0_to_3": partial(bundled, datasets.load_digits, 4),
    "adult": partial(stored, "adult"),
    "covertype_1_and_2": partial(stored, "covertype_177k", (1, 2)),
    "internet_usage": partial(stored, "internet_usage"),
    "pima": partial(stored, "pima"),
}
CLEAN = {
    "linear": by_odds(lambda x: 1.5 * x[0] + x[1]),
    "strong": by_odds(lambda x: 4 * x[0] + 3 * x[1]),
    "curved": by_odds(lambda x: 3 * np.sin(2 * x[0]) + 2 * x[1] * x[2]),
    "strong_and_curved": by_odds(lambda x: 5 * (x[0] ** 2 - 1) + 4 * x[1] * x[2]),
    "rare_class": by_odds(lambda x: 2 * x[0] + 2 * x[1] - 4),
    "no_signal": by_odds(lambda x: 0 * x[0]),
    "softmax": softmax,
    "probit": probit,
    "two_clouds": two_clouds,
    "categories": categories,
    "floor": floor,
}
NUMBERS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal_noise": lambda generator, n: generator.normal(size=n),
    "student_3_noise": lambda generator, n: generator.standard_t(3, n),
    "student_1_5_noise": lambda generator, n: generator.standard_t(1.5, n),
    "lognormal_noise": lambda generator, n: np.exp(generator.normal(size=n)),
    "uneven_noise": lambda generator, n: generator.normal(size=n) * np.exp(0.7 * generator.normal(size=n)),
}
SCENARIOS: dict[str, Callable[[np.random.Generator, int], Found]] = {
    **{name: partial(planted, read) for name, read in REAL.items()},
    **{name: partial(clean, draw) for name, draw in CLEAN.items()},
    **{name: partial(clean_numbers, draw) for name, draw in NUMBERS.items()},
}


def summary(lines: list[dict[str, Any]]) -> str:
    """Two tables in Markdown: planted wrong labels, and false alarms."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        groups[line["scenario"]].append(line)
    rows = ["| table | planted | precision (least) | recall | cleanlab, ensemble | mean | shown | estimate | inside |"]
    rows += ["|---|---|---|---|---|---|---|---|---|"]
    for name in REAL:
        for how in groups[name][0]["planted"] if groups[name] else ():
            rows.append(_planted_row(name, how, [line["planted"][how] for line in groups[name]]))
    rows += ["", "| clean table | tables | labels shown to be wrong |", "|---|---|---|"]
    for name in (*CLEAN, *NUMBERS):
        if groups[name]:
            shown = np.mean([line["shown"] for line in groups[name]])
            rows.append(f"| {name.replace('_', ' ')} | {len(groups[name])} | {shown:.1%} |")
    return "\n".join(rows)


def _planted_row(name: str, how: str, found: list[Found]) -> str:
    def mean(key: str) -> str:
        values = [each[key] for each in found if each.get(key) is not None]
        return f"{np.mean(values):.2f}" if values else "-"

    inside = [each["inside"] for each in found if each["inside"] is not None]
    least = min(each["precision"] for each in found)
    cells = [name.replace("_", " "), how, f"{mean('precision')} ({least:.2f})", mean("recall")]
    cells += [mean("cleanlab ensemble"), mean("cleanlab mean")]
    cells += [
        f"{sum(each['shown'] for each in found)} of {len(found)}",
        mean("ratio"),
        f"{sum(inside)} of {len(inside)}" if inside else "-",
    ]
    return f"| {' | '.join(cells)} |"
