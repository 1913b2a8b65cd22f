"""What a careful reader must know about the graphs of proteins."""

from surefoot_experiments.stability import paper
from surefoot_experiments.stability.graph_findings import BASE_RULE, OURS_RULE
from surefoot_experiments.stability.graph_peer import DEFAULT, OURS, STRICT, Peers
from surefoot_experiments.stability.graph_results import Graphs
from surefoot_experiments.stability.rule_grid import INFLATED, along
from surefoot_experiments.stability.sweep_findings import what_is_promised
from surefoot_experiments.verdict import spread


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
