"""Of a large table, rows are drawn at random, and the audit is about these rows."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, root_mean_squared_error

from surefoot import ParameterError, audit
from surefoot.report.audit import audit_run
from surefoot.report.inputs.arguments import AuditArguments
from surefoot.report.inputs.other_rows import OtherRows
from surefoot.report.inputs.table import AuditTable, drawn_rows
from surefoot.report.run import AuditRun

N_ROWS = 300


def table(seed=0):
    generator = np.random.default_rng(seed)
    size = generator.normal(size=N_ROWS)
    frame = pd.DataFrame(
        {
            "size": size,
            "ward": generator.choice(["a", "b", "c"], N_ROWS),
            "person": np.arange(N_ROWS) // 3,
            "year": generator.integers(1990, 2020, N_ROWS),
        }
    )
    y = pd.Series(size + generator.normal(size=N_ROWS), name="y")
    y[::10] = np.nan
    return frame, y


def test_rows_with_a_target_are_drawn_without_a_pattern():
    has_target = np.arange(50_000) % 5 != 0
    rows = drawn_rows(has_target, 4_000, seed=3)
    assert len(np.unique(rows)) == len(rows) == 4_000
    assert has_target[rows].all()
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, drawn_rows(has_target, 4_000, seed=3))
    assert len(np.intersect1d(rows, drawn_rows(has_target, 4_000, seed=4))) < 800  # 400 are expected
    np.testing.assert_allclose(np.histogram(rows, bins=10, range=(0, 50_000))[0], 400, atol=80)
    np.testing.assert_array_equal(drawn_rows(has_target, 40_000, seed=3), np.flatnonzero(has_target))
    np.testing.assert_array_equal(drawn_rows(has_target, None, seed=3), np.flatnonzero(has_target))


@pytest.mark.parametrize("kind", ["pandas", "polars", "array", "list"])
def test_the_drawn_table_is_that_of_its_rows(kind):
    X, y = table()
    rows = drawn_rows(y.notna().to_numpy(), 100, seed=5)
    expected = AuditTable.read(X.iloc[rows], y.iloc[rows])
    passed = {
        "pandas": (X, y),
        "polars": (pl.from_pandas(X), pl.from_pandas(y)),
        "array": (X.assign(ward=X["ward"].astype("category").cat.codes).to_numpy(), y.to_numpy()),
        "list": (X, y.tolist()),
    }[kind]
    drawn = AuditTable.read(*passed, max_rows=100, seed=5)
    assert (drawn.n_rows, drawn.n_table_rows) == (100, y.notna().sum())
    np.testing.assert_array_equal(np.flatnonzero(drawn.is_audited), rows)
    np.testing.assert_array_equal(drawn.rows, rows)
    np.testing.assert_array_equal(drawn.target.y, expected.target.y)
    assert drawn.remarks == ("30 rows without a target were left out.",)
    if kind != "array":
        pd.testing.assert_frame_equal(drawn.frame, expected.frame)


def test_groups_time_and_predictions_are_those_of_the_drawn_rows():
    X, y = table()
    predictions = np.arange(N_ROWS) / 7
    options = {"groups": "person", "time": "year", "predictions": predictions, "random_state": 2}
    drawn = AuditArguments(X, y, max_rows=150, **options).read()
    rows = np.flatnonzero(drawn.table.is_audited)
    options["predictions"] = predictions[rows]
    expected = AuditArguments(X.iloc[rows], y.iloc[rows], **options).read()
    np.testing.assert_array_equal(drawn.groups, X["person"].astype(str)[rows])
    np.testing.assert_array_equal(drawn.time, X["year"][rows])
    np.testing.assert_array_equal(drawn.splits.held_out, expected.splits.held_out)
    np.testing.assert_array_equal(drawn.own_predictions.predictions.values, expected.own_predictions.predictions.values)
    assert drawn.deployment.where == expected.deployment.where


def test_the_page_and_the_numbers_say_that_rows_were_drawn():
    X, y = table()
    result = audit(X, y, max_rows=100, random_state=7, time_limit=0.01)
    subject = json.loads(result.to_json())["subject"]
    assert (subject["n_rows"], subject["n_table_rows"]) == (100, 270)
    sentence = (
        "The table has 270 rows with a target. 100 of them were drawn at random (seed 7): the audit is about these"
    )
    assert subject["draw"].startswith(sentence)
    assert sentence in result.to_html()
    whole = audit(X, y, time_limit=0.01)
    assert (whole.subject.n_rows, whole.subject.n_table_rows, whole.subject.draw) == (270, 270, "")
    assert "drawn at random" not in whole.to_html()


@pytest.mark.parametrize("max_rows", [19, 0, 2.5, "many"])
def test_too_few_rows_are_refused(max_rows):
    with pytest.raises(ParameterError, match="max_rows must be") as caught:
        audit(*table(), max_rows=max_rows)
    assert caught.value.argument == "max_rows"


@pytest.mark.parametrize("task", ["regression", "binary"])
@pytest.mark.usefixtures("small_candidates")
def test_the_audited_model_predicts_the_rows_that_were_not_drawn(task):
    X, y = table()
    y = y if task == "regression" else y.map(lambda value: value if np.isnan(value) else float(value > 0))
    model = LinearRegression() if task == "regression" else LogisticRegression()
    X = X[["size", "year"]]
    run, result = audit_run(X, y, model=model, max_rows=150, random_state=1)
    drawn, others = run.table.is_audited, ~run.table.is_audited & y.notna().to_numpy()
    model.fit(X[drawn], y[drawn])
    measured = result.accuracy.other_rows
    assert measured.n_rows == others.sum() == 120
    if task == "regression":
        expected = root_mean_squared_error(y[others], model.predict(X[others]))
        assert measured.log_loss is None
    else:
        expected = 1 - accuracy_score(y[others], model.predict(X[others]))
        probabilities = np.clip(model.predict_proba(X[others]), 0.001, 1)
        assert measured.log_loss.value == pytest.approx(log_loss(y[others], probabilities), rel=1e-6)
    assert measured.loss.value == pytest.approx(expected)
    assert measured.loss.low < measured.loss.value < measured.loss.high
    assert "The 120 rows of the table that were not drawn are a further test" in result.to_html()


def test_other_rows_of_the_same_groups_or_times_are_no_fair_test():
    X, y = table()
    for options in ({"groups": "person"}, {"time": "year"}):
        run = AuditRun.begin(X, y, max_rows=150, **options)
        assert run.other_rows.n_rows == 120
        assert run.unrelated_rows is None
    assert AuditRun.begin(X, y, max_rows=150).unrelated_rows.n_rows == 120
    assert AuditRun.begin(X, y).unrelated_rows is None


def test_other_rows_come_in_parts(monkeypatch):
    monkeypatch.setattr("surefoot.report.inputs.other_rows.PART_ROWS", 7)
    X, y = table()
    is_audited = np.arange(N_ROWS) % 3 == 0
    rows = np.flatnonzero(~is_audited & y.notna())
    parts = list(OtherRows.of_table(X, y, is_audited).parts())
    assert max(len(part) for part, _, _ in parts) == 7
    pd.testing.assert_frame_equal(pd.concat([part for part, _, _ in parts]), X.iloc[rows])
    pd.testing.assert_series_equal(pd.concat([values for _, values, _ in parts]), y.iloc[rows])


@pytest.mark.usefixtures("small_candidates")
def test_without_time_the_other_rows_are_left_out():
    run, result = audit_run(*table(), max_rows=150, time_limit=0.01)
    assert run.unrelated_rows is not None
    assert result.accuracy.other_rows is None
    assert "the rows that were not drawn" in result.subject.remarks[-1]
