"""Virtual ensembles compared with true ensembles of ten: do they detect errors and out-of-domain rows as well?

    python benchmarks/virtual_ensembles.py run RESULTS --data FOLDER [--out FILE] [--datasets ...] [--jobs N]
    python benchmarks/virtual_ensembles.py report FILE [FILE ...]

RESULTS is the folder of a run of `surefoot reproduce uncertainty`: the depth and the rate that were chosen inside the
training rows are used here too, for all methods, with 1,000 trees. Classification has one split and five seeds,
regression five splits, and twenty where the test sets have fewer than 300 rows. `run` appends a line for each method,
dataset and split to FILE; what is there is not run again. `report` prints the means, and the gaps to the true ensemble
with their standard errors over seeds or splits; then the median knowledge uncertainty of the test rows, over that of
the true ensemble (geometric means).

One training of ten SGLB models gives the true ensemble; the first of them, a virtual one by each method. CatBoost
trains one model with `posterior_sampling=True`, and leaves by which this adds noise (five seeds or splits).
"""

import argparse
import csv
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np

from surefoot import VirtualEnsemble
from surefoot_experiments.uncertainty.boosters import predict_members, train_ensemble
from surefoot_experiments.uncertainty.datasets import DATASETS, load_table
from surefoot_experiments.uncertainty.lines import TuningLine
from surefoot_experiments.uncertainty.measures import measure
from surefoot_experiments.uncertainty.methods import SGLB, UncertaintySettings
from surefoot_experiments.uncertainty.problem import Problem

N_SEEDS, MAX_SMALL_TEST = 5, 300
ENSEMBLE, PLAIN, INCREMENTS, COPIES = "ensemble of ten", "truncation", "increments", "copies"
CATBOOST, CATBOOST_INCREMENTS = "CatBoost, truncation", "CatBoost, increments"
METHODS = (ENSEMBLE, COPIES, INCREMENTS, PLAIN, CATBOOST, CATBOOST_INCREMENTS)
FIELDS = ("dataset", "split", "method", "prr", "auc", "auc2", "knowledge", "seconds")


def chosen_settings(results: Path, name: str, split: int, regression: bool) -> TuningLine:
    """Depth and rate with the best validation likelihood in the run."""
    with open(results / "tuning.csv", newline="") as file:
        lines = [line for line in csv.DictReader(file) if (line["dataset"], line["method"]) == (name, SGLB)]
    own = [line for line in lines if int(line["split"]) == (split if regression else 0)]
    best = min(own, key=lambda line: float(line["validation_nll"]))
    return TuningLine(
        dataset=name,
        split=split,
        method=SGLB,
        depth=int(best["depth"]),
        rate=float(best["rate"]),
        trees=int(best["trees"]),
        validation_nll=float(best["validation_nll"]),
        seconds=0.0,
    )


def problem_of(table, split: int, folder: Path) -> Problem:
    """A split of a regression table; for classification the only split, and another seed."""
    problem = Problem.from_table(table, split if len(table.splits) > 1 else 0, folder)
    return replace(problem, split=split)


def own_predictors(problem: Problem, chosen: TuningLine) -> dict:
    """The true ensemble, and virtual ensembles of its first model."""
    models = train_ensemble(problem, SGLB, chosen, UncertaintySettings(), 1).estimators_
    virtual = {
        COPIES: VirtualEnsemble(models[0], X_train=problem.X),
        INCREMENTS: VirtualEnsemble(models[0], method="increments"),
        PLAIN: VirtualEnsemble(models[0], method="truncation"),
    }
    predictors = {method: ensemble.predict_members for method, ensemble in virtual.items()}
    return {ENSEMBLE: lambda rows: predict_members(models, rows), **predictors}


def catboost_predictors(problem: Problem, chosen: TuningLine) -> dict:
    """Virtual ensembles of one CatBoost model, with Langevin noise in its leaves."""
    from catboost import CatBoostClassifier, CatBoostRegressor
    from out_of_domain import convert_for_catboost

    X, categories = convert_for_catboost(problem.X)
    kind = CatBoostRegressor if problem.is_regression else CatBoostClassifier
    model = kind(
        iterations=chosen.trees,
        depth=chosen.depth,
        learning_rate=chosen.rate,
        random_seed=problem.split,
        posterior_sampling=True,
        leaf_estimation_method="Gradient",
        cat_features=categories,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        **({"loss_function": "RMSEWithUncertainty"} if problem.is_regression else {}),
    ).fit(X, problem.y)
    truncated, increments = (VirtualEnsemble(model, method=m).predict_members for m in ("truncation", "increments"))
    return {
        CATBOOST: lambda rows: truncated(convert_for_catboost(rows)[0]),
        CATBOOST_INCREMENTS: lambda rows: increments(convert_for_catboost(rows)[0]),
    }


def lines_of(dataset, split: int, with_catboost: bool, options) -> list[dict]:
    """The lines of all methods on one split."""
    problem = problem_of(load_table(dataset, options.data), split, options.data)
    chosen = chosen_settings(options.results, dataset.name, split, problem.is_regression)
    lines = []
    for make in (own_predictors, catboost_predictors)[: 1 + with_catboost]:
        started = time.perf_counter()
        for method, predict in make(problem, chosen).items():
            values = measure(problem, predict)
            scores = {"prr": values["prr_knowledge"], "auc": values["auc_knowledge"], "auc2": values["auc2_knowledge"]}
            scores["knowledge"] = np.median(predict(problem.X_test).uncertainty().knowledge)
            lines.append(
                {"dataset": dataset.name, "split": split, "method": method, **scores}
                | {"seconds": round(time.perf_counter() - started, 1)}
            )
    return lines


def run(options) -> None:
    """Append what is missing to the file of results."""
    done = {(line["dataset"], int(line["split"])) for line in read_lines([options.out])} if options.out.exists() else ()
    tasks = []
    for dataset in DATASETS:
        if dataset.is_in(options.data) and dataset.name in (options.datasets or {one.name for one in DATASETS}):
            table = load_table(dataset, options.data)
            is_small = len(table.splits) > 1 and len(table.splits[0][1]) < MAX_SMALL_TEST
            splits = range(len(table.splits) if is_small else N_SEEDS)
            tasks += [(dataset, split, split < N_SEEDS) for split in splits if (dataset.name, split) not in done]
    tasks.sort(key=lambda task: -task[0].paper_rows)
    parallel = joblib.Parallel(options.jobs, return_as="generator_unordered")
    for lines in parallel(joblib.delayed(lines_of)(*task, options) for task in tasks):
        is_new = not options.out.exists()
        with open(options.out, "a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            if is_new:
                writer.writeheader()
            writer.writerows(lines)
        print(lines[0]["dataset"], lines[0]["split"], flush=True)


def read_lines(paths) -> list[dict]:
    return [line for path in paths for line in csv.DictReader(open(path, newline=""))]


def report(options) -> None:
    """Print means in percent, then gaps to the true ensemble with standard errors."""
    scores, sizes = defaultdict(dict), defaultdict(dict)
    for line in read_lines(options.files):
        auc = 50 * (float(line["auc"]) + float(line["auc2"]))
        scores[line["dataset"], line["method"]][int(line["split"])] = (100 * float(line["prr"]), auc)
        sizes[line["dataset"], line["method"]][int(line["split"])] = float(line["knowledge"])
    names = [dataset.name for dataset in DATASETS if (dataset.name, ENSEMBLE) in scores]
    for place, measured in enumerate(("PRR of knowledge", "AUC of knowledge, mean of both out-of-domain sets")):
        print(f"\n{measured}, in percent: the true ensemble, and gaps to it\n")
        print("| dataset | splits | " + " | ".join(METHODS) + " |")
        print("| --- | --- |" + " --- |" * len(METHODS))
        gaps = defaultdict(list)
        for name in names:
            truth = {split: values[place] for split, values in scores[name, ENSEMBLE].items()}
            cells = [f"{np.mean(list(truth.values())):.0f}"]
            for method in METHODS[1:]:
                own = scores.get((name, method), {})
                gap = np.array([values[place] - truth[split] for split, values in own.items()])
                gaps[method].append(gap.mean() if len(gap) else np.nan)
                cells.append(f"{gap.mean():+.1f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.1f}" if len(gap) > 1 else "")
            print(f"| {name} | {len(truth)} | " + " | ".join(cells) + " |")
        means = [f"{np.nanmean(gaps[method]):+.1f}" for method in METHODS[1:]]
        worst = [f"{np.nanmin(gaps[method]):+.1f}" for method in METHODS[1:]]
        print("| mean | | | " + " | ".join(means) + " |\n| lowest | | | " + " | ".join(worst) + " |")
    print("\nMedian knowledge uncertainty of the test rows, over that of the true ensemble\n")
    print("| dataset | " + " | ".join(METHODS[1:4]) + " |\n| --- |" + " --- |" * 3)
    for name in names:
        ratios = (
            [sizes[name, method][split] / truth for split, truth in sizes[name, ENSEMBLE].items()]
            for method in METHODS[1:4]
        )
        print(f"| {name} | " + " | ".join(f"{np.exp(np.mean(np.log(own))):.2g}" for own in ratios) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("results", type=Path)
    running.add_argument("--data", type=Path, required=True)
    running.add_argument("--out", type=Path, default=Path("virtual-ensembles.csv"))
    running.add_argument("--datasets", nargs="*")
    running.add_argument("--jobs", type=int, default=2)
    running.set_defaults(call=run)
    reporting = commands.add_parser("report")
    reporting.add_argument("files", type=Path, nargs="+")
    reporting.set_defaults(call=report)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
