"""The shift of each column, and whether a classifier separates training and deployment data, as a chart."""

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._extras import needs
from surefoot._formatting import counted, one_line, p_value_in_words
from surefoot._parameters import check_integer
from surefoot.plots.style import COLOURS, LEGEND_SIZE, axes_or_new, legend_above_axes, room_in_inches, wrapped
from surefoot.shift import column_shift
from surefoot.shift.column_shift import LEVEL, ColumnShift
from surefoot.shift.shift_report import ShiftReport, shift_report
from surefoot.shift.shift_report_text import outcomes_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHIFTED, DIFFERS_SLIGHTLY, NOT_SHIFTED, NOT_TESTED, MISSING = COLOURS[1], "0.55", "0.78", "white", COLOURS[0]
COLOUR_OF = {
    column_shift.SHIFTED: SHIFTED,
    column_shift.DIFFERS_SLIGHTLY: DIFFERS_SLIGHTLY,
    column_shift.NOT_SHIFTED: NOT_SHIFTED,
    column_shift.NOT_TESTED: NOT_TESTED,
}
MAX_LETTERS = 36  # of a column's name
BAR, LETTER, TITLE_LETTER = 0.27, 0.078, 0.088  # inches: a bar with its gap, a letter of a name, one of the title
WIDTH, ENTRY_WIDTH = 4.6, 1.07  # inches, of new axes, and of an entry of the legend
MARGINS = 0.4  # inches, of a figure, on both sides together
MIN_MISSING = 0.005  # visible difference of the fractions of missing values
MIN_RANGE = 0.25  # of the axis, so that short bars look short


class ShiftDisplay:
    """A bar for the shift of each column, the most shifted first, with the joint test in the title.

    The length of a bar is the distance of two distributions, Kolmogorov-Smirnov for numbers and total variation for
    categories. The bar is coloured, and the name bold, if the column has shifted: by 0.1 or more, and at level 0.05,
    corrected for the number of columns. The bar is dark if the column differs slightly, and hollow if it could not be
    tested. A diamond ("missing values") is the difference of the fractions of missing values, if it is half a percent
    or more, or if both this difference and that of the column are significant.

    Names need room beside the axes. If axes are alone in a figure without a layout, the figure gets a constrained
    layout. Other figures are not changed: create them with ``layout="constrained"``.

    Parameters
    ----------
    report : ShiftReport
        The result of `shift_report`.
    top : int, default=20
        The number of columns to show.
    name : str or None
        Name of the deployment data in the title.

    Attributes
    ----------
    columns : tuple of ColumnShift
        The shown columns, from top to bottom.
    remark : str or None
        The note below the axes about the other columns.
    ax_, figure_
        The axes and the figure, after ``plot``.
    bars_, diamonds_
        The bars, and the marks of missing values (None if there are none).

    Examples
    --------
    >>> from surefoot.plots import ShiftDisplay
    >>> X, X_target = [[i % 7, i] for i in range(60)], [[i % 7, i + 30] for i in range(60)]
    >>> display = ShiftDisplay.from_samples(X, X_target, random_state=0)
    >>> [(column.name, column.shifted) for column in display.columns]
    [('x1', True), ('x0', False)]
    """

    def __init__(self, report: ShiftReport, *, top: int = 20, name: str | None = None) -> None:
        if not isinstance(report, ShiftReport):
            raise ParameterError(f"report must be what shift_report returns, got {type(report).__name__}.")
        self.report, self.name = report, name
        self.columns = report.columns[: check_integer("top", top, 1)]
        self.remark = _remark(report.columns[len(self.columns) :])

    @classmethod
    @needs("matplotlib")
    def from_samples(
        cls,
        X: Any,
        X_target: Any,
        *,
        categorical_features: Any = "from_dtype",
        max_rows: int | None = 20_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        top: int = 20,
        name: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ShiftDisplay":
        """Compare two tables with `shift_report`, and draw the result.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            The training data.
        X_target : array or frame of shape (n_target_rows, n_columns)
            The deployment data.
        categorical_features : "from_dtype", array of int, str or bool, or None, default="from_dtype"
            Which columns are categories: those of categorical dtype in a frame, or the given ones.
        max_rows : int or None, default=20_000
            The joint test uses at most this number of rows of each table. None: all.
        random_state : int, RandomState or None, default=None
            Decides which rows the joint test holds out.
        n_jobs : int or None, default=None
            Number of threads; the result does not depend on it.
        top : int, default=20
            How many columns are shown.
        name : str or None, default=None
            What the title calls the target.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes of a suitable size.

        Returns
        -------
        ShiftDisplay
            The display, drawn.
        """
        check_integer("top", top, 1)
        _check_axes(ax)
        report = shift_report(
            X,
            X_target,
            categorical_features=categorical_features,
            max_rows=max_rows,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        return cls.from_report(report, top=top, name=name, ax=ax)

    @classmethod
    @needs("matplotlib")
    def from_report(
        cls, report: ShiftReport, *, top: int = 20, name: str | None = None, ax: "Axes | None" = None
    ) -> "ShiftDisplay":
        """Draw the result of `shift_report`.

        Parameters
        ----------
        report : ShiftReport
            The report.
        top : int, default=20
            How many columns are shown.
        name : str or None, default=None
            What the title calls the target.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes of a suitable size.

        Returns
        -------
        ShiftDisplay
            The display, drawn.
        """
        return cls(report, top=top, name=name).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "ShiftDisplay":
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes of a suitable size.

        Returns
        -------
        ShiftDisplay
            The display itself, drawn.
        """
        _check_axes(ax)
        labels = [one_line(column.name, MAX_LETTERS) for column in self.columns]
        names_width = LETTER * max(map(len, labels))
        if ax is not None:
            _make_room(ax)
        width = WIDTH if ax is None else _room(ax, names_width)
        ax = axes_or_new(ax, figsize=(WIDTH + names_width + 0.4, 1.9 + BAR * len(self.columns)))
        self._draw_bars(ax, labels)
        self.diamonds_ = self._mark_missing(ax)
        remarks = ["distance from the training data", *([] if self.remark is None else [self.remark])]
        letters = max(24, int(width / TITLE_LETTER))  # in a line as wide as the axes
        ax.set_xlabel(wrapped(remarks, letters), fontsize="medium")
        n_lines = self._add_legend(ax, width=width)
        title = wrapped(self._title(), letters)
        ax.set_title(title, loc="left", fontsize="medium", pad=7 + 15 * n_lines, parse_math=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(self, ax: "Axes", labels: list[str]) -> None:
        places = np.arange(len(self.columns))
        distances = np.array([column.distance for column in self.columns])
        colours = [COLOUR_OF[column.outcome] for column in self.columns]
        edges = [NOT_SHIFTED if colour == NOT_TESTED else colour for colour in colours]
        self.bars_ = ax.barh(places, np.nan_to_num(distances), color=colours, edgecolor=edges, height=0.7)
        written = ["no values" if np.isnan(distance) else f"{distance:.2f}" for distance in distances]
        ax.bar_label(self.bars_, written, padding=3, fontsize=LEGEND_SIZE)
        ax.set_yticks(places, labels, fontsize=LEGEND_SIZE, parse_math=False)
        for label, column in zip(ax.get_yticklabels(), self.columns, strict=True):
            label.set_fontweight("bold" if column.shifted else "normal")  # columns without values have no bar to colour
        largest = max(MIN_RANGE, *(column.size for column in self.columns))
        ax.set(xlim=(0, 1.14 * largest), ylim=(len(places) - 0.5, -0.5))
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right"]].set_visible(False)

    def _mark_missing(self, ax: "Axes") -> Any:
        differences = np.array([abs(column.missing_target - column.missing) for column in self.columns])
        significant = np.array([max(column.p_value, column.missing_p_value) < LEVEL for column in self.columns])
        shown = (differences >= MIN_MISSING) | (significant & (differences > 0))
        if not shown.any():
            return None
        style: dict[str, Any] = {"marker": "D", "markersize": 5, "linestyle": "none", "color": MISSING}
        style |= {"markeredgecolor": "white", "clip_on": False, "label": "missing values"}
        return ax.plot(differences[shown], np.flatnonzero(shown), **style)[0]

    def _add_legend(self, ax: "Axes", *, width: float) -> int:
        """Add the legend above the axes, and return the number of its lines."""
        from matplotlib.patches import Patch

        outcomes = {column.outcome for column in self.columns}
        handles: list[Any] = [
            Patch(facecolor=colour, edgecolor=NOT_SHIFTED if colour == NOT_TESTED else colour, label=outcome)
            for outcome, colour in COLOUR_OF.items()
            if outcome in outcomes
        ]
        handles += [] if self.diamonds_ is None else [self.diamonds_]
        n_lines = 1 if width >= ENTRY_WIDTH * len(handles) else len(handles)
        style = {"handlelength": 1.2, "columnspacing": 1.2, "borderaxespad": 0.1}
        legend_above_axes(ax, handles, ncols=len(handles) if n_lines == 1 else 1, **style)
        return n_lines

    def _title(self) -> list[str]:
        """The joint test, in one or two lines."""
        report = self.report
        name = "" if self.name is None else f"{self.name}: "
        if np.isnan(report.auc):
            return [f"{name}{report.note}"]
        low, high = report.auc_interval
        outcome = f"a classifier {'separates' if report.jointly_shifted else 'does not separate'} the tables"
        test = f"95% interval {low:.3f} to {high:.3f}, {p_value_in_words(report.p_value)}"
        return [f"{name}{outcome}, AUC {report.auc:.2f}", test]


def _check_axes(ax: Any) -> None:
    if ax is None:
        return
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        advice = "for a figure, pass figure.subplots(); for several axes, pass one of them."
        raise ParameterError(f"ax must be matplotlib Axes or None, got {type(ax).__name__}: {advice}")


def _make_room(ax: "Axes") -> None:
    """Give a figure a layout that leaves room for names, if it has none and contains nothing else."""
    from matplotlib.figure import Figure, SubplotParams

    figure = ax.figure
    if not isinstance(figure, Figure) or figure.get_layout_engine() is not None:
        return
    is_alone = figure.axes == [ax] and not figure.subfigs and ax.get_subplotspec() is not None
    if is_alone and vars(figure.subplotpars) == vars(SubplotParams()):
        figure.set_layout_engine("constrained")


def _room(ax: "Axes", names_width: float) -> float:
    """The width of given axes, in inches, after the layout has made room for the names beside them."""
    figure: Any = ax.figure
    while figure is not figure.figure:  # a subfigure has no layout of its own
        figure = figure.figure
    if figure.get_layout_engine() is None:
        return room_in_inches(ax)[0]
    return (figure.get_figwidth() - MARGINS if figure.axes == [ax] else room_in_inches(ax)[0]) - names_width


def _remark(others: tuple[ColumnShift, ...]) -> str | None:
    return f"{counted(len(others), 'further column')}, {outcomes_in_words(others)}" if others else None
