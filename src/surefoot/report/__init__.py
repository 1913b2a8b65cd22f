"""The audit: four answers about a table and its model, on one page."""

from surefoot.report.audit import Audit, audit
from surefoot.report.comparison.comparison import AuditComparison, compare

__all__ = ["Audit", "AuditComparison", "audit", "compare"]
