"""Do conformal intervals and sets hold what they promise, and how wide are they? Simulated and real tables.

    python benchmarks/conformal_coverage.py --results conformal.jsonl --workers 2
    python benchmarks/conformal_coverage.py --results conformal.jsonl --table

A run that was stopped continues where it was. Coverage is that of fresh rows, of 200 tables for each scenario; its
standard error is that of the mean over the tables. Real tables compare widths and set sizes with MAPIE on the same
splits. MAPIE must be installed.
"""

import argparse
import json
import os
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
from defaults_tables import REGRESSION, table
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge

from surefoot import ConformalClassifier, ConformalRegressor, GradientBoostingRegressor

LEVELS = (0.8, 0.9, 0.95)
TABLES, FRESH_ROWS = 200, 500
SIZES = (100, 500, 5000)
GROUPS, FRACTIONS, NOISE = ("a", "b", "c"), (0.6, 0.3, 0.1), (1.0, 3.0, 0.3)
SHIFT = 0.7
N_SPLITS, MAX_ROWS = 5, 4000
REAL_NUMBERS = ("boston", "concrete", "energy", "wine_red", "yacht", "power", "kin8nm", "diabetes")
REAL_CLASSES = ("pima", "adult", "internet", "covertype", "digits", "breast_cancer", "wine")


def numbers(generator, n, shift=0.0):
    """A linear rule with noise that grows with the second column."""
    X = generator.normal(size=(n, 4))
    X[:, 1] += shift
    return X, 2 * X[:, 0] + np.exp(0.5 * X[:, 1]) * generator.normal(size=n)


def classes(generator, n, shift=0.0):
    """Four classes; the second column decides how certain they are."""
    X = generator.normal(size=(n, 4))
    X[:, 1] += shift
    scores = np.exp(-0.5 * X[:, 1])[:, np.newaxis] * X[:, [0, 2, 3, 0]] * [1.5, 1.5, 1.5, -1.5]
    return X, (scores + generator.gumbel(size=(n, 4))).argmax(axis=1)


def in_groups(generator, n):
    """The numbers, in three groups with different noise."""
    X = generator.normal(size=(n, 4))
    codes = generator.choice(3, size=n, p=FRACTIONS)
    return X, X[:, 0] + np.array(NOISE)[codes] * generator.normal(size=n), np.array(GROUPS)[codes]


def hits_of(model, X, y, level, groups=None):
    """Whether each row is covered, and the width or size of its interval or set."""
    if hasattr(model, "predict_interval"):
        low, high = model.predict_interval(X, groups, confidence_level=level)
        return (low <= y) & (y <= high), high - low
    sets = model.predict_set(X, groups, confidence_level=level)
    return np.array([label in each for label, each in zip(y, sets, strict=True)]), np.array(
        [len(each) for each in sets]
    )


MODELS = {
    "numbers, ridge": (numbers, lambda **given: ConformalRegressor(Ridge(), **given)),
    "numbers, Bayesian ridge": (numbers, lambda **given: ConformalRegressor(BayesianRidge(), **given)),
    "classes, lac": (classes, lambda **given: ConformalClassifier(LogisticRegression(), **given)),
    "classes, aps": (
        classes,
        lambda **given: ConformalClassifier(LogisticRegression(), conformity_score="aps", **given),
    ),
}


def exchangeable(name, generator, n, seed):
    """Rows of one population, split and cross-conformal."""
    draw, make = MODELS[name]
    (X, y), (Z, truth) = draw(generator, n), draw(generator, FRESH_ROWS)
    found = {}
    for cv in ("split", 5):
        model = make(cv=cv, random_state=seed).fit(X, y)
        for level in LEVELS:
            hits, sizes = hits_of(model, Z, truth, level)
            found[f"{'split' if cv == 'split' else 'folds'} {level}"] = (hits.mean(), _finite_mean(sizes), _lost(sizes))
    return found


def grouped(name, generator, n, seed):
    """Coverage of each group, with and without groups."""
    (X, y, groups), (Z, truth, later) = in_groups(generator, n), in_groups(generator, 3 * FRESH_ROWS)
    found = {}
    for given, label in ((groups, "by group"), (None, "pooled")):
        model = ConformalRegressor(Ridge(), random_state=seed).fit(X, y, groups=given)
        for level in LEVELS:
            hits, sizes = hits_of(model, Z, truth, level, None if given is None else later)
            for group in GROUPS:
                own = later == group
                found[f"{label} {group} {level}"] = (hits[own].mean(), _finite_mean(sizes[own]), _lost(sizes[own]))
    return found


def shifted(name, generator, n, seed):
    """Deployment rows from another distribution of the columns, with and without estimated weights."""
    draw, make = MODELS[name]
    X, y = draw(generator, n)
    (X_target, _), (Z, truth) = (draw(generator, size, SHIFT) for size in (max(n // 2, 100), FRESH_ROWS))
    found = {}
    for target, label in ((X_target, "weighted"), (None, "not weighted")):
        model = make(random_state=seed).fit(X, y, X_target=target)
        for level in LEVELS:
            hits, sizes = hits_of(model, Z, truth, level)
            found[f"{label} {level}"] = (hits.mean(), _finite_mean(sizes), _lost(sizes))
    return found


def real_numbers(name, generator, n, seed):
    """Mean widths in standard deviations of the target, and coverage of all rows and of the third with most noise."""
    from mapie.regression import CrossConformalRegressor, SplitConformalRegressor

    X, y, Z, truth, spread = _real(name, seed)
    model = GradientBoostingRegressor(n_estimators=200, random_state=seed)
    half = np.arange(len(y)) % 4 == 0
    fitted = GradientBoostingRegressor(n_estimators=200, random_state=seed).fit(X[~half], y[~half])
    noise = fitted.predict(Z, return_std=True)[1]
    hard = noise >= np.quantile(noise, 2 / 3)
    split = ConformalRegressor(fitted, cv="prefit")
    ends = {
        "surefoot, split": split.fit(X[half], y[half]).predict_interval(Z),
        "surefoot, split, absolute": split.set_params(conformity_score="absolute")
        .fit(X[half], y[half])
        .predict_interval(Z),
        "surefoot, 5 folds": ConformalRegressor(model, cv=5, random_state=seed).fit(X, y).predict_interval(Z),
        "the model's own": fitted.predict_distribution(Z).interval(0.9),
    }
    mapie = SplitConformalRegressor(fitted, confidence_level=0.9, prefit=True).conformalize(X[half], y[half])
    ends["MAPIE, split"] = mapie.predict_interval(Z)[1][:, :, 0].T
    mapie = CrossConformalRegressor(model, confidence_level=0.9, cv=5, random_state=seed).fit_conformalize(X, y)
    ends["MAPIE, 5 folds"] = mapie.predict_interval(Z)[1][:, :, 0].T
    found = {}
    for label, (low, high) in ends.items():
        hits = (low <= truth) & (truth <= high)
        found[label] = (hits.mean(), float(np.mean(high - low)) / spread, hits[hard].mean())
    return found


def real_classes(name, generator, n, seed):
    """Mean set sizes, and coverage of all rows and of the third with the smallest largest probability."""
    from mapie.classification import SplitConformalClassifier

    X, y, Z, truth, _ = _real(name, seed)
    half = np.arange(len(y)) % 4 == 0
    forest = RandomForestClassifier(200, min_samples_leaf=3, random_state=seed)
    fitted = forest.fit(X[~half], y[~half])
    top = fitted.predict_proba(Z).max(axis=1)
    hard = top <= np.quantile(top, 1 / 3)
    found = {}
    for score in ("lac", "aps"):
        model = ConformalClassifier(fitted, cv="prefit", conformity_score=score).fit(X[half], y[half])
        hits, sizes = hits_of(model, Z, truth, 0.9)
        found[f"surefoot, {score}"] = (hits.mean(), sizes.mean(), hits[hard].mean())
    for score in ("lac", "aps", "raps"):
        if score != "lac" and len(np.unique(y)) == 2:
            continue  # MAPIE has these for three classes or more
        mapie = SplitConformalClassifier(
            fitted, confidence_level=0.9, prefit=True, conformity_score=score, random_state=0
        )
        try:
            members = mapie.conformalize(X[half], y[half]).predict_set(Z)[1][:, :, 0]
        except ValueError:
            continue  # its RAPS divides the calibration rows by class, and a class has one of them
        hits = members[np.arange(len(truth)), np.searchsorted(fitted.classes_, truth)]
        found[f"MAPIE, {score}"] = (hits.mean(), members.sum(axis=1).mean(), hits[hard].mean())
    return found


def _real(name, seed):
    X, y = table(name)
    columns = [X[c].cat.codes if X[c].dtype == "category" else X[c].astype(float) for c in X]
    X = np.nan_to_num(np.column_stack(columns), nan=-1.0)
    y = y.astype(float) if name in REGRESSION else np.unique(y, return_inverse=True)[1]
    rows = np.random.default_rng(seed).permutation(len(y))[:MAX_ROWS]
    cut = int(0.7 * len(rows))
    train, test = rows[:cut], rows[cut:]
    return X[train], y[train], X[test], y[test], float(np.std(y[test]))


def _finite_mean(sizes):
    return float(np.mean(sizes[np.isfinite(sizes)])) if np.isfinite(sizes).any() else None


def _lost(sizes):
    """The fraction of infinite intervals."""
    return float(np.mean(~np.isfinite(sizes)))


SCENARIOS = {
    "exchangeable": (exchangeable, tuple(MODELS), SIZES, TABLES),
    "groups": (grouped, ("numbers, ridge",), SIZES, TABLES),
    "shifted": (shifted, ("numbers, ridge", "classes, lac"), (400, 1000, 5000), TABLES),
    "real numbers": (real_numbers, REAL_NUMBERS, (0,), N_SPLITS),
    "real classes": (real_classes, REAL_CLASSES, (0,), N_SPLITS),
}


def run_one(scenario, name, n, k):
    warnings.simplefilter("ignore")
    generator = np.random.default_rng([sum((scenario + name).encode()), n, k])
    found = SCENARIOS[scenario][0](name, generator, n, k)
    return {"scenario": scenario, "name": name, "n": n, "replication": k, "found": found}


def run_all(arguments):
    known = {(line["scenario"], line["name"], line["n"], line["replication"]) for line in read_lines(arguments.results)}
    wanted = [
        (scenario, name, n, k)
        for scenario, (_, names, sizes, replications) in SCENARIOS.items()
        if scenario in (arguments.scenarios or SCENARIOS)
        for n in sizes
        for name in names
        for k in range(replications)
    ]
    remaining = [task for task in wanted if task not in known]
    print(f"{len(wanted) - len(remaining)} of {len(wanted)} are done", flush=True)
    with ProcessPoolExecutor(arguments.workers) as pool, arguments.results.open("a") as file:
        for future in as_completed([pool.submit(run_one, *task) for task in remaining]):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def summary(lines):
    """Tables in Markdown."""
    by_case = defaultdict(lambda: defaultdict(list))
    for line in lines:
        for key, values in line["found"].items():
            by_case[line["scenario"], line["name"], line["n"]][key].append(values)
    parts = [_coverage_table(scenario, by_case) for scenario in ("exchangeable", "groups", "shifted")]
    parts += [_real_table(scenario, by_case) for scenario in ("real numbers", "real classes")]
    return "\n\n".join(part for part in parts if part)


def _coverage_table(scenario, by_case):
    head = " | ".join(f"{level:.0%}" for level in LEVELS)
    rows = [f"| {scenario} | rows | tables | {head} | width or size at 90% |", "|---|---|---|---|---|---|---|"]
    below = 0
    for (kind, name, n), found in sorted(by_case.items()):
        if kind != scenario:
            continue
        for label in sorted({key.rpartition(" ")[0] for key in found}):
            cells = []
            for level in LEVELS:
                hits = np.array([values[0] for values in found[f"{label} {level}"]])
                error = hits.std(ddof=1) / len(hits) ** 0.5
                floor = 2 * level - 1 if label == "folds" else level
                is_below = hits.mean() < floor - 2 * error and label not in (
                    "not weighted",
                    *(f"pooled {g}" for g in GROUPS),
                )
                below += is_below
                cells.append(f"{hits.mean():.1%} ({error:.1%}){' *' if is_below else ''}")
            widths = [values[1] for values in found[f"{label} 0.9"] if values[1] is not None]
            lost = np.mean([values[2] for values in found[f"{label} 0.9"]])
            width = f"{np.mean(widths):.2f}" if widths else "-"
            cells.append(width + (f", {lost:.1%} infinite" if lost > 0.0005 else ""))
            rows.append(f"| {name}: {label} | {n:,} | {len(hits)} | {' | '.join(cells)} |")
    return "\n".join([*rows, "", f"{below} coverages are below their guarantee by more than two standard errors."])


def _real_table(scenario, by_case):
    labels = sorted({key for (kind, _, _), found in by_case.items() if kind == scenario for key in found})
    what = "size" if scenario == "real classes" else "width"
    rows = [f"| table | {' | '.join(labels)} |", f"|---|{'---|' * len(labels)}"]
    means = defaultdict(list)
    for (kind, name, _), found in sorted(by_case.items()):
        if kind != scenario:
            continue
        cells = []
        for label in labels:
            if label not in found:
                cells.append("-")
                continue
            values = np.array(found[label], dtype=float)
            means[label].append(values.mean(axis=0))
            spread = values[:, 1].std(ddof=1) if len(values) > 1 else 0.0
            mean = values.mean(axis=0)
            cells.append(f"{mean[1]:.2f} ± {spread:.2f}, {mean[0]:.0%}, {mean[2]:.0%}")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    n_tables, cells = len(rows) - 2, []
    for label in labels:
        mean = np.mean(means[label], axis=0)
        complete = len(means[label]) == n_tables  # means of different tables could not be compared
        cells.append(f"{mean[1]:.2f}, {mean[0]:.1%}, {mean[2]:.1%}" if complete else "-")
    rows.append(f"| mean | {' | '.join(cells)} |")
    caption = f"Mean {what} ± its standard deviation over {N_SPLITS} splits, coverage, coverage of the hardest third:"
    return "\n".join([caption, "", *rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("conformal.jsonl"))
    parser.add_argument("--scenarios", nargs="*", choices=SCENARIOS)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--table", action="store_true", help="print the tables of the results")
    arguments = parser.parse_args()
    if not arguments.table:
        run_all(arguments)
    print(summary(read_lines(arguments.results)))


if __name__ == "__main__":
    main()
