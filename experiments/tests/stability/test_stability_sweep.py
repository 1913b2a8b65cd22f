"""Curves and findings from made-up lines."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INCLUSION, INFLATED, TOP_K, ComparedRule
from surefoot_experiments.stability.lines import RuleLine, WeightLine, weight_lines
from surefoot_experiments.stability.regression_report import judge_top_six, mean_weights
from surefoot_experiments.stability.sweep import Sweep, SweepResults, compared_rules
from surefoot_experiments.stability.sweep_findings import judge_rules, promise_remark, rule_table, undecided_remarks

PANEL = (ComparedRule(INCLUSION, 0.3), ComparedRule(TOP_K, 2), ComparedRule(INFLATED, 0.8))


def line(
    trial: int, rule: ComparedRule, instability: float, size: int = 1, utility: float = 1.0, bags: int = 100
) -> RuleLine:
    return RuleLine(trial, bags, rule.kind, rule.parameter, instability, size, float(size), utility, 0, 0.5)


def made_up(bags: int = 100, shift: float = 0.0) -> list[RuleLine]:
    """Ten trials in which all statements of the paper hold."""
    lines = []
    for trial in range(10):
        lines += [
            line(trial, ComparedRule(BASE), 0.5, bags=bags),
            line(trial, ComparedRule(ARGMAX), 0.4 + shift, bags=bags),
        ]
        lines += [line(trial, ComparedRule(INCLUSION, tau), 0.45 + shift, utility=0.2, bags=bags) for tau in (0.3, 0.6)]
        lines += [
            line(trial, ComparedRule(TOP_K, k), 0.2 + 0.1 * (trial // 5) + shift, k, 0.2 if k == 2 else 1 / k, bags)
            for k in (2, 3)
        ]
        lines += [line(trial, ComparedRule(INFLATED, 0.8), 0.1 + shift, 1, 0.22, bags)]
        lines += [line(trial, ComparedRule(INFLATED, 0.9), 0.1 + shift, 1, 0.5, bags)]
    return lines


def test_findings_that_hold() -> None:
    findings = judge_rules(SweepResults(made_up() + made_up(10, 0.05), 100), PANEL, 0.2, (10,))
    assert [finding.holds for finding in findings] == [True] * 7
    assert "true for top-2, top-3, of 2 values of k" in findings[4].detail
    assert findings[6].markdown.startswith(
        "**No rule is more stable with 10 bags than with more, on average over trials.** Holds:"
    )
    assert "argmax: 0.450 ± 0.000 (10), 0.400 ± 0.000 (100)" in findings[6].detail


def test_four_trials_are_inconclusive() -> None:
    lines = [one for one in made_up() + made_up(10, 0.05) if one.trial < 4]
    assert [finding.holds for finding in judge_rules(SweepResults(lines, 100), PANEL, 0.2, (10,))] == [None] * 7


@pytest.mark.parametrize(
    ("index", "change"),
    [
        (2, lambda one: replace(one, instability=0.3) if one.rule == BASE and one.trial % 2 else one),
        (3, lambda one: replace(one, instability=0.05) if one.rule == INCLUSION and one.trial % 5 == 0 else one),
        (4, lambda one: replace(one, utility=0.1) if one.rule == INFLATED and one.trial % 5 == 0 else one),
        (5, lambda one: replace(one, set_size=9) if one.rule == INFLATED and one.trial % 5 == 0 else one),
    ],
)
def test_trials_that_disagree_are_inconclusive(index: int, change: object) -> None:
    lines = [change(one) for one in made_up() + made_up(10, 0.05)]  # type: ignore[operator]
    assert judge_rules(SweepResults(lines, 100), PANEL, 0.2, (10,))[index].holds is None


@pytest.mark.parametrize(
    ("index", "change"),
    [
        (0, lambda one: replace(one, utility=0.9) if one.compared_rule == PANEL[0] else one),
        (1, lambda one: replace(one, instability=0.42) if one.compared_rule == PANEL[2] else one),
        (2, lambda one: replace(one, instability=0.3) if one.rule == BASE else one),
        (3, lambda one: replace(one, instability=0.05) if one.rule == INCLUSION else one),
        (4, lambda one: replace(one, utility=0.1) if one.rule == INFLATED else one),
        (5, lambda one: replace(one, set_size=9) if one.rule == INFLATED else one),
        (6, lambda one: replace(one, instability=0.0) if one.bags == 10 else one),
    ],
)
def test_each_finding_can_fail(index: int, change: object) -> None:
    lines = [change(one) for one in made_up() + made_up(10, 0.05)]  # type: ignore[operator]
    assert judge_rules(SweepResults(lines, 100), PANEL, 0.2, (10,))[index].holds is False


def test_curves() -> None:
    lines = made_up()
    curves = {curve.label: curve for curve in SweepResults(lines, 100).curves(PANEL)}
    top = curves["top-k"]
    assert top.worst.tolist() == [pytest.approx(0.3)] * 2
    assert sorted(top.instabilities) == [pytest.approx(0.2)] * 5 + [pytest.approx(0.3)] * 5
    assert top.accuracy.tolist() == pytest.approx([0.2, 1 / 3])
    assert top.set_size.tolist() == [2, 3]
    assert top.setting == "k = 2"
    assert curves["argmax, no bags"].worst.tolist() == [0.5]


def test_the_table_of_rules_has_the_guarantee() -> None:
    text = rule_table(SweepResults(made_up(), 100), PANEL, 0.2, n_samples=30, bag_size=25)
    rows = {row.split(" | ")[0]: row for row in text.splitlines()}
    assert (
        rows["| inflated argmax 0.8"] == "| inflated argmax 0.8 | 0.220 (0.2) | 0.100 | 0.100 | 0% | 1 | 1.00 | 0.27 |"
    )
    assert rows["| argmax"].endswith("| none |")
    delta = 25 / 5 / 29 / 0.8**2  # theorem 4.2 without the Monte-Carlo term
    assert f"δ = {delta:.2f}" in promise_remark(0.8, 30, 25)
    assert "that is no guarantee" in promise_remark(0.09, 21, 15)


def test_undecided_trials_are_counted() -> None:
    lines = made_up()
    assert undecided_remarks(SweepResults(lines, 100), PANEL) == []
    lines = [replace(one, undecided=1) if one.compared_rule == PANEL[2] and one.trial == 1 else one for one in lines]
    assert undecided_remarks(SweepResults(lines, 100), PANEL)[0].startswith("In 1 of 10 trials ε = 0.8 is so large")


def test_a_trial_is_done_if_all_its_lines_are_in_the_file(tmp_path: Path) -> None:
    results = GrowingCsv(tmp_path / "rules.csv", RuleLine)
    sweep = Sweep(results, PANEL, 100, (10, 500))  # 500 is not fewer than 100 bags
    lines = [line(0, one, 0.1) for one in compared_rules(PANEL)]
    few = [line(0, one, 0.1, bags=10) for one in (ComparedRule(ARGMAX), *PANEL)]
    results.append(lines + few[:-1])
    assert not sweep.is_done(0)
    results.append(few)
    assert sweep.is_done(0)
    assert not sweep.is_done(1)
    again = GrowingCsv(tmp_path / "rules.csv", RuleLine)
    assert again.lines == results.lines


def test_figure_8_is_the_mean_over_trials() -> None:
    lines = [
        *weight_lines({("x1", "x3"): 0.6, ("x2",): 0.4}, 0),
        *weight_lines({("x2",): 0.9, ("x1", "x3"): 0.1}, 1),
        *weight_lines({(): 1.0}, 2),
    ]
    means = mean_weights(lines)
    assert list(means) == [("x2",), (), ("x1", "x3")]
    assert list(means.values()) == pytest.approx([1.3 / 3, 1 / 3, 0.7 / 3])


def test_the_six_models_of_figure_8() -> None:
    six = [(f"x{i}", f"x{j}") for i in (1, 2) for j in (3, 4, 5)]
    names = [f"x{j}" for j in range(1, 8)]
    weights = np.linspace(0.2, 0.1, 6)
    models = dict(zip(six, weights, strict=True))
    same = [line for trial in range(10) for line in weight_lines(models | {("x7",): 0.05}, trial)]
    assert judge_top_six(same, names).holds
    assert judge_top_six(same[:7], names).holds is None  # one trial
    other = [line for trial in range(10) for line in weight_lines({("x7",): 0.3} | models, trial)]
    assert judge_top_six(other, names).holds is False
    assert (
        " x2 and x5 has rank 7, with 10.0% of the bags. The statement holds in 0 of 5 batches"
        in judge_top_six(other, names).detail
    )
    mixed = [line for line in same if line.trial % 5] + [line for line in other if line.trial % 5 == 0]
    assert judge_top_six(mixed, names).holds is None


def test_only_the_heaviest_weights_are_kept() -> None:
    weights = {("a",): 0.5, ("b", "c"): 0.3, (): 0.2}
    assert weight_lines(weights, 4, 7, top=2, separator="; ")[1] == WeightLine(4, 7, "b; c", 0.3)
    assert len(weight_lines(weights, 0, min_weight=0.25)) == 2
