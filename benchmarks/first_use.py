"""What the first use costs: the seconds that an empty cache of kernels adds to a fit and a prediction, or to an audit.

Each case runs in a process of its own, first with an empty cache, then with the cache that this run has left; imports
are not timed. The difference is the time of compilation, which an installation pays once for each kind of model. Times
are of the processor: other programs disturb them less. Tables are small and trees are few, all else has its default.
"numbers" is a table of numbers without missing values; "mixed" has missing values and a column of categories.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

MAX_FIT, MAX_AUDIT = 5.0, 20.0  # seconds
FEW_TREES = {"n_estimators": 10}
FEW_MEMBERS = {**FEW_TREES, "n_members": 2}
ESTIMATORS = {
    "AdaBoostClassifier": FEW_TREES,
    "MajorityBoostClassifier": FEW_TREES,
    "BaggedBoostClassifier": {**FEW_TREES, "n_members": 3},
    "LarsenRitzertClassifier": {**FEW_TREES, "n_members": 3},
    "BestBoostClassifier": FEW_TREES,
    "GradientBoostingRegressor": FEW_TREES,
    "GradientBoostingClassifier": FEW_TREES,
    "BoostingEnsembleRegressor": FEW_MEMBERS,
    "BoostingEnsembleClassifier": FEW_MEMBERS,
    "VMatrixBoostingRegressor": FEW_TREES,
    "VMatrixBoostingClassifier": FEW_TREES,
    "StableSelector": {"n_bags": 100},
    "StableClassifier": {"n_bags": 5},
}
WITHOUT_MISSING = (
    "StableSelector",
    "StableClassifier",
)  # their model is that of another library, or takes only numbers


def seconds_of_fit(name: str, kind: str) -> float:
    """Fit an estimator and predict, once."""
    import numpy as np
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    import surefoot
    from surefoot.selection import LassoSelector

    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 6))
    values = 3.0 * X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * generator.normal(size=300)
    table = pd.DataFrame(X, columns=list("abcdef"))
    if kind == "mixed":
        table = table.mask(generator.random(X.shape) < 0.1)
        table["kind"] = pd.Categorical(np.array(["red", "green", "blue"])[generator.integers(0, 3, 300)])
    settings = dict(ESTIMATORS[name])
    first = {"StableSelector": LassoSelector(alpha=0.1), "StableClassifier": DecisionTreeClassifier(max_depth=2)}
    model = getattr(surefoot, name)(*([first[name]] if name in first else []), **settings)
    target = values > 0.0 if name.endswith("Classifier") else values
    start = time.process_time()
    model.fit(table, target)
    (model.transform if name == "StableSelector" else model.predict)(table)
    return time.process_time() - start


def seconds_of_audit() -> float:
    """Audit the tables of ``examples/demo.py``."""
    from sklearn.datasets import load_diabetes

    from surefoot import audit

    table = load_diabetes(as_frame=True, scaled=False).frame
    X, y, is_first = table.drop(columns="target"), table["target"], table["sex"] == 1
    start = time.process_time()
    audit(X[is_first], y[is_first], X_new=X[~is_first], y_new=y[~is_first]).to_html()
    return time.process_time() - start


def seconds_in_process(case: str, kind: str, cache: str) -> float:
    """What one of the two functions above returns in a new process."""
    command = [sys.executable, str(Path(__file__).resolve()), "--case", case, "--kind", kind]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return float(printed.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[*ESTIMATORS, "audit"], help="names of estimators, or audit")
    parser.add_argument("--quick", action="store_true", help="one estimator: only checks that it runs")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--kind", default="numbers", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        warnings.simplefilter("ignore")
        run: Callable[[], float] = seconds_of_audit
        print(run() if options.case == "audit" else seconds_of_fit(options.case, options.kind))
        return
    print(
        f"{'':<28}{'table':<9}{'cold':>7}{'warm':>7}{'added':>7}  seconds; at most {MAX_FIT:g}, an audit {MAX_AUDIT:g}"
    )
    for case in ["AdaBoostClassifier"] if options.quick else options.only:
        for kind in ("numbers",) if case in (*WITHOUT_MISSING, "audit") else ("numbers", "mixed"):
            with tempfile.TemporaryDirectory() as cache:
                cold, warm = (seconds_in_process(case, kind, cache) for _ in range(2))
            print(f"{case:<28}{kind:<9}{cold:7.1f}{warm:7.1f}{cold - warm:7.1f}", flush=True)


if __name__ == "__main__":
    main()
