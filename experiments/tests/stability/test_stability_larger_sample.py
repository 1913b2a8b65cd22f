"""Draws of 300 rows and their section."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INFLATED, TOP_K
from surefoot_experiments.stability.correlated import PRODUCT, covariance, draw_table
from surefoot_experiments.stability.larger_sample import LargerSample, run_draw
from surefoot_experiments.stability.larger_sample_report import write_section
from surefoot_experiments.stability.lines import DrawLine, RuleLine, WeightLine


def test_covariates_have_the_stated_covariance() -> None:
    X, y = draw_table(20_000, 8, 0.5, seed=1)
    assert np.abs(np.cov(X.T) - covariance(8)).max() < 0.04
    assert (y - X[:, 0] - X[:, 2]).std() == pytest.approx(0.5, abs=0.02)
    again = draw_table(20_000, 8, 0.5, seed=1)
    assert (again[0] == X).all()
    assert (again[1] == y).all()
    assert not (draw_table(20_000, 8, 0.5, seed=2)[0] == X).any()


def test_a_draw() -> None:
    rules, summary, models = run_draw(0, 300, None)
    assert summary.epsilon == pytest.approx(np.sqrt(1 / 0.05 / 299 * (25 / 300) / (1 - 25 / 300)), rel=1e-9)
    assert [line.rule for line in rules] == [BASE, ARGMAX, TOP_K, TOP_K, INFLATED]
    by_rows = {row: [line for line in models if line.row == row] for row in {line.row for line in models}}
    assert set(by_rows) == ({-1} if summary.changed_row < 0 else {-1, summary.changed_row})
    assert all(len(lines) == 10 for lines in by_rows.values())
    if summary.changed_row >= 0:
        assert by_rows[-1][0].model != by_rows[summary.changed_row][0].model


def test_the_selector_without_bags_is_scikit_learns() -> None:
    rules, _, _ = run_draw(1, 20, None)
    X, y = draw_table(300, 200, 0.5, seed=1)

    def chosen(rows: np.ndarray) -> tuple[int, ...]:
        return tuple(np.flatnonzero(Lasso(alpha=0.5, tol=1e-8).fit(X[rows], y[rows]).coef_))

    every = np.arange(300)
    full = chosen(every)
    expected = np.mean([chosen(np.delete(every, row)) != full for row in every])
    assert rules[0].instability == pytest.approx(expected)


def line(trial: int, rule: str, parameter: float, instability: float, size: int) -> RuleLine:
    return RuleLine(trial, 50, rule, parameter, instability, size, float(size), 0.5, 0, 1.0)


def make_section(folder: Path, inflated: tuple[float, ...], selected: str = PRODUCT, row: int = 4) -> Section:
    draws = [DrawLine(trial, 50, 0.078, selected, row) for trial in range(len(inflated))]
    lines = []
    for trial, instability in enumerate(inflated):
        lines += [
            line(trial, BASE, 0, 0.2, 1),
            line(trial, ARGMAX, 0, 0.3 * (trial % 2), 1),
            line(trial, TOP_K, 2, 0, 2),
        ]
        lines += [line(trial, TOP_K, 6, 0, 6), line(trial, INFLATED, 0.078, instability, 6)]
    lines += [line(77, rule, parameter, 1.0, 9) for rule, parameter in ((BASE, 0), (INFLATED, 0.078))]  # not finished
    weights = [WeightLine(0, row, model, 0.1) for row in (-1, 4) for model in ("x1 x3", "x2 x3")]
    return write_section(folder, draws, lines, weights)


def test_the_guarantee_is_checked_on_every_draw(tmp_path: Path) -> None:
    kept, unstable, product = make_section(tmp_path, (0.0, 0.05) * 5).findings
    assert kept.holds
    assert "on 10 of 10 draws; the largest is 0.050" in kept.detail
    assert unstable.holds
    assert "on 5 of 10 draws" in unstable.detail
    assert product.holds
    assert (tmp_path / "figure-9.png").exists()
    kept, _, product = make_section(tmp_path, (0.0, 0.051) * 5, selected="x1 and x3").findings
    assert kept.holds is False
    assert "on 5 of 10 draws" in kept.detail
    assert product.holds is False
    assert [finding.holds for finding in make_section(tmp_path, (0.0, 0.05)).findings] == [None] * 3  # two draws


def test_the_text(tmp_path: Path) -> None:
    section = make_section(tmp_path, (0.0, 0.02))
    assert "| argmax | 0.15 (0 to 0.3), paper 0.14 | 1 (1 to 1) | 0.500 |" in section.text
    assert "| inflated argmax | 0.01 (0 to 0.02), paper 0 | 6 (6 to 6), paper 6 | 0.500 |" in section.text
    assert "| `(x1 or x2) and (x3 or x4 or x5)` | 2 |" in section.text
    assert section.seconds == 12.0
    assert "no figure 9" in make_section(tmp_path, (0.0, 0.02), row=-1).text


def test_there_is_no_section_without_results(tmp_path: Path) -> None:
    from surefoot_experiments.stability.settings import StabilitySettings

    assert LargerSample().report(tmp_path, tmp_path, StabilitySettings()) is None
