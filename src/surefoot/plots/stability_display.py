"""The stability of selection rules, and its cost, as a chart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._extras import needs
from surefoot._parameters import check_choice
from surefoot.plots.rule_curve import RuleCurve, curves_of
from surefoot.plots.style import (
    COLOURS,
    LEGEND_SIZE,
    REFERENCE_COLOUR,
    check_panels,
    percent_axes,
    require_stable_selector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS, DASHES = "os^Dv<>", ("-", "--", "-.", ":")
REFERENCE = "stability-reference"
REFERENCE_STYLE: dict[str, Any] = {"color": REFERENCE_COLOUR, "linewidth": 1.2, "zorder": 1.5, "gid": REFERENCE}
WIDE_RANGE = 30.0  # if the largest number of models is more than 30 times the smallest, the scale is logarithmic
CDF, SWEEP, ACCURACY, SET_SIZE = "cdf", "sweep", "accuracy", "set size"
PANEL_SIZE = (4.0, 3.4)  # inches


class StabilityDisplay:
    """The instability of rules, and the accuracy and size of the sets of models that they return.

    It has up to three panels. The first one shows the distribution of the instability over several trials; for a single
    trial, it shows the instability as a function of the inflation. The second one, if the truth is known, shows the
    utility-weighted accuracy against the worst instability over the trials. The third one shows the median number of
    selected models against the same. A curve further to the left is more stable.

    Parameters
    ----------
    curves : sequence of RuleCurve
        The rules to compare.
    epsilon : float or None
        An inflation to mark in the panel of a single trial.

    Attributes
    ----------
    panels : tuple of str
        The content of each axes: "cdf" or "sweep", "accuracy" and "set size".
    axes_, figure_
        The axes of each panel and the figure, after ``plot``.
    lines_ : dict
        The lines of each panel, in the order of the curves that it shows.

    Examples
    --------
    >>> from surefoot.plots.rule_curve import RuleCurve
    >>> from surefoot.plots.stability_display import StabilityDisplay
    >>> argmax = RuleCurve("argmax", [0.0, 0.3, 0.4], worst=[0.4], accuracy=[0.5], set_size=[1])
    >>> sweep = {"worst": [0.1, 0.0], "accuracy": [0.4, 0.3], "set_size": [2, 3]}
    >>> display = StabilityDisplay([argmax, RuleCurve("top-k", [0.0, 0.0, 0.1], **sweep, setting="k = 2")]).plot()
    >>> display.panels
    ('cdf', 'accuracy', 'set size')
    """

    def __init__(self, curves: Sequence[RuleCurve], *, epsilon: float | None = None) -> None:
        self.curves = list(curves)
        if not self.curves:
            raise DataError("curves is empty: at least one RuleCurve is needed.")
        self.epsilon = epsilon
        self.n_trials = max(len(curve.instabilities) for curve in self.curves)
        has_sweep = self.n_trials == 1 and any(curve.epsilons is not None for curve in self.curves)
        known = {
            ACCURACY: any(curve.accuracy is not None for curve in self.curves),
            SET_SIZE: any(curve.set_size is not None for curve in self.curves),
        }
        self.panels = (SWEEP if has_sweep else CDF, *(panel for panel, is_known in known.items() if is_known))

    @classmethod
    @needs("matplotlib")
    def from_estimator(
        cls,
        estimator: Any,
        *,
        method: str = "pool",
        epsilons: Sequence[float] | None = None,
        axes: "Sequence[Axes] | None" = None,
    ) -> "StabilityDisplay":
        """Compare rules on the weights of a fitted `StableSelector`, by leaving out each of its rows.

        The rules are argmax, top-k and the inflated argmax; they use the bags of the selector.

        Parameters
        ----------
        estimator : StableSelector
            A fitted selector.
        method : str, default="pool"
            ``"pool"`` or ``"refit"``, as in `StableSelector.leave_one_out`.
        epsilons : sequence of float or None, default=None
            The inflations. None: up to the value at which models that no bag chose would be selected. From there on the
            number of selected models is not defined, and is not drawn.
        axes : sequence of matplotlib Axes or None, default=None
            One for each panel. None: new axes in a new figure.

        Returns
        -------
        StabilityDisplay
            The display, drawn.
        """
        require_stable_selector(estimator)
        check_choice("method", method, ("pool", "refit"))
        curves = curves_of(estimator, epsilons, method)
        return cls(curves, epsilon=None if np.isnan(estimator.epsilon_) else estimator.epsilon_).plot(axes=axes)

    def plot(self, axes: "Sequence[Axes] | None" = None) -> "StabilityDisplay":
        """Draw each of ``panels`` on axes of its own.

        Parameters
        ----------
        axes : sequence of matplotlib Axes or None, default=None
            One for each panel. None: new axes in a new figure.

        Returns
        -------
        StabilityDisplay
            The display itself, drawn.
        """
        self.axes_ = self._new_axes() if axes is None else check_panels(axes, self.panels)
        self.figure_ = self.axes_[0].figure
        self.lines_ = {}
        for panel, ax in zip(self.panels, self.axes_, strict=True):
            draw = {CDF: self._draw_cdf, SWEEP: self._draw_sweep}.get(panel, self._draw_against_worst)
            self.lines_[panel] = draw(ax, panel)
        self._add_legend("outside lower center" if axes is None else "best")
        return self

    def _add_legend(self, place: str) -> None:
        """Add a legend for all panels, below those of a new figure, or in the first of given axes."""
        from matplotlib.lines import Line2D

        is_inside = place == "best"
        where = "" if is_inside or len(self.panels) == 1 else "left: "
        handles = [
            Line2D([], [], **{**_line_style(number), "label": _label(curve, where)})
            for number, curve in enumerate(self.curves)
        ]
        handles += [line for line in self.axes_[0].lines if line.get_gid() == REFERENCE]
        owner: Any = self.axes_[0] if is_inside else self.figure_
        owner.legend(handles=handles, loc=place, ncols=1 if is_inside else 3, frameon=False, fontsize=LEGEND_SIZE)

    def _new_axes(self) -> "list[Axes]":
        import matplotlib.pyplot as plt

        size = (PANEL_SIZE[0] * len(self.panels), PANEL_SIZE[1] + 0.5)
        return list(plt.figure(figsize=size, layout="constrained").subplots(1, len(self.panels), squeeze=False)[0])

    def _draw_cdf(self, ax: "Axes", panel: str) -> list[Any]:
        lines = []
        for number, curve in enumerate(self.curves):
            ordered = np.sort(curve.instabilities)
            x = np.concatenate([[0.0], ordered, [1.0]])  # from 0 to 1, so that all jumps are visible
            y = np.concatenate([[0.0], np.arange(1, len(ordered) + 1) / len(ordered), [1.0]])
            lines += ax.plot(x, y, **{**_line_style(number), "marker": "", "drawstyle": "steps-post"})
        percent_axes(ax.yaxis)
        ax.set(xlabel="instability", ylabel="fraction of trials with at most this instability")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04))
        return lines

    def _draw_sweep(self, ax: "Axes", panel: str) -> list[Any]:
        lines = []
        top = 1.15 * max(0.1, *(curve.worst.max() for curve in self.curves))
        for number, curve in enumerate(self.curves):
            style = _line_style(number)
            if curve.epsilons is None:
                lines.append(ax.axhline(curve.instabilities[0], **{**style, "marker": ""}))
                continue
            order = np.argsort(curve.epsilons)
            lines += ax.plot(curve.epsilons[order], curve.worst[order], **style)
            if curve.promised is not None and curve.promised.min() < top:
                reference = {**REFERENCE_STYLE, "linestyle": "--", "label": "guaranteed at most"}
                ax.plot(curve.epsilons[order], curve.promised[order], **reference)
        if self.epsilon is not None:
            label = f"this selector's epsilon, {self.epsilon:.3g}"
            ax.axvline(self.epsilon, **{**REFERENCE_STYLE, "linestyle": ":", "label": label})
        ax.set(xlabel="epsilon", ylabel="instability", ylim=(-0.03 * top, top))
        return lines

    def _draw_against_worst(self, ax: "Axes", panel: str) -> list[Any]:
        lines, shown = [], []
        for number, curve in enumerate(self.curves):
            values = curve.accuracy if panel == ACCURACY else curve.set_size
            if values is not None:
                lines += ax.plot(curve.worst, values, **{**_line_style(number), "linewidth": 1.2})
                shown.append(values)
        is_single = self.n_trials == 1
        ax.set_xlabel("instability" if is_single else "worst instability over the trials")
        if panel == ACCURACY:
            ax.set(ylabel="utility-weighted accuracy", ylim=(0, None))
        else:
            ax.set_ylabel("selected models" if is_single else "median number of selected models")
            _scale_counts(ax, np.concatenate(shown))
        return lines


def _line_style(number: int) -> dict[str, Any]:
    """A colour, dashes and markers that differ between curves."""
    colour, dashes, marker = (styles[number % len(styles)] for styles in (COLOURS, DASHES, MARKERS))
    return {"color": colour, "linestyle": dashes, "linewidth": 2, "marker": marker, "markersize": 5}


def _label(curve: RuleCurve, where: str) -> str:
    return curve.label if curve.setting is None else f"{curve.label} ({where}{curve.setting})"


def _scale_counts(ax: "Axes", sizes: np.ndarray) -> None:
    """Label the y axis with whole numbers of models; it is logarithmic if their range is wide."""
    from matplotlib.ticker import MaxNLocator, NullFormatter, StrMethodFormatter

    if np.nanmax(sizes) > WIDE_RANGE * np.nanmin(sizes):
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=0)
