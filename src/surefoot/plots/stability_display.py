"""How stable rules of selection are, and what their stability costs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError, ParameterError
from surefoot._extras import needs
from surefoot._parameters import check_choice
from surefoot.plots.rule_curve import RuleCurve, curves_of
from surefoot.plots.style import COLOURS, LEGEND_SIZE, REFERENCE_COLOUR, percent_axes, require_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS, DASHES = "os^Dv<>", ("-", "--", "-.", ":")
REFERENCE = "stability-reference"
REFERENCE_STYLE: dict[str, Any] = {"color": REFERENCE_COLOUR, "linewidth": 1.2, "zorder": 1.5, "gid": REFERENCE}
WIDE_RANGE = 30.0  # numbers of models that lie so far apart are drawn on a logarithmic scale
CDF, SWEEP, ACCURACY, SET_SIZE = "cdf", "sweep", "accuracy", "set size"
PANEL_SIZE = (4.0, 3.4)  # inches


class StabilityDisplay:
    """Instability of rules, and how right and how large the sets of models are that they return.

    Up to three panels. First, over several trials: the share of trials that are at most so unstable; over a single one:
    the instability as the inflation grows. Then, where the truth is known, utility-weighted accuracy against the worst
    instability over the trials; and the median number of selected models against the same. A curve further to the left
    is more stable.

    Parameters
    ----------
    curves : sequence of RuleCurve
        The rules to compare.
    epsilon : float or None
        An inflation that the panel of a single trial marks.

    Attributes
    ----------
    panels : tuple of str
        Out of "cdf" or "sweep", "accuracy" and "set size": what the axes show.
    axes_, figure_
        What has been drawn on, after ``plot``: an axes for each panel.
    lines_ : dict
        Of each panel the lines, in the order of the curves that it shows.

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
        along = self.n_trials == 1 and any(curve.epsilons is not None for curve in self.curves)
        known = {
            ACCURACY: any(curve.accuracy is not None for curve in self.curves),
            SET_SIZE: any(curve.set_size is not None for curve in self.curves),
        }
        self.panels = (SWEEP if along else CDF, *(panel for panel, is_known in known.items() if is_known))

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

        The rules are argmax, top-k and the inflated argmax; they share the bags of the selector.

        Parameters
        ----------
        estimator : StableSelector
            A fitted one.
        method : str, default="pool"
            ``"pool"`` or ``"refit"``, as in `StableSelector.leave_one_out`.
        epsilons : sequence of float or None, default=None
            The inflations. None: up to the one at which models that no bag chose would be selected. From there on the
            number of selected models is not defined, and none is drawn.
        axes : sequence of matplotlib Axes or None, default=None
            One for each panel. None: new axes in a new figure.

        Returns
        -------
        StabilityDisplay
            The display, drawn.
        """
        require_method(estimator, "leave_one_out", "pass a fitted StableSelector.")
        check_is_fitted(estimator)
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
        own_figure = axes is None
        self.axes_ = self._new_axes() if axes is None else list(np.ravel(np.asarray(axes, dtype=object)))
        if len(self.axes_) != len(self.panels):
            raise ParameterError(
                f"axes must be {len(self.panels)}, for {', '.join(self.panels)}; got {len(self.axes_)}."
            )
        self.figure_ = self.axes_[0].figure
        self.lines_ = {}
        for panel, ax in zip(self.panels, self.axes_, strict=True):
            draw = {CDF: self._draw_cdf, SWEEP: self._draw_sweep}.get(panel, self._draw_against_worst)
            self.lines_[panel] = draw(ax, panel)
        self._add_legend("outside lower center" if own_figure else "best")
        return self

    def _add_legend(self, place: str) -> None:
        """Below all panels of our own figure, or in the first of given axes; with the markers of the other panels."""
        from matplotlib.lines import Line2D

        inside = place == "best"
        where = "" if inside or len(self.panels) == 1 else "left: "
        handles = [
            Line2D([], [], **{**_look(number), "label": _label(curve, where)})
            for number, curve in enumerate(self.curves)
        ]
        handles += [line for line in self.axes_[0].lines if line.get_gid() == REFERENCE]
        holder: Any = self.axes_[0] if inside else self.figure_
        holder.legend(handles=handles, loc=place, ncols=1 if inside else 3, frameon=False, fontsize=LEGEND_SIZE)

    def _new_axes(self) -> "list[Axes]":
        import matplotlib.pyplot as plt

        size = (PANEL_SIZE[0] * len(self.panels), PANEL_SIZE[1] + 0.5)
        return list(plt.figure(figsize=size, layout="constrained").subplots(1, len(self.panels), squeeze=False)[0])

    def _draw_cdf(self, ax: "Axes", panel: str) -> list[Any]:
        lines = []
        for number, curve in enumerate(self.curves):
            ordered = np.sort(curve.instabilities)
            x = np.concatenate([[0.0], ordered, [1.0]])  # from the left edge to the right: all jumps show
            y = np.concatenate([[0.0], np.arange(1, len(ordered) + 1) / len(ordered), [1.0]])
            lines += ax.plot(x, y, **{**_look(number), "marker": "", "drawstyle": "steps-post"})
        percent_axes(ax.yaxis)
        ax.set(xlabel="instability", ylabel="trials that are at most so unstable")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04))
        return lines

    def _draw_sweep(self, ax: "Axes", panel: str) -> list[Any]:
        lines = []
        top = 1.15 * max(0.1, *(curve.worst.max() for curve in self.curves))
        for number, curve in enumerate(self.curves):
            look = _look(number)
            if curve.epsilons is None:
                lines.append(ax.axhline(curve.instabilities[0], **{**look, "marker": ""}))
                continue
            order = np.argsort(curve.epsilons)
            lines += ax.plot(curve.epsilons[order], curve.worst[order], **look)
            if curve.promised is not None and curve.promised.min() < top:
                style = {**REFERENCE_STYLE, "linestyle": "--", "label": "promised at most"}
                ax.plot(curve.epsilons[order], curve.promised[order], **style)
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
                lines += ax.plot(curve.worst, values, **{**_look(number), "linewidth": 1.2})
                shown.append(values)
        single = self.n_trials == 1
        ax.set_xlabel("instability" if single else "worst instability over the trials")
        if panel == ACCURACY:
            ax.set(ylabel="utility-weighted accuracy", ylim=(0, None))
        else:
            ax.set_ylabel("selected models" if single else "median number of selected models")
            _count_along(ax, np.concatenate(shown))
        return lines


def _look(number: int) -> dict[str, Any]:
    """Curves differ in colour, dashes and markers."""
    colour, dashes, marker = (looks[number % len(looks)] for looks in (COLOURS, DASHES, MARKERS))
    return {"color": colour, "linestyle": dashes, "linewidth": 2, "marker": marker, "markersize": 5}


def _label(curve: RuleCurve, where: str) -> str:
    return curve.label if curve.setting is None else f"{curve.label} ({where}{curve.setting})"


def _count_along(ax: "Axes", sizes: np.ndarray) -> None:
    """Whole numbers of models along the upright axis, logarithmic where they lie far apart."""
    from matplotlib.ticker import MaxNLocator, NullFormatter, StrMethodFormatter

    if np.nanmax(sizes) > WIDE_RANGE * np.nanmin(sizes):
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=0)
