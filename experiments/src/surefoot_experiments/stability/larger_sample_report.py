"""The section on draws of 300 rows: the guarantee, argmax for comparison, and figure 9."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.plots import ModelWeightsDisplay
from surefoot.plots.style import COLOURS, REFERENCE_COLOUR
from surefoot_experiments.skeleton.judge import MIN_VALUES, Finding, is_above, is_majority, spread
from surefoot_experiments.skeleton.report import Section, image, new_figure, save_figure, table
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INFLATED, TOP_K, ComparedRule
from surefoot_experiments.stability.correlated import BLOCKS, PRODUCT
from surefoot_experiments.stability.lines import ALL_ROWS, DrawLine, RuleLine, WeightLine, select_trials
from surefoot_experiments.stability.sweep import SweepResults

PICTURE = "larger_sample-draws"
PRINTED = {ARGMAX: paper.LARGER_ARGMAX_INSTABILITY, INFLATED: paper.LARGER_INFLATED_INSTABILITY}


def write_section(
    folder: Path, draws: Sequence[DrawLine], results: Sequence[RuleLine], weights: Sequence[WeightLine]
) -> Section:
    """Draw the figures and write the section."""
    done = {line.trial for line in draws}
    sweeps = SweepResults(select_trials(results, done), draws[0].bags)
    changed = [line for line in draws if line.changed_row >= 0]
    if changed:
        _draw_figure_9(folder / "figure-9.png", changed[0], weights)
    _draw_all_draws(folder / f"{PICTURE}.png", sweeps)
    no_figure_9 = "There is no figure 9: on no draw does leaving out a row change the choice of argmax."
    figure_9 = image("figure-9") if changed else no_figure_9
    return Section(
        title="Larger sample: C.3 and figure 9",
        text="\n\n".join([_introduction(draws), _rule_table(sweeps), _selections(draws), image(PICTURE), figure_9]),
        findings=(_guarantee(sweeps), _argmax(sweeps), _product(draws)),
        remarks=(
            "The paper's one draw is not published, and its example was made to be uncertain. Our draws follow C.1 "
            f"and C.3, with the fixed seeds 0 to {max(done)}.",
        ),
        seconds=sum(line.seconds for line in results),
    )


def _inflated(sweeps: SweepResults) -> ComparedRule:
    return sweeps.rules_of_kind(INFLATED)[0]


def _introduction(draws: Sequence[DrawLine]) -> str:
    return (
        f"{len(draws)} draws of {paper.LARGER_ROWS} rows and {paper.LARGER_COLUMNS} covariates; {draws[0].bags:,} bags "
        f"of {paper.REGRESSION_BAG_SIZE}. For δ = {paper.LARGER_DELTA}, ε = {draws[0].epsilon:.4f} (paper: "
        f"{paper.LARGER_EPSILON}). Numbers are means over draws, with minimum and maximum; the paper has one draw."
    )


def _rule_table(sweeps: SweepResults) -> str:
    rows = []
    single = (ComparedRule(BASE), ComparedRule(ARGMAX), ComparedRule(TOP_K, 2.0), ComparedRule(TOP_K, 6.0))
    for rule in (*single, _inflated(sweeps)):
        lines = sweeps.of(rule)
        sizes = f", paper {paper.LARGER_MODELS}" if rule.kind == INFLATED else ""
        printed = f", paper {PRINTED[rule.kind]:g}" if rule.kind in PRINTED else ""
        label = "inflated argmax" if rule.kind == INFLATED else rule.label
        rows.append(
            [
                label,
                spread([line.instability for line in lines], "{:.3g}".format) + printed,
                spread([line.set_size for line in lines], "{:.3g}".format) + sizes,
                f"{sweeps.accuracy(rule):.3f}",
            ]
        )
    return table(["rule", "instability", "set size", "utility-weighted accuracy"], rows)


def _selections(draws: Sequence[DrawLine]) -> str:
    """How often each set was selected."""
    counts: dict[str, int] = {}
    for line in draws:
        counts[line.selected] = counts.get(line.selected, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return table(["selected by the inflated argmax", "draws"], [[_code(name), str(count)] for name, count in ordered])


def _code(text: str) -> str:
    """Text as code in a table cell, which a bar would end."""
    return f"`{text}`".replace("|", "\\|")


def _guarantee(sweeps: SweepResults) -> Finding:
    instabilities = sweeps.instabilities(_inflated(sweeps))
    kept = sum(value <= paper.LARGER_DELTA for value in instabilities)
    is_decided = len(instabilities) >= MIN_VALUES or kept < len(instabilities)
    return Finding(
        text=f"The guarantee: the instability of the inflated argmax is at most {paper.LARGER_DELTA} (paper: "
        f"{paper.LARGER_INFLATED_INSTABILITY:g} on its draw).",
        holds=kept == len(instabilities) if is_decided else None,
        detail=f"on {kept} of {len(instabilities)} draws; the largest is {max(instabilities):.3f}.",
    )


def _argmax(sweeps: SweepResults) -> Finding:
    argmax, inflated = sweeps.instabilities(ComparedRule(ARGMAX)), sweeps.instabilities(_inflated(sweeps))
    above = sum(value > paper.LARGER_DELTA for value in argmax)
    return Finding(
        text="Argmax is less stable than the inflated argmax, on average over draws (paper: "
        f"{paper.LARGER_ARGMAX_INSTABILITY:g} and {paper.LARGER_INFLATED_INSTABILITY:g} on its draw).",
        holds=is_above(np.subtract(argmax, inflated)),
        detail=f"instability {spread(argmax)} and {spread(inflated)}, mean and range over draws; that of argmax is "
        f"above {paper.LARGER_DELTA} on {above} of {len(argmax)} draws.",
    )


def _product(draws: Sequence[DrawLine]) -> Finding:
    same = sum(line.selected == PRODUCT for line in draws)
    return Finding(
        text=f"On most draws the inflated argmax returns the {len(BLOCKS[0]) * len(BLOCKS[1])} models {PRODUCT}.",
        holds=is_majority(same, len(draws)),
        detail=f"it returns exactly these on {same} of {len(draws)} draws.",
    )


def _draw_figure_9(path: Path, draw: DrawLine, weights: Sequence[WeightLine]) -> None:
    """Draw the heaviest models with all rows, and without a row that changes the choice of argmax."""
    figure = new_figure(8.0, 4.8)
    titles = {ALL_ROWS: f"all {paper.LARGER_ROWS} rows", draw.changed_row: f"without row {draw.changed_row}"}
    tables = {
        row: {tuple(line.model.split()): line.weight for line in weights if (line.trial, line.row) == (draw.trial, row)}
        for row in titles
    }
    names = sorted({name for models in tables.values() for model in models for name in model}, key=_covariate_number)
    for ax, (row, models) in zip(figure.subplots(1, 2), tables.items(), strict=True):
        heaviest = [model for model, weight in models.items() if weight == max(models.values())]
        display = ModelWeightsDisplay(models, items=names, selected=heaviest, noun="covariates", name=titles[row])
        display.plot(ax=ax)
        ax.get_legend().get_texts()[0].set_text("argmax")
    figure.suptitle(f"Figure 9: top {len(tables[ALL_ROWS])} models of draw {draw.trial}")
    save_figure(path, figure)


def _covariate_number(name: str) -> int:
    return int(name.removeprefix("x"))


def _draw_all_draws(path: Path, sweeps: SweepResults) -> None:
    """Draw instability and set size on every draw, for argmax and the inflated argmax."""
    figure = new_figure(9.6, 3.6)
    first, second = figure.subplots(1, 2)
    rules = {"argmax": ComparedRule(ARGMAX), "inflated argmax": _inflated(sweeps)}
    for (label, rule), colour, marker in zip(rules.items(), COLOURS[1::-1], "so", strict=False):
        lines = sweeps.of(rule)
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "none", "label": label}
        first.plot([line.trial for line in lines], [line.instability for line in lines], **style)
        second.plot([line.trial for line in lines], [line.set_size for line in lines], **style)
    first.axhline(paper.LARGER_DELTA, color=REFERENCE_COLOUR, linestyle="--", linewidth=1.2, label="guaranteed limit")
    first.set(xlabel="draw", ylabel="instability")
    second.set(xlabel="draw", ylabel="selected models", ylim=(0, None))
    for ax in (first, second):
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = first.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("C.3: instability and set size on every draw")
    save_figure(path, figure)
