"""A fit with a snapshot that was stopped continues from the trees that it has recorded, to the same bytes."""

import errno
import json
import os
import signal
import textwrap

import numpy as np
import pandas as pd
import pytest
from contract.registry import learned
from reference.gradient_boosters import GRADIENT_BOOSTERS, problem, small

from surefoot import DataError, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.uncertainty import snapshot as snapshots
from surefoot.uncertainty import training_log
from surefoot.uncertainty.boosting_loop import BoostingLoop

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)


@pytest.fixture
def n_grown(monkeypatch):
    """How many trees are grown from the rows, in a list of one number."""
    grow, made = GradientTreeGrower.grow, [0]

    def count(*given):
        made[0] += 1
        return grow(*given)

    monkeypatch.setattr(GradientTreeGrower, "grow", count)
    return made


def stop_in_round(number):
    """A callback that is Ctrl-C after some rounds, counted over all models."""
    seen = []

    def stop(report):
        seen.append(report)
        if len(seen) == number:
            raise KeyboardInterrupt

    return stop


def stopped(model, number, *args, **options):
    with pytest.raises(KeyboardInterrupt):
        model.fit(*args, callbacks=stop_in_round(number), **options)


SETTINGS = {
    "trial models": {},
    "all rounds": {"early_stopping": False, "grow_policy": "depthwise"},
    "few rows in a leaf": {"min_samples_leaf": 30},  # nodes that keep their rows
    "deep": {"max_depth": 7, "early_stopping": False},
    "one row drawn": {"subsample": 1e-9, "early_stopping": False},
    "rows drawn": {"subsample": 0.5, "categorical_features": [3]},
}


@each_estimator
@pytest.mark.parametrize("name", SETTINGS)
def test_a_stopped_fit_continues_to_the_same_model(estimator, name, tmp_path, n_grown):
    X, y = problem(estimator, 200)
    X[:, 3] = np.round(X[:, 3])
    X[::7, 2] = np.nan
    weights = np.arange(200) % 3
    model = small(estimator, **SETTINGS[name])
    expected = learned(model.fit(X, y, weights))
    n_trees, folder = n_grown[0], tmp_path / "snapshot"
    assert learned(model.fit(X, y, weights, snapshot=folder)) == expected
    assert not folder.exists()
    stopped(model, 2, X, y, weights, snapshot=folder)
    stopped(model, 4, X, y, weights, snapshot=str(folder))
    n_grown[0] = 0
    assert learned(model.fit(X, y, weights, snapshot=folder)) == expected
    assert 0 < n_grown[0] <= n_trees - 4
    assert not folder.exists()


@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
def test_threads_and_validation_rows(estimator, tmp_path, small_blocks):
    X, y = problem(estimator, 300)
    X_val, y_val = problem(estimator, 100, seed=1)
    model, folder = small(estimator, n_estimators=8, n_jobs=2), tmp_path / "snapshot"
    expected = learned(model.fit(X, y, X_val=X_val, y_val=y_val))
    stopped(model, 7, X, y, X_val=X_val, y_val=y_val, snapshot=folder)
    found = model.fit(X, y, X_val=X_val, y_val=y_val, eval_sets={"new": (X, y)}, snapshot=folder)
    assert learned(found) == expected


def test_combinations_of_many_categories(tmp_path, monkeypatch, n_grown):
    """First models, whose residuals show which combinations are informative, are recorded too."""
    monkeypatch.setattr("surefoot.uncertainty.training.FIRST_TREES", 3)
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(2500, 2)), columns=list("ab"))
    X["many"] = pd.Categorical(generator.integers(0, 90, 2500).astype(str))
    X["few"] = pd.Categorical((np.arange(2500) % 3).astype(str))
    y = X["a"] + generator.normal(size=2500)
    model, folder = small(GradientBoostingRegressor, n_estimators=3), tmp_path / "snapshot"
    expected = learned(model.fit(X, y))
    stopped(model, 4, X, y, snapshot=folder)
    assert {"model-2-0", "model-2-1", "model-1001-0"} <= {path.name for path in folder.iterdir()}
    for name in ("many", "few", "b"):
        with pytest.raises(ParameterError, match=": X has changed\\."):
            model.fit(X.assign(**{name: X[name].to_numpy()[::-1]}).astype(X.dtypes), y, snapshot=folder)
    n_trees, n_grown[0] = n_grown[0], 0
    assert learned(model.fit(X, y, snapshot=folder)) == expected
    assert n_grown[0] <= 2 < n_trees


SCRIPT = """
import os, signal
import numpy as np
from surefoot import {name}
from surefoot.uncertainty.boosting_loop import BoostingLoop
from surefoot.uncertainty.training_log import ModelLog

table = np.load({table!r})
add, added = ModelLog.add, []

def killed(log, splits):
    added.append(1)
    if len(added) == {n_trees}:
        log._file.write(b"TREE half of a record")
        os.kill(os.getpid(), signal.SIGKILL)
    add(log, splits)

ModelLog.add = killed
{name}(**{settings}).fit(table["X"], table["y"], snapshot={folder!r})
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
@pytest.mark.parametrize(("estimator", "n_trees"), list(zip(GRADIENT_BOOSTERS, [2, 9, 14, 5], strict=True)))
def test_a_process_that_was_killed(estimator, n_trees, tmp_path, n_grown, capfd, fresh_process):
    X, y = problem(estimator, 200)
    np.savez(tmp_path / "table.npz", X=X, y=y)
    folder = tmp_path / "snapshot"
    model = small(estimator)
    expected = learned(model.fit(X, y))
    parameters = {name: value for name, value in model.get_params().items() if value is not None}
    script = textwrap.dedent(SCRIPT).format(
        name=estimator.__name__,
        table=str(tmp_path / "table.npz"),
        n_trees=n_trees,
        settings=parameters,
        folder=str(folder),
    )
    assert fresh_process(script).returncode == -signal.SIGKILL
    n_all, n_grown[0] = n_grown[0], 0
    model.set_params(verbose=1).fit(X, y, snapshot=folder)
    assert "continues the training that was stopped" in capfd.readouterr().err
    assert n_grown[0] == n_all - (n_trees - 1)
    assert learned(model.set_params(verbose=0)) == expected
    assert not folder.exists()


def cut(data):
    return data[:-5]


def garbled(data):
    return data[:-5] + b"\0\0\0\0\0"


def moved(data):
    return data[:20] + bytes([data[20] ^ 1]) + data[21:]


@pytest.mark.parametrize("damage", [cut, garbled, moved, lambda data: b"", lambda data: data[: len(data) // 2]])
def test_records_that_are_not_complete_are_ignored(tmp_path, damage):
    X, y = problem(GradientBoostingRegressor, 200)
    model, folder = small(GradientBoostingRegressor), tmp_path / "snapshot"
    expected = learned(model.fit(X, y))
    stopped(model, 7, X, y, snapshot=folder)
    for path in folder.glob("model*"):
        path.write_bytes(damage(path.read_bytes()))
    stopped(model, 8, X, y, snapshot=folder)  # what was cut off is recorded again
    assert learned(model.fit(X, y, snapshot=folder)) == expected


@pytest.mark.parametrize("text", ["", "{", "[]", '{"data": 3}', '{"format": {"format": 1}}', "\xff"])
def test_a_damaged_description_is_refused(tmp_path, text):
    X, y = problem(GradientBoostingRegressor, 200)
    model, folder = small(GradientBoostingRegressor), tmp_path / "snapshot"
    stopped(model, 7, X, y, snapshot=folder)
    (folder / snapshots.DESCRIPTION).write_text(text, encoding="latin-1")
    with pytest.raises(ParameterError, match=r"snapshot\.json is damaged: remove the folder") as error:
        model.fit(X, y, snapshot=folder)
    assert error.value.argument == "snapshot"


X, Y = problem(GradientBoostingRegressor, 200)
WEIGHTS = 1.0 + np.arange(200) % 3
VALIDATION = {"X_val": X[:50], "y_val": Y[:50]}
CHANGES = {
    "X": (X + (np.arange(200) == 7)[:, np.newaxis], Y, {}, r": X has changed\. Pass what"),
    "y": (X, Y + (np.arange(200) == 7), {}, ": y has changed"),
    "unit of y": (X, 2 * Y, {}, ": y has changed"),
    "sample_weight": (X, Y, {"sample_weight": WEIGHTS}, r": sample_weight has changed\. Pass what"),
    "one category": (X, Y, {"categorical_features": [3]}, "categorical_features was 'from_dtype' and is"),
    "X_val": (X, Y, VALIDATION, ": X_val has changed; y_val has changed; sample_weight_val has changed"),
    "learning_rate": (X, Y, {"learning_rate": 0.2}, r": learning_rate was 0\.1 and is 0\.2\."),
    "n_estimators": (X, Y, {"n_estimators": 6}, "n_estimators was 5 and is 6"),
    "distribution": (X, Y, {"distribution": "laplace"}, r": distribution was 'normal' and is 'laplace'\. Pass what"),
    "random_state": (X, Y, {"random_state": 1}, "random_state was 0 and is 1"),
    "monotonic_cst": (X, Y, {"monotonic_cst": np.array([1, 0, 0, 0])}, r"cst was None and is \[1, 0, 0, 0\]"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_snapshot_of_another_fit_is_refused(name, tmp_path):
    table, target, changed, message = CHANGES[name]
    folder = tmp_path / "snapshot"
    model = small(GradientBoostingRegressor)
    stopped(model, 3, X, Y, snapshot=folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    arguments = {key: value for key, value in changed.items() if key in ("sample_weight", *VALIDATION)}
    other = small(GradientBoostingRegressor, **{key: changed[key] for key in changed.keys() - arguments.keys()})
    with pytest.raises(ParameterError, match=f"is of another fit.*({message})") as error:
        other.fit(table, target, snapshot=folder, **arguments)
    assert error.value.argument == "snapshot"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    n_jobs = small(GradientBoostingRegressor, n_jobs=2, verbose=0)  # of no importance to the trees
    assert learned(n_jobs.fit(X, Y, snapshot=folder).set_params(n_jobs=None)) == learned(model.fit(X, Y))


def test_a_snapshot_of_another_estimator_or_library_is_refused(tmp_path):
    folder = tmp_path / "snapshot"
    labels = (Y > 10).astype(int)
    stopped(small(GradientBoostingClassifier, class_weight={0: 1, 1: 2}), 3, X, labels, snapshot=folder)
    with pytest.raises(ParameterError, match=r"class_weight was \[\(0, 1\), \(1, 2\)\] and is missing; estimator was"):
        small(GradientBoostingRegressor).fit(X, labels, snapshot=folder)
    described = json.loads((folder / snapshots.DESCRIPTION).read_text())
    described["libraries"]["numba"] = "0.1"
    (folder / snapshots.DESCRIPTION).write_text(json.dumps(described))
    with pytest.raises(ParameterError, match=r"numba was 0\.1 and is "):
        small(GradientBoostingClassifier, class_weight={1: 2, 0: 1}).fit(X, labels, snapshot=folder)


def test_nothing_of_the_user_is_removed(tmp_path):
    model = small(GradientBoostingRegressor)
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ParameterError, match="is a folder of something else"):
        model.fit(X, Y, snapshot=tmp_path)
    with pytest.raises(ParameterError, match="is a file: name a folder"):
        model.fit(X, Y, snapshot=tmp_path / "note.txt")
    folder = tmp_path / "new" / "snapshot"
    stopped(model, 3, X, Y, snapshot=folder)
    (folder / "note.txt").write_text("mine")
    model.fit(X, Y, snapshot=folder)
    assert [path.name for path in folder.iterdir()] == ["note.txt"]
    (tmp_path / "empty").mkdir()
    model.fit(X, Y, snapshot=tmp_path / "empty")
    assert not (tmp_path / "empty").exists()


WRONG = {
    "a number": ({}, 3, "snapshot must be the path of a folder"),
    "no name": ({}, "", "snapshot must be the path of a folder"),
    "no seed": ({"random_state": None}, "folder", "set random_state to a whole number"),
    "a generator": ({"random_state": np.random.RandomState(0)}, "folder", "set random_state to a whole number"),
    "warm_start": ({"warm_start": True}, "folder", "set warm_start to False"),
}


@pytest.mark.parametrize("name", WRONG)
def test_fits_that_cannot_have_a_snapshot(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings, path, message = WRONG[name]
    with pytest.raises(ParameterError, match=message) as error:
        small(GradientBoostingRegressor, **settings).fit(X, Y, snapshot=path)
    assert error.value.argument == "snapshot"
    assert list(tmp_path.iterdir()) == []


def test_tables_in_files_are_refused(tmp_path):
    pd.DataFrame(X, columns=list("abcd")).assign(y=Y).to_parquet(tmp_path / "table.parquet")
    with pytest.raises(ParameterError, match="snapshot is for tables in memory: a fit on a StoredTable"):
        small(GradientBoostingRegressor).fit(tmp_path / "table.parquet", "y", snapshot=tmp_path / "snapshot")


def test_another_fit_that_uses_the_folder(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    model, folder = small(GradientBoostingRegressor), tmp_path / "snapshot"
    stopped(model, 3, X, Y, snapshot=folder)
    with open(folder / training_log.LOCK, "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ParameterError, match="is in use by another fit"):
            model.fit(X, Y, snapshot=folder)
    model.fit(X, Y, snapshot=folder)


def test_a_full_disk(tmp_path, monkeypatch):
    model, folder = small(GradientBoostingRegressor), tmp_path / "snapshot"
    expected = learned(model.fit(X, Y))
    step, rounds = BoostingLoop.step, []

    def fill_the_disk(loop):
        rounds.append(1)
        if len(rounds) == 4:
            monkeypatch.setattr(loop.model_rows.log, "_file", FullFile(loop.model_rows.log._file))
        step(loop)

    class FullFile:
        def __init__(self, file):
            self.file = file

        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def __getattr__(self, name):
            return getattr(self.file, name)

    with monkeypatch.context() as patch:
        patch.setattr(BoostingLoop, "step", fill_the_disk)
        with pytest.raises(DataError, match=r"The disk of .* is full, .* make room") as error:
            model.fit(X, Y, snapshot=folder)
    assert error.value.argument == "snapshot"
    assert learned(model.fit(X, Y, snapshot=folder)) == expected


def test_a_read_only_folder(tmp_path, monkeypatch):
    def refuse(path, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(training_log.Path, "mkdir", refuse)
    with pytest.raises(DataError, match=r"with a snapshot records its trees there: allow it, or name another folder"):
        small(GradientBoostingRegressor).fit(X, Y, snapshot=tmp_path / "snapshot")
