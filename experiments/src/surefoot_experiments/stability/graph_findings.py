"""The paper's statements about graphs of proteins (5.2.1 and D.2.1), and whether our bags agree."""

from collections.abc import Sequence

from surefoot_experiments.skeleton.judge import Finding, all_of, is_above, is_at_least, is_unanimous, spread
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.compared_rules import (
    ARGMAX,
    BASE,
    INCLUSION,
    INFLATED,
    TOP_K,
    ComparedRule,
    rules_of_kind,
)
from surefoot_experiments.stability.graph_folds import LIKELIHOOD, PENALIZED, PenaltyValidation
from surefoot_experiments.stability.graph_peer import DEFAULT, OURS, STRICT, PeerComparison
from surefoot_experiments.stability.graph_results import Edge, GraphResults, graph_text
from surefoot_experiments.stability.sweep_findings import promise_remark

NAMES = {"pakts473": "Akt", "pmek": "Mek"}  # the names in the table for two of the paper's
STABLE = 0.02  # the instability that we allow the inflated argmax
BASE_RULE, ARGMAX_RULE, TOP_2 = ComparedRule(BASE), ComparedRule(ARGMAX), ComparedRule(TOP_K, 2)
OURS_RULE, INCLUSION_RULE = ComparedRule(INFLATED, 0.02), ComparedRule(INCLUSION, 0.5)


def judge_graphs(graphs: GraphResults, validation: PenaltyValidation) -> tuple[Finding, ...]:
    """The findings, those about rules first."""
    findings = (
        _stable_and_small(graphs),
        _compare_with_top_2(graphs),
        _effect_of_bags(graphs),
        _single_graphs(graphs),
        _one_edge(graphs),
    )
    return (*findings, *([_chosen_penalty(validation)] if len(validation.penalties) else []))


def _describe(graphs: GraphResults, rules: Sequence[ComparedRule]) -> str:
    texts = [
        f"{rule.label}: instability {spread(graphs.instabilities(rule))}, "
        f"{spread(graphs.sizes(rule), '{:.2f}'.format)} graphs"
        for rule in rules
    ]
    return f"mean and range over {graphs.n_seeds} seeds of {'; '.join(texts)}."


def _stable_and_small(graphs: GraphResults) -> Finding:
    instabilities, sizes = graphs.instabilities(OURS_RULE), graphs.sizes(OURS_RULE)
    return Finding(
        text=f"The {OURS_RULE.label} is unstable for at most {STABLE:.0%} of cells, with fewer than two graphs on "
        "average.",
        holds=all_of([is_at_least(-instabilities, -STABLE), is_above(-sizes, -2.0)]),
        detail=_describe(graphs, [OURS_RULE]),
    )


def _compare_with_top_2(graphs: GraphResults) -> Finding:
    more_stable = is_at_least(graphs.instabilities(TOP_2) - graphs.instabilities(OURS_RULE))
    return Finding(
        text=f"The {OURS_RULE.label} is at least as stable as {TOP_2.label}, and returns fewer graphs on average.",
        holds=all_of([more_stable, is_above(graphs.sizes(TOP_2) - graphs.sizes(OURS_RULE))]),
        detail=_describe(graphs, [OURS_RULE, TOP_2]),
    )


def _effect_of_bags(graphs: GraphResults) -> Finding:
    without, bagged = graphs.instabilities(BASE_RULE), graphs.instabilities(ARGMAX_RULE)
    return Finding(
        text=f"Bags make argmax more stable, but it stays unstable for more than {STABLE:.0%} of cells.",
        holds=all_of([is_above(without - bagged), is_above(bagged, STABLE)]),
        detail=f"{without.mean():.3f} without bags, {spread(bagged)} with them, mean and range over {graphs.n_seeds} "
        "seeds.",
    )


def _single_graphs(graphs: GraphResults) -> Finding:
    ours, single = graphs.instabilities(OURS_RULE), (ARGMAX_RULE, INCLUSION_RULE)
    return Finding(
        text=f"Rules that return one graph (argmax, inclusion probability) are less stable than the {OURS_RULE.label}.",
        holds=all_of(is_above(graphs.instabilities(rule) - ours) for rule in single),
        detail=_describe(graphs, [*single, OURS_RULE]),
    )


def _one_edge(graphs: GraphResults) -> Finding:
    expected = {tuple(sorted(NAMES[name] for name in paper.FIGURE_5_EDGE))}
    differing = [first[0] ^ second[0] for first, second, *_ in _several(graphs)]
    same = [{tuple(sorted(edge)) for edge in edges} == expected for edges in differing]
    texts = dict.fromkeys(graph_text(sorted(edges)) for edges in differing)
    return Finding(
        text=f"The two heaviest graphs differ by one edge, between {' and '.join(paper.FIGURE_5_EDGE)}.",
        holds=is_unanimous(same),
        detail=f"with {sum(same)} of {graphs.n_seeds} seeds; ours differ by {' or '.join(texts)} (the table's names).",
    )


def _several(graphs: GraphResults) -> list[Sequence[tuple[set[Edge], float]]]:
    """The heaviest graphs of the seeds that have more than one."""
    return [heaviest for heaviest in graphs.by_seed if len(heaviest) > 1]


def _chosen_penalty(validation: PenaltyValidation) -> Finding:
    best, printed = validation.best_penalties(), int(paper.GRAPH_PENALTY)
    return Finding(
        text=f"Five folds choose the penalty {printed}, by the {LIKELIHOOD} or by equation 25, which subtracts the "
        "penalty.",
        holds=printed in best.values(),
        detail=f"on folds of consecutive rows (nothing is random here) the held-out {LIKELIHOOD} is best at "
        f"{best[LIKELIHOOD]}, equation 25 at {best[PENALIZED]} (tried: {validation.penalties[0]} to "
        f"{validation.penalties[-1]}, {len(validation.penalties)} penalties).",
    )


def make_remarks(graphs: GraphResults, peers: PeerComparison) -> tuple[str, ...]:
    """Remarks on guarantees, leave-one-out, and the differences between our weights and the paper's."""
    return (
        promise_remark(OURS_RULE.parameter, graphs.n_rows, paper.GRAPH_BAG_SIZE),
        *_guaranteed_rules(graphs),
        "The weights without a cell come from one pool of bags: bags that do not contain the cell are bags of the "
        f"other cells, about {graphs.bags:,} for each cell. Argmax without bags is refitted without each cell.",
        *([_strict_tolerances(peers), _default_tolerances(peers)] if peers.tables else []),
    )


def _guaranteed_rules(graphs: GraphResults) -> list[str]:
    """The sets of the inflated argmaxes that have a guarantee."""
    rules = [rule for rule in rules_of_kind(graphs.rules, INFLATED) if graphs.delta(rule.parameter) < 1]
    return [
        f"ε = {rule.parameter:.3g} guarantees δ = {graphs.delta(rule.parameter):.2g}. With it, "
        + (
            "every graph would be returned: such large bags cannot decide."
            if graphs.is_undecided(rule)
            else f"{spread([line.set_size for line in graphs.rules[rule]], '{:g}'.format)} graphs are returned."
        )
        for rule in rules
    ]


def _strict_tolerances(peers: PeerComparison) -> str:
    """Whether our solver is right."""
    return (
        f"scikit-learn with strict tolerances has our graph on {peers.count_equal(STRICT):,} of {len(peers.tables):,} "
        f"tables: {len(peers.bags):,} bags, and {len(peers.without_cell):,} times all cells but one."
        f"{_instability(peers, STRICT)}"
    )


def _default_tolerances(peers: PeerComparison) -> str:
    """How much the graphs depend on tolerances, compared with the paper's numbers."""
    return (
        f"With scikit-learn's default tolerances {peers.count_solved(DEFAULT):,} of these tables have a graph, and "
        f"{peers.count_equal(DEFAULT):,} of these graphs equal ours. {_heaviest(peers, DEFAULT)}"
        f"{_heaviest(peers, OURS)}The paper prints {_percentages(paper.FIGURE_5_WEIGHTS)}."
        f"{_instability(peers, DEFAULT)} docs/selection.md has the results of an older scikit-learn's defaults."
    )


def _heaviest(peers: PeerComparison, solver: str) -> str:
    fractions = peers.top_two(solver)
    name = "scikit-learn" if solver == DEFAULT else "our solver"
    return f"With {name}, the heaviest graphs have {_percentages(fractions)} of the solved bags. " if fractions else ""


def _percentages(weights: tuple[float, ...] | list[float]) -> str:
    return " and ".join(f"{weight:.2%}" for weight in weights)


def _instability(peers: PeerComparison, solver: str) -> str:
    """The instability of argmax without bags, if each table has a graph."""
    instability, printed = peers.instability(solver), paper.TABLE_2[BASE_RULE].instability
    if instability is None:
        return ""
    return f" Argmax without bags then has an instability of {instability:.3f}; the paper prints {printed}."
