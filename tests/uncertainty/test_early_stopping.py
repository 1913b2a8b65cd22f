"""Early stopping on held-out or validation rows keeps the best round."""

import numpy as np
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    GRADIENT_BOOSTERS,
    REGRESSORS,
    SINGLE,
    answers,
    assert_close_answers,
    assert_same_answers,
    forests,
    problem,
    small,
    target_of,
)
from scipy import stats
from sklearn.metrics import log_loss

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot.uncertainty.recalibration import MAX_COST

each_single = pytest.mark.parametrize("estimator", SINGLE)
each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
SETTINGS = {"n_estimators": 300, "max_depth": 4, "n_iter_no_change": 15}


def noisy(estimator, n_rows=200, seed=0, n_classes=2):
    """More noise than signal: models that are trained for too long are worse."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4))
    return X, target_of(estimator, X[:, 0] + 1.5 * generator.normal(size=n_rows), n_classes)


def split(estimator, n_classes=2):
    X, y = noisy(estimator, n_classes=n_classes)
    return X[:120], y[:120], X[120:], y[120:]


def nll(model, X, y, weights=None):
    """Mean negative log-likelihood by scipy and scikit-learn, of the standardised target."""
    if hasattr(model, "predict_proba"):
        return log_loss(y, model.predict_proba(X), sample_weight=weights, labels=model.classes_)
    mean, std = model.predict(X, return_std=True)
    return np.average(-stats.norm.logpdf(y, mean, std) - np.log(model.family_.spread), weights=weights)


@each_single
@pytest.mark.parametrize("has_validation", [False, True])
def test_the_best_round_is_kept_and_training_ends_soon_after(estimator, has_validation):
    X, y, X_val, y_val = split(estimator)
    validation = {"X_val": X_val, "y_val": y_val} if has_validation else {}
    model = small(estimator, **SETTINGS).fit(X, y, **validation)
    history = model.validation_loss_
    assert 1 <= model.n_iter_ < 150
    assert len(history) <= model.n_iter_ + 2 * 15  # the mean may have had its best round before the scale was frozen
    assert forests(model)[0].n_trees == model.n_iter_
    if estimator is GradientBoostingClassifier:
        assert model.n_iter_ == 1 + np.argmin(history)
        assert len(history) == model.n_iter_ + 15


def test_the_scale_is_frozen_in_its_best_round_and_the_mean_goes_on():
    """A mean that takes many rounds to learn, and a scale that is the same for all rows."""
    generator = np.random.default_rng(0)
    X = generator.uniform(size=(900, 5))
    y = 10 * np.sin(6 * X[:, 0] * X[:, 1]) + 5 * X[:, 2] + generator.normal(size=900)
    model = GradientBoostingRegressor(random_state=0, learning_rate=0.05)
    model.fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    scale = np.abs(np.diff(forests(model)[0].leaves[:, :, -1], axis=1)).max(axis=1)
    learned = np.flatnonzero(scale > 0).max(initial=-1) + 1
    frozen = 1 + np.argmin(model.validation_loss_[: learned + 50])
    assert learned <= frozen < model.n_iter_  # later trees change at most the level of the scale
    stages = np.array([np.mean((stage - y[600:]) ** 2) for stage in model.staged_predict(X[600:])])
    assert stages.argmin() == model.n_iter_ - 1
    assert stages[-1] < 0.99 * stages[frozen - 1]


def test_held_out_rows_are_most_likely_under_the_level_of_the_scale():
    """A second correction of level and slope, by scipy, gains no more than calibrated intervals may cost."""
    X, y, X_val, y_val = split(GradientBoostingRegressor)
    model = small(GradientBoostingRegressor, **SETTINGS).fit(X, y, X_val=X_val, y_val=y_val)
    mean, std = model.predict(X_val, return_std=True)
    best = stats.norm.logpdf(y_val, mean, std).mean()
    centre = np.log(std).mean()
    for slope in (0.0, 0.5, 0.9):
        for shift in np.linspace(-0.5, 0.5, 11):
            other = np.exp(centre + shift + slope * (np.log(std) - centre))
            assert stats.norm.logpdf(y_val, mean, other).mean() <= best + MAX_COST + 1e-4


def test_the_history_is_the_likelihood_of_the_validation_rows():
    estimator = GradientBoostingClassifier
    X, y, X_val, y_val = split(estimator)
    weights = np.random.default_rng(0).random(80)
    model = small(estimator, **SETTINGS).fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    assert model.validation_loss_.min() == pytest.approx(nll(model, X_val, y_val, weights), rel=1e-9)


@pytest.mark.parametrize("distribution", ["normal", "gamma"])
def test_the_scale_of_quiet_rows_is_bounded(distribution):
    """Half of the rows have so little noise that their scale is at its bound."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(900, 2))
    y = np.exp(X[:, 0] + np.where(X[:, 1] > 0, 1.0, 0.02) * generator.normal(size=900) / 2)
    model = GradientBoostingRegressor(distribution=distribution, random_state=0)
    model.fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    predicted = model.predict_distribution(X[600:])
    precision = predicted.std if distribution == "normal" else predicted.std / predicted.mean
    assert (np.isclose(precision, precision.min(), rtol=1e-9)).sum() > 30


def test_the_history_of_several_classes_is_their_log_loss():
    X, y, X_val, y_val = split(GradientBoostingClassifier, n_classes=3)
    model = small(GradientBoostingClassifier, **SETTINGS).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.validation_loss_.min() == pytest.approx(nll(model, X_val, y_val), rel=1e-9)


@pytest.mark.parametrize("distribution", ["normal", "lognormal", "laplace", "student_t", "poisson", "gamma"])
def test_the_history_is_that_of_the_distribution_in_its_own_units(distribution):
    """After a single round, before any correction, by scipy."""
    X, y, X_val, y_val = split(GradientBoostingRegressor)
    y, y_val = (np.round(np.exp(target / 2) + 1) for target in (y, y_val))
    settings = SETTINGS | {"n_estimators": 1}
    model = small(GradientBoostingRegressor, distribution=distribution, **settings)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    plain = small(GradientBoostingRegressor, distribution=distribution, **settings | {"early_stopping": False})
    in_user_units = -plain.fit(X, y).predict_distribution(X_val).logpdf(y_val)
    expected = np.mean(in_user_units - model.family_.nll_offset(y_val))
    assert model.validation_loss_[0] == pytest.approx(expected, rel=1e-9)


@each_single
def test_early_stopping_improves_the_likelihood_of_new_rows(estimator):
    X, y, X_val, y_val = split(estimator)
    X_new, y_new = noisy(estimator, seed=1)
    stopped = small(estimator, **SETTINGS).fit(X, y, X_val=X_val, y_val=y_val)
    full = small(estimator, **SETTINGS | {"early_stopping": False}).fit(X, y)
    assert full.n_iter_ == 300
    assert nll(stopped, X_new, y_new) < nll(full, X_new, y_new)


def test_a_stopped_model_without_a_scale_has_the_first_trees_of_one_without_early_stopping():
    X, y, X_val, y_val = split(GradientBoostingClassifier)
    stopped = small(GradientBoostingClassifier, **SETTINGS).fit(X, y, X_val=X_val, y_val=y_val)
    full = small(GradientBoostingClassifier, **SETTINGS | {"early_stopping": False}).fit(X, y)
    n = stopped.n_iter_
    assert forests(stopped)[0].leaves.tobytes() == forests(full)[0].leaves[:n].tobytes()
    shorter = small(GradientBoostingClassifier, **SETTINGS | {"early_stopping": False, "n_estimators": n}).fit(X, y)
    assert_same_answers(stopped, shorter, X)


@each_single
@pytest.mark.parametrize(
    "settings", [{"early_stopping": False}, {"early_stopping": "scale"}, {"langevin": True, "temperature": 1.0}]
)
def test_without_early_stopping_there_is_no_history_and_all_trees_are_kept(estimator, settings):
    X, y = noisy(estimator)
    model = small(estimator, n_estimators=60, n_iter_no_change=2, **settings).fit(X, y)
    assert model.n_iter_ == 60
    assert len(model.validation_loss_) == 0


@each_single
def test_langevin_models_stop_too(estimator):
    X, y, X_val, y_val = split(estimator)
    model = small(estimator, **SETTINGS, langevin=True).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ < 300
    if estimator is GradientBoostingClassifier:
        assert model.n_iter_ == 1 + np.argmin(model.validation_loss_)
        assert model.validation_loss_.min() == pytest.approx(nll(model, X_val, y_val), rel=1e-9)


@each_estimator
def test_a_validation_row_of_weight_k_counts_as_k_copies(estimator):
    X, y, X_val, y_val = split(estimator)
    weights = np.random.default_rng(0).integers(0, 4, size=80)
    copies = np.repeat(np.arange(80), weights)
    settings = {"n_estimators": 40, "n_iter_no_change": 5, "early_stopping": True}
    weighted = small(estimator, **settings).fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    copied = small(estimator, **settings).fit(X, y, X_val=X_val[copies], y_val=y_val[copies])
    assert_close_answers(weighted, copied, X)


@each_estimator
def test_validation_rows_without_weight_are_not_used(estimator):
    X, y, X_val, y_val = split(estimator)
    weights = (np.arange(80) < 50).astype(float)
    strange = X_val.copy()
    strange[50:] = 1e6
    settings = {"n_estimators": 20, "early_stopping": True}
    weighted = small(estimator, **settings).fit(X, y, X_val=strange, y_val=y_val, sample_weight_val=weights)
    removed = small(estimator, **settings).fit(X, y, X_val=X_val[:50], y_val=y_val[:50], sample_weight_val=weights[:50])
    assert_same_answers(weighted, removed, X)


@each_estimator
def test_validation_rows_do_not_influence_the_trees(estimator):
    """Neither the bins, nor the splits, nor the direction of missing values."""
    X, y, X_val, y_val = split(estimator)
    strange = X_val.copy()
    strange[0] = np.nan
    settings = {"n_estimators": 5, "early_stopping": True, "n_iter_no_change": 50}
    if estimator in REGRESSORS:
        settings["distribution"] = "poisson"  # no scale: validation rows only decide when to stop
        y, y_val = np.round(np.exp(y / 4) + 1), np.round(np.exp(y_val / 4) + 1)
    plain = small(estimator, **settings).fit(X, y, X_val=X_val, y_val=y_val)
    other = small(estimator, **settings).fit(X, y, X_val=strange, y_val=y_val)
    for one, another in zip(forests(plain), forests(other), strict=True):
        n = min(one.n_trees, another.n_trees)
        for name in ("features", "limits", "shifts"):
            assert getattr(one, name)[:n].tobytes() == getattr(another, name)[:n].tobytes(), name
        shrunk = one.leaves[0].ravel()[0] / another.leaves[0].ravel()[0]  # by the later rounds
        np.testing.assert_allclose(one.leaves[:n], shrunk * another.leaves[:n], rtol=1e-12)


@each_single
def test_held_out_rows_change_with_the_seed(estimator):
    X, y = noisy(estimator)
    settings = {"n_estimators": 4, "n_iter_no_change": 50, "warm_start": True}
    one, other = (small(estimator, random_state=seed, **settings).fit(X, y) for seed in (0, 1))
    assert one.validation_loss_.tobytes() != other.validation_loss_.tobytes()
    assert answers(one, X)["predict"].tobytes() != answers(other, X)["predict"].tobytes() or (
        one.predict_proba(X).tobytes() != other.predict_proba(X).tobytes()
    )


@each_single
def test_the_final_model_is_trained_on_all_rows(estimator):
    """The trees are those of a model with the same n_estimators that holds no rows out."""
    X, y = noisy(estimator)
    model = small(estimator, **SETTINGS).fit(X, y)
    other = small(estimator, **SETTINGS | {"n_estimators": model.n_iter_, "early_stopping": False}).fit(X, y)
    assert len(model.validation_loss_) > model.n_iter_
    for mine, theirs in zip(forests(model), forests(other), strict=True):
        assert mine.covers.sum() == theirs.covers.sum() == 200 * model.n_iter_
        assert mine.features[0].tobytes() == theirs.features[0].tobytes()
    if estimator is GradientBoostingClassifier:
        assert_same_answers(model, other, X)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_some_rows_of_a_rare_class_are_always_trained_on(estimator):
    X, _ = noisy(estimator)
    y = np.zeros(200, dtype=int)
    y[:2], y[2:5] = 1, 2
    X[:5, 1] = 100.0 + np.arange(5) // 2
    for seed in range(5):
        settings = {"n_estimators": 60, "early_stopping": True, "validation_fraction": 0.5, "l2_regularization": 0.1}
        model = small(estimator, random_state=seed, **settings).fit(X, y)
        assert set(model.classes_) == {0, 1, 2}
        assert (model.predict_proba(X[:5])[:, 0] < model.predict_proba(X[5:])[:, 0].mean()).all()


@each_single
@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.95])
def test_any_fraction_leaves_rows_on_both_sides(estimator, fraction):
    X, y = problem(estimator, n_rows=30)
    model = small(estimator, early_stopping=True, validation_fraction=fraction).fit(X, y)
    assert len(model.validation_loss_) >= 1
    assert np.isfinite(model.validation_loss_).all()


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_new_rows_are_likely_with_default_parameters(estimator):
    """A table on which new rows become arbitrarily unlikely after long training without early stopping."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 8))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.1 * generator.normal(size=300)
    members = {"n_members": 2} if estimator is not GradientBoostingRegressor else {}
    model = estimator(random_state=0, n_estimators=400, **members).fit(X[:200], y[:200])
    constant = -stats.norm.logpdf(y[200:], y[:200].mean(), y[:200].std()).mean()
    assert -model.predict_distribution(X[200:]).logpdf(y[200:]).mean() < constant
