"""What the paper says about graphs of proteins (5.2.1 and D.2.1), and whether our bags agree."""

from collections.abc import Sequence

from surefoot_experiments.skeleton.judge import Finding, all_of, is_above, is_always, is_at_least, spread
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.graph_folds import LIKELIHOOD, PENALISED, Validation
from surefoot_experiments.stability.graph_peer import DEFAULT, OURS, STRICT, Peers
from surefoot_experiments.stability.graph_results import Edge, Graphs, graph_words
from surefoot_experiments.stability.rule_grid import ARGMAX, BASE, INCLUSION, INFLATED, TOP_K, Contender, along
from surefoot_experiments.stability.sweep_findings import what_is_promised

NAMES = {"pakts473": "Akt", "pmek": "Mek"}  # the table's for two of the paper's
STABLE = 0.02  # what we hold the inflated argmax to
BASE_RULE, ARGMAX_RULE, TOP_2 = Contender(BASE), Contender(ARGMAX), Contender(TOP_K, 2)
OURS_RULE, INCLUSION_RULE = Contender(INFLATED, 0.02), Contender(INCLUSION, 0.5)


def judge_graphs(graphs: Graphs, validation: Validation) -> tuple[Finding, ...]:
    """The findings, those about rules first."""
    found = (_stable_and_small(graphs), _beside_top_2(graphs), _bagged(graphs), _single(graphs), _one_edge(graphs))
    return (*found, *([_chosen_penalty(validation)] if len(validation.penalties) else []))


def _told(graphs: Graphs, rules: Sequence[Contender]) -> str:
    told = [
        f"{rule.label}: instability {spread(graphs.instabilities(rule))}, "
        f"{spread(graphs.sizes(rule), '{:.2f}'.format)} graphs"
        for rule in rules
    ]
    return f"mean and range over {graphs.n_seeds} seeds of {'; '.join(told)}."


def _stable_and_small(graphs: Graphs) -> Finding:
    found, sizes = graphs.instabilities(OURS_RULE), graphs.sizes(OURS_RULE)
    return Finding(
        f"The {OURS_RULE.label} is unstable for at most {STABLE:.0%} of cells, with fewer than two graphs on average.",
        all_of([is_at_least(-found, -STABLE), is_above(-sizes, -2.0)]),
        _told(graphs, [OURS_RULE]),
    )


def _beside_top_2(graphs: Graphs) -> Finding:
    more_stable = is_at_least(graphs.instabilities(TOP_2) - graphs.instabilities(OURS_RULE))
    return Finding(
        f"The {OURS_RULE.label} is at least as stable as {TOP_2.label}, and returns fewer graphs on average.",
        all_of([more_stable, is_above(graphs.sizes(TOP_2) - graphs.sizes(OURS_RULE))]),
        _told(graphs, [OURS_RULE, TOP_2]),
    )


def _bagged(graphs: Graphs) -> Finding:
    without, bagged = graphs.instabilities(BASE_RULE), graphs.instabilities(ARGMAX_RULE)
    return Finding(
        f"Bags make argmax more stable, but it stays unstable for more than {STABLE:.0%} of cells.",
        all_of([is_above(without - bagged), is_above(bagged, STABLE)]),
        f"{without.mean():.3f} without bags, {spread(bagged)} with them, mean and range over {graphs.n_seeds} seeds.",
    )


def _single(graphs: Graphs) -> Finding:
    ours, single = graphs.instabilities(OURS_RULE), (ARGMAX_RULE, INCLUSION_RULE)
    return Finding(
        f"Rules that return one graph (argmax, inclusion probability) are less stable than the {OURS_RULE.label}.",
        all_of(is_above(graphs.instabilities(rule) - ours) for rule in single),
        _told(graphs, [*single, OURS_RULE]),
    )


def _one_edge(graphs: Graphs) -> Finding:
    expected = {tuple(sorted(NAMES[name] for name in paper.FIGURE_5_EDGE))}
    text = f"The two heaviest graphs differ by one edge, between {' and '.join(paper.FIGURE_5_EDGE)}."
    differing = [first[0] ^ second[0] for first, second, *_ in _several(graphs)]
    same = [{tuple(sorted(edge)) for edge in edges} == expected for edges in differing]
    words = dict.fromkeys(graph_words(sorted(edges)) for edges in differing)
    return Finding(
        text,
        is_always(same),
        f"so with {sum(same)} of {graphs.n_seeds} seeds; ours differ by {' or '.join(words)} (the table's names).",
    )


def _several(graphs: Graphs) -> list[Sequence[tuple[set[Edge], float]]]:
    """The heaviest graphs of the seeds that have more than one."""
    return [heaviest for heaviest in graphs.by_seed if len(heaviest) > 1]


def _chosen_penalty(validation: Validation) -> Finding:
    best, printed = validation.best(), int(paper.GRAPH_PENALTY)
    return Finding(
        f"Five folds choose the penalty {printed}, by the {LIKELIHOOD} or by equation 25, which takes the penalty off.",
        printed in best.values(),
        f"on folds of consecutive rows (nothing here is drawn) the held-out {LIKELIHOOD} is best at "
        f"{best[LIKELIHOOD]}, equation 25 at {best[PENALISED]} (tried: {validation.penalties[0]} to "
        f"{validation.penalties[-1]}, {len(validation.penalties)} penalties).",
    )


def make_remarks(graphs: Graphs, peers: Peers) -> tuple[str, ...]:
    """About promises, leave-one-out, and where our weights part from the paper's."""
    return (
        what_is_promised(OURS_RULE.parameter, graphs.n_rows, paper.GRAPH_BAG_SIZE),
        *_promising(graphs),
        "The weights without a cell come from one pool of bags: those that do not hold the cell are bags of the other "
        f"cells, about {graphs.bags:,} for each. Argmax without bags is fitted anew without each cell.",
        *([_strict(peers), _defaults(peers)] if peers.every else []),
    )


def _promising(graphs: Graphs) -> list[str]:
    """What the inflations that keep a promise return."""
    promising = [one for one in along(graphs.rules, INFLATED) if graphs.delta(one.parameter) < 1]
    return [
        f"ε = {one.parameter:.3g} promises δ = {graphs.delta(one.parameter):.2g}, and with it "
        + (
            "every graph is within reach: bags so large cannot tell."
            if graphs.undecided(one)
            else f"{spread([line.set_size for line in graphs.rules[one]], '{:g}'.format)} graphs are returned."
        )
        for one in promising
    ]


def _strict(peers: Peers) -> str:
    """Whether our solver is right."""
    return (
        f"scikit-learn with strict tolerances has our graph on {peers.exact(STRICT):,} of {len(peers.every):,} tables: "
        f"{len(peers.bags):,} bags, and {len(peers.without):,} times all cells but one.{_unstable(peers, STRICT)}"
    )


def _defaults(peers: Peers) -> str:
    """How far that depends on tolerances, beside what the paper prints."""
    return (
        f"With scikit-learn's default tolerances {peers.solved(DEFAULT):,} of these tables have a graph, "
        f"{peers.exact(DEFAULT):,} of them ours. {_heaviest(peers, DEFAULT)}{_heaviest(peers, OURS)}"
        f"The paper prints {_shares(paper.FIGURE_5_WEIGHTS)}.{_unstable(peers, DEFAULT)} What the "
        "defaults of an older scikit-learn give is in docs/selection.md."
    )


def _heaviest(peers: Peers, way: str) -> str:
    shares = peers.top_two(way)
    whose = "By them, the" if way == DEFAULT else "By ours, the"
    return f"{whose} heaviest graphs have {_shares(shares)} of the bags that have one. " if shares else ""


def _shares(weights: tuple[float, ...] | list[float]) -> str:
    return " and ".join(f"{weight:.2%}" for weight in weights)


def _unstable(peers: Peers, way: str) -> str:
    """The instability of argmax without bags, where each table has a graph."""
    found, printed = peers.instability(way), paper.TABLE_2[BASE_RULE].instability
    if found is None:
        return ""
    return f" Argmax without bags then has the instability {found:.3f}; the paper prints {printed}."
