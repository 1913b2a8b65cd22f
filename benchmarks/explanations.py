"""Rows per second of ``shap_values``, beside shap's TreeExplainer on the same trees, in one run.

TreeExplainer explains one parameter at a time, ``shap_values`` all of them in one pass: the rate is of rows with the
values of all parameters. Both use one thread, and times are of the processor, so that other programs disturb them
little.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

from surefoot import GradientBoostingRegressor

SHAPES = ((6, "symmetric"), (6, "depthwise"), (10, "symmetric"), (10, "depthwise"))


def table(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, and a target that four of them explain."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns))
    return X, 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + generator.normal(size=n_rows)


def seconds(explain: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        explain()
        times.append(time.process_time() - start)
    return min(times)


def largest_difference(model: GradientBoostingRegressor, explainers: dict, X: np.ndarray) -> float:
    """Of any value of any parameter, between both."""
    explained = model.shap_values(X)
    return max(float(abs(explained[name].values - one.shap_values(X)).max()) for name, one in explainers.items())


def compare(depth: int, grow_policy: str, arguments: argparse.Namespace) -> str:
    """One line of the table: a model, and the rates of both."""
    import shap

    X, y = table(5_000, arguments.columns)
    model = GradientBoostingRegressor(
        n_estimators=arguments.trees, max_depth=depth, grow_policy=grow_policy, early_stopping=False, random_state=0
    ).fit(X, y)
    explainers = {name: shap.TreeExplainer(trees) for name, trees in model.to_shap().items()}
    few = X[: arguments.few]
    difference = largest_difference(model, explainers, few)  # compiles the kernels, too
    theirs = seconds(lambda: [one.shap_values(few) for one in explainers.values()], 2) / len(few)
    rates = [seconds(lambda rows=rows: model.shap_values(rows), 3) / len(rows) for rows in (X[:1], few, X)]
    by_rows = " | ".join(f"{1 / ours:,.0f} ({theirs / ours:.1f} times)" for ours in rates)
    return f"| {depth}, {grow_policy} | {1 / theirs:,.0f} | {by_rows} | {difference:.0e} |"


def compare_background(grow_policy: str, arguments: argparse.Namespace) -> str:
    """One line of the second table: rows explained against as many background rows."""
    import shap

    X, y = table(5_000, arguments.columns)
    model = GradientBoostingRegressor(
        n_estimators=arguments.trees, grow_policy=grow_policy, early_stopping=False, random_state=0
    ).fit(X, y)
    rows, background = X[: arguments.few], X[-arguments.few :]
    explainers = [
        shap.TreeExplainer(trees, background, feature_perturbation="interventional")
        for trees in model.to_shap().values()
    ]
    model.shap_values(rows[:1], background=background)  # compiles the kernels
    theirs = seconds(lambda: [one.shap_values(rows) for one in explainers], 2) / len(rows)
    ours = seconds(lambda: model.shap_values(rows, background=background), 2) / len(rows)
    return f"| 6, {grow_policy} | {1 / theirs:,.0f} | {1 / ours:,.0f} ({theirs / ours:.1f} times) |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--few", type=int, default=100, help="rows that shap explains")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = ("1 row", f"{arguments.few} rows", "5,000 rows")
    print(f"| depth of {arguments.trees} trees | TreeExplainer | {' | '.join(rows)} | largest difference |")
    print("| --- " * 6 + "|")
    for depth, grow_policy in SHAPES:
        print(compare(depth, grow_policy, arguments), flush=True)
    print(f"\n| depth, {arguments.few} background rows | TreeExplainer | {arguments.few} rows |\n| --- | --- | --- |")
    for grow_policy in ("symmetric", "depthwise"):
        print(compare_background(grow_policy, arguments), flush=True)


if __name__ == "__main__":
    main()
