"""A rare class: models are chosen by log-loss, and shown by how they rank rows."""

import numpy as np
import pytest
from reference.audit_tables import rare_class
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score

from surefoot import audit
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.scoring import ERROR_RATE, RANKING_ERROR, main_measure


class Guard(ClassifierMixin, BaseEstimator):
    """A rule that predicts labels without scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X["size"].to_numpy() > 1.5).astype(int)]


def test_models_are_shown_by_auc_and_chosen_by_log_loss(quick_audit):
    X, y = rare_class()
    run, result = quick_audit(X[:2400], y[:2400], X_new=X[2400:], y_new=y[2400:])
    by_name = {model.name: model for model in result.accuracy.models}
    assert result.accuracy.measure == RANKING_ERROR
    for fitted in run.fitted[1:]:
        auc = roc_auc_score(run.table.target.y, fitted.predictions.probabilities[:, 1])
        assert by_name[fitted.name].loss.value == pytest.approx(1 - auc)
    assert result.accuracy.audited != "constant"
    assert result.verdict[0].answer == "yes"
    assert f"{result.accuracy.n_rare} held-out rows belong to the rare class" in result.verdict[0].sentence
    assert result.answer("accuracy") != "no"
    assert "of the rows are fraud" in result.verdict[2].sentence
    calibration, share = result.uncertainty.calibration, np.mean(y[:2400] == "fraud")
    assert (calibration.of_class, calibration.share) == ("fraud", share)
    expected = run.audited.predictions.probabilities[:, 1 if run.table.target.classes[1] == "fraud" else 0].mean()
    assert calibration.gap.value == pytest.approx(expected - share)
    page = result.to_html()
    assert "<b>Ranking error</b>" in page
    assert ">AUC</th>" not in page.split('id="uncertainty"')[0]  # it would be 1 minus the ranking error


def test_the_ranking_of_own_probabilities_and_labels():
    X, y = rare_class()
    chance = LogisticRegression().fit(X[["size"]], y).predict_proba(X[["size"]])[:, 1]
    truth = y == "fraud"
    by_chance = audit(X, y, predictions=chance, time_limit=0.01).accuracy.models[-1]
    assert by_chance.loss.value == pytest.approx(1 - roc_auc_score(truth, chance))
    assert by_chance.auc.value == pytest.approx(1 - by_chance.loss.value)
    labels = np.where(X["size"] > 1.5, "fraud", "fine")
    by_label = audit(X, y, predictions=labels, time_limit=0.01).accuracy.models[-1]
    assert by_label.loss.value == pytest.approx(1 - balanced_accuracy_score(truth, labels == "fraud"))
    assert by_label.auc is None  # labels have no ROC curve
    by_rule = next(model for model in audit(X, y, model=Guard(), time_limit=0.01).accuracy.models if model.yours)
    assert by_rule.loss == by_label.loss


def test_labels_are_compared_as_labels(two_candidates):
    findings = two_candidates(*rare_class(), model=Guard())
    own, rival = (next(model for model in findings.models if model.name == name) for name in ("your model", "linear"))
    assert findings.rival == "linear"
    assert findings.behind.value == pytest.approx(own.error_rate.value / rival.error_rate.value - 1)


def test_ranking_errors_of_groups(two_candidates):
    X, y = rare_class()
    shop = np.repeat(np.arange(60), 60)
    X = X.assign(size=X["size"] + 3 * np.random.default_rng(1).normal(size=60)[shop])  # shops differ in size
    by_row, by_shop = two_candidates(X, y), two_candidates(X, y, groups=shop.astype(str))
    linear = by_shop.models[1]
    assert by_shop.measure == RANKING_ERROR
    assert linear.loss.low < linear.loss.value < linear.loss.high
    assert linear.loss.value != by_row.models[1].loss.value  # the folds are different
    assert by_shop.curve.last_doubling.low < by_shop.curve.last_doubling.high


def test_a_useless_model_is_reported_as_useless():
    X, y = rare_class()
    result = audit(X, y, model=DummyClassifier(), time_limit=0.01)
    own = next(model for model in result.accuracy.models if model.yours)
    assert own.loss.value == pytest.approx(0.5, abs=0.05)
    assert result.verdict[0].answer == "no"


@pytest.mark.parametrize(("share", "n_rows", "measure"), [(0.05, 2000, RANKING_ERROR), (0.05, 150, ERROR_RATE),
                                                          (0.2, 2000, ERROR_RATE)])  # fmt: skip
def test_the_ranking_error_needs_enough_rows_and_a_rare_class(share, n_rows, measure):
    y = np.arange(n_rows) % round(1 / share) == 0
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    table = AuditTable.read(X, y)
    assert main_measure(table.target, np.arange(n_rows)) == measure


def test_the_table_distinguishes_models():
    X, y = rare_class()
    assert 0.02 < np.mean(y == "fraud") < 0.06
    assert 0.1 < average_precision_score(y == "fraud", X["size"]) < 0.6
