"""A user's own model, of any library: used as it is or fitted again, with or without its training rows."""

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from reference.audit_tables import numbers, two_classes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import DataError, GradientBoostingRegressor, ParameterError, audit
from surefoot.report.checks.data_checks import TRAINING_ROWS

TRAINED = np.arange(300) < 180


class Rule:
    """An object with a method predict and nothing else."""

    def predict(self, X):
        return np.where(X["size"] > 0, "sick", "well")


def test_a_fitted_model_is_measured_on_the_rows_that_it_has_not_seen(quick_audit):
    X, y = numbers(300)
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X[TRAINED], y[TRAINED])
    run, result = quick_audit(X, y, model=model, refit=False, trained_on=TRAINED, X_new=X + 0.1)
    yours = next(each for each in result.accuracy.models if each.yours)
    assert yours.loss.value == pytest.approx(root_mean_squared_error(y[~TRAINED], model.predict(X[~TRAINED])))
    assert run.audited.fold_models == (model,)  # the object itself, not a copy
    ((train, test),) = run.splits.folds
    assert np.array_equal(train, np.flatnonzero(TRAINED))
    assert np.array_equal(test, np.flatnonzero(~TRAINED))
    assert result.accuracy.curve is None
    assert result.answer("accuracy") != "yes"  # whether more rows would help is not known
    assert result.stability.drops[0].n_refits == 0
    assert len(run.draws) == 1
    assert "Your model was trained on 180 of the rows" in result.subject.split
    assert not any(check.kind == TRAINING_ROWS for check in result.subject.checks)
    assert result.to_html().count("your model") > 3


def test_a_column_names_the_training_rows_and_no_model_is_given_it(quick_audit):
    X, y = numbers(300)
    model = LinearRegression().fit(X[TRAINED], y[TRAINED])
    named = X.assign(part=np.where(TRAINED, "train", "test"))
    run, by_column = quick_audit(named, y, model=model, refit=False, trained_on="part")
    _, by_array = quick_audit(X, y, model=model, refit=False, trained_on=TRAINED)
    assert "part" not in run.table.frame.columns
    assert by_column.accuracy.gain == by_array.accuracy.gain


def test_without_the_training_rows_nothing_is_answered_with_yes(quick_audit):
    X, y = numbers(300)
    forest = RandomForestRegressor(30, random_state=0).fit(X, y)
    _, result = quick_audit(X, y, model=forest, refit=False)
    assert {line.answer for line in result.verdict} == {"unknown"}
    assert "It is not known which rows your model was trained on." in result.verdict[0].sentence
    kinds = {check.kind for check in result.subject.checks}
    assert {TRAINING_ROWS, "predictions"} <= kinds  # it has seen the rows, and this shows
    assert "Your model is used as it is, for all rows." in result.subject.split
    assert "It is not known which of these rows" in result.to_html()


def test_a_model_that_has_seen_no_row_is_measured_on_all(quick_audit):
    X, y = numbers(300)
    others, targets = numbers(300, seed=1)
    model = GradientBoostingRegressor(n_estimators=60, random_state=0).fit(others, targets)
    run, result = quick_audit(X, y, model=model, refit=False, trained_on=False)
    yours = next(each for each in result.accuracy.models if each.yours)
    assert yours.loss.value == pytest.approx(root_mean_squared_error(y, model.predict(X)))
    assert result.subject.doubt == ""
    assert result.uncertainty.own
    assert len(run.splits.held_out) == 300


def test_errors_of_a_fitted_model_without_a_distribution_give_intervals(quick_audit):
    X, y = numbers(300)
    model = LinearRegression().fit(X[TRAINED], y[TRAINED])
    _, result = quick_audit(X, y, model=model, refit=False, trained_on=TRAINED)
    inside = next(each for each in result.uncertainty.calibration.coverage if each.level == 0.9)
    assert 0.8 < inside.observed.value < 1.0


def test_any_object_that_predicts_is_audited(quick_audit):
    X, y = two_classes(300)
    _, result = quick_audit(X, y, model=Rule(), refit=False, trained_on=False)
    yours = next(each for each in result.accuracy.models if each.yours)
    assert yours.loss.value == pytest.approx(np.mean(Rule().predict(X) != y))
    assert "of the constant's errors" in result.verdict[0].sentence  # it predicts no probabilities


def test_a_model_that_cannot_be_cloned_is_fitted_again(quick_audit):
    X, y = two_classes(200)
    X["colour"] = X["colour"].astype(str)
    model = CatBoostClassifier(iterations=20, verbose=0, cat_features=["colour"], allow_writing_files=False)
    run, result = quick_audit(X, y, model=model)
    yours = next(each for each in result.accuracy.models if each.yours)
    assert yours.loss.value < 0.3
    assert not model.is_fitted()
    for (train, test), fitted in zip(run.splits.folds, run.audited.fold_models, strict=True):
        again = CatBoostClassifier(iterations=20, verbose=0, cat_features=["colour"], allow_writing_files=False)
        again.fit(X.iloc[train], y.iloc[train])
        assert np.array_equal(fitted.predict(X.iloc[test]), again.predict(X.iloc[test]))


def test_copies_of_training_rows_among_the_others_are_reported(quick_audit):
    X, y = numbers(300)
    X, y = pd.concat([X, X[:60]], ignore_index=True), pd.concat([y, y[:60]], ignore_index=True)
    trained = np.arange(360) < 180
    model = LinearRegression().fit(X[trained], y[trained])
    _, result = quick_audit(X, y, model=model, refit=False, trained_on=trained)
    assert any("copies of some rows that it is tested on" in check.sentence for check in result.subject.checks)
    assert result.answer("accuracy") != "yes"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"refit": False}, "refit=False is about your own model"),
        ({"refit": "no", "model": LinearRegression()}, "refit must be"),
        ({"trained_on": TRAINED}, "pass refit=False too"),
        ({"model": LinearRegression(), "trained_on": TRAINED}, "pass refit=False too"),
        ({"model": Rule()}, "has no method fit: pass refit=False"),
        ({"model": 7}, "model is of type int, which has no method predict"),
        ({"model": LinearRegression(), "refit": False, "trained_on": "nobody"}, "There is no column 'nobody'"),
        ({"model": LinearRegression(), "refit": False, "trained_on": np.arange(300)}, "must be true for the rows"),
        ({"model": LinearRegression(), "refit": False, "trained_on": [None] * 300}, "got missing values"),
        ({"model": LinearRegression(), "refit": False, "trained_on": [True] * 300}, "trained_on leaves 0 rows"),
        ({"model": LinearRegression(), "refit": False, "trained_on": [False] * 300}, "pass trained_on=False"),
        ({"model": LinearRegression(), "refit": False, "trained_on": TRAINED, "time": np.arange(300)}, "and time both"),
        ({"model": RandomForestClassifier(), "refit": False}, "needs a regressor"),
    ],
)
def test_what_cannot_be_audited_is_refused_at_once(arguments, message):
    with pytest.raises((DataError, ParameterError), match=message):
        audit(*numbers(300), **arguments)


def test_a_model_that_would_continue_its_fit_is_refused():
    class Growing(SGDRegressor):
        def __sklearn_clone__(self):
            raise TypeError("no")

    with pytest.raises(ParameterError, match="with warm_start=True"):
        audit(*numbers(300), model=Growing(warm_start=True))


def test_an_unfitted_model_that_is_used_as_it_is_fails_with_its_name(quick_audit):
    with pytest.raises(DataError, match="model failed on the training rows: NotFittedError"):
        quick_audit(*numbers(300), model=LinearRegression(), refit=False, trained_on=False)
