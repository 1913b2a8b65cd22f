"""Reading tables: columns, categories, missing values, bins, held-out rows."""

from surefoot.data.bin_edges import BinEdges
from surefoot.data.binned_table import BinnedTable
from surefoot.data.binner import Binner
from surefoot.data.columns import Columns, Schema

__all__ = ["BinEdges", "BinnedTable", "Binner", "Columns", "Schema"]
