"""The audit: its numbers, its answers, its arguments, and what it leaves unknown."""

import json
from dataclasses import MISSING, fields, replace
from inspect import Parameter, signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference.audit_tables import nothing, numbers, two_classes
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import DataError, ParameterError, audit
from surefoot.metrics import prediction_rejection_ratio
from surefoot.report.audit import audit_run
from surefoot.report.inputs.arguments import AuditArguments
from surefoot.report.sections.accuracy.verdict import headline
from surefoot.report.statistics import Estimate

BOOSTERS = {"AdaBoost", "Majority-of-5", "Bagged AdaBoost", "ensemble"}


@pytest.fixture(scope="module")
def of_classes(small_candidates):
    return audit_run(*two_classes())


def test_every_row_is_predicted_by_a_model_that_was_not_trained_on_it(of_classes):
    run, result = of_classes
    table, splits = run.table, run.splits
    assert {model.name for model in result.accuracy.models} == {"constant", "linear", "forest", *BOOSTERS}
    assert np.array_equal(np.sort(np.concatenate([test for _, test in splits.folds])), np.arange(160))
    for name in ("linear", "Bagged AdaBoost"):
        fitted = next(each for each in run.fitted if each.name == name)
        chances, wrong = np.empty(160), np.empty(160, dtype=bool)
        for train, test in splits.folds:
            assert not set(train) & set(test)
            model = clone(fitted.candidate.model).fit(table.frame.iloc[train], table.target.labels[train])
            chances[test] = model.predict_proba(table.frame.iloc[test])[:, 1]
            wrong[test] = model.predict(table.frame.iloc[test]) != table.target.labels[test]
        line = next(model for model in result.accuracy.models if model.name == name)
        assert line.loss.value == wrong.mean()
        assert line.auc.value == pytest.approx(roc_auc_score(table.target.y, chances))
        assert line.log_loss.value == pytest.approx(
            log_loss(table.target.y, np.clip(chances, 1 / 320, 1 - 1 / 320)), rel=0.01
        )


def test_all_answers_are_about_one_model(of_classes):
    run, result = of_classes
    chosen = [model.name for model in result.accuracy.models if model.chosen]
    assert chosen == [result.accuracy.audited] == [result.uncertainty.model] == [run.audited.name]
    outcome = run.audited.outcome
    predicted = np.where(outcome.losses, "wrong", "right")
    ratio = prediction_rejection_ratio(np.full(160, "right"), predicted, run.audited.predictions.total, loss="zero_one")
    assert result.uncertainty.by_total.ratio.value == pytest.approx(ratio)
    chance = run.audited.predictions.probabilities[:, 1]
    assert result.uncertainty.calibration.gap.value == pytest.approx(np.mean(chance) - np.mean(run.table.target.y))


def test_the_kept_error_is_the_error_of_the_rows_that_are_kept(quick_audit):
    curve = (result := quick_audit(*numbers())[1]).uncertainty.by_total
    assert curve.kept_error[0] == pytest.approx(result.uncertainty.loss.value)
    np.testing.assert_allclose(np.square(curve.kept_error[:-1]) * (1 - np.array(curve.rejected[:-1])), curve.error[:-1])
    assert np.all(np.diff(curve.threshold) <= 0)


def test_the_verdict_has_a_headline_and_four_answers(of_classes):
    _, result = of_classes
    assert result.verdict[0].answer == "yes"
    assert "predicts state" in result.verdict[0].sentence
    assert result.answer("shift") == "unknown"
    assert repr(result).count("\n") == 4
    assert "<table>" in result._repr_html_()


@pytest.mark.parametrize(("low", "says_why"), [(0.1, False), (0.0, True), (-0.2, True)])
@pytest.mark.parametrize("table", [two_classes, numbers])
def test_a_yes_beside_an_interval_from_0_on_says_what_shows_it(table, low, says_why, quick_audit):
    _, result = quick_audit(*table(), time_limit=0.01)
    gain = Estimate(0.3, low, 0.5)
    line = headline(result.subject, replace(result.accuracy, gain=gain, is_better=True))
    assert line.answer == "yes"
    assert ("at all is shown by" in line.sentence) == says_why


def test_the_json_contains_the_numbers_and_is_strict(of_classes, tmp_path):
    def refuse(name):
        raise AssertionError(name)

    _, audited = of_classes
    result = json.loads(audited.to_json(tmp_path / "audit.json"), parse_constant=refuse)
    assert json.loads((tmp_path / "audit.json").read_text(encoding="utf-8")) == result
    assert result["accuracy"]["models"][0]["loss"]["value"] == audited.accuracy.models[0].loss.value
    assert result["accuracy"]["audited"] == audited.accuracy.audited
    assert len(result["subject"]["fingerprint"]) == 16


def without_seconds(result):
    plain = json.loads(result.to_json())
    plain.pop("seconds")
    for model in plain["accuracy"]["models"]:
        model.pop("seconds")
    return plain


@pytest.mark.usefixtures("several_tasks")
def test_numbers_do_not_depend_on_threads_or_the_type_of_table(quick_audit):
    X, y = two_classes()
    first, second = (without_seconds(result) for result in (
        quick_audit(X, y)[1], quick_audit(pl.from_pandas(X), y.to_numpy(), n_jobs=2)[1]
    ))  # fmt: skip
    second["subject"]["target"] = first["subject"]["target"]  # an array has no name
    second["verdict"][0]["sentence"] = second["verdict"][0]["sentence"].replace("predicts y", "predicts state")
    assert first == second


def test_noise_is_not_a_yes(quick_audit):
    _, result = quick_audit(*nothing(600))
    assert result.verdict[0].answer in ("no", "unknown")
    assert result.answer("accuracy") in ("no", "unknown")


def test_clones_of_an_own_model_are_fitted_in_every_fold(quick_audit):
    X, y = two_classes()
    X = X[["size", "noise"]]
    own = make_pipeline(StandardScaler(), RandomForestClassifier(15, random_state=3)).fit(X, y)
    run, result = quick_audit(X, y, model=own)
    wrong = np.empty(160, dtype=bool)
    for train, test in run.splits.folds:
        again = clone(own).fit(X.iloc[train], y.iloc[train])
        wrong[test] = again.predict(X.iloc[test]) != y.iloc[test]
    yours = next(model for model in result.accuracy.models if model.yours)
    assert yours.chosen
    assert yours.loss.value == wrong.mean()
    assert result.uncertainty.model == "your model"
    assert result.uncertainty.own


def test_a_model_that_is_clearly_worse_is_a_no(quick_audit):
    """The truth is linear, and the model uses half of the columns."""
    X, y = numbers(400)
    y = y + 2 * X["z"]
    model = make_pipeline(StandardScaler(), LinearRegression())
    blind = make_pipeline(ColumnTransformer([("x", "passthrough", ["x"])]), LinearRegression())
    _, result = quick_audit(X, y, model=blind)
    assert result.accuracy.behind.low > 0.05
    assert result.answer("accuracy") == "no"
    assert "higher than that of the linear model" in result.verdict[1].sentence
    _, fair = quick_audit(X, y, model=model)
    assert fair.answer("accuracy") != "no"


def test_own_predictions_groups_and_time(quick_audit):
    X, y = numbers()
    X["patient"] = [f"p{i % 20}" for i in range(len(X))]
    X["day"] = pd.date_range("2024-01-01", periods=len(X)).astype(str)
    run, result = quick_audit(X, y, predictions=3 * X["x"], groups="patient", time="day")
    yours = next(model for model in result.accuracy.models if model.yours)
    assert yours.loss.low < 1.0 < yours.loss.high  # the noise has a standard deviation of 1
    assert result.shift.where == "the last part by day, from 2024-05-08 on"
    assert result.answer("shift") == "unknown"  # the model of the predictions is not known
    assert not {"patient", "day"} & set(run.table.frame.columns)  # neither is passed to the models
    assert run.splits.later.min() == 128
    for train, test in run.splits.folds:
        assert train.max() < test.min()


def test_an_own_model_is_audited_even_without_time():
    X, y = numbers()
    result = audit(X, y, model=LinearRegression(), time_limit=0.05)
    assert [model.name for model in result.accuracy.models] == ["constant", "your model"]
    assert result.answer("accuracy") != "yes"  # nothing was compared


def test_steps_without_enough_time_are_left_out_and_listed():
    result = audit(*numbers(), time_limit=1e-4)
    assert result.uncertainty is None
    assert "question 2" in " ".join(result.subject.remarks)
    assert result.answer("uncertainty") == "unknown"
    assert "linear" in result.accuracy.left_out
    assert result.answer("accuracy") not in ("yes", "partly")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_new": [1.0]}, "y_new is the target of X_new"),
        ({"X_new": [[1.0]], "y_new": [1.0]}, "X_new lacks the columns"),
        ({"model": "forest"}, "has no method predict"),
        ({"groups": "nobody"}, "There is no column 'nobody'"),
        ({"groups": [1, 2]}, "groups must be the name of a column"),
        ({"time": ["soon"] * 160}, "time has values that are neither numbers nor dates"),
        ({"predictions": [1.0]}, "predictions has 1 rows"),
        ({"time_limit": -1}, "time_limit must be above 0"),
        ({"time_limit": "10s"}, "time_limit must be a finite number"),
        ({"shift_tolerance": -0.1}, "shift_tolerance must be"),
        ({"model": RandomForestClassifier()}, "needs a regressor"),
        ({"random_state": -1}, "random_state"),
        ({"task": "ranking"}, "task must be one of"),
        ({"model": LinearRegression(), "predictions": [1.0]}, "pass one of them"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_fitted(arguments, message):
    def watch(done, label):
        assert "question" not in label

    X, y = numbers()
    with pytest.raises((DataError, ParameterError), match=message):
        audit(X, y, callback=watch, **arguments)


def test_new_rows_that_are_rows_of_the_table_are_reported():
    X, y = numbers()
    result = audit(X, y, X_new=pd.concat([X[:7], X + 9]), time_limit=0.05)
    assert "7 of the new rows are also rows of the table" in " ".join(result.subject.remarks)


def test_new_targets_of_other_classes_are_refused():
    X, y = two_classes()
    with pytest.raises(DataError, match="y_new has none of the classes of y"):
        audit(X, y, X_new=X, y_new=np.where(y == "sick", 1, 0))


def test_useless_predictions_for_useful_columns(quick_audit):
    X, y = numbers()
    _, result = quick_audit(X, y, predictions=np.random.default_rng(5).normal(size=len(y)))
    assert result.answer("accuracy") == "no"
    assert result.verdict[0].answer != "yes"
    assert "the linear model" in result.verdict[1].sentence
    with pytest.raises(ParameterError, match="question must be one of"):
        result.answer("luck")


def test_predictions_of_a_model_trained_on_the_rows_are_questioned(quick_audit):
    X, y = two_classes(400)
    columns = X[["size", "noise"]]
    y = y.where(np.random.default_rng(3).random(400) > 0.2, y.iloc[::-1].to_numpy())  # noise that a forest learns
    chance = RandomForestClassifier(50, random_state=0).fit(columns, y).predict_proba(columns)[:, 1]
    _, result = quick_audit(X, y, predictions=chance)
    assert any(check.kind == "predictions" for check in result.subject.checks)
    assert result.answer("accuracy") != "yes"


def test_copies_of_noise_stay_on_one_side_of_the_split(quick_audit):
    X, y = nothing(300)
    order = np.random.default_rng(1).permutation(600) % 300
    run, result = quick_audit(X.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True))
    assert any(check.kind == "copies" for check in result.subject.checks)
    for train, test in run.splits.folds:
        assert not set(order[train]) & set(order[test])
    assert result.verdict[0].answer != "yes"


def test_few_rows_are_refused():
    X, y = numbers(12)
    with pytest.raises(DataError, match="at least 20"):
        audit(X, y)
    with pytest.raises(DataError, match="No column is left"):
        audit(np.ones((30, 2)), np.arange(30.0))


def test_the_former_name_of_the_callback_warns_and_works():
    seen = []
    with pytest.warns(FutureWarning, match="watch was renamed to callback"):
        audit(*two_classes(), time_limit=0.01, watch=lambda done, step: seen.append(step))
    assert seen[0] == "reading the table"


def test_the_arguments_of_an_audit_are_the_same_everywhere():
    public = signature(audit).parameters.values()
    listed = {each.name: each.default for each in public if each.name not in ("sections", "watch")}
    own = {
        each.name: each.default if each.default is not MISSING else Parameter.empty for each in fields(AuditArguments)
    }
    assert list(own) == list(listed)
    assert own == listed
