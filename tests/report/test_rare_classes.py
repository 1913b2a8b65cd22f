"""A class that few rows have: models are compared by how they rank rows, and its own probabilities are judged."""

import numpy as np
import pytest
from reference.audit_tables import rare_class
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score

import surefoot
from surefoot import audit
from surefoot.report.contestants import contestants
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import ERROR_RATE, RANKING_ERROR, main_measure
from surefoot.report.table import AuditTable


class Guard(ClassifierMixin, BaseEstimator):
    """A rule that gives labels and no scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X["size"].to_numpy() > 1.5).astype(int)]


@pytest.fixture(scope="module")
def found():
    X, y = rare_class()
    return audit(X[:2400], y[:2400], X_new=X[2400:], y_new=y[2400:])


def parts_of(n_rows=2400):
    X, y = rare_class()
    table = AuditTable.read(X[:n_rows], y[:n_rows])
    return table, RowParts.draw(table.target, None, None, 0)


def test_models_are_compared_by_the_area_under_the_curve(found):
    table, parts = parts_of()
    held_out, truth = table.frame.iloc[parts.test], table.target.labels[parts.test]
    by_name = {model.name: model for model in found.accuracy.models}
    assert found.accuracy.measure == RANKING_ERROR
    for contestant in contestants(table, 0, None):
        model = contestant.fitted(table, parts.train)
        auc = roc_auc_score(truth == "fraud", model.predict_proba(held_out)[:, 1])
        line = by_name[contestant.name]
        assert line.loss.value == pytest.approx(1 - auc)
        assert line.gain.value == pytest.approx(auc - 0.5)
        assert line.error_rate.value == np.mean(model.predict(held_out) != truth)
    assert by_name["constant"].loss.value == 0.5
    assert found.accuracy.chosen == min(found.accuracy.models, key=lambda model: model.cv_loss).name != "constant"


def test_cross_validation_ranks_within_folds(found):
    table, parts = parts_of()
    linear = next(each for each in contestants(table, 0, None) if each.name == "linear")
    aucs = []
    for fit, judge in parts.folds(table.target, 0):
        scores = linear.fitted(table, fit).predict_proba(table.frame.iloc[judge])[:, 1]
        aucs.append(roc_auc_score(table.target.y[judge], scores))
    line = next(model for model in found.accuracy.models if model.name == "linear")
    assert line.cv_loss == pytest.approx(1 - np.mean(aucs))


def test_the_verdict_says_what_the_number_means(found):
    head, _, knowing, _, shift = found.verdict
    assert head.answer == "yes"
    assert "of the pairs of a row that is fraud and one that is not" in head.sentence
    chosen = next(model for model in found.accuracy.models if model.chosen)
    assert f"its labels are wrong on {chosen.error_rate.value:.1%} of all, those of the constant" in head.sentence
    assert f"; {found.accuracy.n_rare} held-out rows are fraud" in head.sentence
    assert "of the rows to be fraud" in knowing.sentence
    assert shift.sentence.startswith("Ranking error")


def test_where_it_will_be_used_rows_are_ranked_too(found):
    X, y = rare_class()
    table, parts = parts_of()
    best = next(each for each in contestants(table, 0, None) if each.name == found.accuracy.chosen)
    scores = best.fitted(table, parts.train).predict_proba(table.like(X[2400:], "X_new"))[:, 1]
    assert found.shift.measure == RANKING_ERROR
    assert found.shift.loss_there.value == pytest.approx(1 - roc_auc_score(y[2400:] == "fraud", scores))
    assert found.shift.loss_here == next(model.loss for model in found.accuracy.models if model.chosen)


def test_the_probabilities_of_the_rare_class_are_judged(found):
    table, parts = parts_of()
    ensemble = surefoot.BoostingEnsembleClassifier(method="sgb", random_state=0)
    ensemble.fit(table.frame.iloc[parts.train], table.target.labels[parts.train])
    expected = ensemble.predict_proba(table.frame.iloc[parts.test])[:, 1].mean()
    calibration = found.uncertainty.calibration
    share = np.mean(table.target.labels[parts.test] == "fraud")
    assert (calibration.of_class, calibration.share) == ("fraud", share)
    assert calibration.gap.value == pytest.approx(expected - share)
    assert max(calibration.expected) < 0.9  # no point is of the frequent class


def test_the_page_explains_it(found):
    page = found.to_html()
    assert "<b>Ranking error</b>" in page
    assert ">AUC</th>" not in page  # the same number the other way round
    assert "would be fraud" in page


def test_probabilities_and_labels_of_a_user_are_ranked():
    X, y = rare_class()
    chance = LogisticRegression().fit(X[["size"]], y).predict_proba(X[["size"]])[:, 1]
    table, parts = parts_of(len(X))
    truth = table.target.labels[parts.test] == "fraud"
    by_chance = audit(X, y, predictions=chance, time_limit=0.01).accuracy.models[-1]
    assert by_chance.loss.value == pytest.approx(1 - roc_auc_score(truth, chance[parts.test]))
    assert by_chance.auc.value == pytest.approx(1 - by_chance.loss.value)
    labels = np.where(X["size"] > 1.5, "fraud", "fine")
    by_label = audit(X, y, predictions=labels, time_limit=0.01).accuracy.models[-1]
    assert by_label.loss.value == pytest.approx(1 - balanced_accuracy_score(truth, labels[parts.test] == "fraud"))
    assert by_label.auc is None  # labels have no curve
    by_rule = next(model for model in audit(X, y, model=Guard(), time_limit=0.01).accuracy.models if model.yours)
    assert by_rule.loss == by_label.loss


def test_labels_are_compared_as_labels(few_contestants):
    told = few_contestants(*rare_class(), model=Guard())
    own = next(model for model in told.models if model.yours)
    chosen = next(model for model in told.models if model.chosen)
    assert (chosen.name, told.behind_measure) == ("linear", ERROR_RATE)
    assert told.behind.value == pytest.approx(own.error_rate.value - chosen.error_rate.value)


def test_whole_groups_are_drawn_for_rankings_too(few_contestants):
    X, y = rare_class()
    shop = np.repeat(np.arange(60), 60)
    X = X.assign(size=X["size"] + 3 * np.random.default_rng(1).normal(size=60)[shop])  # shops differ in size
    by_row, by_shop = few_contestants(X, y), few_contestants(X, y, groups=shop.astype(str))
    linear = by_shop.models[1]
    assert by_shop.measure == RANKING_ERROR
    assert linear.loss.low < linear.loss.value < linear.loss.high
    assert linear.gain.low == pytest.approx(0.5 - linear.loss.high)
    assert linear.loss.value != by_row.models[1].loss.value  # other rows are held out
    assert by_shop.curve.last_doubling.low < by_shop.curve.last_doubling.high


def test_labels_that_go_wrong_elsewhere_are_named():
    X, y = rare_class()
    later = np.arange(2400, 3600)
    rows = np.concatenate([later, np.repeat(later[y[later] == "fraud"], 6)])  # seven times as many
    told = audit(X[:2400], y[:2400], X_new=X.iloc[rows], y_new=y[rows])
    assert told.answer("shift") == "partly"
    assert "labels are wrong on" in told.verdict[4].sentence


def test_a_model_that_knows_nothing_is_said_to():
    X, y = rare_class()
    found = audit(X, y, model=DummyClassifier(), time_limit=0.01)
    own = next(model for model in found.accuracy.models if model.yours)
    assert own.loss.value == 0.5
    assert found.verdict[0].answer == "no"


@pytest.mark.parametrize(("share", "n_rows", "measure"), [(0.05, 2000, RANKING_ERROR), (0.05, 300, ERROR_RATE),
                                                          (0.2, 2000, ERROR_RATE)])  # fmt: skip
def test_rows_must_be_enough_and_the_class_rare(share, n_rows, measure):
    y = np.arange(n_rows) % round(1 / share) == 0
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    table = AuditTable.read(X, y)
    assert main_measure(table.target, RowParts.draw(table.target, None, None, 0)) == measure


def test_the_table_is_hard_enough_to_tell_models_apart():
    X, y = rare_class()
    assert 0.02 < np.mean(y == "fraud") < 0.06
    assert 0.1 < average_precision_score(y == "fraud", X["size"]) < 0.6
