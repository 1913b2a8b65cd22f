"""A table comes in: columns, categories, missing values, bins."""

from surefoot.data.binned_table import BinnedTable
from surefoot.data.binner import Binner
from surefoot.data.columns import Columns, Schema
from surefoot.data.edges import BinEdges

__all__ = ["BinEdges", "BinnedTable", "Binner", "Columns", "Schema"]
