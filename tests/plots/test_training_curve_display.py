"""Charts of the losses after each round of training."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from reference.gradient_boosters import problem, small
from sklearn.ensemble import GradientBoostingRegressor as OtherBooster
from sklearn.exceptions import NotFittedError

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
)
from surefoot.metrics import nll
from surefoot.plots import TrainingCurveDisplay

SHORT = {"n_estimators": 150, "n_iter_no_change": 4, "max_depth": 4, "learning_rate": 0.3}


@pytest.fixture
def ax():
    return Figure().subplots()


def fitted(estimator, with_validation=False, **settings):
    X, y = problem(estimator, 150)
    X_new, y_new = problem(estimator, 60, seed=1)
    X_val, y_val = problem(estimator, 60, seed=3)
    validation = {"X_val": X_val, "y_val": y_val} if with_validation else {}
    return small(estimator, **settings).fit(
        X, y, eval_sets={"new": (X_new, y_new), "val": (X_val, y_val)}, **validation
    )


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curves_of_a_model(ax):
    model = fitted(GradientBoostingRegressor, early_stopping=False)
    display = TrainingCurveDisplay.from_estimator(model, ax=ax)
    assert list(display.lines_) == ["new", "val"]
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 6))
        np.testing.assert_array_equal(line.get_ydata(), model.validation_losses_[name])
    assert display.bands_ == {}
    assert display.kept_.get_xdata() == [5, 5]
    assert texts(ax) == ["new", "val", "5 rounds kept"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rounds", "mean negative log-likelihood")
    assert (display.ax_, display.figure_) == (ax, ax.figure)


def test_held_out_rows_are_drawn_in_the_unit_of_the_target(ax):
    """Before the last correction of the scale, which ``validation_loss_`` does not know."""
    model = fitted(GradientBoostingRegressor, with_validation=True, early_stopping=True, n_estimators=1)
    display = TrainingCurveDisplay.from_estimator(model, ax=ax)
    assert list(display.curves) == ["held-out rows", "new", "val"]
    X, y = problem(GradientBoostingRegressor, 150)
    X_val, y_val = problem(GradientBoostingRegressor, 60, seed=3)
    plain = small(GradientBoostingRegressor, n_estimators=1, early_stopping=False).fit(X, y)
    assert display.curves["held-out rows"] == pytest.approx([nll(y_val, plain.predict_distribution(X_val))], rel=1e-9)


def test_held_out_rows_of_a_classifier_are_a_set_like_others(ax):
    model = fitted(GradientBoostingClassifier, with_validation=True, **SHORT)
    display = TrainingCurveDisplay.from_estimator(model, ax=ax)
    np.testing.assert_allclose(display.curves["held-out rows"], display.curves["val"], rtol=1e-9)
    assert display.n_iter == [model.n_iter_]


def test_held_out_rows_in_another_unit(ax):
    X, y = problem(GradientBoostingRegressor, 150)
    model = small(GradientBoostingRegressor, distribution="lognormal", n_estimators=12).fit(X, y + 5)
    display = TrainingCurveDisplay.from_estimator(model, ax=ax)
    np.testing.assert_array_equal(display.curves["held-out rows"], model.validation_loss_)
    assert ax.get_ylabel() == "mean negative log-likelihood, less a constant"
    with_sets = model.fit(X, y + 5, eval_sets={"new": (X, y + 5)})
    assert list(TrainingCurveDisplay.from_estimator(with_sets, ax=Figure().subplots()).curves) == ["new"]
    with pytest.raises(ParameterError, match="axes of its own"):
        TrainingCurveDisplay.from_estimator(with_sets, ax=ax)


def test_an_ensemble_has_bands(ax):
    model = fitted(BoostingEnsembleRegressor, with_validation=True, n_members=3, **SHORT)
    display = TrainingCurveDisplay.from_estimator(model, ax=ax)
    assert list(display.bands_) == ["held-out rows", "new", "val"]
    low, high = display.bands["new"]
    members = [one.validation_losses_["new"][: len(low)] for one in model.estimators_]
    np.testing.assert_array_equal(low, np.min(members, axis=0))
    np.testing.assert_array_equal(high, np.max(members, axis=0))
    np.testing.assert_allclose(display.lines_["new"].get_ydata(), model.validation_losses_["new"])
    rounds = sorted({one.n_iter_ for one in model.estimators_})
    assert display.n_iter == rounds
    assert len(rounds) > 1
    assert texts(ax)[-1] == f"{rounds[0]} to {rounds[-1]} rounds kept"


def test_trial_models_of_an_ensemble_have_no_band(ax):
    model = fitted(BoostingEnsembleClassifier, **SHORT)
    display = TrainingCurveDisplay.from_estimator(model, ax=ax)
    assert list(display.bands_) == ["new", "val"]
    np.testing.assert_array_equal(display.curves["held-out rows"], model.estimators_[0].validation_loss_)


def test_long_curves_and_several_models(ax):
    first = TrainingCurveDisplay({"a": np.arange(5000.0)}).plot(ax=ax, linewidth=5)
    second = TrainingCurveDisplay({"b": [1.0, 0.5]}, n_iter=2).plot(ax=ax)
    assert first.kept_ is None
    assert len(first.lines_["a"].get_xdata()) == 1000
    assert first.lines_["a"].get_xdata()[-1] == 5000
    assert first.lines_["a"].get_linewidth() == 5
    assert first.lines_["a"].get_color() != second.lines_["b"].get_color()
    assert texts(ax) == ["a", "b", "2 rounds kept"]


def test_invalid_arguments_are_refused():
    X, y = problem(GradientBoostingRegressor)
    with pytest.raises(NotFittedError):
        TrainingCurveDisplay.from_estimator(GradientBoostingRegressor())
    with pytest.raises(ParameterError, match="pass a gradient booster of surefoot"):
        TrainingCurveDisplay.from_estimator(OtherBooster(n_estimators=2).fit(X, y))
    with pytest.raises(ParameterError, match="has recorded no losses: pass eval_sets to fit"):
        TrainingCurveDisplay.from_estimator(small(GradientBoostingRegressor, early_stopping=False).fit(X, y))
    for curves in ({}, {"a": []}, {"a": [[1.0]]}):
        with pytest.raises(DataError, match="curves must have at least one name"):
            TrainingCurveDisplay(curves)
    with pytest.raises(DataError, match="bands has 'b', which curves does not have"):
        TrainingCurveDisplay({"a": [1.0]}, bands={"b": ([1.0], [2.0])})
    with pytest.raises(DataError, match=r"bands\['a'\] must have two ends for each of 1 rounds"):
        TrainingCurveDisplay({"a": [1.0]}, bands={"a": ([1.0], [2.0, 3.0])})
