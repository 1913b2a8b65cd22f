"""Reading tables: columns, categories, missing values, bins, held-out rows."""

from surefoot.data.binned_table import BinnedTable
from surefoot.data.binner import Binner
from surefoot.data.columns import Columns, Schema
from surefoot.data.edges import BinEdges

__all__ = ["BinEdges", "BinnedTable", "Binner", "Columns", "Schema"]
