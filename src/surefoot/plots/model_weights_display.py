"""The models that most bags chose, and what is in them."""

import textwrap
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError
from surefoot._extras import needs
from surefoot._formatting import shortened
from surefoot._parameters import check_integer
from surefoot.plots.style import COLOURS, LEGEND_SIZE, REFERENCE_COLOUR, axes_or_new, require_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY_ITEMS = 25  # of more, those that no shown model has are left out
MAX_COLUMNS = 60  # that are drawn unless more are asked for
MAX_LETTERS = 24  # of an item's name
MAX_MODEL_LETTERS = 44  # of a model that is not a set
SQUARE = 0.28  # inches
LETTER = 0.063  # inches, of a letter of a label
SELECTED, NOT_SELECTED = COLOURS[0], "0.78"


class ModelWeightsDisplay:
    """The heaviest models, with their weights.

    Models that are sets, such as sets of variables, are rows of squares: black where the model has the variable. Others
    are bars with their text. A dot marks selected models. A note below the axes lists what is left out.

    Parameters
    ----------
    weights : mapping of models to weights
        Such as the ``weights_`` of a `StableSelector`, or a `ModelWeights` of means over several of them.
    items : sequence or None
        What the models are sets of, in the order of the columns. None: the models are not sets.
    selected : collection of models
        The models that a dot marks.
    top : int, default=10
        How many models are shown.
    max_columns : int or None
        How many columns of squares are drawn at most. Those in the heaviest models are, and a number such as +2 beside
        a model is the number of its squares that are not. None: 60, and none that no shown model has if there are many.
    noun : str, default="items"
        What the note below the axes calls the items, in the plural.
    note : str or None
        A further note.
    name : str or None
        The title.

    Attributes
    ----------
    models, shares : list of models, and array of their weights
        Those that are shown, heaviest first.
    columns : list of items or None
        Those that are shown, and None where there are bars instead.
    squares : bool array of shape (n_models, n_columns) or None
        Which of them each model has.
    remarks : list of str
        The notes below the axes.
    ax_, figure_
        What has been drawn on, after ``plot``.
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
        """Which items each model has, of those that are shown."""
        has = _members(self.models, items)
        used = has.any(axis=0)
        keep = used.copy() if len(items) > min(limit, MANY_ITEMS if tidy else limit) else np.ones(len(items), np.bool_)
        if keep.sum() > limit:
            heaviest = np.argsort(-(self.shares @ has), kind="stable")[:limit]
            keep = np.isin(np.arange(len(items)), heaviest)
        if not keep.any():
            return  # the empty model alone: there is nothing to draw squares of
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
            A fitted one.
        top : int, default=10
            How many models are shown, heaviest first.
        max_columns : int or None, default=None
            How many columns of squares are drawn at most. None: 60, and none that no shown model has if there are many.
        name : str or None, default=None
            The title.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes of a suitable size.

        Returns
        -------
        ModelWeightsDisplay
            The display, drawn.
        """
        require_method(estimator, "leave_one_out", "pass a fitted StableSelector.")
        check_is_fitted(estimator)
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
        """Draw the squares, or the bars of models that are not sets.

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
            labels = [_label(item) for item in self.columns]
            ax = axes_or_new(ax, figsize=self._figsize(labels))
            self._draw_squares(ax, labels, np.asarray(self.squares))
        if self.name is not None:
            ax.set_title(self.name, pad=22 if self.is_selected.any() else None)  # above the legend
        ax.set_xlabel(_wrapped(self.remarks, ax), fontsize=LEGEND_SIZE, color=REFERENCE_COLOUR, linespacing=1.4)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _figsize(self, labels: list[str]) -> tuple[float, float]:
        height = LETTER * max(map(len, labels)) + 0.25 * len(self.remarks) + (0.3 if self.name else 0.0)
        return max(4.4, 1.7 + SQUARE * len(labels)), 0.8 + SQUARE * len(self.models) + height

    def _draw_squares(self, ax: "Axes", labels: list[str], squares: np.ndarray) -> None:
        n_models, n_columns = squares.shape
        style: dict[str, Any] = {"cmap": "binary", "vmin": 0, "vmax": 1, "edgecolors": "0.7", "linewidth": 0.6}
        self.mesh_ = ax.pcolormesh(squares, **style, clip_on=False)  # the outer lines lie half outside
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
            _legend_above(ax, [self.dots_])

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
            _legend_above(ax, [bar])


def _members(models: Sequence[Any], items: list[Hashable]) -> np.ndarray:
    """Which of the items each model has: bool (models, items)."""
    places = {item: place for place, item in enumerate(items)}
    has = np.zeros((len(models), len(items)), dtype=np.bool_)
    for row, model in enumerate(models):
        for item in model:
            if item not in places:
                raise DataError(f"items lacks {item!r}, which a model has: name everything that models may have.")
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
    """What is to be said about models that are not shown."""
    remarks = []
    if others:
        rest = _percent(sum(weights[model] for model in others))
        remarks.append(
            f"{_counted(len(others), 'models')} {'has' if len(others) == 1 else 'have'} {rest} of the weight"
        )
    if selected:
        are = "one that is not shown is" if len(selected) == 1 else f"{len(selected):,} that are not shown are"
        remarks.append(f"{are} selected as well")
    return remarks


def _counted(number: int, noun: str) -> str:
    return f"{number:,} further {noun.removesuffix('s') if number == 1 else noun}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _percents(shares: np.ndarray) -> list[str]:
    """All with as many digits after the point."""
    digits = 1 if shares.min() >= 0.01 else 2
    return [f"{share:.{digits}%}" for share in shares]


def _label(item: Any) -> str:
    """The name of a variable; both ends of an edge; an equation and its term."""
    return shortened(" - ".join(map(str, item)) if isinstance(item, tuple) else str(item), MAX_LETTERS)


def _text(model: Any) -> str:
    """A model that is not drawn as squares: nested tuples without their quotes, and all on one line."""
    if isinstance(model, tuple | frozenset):
        parts = [_text(part) if part else str(part) for part in model]
        return "(" + ", ".join(sorted(parts) if isinstance(model, frozenset) else parts) + ")" if parts else "nothing"
    return " ".join(str(model).split())


def room_in_inches(ax: "Axes") -> tuple[float, float]:
    """How wide and how high ``ax`` may become, whatever its aspect has made of it."""
    box = ax.get_position(original=True).transformed(ax.figure.transSubfigure)
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def _wrapped(remarks: list[str], ax: "Axes") -> str:
    """One remark below the other, in lines not much wider than the figure."""
    letters = max(30, int(room_in_inches(ax)[0] / LETTER))
    return "\n".join(line for remark in remarks for line in textwrap.wrap(remark, letters))


def _legend_above(ax: "Axes", handles: list[Any]) -> None:
    style: dict[str, Any] = {"frameon": False, "fontsize": LEGEND_SIZE, "handletextpad": 0.3, "borderpad": 0.2}
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, **style)
