"""How well knowledge uncertainty detects out-of-domain rows: our ensembles and CatBoost's on the same rows.

    python benchmarks/out_of_domain.py RESULTS --data FOLDER [--datasets ...] [--splits N] [--seeds N] [--tune]
        [--out FILE]

RESULTS is the folder of a run of `surefoot reproduce uncertainty`. It contains our AUCs, and the depth, rate and number
of trees that were chosen inside the training rows. CatBoost trains ten models with these; with --tune, the same grid
and the same validation rows choose its own. Out-of-domain rows are those of the run (Year MSD; in brackets Higgs).
With more seeds, both libraries train more ensembles (the run has our first). The threshold is 3 points below CatBoost,
for the mean over splits and seeds; the last brackets contain the standard errors of these means.
"""

import argparse
import csv
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from catboost import CatBoostClassifier, CatBoostRegressor

from surefoot.uncertainty.member_predictions import ClassificationMembers, RegressionMembers
from surefoot_experiments.skeleton.run import RESULTS
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.uncertainty.boosters import train_boosters
from surefoot_experiments.uncertainty.datasets import DATASETS, load_table
from surefoot_experiments.uncertainty.lines import MethodLine
from surefoot_experiments.uncertainty.measures import measure
from surefoot_experiments.uncertainty.methods import SGB, SGB_ENSEMBLE, SGLB, SGLB_ENSEMBLE, UncertaintySettings
from surefoot_experiments.uncertainty.problem import Problem

MAX_GAP = 0.03
OURS = {SGB_ENSEMBLE: SGB, SGLB_ENSEMBLE: SGLB}
METHODS = {
    SGB_ENSEMBLE: {"bootstrap_type": "Bernoulli", "subsample": 0.5},
    SGLB_ENSEMBLE: {"posterior_sampling": True},
}


def convert_for_catboost(X: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Convert categories to text, with a category for missing values; return the names of these columns too."""
    names = [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]
    text = {name: X[name].astype(object).where(X[name].notna(), "missing").astype(str) for name in names}
    return X.assign(**text), names


def train(problem: Problem, method: str, depth: int, rate: float, trees: int, seed: int, threads: int, rows=None):
    """Train one model; with ``rows``, only on some of the training rows, with the likelihood of the others."""
    X, categories = convert_for_catboost(problem.X)
    kind = CatBoostRegressor if problem.is_regression else CatBoostClassifier
    loss = {"loss_function": "RMSEWithUncertainty"} if problem.is_regression else {}
    model = kind(
        iterations=trees,
        depth=depth,
        learning_rate=rate,
        random_seed=seed,
        thread_count=threads,
        verbose=False,
        allow_writing_files=False,
        cat_features=categories,
        **loss,
        **METHODS[method],
    )
    if rows is None:
        return model.fit(X, problem.y)
    chosen, others = rows
    return model.fit(
        X.iloc[chosen], problem.y[chosen], eval_set=(X.iloc[others], problem.y[others]), use_best_model=False
    )


def tune(problem: Problem, method: str, settings: UncertaintySettings, threads: int) -> tuple[int, float, int]:
    """Choose depth, rate and number of trees by the likelihood of validation rows; SGLB keeps all its trees."""
    tried = []
    for depth, rate in product(settings.depths, settings.rates):
        model = train(problem, method, depth, rate, settings.trees, 0, threads, problem.split_for_validation())
        scores = np.array(next(iter(model.get_evals_result()["validation"].values())))
        best = len(scores) - 1 if method == SGLB_ENSEMBLE else int(np.argmin(scores))
        tried.append((scores[best], depth, rate, best + 1))
    return min(tried)[1:]


def make_predictor(models, is_regression: bool):
    """A function that returns the members' predictions for a table, as the reproduction expects."""

    def predict(X):
        X = convert_for_catboost(X)[0]
        if is_regression:
            means, variances = np.stack([model.predict(X) for model in models]).transpose(2, 0, 1)
            return RegressionMembers(means, variances)
        return ClassificationMembers(np.stack([model.predict_proba(X) for model in models]), models[0].classes_)

    return predict


def our_aucs(problem: Problem, line: MethodLine, method: str, seed: int, options) -> tuple[float, float]:
    """The AUCs of the run for seed 0, and those of new ensembles for other seeds."""
    if seed == 0:
        return line.auc_knowledge, line.auc2_knowledge
    other = replace(problem, split=problem.split + 1000 * seed)  # the split is the seed of an ensemble
    predictors = train_boosters(other, OURS[method], line, UncertaintySettings(), options.threads)
    measures = measure(problem, predictors[method])
    return measures["auc_knowledge"], measures["auc2_knowledge"]


def compare(dataset, method: str, ours: list[MethodLine], options) -> list[dict]:
    """A row for each split and seed: our AUCs and CatBoost's."""
    settings, table, rows = UncertaintySettings(), load_table(dataset, options.data), []
    for line in ours:
        problem = Problem.from_table(table, line.split, options.data)
        chosen = (line.depth, line.rate, line.trees)
        if options.tune:
            chosen = tune(problem, method, settings, options.threads)
        for seed in range(options.seeds):
            first = seed * settings.members
            models = [train(problem, method, *chosen, first + k, options.threads) for k in range(settings.members)]
            theirs = measure(problem, make_predictor(models, problem.is_regression))
            auc, auc_higgs = our_aucs(problem, line, method, seed, options)
            rows.append(
                {
                    "dataset": dataset.name,
                    "split": line.split,
                    "seed": seed,
                    "method": method,
                    "ours": auc,
                    "catboost": theirs["auc_knowledge"],
                    "ours_higgs": auc_higgs,
                    "catboost_higgs": theirs["auc2_knowledge"],
                    "depth": chosen[0],
                    "rate": chosen[1],
                    "trees": chosen[2],
                }
            )
    return rows


def report(title: str, method: str, rows: list[dict]) -> str:
    """The comparison in one line."""
    values = {name: np.array([row[name] for row in rows]) for name in rows[0] if "ours" in name or "catboost" in name}
    mean = {name: value.mean() for name, value in values.items()}
    errors = ""
    if len(rows) > 1:
        errors = " ({:.3f}, {:.3f})".format(
            *(values[name].std(ddof=1) / np.sqrt(len(rows)) for name in ("ours", "catboost"))
        )
    verdict = "reached" if mean["ours"] >= mean["catboost"] - MAX_GAP else "not reached"
    return (
        f"{title:14s} {method:13s} {len(rows):2d} ensembles: surefoot {mean['ours']:.3f}, "
        f"CatBoost {mean['catboost']:.3f}: {verdict} ({mean['ours_higgs']:.3f}, {mean['catboost_higgs']:.3f}){errors}"
    )


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--datasets", nargs="+", default=[dataset.name for dataset in DATASETS])
    parser.add_argument("--splits", type=int, default=5, help="largest number of splits of a dataset")
    parser.add_argument("--seeds", type=int, default=1, help="ensembles on each split")
    parser.add_argument("--tune", action="store_true", help="choose CatBoost's depth, rate and trees by its own grid")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a CSV file for the comparison, split by split")
    return parser.parse_args()


def main():
    options = parse_options()
    lines = GrowingCsv(options.results / RESULTS, MethodLine).lines.values()
    all_rows = []
    for dataset, method in product(DATASETS, METHODS):
        ours = [line for line in lines if (line.dataset, line.method) == (dataset.name, method)]
        ours = sorted(ours, key=lambda line: line.split)[: options.splits]
        if dataset.name not in options.datasets or not ours:
            continue
        rows = compare(dataset, method, ours, options)
        all_rows += rows
        print(report(dataset.title, method, rows), flush=True)
        if options.out:
            with options.out.open("w", newline="") as file:
                writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(all_rows)


if __name__ == "__main__":
    main()
