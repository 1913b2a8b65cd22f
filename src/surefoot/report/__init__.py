"""The audit: four answers about a table and its model, on one page."""

from surefoot.report.audit import Audit, audit

__all__ = ["Audit", "audit"]
