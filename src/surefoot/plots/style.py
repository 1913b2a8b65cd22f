"""What the displays share: axes, colours that colour-blind readers can distinguish, short texts, and checks."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot._parameters import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
REFERENCE_COLOUR = "0.45"
LEGEND_SIZE = "small"  # names of models are long, and panels of a report are narrow
LETTER = 0.063  # inches, the width of a letter of a label
MAX_POINTS = 1000  # of a drawn curve: more are not visible, and slow down the placement of the legend
KINDS = ("total", "data", "knowledge")
ADD_UNCERTAINTY = (
    "wrap it in VirtualEnsemble; for a pipeline, pass the fitted model inside, and X as the input of that model."
)


def axes_or_new(ax: "Axes | None", figsize: tuple[float, float] | None = None) -> "Axes":
    """``ax``, or axes of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def check_panels(axes: Any, panels: Sequence[str]) -> "list[Axes]":
    """The axes that the user passed as a list, if there is one for each panel."""
    checked = list(np.ravel(np.asarray(axes, dtype=object)))
    if len(checked) != len(panels):
        raise ParameterError(f"axes must be {len(panels)}, for {', '.join(panels)}; got {len(checked)}.")
    return checked


def drawn_before(ax: "Axes", gid: str) -> list[Any]:
    """The lines on ``ax`` that a display has marked with ``gid``."""
    return [line for line in ax.lines if line.get_gid() == gid]


def next_colour(ax: "Axes", gid: str) -> str:
    """The colour after those of the lines already marked with ``gid``."""
    return COLOURS[len(drawn_before(ax, gid)) % len(COLOURS)]


def check_same_axes(ax: "Axes", gid: str, label: str, side: str = "x") -> bool:
    """Whether ``ax`` already has curves of this kind; an error if that axis of theirs has another label."""
    if not drawn_before(ax, gid):
        return False
    shown = ax.get_xlabel() if side == "x" else ax.get_ylabel()
    if shown != label:
        raise ParameterError(f"ax already shows {shown!r}: draw {label!r} on axes of its own.")
    return True


def drawn_points(n_points: int) -> np.ndarray:
    """The indices of the points of a long curve that are drawn."""
    return np.unique(np.linspace(0, n_points - 1, min(n_points, MAX_POINTS)).astype(np.int64))


def legend_above_curves(ax: "Axes", top: float, handles: list[Any] | None = None) -> None:
    """Put the legend in the upper left, and raise the upper limit until curves up to ``top`` are below it."""
    texts = ax.legend(handles=handles, loc="upper left", frameon=False, fontsize=LEGEND_SIZE).get_texts()
    needed = sum(1.5 * float(text.get_fontsize()) for text in [*texts, texts[0]]) / 72  # in inches
    height = ax.get_window_extent().height / ax.figure.dpi
    ax.set_ylim(0, top / (1 - min(needed / height, 0.6)))


def legend_above_axes(ax: "Axes", handles: list[Any], **style: Any) -> None:
    """Put the legend above the axes, on the left."""
    shared: dict[str, Any] = {"frameon": False, "fontsize": LEGEND_SIZE, "borderpad": 0.2}
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), **shared, **style)


def percent_axes(*sides: Any) -> None:
    """Label these axes in percent."""
    from matplotlib.ticker import PercentFormatter

    for side in sides:
        side.set_ticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
        side.set_major_formatter(PercentFormatter(1.0))


def room_in_inches(ax: "Axes") -> tuple[float, float]:
    """The largest width and height that ``ax`` can have, whatever its aspect is."""
    box = ax.get_position(original=True).transformed(ax.figure.transSubfigure)
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def wrapped(texts: Sequence[str], letters: int) -> str:
    """Each text on lines of its own, with at most ``letters`` letters."""
    return "\n".join(line for text in texts for line in textwrap.wrap(text, letters))


def require_method(estimator: Any, method: str, advice: str) -> None:
    """Raise an error if a model lacks ``method``."""
    if not hasattr(estimator, method):
        raise ParameterError(f"estimator must have {method}, but {type(estimator).__name__} does not: {advice}")


def require_stable_selector(estimator: Any) -> None:
    """Raise an error unless this is a fitted `StableSelector`."""
    require_method(estimator, "leave_one_out", "pass a fitted StableSelector.")
    check_is_fitted(estimator)


def uncertainty_values(uncertainty: Any, kind: str) -> np.ndarray:
    """The total, data or knowledge uncertainty; an error if the model does not predict it."""
    values = getattr(uncertainty, check_choice("kind", kind, KINDS))
    if values is None:
        raise ParameterError(f"kind={kind!r}: the model predicts points and has no such uncertainty; use 'knowledge'.")
    return np.asarray(values, dtype=np.float64)
