"""Measures of what models say and how far to trust it."""

from surefoot.metrics.margins import voting_margins

__all__ = ["voting_margins"]
