"""What the paper says about graphs of proteins (5.2.1 and D.2.1), and whether our bags agree."""

from collections.abc import Sequence

from surefoot.reproduce.stability import paper
from surefoot.reproduce.stability.graph_folds import LIKELIHOOD, PENALISED, Validation
from surefoot.reproduce.stability.graph_results import Graphs, graph_words
from surefoot.reproduce.stability.part import Finding
from surefoot.reproduce.stability.rule_grid import ARGMAX, BASE, INCLUSION, INFLATED, TOP_K, Contender

NAMES = {"pakts473": "Akt", "pmek": "Mek"}  # the table's for two of the paper's
STABLE = 0.02  # what we hold the inflated argmax to
BASE_RULE, ARGMAX_RULE, TOP_2 = Contender(BASE), Contender(ARGMAX), Contender(TOP_K, 2)
OURS_RULE, INCLUSION_RULE = Contender(INFLATED, 0.02), Contender(INCLUSION, 0.5)


def judge(graphs: Graphs, validation: Validation) -> tuple[Finding, ...]:
    """The findings, those about rules first."""
    found = (_stable_and_small(graphs), _beside_top_2(graphs), _bagged(graphs), _single(graphs), _one_edge(graphs))
    return (*found, *([_chosen_penalty(validation)] if len(validation.penalties) else []))


def _told(graphs: Graphs, rules: Sequence[Contender]) -> str:
    lines = [(rule.label, graphs.rules[rule]) for rule in rules]
    return "; ".join(
        f"{name}: instability {line.instability:.3f}, {line.left_out_size:.2f} graphs" for name, line in lines
    )


def _stable_and_small(graphs: Graphs) -> Finding:
    line = graphs.rules[OURS_RULE]
    return Finding(
        f"The {OURS_RULE.label} is unstable for at most {STABLE:.0%} of cells, with fewer than two graphs on average.",
        line.instability <= STABLE and line.left_out_size < 2,
        f"{_told(graphs, [OURS_RULE])}.",
    )


def _beside_top_2(graphs: Graphs) -> Finding:
    ours, top_2 = graphs.rules[OURS_RULE], graphs.rules[TOP_2]
    return Finding(
        f"The {OURS_RULE.label} is at least as stable as {TOP_2.label}, and returns fewer graphs on average.",
        ours.instability <= top_2.instability and ours.left_out_size < top_2.left_out_size,
        f"{_told(graphs, [OURS_RULE, TOP_2])}.",
    )


def _bagged(graphs: Graphs) -> Finding:
    without, bagged = graphs.rules[BASE_RULE].instability, graphs.rules[ARGMAX_RULE].instability
    text = f"Bags make argmax more stable, but it stays unstable for more than {STABLE:.0%} of cells."
    return Finding(text, STABLE < bagged < without, f"{without:.3f} without bags, {bagged:.3f} with them.")


def _single(graphs: Graphs) -> Finding:
    ours = graphs.rules[OURS_RULE].instability
    return Finding(
        f"Rules that return one graph (argmax, inclusion probability) are less stable than the {OURS_RULE.label}.",
        all(graphs.rules[rule].instability > ours for rule in (ARGMAX_RULE, INCLUSION_RULE)),
        f"{_told(graphs, [ARGMAX_RULE, INCLUSION_RULE, OURS_RULE])}.",
    )


def _one_edge(graphs: Graphs) -> Finding:
    expected = {tuple(sorted(NAMES[name] for name in paper.FIGURE_5_EDGE))}
    text = f"The two heaviest graphs differ by one edge, between {' and '.join(paper.FIGURE_5_EDGE)}."
    if len(graphs.heaviest) < 2:
        return Finding(text, None, "all bags gave the same graph.")
    (first, _), (second, _) = graphs.heaviest[:2]
    differing = first ^ second
    holds = {tuple(sorted(edge)) for edge in differing} == expected
    return Finding(text, holds, f"ours differ by {graph_words(sorted(differing))} (the table's names).")


def _chosen_penalty(validation: Validation) -> Finding:
    best, printed = validation.best(), int(paper.GRAPH_PENALTY)
    return Finding(
        f"Five folds choose the penalty {printed}, by the {LIKELIHOOD} or by equation 25, which takes the penalty off.",
        printed in best.values(),
        f"on folds of consecutive rows the held-out {LIKELIHOOD} is best at {best[LIKELIHOOD]}, equation 25 "
        f"at {best[PENALISED]} (tried: {validation.penalties[0]} to "
        f"{validation.penalties[-1]}, {len(validation.penalties)} penalties).",
    )
