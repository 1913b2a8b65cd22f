"""What a new user does first; run by the Python of an environment with the extras that are named.

``python smoke_test.py questions cli onnx``: a model of each question is fitted, saved, loaded and predicts; each extra
that is named works, and each that is not ends with an error that says how to install it. It needs only surefoot.
"""

import csv
import json
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_iris

import surefoot
from surefoot.selection import LassoSelector

COMMAND = Path(sysconfig.get_path("scripts")) / "surefoot"
X, Y = load_diabetes(return_X_y=True)
QUESTIONS = "questions"
SMALL = {"n_estimators": 10, "random_state": 0}


def main() -> None:
    """Check the questions if they are named, the extras that are, and the errors without the others."""
    named = set(sys.argv[1:])
    unknown = named - {QUESTIONS, *EXTRAS}
    if unknown:
        sys.exit(f"there is nothing named {sorted(unknown)}: name some of {QUESTIONS}, {', '.join(EXTRAS)}.")
    check_place()
    with tempfile.TemporaryDirectory() as folder:
        if QUESTIONS in named:
            check_questions(Path(folder))
        for extra, uses in EXTRAS.items():
            for use in uses:
                if extra in named:
                    use(Path(folder))
                else:
                    check_missing(extra, use, Path(folder))
    print(f"surefoot {surefoot.__version__} on Python {sys.version.split()[0]}, {sorted(named)}: all works")


def check_place() -> None:
    """The library is the installed one, not a checkout."""
    assert Path(surefoot.__file__).is_relative_to(sysconfig.get_path("purelib")), surefoot.__file__


def check_questions(folder: Path) -> None:
    """A model of each question is fitted, saved, loaded and predicts."""
    flowers, kinds = load_iris(return_X_y=True)
    new = X[:100]
    models = [
        (surefoot.BestBoostClassifier(**SMALL).fit(flowers, kinds), flowers),
        (surefoot.GradientBoostingClassifier(**SMALL).fit(flowers, kinds), flowers),
        (surefoot.BoostingEnsembleRegressor(n_members=2, **SMALL).fit(X, Y), X),
        (surefoot.VMatrixBoostingRegressor(**SMALL).fit(X, Y, X_target=new), X),
    ]
    for model, rows in models:
        path = folder / "model.surefoot"
        surefoot.save(model, path)
        assert np.array_equal(surefoot.load(path).predict(rows), model.predict(rows)), model
    stable = surefoot.StableSelector(LassoSelector(), n_bags=100, random_state=0).fit(X, Y)
    assert 0 < stable.transform(X).shape[1] < X.shape[1]
    assert surefoot.shift_report(X, new, random_state=0).verdict


def check_missing(extra: str, use: Callable[[Path], None], folder: Path) -> None:
    """Without its packages, the use of an extra ends with an error that names it."""
    try:
        use(folder)
    except ImportError as error:
        message = str(error)
    else:
        raise AssertionError(f"{extra} works without its packages: is it an extra?")
    assert f'pip install "surefoot[{extra}]"' in message, message


def use_command(folder: Path) -> None:
    """A small audit, then a model that is fitted and predicts."""
    table, page, numbers = folder / "table.csv", folder / "page.html", folder / "numbers.json"
    with table.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["age", "bmi", "y"], *np.c_[X[:150, [0, 2]], Y[:150]].tolist()])
    run_command("--version")
    run_command("audit", table, "--target", "y", "--time-limit", "5s", "-o", page, "--json", numbers)
    text = page.read_text(encoding="utf-8")
    assert all(part in text for part in ("<style>", "<script>", "<svg")), "the page lacks its style, script or charts"
    assert json.loads(numbers.read_text(encoding="utf-8"))["version"] == surefoot.__version__
    run_command("audit", "--schema")
    run_command("fit", table, "--target", "y", "--members", 2, "-o", folder / "fitted.surefoot", "--quiet")
    run_command("predict", folder / "fitted.surefoot", table, "-o", folder / "predictions.csv")
    assert len((folder / "predictions.csv").read_text(encoding="utf-8").splitlines()) == 151


def use_audit(folder: Path) -> None:
    """A small audit in Python."""
    surefoot.audit(X[:150], Y[:150], time_limit=1).to_html(folder / "audit.html")
    assert "</html>" in (folder / "audit.html").read_text(encoding="utf-8")


def use_plots(folder: Path) -> None:
    """A display."""
    from surefoot.plots import MarginDisplay

    model = surefoot.AdaBoostClassifier(n_estimators=10).fit(X, Y > 150)
    MarginDisplay.from_estimator(model, X, Y > 150).plot().figure_.savefig(folder / "margins.svg")


def run_command(*arguments: object) -> None:
    """Run ``surefoot``; without its packages, its one line is an ImportError."""
    run = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    if run.returncode == 2 and run.stderr.startswith("surefoot: the command line needs"):
        raise ImportError(run.stderr)
    assert run.returncode == 0, f"surefoot {arguments}: exit code {run.returncode}\n{run.stdout}\n{run.stderr}"


def use_dask(folder: Path) -> None:
    """A model of rows on a cluster of one worker in this process."""
    from surefoot.dask import GradientBoostingRegressor  # noqa: I001  # the error without the extra comes from here

    import dask.array as da
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        rows, target = da.from_array(X, chunks=(150, -1)), da.from_array(Y, chunks=150)
        model = GradientBoostingRegressor(client=client, **SMALL).fit(rows, target).to_local()
    surefoot.save(model, folder / "dask.surefoot")
    local = surefoot.GradientBoostingRegressor(**SMALL).fit(X, Y)
    assert np.array_equal(model.predict(X), local.predict(X))


def use_onnx(folder: Path) -> None:
    """A file of ONNX predicts as the model does."""
    model = surefoot.GradientBoostingRegressor(**SMALL).fit(X, Y)
    path = folder / "model.onnx"
    surefoot.to_onnx(model, path)
    import onnxruntime

    prediction, *_ = onnxruntime.InferenceSession(path).run(None, {"X": X})
    assert np.allclose(prediction.ravel(), model.predict(X), rtol=1e-12)


def use_explain(folder: Path) -> None:
    """Explanations become those of shap."""
    model = surefoot.GradientBoostingRegressor(**SMALL).fit(X, Y)
    explanation = model.shap_values(X[:5], "mu").to_explanation()
    assert explanation.values.shape == (5, X.shape[1])


EXTRAS: dict[str, tuple[Callable[[Path], None], ...]] = {
    "cli": (use_command, use_audit, use_plots),
    "dask": (use_dask,),
    "onnx": (use_onnx,),
    "explain": (use_explain,),
}

if __name__ == "__main__":
    main()
