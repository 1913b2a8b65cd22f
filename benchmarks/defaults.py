"""Default models of surefoot compared with those of other libraries, without tuning.

    SUREFOOT_DATA=FOLDER python benchmarks/defaults.py run RESULTS.jsonl [--tables ...] [--models ...] [--splits 5]
    python benchmarks/defaults.py report RESULTS.jsonl
    python benchmarks/defaults.py coverage RESULTS.jsonl [--seeds 10]

``run`` appends a line for every table, split and model, and skips existing lines, so it may be stopped and continued.
For every split of a table with more than 12,000 rows, 12,000 rows are drawn. ``report`` prints the tables of the docs:
means over splits, and the mean of paired differences from CatBoost with its standard error. ``coverage`` simulates
targets of every distribution and counts the new rows inside intervals of 50, 80, 90 and 95%, and beyond each end. For
counts it uses the randomized probability integral transform: the probability of a count is drawn uniformly between the
probabilities of smaller counts and of counts that are at most as large.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from defaults_coverage import print_coverage, run_coverage
from defaults_models import MODELS, REGRESSION_ONLY, predict
from defaults_tables import CHOSEN_ON, CLASSIFICATION, REGRESSION, split, table
from sklearn.metrics import log_loss

from surefoot.metrics import crps

MIN_PROBABILITY = 1e-15


def compute_scores(predicted, y, is_regression, labels):
    if not is_regression:
        p = np.clip(predicted, MIN_PROBABILITY, 1)
        loss = log_loss(y, p / p.sum(axis=1, keepdims=True), labels=labels)
        return {"log-loss": loss, "error": float(np.mean(labels[predicted.argmax(axis=1)] != y))}
    mean = predicted.mean if hasattr(predicted, "quantile") else np.asarray(predicted)
    scores = {"RMSE": float(np.sqrt(np.mean((mean - y) ** 2)))}
    if hasattr(predicted, "quantile"):
        low, high = predicted.interval(0.9)
        scores["NLL"] = float(-predicted.logpdf(y).mean())
        scores["CRPS"] = float(np.mean(crps(y, predicted)))
        scores["coverage"] = float(np.mean((y >= low) & (y <= high)))
    return scores


def run(options):
    done = {(line["table"], line["split"], line["model"]) for line in read(options.results) if "table" in line}
    missing = set()
    for k in range(options.splits):
        for name in options.tables:
            is_regression = name in REGRESSION
            for model in options.models:
                if (name, k, model) in done or model in missing or (model in REGRESSION_ONLY and not is_regression):
                    continue
                train, y, test, y_test = split(name, k)
                started = time.perf_counter()
                try:
                    predicted = predict(model, train, y, test, is_regression, k, options.jobs)
                except ModuleNotFoundError as error:
                    print(f"{model} is left out: {error}")
                    missing.add(model)
                    continue
                except Exception as error:
                    print(f"{name} {k} {model}: {type(error).__name__}: {str(error)[:200]}", flush=True)
                    continue
                seconds = time.perf_counter() - started
                line = {"table": name, "split": k, "model": model, "seconds": round(seconds, 3)}
                line |= compute_scores(predicted, y_test, is_regression, np.unique(table(name)[1]))
                print(
                    name,
                    k,
                    model,
                    {key: round(value, 4) for key, value in line.items() if isinstance(value, float)},
                    flush=True,
                )
                with options.results.open("a") as file:
                    file.write(json.dumps(line) + "\n")


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def report(options):
    lines = pd.DataFrame([line for line in read(options.results) if "table" in line])
    for names, measures in ((REGRESSION, ("RMSE", "NLL", "CRPS", "coverage")), (CLASSIFICATION, ("log-loss", "error"))):
        for measure in measures:
            if measure in lines:
                print_measure(lines[lines["table"].isin(names)].dropna(subset=[measure]), measure, options.against)
    print("\nseconds, mean over tables and splits:", lines.groupby("model")["seconds"].mean().round(2).to_dict())


def print_measure(lines, measure, against):
    wide = lines.pivot_table(index=["table", "split"], columns="model", values=measure)
    wide = wide[[model for model in MODELS if model in wide]]
    tables = [name for name in (*REGRESSION, *CLASSIFICATION) if name in wide.index.get_level_values(0)]
    print(f"\n{measure} (mean over splits; * = settings were chosen on this table)\n")
    print("| table | " + " | ".join(wide.columns) + " |\n|" + " --- |" * (len(wide.columns) + 1))
    for name in tables:
        means = wide.loc[name].mean()
        mark = "*" if name in CHOSEN_ON else ""
        print(f"| {name}{mark} | " + " | ".join("" if np.isnan(value) else f"{value:.4g}" for value in means) + " |")
    if against not in wide or measure == "coverage":
        return
    for model in wide.columns:
        if model != against:
            print_comparison(wide, model, against, tables)


def print_comparison(wide, model, peer, tables):
    """Print how often a model is at or below a peer, and where it is above by more than two standard errors."""
    below, worse, ratios = 0, [], []
    for name in tables:
        pair = wide.loc[name][[model, peer]].dropna()
        if len(pair) < 2:
            continue
        difference = pair[model] - pair[peer]
        error = difference.std(ddof=1) / np.sqrt(len(pair))
        below += difference.mean() <= 0
        ratios.append(difference.mean() / abs(pair[peer].mean()))
        if difference.mean() > 2 * error:
            worse.append(f"{name} {difference.mean():+.4g} ({error:.2g})")
    if ratios:
        print(
            f"{model} against {peer}: at or below on {below} of {len(ratios)} tables, median "
            f"{100 * np.median(ratios):+.1f}%; above by more than two standard errors: {', '.join(worse) or 'none'}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report", "coverage"])
    parser.add_argument("results", type=Path)
    parser.add_argument("--tables", nargs="+", default=[*REGRESSION, *CLASSIFICATION])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--against", default="CatBoost")
    parser.add_argument("--seeds", type=int, default=10, help="simulations for each family and size")
    options = parser.parse_args()
    if options.what == "coverage":
        run_coverage(options)
        print_coverage(read(options.results))
    else:
        {"run": run, "report": report}[options.what](options)


if __name__ == "__main__":
    main()
