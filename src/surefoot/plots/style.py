"""What the displays share: axes, colours that colour-blind readers can tell apart, and a few refusals."""

from typing import TYPE_CHECKING, Any

from surefoot._exceptions import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
REFERENCE_COLOUR = "0.45"
LEGEND_SIZE = "small"  # names of models are long, panels of a report narrow
MAKE_UNCERTAIN = "wrap it in VirtualEnsemble; of a pipeline, pass the fitted model inside, and X as that model sees it."
MAX_POINTS = 1000  # of a drawn curve: more cannot be seen, and slow down the search for a place for the legend


def axes_or_new(ax: "Axes | None", figsize: tuple[float, float] | None = None) -> "Axes":
    """``ax``, or axes of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def drawn_before(ax: "Axes", gid: str) -> list[Any]:
    """The lines on ``ax`` that a display marked with ``gid``."""
    return [line for line in ax.lines if line.get_gid() == gid]


def next_colour(ax: "Axes", gid: str) -> str:
    """The colour after those of the lines already marked with ``gid``."""
    return COLOURS[len(drawn_before(ax, gid)) % len(COLOURS)]


def check_same_axes(ax: "Axes", gid: str, xlabel: str) -> bool:
    """Whether ``ax`` already shows curves of this sort; refused if they are measured along another axis."""
    if not drawn_before(ax, gid):
        return False
    if ax.get_xlabel() != xlabel:
        raise ParameterError(f"ax already shows {ax.get_xlabel()!r}; draw {xlabel!r} on axes of its own.")
    return True


def legend_above_curves(ax: "Axes", top: float, handles: list[Any] | None = None) -> None:
    """Put the legend in the upper left, and raise the axes so far that curves up to ``top`` stay below it."""
    texts = ax.legend(handles=handles, loc="upper left", frameon=False, fontsize=LEGEND_SIZE).get_texts()
    needed = sum(1.5 * float(text.get_fontsize()) for text in [*texts, texts[0]]) / 72  # in inches
    height = ax.get_window_extent().height / ax.figure.dpi
    ax.set_ylim(0, top / (1 - min(needed / height, 0.6)))


def percent_axes(*sides: Any) -> None:
    """Write shares along these axes as percent."""
    from matplotlib.ticker import PercentFormatter

    for side in sides:
        side.set_ticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
        side.set_major_formatter(PercentFormatter(1.0))


def require_method(estimator: Any, method: str, advice: str) -> None:
    """Refuse a model that lacks ``method``."""
    if not hasattr(estimator, method):
        raise ParameterError(f"estimator must have {method}, and {type(estimator).__name__} has not: {advice}")
