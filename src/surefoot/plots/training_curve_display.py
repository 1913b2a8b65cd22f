"""The losses of a gradient booster after each round of training, as a chart."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError, ParameterError
from surefoot._extras import needs
from surefoot.plots.curve_display import CurveDisplay
from surefoot.plots.style import (
    LEGEND_SIZE,
    REFERENCE_COLOUR,
    check_same_axes,
    drawn_points,
    next_colour,
    require_method,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE, KEPT = "training-curve", "rounds-kept"
XLABEL, YLABEL = "rounds", "mean negative log-likelihood"
HELD_OUT = "held-out rows"
Band = tuple[np.ndarray, np.ndarray]


class TrainingCurveDisplay(CurveDisplay):
    """The losses of a gradient booster on several sets of rows, after each round of training.

    A curve that still falls at its right end asks for more rounds, and one that rises for fewer. The dashed line is the
    number of rounds that the model keeps. For an ensemble, a curve is the mean over its members, the band reaches from
    the lowest to the highest of them, and a grey area shows the rounds kept, if members differ in them.

    Parameters
    ----------
    curves : dict
        For each name of a set of rows its losses after one round, after two, and so on.
    bands : dict or None, default=None
        For some of the names, the lowest and the highest loss of the members in each round, as two arrays.
    n_iter : int, sequence of int or None, default=None
        Numbers of rounds that the members keep.
    ylabel : str, default="mean negative log-likelihood"
        Name of the loss.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, after ``plot``.
    lines_, bands_ : dict
        The curves and their bands, by name.
    kept_ : artist or None
        What shows the rounds kept.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import GradientBoostingRegressor
    >>> from surefoot.plots import TrainingCurveDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=60, random_state=0)
    >>> model = model.fit(X[:300], y[:300], eval_sets={"new rows": (X[300:], y[300:])})
    >>> list(TrainingCurveDisplay.from_estimator(model).curves)
    ['held-out rows', 'new rows']
    """

    def __init__(
        self,
        curves: Mapping[str, Any],
        *,
        bands: Mapping[str, Any] | None = None,
        n_iter: int | Sequence[int] | None = None,
        ylabel: str = YLABEL,
    ) -> None:
        self.curves = {name: np.asarray(losses, dtype=np.float64) for name, losses in curves.items()}
        if not self.curves or any(losses.ndim != 1 or not len(losses) for losses in self.curves.values()):
            raise DataError("curves must have at least one name, with a loss for each round.", argument="curves")
        self.bands = {name: _checked_band(name, band, self.curves) for name, band in (bands or {}).items()}
        self.n_iter = [] if n_iter is None else sorted({int(n) for n in np.ravel(n_iter)})
        self.ylabel = ylabel

    @classmethod
    @needs("matplotlib")
    def from_estimator(cls, estimator: Any, *, ax: "Axes | None" = None, **line_kwargs: Any) -> "TrainingCurveDisplay":
        """Draw the losses that a gradient booster has recorded in ``fit``.

        These are the losses of the sets in ``eval_sets`` and, where they are in the same unit, those of the rows that
        were held out to choose the number of rounds. With trial models these are rows that the trial models hold out.

        Parameters
        ----------
        estimator : estimator
            A fitted gradient booster or an ensemble of them.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        TrainingCurveDisplay
            The display, drawn.
        """
        require_method(estimator, "fit", "pass a fitted gradient booster of surefoot.")
        check_is_fitted(estimator)
        require_method(estimator, "validation_losses_", "pass a gradient booster of surefoot.")
        members = getattr(estimator, "estimators_", [estimator])
        by_member = {name: [one.validation_losses_[name] for one in members] for name in estimator.validation_losses_}
        by_member, ylabel = _with_held_out(members, by_member)
        if not by_member:
            message = "estimator has recorded no losses: pass eval_sets to fit, or let early_stopping be True."
            raise ParameterError(message, argument="estimator")
        shared = {name: _common_rounds(losses) for name, losses in by_member.items()}
        curves = {name: losses.mean(axis=0) for name, losses in shared.items()}
        bands = {
            name: (rows.min(axis=0), rows.max(axis=0)) for name, rows in shared.items() if np.ptp(rows, axis=0).any()
        }
        display = cls(curves, bands=bands, n_iter=[one.n_iter_ for one in members], ylabel=ylabel)
        return display.plot(ax=ax, **line_kwargs)

    def _draw(self, ax: "Axes", line_kwargs: dict[str, Any]) -> None:
        check_same_axes(ax, CURVE, self.ylabel, side="y")
        self.lines_, self.bands_ = {}, {}
        for name, losses in self.curves.items():
            places = drawn_points(len(losses))
            style = {"color": next_colour(ax, CURVE), "label": name, "gid": CURVE, "linewidth": 2, **line_kwargs}
            (self.lines_[name],) = ax.plot(places + 1, losses[places], **style)
            if name in self.bands:
                low, high = (end[places] for end in self.bands[name])
                colour = self.lines_[name].get_color()
                self.bands_[name] = ax.fill_between(places + 1, low, high, color=colour, alpha=0.2, linewidth=0)
        self.kept_ = self._draw_kept(ax)
        ax.set_xlabel(XLABEL)
        ax.set_ylabel(self.ylabel, parse_math=False)
        ax.legend(frameon=False, fontsize=LEGEND_SIZE)

    def _draw_kept(self, ax: "Axes") -> Any:
        """A line at the number of rounds kept, or an area over the numbers of all members."""
        if not self.n_iter:
            return None
        low, high = self.n_iter[0], self.n_iter[-1]
        style: dict[str, Any] = {"color": REFERENCE_COLOUR, "gid": KEPT, "zorder": 0}
        if low == high:
            return ax.axvline(low, linestyle="--", linewidth=1, label=f"{low:,} rounds kept", **style)
        return ax.axvspan(low, high, alpha=0.15, linewidth=0, label=f"{low:,} to {high:,} rounds kept", **style)


def _checked_band(name: str, band: Any, curves: Mapping[str, np.ndarray]) -> Band:
    if name not in curves:
        raise DataError(f"bands has {name!r}, which curves does not have.", argument="bands")
    low, high = (np.asarray(end, dtype=np.float64) for end in band)
    if low.shape != curves[name].shape or high.shape != curves[name].shape:
        raise DataError(f"bands[{name!r}] must have two ends for each of {len(curves[name])} rounds.", argument="bands")
    return low, high


def _common_rounds(losses: Sequence[np.ndarray]) -> np.ndarray:
    """The losses of all members (members, rounds), as far as all of them were trained."""
    n_rounds = min(map(len, losses))
    return np.array([own[:n_rounds] for own in losses])


def _with_held_out(
    members: Sequence[Any], by_member: dict[str, list[np.ndarray]]
) -> tuple[dict[str, list[np.ndarray]], str]:
    """The losses of the held-out rows too, first, if they are in the unit of the others; and the name of the loss."""
    held_out = [one.validation_loss_ for one in members]
    if not min(map(len, held_out)):
        return by_member, YLABEL
    offset = _constant_offset(members[0].family_)
    if offset is not None:
        return {HELD_OUT: [losses + offset for losses in held_out], **by_member}, YLABEL
    return (by_member, YLABEL) if by_member else ({HELD_OUT: held_out}, f"{YLABEL}, less a constant")


def _constant_offset(family: Any) -> float | None:
    """What the loss of held-out rows lacks in the unit of the target; None if that depends on the rows."""
    if not hasattr(family, "nll_offset"):
        return 0.0
    one, other = family.nll_offset(np.array([1.0, 2.0]))
    return float(one) if one == other else None
