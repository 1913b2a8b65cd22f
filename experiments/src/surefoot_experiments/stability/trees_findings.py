"""The paper's statements about trees of cells (F.1), and whether our draws agree."""

from collections.abc import Mapping, Sequence

import numpy as np

from surefoot_experiments.skeleton.judge import MIN_VALUES, Finding, all_of, is_above, spread
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INFLATED, TOP_K, ComparedRule
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep_findings import promise_remark
from surefoot_experiments.stability.trees_models import CHANCE, FIXED, TIES
from surefoot_experiments.stability.trees_results import TreeResults

BASE_RULE, ARGMAX_RULE, TOP_2 = ComparedRule(BASE), ComparedRule(ARGMAX), ComparedRule(TOP_K, 2)
SMALLER, LARGER = ComparedRule(INFLATED, 0.03), ComparedRule(INFLATED, 0.04)


def judge_trees(draws: TreeResults, ties: str) -> tuple[Finding, ...]:
    """The findings, on means over draws, for one way of deciding ties."""
    findings = (_effect_of_bags(draws), _compare_with_top_2(draws), _larger_epsilon(draws), _paper_in_range(draws))
    return tuple(Finding(f"{one.text} (Ties {TIES[ties]}.)", one.holds, one.detail) for one in findings)


def _describe(draws: TreeResults, rules: Sequence[ComparedRule]) -> str:
    return "; ".join(
        f"{rule.label}: instability {spread(draws.instabilities(rule))}, "
        f"{spread(draws.sizes(rule), '{:.2f}'.format)} trees"
        for rule in rules
    )


def _effect_of_bags(draws: TreeResults) -> Finding:
    without, bagged, top_2 = (draws.instabilities(rule) for rule in (BASE_RULE, ARGMAX_RULE, TOP_2))
    return Finding(
        text="Bags make argmax more stable, and top-2 is more stable still, on average over draws.",
        holds=all_of([is_above(without - bagged), is_above(bagged - top_2)]),
        detail=f"instability of argmax {spread(without)} without bags, {spread(bagged)} with them, of top-2 "
        f"{spread(top_2)}: mean and range over draws.",
    )


def _compare_with_top_2(draws: TreeResults) -> Finding:
    """The paper chose 0.03 to match top-2 on its draw; on our draws we use the smallest epsilon that matches."""
    limit = draws.instabilities(TOP_2).mean()
    matching = [rule for rule in draws.rules_of_kind(INFLATED) if draws.instabilities(rule).mean() <= limit]
    text = "The smallest ε that is as stable as top-2, on average over draws, returns fewer trees."
    if not matching:
        holds = False if len(draws.numbers) >= MIN_VALUES else None
        return Finding(text, holds, f"no tested ε is as stable as top-2 ({limit:.3f}).")
    ours = matching[0]
    return Finding(
        text=text,
        holds=is_above(draws.sizes(TOP_2) - draws.sizes(ours)),
        detail=f"{_describe(draws, [ours, TOP_2])}.",
    )


def _larger_epsilon(draws: TreeResults) -> Finding:
    more_stable = is_above(draws.instabilities(SMALLER) - draws.instabilities(LARGER))
    return Finding(
        text=f"ε = {LARGER.parameter:g} is more stable than ε = {SMALLER.parameter:g}, and returns more trees, on "
        "average over draws.",
        holds=all_of([more_stable, is_above(draws.sizes(LARGER) - draws.sizes(SMALLER))]),
        detail=f"{_describe(draws, [SMALLER, LARGER])}.",
    )


def _paper_in_range(draws: TreeResults) -> Finding:
    outside = []
    for rule, printed in paper.TABLE_4.items():
        instability = ("instability", printed.instability, draws.instabilities(rule))
        for name, value, ours in (instability, ("set size", printed.set_size, draws.sizes(rule))):
            if not ours.min() <= value <= ours.max():
                outside.append(f"{name} of {rule.label} ({value:g}; ours {ours.min():.3g} to {ours.max():.3g})")
    return Finding(
        text="The paper's numbers of its one draw are between our minimum and maximum.",
        holds=not outside if len(draws.numbers) >= MIN_VALUES else None,
        detail=f"outside: {', '.join(outside)}." if outside else "all of table 4.",
    )


def make_remarks(by_ties: Mapping[str, TreeResults], settings: StabilitySettings) -> tuple[str, ...]:
    """Remarks on guarantees, the draws, ties, and the number of bags."""
    numbers = "; ".join(_number_of_trees(ties, draws) for ties, draws in by_ties.items())
    return (
        f"The paper does not say which {paper.TREE_CELLS} cells it took: the range over our draws is more informative "
        "than any single draw.",
        *_tie_remark(by_ties),
        promise_remark(LARGER.parameter, paper.TREE_CELLS, paper.TREE_BAG_SIZE),
        *_undecided_remark(by_ties),
        *_left_out_bags_remark(settings),
        f"Number of different trees that the bags of a draw chose: {numbers}.",
    )


def _tie_remark(by_ties: Mapping[str, TreeResults]) -> list[str]:
    """Which way of deciding ties could have given the paper's instability without bags."""
    if set(by_ties) != set(TIES):
        return []
    printed = paper.TABLE_4[BASE_RULE].instability
    instabilities = {ties: draws.instabilities(BASE_RULE) for ties, draws in by_ties.items()}
    within = {ties: values.min() <= printed <= values.max() for ties, values in instabilities.items()}
    means = "; ".join(
        f"{TIES[ties]}, {values.mean():.2f} on average ({values.min():.2f} to {values.max():.2f})"
        for ties, values in instabilities.items()
    )
    is_fixed = within[FIXED] and not within[CHANCE]
    guess = " The paper's trees seem to have been grown with a fixed `random_state`." if is_fixed else ""
    return [
        "By default, scikit-learn decides between equally good splits at random in each fit, which may change the tree "
        f"even if the cells are the same. Instability of argmax without bags: ties {means}; the paper prints "
        f"{printed:.2f}.{guess} The stability that a fixed `random_state` adds does not come from the cells."
    ]


def _undecided_remark(by_ties: Mapping[str, TreeResults]) -> list[str]:
    counts = {ties: sum(line.undecided for line in draws.rules[LARGER]) for ties, draws in by_ties.items()}
    if not any(counts.values()):
        return []
    numbers = "; ".join(
        f"ties {TIES[ties]}: {count} of {len(by_ties[ties].numbers)} draws" for ties, count in counts.items()
    )
    return [
        f"In some draws ε = {LARGER.parameter:g} is so large that the inflated argmax would also return trees that no "
        f"bag chose, which means every possible tree ({numbers}). Sizes count only trees that a bag chose."
    ]


def _left_out_bags_remark(settings: StabilitySettings) -> list[str]:
    if settings.tree_left_out_bags >= settings.tree_bags:
        return []
    return [
        f"Trees are slow: the weights without a cell come from about {settings.tree_left_out_bags:,} bags for each "
        f"cell, those with all cells from {settings.tree_bags:,}. Fewer bags add noise to those weights, and "
        "therefore to the instability."
    ]


def _number_of_trees(ties: str, draws: TreeResults) -> str:
    numbers = [lines[0].models for lines in draws.trees.values()]
    return f"ties {TIES[ties]}, {np.mean(numbers):,.0f} on average ({min(numbers):,} to {max(numbers):,})"
