"""The uncertainty of a model for some rows: its distribution, or a map over two features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._extras import needs
from surefoot._parameters import check_choice
from surefoot.metrics.auc import ood_auc
from surefoot.plots.feature_map import FeatureMap, columns_of
from surefoot.plots.style import (
    ADD_UNCERTAINTY,
    KINDS,
    axes_or_new,
    check_same_axes,
    drawn_points,
    legend_above_curves,
    next_colour,
    percent_axes,
    require_method,
    uncertainty_values,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("auto", "distribution", "map")
UNITS = {"target squared": "target²"}
CURVE = "uncertainty-curve"
WIDE_RANGE = 30.0  # if the 95% quantile is more than 30 times the 5% quantile, the scale is logarithmic


class UncertaintyDisplay:
    """Total, data or knowledge uncertainty of rows.

    As a distribution: the fraction of rows with at most a given uncertainty, for in-domain rows and, dashed, for
    out-of-domain rows; the legend shows the area under the ROC curve of separating them. Or as a map: the plane of two
    features, coloured by uncertainty.

    Parameters
    ----------
    uncertainty : Uncertainty
        The result of ``predict_uncertainty`` for the rows, with ``total``, ``data``, ``knowledge`` and ``unit``.
    uncertainty_ood : Uncertainty or None
        The same for out-of-domain rows.
    feature_map : FeatureMap or None
        The positions of the rows on the plane of two features.
    name : str or None
        Name of the model in the legend, or the title of a map.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, after ``plot``.
    lines_
        The curves of a distribution.
    image_, colorbar_
        The coloured cells or points of a map, and its scale.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from surefoot.plots import UncertaintyDisplay
    >>> def predict_uncertainty(X):
    ...     data, knowledge = np.full(len(X), 0.1), 0.01 * (X**2).sum(axis=1)
    ...     return SimpleNamespace(total=data + knowledge, data=data, knowledge=knowledge, unit="target squared")
    >>> model = SimpleNamespace(predict_uncertainty=predict_uncertainty)
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> display = UncertaintyDisplay.from_estimator(model, X, X + 2, name="demo")
    >>> display.ax_.get_xlabel()
    'uncertainty (target²)'
    """

    def __init__(
        self,
        uncertainty: Any,
        *,
        uncertainty_ood: Any = None,
        feature_map: FeatureMap | None = None,
        name: str | None = None,
    ) -> None:
        self.uncertainty = uncertainty
        self.uncertainty_ood = uncertainty_ood
        self.feature_map = feature_map
        self.name = name

    @classmethod
    @needs("matplotlib")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        X_ood: Any = None,
        *,
        features: Any = None,
        kind: str = "knowledge",
        style: str = "auto",
        name: str | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "UncertaintyDisplay":
        """Compute the uncertainty of a fitted model with ``predict_uncertainty``, and draw it.

        Parameters
        ----------
        estimator : fitted model
            A model with ``predict_uncertainty``.
        X : array or frame of shape (n_rows, n_columns)
            In-domain rows.
        X_ood : array or frame of shape (n_ood_rows, n_columns) or None, default=None
            Out-of-domain rows, for comparison.
        features : pair of str or int, or None, default=None
            Two columns, by name or position, for a map over them. None: a map if ``X`` has two columns and there is no
            ``X_ood``.
        kind : str, default="knowledge"
            ``"total"``, ``"data"`` or ``"knowledge"`` uncertainty.
        style : str, default="auto"
            ``"map"``, ``"distribution"``, or ``"auto"``: a map where the two features are known.
        name : str or None, default=None
            Name of the model in the legend, or the title of a map. None: the name of its class.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **kwargs
            Passed on to matplotlib: to ``plot`` for a distribution, to ``pcolormesh`` or ``scatter`` for a map.

        Returns
        -------
        UncertaintyDisplay
            The display, drawn.
        """
        require_method(estimator, "predict_uncertainty", ADD_UNCERTAINTY)
        if features is not None and X_ood is not None:
            raise ParameterError("features are for a map, which shows one table: leave out X_ood, or append it to X.")
        uncertainty = estimator.predict_uncertainty(X)
        has_plane = X_ood is None and len(columns_of(X)) == 2
        is_map = features is not None or style == "map" or (style == "auto" and has_plane)
        display = cls(
            uncertainty,
            uncertainty_ood=None if X_ood is None else estimator.predict_uncertainty(X_ood),
            feature_map=FeatureMap.from_table(X, features) if is_map else None,
            name=name or type(estimator).__name__,
        )
        return display.plot(ax=ax, kind=kind, style=style, **kwargs)

    def plot(
        self, ax: "Axes | None" = None, *, kind: str = "knowledge", style: str = "auto", **kwargs: Any
    ) -> "UncertaintyDisplay":
        """Draw a distribution or a map.

        Several distributions, of different kinds or models, can share axes.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        kind : str, default="knowledge"
            ``"total"``, ``"data"`` or ``"knowledge"`` uncertainty.
        style : str, default="auto"
            ``"map"``, ``"distribution"``, or ``"auto"``: a map where the two features are known.
        **kwargs
            Passed on to matplotlib: to ``plot`` for a distribution, to ``pcolormesh`` or ``scatter`` for a map.

        Returns
        -------
        UncertaintyDisplay
            The display itself, drawn.
        """
        check_choice("kind", kind, KINDS)
        check_choice("style", style, STYLES)
        if style == "map" and (self.feature_map is None or self.uncertainty_ood is not None):
            raise ParameterError('style="map" needs the two features of one table: pass features, and no X_ood.')
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        if self.feature_map is None or style == "distribution":
            self._draw_distribution(self.ax_, kind, kwargs)
        else:
            self._draw_map(self.ax_, kind, self.feature_map, kwargs)
        return self

    def _draw_map(self, ax: "Axes", kind: str, feature_map: FeatureMap, kwargs: dict[str, Any]) -> None:
        self.image_ = feature_map.draw(ax, uncertainty_values(self.uncertainty, kind), **kwargs)
        unit = UNITS.get(self.uncertainty.unit, self.uncertainty.unit)
        self.colorbar_ = ax.figure.colorbar(self.image_, ax=ax, label=f"{kind} uncertainty ({unit})")
        if self.name is not None:
            ax.set_title(self.name)

    def _draw_distribution(self, ax: "Axes", kind: str, kwargs: dict[str, Any]) -> None:
        xlabel = f"uncertainty ({UNITS.get(self.uncertainty.unit, self.uncertainty.unit)})"
        values = uncertainty_values(self.uncertainty, kind)
        label = kind if self.name is None else f"{self.name}, {kind}"
        style: dict[str, Any] = {"color": next_colour(ax, CURVE), "linewidth": 2, **kwargs}
        if not check_same_axes(ax, CURVE, xlabel):
            percent_axes(ax.yaxis)
            ax.set(xlabel=xlabel, ylabel="fraction of rows with at most this uncertainty")
        if self.uncertainty_ood is None:
            self.lines_ = [_draw_steps(ax, values, {"label": label, "gid": CURVE, **style})]
        else:
            others = uncertainty_values(self.uncertainty_ood, kind)
            auc = ood_auc(values, others)
            inside = {"label": label, "gid": CURVE, **style}
            outside = {"label": f"the same for out-of-domain rows (ROC-AUC {auc:.2f})", "linestyle": "--", **style}
            self.lines_ = [_draw_steps(ax, values, inside), _draw_steps(ax, others, outside)]
        _choose_scale(ax)
        legend_above_curves(ax, top=1.02)


def _draw_steps(ax: "Axes", values: np.ndarray, style: dict[str, Any]) -> Any:
    """The cumulative distribution of ``values`` as steps."""
    ordered, shown = np.sort(values), drawn_points(len(values))
    x = np.concatenate([ordered[:1], ordered[shown]])
    (line,) = ax.plot(x, np.concatenate([[0.0], (shown + 1) / len(ordered)]), **{"drawstyle": "steps-post", **style})
    return line


def _choose_scale(ax: "Axes") -> None:
    """Make the x axis logarithmic if the values drawn so far have a wide range; zeros are then left of the axes."""
    drawn = np.concatenate([line.get_xdata() for line in ax.lines])
    positive = drawn[drawn > 0]
    if len(positive) and np.quantile(positive, 0.95) > WIDE_RANGE * np.quantile(positive, 0.05):
        ax.set_xscale("log")
