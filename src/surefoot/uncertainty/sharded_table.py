"""A table in several shards: what this process knows of it, and what all members share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.data import Binner, Schema
from surefoot.data.packed_words import count_groups, unpack_column
from surefoot.trees.packed_codes import MAX_SORTED_ROWS, PackedCodes
from surefoot.uncertainty.fit_spec import FitSpec
from surefoot.uncertainty.model_rows import ModelRows
from surefoot.uncertainty.sharded_rows import ShardedRows, Shards
from surefoot.uncertainty.training_log import TrainingLog
from surefoot.uncertainty.training_rows import TrainingRows
from surefoot.uncertainty.training_table import Encoding, SharedTable


@dataclass(frozen=True)
class TableInShards:
    """Takes the place of the ``Columns`` of a table in memory.

    Attributes
    ----------
    schema : Schema
        Of all columns.
    n_rows : int
    binner : Binner
        The bins of the columns that trees read directly: see ``plain_columns``.
    has_missing : array of bool
        Whether each of these columns has missing values.
    shards : Shards
        Where the codes of these columns are.
    category_codes : callable
        The categories of a column in all rows, as ``Columns.category_codes`` has them. They are read only if the table
        has columns with many categories.
    models_at_once : int
        How many models are trained side by side: the shards hold the state of all of them.
    log_folder : Path or None
        Where trees are recorded while they are trained; None: nowhere.
    """

    schema: Schema
    n_rows: int
    binner: Binner
    has_missing: np.ndarray
    shards: Shards
    category_codes: Callable[[int], np.ndarray]
    models_at_once: int = 1
    log_folder: Path | None = None

    @property
    def n_columns(self) -> int:
        return self.schema.n_columns


@dataclass(frozen=True, kw_only=True)
class ShardedTable(SharedTable):
    """What all members share of a table in shards; ``codes`` are only those of combinations of categories."""

    table: TableInShards

    @classmethod
    def of(cls, spec: FitSpec, log: TrainingLog | None = None) -> "ShardedTable":
        table = spec.columns
        assert isinstance(table, TableInShards)
        encoding, codes = Encoding.of(table.schema, table.binner), np.empty((0, table.n_rows), dtype=np.uint8)
        if not encoding.many:
            packed = described(encoding, table.has_missing, codes)
            return cls(encoding=encoding, codes=codes, categories=None, packed=packed, table=table, log=log)
        categories = np.stack([table.category_codes(j) for j in encoding.many + encoding.few])
        return cls(encoding=encoding, codes=codes, categories=categories, packed=None, table=table, log=log)

    def begin(
        self, spec: FitSpec, member: int, rows: TrainingRows, start: np.ndarray, threads: RowThreads
    ) -> tuple[ModelRows, Encoding]:
        encoding, further = self.encoding, [self.codes]
        if self.packed is None:
            encoding, statistics = self.statistics_for_member(spec, member, rows.train)
            further = [np.concatenate([self.codes, codes]) for codes in statistics]
        tables = [described(encoding, self.table.has_missing, codes) for codes in further]
        rules, shards = encoding.rules(spec.config.rules), self.table.shards
        begun = ShardedRows.begin(shards, member, tables, further, rules, spec.family, rows, start, threads)
        return self.logged(begun, member), encoding


def described(encoding: Encoding, has_missing: np.ndarray, further: np.ndarray) -> PackedCodes:
    """The columns that trees read, without rows; ``further`` are the codes of those that the shards lack."""
    missing = encoding.missing
    is_missing = [bool((codes == code).any()) for codes, code in zip(further, missing[len(has_missing) :], strict=True)]
    return PackedCodes.of_words(
        words=np.empty((count_groups(len(missing)), 0), dtype=np.uint64),
        n_codes=missing.astype(np.int64) + 1,
        has_missing=np.array([*has_missing, *is_missing], dtype=np.bool_),
        is_categorical=encoding.is_categorical,
    )


def shared_table(spec: FitSpec, log: TrainingLog | None) -> SharedTable:
    """What all members share of a table in shards; trees on a large one are recorded in the ``log``."""
    table = spec.columns
    return ShardedTable.of(spec, log) if table.n_rows > MAX_SORTED_ROWS else _fetched(ShardedTable.of(spec))


def _fetched(shared: ShardedTable) -> SharedTable:
    """A small table, brought to this process: trees of small tables read sorted rows, which shards cannot do."""
    table, encoding = shared.table, shared.encoding
    words = np.concatenate(table.shards.all_words(), axis=1)
    codes = np.stack([unpack_column(words, j) for j in range(len(encoding.plain))])
    packed = None if encoding.many else PackedCodes(codes, encoding.missing, encoding.is_categorical)
    return SharedTable(encoding=encoding, codes=codes, categories=shared.categories, packed=packed)
