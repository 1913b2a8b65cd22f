"""Numbers and sentences of the page."""

from dataclasses import replace
from math import inf, nan

import pytest

from surefoot.report.page.numbers import (
    bar_length,
    between,
    duration,
    interval_of,
    number,
    p_value,
    percent,
    points,
    value_of,
    whole,
)
from surefoot.report.sections.accuracy.findings import Duplicates, LearningCurve
from surefoot.report.sections.accuracy.page import last_doubling, noise_floor
from surefoot.report.sections.uncertainty.findings import Calibration
from surefoot.report.sections.uncertainty.page import mean_in_words, ratio_in_words, slope_in_words
from surefoot.report.statistics import Estimate


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (percent(0.1234), "12.3%"),
        (percent(-0.004), "\u22120.4%"),
        (percent(-0.0001), "0.0%"),
        (percent(nan), "\u2013"),
        (points(0.01), "1.0 point"),
        (points(-0.01), "\u22121.0 point"),
        (points(0.045), "4.5 points"),
        (number(1234.5), "1,234"),
        (number(54.321), "54.3"),
        (number(0.04567), "0.0457"),
        (number(0.0), "0.00"),
        (number(1.5e9), "1.50e9"),
        (number(-2e-7), "\u22122.00e\u22127"),
        (number(inf), "\u2013"),
        (whole(12345), "12,345"),
        (p_value(0.0312), "0.031"),
        (p_value(1e-9), "< 0.0001"),
        (duration(0.42), "0.4 s"),
        (duration(59.6), "1 min 0 s"),
        (duration(125), "2 min 5 s"),
        (bar_length(1.7), "1.000"),
        (bar_length(nan), "0"),
        (between(Estimate(0.0, -inf, inf), percent), "no interval"),
        (between(Estimate(0.0, -inf, 0.2), percent), "at most 20.0%"),
        (between(Estimate(0.3, 0.2, inf), percent), "at least 20.0%"),
        (value_of(Estimate(0.25, 0.2, 0.3), "error rate"), "25.0%"),
        (value_of(Estimate(1.2345, 1.2341, 1.2349), "RMSE"), "1.23450"),
        (interval_of(Estimate(77.2, 71.04, 83.36), "RMSE"), "71.0 to 83.4"),
        (interval_of(Estimate(3e8, 2e8, 4e8), "RMSE"), "2.00e8 to 4.00e8"),
    ],
)
def test_number_formats(written, wanted):
    assert written == wanted


def test_the_last_doubling_has_its_interval():
    step = Estimate(0.02, -0.01, 0.03)
    sentence = "The loss with 50 training rows is 2.0% above the loss with 100 (95% interval \u22121.0% to 3.0%)."
    assert last_doubling(LearningCurve("linear", (50, 100), (step, step), step)) == sentence


def test_duplicates_show_noise():
    assert noise_floor(Duplicates(0, 0, 0, None), "RMSE").startswith("No two rows")
    assert "never differ" in noise_floor(Duplicates(4, 2, 0, 0.0), "error rate")
    assert "below 12.5% is impossible" in noise_floor(Duplicates(8, 4, 2, 0.125), "error rate")
    assert "much below 3.20 cannot be expected" in noise_floor(Duplicates(8, 4, 2, 3.2), "RMSE")
    assert noise_floor(Duplicates(2, 1, 2, None), "RMSE").endswith("different targets.")


def gap_of(value, low, high, rare=None, share=None):
    return Calibration(Estimate(value, low, high), (), (), (), (), (), (), "", "", rare, share)


def test_mean_probabilities_have_the_limit_of_the_verdict():
    high = mean_in_words(gap_of(0.08, 0.06, 0.1))
    assert "8.0 points (95% interval 6.0 to 10.0) above the accuracy: the probabilities are too high." in high
    assert mean_in_words(gap_of(-0.08, -0.1, -0.06)).endswith("below the accuracy: the probabilities are too low.")
    assert mean_in_words(gap_of(0.02, 0.01, 0.03)).endswith("above the accuracy, within the tolerance of 5.0 points.")
    assert mean_in_words(gap_of(0.04, 0.01, 0.07)).endswith("not shown to be within the tolerance of 5.0 points.")


def test_mean_probabilities_of_one_class_are_compared_with_its_fraction():
    sentence = mean_in_words(gap_of(0.08, 0.06, 0.1, "fraud", 0.03))
    assert sentence.startswith("The mean predicted probability of fraud is 11.0%; 3.0% of the held-out rows are fraud.")
    assert sentence.endswith("the probabilities are too high.")
    assert mean_in_words(gap_of(-0.08, -0.1, -0.06, "fraud", 0.3)).endswith("the probabilities are too low.")
    assert mean_in_words(gap_of(0.0, -0.01, 0.01, "fraud", 0.03)).endswith("within the tolerance of 5.0 points.")


@pytest.mark.parametrize(
    ("slope", "change", "ending"),
    [
        (Estimate(0.95, 0.85, 1.05), 0.01, "between the limits of 0.8 and 1.25."),
        (Estimate(0.9, 0.7, 1.1), 0.03, "not shown to be between the limits of 0.8 and 1.25."),
        (Estimate(0.5, 0.4, 0.6), 0.08, "the probabilities are too extreme."),
        (Estimate(2.0, 1.5, 2.5), 0.08, "the probabilities are too moderate."),
        (Estimate(-1.0, -1.5, -0.5), 0.08, "the probabilities are inverted."),
        (Estimate(0.5, 0.4, 0.6), 0.02, "not shown to be between the limits of 0.8 and 1.25."),  # hardly any change
    ],
)
def test_slopes_have_the_limits_of_the_verdict(slope, change, ending):
    sentence = slope_in_words(replace(gap_of(0.0, -0.01, 0.01), slope=slope, change=change))
    assert sentence.split(" Recalibration")[0].endswith(ending)


def test_other_sentences():
    assert ratio_in_words(None).startswith("undefined")
    assert ratio_in_words(Estimate(-0.1, -0.2, 0.012)) == "\u22120.10 (95% interval \u22120.20 to 0.01)"
