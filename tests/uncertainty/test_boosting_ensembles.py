"""Ensembles of gradient boosters: their members, predictions and uncertainty."""

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    ENSEMBLES,
    answers,
    assert_same_answers,
    bits,
    numbers,
    problem,
    small,
)
from scipy import stats
from scipy.stats import entropy
from sklearn.base import clone
from sklearn.metrics import log_loss

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

each_ensemble = pytest.mark.parametrize("estimator", ENSEMBLES)
each_method = pytest.mark.parametrize("method", ["sglb", "sgb"])
MEMBER = {
    BoostingEnsembleRegressor: GradientBoostingRegressor,
    BoostingEnsembleClassifier: GradientBoostingClassifier,
}
NOISE = {"sglb": {"langevin": True, "subsample": 1.0}, "sgb": {"langevin": False, "subsample": 0.5}}


@each_method
def test_a_regressor_is_the_mixture_of_its_members(method):
    X, y = numbers()
    model = small(BoostingEnsembleRegressor, method=method, n_members=4).fit(X, y)
    means, stds = np.stack([member.predict(X, return_std=True) for member in model.estimators_], axis=1)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, means.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(std**2, (stds**2).mean(axis=0) + means.var(axis=0), rtol=1e-10)
    mixture = model.predict_distribution(X)
    np.testing.assert_allclose(mixture.logpdf(y), np.log(stats.norm.pdf(y, means, stds).mean(axis=0)), rtol=1e-9)
    np.testing.assert_allclose(mixture.cdf(mixture.quantile(0.3)), 0.3, rtol=1e-6)
    parts = model.predict_uncertainty(X)
    np.testing.assert_allclose(parts.knowledge, means.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(parts.data, (stds**2).mean(axis=0), rtol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()
    assert parts.unit == "target squared"


@each_method
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_is_the_mean_of_its_members(method, n_classes):
    X, y = problem(BoostingEnsembleClassifier, n_classes=n_classes)
    model = small(BoostingEnsembleClassifier, method=method, n_members=4).fit(X, y)
    probabilities = np.stack([member.predict_proba(X) for member in model.estimators_])
    np.testing.assert_allclose(model.predict_proba(X), probabilities.mean(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.mean(axis=0).argmax(axis=1)])
    parts = model.predict_uncertainty(X)
    np.testing.assert_allclose(parts.total, entropy(probabilities.mean(axis=0), axis=-1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.data, entropy(probabilities, axis=-1).mean(axis=0), rtol=0, atol=1e-12)
    assert (parts.total == parts.data + parts.knowledge).all()
    assert (parts.knowledge >= 0).all()
    assert parts.unit == "nats"


@each_ensemble
@each_method
def test_members_are_whole_models(estimator, method):
    X, y = problem(estimator)
    model = small(estimator, method=method, n_members=3, learning_rate=0.2).fit(X, y)
    assert len(model.estimators_) == 3
    for member in model.estimators_:
        assert type(member) is MEMBER[estimator]
        assert member.learning_rate == 0.2
        assert member.langevin is NOISE[method]["langevin"]
        assert member.subsample == NOISE[method]["subsample"]
        n_trees = model.n_estimators if method == "sglb" else len(member._members[0].trees.forest.leaves)
        assert member.n_iter_ == n_trees
        assert member.n_features_in_ == 4
        assert len(list(member.staged_predict(X))) == member.n_iter_
        assert member.feature_importances_.sum() == pytest.approx(1.0)
        clone(member).fit(X, y)
    np.testing.assert_allclose(
        model.feature_importances_, np.mean([member.feature_importances_ for member in model.estimators_], axis=0)
    )


@each_ensemble
@each_method
def test_the_first_member_is_the_single_model_of_the_same_seed(estimator, method):
    X, y = problem(estimator)
    settings = {"early_stopping": False, "l2_regularization": 1.0, "learning_rate": 0.1}
    model = small(estimator, method=method, **settings).fit(X, y)
    alone = small(MEMBER[estimator], **settings, **NOISE[method]).fit(X, y)
    assert_same_answers(alone, model.estimators_[0], X)


@each_ensemble
@each_method
def test_members_are_trained_on_all_rows_with_the_number_of_trees_from_trial_models(estimator, method):
    """No member holds rows out; early stopping has chosen the same number of trees for all."""
    X, y = problem(estimator)
    model = small(estimator, method=method, n_estimators=300, learning_rate=0.3, early_stopping=True).fit(X, y)
    trees = {len(member.trees.forest.leaves) for member in model._members}
    assert len(trees) == 1
    assert 0 < trees.pop() < 300
    starts = {float(member.trees.start[0]) for member in model._members}  # held-out rows correct the start of the scale
    alone = small(MEMBER[estimator], early_stopping=False, n_estimators=1).fit(X, y)._members[0].trees.start
    assert len(starts) == 1
    assert method == "sglb" or starts == {float(alone[0])}  # sglb shrinks it round by round


@each_ensemble
def test_with_validation_rows_there_is_no_trial_model(estimator):
    X, y = problem(estimator)
    settings = {"early_stopping": True, "l2_regularization": 1.0, "learning_rate": 0.1}
    model = small(estimator, method="sgb", **settings).fit(X, y, X_val=X[:30], y_val=y[:30])
    alone = small(MEMBER[estimator], **settings, **NOISE["sgb"]).fit(X, y, X_val=X[:30], y_val=y[:30])
    assert_same_answers(alone, model.estimators_[0], X)


@each_ensemble
@each_method
def test_more_members_do_not_change_the_first_ones(estimator, method):
    X, y = problem(estimator)
    few, many = (small(estimator, method=method, n_members=n).fit(X, y) for n in (2, 5))
    for one, other in zip(few.estimators_, many.estimators_, strict=False):
        assert_same_answers(one, other, X)


@each_ensemble
@each_method
@pytest.mark.parametrize("early_stopping", [False, "auto"])
def test_members_differ(estimator, method, early_stopping):
    X, y = problem(estimator)
    model = small(estimator, method=method, n_members=4, early_stopping=early_stopping).fit(X, y)
    raws = model._raw(X)
    for k in range(4):
        for other in range(k):
            assert np.abs(raws[k] - raws[other]).max() > 1e-4
    assert (model.predict_uncertainty(X).knowledge > 0).mean() > 0.9


@each_ensemble
def test_an_ensemble_of_one_has_no_knowledge_uncertainty(estimator):
    X, y = problem(estimator)
    model = small(estimator, n_members=1).fit(X, y)
    assert (model.predict_uncertainty(X).knowledge == 0).all()
    ensemble, member = answers(model, X), answers(model.estimators_[0], X)
    assert all(bits(ensemble[name]) == bits(array) for name, array in member.items())


@each_ensemble
def test_subsample_can_be_chosen_for_either_method(estimator):
    X, y = problem(estimator)
    assert [small(estimator, method=m).fit(X, y).estimators_[0].subsample for m in ("sgb", "sglb")] == [0.5, 1.0]
    for method in ("sgb", "sglb"):
        chosen = small(estimator, method=method, subsample=0.8).fit(X, y)
        assert chosen.estimators_[0].subsample == 0.8
        assert bits(chosen._raw(X)) != bits(small(estimator, method=method).fit(X, y)._raw(X))


def test_knowledge_uncertainty_is_larger_where_there_are_few_rows():
    """At the temperature of the posterior."""
    generator = np.random.default_rng(0)
    crowded, sparse = generator.uniform(0, 1, size=600), generator.uniform(1, 2, size=12)
    X = np.concatenate([crowded, sparse])[:, np.newaxis]
    y = (X[:, 0] > 0.5) + generator.normal(size=612)
    model = BoostingEnsembleRegressor(n_estimators=400, max_depth=2, temperature=1.0, random_state=0).fit(X, y)
    knowledge = model.predict_uncertainty(np.linspace(0.05, 1.95, 39)[:, np.newaxis]).knowledge
    assert knowledge[20:].mean() > 2 * knowledge[:19].mean()


@each_ensemble
@each_method
def test_an_ensemble_is_at_least_as_likely_as_its_members_are_on_average(estimator, method):
    X, y = problem(estimator, n_rows=400)
    X_new, y_new = problem(estimator, n_rows=400, seed=1)
    model = small(estimator, method=method, n_members=5, n_estimators=40).fit(X, y)

    def nll(one):
        if estimator in CLASSIFIERS:
            return log_loss(y_new, one.predict_proba(X_new))
        return -one.predict_distribution(X_new).logpdf(y_new).mean()

    assert nll(model) <= np.mean([nll(member) for member in model.estimators_]) + 1e-9  # Jensen


@each_ensemble
def test_rows_keep_their_labels(estimator):
    X, y = problem(estimator)
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(80) + 1000)
    table = small(estimator).fit(frame, y).predict_uncertainty(frame.iloc[5:9]).to_frame()
    assert list(table.index) == [1005, 1006, 1007, 1008]
    assert list(table.columns[:3]) == ["total", "data", "knowledge"]
