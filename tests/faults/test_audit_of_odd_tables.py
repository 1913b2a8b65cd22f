"""Audits of unusual tables: a page, never a traceback."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from surefoot import audit

pytestmark = pytest.mark.usefixtures("small_candidates")

SCRIPT = "<script>alert(1)</script>"


def odd_columns(n, rng):
    """All kinds of columns that a file may have."""
    return pd.DataFrame(
        {
            SCRIPT: rng.normal(size=n),
            "größe 尺寸": rng.normal(size=n),
            "nothing": [None] * n,
            "always": "yes",
            "day": pd.date_range("2020-02-27", periods=n).strftime("%Y-%m-%d"),
            "moment": pd.date_range("2020-02-27", periods=n, tz="Europe/Vienna"),
            "flag": rng.random(n) < 0.5,
            "maybe": rng.choice([True, False, None], n),
            "mixed": [1 if i % 2 else "one" for i in range(n)],
            "endless": np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)),
            "row": [f"row {i}" for i in range(n)],
        }
    )


@pytest.fixture(scope="module")
def fifty_rows(small_candidates):
    rng = np.random.default_rng(0)
    X = odd_columns(50, rng)
    return audit(X, 2 * X[SCRIPT] + rng.normal(size=50) / 2, X_new=odd_columns(30, rng))


@pytest.mark.fault(number=27)
def test_fifty_rows_of_every_kind_of_column_make_a_page(fifty_rows):
    page = fifty_rows.to_html()
    assert SCRIPT not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "größe 尺寸" in page
    notes = {note.column: note.what for note in fifty_rows.subject.notes}
    assert {name: notes[name] for name in ("nothing", "always", "row")} == {
        "nothing": "all missing", "always": "constant", "row": "identifier",
    }  # fmt: skip
    assert fifty_rows.verdict[0].answer == "yes"
    assert fifty_rows.answer("accuracy") == "unknown"  # fifty rows do not show that nothing is better


def test_ten_thousand_categories():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"code": [f"c{i}" for i in rng.integers(0, 10_000, 4000)], "x": rng.normal(size=4000)})
    result = audit(X, X["x"] + rng.normal(size=4000))
    assert result.verdict[0].answer == "yes"
    assert result.answer("accuracy") != "no"
    remarks = [remark for each in result.stability.sets for remark in each.remarks]
    assert any("categories: code" in remark for remark in remarks)
    assert "many categories" in {note.what for note in result.subject.notes}


def test_one_feature_and_rows_that_occur_twice():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": np.repeat(rng.integers(0, 40, 60).astype(float), 2)})
    y = np.sin(X["x"]) + rng.normal(size=120)
    duplicates = audit(X, y).accuracy.duplicates
    assert duplicates.n_rows == 120
    assert 0.7 < duplicates.floor < 1.3  # the noise has a standard deviation of 1


def test_thirty_classes_most_of_them_rare():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=160), "z": rng.normal(size=160)})  # enough rows for five folds
    labels = [f"class {int(value)}" for value in np.minimum(rng.exponential(6, 160), 29)]
    result = audit(X, pd.Series(labels, name="kind"))
    assert result.subject.task == "classes"
    assert result.verdict[0].answer == "no"
    assert "kind" in result.to_html()


@pytest.mark.fault(number=19)
@pytest.mark.skipif(os.name != "posix", reason="needs the signals of a POSIX system")
def test_a_real_ctrl_c_stops_at_once_and_leaves_no_files(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(4000, 10))).rename(columns=str)
    X.assign(y=rng.normal(size=4000)).to_csv(tmp_path / "table.csv", index=False)
    command = [sys.executable, "-c", "from surefoot.cli import main; main()", "audit", "table.csv", "--target", "y"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    for line in running.stderr:
        if "question 1: forest" in line:
            break
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    rest = running.communicate(timeout=30)[1]
    assert running.returncode == 130
    assert "nothing was written" in rest
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
