"""What a model predicts on average along one column, with a band of knowledge uncertainty."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError, ParameterError
from surefoot._extras import needs
from surefoot._parameters import check_number
from surefoot.plots.dependence import ColumnValues, column_position, member_predictor
from surefoot.plots.style import LEGEND_SIZE, axes_or_new, check_same_axes, next_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE = "dependence-curve"
BAND_STDS = 2.0  # half of the width of the band, in standard deviations of the members
DECILES = np.arange(0.1, 0.95, 0.1)
ADVICE = "pass a fitted model with predict, an ensemble of surefoot or a VirtualEnsemble."


class DependenceDisplay:
    """The partial dependence of a model on one column: its mean prediction if all rows had the same value.

    The line is the mean over the members of an ensemble, and the band is two standard deviations of the members on
    either side: where it is wide, the members disagree about the effect of the column. A single model has no band.
    For regressors, the means of the predicted quantiles can be drawn as well: they show the noise of the target.

    Parameters
    ----------
    feature : str
        Name of the column.
    positions : array of shape (n_points,)
        The values of the column; 0, 1, 2, ... for categories.
    members : array of shape (n_members, n_points)
        The mean prediction of each member at each value.
    quantiles : dict or None, default=None
        From a level to the mean predicted quantile (n_points,) of this level.
    categories : sequence of str or None, default=None
        Names of the categories.
    present : array of shape (n_rows,) or None, default=None
        Where the rows are; their deciles are drawn as ticks at the bottom.
    ylabel : str, default="mean prediction"
        What is predicted.
    name : str or None, default=None
        Name of the model in the legend.

    Attributes
    ----------
    mean, std
        The mean and the standard deviation of the members, for each value.
    ax_, figure_
        The axes and the figure, after ``plot``.
    line_, band_, quantile_lines_
        The mean, the band (None for a single model), and the quantiles.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import BoostingEnsembleRegressor
    >>> from surefoot.plots import DependenceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = BoostingEnsembleRegressor(n_members=3, n_estimators=30, random_state=0).fit(X, y)
    >>> display = DependenceDisplay.from_estimator(model, X, "bmi", grid_resolution=5)
    >>> display.mean.shape, display.members.shape, display.ax_.get_xlabel()
    ((5,), (3, 5), 'bmi')
    """

    def __init__(
        self,
        feature: str,
        positions: Any,
        members: Any,
        *,
        quantiles: dict[float, Any] | None = None,
        categories: Sequence[str] | None = None,
        present: Any = None,
        ylabel: str = "mean prediction",
        name: str | None = None,
    ) -> None:
        self.feature, self.ylabel, self.name = feature, ylabel, name
        self.positions = np.asarray(positions, dtype=np.float64)
        self.members = np.asarray(members, dtype=np.float64)
        if self.members.ndim != 2 or self.members.shape[1] != len(self.positions) or not len(self.members):
            raise DataError(
                f"members must have shape (n_members, {len(self.positions)}), for the positions; got "
                f"{self.members.shape}."
            )
        self.quantiles = {level: np.asarray(values) for level, values in (quantiles or {}).items()}
        self.categories = None if categories is None else tuple(categories)
        self.present = None if present is None else np.asarray(present, dtype=np.float64)
        self.mean, self.std = self.members.mean(axis=0), self.members.std(axis=0)

    @classmethod
    @needs("matplotlib")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        feature: Any,
        *,
        target: Any = None,
        quantiles: Sequence[float] = (),
        sample_weight: Any = None,
        grid_resolution: int = 50,
        percentiles: tuple[float, float] = (0.05, 0.95),
        name: str | None = None,
        ax: "Axes | None" = None,
        **line_kwargs: Any,
    ) -> "DependenceDisplay":
        """Compute the partial dependence of a fitted model, and draw it.

        Parameters
        ----------
        estimator : fitted model
            An ensemble of surefoot or a `VirtualEnsemble`, with a band; or any regressor or classifier, without. Unless
            truncated, the members of a virtual ensemble are on the same side in all rows: the band is wider than that
            of independent members, and is an upper limit.
        X : array or frame of shape (n_rows, n_columns)
            Rows to average over: a few hundred are enough.
        feature : str or int
            The column, by name or position.
        target : label, default=None
            The class whose probability is drawn. None: the second of two classes; for regressors, always None.
        quantiles : sequence of float, default=()
            Levels of predicted quantiles to draw, such as ``(0.05, 0.95)``, for models with ``predict_distribution``.
        sample_weight : array of shape (n_rows,) or None, default=None
            Weights of the rows in the means.
        grid_resolution : int, default=50
            Number of values; if the column has fewer, they are all used. All categories are used, always.
        percentiles : pair of float, default=(0.05, 0.95)
            The percentiles of the column between which values lie; a wider range shows where there are few rows.
        name : str or None, default=None
            Name of the model in the legend.
        ax : matplotlib Axes or None, default=None
            Where to draw; several models can share axes. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot`` of the mean.

        Returns
        -------
        DependenceDisplay
            The display, drawn.
        """
        model = _check_model(estimator, quantiles)
        listed = getattr(getattr(model, "_schema", None), "categories", {})
        column = ColumnValues.of(X, feature, grid_resolution, percentiles, column_position(X, feature)[1] in listed)
        predict = member_predictor(estimator, target)
        members, by_level = [], []
        for table in column.tables(X):
            members.append(np.average(predict(table), axis=1, weights=sample_weight))
            by_level.append(_mean_quantiles(model, table, quantiles, sample_weight))
        display = cls(
            column.name,
            column.numbers,
            np.stack(members, axis=1),
            quantiles=dict(zip(quantiles, np.array(by_level).T, strict=True)),
            categories=column.categories,
            present=column.present,
            ylabel=_ylabel(model, target),
            name=name,
        )
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "DependenceDisplay":
        """Draw the mean, the band and the quantiles.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot`` of the mean.

        Returns
        -------
        DependenceDisplay
            The display itself, drawn.
        """
        ax = axes_or_new(ax)
        is_second = check_same_axes(ax, CURVE, self.feature)
        style = {"color": next_colour(ax, CURVE), **line_kwargs}
        if self.categories is None:
            self._draw_curve(ax, style)
        else:
            self._draw_categories(ax, style)
        ax.set(xlabel=self.feature, ylabel=self.ylabel)
        if self.present is not None and self.categories is None and not is_second:
            self._draw_deciles(ax)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=False, fontsize=LEGEND_SIZE)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    def _label(self) -> str:
        return "mean" if self.name is None else self.name

    @property
    def _band_label(self) -> str:
        return f"± {BAND_STDS:g} standard deviations of {len(self.members)} members"

    def _draw_curve(self, ax: "Axes", style: dict[str, Any]) -> None:
        self.band_: Any = None
        if len(self.members) > 1:
            low, high = self.mean - BAND_STDS * self.std, self.mean + BAND_STDS * self.std
            self.band_ = ax.fill_between(
                self.positions, low, high, color=style["color"], alpha=0.25, linewidth=0, label=self._band_label
            )
        (self.line_,) = ax.plot(self.positions, self.mean, gid=CURVE, **{"label": self._label, **style})
        self.quantile_lines_ = [
            ax.plot(
                self.positions, values, color=style["color"], linestyle="--", linewidth=1, label=f"{level:g} quantile"
            )[0]
            for level, values in self.quantiles.items()
        ]

    def _draw_categories(self, ax: "Axes", style: dict[str, Any]) -> None:
        self.band_ = None
        if len(self.members) > 1:
            self.band_ = ax.errorbar(
                self.positions,
                self.mean,
                yerr=BAND_STDS * self.std,
                fmt="none",
                ecolor=style["color"],
                elinewidth=6,
                alpha=0.35,
                label=self._band_label,
            )
        points = {"linestyle": "none", "marker": "o", "label": self._label, **style}
        (self.line_,) = ax.plot(self.positions, self.mean, gid=CURVE, **points)
        self.quantile_lines_ = [
            ax.plot(
                self.positions, values, color=style["color"], linestyle="none", marker="_", label=f"{level:g} quantile"
            )[0]
            for level, values in self.quantiles.items()
        ]
        ax.set_xticks(self.positions, list(self.categories or ()))
        ax.set_xlim(-0.5, len(self.positions) - 0.5)

    def _draw_deciles(self, ax: "Axes") -> None:
        """Short ticks at the bottom: between two of them is a tenth of the rows."""
        present = np.sort(np.asarray(self.present))
        deciles = np.quantile(present, DECILES)
        shown = deciles[(deciles >= self.positions[0]) & (deciles <= self.positions[-1])]
        ax.vlines(shown, 0, 0.03, transform=ax.get_xaxis_transform(), color="0.3", linewidth=1)


def _check_model(estimator: Any, quantiles: Sequence[float]) -> Any:
    """The model inside a virtual ensemble, or the model itself; an error if it cannot be drawn."""
    is_virtual = hasattr(estimator, "predict_members")
    if isinstance(estimator, type) or not (is_virtual or hasattr(estimator, "predict")):
        raise ParameterError(f"estimator has no predict: {ADVICE}")
    model = estimator.model if is_virtual else estimator
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    for level in quantiles:
        check_number("quantiles", level, 0, 1, include_boundaries="neither")
    if len(quantiles) and not hasattr(model, "predict_distribution"):
        raise ParameterError(f"quantiles are for models with predict_distribution, got {type(model).__name__}.")
    return model


def _mean_quantiles(model: Any, table: Any, levels: Sequence[float], sample_weight: Any) -> list[float]:
    if not len(levels):
        return []
    distribution = model.predict_distribution(table)
    return [float(np.average(distribution.quantile(level), weights=sample_weight)) for level in levels]


def _ylabel(model: Any, target: Any) -> str:
    labels = getattr(model, "classes_", None)
    if labels is None and target is None:
        return "mean prediction"
    return f"mean probability of {target if labels is None or target is not None else labels[1]}"
