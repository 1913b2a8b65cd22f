"""A fit on a folder of bins that was stopped continues from the trees that it has recorded, to the same bytes."""

import errno
import os
import signal
import textwrap

import numpy as np
import pandas as pd
import pytest
from contract.registry import learned

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from surefoot.data.stored_table import StoredTable
from surefoot.uncertainty import training_log
from surefoot.uncertainty.boosting_loop import BoostingLoop
from surefoot.uncertainty.shard_host import ShardHost
from surefoot.uncertainty.sharded_rows import ShardedRows

DEPTH = 3
SETTINGS = {"n_estimators": 5, "random_state": 0, "max_depth": DEPTH}
N_ROWS = 20_000  # two shards; small tables do not record their trees


def write_table(path, n_categories=4):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(N_ROWS, 3)), columns=list("abc"))
    X.loc[::7, "c"] = np.nan
    X["kind"] = pd.Categorical(generator.integers(0, n_categories, N_ROWS).astype(str))
    y = X["a"] + generator.normal(size=N_ROWS) * (1 + X["b"].abs())
    labels = np.array(["low", "middle", "high"], dtype=object)[np.digitize(y, [0, 1])]
    weights = generator.integers(0, 3, N_ROWS).astype(float)
    X.assign(y=y, label=labels, w=weights).to_parquet(path)


def read(tmp_path, target="y", others=("label", "w"), weight=None, **options):
    """The table in a folder that is kept; it is used again by the next call."""
    frame = pd.read_parquet(tmp_path / "table.parquet")
    path = tmp_path / f"{target}.parquet"
    if not path.exists():
        frame.drop(columns=[name for name in ("y", "label", "w") if name not in (target, weight)]).to_parquet(path)
    options = {"max_categories": 50, "shard_rows": 1 << 14, "keep": True, "folder": tmp_path / "bins", **options}
    return StoredTable.read(path, target=target, weight=weight, **options)


@pytest.fixture
def folder(tmp_path):
    write_table(tmp_path / "table.parquet")
    return tmp_path


def logs(folder):
    return sorted((folder / "bins").glob("training-*"))


@pytest.fixture
def counts(monkeypatch):
    """How many trees are grown from histograms, and how many histograms are made."""
    made = {"trees": 0, "histograms": 0}
    grow, add_up = ShardedRows._grow, ShardHost.add_up

    def count_trees(*given):
        tree = grow(*given)
        made["trees"] += 1
        return tree

    def count_histograms(*given):
        made["histograms"] += 1
        return add_up(*given)

    monkeypatch.setattr(ShardedRows, "_grow", count_trees)
    monkeypatch.setattr(ShardHost, "add_up", count_histograms)
    return made


def stop_after(monkeypatch, n_rounds):
    """Ctrl-C at the end of a round, counted over all models."""
    step, done = BoostingLoop.step, []

    def stop(loop):
        step(loop)
        done.append(loop)
        if len(done) == n_rounds:
            raise KeyboardInterrupt

    monkeypatch.setattr(BoostingLoop, "step", stop)
    return lambda: monkeypatch.setattr(BoostingLoop, "step", step)


MODELS = {
    "regressor": (GradientBoostingRegressor(**SETTINGS), {}),
    "regressor with weights": (GradientBoostingRegressor(**SETTINGS, subsample=0.5), {"weight": "w"}),
    "depthwise": (GradientBoostingRegressor(**SETTINGS, grow_policy="depthwise", min_samples_leaf=900), {}),
    "leafwise, columns drawn": (
        GradientBoostingRegressor(
            **SETTINGS,
            grow_policy="leafwise",
            max_leaf_nodes=4,
            max_features=0.7,
            interaction_cst="pairwise",
            early_stopping=False,
        ),
        {},
    ),
    "few rows in a leaf": (GradientBoostingRegressor(**SETTINGS, min_samples_leaf=1500, early_stopping=False), {}),
    "one row drawn": (GradientBoostingRegressor(**SETTINGS, subsample=1e-9, early_stopping=False), {}),
    "classifier": (GradientBoostingClassifier(**SETTINGS), {"target": "label"}),
    "ensemble": (BoostingEnsembleRegressor(**SETTINGS, n_members=2), {}),
    "ensemble of classifiers": (BoostingEnsembleClassifier(**SETTINGS, n_members=2, method="sgb"), {"target": "label"}),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_stopped_fit_continues_to_the_same_model(folder, monkeypatch, counts, name):
    model, options = MODELS[name]
    expected = learned(model.fit(read(folder, **options), None))
    assert logs(folder) == []
    n_trees, n_histograms = counts["trees"], counts["histograms"]
    assert n_histograms == n_trees * DEPTH
    done = 0
    for n_rounds in (1, n_trees // 2, n_trees - 1):
        go_on = stop_after(monkeypatch, n_rounds)
        counts.update(trees=0, histograms=0)
        with pytest.raises(KeyboardInterrupt):
            model.fit(read(folder, **options), None)
        go_on()
        assert counts == {"trees": n_rounds - done, "histograms": (n_rounds - done) * DEPTH}
        done = n_rounds
    assert len(logs(folder)) == 1
    counts.update(trees=0, histograms=0)
    model.set_params(n_jobs=2, verbose=0).fit(read(folder, **options), None)
    assert counts == {"trees": 1, "histograms": DEPTH}
    assert learned(model.set_params(n_jobs=None)) == expected
    assert logs(folder) == []


def test_combinations_of_many_categories(folder, monkeypatch, counts):
    """First models, whose residuals show which combinations are informative, are recorded too."""
    write_table(folder / "table.parquet", n_categories=90)
    frame = pd.read_parquet(folder / "table.parquet")
    frame.assign(few=(np.arange(N_ROWS) % 3).astype(str)).to_parquet(folder / "table.parquet")
    model = GradientBoostingRegressor(**SETTINGS)
    monkeypatch.setattr("surefoot.uncertainty.training.FIRST_TREES", 3)
    expected = learned(model.fit(read(folder), None))
    n_trees = counts["trees"]
    go_on = stop_after(monkeypatch, n_trees - 2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(read(folder), None)
    go_on()
    names = {path.name for path in logs(folder)[0].glob("model*")}
    assert {"model-2-0", "model-2-1", "model-1001-0"} <= names
    counts.update(trees=0)
    assert learned(model.fit(read(folder), None)) == expected
    assert counts["trees"] == 2


SCRIPT = """
import os, signal, sys
from surefoot import BoostingEnsembleRegressor
from surefoot.data.stored_table import StoredTable
from surefoot.uncertainty.sharded_rows import ShardedRows

grow, grown = ShardedRows._grow, []

def killed(*given):
    grown.append(1)
    if len(grown) == {n_rounds}:
        os.kill(os.getpid(), signal.SIGKILL)
    return grow(*given)

ShardedRows._grow = killed
stored = StoredTable.open({bins!r})
BoostingEnsembleRegressor(n_estimators=5, random_state=0, max_depth=3, n_members=2).fit(stored, None)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
@pytest.mark.parametrize("n_rounds", [2, 13])
def test_a_process_that_was_killed(folder, counts, capfd, fresh_process, n_rounds):
    model = BoostingEnsembleRegressor(**SETTINGS, n_members=2)
    stored = read(folder)
    expected = learned(model.fit(stored, None))
    n_trees = counts["trees"]
    script = textwrap.dedent(SCRIPT).format(n_rounds=n_rounds, bins=str(folder / "bins"))
    assert fresh_process(script).returncode == -signal.SIGKILL
    counts.update(trees=0)
    model.set_params(verbose=1).fit(StoredTable.open(folder / "bins"), None)
    assert "continues the training that was stopped" in capfd.readouterr().err
    assert counts["trees"] == n_trees - (n_rounds - 1)
    assert learned(model.set_params(verbose=0)) == expected
    assert logs(folder) == []


def stopped(folder, monkeypatch, model, n_rounds=7):
    go_on = stop_after(monkeypatch, n_rounds)
    with pytest.raises(KeyboardInterrupt):
        model.fit(read(folder), None)
    go_on()
    return logs(folder)[-1]


def cut(data):
    return data[:-5]


def garbled(data):
    return data[:-5] + b"\0\0\0\0\0"


def followed_by_zeros(data):
    return data[: len(data) // 2] + bytes(len(data))


@pytest.mark.parametrize("damage", [cut, garbled, followed_by_zeros, lambda data: b""])
def test_records_that_are_not_complete_are_ignored(folder, monkeypatch, damage):
    model = GradientBoostingRegressor(**SETTINGS)
    expected = learned(model.fit(read(folder), None))
    log = stopped(folder, monkeypatch, model)
    for path in log.glob("model*"):
        path.write_bytes(damage(path.read_bytes()))
    stopped(folder, monkeypatch, model, 8)  # what was cut off is recorded again
    assert learned(model.fit(read(folder), None)) == expected


@pytest.mark.parametrize(
    ("changed", "is_used"),
    [
        ({"learning_rate": 0.2}, False),
        ({"n_estimators": 6}, False),
        ({"random_state": 1}, False),
        ({"distribution": "laplace"}, False),
        ({"n_jobs": 2, "verbose": 1}, True),
    ],
)
def test_trees_of_other_parameters_are_not_used(folder, monkeypatch, counts, changed, is_used):
    stopped(folder, monkeypatch, GradientBoostingRegressor(**SETTINGS), 7)
    counts.update(trees=0)
    other = GradientBoostingRegressor(**{**SETTINGS, **changed})
    found = learned(other.fit(read(folder), None))
    n_trees = counts["trees"]
    assert found == learned(other.fit(read(folder), None))
    assert counts["trees"] - n_trees == n_trees + 7 * is_used
    assert len(logs(folder)) == (not is_used)


def test_trees_of_other_data_are_not_used(folder, monkeypatch, counts):
    model = GradientBoostingRegressor(**SETTINGS)
    stopped(folder, monkeypatch, model)
    counts.update(trees=0)
    model.fit(read(folder, folder=folder / "weighted", weight=None, max_bins=255, shard_rows=1 << 15), None)
    n_trees = counts["trees"]
    assert len(logs(folder)) == 1
    model.fit(read(folder), None)
    assert counts["trees"] == n_trees + n_trees - 7


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"random_state": None}, {}),
        ({"random_state": np.random.RandomState(0)}, {}),
        ({}, {"folder": None, "keep": False}),
    ],
)
def test_fits_that_cannot_be_repeated_record_nothing(folder, monkeypatch, capfd, settings, options):
    monkeypatch.setattr(training_log, "ModelLog", None)
    GradientBoostingRegressor(**{**SETTINGS, "verbose": 1, **settings}).fit(read(folder, **options), None)
    assert ("random_state is not an integer" in capfd.readouterr().err) == bool(settings)


def test_another_process_that_trains_the_same_model(folder, monkeypatch, capfd):
    pytest.importorskip("fcntl")
    model = GradientBoostingRegressor(**SETTINGS, verbose=1)
    log = stopped(folder, monkeypatch, model)
    import fcntl

    with open(log / training_log.LOCK, "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        model.fit(read(folder), None)
    assert "another process trains this model" in capfd.readouterr().err
    assert logs(folder) == [log]


def test_a_full_disk(folder, monkeypatch):
    model = GradientBoostingRegressor(**SETTINGS)
    expected = learned(model.fit(read(folder), None))

    class FullFile:
        """Writes half a record, and then nothing more."""

        def __init__(self, file):
            self.file, self.n = file, 0

        def write(self, data):
            self.n += 1
            if self.n > 4:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return self.file.write(data[: len(data) // 2] if self.n == 4 else data)

        def __getattr__(self, name):
            return getattr(self.file, name)

    begin = training_log.ModelLog.__init__

    def begin_on_full_disk(log, *given):
        begin(log, *given)
        log._file = FullFile(log._file)

    with monkeypatch.context() as patch:
        patch.setattr(training_log.ModelLog, "__init__", begin_on_full_disk)
        with pytest.raises(DataError, match=r"The disk of .* is full, .* make room") as error:
            model.fit(read(folder), None)
    assert error.value.argument == "folder"
    assert len(logs(folder)) == 1
    assert learned(model.fit(read(folder), None)) == expected


def test_a_read_only_folder(folder, monkeypatch):
    stored, make = read(folder), training_log.Path.mkdir

    def refuse(path, **options):
        if path.name.startswith("training-"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        make(path, **options)

    monkeypatch.setattr(training_log.Path, "mkdir", refuse)
    with pytest.raises(DataError, match=r"bins cannot be written to .* records its trees there"):
        GradientBoostingRegressor(**SETTINGS).fit(stored, None)
