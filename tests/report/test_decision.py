"""What intervals decide, with results calculated by hand."""

from math import inf, nan

import pytest

from surefoot.report.statistics import (
    Estimate,
    cross_fitted,
    decide,
    is_one_sided,
    is_withheld,
    redrawn,
    rows_needed,
    withheld,
)


@pytest.mark.parametrize(
    ("estimate", "tolerance", "expected"),
    [
        (Estimate(1.0, 0.9, 1.1), (0.8, 1.2), "inside"),
        (Estimate(1.0, 0.8, 1.2), (0.8, 1.2), "inside"),  # limits belong to the tolerance
        (Estimate(1.0, 0.7, 1.1), (0.8, 1.2), "undecided"),
        (Estimate(1.5, 1.3, 1.7), (0.8, 1.2), "outside"),
        (Estimate(0.5, 0.4, 0.6), (0.8, 1.2), "outside"),
        (Estimate(1.2, 1.0, 1.4), (-inf, 1.25), "undecided"),
        (Estimate(1.0, 0.9, 1.2), (-inf, 1.25), "inside"),
        (Estimate(2.0, 1.5, inf), (-inf, 1.25), "outside"),  # an open end does not prevent a no
        (Estimate(1.0, 0.9, inf), (-inf, 1.25), "undecided"),
        (Estimate(1.0, 0.9, inf), (0.5, inf), "inside"),
        (withheld(1.0), (-inf, inf), "undecided"),
        (Estimate(nan, nan, nan), (0.0, 1.0), "undecided"),
    ],
)
def test_intervals_lie_inside_outside_or_neither(estimate, tolerance, expected):
    assert decide(estimate, tolerance) == expected


@pytest.mark.parametrize(
    ("estimate", "tolerance", "expected"),
    [
        (Estimate(1.0, 0.8, 1.2), (-inf, 1.1), 400),  # half the width: four times the rows
        (Estimate(1.0, 0.6, 1.2), (0.8, 1.1), 400),
        (Estimate(1.5, 1.0, 2.0), (-inf, 1.25), 400),  # decided as outside
        (Estimate(0.5, 0.1, 0.9), (0.7, inf), 400),
        (Estimate(1.0, 0.8, 1.3), (-inf, 1.1), 900),
        (Estimate(1.0, 0.8, 1.25), (-inf, 1.1), 630),  # 625, rounded up
        (Estimate(1.0, 0.9, 1.1), (0.8, 1.2), 100),  # decided
        (Estimate(1.1, 0.9, 1.3), (-inf, 1.1), None),  # on the limit
        (Estimate(1.09, 0.9, 1.3), (-inf, 1.1), None),
        (Estimate(1.0, 0.9, inf), (-inf, 1.1), None),
        (withheld(1.0), (-inf, 1.1), None),
        (Estimate(nan, nan, nan), (-inf, 1.1), None),
    ],
)
def test_needed_rows_grow_with_the_square_of_the_width(estimate, tolerance, expected):
    assert rows_needed(estimate, 100, tolerance) == expected


def test_withheld_and_open_intervals_are_different():
    assert is_withheld(withheld(0.3))
    assert withheld(0.3).value == 0.3
    assert not is_one_sided(withheld(0.3))
    assert is_one_sided(Estimate(1.0, 0.5, inf))
    assert not is_withheld(Estimate(1.0, 0.5, inf))


def test_cross_fitted_intervals_are_wider_by_the_root_of_1_plus_90_over_n_rows():
    result = cross_fitted(Estimate(0.5, 0.4, 0.7), 30)
    assert (result.low, result.value, result.high) == pytest.approx((0.3, 0.5, 0.9))
    assert cross_fitted(Estimate(0.1, 0.0, 0.7), 30, 0.0, 1.0) == Estimate(0.1, 0.0, 1.0)
    assert cross_fitted(Estimate(1.0, 0.5, inf), 60, 0.0, 9.0).high == inf
    assert is_withheld(cross_fitted(withheld(1.0), 60, 0.0, 1.0))


def test_a_difference_of_models_with_other_training_rows_has_a_wider_interval():
    result = redrawn(Estimate(0.02, 0.0, 0.05))
    assert (result.value - result.low) ** 2 == pytest.approx(1.9 * 0.02**2)
    assert (result.high - result.value) ** 2 == pytest.approx(1.9 * 0.03**2)
    assert is_withheld(redrawn(withheld(1.0)))
