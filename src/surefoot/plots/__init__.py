"""Pictures: a Display computes in ``from_estimator`` and draws in ``plot``; matplotlib is imported on drawing."""

from surefoot.plots.margin_display import MarginDisplay

__all__ = ["MarginDisplay"]
