"""Question 2: calibration of probabilities and intervals, the rejection ratio, and the verdict."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from example_audit import around, classification, regression
from reference.audit_tables import numbers, two_classes
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import BayesianRidge, LinearRegression, RidgeClassifier

from surefoot import DataError
from surefoot.metrics import prediction_rejection_ratio
from surefoot.report.inputs.target import Target
from surefoot.report.models.predictions import ModelPredictions, probabilities_of
from surefoot.report.sections.uncertainty.measure import claimed_ratio, residual_intervals, simulated_losses
from surefoot.report.sections.uncertainty.verdict import uncertainty_line
from surefoot.report.statistics import Estimate


class FixedProbabilities:
    """Predicts the given probabilities."""

    def __init__(self, classes, probabilities):
        self.classes_, self.probabilities = classes, np.asarray(probabilities)

    def predict_proba(self, X):
        return self.probabilities


def test_the_claim_is_the_ratio_of_targets_drawn_from_the_predictions():
    """For normal targets with known standard deviations, compared with many simulated tables."""
    generator = np.random.default_rng(0)
    spread = np.exp(generator.normal(size=400))
    draws = [np.square(norm.rvs(scale=spread, random_state=seed)) for seed in range(60)]
    expected = [prediction_rejection_ratio(np.zeros(400), np.sqrt(draw), spread**2) for draw in draws]
    result = claimed_ratio(draws, spread**2, is_classes=False)
    assert result.value == pytest.approx(np.mean(expected))
    assert (result.low, result.high) == pytest.approx(tuple(np.quantile(expected, [0.025, 0.975])))
    even = claimed_ratio(draws, np.ones(400), is_classes=False)
    assert even.value == pytest.approx(0.0, abs=1e-9)  # equal uncertainties claim nothing


def test_claims_without_a_ratio():
    assert claimed_ratio([np.zeros(5)] * 3, np.arange(5.0), is_classes=True) is None


def line_of(**changes):
    """The line of an example with calibrated probabilities, with some changes."""
    result = classification().uncertainty
    right = replace(result.calibration, gap=around(0.0, 0.02), slope=around(1.0, 0.1), change=0.0)
    by_total = replace(result.by_total, ratio=around(0.4, 0.1))
    return uncertainty_line(replace(result, **{"calibration": right, "by_total": by_total, **changes}))


def ratio_of(ratio, claimed):
    return replace(classification().uncertainty.by_total, ratio=ratio, claimed=claimed)


def test_yes_needs_both_intervals_inside_their_limits():
    assert line_of().answer == "yes"
    calibration = classification().uncertainty.calibration
    wide = replace(calibration, gap=Estimate(0.0, -0.28, 0.28), slope=around(1.0, 0.1), change=0.0)
    assert line_of(calibration=wide).answer == "unknown"
    bent = replace(calibration, gap=around(0.0, 0.01), slope=around(0.5, 0.1), change=0.08)
    assert line_of(calibration=bent).answer == "partly"
    assert "too extreme (calibration slope 0.50 (0.40 to 0.60); 1 is ideal)" in line_of(calibration=bent).sentence
    biased = replace(calibration, gap=around(0.2, 0.05), slope=around(1.0, 0.1), change=0.0)
    worse = ratio_of(around(-0.3, 0.1), None)
    assert line_of(calibration=biased, by_total=worse).answer == "no"


def test_an_unknown_answer_reports_how_many_rows_would_decide():
    calibration = replace(
        classification().uncertainty.calibration, gap=around(0.0, 0.02), slope=around(1.0, 0.4), change=0.01
    )
    sentence = line_of(calibration=calibration).sentence
    assert "About 4,000 rows in all would decide it." in sentence  # (0.4 / 0.2)^2 times 1,000


def test_a_model_that_claims_and_finds_hardly_any_errors_is_right():
    nothing = around(0.01, 0.1)
    little = replace(classification().uncertainty.by_knowledge, ratio=around(0.1, 0.05))
    line = line_of(by_total=ratio_of(nothing, Estimate(0.02, -0.1, 0.15)), by_knowledge=little)
    assert line.answer == "yes"
    assert "claims to find hardly any errors, and finds hardly any" in line.sentence
    more = replace(little, ratio=around(0.4, 0.1))  # an ensemble finds errors that the model does not claim to find
    line = line_of(by_total=ratio_of(nothing, Estimate(0.02, -0.1, 0.15)), by_knowledge=more)
    assert line.answer == "partly"
    for unclear in (None, replace(little, ratio=around(0.2, 0.1)), replace(little, ratio=None)):
        line = line_of(by_total=ratio_of(nothing, Estimate(0.02, -0.1, 0.15)), by_knowledge=unclear)
        assert line.answer == "unknown"  # nothing shows that there are no errors to find
    line = line_of(by_total=ratio_of(nothing, Estimate(0.5, 0.4, 0.6)))
    assert line.answer == "partly"
    assert "finds fewer errors than it claims to" in line.sentence
    line = line_of(by_total=ratio_of(around(0.1, 0.3), Estimate(0.3, 0.2, 0.6)))
    assert line.answer == "unknown"


def line_of_intervals(below, above, reach=0.01):
    """The line of intervals with these fractions below and above the 90% intervals; the others are right."""
    result = regression().uncertainty
    coverage = []
    for each in result.calibration.coverage:
        tail = (1 - each.level) / 2
        low, high = (below, above) if each.level == 0.9 else (tail, tail)
        coverage.append(
            replace(each, observed=around(1 - low - high, reach), below=around(low, reach), above=around(high, reach))
        )
    calibration = replace(result.calibration, coverage=tuple(coverage))
    by_total = replace(result.by_total, ratio=around(0.4, 0.1))
    return uncertainty_line(replace(result, own=True, calibration=calibration, by_total=by_total))


def test_intervals_are_checked_at_every_level_and_in_both_tails():
    assert line_of_intervals(0.05, 0.05).answer == "yes"
    lopsided = line_of_intervals(0.10, 0.0)  # the coverage of 90% is right, but all misses are on one side
    assert lopsided.answer == "partly"
    assert "10% of the targets (9% to 11%) lie below its 90% intervals" in lopsided.sentence
    assert line_of_intervals(0.15, 0.15).answer == "partly"
    assert line_of_intervals(0.05, 0.05, reach=0.06).answer == "unknown"


class Spread(RegressorMixin, BaseEstimator):
    """The true line, with ``stretch`` times the true standard deviation."""

    def __init__(self, stretch=1.0):
        self.stretch = stretch

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X, return_std=False):
        mean = 3 * X["x"].to_numpy()
        return (mean, np.full(len(mean), self.stretch)) if return_std else mean


@pytest.mark.parametrize(("stretch", "answers"), [(1.0, {"yes"}), (0.5, {"no", "partly"})])
def test_the_intervals_of_an_own_model_are_checked(quick_audit, stretch, answers):
    _, result = quick_audit(*numbers(3000), model=Spread(stretch))
    assert result.uncertainty.own
    inside = next(each for each in result.uncertainty.calibration.coverage if each.level == 0.9)
    expected = norm.cdf(norm.ppf(0.95) * stretch) * 2 - 1
    assert inside.observed.low < expected < inside.observed.high
    assert result.answer("uncertainty") in answers


def test_a_model_without_intervals_has_those_of_its_errors(quick_audit):
    run, result = quick_audit(*numbers(400), model=LinearRegression())
    assert not result.uncertainty.own
    assert result.answer("uncertainty") in ("no", "partly")
    assert "predicts neither probabilities nor intervals" in result.verdict[2].sentence
    place = residual_intervals(run.audited).below
    assert 0.4 < np.mean(place) < 0.6
    _, bayes = quick_audit(*numbers(400), model=BayesianRidge())
    assert bayes.uncertainty.own


def test_labels_have_no_uncertainty(quick_audit):
    X, y = two_classes(200)
    _, result = quick_audit(X[["size", "noise"]], y, model=RidgeClassifier())
    assert result.uncertainty.calibration is None
    assert result.answer("uncertainty") in ("no", "partly")


def target_of(labels):
    return Target.read(np.array(labels), len(labels))[0]


def test_probabilities_are_in_the_order_of_the_classes():
    target = target_of(["a", "b", "c"] * 4)
    turned = FixedProbabilities(np.array(["c", "a", "b"]), [[0.5, 0.2, 0.3]])
    assert probabilities_of(turned, np.zeros((1, 1)), target).tolist() == [[0.2, 0.3, 0.5]]
    unseen = FixedProbabilities(np.array(["a", "c"]), [[0.4, 0.6]])
    assert probabilities_of(unseen, np.zeros((1, 1)), target).tolist() == [[0.4, 0.0, 0.6]]
    assert probabilities_of(FixedProbabilities(np.array(["a", "d"]), [[0.4, 0.6]]), np.zeros((1, 1)), target) is None
    with pytest.raises(DataError, match="predict_proba of the model"):
        probabilities_of(FixedProbabilities(np.array(["a", "b", "c"]), [[np.nan, 0.5, 0.5]]), np.zeros((1, 1)), target)


def test_a_constant_finds_nothing(quick_audit):
    X, y = two_classes(200)
    _, result = quick_audit(X[["size", "noise"]], y, model=DummyClassifier())
    assert result.answer("uncertainty") != "no"
    assert result.answer("accuracy") == "no"


def test_claims_use_the_predicted_tails():
    """With heavy tails, single rows dominate the squared error, and the same scales find less of it."""
    generator = np.random.default_rng(0)
    std = np.exp(generator.normal(0.0, 0.5, 2000))
    predictions = ModelPredictions(values=np.zeros(2000), std=std, total=std**2)
    target = SimpleNamespace(is_classes=False)
    claims = []
    for freedom in (None, np.full(2000, np.inf), np.full(2000, 3.5)):
        draws, total = simulated_losses(replace(predictions, freedom=freedom), target, std**2, 0)
        losses = list(draws)
        assert np.mean([np.mean(each / std**2) for each in losses]) == pytest.approx(1.0, abs=0.1)
        claims.append(claimed_ratio(losses, total, False).value)
    assert claims[0] == claims[1]
    assert claims[2] < claims[0] - 0.05
