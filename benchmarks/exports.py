"""Models as files of ONNX and as JSON: time to export and to read, size, and predictions of onnxruntime beside ours.

Both predict on one thread, and times are of the processor. For each model: all outputs of its file, beside the methods
that give the same in Python.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime

from surefoot import (
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    dump_model,
    to_onnx,
)

N_COLUMNS = 20


def table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, and a target of some of them."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, N_COLUMNS))
    return X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + generator.normal(size=n_rows)


def models(n_trees: int, n_members: int) -> dict[str, tuple[Any, Callable[[np.ndarray], np.ndarray]]]:
    """Each kind of model, and its target from the numbers to predict."""
    shared = {"n_estimators": n_trees, "early_stopping": False, "random_state": 0, "n_jobs": 1}
    return {
        "regressor": (GradientBoostingRegressor(**shared), lambda y: y),
        "regressor, depthwise": (GradientBoostingRegressor(grow_policy="depthwise", **shared), lambda y: y),
        "two classes": (GradientBoostingClassifier(**shared), lambda y: y > 0),
        "five classes": (GradientBoostingClassifier(**shared), lambda y: np.digitize(y, [-1, 0, 1, 2])),
        f"ensemble of {n_members}": (BoostingEnsembleRegressor(n_members=n_members, **shared), lambda y: y),
    }


def predict(model: Any, X: np.ndarray) -> None:
    """What the default outputs of a file contain."""
    if hasattr(model, "predict_uncertainty"):
        model.predict_uncertainty(X)
    elif hasattr(model, "predict_proba"):
        model.predict_proba(X)
    else:
        model.predict(X, return_std=True)


def seconds(function: Callable[[], object], repeats: int) -> float:
    """The fastest of several calls; the first is not counted."""
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def line(name: str, model: Any, X: np.ndarray, repeats: int) -> str:
    """One row of the table."""
    start = time.process_time()
    content = to_onnx(model).SerializeToString()
    exported = time.process_time()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    read = time.process_time()
    dumped = json.dumps(dump_model(model))
    many = [seconds(lambda: session.run(None, {"X": X}), repeats), seconds(lambda: predict(model, X), repeats)]
    one = [seconds(lambda: session.run(None, {"X": X[:1]}), 20), seconds(lambda: predict(model, X[:1]), 20)]
    cells = [
        name,
        f"{len(content) / 1e6:.1f} MB",
        f"{exported - start:.1f} s",
        f"{read - exported:.1f} s",
        f"{len(dumped) / 1e6:.1f} MB",
        f"{many[0]:.2f} s ({many[0] / many[1]:.1f})",
        f"{one[0] * 1e3:.2f} ms ({one[0] / one[1]:.1f})",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    X, y = table(options.rows)
    print(f"{options.trees:,} trees; {options.rows:,} rows; in brackets, the time as a multiple of ours")
    print("| model | ONNX | to export | to read | JSON | all rows | one row |")
    print("|---|---|---|---|---|---|---|")
    for name, (model, target_of) in models(options.trees, options.members).items():
        print(line(name, model.fit(X, target_of(y)), X, options.repeats), flush=True)


if __name__ == "__main__":
    main()
