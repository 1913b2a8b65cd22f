"""A class that few rows have: models are chosen by log-loss, shown by how they rank rows, and it is judged itself."""

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
    """A rule that gives labels and no scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X["size"].to_numpy() > 1.5).astype(int)]


def test_models_are_shown_by_the_area_under_the_curve_and_chosen_by_log_loss(quick_audit):
    X, y = rare_class()
    run, found = quick_audit(X[:2400], y[:2400], X_new=X[2400:], y_new=y[2400:])
    by_name = {model.name: model for model in found.accuracy.models}
    assert found.accuracy.measure == RANKING_ERROR
    for fitted in run.fitted[1:]:
        auc = roc_auc_score(run.table.target.y, fitted.predictions.probabilities[:, 1])
        assert by_name[fitted.name].loss.value == pytest.approx(1 - auc)
    assert found.accuracy.audited != "constant"
    assert found.verdict[0].answer == "yes"
    assert f"{found.accuracy.n_rare} held-out rows belong to the rare class" in found.verdict[0].sentence
    assert found.answer("accuracy") != "no"
    assert "of the rows are fraud" in found.verdict[2].sentence
    calibration, share = found.uncertainty.calibration, np.mean(y[:2400] == "fraud")
    assert (calibration.of_class, calibration.share) == ("fraud", share)
    expected = run.audited.predictions.probabilities[:, 1 if run.table.target.classes[1] == "fraud" else 0].mean()
    assert calibration.gap.value == pytest.approx(expected - share)
    page = found.to_html()
    assert "<b>Ranking error</b>" in page
    assert ">AUC</th>" not in page.split('id="uncertainty"')[0]  # the same number the other way round


def test_probabilities_and_labels_of_a_user_are_ranked():
    X, y = rare_class()
    chance = LogisticRegression().fit(X[["size"]], y).predict_proba(X[["size"]])[:, 1]
    truth = y == "fraud"
    by_chance = audit(X, y, predictions=chance, time_limit=0.01).accuracy.models[-1]
    assert by_chance.loss.value == pytest.approx(1 - roc_auc_score(truth, chance))
    assert by_chance.auc.value == pytest.approx(1 - by_chance.loss.value)
    labels = np.where(X["size"] > 1.5, "fraud", "fine")
    by_label = audit(X, y, predictions=labels, time_limit=0.01).accuracy.models[-1]
    assert by_label.loss.value == pytest.approx(1 - balanced_accuracy_score(truth, labels == "fraud"))
    assert by_label.auc is None  # labels have no curve
    by_rule = next(model for model in audit(X, y, model=Guard(), time_limit=0.01).accuracy.models if model.yours)
    assert by_rule.loss == by_label.loss


def test_labels_are_compared_as_labels(two_candidates):
    told = two_candidates(*rare_class(), model=Guard())
    own, rival = (next(model for model in told.models if model.name == name) for name in ("your model", "linear"))
    assert told.rival == "linear"
    assert told.behind.value == pytest.approx(own.error_rate.value / rival.error_rate.value - 1)


def test_whole_groups_are_drawn_for_rankings_too(two_candidates):
    X, y = rare_class()
    shop = np.repeat(np.arange(60), 60)
    X = X.assign(size=X["size"] + 3 * np.random.default_rng(1).normal(size=60)[shop])  # shops differ in size
    by_row, by_shop = two_candidates(X, y), two_candidates(X, y, groups=shop.astype(str))
    linear = by_shop.models[1]
    assert by_shop.measure == RANKING_ERROR
    assert linear.loss.low < linear.loss.value < linear.loss.high
    assert linear.loss.value != by_row.models[1].loss.value  # other rows are held out
    assert by_shop.curve.last_doubling.low < by_shop.curve.last_doubling.high


def test_a_model_that_knows_nothing_is_said_to():
    X, y = rare_class()
    found = audit(X, y, model=DummyClassifier(), time_limit=0.01)
    own = next(model for model in found.accuracy.models if model.yours)
    assert own.loss.value == pytest.approx(0.5, abs=0.05)
    assert found.verdict[0].answer == "no"


@pytest.mark.parametrize(("share", "n_rows", "measure"), [(0.05, 2000, RANKING_ERROR), (0.05, 150, ERROR_RATE),
                                                          (0.2, 2000, ERROR_RATE)])  # fmt: skip
def test_rows_must_be_enough_and_the_class_rare(share, n_rows, measure):
    y = np.arange(n_rows) % round(1 / share) == 0
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    table = AuditTable.read(X, y)
    assert main_measure(table.target, np.arange(n_rows)) == measure


def test_the_table_is_hard_enough_to_tell_models_apart():
    X, y = rare_class()
    assert 0.02 < np.mean(y == "fraud") < 0.06
    assert 0.1 < average_precision_score(y == "fraud", X["size"]) < 0.6
