"""As ``public_calls``: displays, audits and files."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import surefoot
from contract.public_calls import Call, example, of
from surefoot import metrics, plots


def drawn(display):
    """Make a display, and draw it."""
    return lambda **given: display(**given).plot()


def displays():
    """Displays made from models and predictions."""
    one = example()
    X, y, labels = one.X, one.y, one.labels
    small = surefoot.AdaBoostClassifier(n_estimators=2)
    report = surefoot.shift_report(X, X + 1, random_state=0)
    binned = {
        "levels": None,
        "class_label": None,
        "n_bins": None,
        "strategy": None,
        "sample_weight": None,
        "name": None,
    }
    return {
        "CalibrationDisplay": of(
            plots.CalibrationDisplay.from_estimator, True, estimator=one.classifier, X=X, y=labels
        ),
        "CalibrationDisplay of predictions": of(
            plots.CalibrationDisplay.from_predictions, True, y_true=labels, prediction=one.probabilities, **binned
        ),
        "ComparisonDisplay": of(
            plots.ComparisonDisplay.from_predictions, y_true=y, predictions={"a": y + 1, "b": y}, loss="squared_error",
            highlighted=(),
        ),
        "CostCurveDisplay": of(
            plots.CostCurveDisplay.from_predictions, True, y_true=labels, y_prob=one.probabilities[:, 1],
            false_positive=1, false_negative=2, name=None,
        ),
        "DependenceDisplay": of(
            plots.DependenceDisplay.from_estimator, estimator=one.regressor, X=X, feature=0, target=None, quantiles=(),
            sample_weight=None, grid_resolution=5, percentiles=(0.05, 0.95), name=None,
        ),
        "GraphDisplay": of(plots.GraphDisplay.from_estimator, estimator=one.graphs, top=2),
        "LearningCurveDisplay": of(
            plots.LearningCurveDisplay.from_estimator, True, estimator=small, X=X, y=labels, X_test=X, y_test=labels,
            sizes=(0.5, 1.0), random_state=0, name=None,
        ),
        "MarginDisplay": of(plots.MarginDisplay.from_estimator, True, estimator=one.booster, X=X, y=labels, name=None),
        "ModelWeightsDisplay": of(
            plots.ModelWeightsDisplay.from_estimator, estimator=one.selector, top=3, max_columns=None, name=None
        ),
        "RejectionCurveDisplay": of(
            plots.RejectionCurveDisplay.from_estimator, estimator=one.ensemble, X=X, y=y, kind=None, loss=None,
            sample_weight=None, name=None,
        ),
        "RejectionCurveDisplay of predictions": of(
            plots.RejectionCurveDisplay.from_predictions, y_true=y, y_pred=y + 1, uncertainty=np.abs(y), name=None
        ),
        "ShiftDisplay": of(plots.ShiftDisplay.from_report, report=report, top=3, name=None),
        "StabilityDisplay": of(
            plots.StabilityDisplay.from_estimator, estimator=one.selector, method="pool", epsilons=None
        ),
        "SubgroupDisplay": of(
            plots.SubgroupDisplay.from_predictions, y_true=y, y_pred=y + 1, groups=labels, loss="squared_error"
        ),
        "TrainingCurveDisplay": of(plots.TrainingCurveDisplay.from_estimator, estimator=one.regressor),
        "UncertaintyDisplay": of(
            plots.UncertaintyDisplay.from_estimator, estimator=one.ensemble, X=X, X_ood=None, features=None,
            kind="knowledge", style="auto", name=None,
        ),
    }  # fmt: skip


def displays_of_numbers():
    """Displays made from numbers that the user has computed."""
    one = example()
    bars = {"names": ["a"], "value": [1.0], "low": [0.0], "high": [2.0], "xlabel": "x", "highlighted": ()}
    curve = metrics.rejection_curve(one.y, one.y + 1, np.abs(one.y))
    return {
        "ComparisonDisplay": of(drawn(plots.ComparisonDisplay), **bars),
        "SubgroupDisplay": of(drawn(plots.SubgroupDisplay), overall=1.0, **bars),
        "CostCurveDisplay": of(drawn(plots.CostCurveDisplay), thresholds=[0.1, 0.2], cost=[1.0, 2.0], threshold=None),
        "GraphDisplay": of(drawn(plots.GraphDisplay), nodes=["a", "b"], graphs=[[("a", "b")]]),
        "LearningCurveDisplay": of(
            drawn(plots.LearningCurveDisplay), n_rows=[1, 2], value=[1.0, 2.0], low=[0.0, 1.0], high=[2.0, 3.0]
        ),
        "MarginDisplay": of(drawn(plots.MarginDisplay), margins=one.y),
        "RejectionCurveDisplay": of(drawn(plots.RejectionCurveDisplay), curve=curve),
        "TrainingCurveDisplay": of(drawn(plots.TrainingCurveDisplay), curves={"a": [1.0, 2.0]}, n_iter=None),
        "UncertaintyDisplay": of(drawn(plots.UncertaintyDisplay), uncertainty=one.uncertainty, uncertainty_ood=None),
    }


@cache
def short_audit():
    one = example()
    return surefoot.audit(pd.DataFrame(one.X, columns=list("abcd")), one.y, time_limit=0.01)


def audits():
    one, result = example(), short_audit()

    def audit(**given):
        surefoot.audit(given.pop("X"), given.pop("y"), **given)

    optional = (
        "X_new", "y_new", "model", "trained_on", "predictions", "models", "metric", "costs", "slices", "groups", "time",
        "sample_weight", "task", "max_rows", "sections", "callback",
    )  # fmt: skip
    settings = {"refit": True, "shift_tolerance": 0.25, "time_limit": 0.01, "random_state": 0, "n_jobs": 1}
    return {
        "audit": Call(
            audit,
            {"X": one.X, "y": one.y, **dict.fromkeys(optional), **settings},
            kinds={"X": "free table", "X_new": "free table", "y": "free numbers"},  # dates and text, for example
        ),
        "compare": of(surefoot.compare, audits=[result, result], against="first", names=None),
        "Audit.answer": of(result.answer, question="accuracy"),
        "Audit.check_rules": of(result.check_rules, fail_on=[]),
        "Audit.from_json": of(surefoot.Audit.from_json, source=result.to_json(), sections=()),
        "Audit.show": of(result.show, height=100),
    }


def files():
    """Models are written to a folder that is thrown away."""
    one = example()
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "model"
    surefoot.save(one.regressor, path)

    def save(model, path):
        return surefoot.save(model, inside(folder, path))

    return {
        "save": of(save, model=one.regressor, path=str(path)),
        "load": of(lambda path: surefoot.load(inside(folder, path)), path=str(path)),
        "dump_model": of(surefoot.dump_model, model=one.regressor),
        "to_onnx": of(surefoot.to_onnx, model=one.regressor, outputs=None, quantiles=(), dtype="float64"),
    }


def inside(folder, path):
    """Names of files are those of the folder; everything else is passed as it is."""
    return str(Path(folder.name) / path) if isinstance(path, str) and path else path
