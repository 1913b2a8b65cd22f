"""As ``public_calls``: audits and files."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pandas as pd

import surefoot
from contract.public_calls import Call, example, of


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
    path = folder() / "model"
    surefoot.save(one.regressor, path)

    def save(model, path):
        return surefoot.save(model, inside(path))

    return {
        "save": of(save, model=one.regressor, path=str(path)),
        "load": of(lambda path: surefoot.load(inside(path)), path=str(path)),
        "dump_model": of(surefoot.dump_model, model=one.regressor),
        "to_onnx": of(surefoot.to_onnx, model=one.regressor, outputs=None, quantiles=(), dtype="float64"),
    }


@cache
def folder():
    """A folder that is removed when the tests end."""
    path = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def inside(path):
    """Names of files are those of the folder; everything else is passed as it is."""
    return str(folder() / path) if isinstance(path, str) and path else path
