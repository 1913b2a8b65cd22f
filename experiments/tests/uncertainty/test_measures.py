"""Measures against scikit-learn, scipy and the models."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score, root_mean_squared_error

from surefoot import BoostingEnsembleClassifier, BoostingEnsembleRegressor, metrics
from surefoot.uncertainty.member_predictions import ClassificationMembers, RegressionMembers
from surefoot_experiments.uncertainty.boosters import predict_members
from surefoot_experiments.uncertainty.measures import mean_nll, measure
from surefoot_experiments.uncertainty.problem import Problem


def test_regressors(regression: Problem) -> None:
    model = BoostingEnsembleRegressor(n_members=3, n_estimators=20, random_state=0).fit(regression.X, regression.y)
    measures = measure(regression, lambda X: predict_members(model.estimators_, X))
    y = regression.y_test
    assert measures["nll"] == pytest.approx(metrics.nll(y, model.predict_distribution(regression.X_test)))
    assert measures["error"] == pytest.approx(root_mean_squared_error(y, model.predict(regression.X_test)))
    inside = model.predict_uncertainty(regression.X_test)
    ratio = metrics.prediction_rejection_ratio(y, model.predict(regression.X_test), inside.knowledge)
    assert measures["prr_knowledge"] == pytest.approx(ratio)
    for name, rows in zip(("auc", "auc2"), regression.out_of_domain, strict=True):
        outside = model.predict_uncertainty(rows)
        labels = np.repeat([0, 1], [len(inside), len(outside)])
        for kind in ("total", "knowledge"):
            values = np.concatenate([getattr(inside, kind), getattr(outside, kind)])
            assert measures[f"{name}_{kind}"] == pytest.approx(roc_auc_score(labels, values))


def test_classifiers(classification: Problem) -> None:
    problem = classification
    model = BoostingEnsembleClassifier(n_members=3, n_estimators=20, random_state=0).fit(problem.X, problem.y)
    measures = measure(problem, lambda X: predict_members(model.estimators_, X))
    assert measures["nll"] == pytest.approx(log_loss(problem.y_test, model.predict_proba(problem.X_test)))
    assert measures["error"] == pytest.approx(1 - accuracy_score(problem.y_test, model.predict(problem.X_test)))


def test_a_single_model_has_no_knowledge_uncertainty(regression: Problem) -> None:
    model = BoostingEnsembleRegressor(n_members=1, n_estimators=10, random_state=0).fit(regression.X, regression.y)
    measures = measure(regression, lambda X: predict_members(model.estimators_, X))
    missing = {name for name, value in measures.items() if np.isnan(value)}
    assert missing == {"prr_knowledge", "auc_knowledge", "auc2_knowledge"}


def test_members_without_a_variance_have_only_knowledge(regression: Problem) -> None:
    measures = measure(regression, lambda X: RegressionMembers(np.array([X["v0"], 2 * X["v0"]]), None))
    missing = {name for name, value in measures.items() if np.isnan(value)}
    assert missing == {"nll", "prr_total", "auc_total", "auc2_total"}


def test_the_likelihood_of_a_mixture_by_hand() -> None:
    members = RegressionMembers(np.array([[0.0], [2.0]]), np.array([[1.0], [4.0]]))
    density = (norm.pdf(1.0, 0.0, 1.0) + norm.pdf(1.0, 2.0, 2.0)) / 2
    assert mean_nll(members, np.array([1.0])) == pytest.approx(-np.log(density))


def test_a_predicted_probability_of_0_has_a_finite_loss() -> None:
    members = ClassificationMembers(np.array([[[1.0, 0.0], [0.5, 0.5]]]), np.array([0, 1]))
    y, sure = np.array([1, 1]), members.probabilities[0]
    assert mean_nll(members, y) == pytest.approx(log_loss(y, sure, labels=[0, 1]), rel=1e-6)


def test_without_errors_the_rejection_ratio_is_nan(classification: Problem) -> None:
    right = np.stack([classification.y_test == "no", classification.y_test == "yes"], axis=-1).astype(float)

    def predict(X: object) -> ClassificationMembers:
        return ClassificationMembers(np.stack([right, right]), np.array(["no", "yes"]))

    assert np.isnan(measure(classification, predict)["prr_total"])
