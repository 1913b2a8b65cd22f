"""The section on bounds: how often errors exceed the theorems' bounds, how loose these are, and a chart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.plots.style import COLOURS
from surefoot_experiments.shift.bounds import CASES, RESIDUALS
from surefoot_experiments.shift.lines import BoundLine
from surefoot_experiments.shift.protocol import CONFIDENCE
from surefoot_experiments.skeleton.judge import Finding
from surefoot_experiments.skeleton.report import Section, image, new_figure, save_figure, table

PICTURE = "bounds"
THEOREMS = {"3.2": ("bound_3_2", "above_3_2"), "3.3": ("bound_3_3", "above_3_3")}
LOOKS = {"3.2": (COLOURS[1], "-"), "3.2 as printed": (COLOURS[1], ":"), "3.3": (COLOURS[2], "--")}
HOW_TO_READ = f"""\
Residuals of fixed training rows, a target with independent features of known distributions, and many draws of M of its
rows: the difference between rho² by these rows and rho² by the distribution, and the theorems' bounds at confidence
{CONFIDENCE:g}. The residuals are noise (standard normal), or all 1, the case that the bounds are made for. Theorem 3.2
is about one feature; as printed, with sqrt(log M / M), it holds with probability 1 - 2 / M²."""


def describe_bounds(folder: Path, lines: Sequence[BoundLine]) -> Section | None:
    """Draw the chart, and describe it; None if there are no results."""
    if not lines:
        return None
    _draw(folder / f"{PICTURE}.png", lines)
    return Section(
        "Bounds: theorems 3.2 and 3.3",
        "\n\n".join([HOW_TO_READ, image(PICTURE), _table(lines)]),
        (*(_holds(lines, theorem) for theorem in THEOREMS), _printed(lines), _rate(lines)),
        (),
        sum(line.seconds for line in lines),
    )


def _holds(lines: Sequence[BoundLine], theorem: str) -> Finding:
    bound, above = THEOREMS[theorem]
    chosen = [line for line in lines if not np.isnan(getattr(line, bound))]
    fractions = [getattr(line, above) for line in chosen]
    text = f"Theorem {theorem}: at most {1 - CONFIDENCE:.0%} of draws exceed its bound at confidence {CONFIDENCE:g}."
    if not chosen:
        return Finding(text, None, "no results yet.")
    ratios = [getattr(line, bound) / line.error_95 for line in chosen if line.error_95 > 0]
    return Finding(
        text,
        max(fractions) <= 1 - CONFIDENCE,
        f"in {sum(fraction <= 1 - CONFIDENCE for fraction in fractions)} of {len(chosen)} settings; the largest "
        f"fraction is {max(fractions):.2%}. The bound is {min(ratios):.1f} to {max(ratios):.0f} times the error that "
        f"95% of draws stay below (median {np.median(ratios):.1f}).",
    )


def _printed(lines: Sequence[BoundLine]) -> Finding:
    chosen = [line for line in lines if not np.isnan(line.printed_3_2)]
    text = "Theorem 3.2 as printed: at most a fraction 2 / M² of draws exceeds its bound."
    if not chosen:
        return Finding(text, None, "no results yet.")
    n_kept = sum(line.above_printed_3_2 <= 2 / line.n_target**2 for line in chosen)
    largest = max(line.above_printed_3_2 for line in chosen)
    detail = f"in {n_kept} of {len(chosen)} settings; the largest fraction is {largest:.2%}."
    return Finding(text, n_kept == len(chosen), detail)


def _rate(lines: Sequence[BoundLine]) -> Finding:
    """Judge the slope of the logarithm of the mean error along that of M."""
    slopes = []
    for case in CASES:
        for residuals in RESIDUALS:
            chosen = [line for line in lines if (line.case, line.residuals) == (case, residuals)]
            if len(chosen) > 2:
                sizes, errors = ([getattr(line, name) for line in chosen] for name in ("n_target", "mean_error"))
                slopes.append(float(np.polyfit(np.log(sizes), np.log(errors), 1)[0]))
    text = "The mean error falls with the square root of M, as the bounds do (exponent -0.5, within 0.05)."
    if not slopes:
        return Finding(text, None, "no results yet.")
    holds = all(abs(slope + 0.5) <= 0.05 for slope in slopes)
    return Finding(text, holds, f"exponents from {min(slopes):.3f} to {max(slopes):.3f}.")


def _table(lines: Sequence[BoundLine]) -> str:
    header = ["case", "residuals", "M", "draws", "rho²", "mean error", "95% of errors below"]
    header += ["bound 3.2", "draws above", "bound 3.3", "draws above"]
    rows = [
        [line.case, line.residuals, f"{line.n_target:,}", str(line.draws), f"{line.rho:.3g}", f"{line.mean_error:.2g}",
         f"{line.error_95:.2g}", _number(line.bound_3_2), _percent(line.above_3_2),
         _number(line.bound_3_3), _percent(line.above_3_3)]
        for line in _in_order(lines)
    ]  # fmt: skip
    return table(header, rows)


def _in_order(lines: Sequence[BoundLine]) -> list[BoundLine]:
    return sorted(lines, key=lambda line: (CASES.index(line.case), RESIDUALS.index(line.residuals), line.n_target))


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2g}"


def _percent(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.1%}"


def _draw(path: Path, lines: Sequence[BoundLine]) -> None:
    """Draw a panel for each case (columns) and kind of residuals (rows)."""
    figure = new_figure(3.4 * len(CASES) + 0.6, 3.0 * len(RESIDUALS) + 0.8)
    axes = figure.subplots(len(RESIDUALS), len(CASES), sharex=True, sharey="row")
    for row, residuals in enumerate(RESIDUALS):
        for column, case in enumerate(CASES):
            chosen = [line for line in _in_order(lines) if (line.case, line.residuals) == (case, residuals)]
            _draw_panel(axes[row, column], chosen)
            axes[row, column].set_title(f"{case}\nresiduals: {residuals}", fontsize="medium")
    for ax in axes[-1]:
        ax.set_xlabel("target rows M")
    for ax in axes[:, 0]:
        ax.set_ylabel("error of rho²")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle("Error of rho² by M target rows")
    save_figure(path, figure)


def _draw_panel(ax: Any, lines: Sequence[BoundLine]) -> None:
    sizes = [line.n_target for line in lines]
    ax.set(xscale="log", yscale="log")
    for name, (colour, style) in LOOKS.items():
        field = "printed_3_2" if name.endswith("printed") else THEOREMS[name][0]
        label = f"theorem {name}" + ("" if field == "printed_3_2" else f", confidence {CONFIDENCE:g}")
        ax.plot(sizes, [getattr(line, field) for line in lines], style, color=colour, label=label)
    style_95: dict[str, Any] = {"marker": "o", "markersize": 4, "color": COLOURS[0], "linewidth": 1.2}
    ax.plot(sizes, [line.error_95 for line in lines], label="measured, 95% of draws below", **style_95)
    ax.plot(sizes, [line.largest_error for line in lines], "x", color=COLOURS[0], label="measured, largest")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
