"""The audit: its numbers are those of the Python API, and it is honest about what it cannot know."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference.audit_tables import nothing, numbers, two_classes
from scipy.stats import t as scipy_t
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surefoot
from surefoot import DataError, ParameterError, audit
from surefoot.metrics import prediction_rejection_ratio
from surefoot.report.answers import Estimate
from surefoot.report.contestants import contestants
from surefoot.report.row_parts import RowParts
from surefoot.report.stability import SelectionFrame
from surefoot.report.table import AuditTable
from surefoot.report.verdict import accuracy_line, headline


@pytest.fixture(scope="module")
def of_classes():
    return audit(*two_classes())


@pytest.fixture(scope="module")
def of_numbers():
    X, y = numbers()
    return audit(X, y, X_new=X.assign(x=X["x"] + 1))


def parts_of(X, y):
    table = AuditTable.read(X, y)
    return table, RowParts.draw(table.target, None, None, 0)


def test_the_numbers_of_the_models_are_those_of_fitting_them(of_classes):
    table, parts = parts_of(*two_classes())
    truth = table.target.labels[parts.test]
    by_name = {model.name: model for model in of_classes.accuracy.models}
    for contestant in contestants(table, 0, None):
        model = clone(contestant.model).fit(table.frame.iloc[parts.train], table.target.labels[parts.train])
        held_out = table.frame.iloc[parts.test]
        assert by_name[contestant.name].loss.value == np.mean(model.predict(held_out) != truth)
        auc = roc_auc_score(truth == "well", model.predict_proba(held_out)[:, 1])
        assert by_name[contestant.name].auc.value == pytest.approx(auc)
    assert of_classes.accuracy.chosen == min(of_classes.accuracy.models, key=lambda model: model.cv_loss).name


def test_the_uncertainty_is_that_of_an_ensemble_of_the_same_seed(of_classes):
    table, parts = parts_of(*two_classes())
    ensemble = surefoot.BoostingEnsembleClassifier(method="sgb", random_state=0)
    ensemble.fit(table.frame.iloc[parts.train], table.target.labels[parts.train])
    held_out, truth = table.frame.iloc[parts.test], table.target.labels[parts.test]
    uncertainty = ensemble.predict_uncertainty(held_out)
    found = of_classes.uncertainty
    assert found.rows[0].knowledge == uncertainty.knowledge.max()
    assert found.rows[0].row == str(parts.test[uncertainty.knowledge.argmax()])
    ratio = prediction_rejection_ratio(truth, ensemble.predict(held_out), uncertainty.total, loss="zero_one")
    assert found.by_total.ratio.value == pytest.approx(ratio)
    chance = ensemble.predict_proba(held_out)[:, 1]
    assert found.calibration.of_class == "well"
    assert found.calibration.gap.value == pytest.approx(np.mean(chance) - np.mean(truth == "well"))


def test_the_stable_set_is_that_of_a_stable_selector_of_the_same_seed(of_classes):
    table, parts = parts_of(*two_classes())
    frame = SelectionFrame.of(table, parts.train)
    selector = surefoot.selection.LassoSelector(alpha=frame.penalty, standardize=True)
    stable = surefoot.StableSelector(selector, bag_size=frame.bag_size, random_state=0)
    stable.fit(frame.frame, frame.numbers)
    found = of_classes.stability.sets[0]
    assert (found.stable, found.guarantee) == (stable.expression_, stable.guarantee_)
    assert found.instability == stable.leave_one_out().instability
    assert found.instability <= found.delta
    assert "size" in found.single


def test_the_kept_error_is_the_error_of_the_rows_that_are_kept(of_numbers):
    curve = of_numbers.uncertainty.by_total
    assert curve.kept_error[0] == pytest.approx(of_numbers.uncertainty.loss.value)
    np.testing.assert_allclose(np.square(curve.kept_error[:-1]) * (1 - np.array(curve.rejected[:-1])), curve.error[:-1])
    assert np.all(np.diff(curve.threshold) <= 0)


def test_whole_groups_are_what_is_drawn():
    rng = np.random.default_rng(0)
    shop = np.repeat(np.arange(24), 20)
    X = pd.DataFrame({"x": rng.normal(size=480), "shop": shop.astype(str)})
    y = X["x"] + 2 * rng.normal(size=24)[shop] + 0.3 * rng.normal(size=480)
    found = audit(X, y, groups="shop", time_limit=0.01)
    assert any(remark.startswith("Whole groups were held out, 6 of 24") for remark in found.subject.remarks)
    table = AuditTable.read(X[["x"]], y)
    parts = RowParts.draw(table.target, shop.astype(str).astype(object), None, 0)
    squares = np.square(table.target.y[parts.test] - table.target.y[parts.train].mean())
    by_shop = pd.Series(squares).groupby(shop[parts.test]).mean()  # shops are of one size
    reach = scipy_t.ppf(0.975, 5) * by_shop.std() / np.sqrt(6)
    assert found.accuracy.models[0].loss.value ** 2 == pytest.approx(squares.mean())
    assert found.accuracy.models[0].loss.high ** 2 == pytest.approx(squares.mean() + reach)


def test_a_model_is_behind_if_the_same_rows_say_so(few_contestants):
    X, y = two_classes(800)
    good = clone(contestants(AuditTable.read(X, y), 0, None)[1].model)
    table = AuditTable.read(X, y)
    labels = good.fit(table.frame, table.target.labels).predict(table.frame)
    worse = np.where(np.arange(800) % 10 == 0, np.where(labels == "sick", "well", "sick"), labels)
    found = few_contestants(X, y, predictions=worse)
    assert found.behind.low > 0
    line = accuracy_line(found)
    assert line.answer == "no"
    assert line.sentence.startswith("The model of your predictions is behind: its error rate is higher by ")
    assert "Of 2 models" in line.sentence  # predictions are not cross-validated


def test_a_constant_that_was_chosen_is_not_compared_with_itself(of_classes):
    models = tuple(replace(model, chosen=model.name == "constant") for model in of_classes.accuracy.models)
    accuracy = replace(of_classes.accuracy, models=models, chosen="constant")
    head, line = headline(of_classes.subject, accuracy), accuracy_line(accuracy)
    assert (head.answer, line.answer) == ("partly", "partly")
    for told in (head, line):
        assert told.sentence.startswith("Cross-validation chose the constant; on held-out rows ")


def test_a_curve_that_rose_is_said_to(of_classes):
    curve = replace(of_classes.accuracy.curve, last_doubling=Estimate(-0.01, -0.03, 0.01))
    told = accuracy_line(replace(of_classes.accuracy, curve=curve)).sentence
    assert "raised the error rate by 1.0 points, which may be chance" in told
    assert accuracy_line(replace(of_classes.accuracy, curve=None)).answer == "partly"


def test_five_lines_in_plain_words(of_classes):
    assert [line.answer for line in of_classes.verdict][:2] == ["yes", "yes"]
    assert "predicts state" in of_classes.verdict[0].sentence
    assert of_classes.answer("shift") == "unknown"
    assert repr(of_classes).count("\n") == 4
    assert "<table>" in of_classes._repr_html_()


def test_the_json_has_the_numbers_and_is_strict(of_classes, tmp_path):
    def refuse(name):
        raise AssertionError(name)

    found = json.loads(of_classes.to_json(tmp_path / "audit.json"), parse_constant=refuse)
    assert json.loads((tmp_path / "audit.json").read_text(encoding="utf-8")) == found
    assert found["accuracy"]["models"][0]["loss"]["value"] == of_classes.accuracy.models[0].loss.value
    assert found["accuracy"]["chosen"] == of_classes.accuracy.chosen


def without_seconds(found):
    plain = json.loads(found.to_json())
    plain.pop("seconds")
    for model in plain["accuracy"]["models"]:
        model.pop("seconds")
    return plain


def test_threads_and_the_kind_of_table_change_no_number(of_classes):
    X, y = two_classes()
    again = audit(pl.from_pandas(X), y.to_numpy(), n_jobs=2)
    first, second = without_seconds(of_classes), without_seconds(again)
    second["subject"]["target"] = first["subject"]["target"]  # an array has no name
    second["verdict"][0]["sentence"] = second["verdict"][0]["sentence"].replace("predicts y", "predicts state")
    assert first == second


def test_on_pure_noise_it_says_so():
    found = audit(*nothing())
    assert found.verdict[0].answer == "no"
    assert found.answer("accuracy") == "no"
    stable = found.stability.sets[0]
    assert stable.undecided or stable.models[0][0] == "no variable"
    assert "No variable is claimed" in found.verdict[3].sentence


def test_new_rows_that_are_stranger_are_noticed(of_numbers):
    assert of_numbers.shift.where == "the new rows"
    assert [column.name for column in of_numbers.shift.columns if column.outcome == "shifted"] == ["x"]
    assert of_numbers.answer("shift") in ("partly", "unknown")
    weighted = of_numbers.shift.weighted
    assert weighted.effective_rows < weighted.n_rows
    assert of_numbers.uncertainty.new.n_rows == 160


def test_new_rows_like_the_others_are_not_called_strange():
    X, y = numbers(300)
    found = audit(X[:200], y[:200], X_new=X[200:], y_new=y[200:])
    assert found.answer("shift") == "yes"
    assert found.uncertainty.new.p_value > 0.01
    names = [model.name for model in found.shift.models]
    assert names[2:] == ["plain boosting", "importance-weighted boosting", "V-matrix boosting"]
    direct = LinearRegression()  # the truth is a line: whatever was chosen is about as good as the line itself
    direct.fit(X[:200], y[:200])
    rmse = np.sqrt(np.mean((direct.predict(X[200:]) - y[200:]) ** 2))
    assert found.shift.loss_there.value == pytest.approx(rmse, rel=0.1)


def test_ones_own_model_is_judged_by_a_clone_fitted_to_the_training_rows():
    X, y = two_classes()
    X = X[["size", "noise"]]
    own = make_pipeline(StandardScaler(), RandomForestClassifier(15, random_state=3)).fit(X, y)
    found = audit(X, y, model=own)
    _, parts = parts_of(X, y)
    again = clone(own).fit(X.iloc[parts.train], y.iloc[parts.train])
    yours = next(model for model in found.accuracy.models if model.yours)
    assert yours.loss.value == np.mean(again.predict(X.iloc[parts.test]) != y.iloc[parts.test])
    assert found.uncertainty.model == "your model"


def test_ones_own_predictions_groups_and_time():
    X, y = numbers()
    X["patient"] = [f"p{i % 20}" for i in range(len(X))]
    X["day"] = pd.date_range("2024-01-01", periods=len(X)).astype(str)
    found = audit(X, y, predictions=3 * X["x"], groups="patient", time="day")
    yours = next(model for model in found.accuracy.models if model.yours)
    assert yours.loss.low < 1.0 < yours.loss.high  # the noise has a standard deviation of 1
    assert found.shift.where == "the last part by day, from 2024-05-08 on"
    assert len(found.stability.drops) > 5
    assert all(drop.own_loss is not None for drop in found.stability.drops[1:])
    assert {note.column for note in found.subject.notes} == set()  # neither is given to the models
    parts = RowParts.draw(AuditTable.read(X[["x", "z"]], y).target, X["patient"].to_numpy(), np.arange(160.0), 0)
    assert not set(X["patient"][parts.train]) & set(X["patient"][parts.test])
    assert parts.later.min() == 128


def test_ones_own_model_is_judged_even_if_there_is_no_time():
    X, y = numbers()
    found = audit(X, y, model=LinearRegression(), time_limit=0.05)
    assert [model.name for model in found.accuracy.models] == ["constant", "your model"]


def test_what_there_is_no_time_for_is_left_out_and_named():
    found = audit(*numbers(), time_limit=0.05)
    assert found.uncertainty is None
    assert "question 2" in " ".join(found.subject.remarks)
    assert found.answer("uncertainty") == "unknown"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"y_new": [1.0]}, "y_new is the target of X_new"),
        ({"X_new": [[1.0]], "y_new": [1.0]}, "X_new lacks the columns"),
        ({"model": "forest"}, "model must be a scikit-learn estimator"),
        ({"groups": "nobody"}, "There is no column 'nobody'"),
        ({"groups": [1, 2]}, "groups must be the name of a column"),
        ({"time": ["soon"] * 160}, "time has values that are neither numbers nor dates"),
        ({"predictions": [1.0]}, "predictions has 1 rows"),
        ({"time_limit": -1}, "time_limit must be above 0"),
        ({"time_limit": "10s"}, "time_limit must be a finite number"),
        ({"model": RandomForestClassifier()}, "does not predict numbers"),
        ({"random_state": -1}, "random_state"),
        ({"task": "ranking"}, "task must be one of"),
        ({"model": LinearRegression(), "predictions": [1.0]}, "pass one of them"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_trained(arguments, said):
    def watch(done, label):
        assert "question" not in label

    X, y = numbers()
    with pytest.raises((DataError, ParameterError), match=said):
        audit(X, y, watch=watch, **arguments)


def test_new_rows_that_are_old_ones_are_noticed():
    X, y = numbers()
    found = audit(X, y, X_new=pd.concat([X[:7], X + 9]), time_limit=0.05)
    assert "7 of the new rows are rows of the table" in " ".join(found.subject.remarks)


def test_new_targets_of_other_classes_are_refused():
    X, y = two_classes()
    with pytest.raises(DataError, match="y_new has none of the classes of y"):
        audit(X, y, X_new=X, y_new=np.where(y == "sick", 1, 0))


def test_predictions_that_are_worthless_are_called_so_where_the_columns_are_not():
    X, y = numbers()
    found = audit(X, y, predictions=np.random.default_rng(5).normal(size=len(y)), time_limit=3)
    assert found.answer("accuracy") == "no"
    assert found.verdict[0].answer == "no"
    assert "linear" in found.verdict[0].sentence
    with pytest.raises(ParameterError, match="question must be one of"):
        found.answer("luck")


def test_few_rows_are_refused():
    X, y = numbers(12)
    with pytest.raises(DataError, match="at least 20"):
        audit(X, y)
    with pytest.raises(DataError, match="No column is left"):
        audit(np.ones((30, 2)), np.arange(30.0))
