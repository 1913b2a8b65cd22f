"""The likelihood of held-out rows with default settings: nine UCI sets, and log-loss compared with CatBoost's.

    SUREFOOT_DATA=FOLDER python benchmarks/likelihood.py [--only regression classification] [--splits N] [--jobs N]

Regression: single models and ensembles without tuning, with both ways of growing trees, on the published splits. The
baseline is the best constant Normal distribution (mean and variance of the training targets): no split may be worse.
Classification: the same number of trees, depth and rate for both libraries, with CatBoost's handling of categories and
without early stopping.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.metrics import log_loss

from surefoot import BoostingEnsembleRegressor, GradientBoostingClassifier, GradientBoostingRegressor

REGRESSION = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine_red", "yacht")
CLASSIFICATION = ("adult", "amazon_employee_access", "internet_usage", "kick")
MODELS = {
    "one model": lambda seed, jobs: GradientBoostingRegressor(random_state=seed, n_jobs=jobs),
    "one model, depthwise": lambda seed, jobs: GradientBoostingRegressor(
        grow_policy="depthwise", random_state=seed, n_jobs=jobs
    ),
    "one SGLB model": lambda seed, jobs: GradientBoostingRegressor(langevin=True, random_state=seed, n_jobs=jobs),
    "ten SGB models": lambda seed, jobs: BoostingEnsembleRegressor(method="sgb", random_state=seed, n_jobs=jobs),
    "ten SGLB models": lambda seed, jobs: BoostingEnsembleRegressor(random_state=seed, n_jobs=jobs),
}


def read(folder, name):
    table = pd.read_parquet(folder / f"{name}.parquet")
    return table.drop(columns="target"), table["target"].to_numpy(), np.load(folder / f"{name}_splits.npz")


def regression(folder, n_splits, jobs):
    print("mean test NLL (and RMSE); in square brackets, the gain over the best constant Normal on the worst split")
    for name in REGRESSION:
        X, y, splits = read(folder, name)
        X, y = X.to_numpy(np.float64), y.astype(np.float64)
        numbers = [k for k in range(n_splits) if f"train_{k}" in splits]
        print(f"{name}, {len(X):,} x {X.shape[1]}, {len(numbers)} splits")
        for model_name, make in MODELS.items():
            results = []
            for k in numbers:
                train, test = splits[f"train_{k}"], splits[f"test_{k}"]
                constant = -norm.logpdf(y[test], y[train].mean(), y[train].std()).mean()
                prediction = make(k, jobs).fit(X[train], y[train]).predict_distribution(X[test])
                nll = -prediction.logpdf(y[test]).mean()
                results.append((nll, np.sqrt(np.mean((prediction.mean - y[test]) ** 2)), constant - nll))
            nll, rmse, below = np.array(results).T
            print(f"  {model_name:22s} {nll.mean():8.3f}  ({rmse.mean():8.4f})  [{below.min():6.2f}]", flush=True)


def classification(folder, seeds):
    try:
        from catboost import CatBoostClassifier, Pool
    except ModuleNotFoundError:
        print("CatBoost is not installed: pip install catboost")
        return
    print(f"\ntest log-loss, 1000 trees, depth 6, mean of {seeds} seeds")
    for name in CLASSIFICATION:
        X, y, splits = read(folder, name)
        train, test = splits["train"], splits["test"]
        categories = [column for column in X if isinstance(X[column].dtype, pd.CategoricalDtype)]
        text = X.assign(**{c: X[c].astype(object).where(X[c].notna(), "missing").astype(str) for c in categories})
        pools = [Pool(text.iloc[rows], y[rows], cat_features=categories) for rows in (train, test)]
        for rate in (0.1, 0.03):
            ours, theirs = [], []
            for seed in range(seeds):
                model = GradientBoostingClassifier(learning_rate=rate, early_stopping=False, random_state=seed)
                ours.append(log_loss(y[test], model.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])))
                peer = CatBoostClassifier(
                    iterations=1000,
                    depth=6,
                    learning_rate=rate,
                    random_seed=seed,
                    verbose=False,
                    thread_count=2,
                    allow_writing_files=False,
                )
                theirs.append(log_loss(y[test], peer.fit(pools[0]).predict_proba(pools[1])))
            ratio = np.mean(ours) / np.mean(theirs) - 1
            print(
                f"  {name:24s} rate {rate:4}: surefoot {np.mean(ours):.4f}, CatBoost {np.mean(theirs):.4f}, "
                f"{100 * ratio:+.1f} % (target: at most +1)",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=["regression", "classification"], default=None)
    parser.add_argument("--splits", type=int, default=20, help="largest number of splits of a regression set")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds of the classifiers")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if "SUREFOOT_DATA" not in os.environ:
        parser.exit(2, "Set SUREFOOT_DATA to the folder of the data files.\n")
    folder = Path(os.environ["SUREFOOT_DATA"])
    wanted = options.only or ["regression", "classification"]
    if "regression" in wanted:
        regression(folder, options.splits, options.jobs)
    if "classification" in wanted:
        classification(folder, options.seeds)


if __name__ == "__main__":
    main()
