"""What draws of 300 rows show: the promise kept, argmax beside it, and figure 9."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.plots import ModelWeightsDisplay
from surefoot.plots.style import COLOURS, REFERENCE_COLOUR
from surefoot_experiments.skeleton.judge import MIN_VALUES, Finding, is_above, is_most, spread
from surefoot_experiments.skeleton.report import Section, image, new_figure, save_figure, table
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.correlated import BLOCKS, PRODUCT
from surefoot_experiments.stability.lines import ALL_ROWS, DrawLine, RuleLine, WeightLine, of_trials
from surefoot_experiments.stability.rule_grid import ARGMAX, BASE, INFLATED, TOP_K, Contender
from surefoot_experiments.stability.sweep import Sweeps

PICTURE = "larger_sample-draws"
PRINTED = {ARGMAX: paper.LARGER_ARGMAX_INSTABILITY, INFLATED: paper.LARGER_INFLATED_INSTABILITY}


def tell(
    folder: Path, draws: Sequence[DrawLine], results: Sequence[RuleLine], weights: Sequence[WeightLine]
) -> Section:
    """Draw the figures, and say what they show."""
    done = {line.trial for line in draws}
    sweeps = Sweeps(of_trials(results, done), draws[0].bags)
    changed = [line for line in draws if line.changed_row >= 0]
    if changed:
        _draw_figure_9(folder / "figure-9.png", changed[0], weights)
    _draw_draws(folder / f"{PICTURE}.png", sweeps)
    figure_9 = image("figure-9") if changed else "On no draw does argmax change when a row is left out: no figure 9."
    return Section(
        "Larger sample: C.3 and figure 9",
        "\n\n".join([_introduction(draws), _rules(sweeps), _selections(draws), image(PICTURE), figure_9]),
        (_kept(sweeps), _unstable(sweeps), _product(draws)),
        (
            "The paper's one draw is not published, and its example was made to be uncertain: our draws come from "
            f"fixed seeds, 0 to {max(done)}, by the recipe of C.1 and C.3.",
        ),
        sum(line.seconds for line in results),
    )


def _inflated(sweeps: Sweeps) -> Contender:
    return sweeps.along(INFLATED)[0]


def _introduction(draws: Sequence[DrawLine]) -> str:
    return (
        f"{len(draws)} draws of {paper.LARGER_ROWS} rows and {paper.LARGER_COLUMNS} covariates; {draws[0].bags:,} bags "
        f"of {paper.REGRESSION_BAG_SIZE}. For δ = {paper.LARGER_DELTA}, ε = {draws[0].epsilon:.4f} (paper: "
        f"{paper.LARGER_EPSILON}). Means over draws, with least and largest; the paper has one draw."
    )


def _rules(sweeps: Sweeps) -> str:
    rows = []
    for one in (Contender(BASE), Contender(ARGMAX), Contender(TOP_K, 2.0), Contender(TOP_K, 6.0), _inflated(sweeps)):
        lines = sweeps.of(one)
        sizes = f", paper {paper.LARGER_MODELS}" if one.rule == INFLATED else ""
        printed = f", paper {PRINTED[one.rule]:g}" if one.rule in PRINTED else ""
        label = "inflated argmax" if one.rule == INFLATED else one.label
        rows.append(
            [
                label,
                spread([line.instability for line in lines], "{:.3g}".format) + printed,
                spread([line.set_size for line in lines], "{:.3g}".format) + sizes,
                f"{sweeps.accuracy(one):.3f}",
            ]
        )
    return table(["rule", "instability", "set size", "utility-weighted accuracy"], rows)


def _selections(draws: Sequence[DrawLine]) -> str:
    """How often each set was selected."""
    counts: dict[str, int] = {}
    for line in draws:
        counts[line.selected] = counts.get(line.selected, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return table(["selected by the inflated argmax", "draws"], [[_cell(name), str(count)] for name, count in ordered])


def _cell(text: str) -> str:
    """As code in a table, where a bar would end the cell."""
    return f"`{text}`".replace("|", "\\|")


def _kept(sweeps: Sweeps) -> Finding:
    found = sweeps.instabilities(_inflated(sweeps))
    kept = sum(value <= paper.LARGER_DELTA for value in found)
    return Finding(
        f"The promise: the instability of the inflated argmax is at most {paper.LARGER_DELTA} (paper: "
        f"{paper.LARGER_INFLATED_INSTABILITY:g} on its draw).",
        kept == len(found) if len(found) >= MIN_VALUES or kept < len(found) else None,
        f"on {kept} of {len(found)} draws; the largest is {max(found):.3f}.",
    )


def _unstable(sweeps: Sweeps) -> Finding:
    found, inflated = sweeps.instabilities(Contender(ARGMAX)), sweeps.instabilities(_inflated(sweeps))
    above = sum(value > paper.LARGER_DELTA for value in found)
    return Finding(
        "Argmax is less stable than the inflated argmax, on average over draws (paper: "
        f"{paper.LARGER_ARGMAX_INSTABILITY:g} and {paper.LARGER_INFLATED_INSTABILITY:g} on its draw).",
        is_above(np.subtract(found, inflated)),
        f"instability {spread(found)} and {spread(inflated)}, mean and range over draws; that of argmax is above "
        f"{paper.LARGER_DELTA} on {above} of {len(found)} draws.",
    )


def _product(draws: Sequence[DrawLine]) -> Finding:
    same = sum(line.selected == PRODUCT for line in draws)
    return Finding(
        f"On most draws the inflated argmax returns the {len(BLOCKS[0]) * len(BLOCKS[1])} models {PRODUCT}.",
        is_most(same, len(draws)),
        f"exactly these on {same} of {len(draws)} draws.",
    )


def _draw_figure_9(path: Path, draw: DrawLine, weights: Sequence[WeightLine]) -> None:
    """The heaviest models by all rows, and without a row that changes the heaviest."""
    figure = new_figure(8.0, 4.8)
    titles = {ALL_ROWS: f"all {paper.LARGER_ROWS} rows", draw.changed_row: f"without row {draw.changed_row}"}
    tables = {
        row: {tuple(line.model.split()): line.weight for line in weights if (line.trial, line.row) == (draw.trial, row)}
        for row in titles
    }
    names = sorted({name for models in tables.values() for model in models for name in model}, key=_number)
    for ax, (row, models) in zip(figure.subplots(1, 2), tables.items(), strict=True):
        heaviest = [model for model, weight in models.items() if weight == max(models.values())]
        display = ModelWeightsDisplay(models, items=names, selected=heaviest, noun="covariates", name=titles[row])
        display.plot(ax=ax)
        ax.get_legend().get_texts()[0].set_text("argmax")
    figure.suptitle(f"Figure 9: top {len(tables[ALL_ROWS])} models of draw {draw.trial}")
    save_figure(path, figure)


def _number(name: str) -> int:
    return int(name.removeprefix("x"))


def _draw_draws(path: Path, sweeps: Sweeps) -> None:
    """Instability and set size of every draw, by argmax and by the inflated argmax."""
    figure = new_figure(9.6, 3.6)
    first, second = figure.subplots(1, 2)
    rules = {"argmax": Contender(ARGMAX), "inflated argmax": _inflated(sweeps)}
    for (label, one), colour, marker in zip(rules.items(), COLOURS[1::-1], "so", strict=False):
        lines = sweeps.of(one)
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "none", "label": label}
        first.plot([line.trial for line in lines], [line.instability for line in lines], **style)
        second.plot([line.trial for line in lines], [line.set_size for line in lines], **style)
    first.axhline(paper.LARGER_DELTA, color=REFERENCE_COLOUR, linestyle="--", linewidth=1.2, label="promised at most")
    first.set(xlabel="draw", ylabel="instability")
    second.set(xlabel="draw", ylabel="selected models", ylim=(0, None))
    for ax in (first, second):
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = first.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("C.3: instability and set size on every draw")
    save_figure(path, figure)
