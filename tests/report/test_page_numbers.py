"""Numbers and sentences of the page."""

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
from surefoot.report.sections.uncertainty.page import overconfidence, ratio_in_words
from surefoot.report.statistics.estimates import Estimate


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
def test_numbers_are_written_for_readers(written, wanted):
    assert written == wanted


def test_the_last_doubling_has_its_interval():
    step = Estimate(0.02, -0.01, 0.03)
    sentence = "With 50 training rows the loss is 2.0% above that with 100 (95% interval \u22121.0% to 3.0%)."
    assert last_doubling(LearningCurve("linear", (50, 100), (step, step), step)) == sentence


def test_duplicates_tell_of_noise():
    assert noise_floor(Duplicates(0, 0, 0, None), "RMSE").startswith("No two rows")
    assert "never differ" in noise_floor(Duplicates(4, 2, 0, 0.0), "error rate")
    assert "below 12.5% is out of reach" in noise_floor(Duplicates(8, 4, 2, 0.125), "error rate")
    assert "much below 3.20 cannot be expected" in noise_floor(Duplicates(8, 4, 2, 3.2), "RMSE")
    assert noise_floor(Duplicates(2, 1, 2, None), "RMSE").endswith("different targets.")


def gap_of(value, low, high, rare=None, share=None):
    return Calibration(Estimate(value, low, high), (), (), (), (), (), (), "", "", rare, share)


def test_confidence_is_judged_by_its_interval():
    assert "2.0 points (95% interval 1.0 to 3.0) more than came true: they are over" in overconfidence(
        gap_of(0.02, 0.01, 0.03)
    )
    assert overconfidence(gap_of(-0.02, -0.03, -0.01)).endswith("less than came true: they are underconfident.")
    assert overconfidence(gap_of(0.0, -0.01, 0.01)).endswith("no bias can be told from chance.")


def test_of_a_rare_class_rows_are_counted():
    said = overconfidence(gap_of(0.01, 0.004, 0.016, "fraud", 0.03))
    assert said.startswith("By the predicted probabilities 4.0% of the held-out rows would be fraud; 3.0% are.")
    assert said.endswith("they expect too many.")
    assert overconfidence(gap_of(-0.01, -0.02, -0.001, "fraud", 0.03)).endswith("they expect too few.")
    assert overconfidence(gap_of(0.0, -0.01, 0.01, "fraud", 0.03)).endswith("no bias can be told from chance.")


def test_other_sentences():
    assert ratio_in_words(None).startswith("undefined")
    assert ratio_in_words(Estimate(-0.1, -0.2, 0.012)) == "\u22120.10 (95% interval \u22120.20 to 0.01)"
