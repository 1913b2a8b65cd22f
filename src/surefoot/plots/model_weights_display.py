"""The heaviest models and their items, as a chart."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._extras import needs
from surefoot._formatting import shortened
from surefoot._parameters import check_integer
from surefoot.plots.style import (
    COLOURS,
    LEGEND_SIZE,
    LETTER,
    REFERENCE_COLOUR,
    axes_or_new,
    legend_above_axes,
    require_stable_selector,
    room_in_inches,
    wrapped,
)
from surefoot.selection.chosen_models import item_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY_ITEMS = 25  # with more items, those in none of the shown models are left out
MAX_COLUMNS = 60  # of squares, by default
MAX_LETTERS = 24  # of an item's name
MAX_MODEL_LETTERS = 44  # of a model that is not a set
SQUARE = 0.28  # inches
SELECTED, NOT_SELECTED = COLOURS[0], "0.78"


class ModelWeightsDisplay:
    """The heaviest models, with their weights.

    Models that are sets, such as sets of variables, are rows of squares: black if the model has the variable. Other
    models are bars with their text. A dot marks selected models. A note below the axes lists what is left out.

    Parameters
    ----------
    weights : mapping of models to weights
        Such as the ``weights_`` of a `StableSelector`, or a `ModelWeights` of means over several of them.
    items : sequence or None
        The items that models are sets of, in the order of the columns. None: the models are not sets.
    selected : collection of models
        The models to mark with a dot.
    top : int, default=10
        The number of models to show.
    max_columns : int or None
        The maximum number of columns of squares. The items with the largest weight are drawn, and a number such as +2
        beside a model is the number of its items that are not drawn. None: 60; if there are many items, those in none
        of the shown models are left out as well.
    noun : str, default="items"
        The word for items in the note below the axes, in the plural.
    note : str or None
        A further note.
    name : str or None
        The title.

    Attributes
    ----------
    models, shares : list of models, and array of their weights
        The shown models, heaviest first.
    columns : list of items or None
        The shown items; None if there are bars instead.
    squares : bool array of shape (n_models, n_columns) or None
        Which of these items each model has.
    remarks : list of str
        The notes below the axes.
    ax_, figure_
        The axes and the figure, after ``plot``.
    mesh_, dots_, bars_
        The squares and the marks of selected models, or the bars.

    Examples
    --------
    >>> from surefoot.plots.model_weights_display import ModelWeightsDisplay
    >>> weights = {("age", "bmi"): 0.5, ("age",): 0.3, ("bmi",): 0.2}
    >>> display = ModelWeightsDisplay(weights, items=("age", "bmi", "sex"), selected=[("age", "bmi")], top=2).plot()
    >>> display.squares
    array([[ True,  True, False],
           [ True, False, False]])
    >>> display.remarks
    ['1 further model has 20% of the weight']
    """

    def __init__(
        self,
        weights: Mapping[Any, float],
        *,
        items: Sequence[Hashable] | None = None,
        selected: Collection[Hashable] = (),
        top: int = 10,
        max_columns: int | None = None,
        noun: str = "items",
        note: str | None = None,
        name: str | None = None,
    ) -> None:
        if len(weights) == 0:
            raise DataError("weights is empty: at least one model is needed.")
        order = sorted(weights, key=lambda model: -weights[model])
        self.models = order[: check_integer("top", top, 1)]
        self.shares = np.array([weights[model] for model in self.models], dtype=np.float64)
        self.is_selected = np.array([model in set(selected) for model in self.models])
        self.noun, self.name = noun, name
        self.remarks = _remarks_on_models(order[len(self.models) :], weights, set(selected) - set(self.models))
        self.columns: list[Hashable] | None = None
        self.squares: np.ndarray | None = None
        self.n_hidden = np.zeros(len(self.models), dtype=np.int64)
        limit = MAX_COLUMNS if max_columns is None else check_integer("max_columns", max_columns, 1)
        if items is not None:
            self._make_squares(list(items), limit, tidy=max_columns is None)
        self.remarks += [] if note is None else [note]

    def _make_squares(self, items: list[Hashable], limit: int, *, tidy: bool) -> None:
        """Choose the items to show, and set which of them each model has."""
        has = _members(self.models, items)
        used = has.any(axis=0)
        keep = used.copy() if len(items) > min(limit, MANY_ITEMS if tidy else limit) else np.ones(len(items), np.bool_)
        if keep.sum() > limit:
            heaviest = np.argsort(-(self.shares @ has), kind="stable")[:limit]
            keep = np.isin(np.arange(len(items)), heaviest)
        if not keep.any():
            return  # only the empty model: there is nothing to draw as squares
        self.columns, self.squares = [items[j] for j in np.flatnonzero(keep)], has[:, keep]
        self.n_hidden = has[:, ~keep].sum(axis=1)
        self.remarks = _remarks_on_items((~keep & ~used).sum(), (~keep & used).sum(), self.noun) + self.remarks

    @classmethod
    @needs("matplotlib")
    def from_estimator(
        cls,
        estimator: Any,
        *,
        top: int = 10,
        max_columns: int | None = None,
        name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ModelWeightsDisplay":
        """Draw the models of a fitted `StableSelector`, with the selected ones marked.

        Parameters
        ----------
        estimator : StableSelector
            A fitted selector.
        top : int, default=10
            The number of models to show, heaviest first.
        max_columns : int or None, default=None
            The maximum number of columns of squares. None: 60; if there are many items, those in none of the shown
            models are left out as well.
        name : str or None, default=None
            The title.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes of a suitable size.

        Returns
        -------
        ModelWeightsDisplay
            The display, drawn.
        """
        require_stable_selector(estimator)
        prepared = estimator._bagging.prepared
        display = cls(
            estimator.weights_,
            items=prepared.items,
            selected=estimator.selected_,
            top=top,
            max_columns=max_columns,
            noun="columns" if prepared.are_variables else "items",
            note="the bags cannot tell: models that none of them chose would be selected as well"
            if estimator.undecided_
            else None,
            name=name,
        )
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "ModelWeightsDisplay":
        """Draw squares, or bars for models that are not sets.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes of a suitable size.

        Returns
        -------
        ModelWeightsDisplay
            The display itself, drawn.
        """
        if self.columns is None:
            ax = axes_or_new(ax, figsize=(6.4, 1.4 + 0.34 * len(self.models)))
            self._draw_bars(ax)
        else:
            labels = [shortened(item_name(item), MAX_LETTERS) for item in self.columns]
            ax = axes_or_new(ax, figsize=self._figsize(labels))
            self._draw_squares(ax, labels, np.asarray(self.squares))
        if self.name is not None:
            ax.set_title(self.name, pad=22 if self.is_selected.any() else None)  # above the legend
        letters = max(30, int(room_in_inches(ax)[0] / LETTER))  # in a line not much wider than the figure
        ax.set_xlabel(wrapped(self.remarks, letters), fontsize=LEGEND_SIZE, color=REFERENCE_COLOUR, linespacing=1.4)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _figsize(self, labels: list[str]) -> tuple[float, float]:
        height = LETTER * max(map(len, labels)) + 0.25 * len(self.remarks) + (0.3 if self.name else 0.0)
        return max(4.4, 1.7 + SQUARE * len(labels)), 0.8 + SQUARE * len(self.models) + height

    def _draw_squares(self, ax: "Axes", labels: list[str], squares: np.ndarray) -> None:
        n_models, n_columns = squares.shape
        style: dict[str, Any] = {"cmap": "binary", "vmin": 0, "vmax": 1, "edgecolors": "0.7", "linewidth": 0.6}
        self.mesh_ = ax.pcolormesh(squares, **style, clip_on=False)  # half of the outer lines is outside the axes
        self._mark_selected(ax)
        turn = 90 if max(map(len, labels)) > 2 else 0
        ax.set_xticks(np.arange(n_columns) + 0.5, labels, rotation=turn, fontsize=LEGEND_SIZE, parse_math=False)
        weights = [
            text + (f"  +{n}" if n else "") for text, n in zip(_percents(self.shares), self.n_hidden, strict=True)
        ]
        ax.set_yticks(np.arange(n_models) + 0.5, weights)
        ax.yaxis.tick_right()
        self._embolden(ax)
        ax.yaxis.set_label_position("right")
        ax.set_ylabel("weight", rotation=270, va="bottom")
        ax.tick_params(length=0)
        ax.set(aspect="equal", xlim=(0, n_columns), ylim=(n_models, 0))
        ax.spines[:].set_visible(False)

    def _mark_selected(self, ax: "Axes") -> None:
        rows = np.flatnonzero(self.is_selected)
        style: dict[str, Any] = {"marker": "o", "markersize": 6, "linestyle": "none", "color": SELECTED}
        (self.dots_,) = ax.plot(np.full(len(rows), -0.55), rows + 0.5, **style, clip_on=False, label="selected")
        if len(rows):
            legend_above_axes(ax, [self.dots_], handletextpad=0.3, borderaxespad=0.2)

    def _embolden(self, ax: "Axes") -> None:
        for row in np.flatnonzero(self.is_selected):
            ax.get_yticklabels()[row].set_fontweight("bold")

    def _draw_bars(self, ax: "Axes") -> None:
        places = np.arange(len(self.models))
        colours = [SELECTED if is_selected else NOT_SELECTED for is_selected in self.is_selected]
        self.bars_ = ax.barh(places, self.shares, color=colours, height=0.7)
        ax.bar_label(self.bars_, _percents(self.shares), padding=3, fontsize=LEGEND_SIZE)
        labels = [shortened(_text(model), MAX_MODEL_LETTERS) for model in self.models]
        ax.set_yticks(places, labels, fontsize=LEGEND_SIZE, parse_math=False)
        self._embolden(ax)
        ax.set(xticks=[], xlim=(0, 1.18 * self.shares.max()), ylim=(len(places) - 0.5, -0.5))
        ax.tick_params(length=0)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        if self.is_selected.any():
            bar = self.bars_[int(np.argmax(self.is_selected))]
            bar.set_label("selected")
            legend_above_axes(ax, [bar], handletextpad=0.3, borderaxespad=0.2)


def _members(models: Sequence[Any], items: list[Hashable]) -> np.ndarray:
    """Which of the items each model has: bool (models, items)."""
    places = {item: place for place, item in enumerate(items)}
    has = np.zeros((len(models), len(items)), dtype=np.bool_)
    for row, model in enumerate(models):
        for item in model:
            if item not in places:
                raise DataError(f"items lacks {item!r}, which a model has: pass all items of the models.")
            has[row, places[item]] = True
    return has


def _remarks_on_items(n_unused: int, n_used: int, noun: str) -> list[str]:
    remarks = []
    if n_unused:
        remarks.append(f"{_counted(n_unused, noun)} {'is' if n_unused == 1 else 'are'} in none of these models")
    if n_used:
        remarks.append(f"{_counted(n_used, noun)} of these models {'is' if n_used == 1 else 'are'} not shown (+)")
    return remarks


def _remarks_on_models(others: list[Hashable], weights: Mapping[Any, float], selected: set[Hashable]) -> list[str]:
    """Remarks on models that are not shown."""
    remarks = []
    if others:
        rest = f"{100 * sum(weights[model] for model in others):.3g}%"
        remarks.append(
            f"{_counted(len(others), 'models')} {'has' if len(others) == 1 else 'have'} {rest} of the weight"
        )
    if selected:
        models, are = ("model", "is") if len(selected) == 1 else ("models", "are")
        remarks.append(f"{len(selected):,} {models} that {are} not shown {are} also selected")
    return remarks


def _counted(number: int, noun: str) -> str:
    return f"{number:,} further {noun.removesuffix('s') if number == 1 else noun}"


def _percents(weights: np.ndarray) -> list[str]:
    """The weights in percent, all with the same number of decimals."""
    digits = 1 if weights.min() >= 0.01 else 2
    return [f"{weight:.{digits}%}" for weight in weights]


def _text(model: Any) -> str:
    """The text of a model that is not a set of items, on one line: nested tuples, without quotes."""
    if isinstance(model, tuple | frozenset):
        parts = [_text(part) if part else str(part) for part in model]
        return "(" + ", ".join(sorted(parts) if isinstance(model, frozenset) else parts) + ")" if parts else "nothing"
    return " ".join(str(model).split())
