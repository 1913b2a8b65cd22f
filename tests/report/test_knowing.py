"""Question 2: what uncertainty claims to find, and whether the probabilities of a user's own model are kept."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reference.audit_tables import two_classes
from scipy.stats import norm
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from surefoot import BoostingEnsembleClassifier, DataError
from surefoot.metrics import prediction_rejection_ratio
from surefoot.report.answers import Calibration, Estimate
from surefoot.report.calibration import calibration_of_probabilities
from surefoot.report.knowing import OwnPredictions, knowing
from surefoot.report.rejecting import claimed_ratio
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import probabilities_of, scores_of
from surefoot.report.table import AuditTable
from surefoot.report.target import Target
from surefoot.report.verdict_of_knowing import knowing_line


class Sayer:
    """Predicts what it is told to."""

    def __init__(self, classes, probabilities):
        self.classes_, self.probabilities = classes, np.asarray(probabilities)

    def predict_proba(self, X):
        return self.probabilities


@pytest.fixture(scope="module")
def case():
    """A table, its parts, and a small ensemble that knows something of it."""
    X, y = two_classes()
    table = AuditTable.read(X, y)
    parts = RowParts.draw(table.target, None, None, 0)
    ensemble = BoostingEnsembleClassifier(n_members=3, n_estimators=20, random_state=0)
    return table, parts, ensemble.fit(table.frame.iloc[parts.train], table.target.labels[parts.train])


def test_the_claim_is_the_ratio_of_targets_drawn_from_the_predictions():
    """Of normal targets with known spreads, the expected ratio is that of many drawn tables."""
    generator = np.random.default_rng(0)
    spread = np.exp(generator.normal(size=400))
    draws = [np.square(norm.rvs(scale=spread, random_state=seed)) for seed in range(60)]
    expected = [prediction_rejection_ratio(np.zeros(400), np.sqrt(draw), spread**2) for draw in draws]
    found = claimed_ratio(draws, spread**2, is_classes=False)
    assert found.value == pytest.approx(np.mean(expected))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(expected, [0.025, 0.975])))
    even = claimed_ratio(draws, np.ones(400), is_classes=False)
    assert even.value == pytest.approx(0.0, abs=1e-9)  # whoever takes all rows for alike claims nothing


def test_claims_without_a_ratio():
    assert claimed_ratio([np.zeros(5)] * 3, np.arange(5.0), is_classes=True) is None


def test_an_ensemble_claims_about_what_it_finds(case):
    table, parts, ensemble = case
    found = knowing(table, parts, ensemble, None, None, 0).by_total
    assert 0.2 < found.claimed.value < 0.9
    assert found.claimed.low < found.claimed.value < found.claimed.high
    assert found.ratio.low < found.claimed.high
    assert found.claimed.low < found.ratio.high


def told(case, **changes):
    table, parts, ensemble = case
    found = knowing(table, parts, ensemble, None, None, 0)
    calibration = Calibration(Estimate(0.0, -0.01, 0.01), (), (), (), (), (), (), "", "")
    by_total = replace(found.by_total, **changes)
    return knowing_line(replace(found, by_total=by_total, calibration=calibration))


def test_one_who_claims_nothing_and_finds_nothing_knows_it(case):
    nothing = Estimate(0.01, -0.1, 0.1)
    line = told(case, ratio=nothing, claimed=Estimate(0.02, -0.1, 0.2))
    assert line.answer == "yes"
    assert "hardly claims to: were it right about every row, that would be 0.02." in line.sentence
    line = told(case, ratio=Estimate(-0.3, -0.4, -0.2), claimed=Estimate(0.02, -0.1, 0.2))
    assert line.answer == "partly"
    assert "is lowest where its errors are" in line.sentence
    line = told(case, ratio=nothing, claimed=Estimate(0.5, 0.4, 0.6))
    assert line.answer == "partly"
    assert "does not clearly find its errors" in line.sentence
    assert "claims" not in line.sentence


def test_probabilities_of_ones_own_are_judged(case):
    table, parts, ensemble = case
    truth = table.target.y[parts.test]
    sure = np.where(truth == 1, 0.99, 0.97)  # always sure of the second class
    own = OwnPredictions("your model", np.full(len(truth), "well"), np.column_stack([1 - sure, sure]))
    found = knowing(table, parts, ensemble, own, None, 0)
    assert found.model == "your model"
    assert found.own_calibration.gap.value == pytest.approx(np.mean(sure) - np.mean(truth == 1))
    line = knowing_line(found)
    assert line.answer != "yes"
    assert f"The probabilities of your model expect {np.mean(sure):.1%} of the rows to be well" in line.sentence
    assert found.calibration != found.own_calibration
    without = knowing(table, parts, ensemble, replace(own, probabilities=None), None, 0)
    assert without.own_calibration is None
    assert "The ensemble's probabilities expect" in knowing_line(without).sentence
    assert "Its probabilities expect" in knowing_line(knowing(table, parts, ensemble, None, None, 0)).sentence


def test_probabilities_that_are_too_extreme_are_said_to_be(case):
    slope = Estimate(0.5, 0.4, 0.6)
    gap = Estimate(0.0, -0.01, 0.01)
    table, parts, ensemble = case
    found = knowing(table, parts, ensemble, None, None, 0)
    bent = replace(found, calibration=replace(found.calibration, gap=gap, slope=slope, change=0.08))
    line = knowing_line(bent)
    assert line.answer == "partly"
    assert "Probabilities are too extreme (calibration slope 0.50, 0.40 to 0.60; 1 is right)" in line.sentence
    assert line.sentence.endswith("they would move by 8.0 points on average.")
    little = replace(bent, calibration=replace(bent.calibration, change=0.02))
    assert knowing_line(little).answer == "yes"
    timid = replace(found, calibration=replace(found.calibration, gap=gap, slope=Estimate(2.0, 1.5, 2.5), change=0.06))
    assert "too timid" in knowing_line(timid).sentence
    fine = replace(found, calibration=replace(found.calibration, gap=gap, slope=Estimate(0.9, 0.8, 1.0), change=0.06))
    assert "Probabilities are" not in knowing_line(fine).sentence


@pytest.mark.parametrize(
    ("labels", "classes", "expected"),
    [
        (["b", "a", "b"], ["a", "b"], [[0.2, 0.8]]),
        (["b", "a", "b"], ["b", "a"], [[0.8, 0.2]]),  # a classifier with an order of its own
        ([1.0, 0.0, 1.0], [0.0, 1.0], [[0.2, 0.8]]),
        ([True, False, True], [False, True], [[0.2, 0.8]]),
        (["b", "a", "b"], ["a", "c"], None),
    ],
)
def test_probabilities_are_put_in_the_order_of_the_classes(labels, classes, expected):
    target, _ = Target.read(np.array(labels, dtype=object), 3)
    found = probabilities_of(Sayer(classes, [[0.2, 0.8]]), None, target)
    assert found is None if expected is None else found.tolist() == expected


def test_models_without_probabilities_have_none():
    target, _ = Target.read(np.array([1.5, 2.5, 3.0]), 3)
    assert probabilities_of(DummyClassifier(), None, target) is None
    target, _ = Target.read(np.array(["a", "b", "a"]), 3)
    assert probabilities_of(object(), None, target) is None


def test_a_low_claim_excuses_nobody_elses_errors(case):
    table, parts, ensemble = case
    own = OwnPredictions("your model", np.full(len(parts.test), "well"), None)
    found = knowing(table, parts, ensemble, own, None, 0)
    by_total = replace(found.by_total, ratio=Estimate(0.0, -0.1, 0.1), claimed=Estimate(0.0, -0.1, 0.1))
    assert "claims" not in knowing_line(replace(found, by_total=by_total)).sentence


def target_of(labels):
    return Target.read(np.array(labels, dtype=object), len(labels))[0]


def test_a_bias_towards_one_of_two_classes_is_seen():
    """Too sure of one class and not sure enough of the other, which the mean confidence does not show."""
    generator = np.random.default_rng(0)
    chance = generator.uniform(0.05, 0.95, 2000)
    target = target_of((generator.random(2000) < chance).astype(int))
    odds = chance / (1 - chance) * np.exp(0.8)
    biased = np.column_stack([1 / (1 + odds), odds / (1 + odds)])
    rows = np.arange(2000)
    found = calibration_of_probabilities(biased, biased.argmax(axis=1), target, rows, None)
    assert found.of_class == "1"
    assert found.gap.low > 0.08
    right = calibration_of_probabilities(np.column_stack([1 - chance, chance]), np.zeros(2000), target, rows, None)
    assert right.gap.low < 0 < right.gap.high
    assert right.slope.low < 1 < right.slope.high


def test_of_several_classes_the_predicted_ones_are_judged():
    target = target_of(list("abcabcabca") * 30)
    probabilities = np.tile([0.2, 0.5, 0.3], (300, 1))
    predicted = np.full(300, "c")  # not the likeliest: a model may have its reasons
    found = calibration_of_probabilities(probabilities, predicted, target, np.arange(300), None)
    assert (found.of_class, found.share) == (None, None)
    assert found.gap.value == pytest.approx(0.3 - np.mean(target.labels == "c"))


def test_where_a_class_is_hardly_there_its_number_is_chance():
    target = target_of([0] * 297 + [1] * 3)
    promised, rows = np.full(100, 0.02), np.arange(100)  # none of the rare ones is among these
    found = calibration_of_probabilities(np.column_stack([1 - promised, promised]), promised * 0, target, rows, None)
    assert found.gap.low < 0 < found.gap.high  # that none came is no sign against 2%
    assert found.slope is None
    assert found.room == pytest.approx(0.05 * 4 * 0.01 * 0.99)


def test_probabilities_that_are_no_numbers_are_refused():
    target = target_of(["a", "b", "a"])
    with pytest.raises(DataError, match="predict_proba of the model gives values that are no numbers"):
        probabilities_of(Sayer(["a", "b"], [[0.5, np.nan]]), None, target)


def test_scores_are_those_of_the_second_class():
    target = target_of(["a", "b", "a"])
    assert scores_of(Sayer(["b", "a"], [[0.8, 0.2]]), None, target).tolist() == [0.8]


def test_labels_between_0_and_1_are_labels():
    target = target_of([0.5, 1.5, 0.5])
    assert target.read_scores(np.array([0.5, 1.5, 1.5], dtype=object)) is None
    assert target_of([0, 1, 1]).read_scores(np.array([0.2, 0.8, 1.0])).tolist() == [0.2, 0.8, 1.0]


def test_the_page_draws_both(case):
    from surefoot import audit

    X, y = two_classes()
    model = LogisticRegression()
    found = audit(X.select_dtypes("number").fillna(0.0), pd.Series(y, name="state"), model=model)
    page = found.to_html()
    assert 'id="chart-own-calibration' in page
    assert "Do the probabilities of your model mean what they say?" in page
    assert "This is the calibration of your model." in page
    assert "so much it claims to find" in page
    assert page.count("calibration slope is") == 2
