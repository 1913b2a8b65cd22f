"""How much two audits of one table and one model differ by the draw of their folds alone.

``python benchmarks/fold_differences.py`` cross-validates one model twice on the same rows, with other folds, and prints
the variance of the difference of the RMSEs in units of the variance behind its paired interval, and how often intervals
of that width, and of twice the width, exclude 0.
"""

import argparse

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeRegressor

from surefoot.metrics.intervals import Z
from surefoot.report.comparison.differences import REFOLDED
from surefoot.report.statistics import paired_rms_difference

MODELS = {"least squares": LinearRegression(), "tree": DecisionTreeRegressor(max_depth=5, random_state=0)}


def difference(model, n_rows, n_columns, rng):
    """The difference of the two RMSEs in units of its standard error."""
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, 0] + 2 * np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=n_rows)
    folds = [KFold(5, shuffle=True, random_state=int(rng.integers(2**31))) for _ in range(2)]
    first, second = ((y - cross_val_predict(model, X, y, cv=each)) ** 2 for each in folds)
    found = paired_rms_difference(first, second)
    return found.value / ((found.high - found.low) / 2 / Z)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=150)
    tables = parser.parse_args().tables
    print("| model | rows | columns | variance | false | false, twice as wide |\n|---|---|---|---|---|---|")
    for name, model in MODELS.items():
        for n_rows in (400, 1500, 6000):
            for n_columns in (8, 30):
                rng = np.random.default_rng(0)
                z = np.array([difference(model, n_rows, n_columns, rng) for _ in range(tables)])
                rates = [f"{np.mean(np.abs(z) > Z * factor):.1%}" for factor in (1.0, REFOLDED)]
                cells = [name, f"{n_rows:,}", str(n_columns), f"{np.mean(z**2):.2f}", *rates]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
