"""Very small fitted models, one for every kind of file, and rows for them to predict.

Run as a script, it stores the models and their predictions for comparison with later versions, once for every version
of the format: ``python tests/model_io/small_models.py tests/models/1``.
"""

import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import surefoot
from surefoot.uncertainty import StudentT

STORED = Path(__file__).parents[1] / "models"
ROWS, ANSWERS = "rows.json", "answers.json"
FAMILIES = ("normal", "lognormal", "laplace", "student_t", "poisson", "gamma")


def table(n_rows=60, n_categories=4, seed=0):
    """A frame of two numbers, some missing, and two categories; and a target that depends on most of them."""
    generator = np.random.default_rng(seed)
    numbers = generator.normal(size=(n_rows, 2)).round(1)
    numbers[::7, 1] = np.nan
    codes, few = generator.integers(0, n_categories, n_rows), generator.integers(0, 2, n_rows)
    columns = {"a": numbers[:, 0], "b": numbers[:, 1], "c": pd.Categorical(codes.astype(str)), "d": pd.Categorical(few)}
    effect = 2.0 * (codes % 2) + 3.0 * ((codes // 2 + few) % 2)
    return pd.DataFrame(columns), numbers[:, 0] + effect + 0.3 * generator.normal(size=n_rows)


@cache
def recipes():
    """By name: an estimator, and the rows and target that it is fitted to."""
    (few, y), many = table(), table(n_rows=2400, n_categories=60)
    X, three = few[["a", "b"]].to_numpy(), np.digitize(y, [0.0, 2.0])
    votes = {"n_estimators": 3, "random_state": 0}
    trees = {**votes, "max_depth": 2, "early_stopping": False}
    counts = np.exp(np.clip(y, 0, 5)).round() + 1
    by_name = {
        "stumps": (surefoot.AdaBoostClassifier(**votes), few, y > 1),
        "trees": (surefoot.AdaBoostClassifier(max_depth=2, **votes), few, three),
        "majority": (surefoot.MajorityBoostClassifier(n_members=2, **votes), X, np.where(y > 1, "yes", "no")),
        "bagged": (surefoot.BaggedBoostClassifier(n_members=3, voting="soft", **votes), X, three.astype(np.int8)),
        "larsen_ritzert": (surefoot.LarsenRitzertClassifier(n_members=3, **votes), X, (y > 1).astype(np.float32)),
        "best": (surefoot.BestBoostClassifier(candidates=["adaboost", "majority"], **votes), X, y > 1),
        "depthwise": (surefoot.GradientBoostingRegressor(grow_policy="depthwise", **trees), few, y),
        "sets": (surefoot.GradientBoostingClassifier(**trees), few, three.astype(str).astype(object)),
        "statistics": (surefoot.GradientBoostingRegressor(langevin=True, **trees), *many),
        "settings": (surefoot.GradientBoostingRegressor(distribution=StudentT(df=4), **trees), X, y),
        "ensemble": (surefoot.BoostingEnsembleRegressor(n_members=2, **trees), *many),
        "classifiers": (surefoot.BoostingEnsembleClassifier(n_members=2, **trees), X, y > 1),
        "vmatrix": (surefoot.VMatrixBoostingRegressor(max_leaf_nodes=3, **votes), few, y),
        "vmatrix_classes": (surefoot.VMatrixBoostingClassifier(max_leaf_nodes=3, **votes), few, three),
    }
    for family in FAMILIES:
        by_name[family] = (surefoot.GradientBoostingRegressor(distribution=family, **trees), X, counts)
    return by_name


@cache
def small_model(name):
    """A fitted model: no test trains it again, and none when it is collected."""
    estimator, X, y = recipes()[name]
    return estimator.fit(X, y)


def rows_for(model, frame):
    """The columns of the frame that the model was fitted on, as a frame or an array."""
    return frame if hasattr(model, "feature_names_in_") else frame[["a", "b"]].to_numpy()


def answers(model, X):
    """All predictions of a model, by name."""
    results = {"predict": model.predict(X), "feature_importances_": model.feature_importances_}
    for name in ("predict_proba", "decision_function"):
        if hasattr(model, name):
            results[name] = getattr(model, name)(X)
    if hasattr(model, "predict_distribution"):
        distribution = model.predict_distribution(X)
        results |= {"std": distribution.std, "quantile": distribution.quantile([0.1, 0.9])}
    if hasattr(model, "predict_uncertainty"):
        results |= parts(model.predict_uncertainty(X))
    if hasattr(model, "staged_predict"):
        results["staged_predict"] = np.array(list(model.staged_predict(X)))
    return results


def parts(uncertainty):
    return {name: getattr(uncertainty, name) for name in ("total", "data", "knowledge")}


def read_rows(folder):
    """The frame written by ``store``."""
    columns = json.loads((folder / ROWS).read_text(encoding="utf-8"))
    frame = pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})
    return frame.astype({"a": float, "b": float, "c": "category", "d": "category"})


def store(folder):
    """Write the models, rows and predictions to a folder."""
    folder.mkdir(parents=True)
    frame, _ = table(n_rows=8, n_categories=5, seed=1)  # the fifth category is unknown to models of four
    frame.loc[0, ["a", "c"]] = [1e300, None]
    columns = {name: [None if pd.isna(cell) else cell for cell in frame[name].tolist()] for name in frame}
    (folder / ROWS).write_text(json.dumps(columns) + "\n", encoding="utf-8")
    results = {}
    for name in recipes():
        model = small_model(name)
        surefoot.save(model, folder / f"{name}.surefoot")
        results[name] = {method: answer.tolist() for method, answer in answers(model, rows_for(model, frame)).items()}
    (folder / ANSWERS).write_text(json.dumps(results) + "\n", encoding="utf-8")


if __name__ == "__main__":
    store(Path(sys.argv[1]))
