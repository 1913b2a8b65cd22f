"""The base of displays that draw one curve."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from surefoot.plots.style import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CurveDisplay(ABC):
    """Draws one curve; several displays of the same kind can share axes."""

    _figsize: tuple[float, float] | None = None  # of new axes, in inches; None: matplotlib's default

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CurveDisplay
            The display itself, drawn.
        """
        ax = axes_or_new(ax, figsize=self._figsize)
        self._draw(ax, line_kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @abstractmethod
    def _draw(self, ax: "Axes", line_kwargs: dict[str, Any]) -> None:
        """Draw the curve, with all that belongs to it, on ``ax``."""
