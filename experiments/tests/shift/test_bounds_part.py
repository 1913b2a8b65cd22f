"""The part on bounds, against V by its definition and against the formulas of the theorems."""

import numpy as np
import pytest

from surefoot_experiments.shift.bounds import CASES, CONTINUOUS, EIGHT, NOISE, ONE_SIGN, TIES, BoundCase, measure
from surefoot_experiments.shift.bounds_report import describe_bounds


def rho_by_loops(X, residuals, target):
    """1/N^2 sum of l_i l_j times the fraction of rows of ``target`` at or above both."""
    dominated = np.array([(target >= x).all(axis=1) for x in X])
    return sum(float(residuals[dominated[:, q]].sum()) ** 2 for q in range(len(target))) / len(target) / len(X) ** 2


@pytest.mark.parametrize("name", CASES)
def test_the_true_value_is_the_limit_of_many_rows(name):
    case = BoundCase.make(name)
    (noise, one_sign) = measure(case, 40, 3, None)
    many = np.concatenate([case.draw_target(2000, draw) for draw in (5, 6)])
    for line in (noise, one_sign):
        rho = rho_by_loops(case.X, case.residuals[line.residuals], many)
        assert rho == pytest.approx(line.rho, rel=0.15)  # M = 4,000: a few percent off


@pytest.mark.parametrize("name", [TIES, EIGHT])
def test_errors_are_those_of_the_definition(name):
    case = BoundCase.make(name)
    lines = measure(case, 15, 4, None)
    for line in lines:
        residuals = case.residuals[line.residuals]
        errors = [abs(rho_by_loops(case.X, residuals, case.draw_target(15, draw)) - line.rho) for draw in range(4)]
        assert line.mean_error == pytest.approx(np.mean(errors))
        assert line.largest_error == pytest.approx(max(errors))
        assert line.draws == 4


def test_bounds_are_those_of_the_theorems():
    noise, one_sign = measure(BoundCase.make(CONTINUOUS), 100, 2, None)
    assert (noise.residuals, one_sign.residuals) == (NOISE, ONE_SIGN)
    assert one_sign.printed_3_2 == pytest.approx(np.sqrt(np.log(100) / 100), rel=1e-6)
    assert one_sign.bound_3_2 == pytest.approx(np.sqrt(np.log(2 / 0.05) / 200))
    assert one_sign.bound_3_3 == pytest.approx(np.sqrt(np.log(200 * 201 / 0.05) / 200))
    several, _ = measure(BoundCase.make(EIGHT), 100, 2, None)
    assert np.isnan(several.bound_3_2)
    assert np.isnan(several.above_3_2)
    assert np.isfinite(several.bound_3_3)


def test_the_section_on_bounds(tmp_path):
    cases = [BoundCase.make(name) for name in CASES]
    lines = [line for case in cases for n_target in (10, 40, 160) for line in measure(case, n_target, 40, 1)]
    section = describe_bounds(tmp_path, lines)
    assert section is not None
    assert [finding.holds for finding in section.findings[:3]] == [True, True, True]
    assert (tmp_path / "bounds.png").read_bytes().startswith(b"\x89PNG")
    assert f"| {TIES} | one sign | 160 | 40 |" in section.text
    assert describe_bounds(tmp_path, []) is None


def test_a_broken_bound_would_be_reported(tmp_path):
    from dataclasses import replace

    lines = [replace(line, above_3_3=0.06) for line in measure(BoundCase.make(CONTINUOUS), 10, 2, None)]
    section = describe_bounds(tmp_path, lines)
    assert section is not None
    assert [finding.holds for finding in section.findings] == [True, False, True, None]
