"""Partitions of a table as binned shards on their workers, and the targets and weights of all rows.

The bins are those of the local estimator: edges are found from the same sample of rows. A shard is made of whole blocks
of rows, so rows at the ends of a partition may move to the worker of the next.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.dask.collections import Partition
from surefoot.dask.shards import DaskShards, Host, WorkerShards
from surefoot.dask.summaries import TableSummary, n_rows_of, read_weights
from surefoot.dask.worker_table import WorkerTable
from surefoot.data import BinEdges, Binner, Schema
from surefoot.data.binner import edge_sample, edges_with_rare, missed_values
from surefoot.data.packed_words import pack_codes
from surefoot.data.problem import PreparedTable
from surefoot.trees.row_blocks import BLOCK_ROWS, count_blocks
from surefoot.uncertainty.sharded_table import TableInShards
from surefoot.uncertainty.training_table import plain_columns

MODELS_AT_ONCE = 16  # workers keep the state of so many models: about 130 bytes for each row of each


def target_of(partition: Partition) -> np.ndarray:
    """The targets of a partition."""
    return np.asarray(partition.y)


def weights_of(partition: Partition) -> np.ndarray | None:
    """The weights of a partition."""
    return read_weights(partition.weight, n_rows_of(partition.X))


def numbers_of(partition: Partition, summary: TableSummary, rows: np.ndarray, positions: list[int]) -> np.ndarray:
    """Some columns of some rows of a partition, (columns, rows)."""
    if not len(rows):
        return np.empty((len(positions), 0))
    columns = summary.read_columns(partition.X)
    return np.stack([columns.column(j, rows) for j in positions])


def missed_of(
    partition: Partition, summary: TableSummary, weights: np.ndarray | None, edges: dict[int, BinEdges]
) -> dict[int, np.ndarray]:
    """For some columns, the values of a partition that are not among their edges."""
    if not n_rows_of(partition.X):
        return {j: np.empty(0) for j in edges}
    columns = summary.read_columns(partition.X)
    return {j: missed_values(columns.column(j), weights, each) for j, each in edges.items()}


def codes_of(partition: Partition, summary: TableSummary, binner: Binner) -> np.ndarray:
    """The codes of the columns that trees read directly, (columns, rows)."""
    plain = plain_columns(summary.schema)
    if not n_rows_of(partition.X):
        return np.empty((len(plain), 0), dtype=np.uint8)
    return binner.codes(summary.read_columns(partition.X).select(plain), RowThreads(1))


def category_codes_of(partition: Partition, summary: TableSummary, position: int) -> np.ndarray:
    """The categories of one column: see ``Columns.category_codes``."""
    if not n_rows_of(partition.X):
        return np.empty(0, dtype=np.int32)
    return summary.read_columns(partition.X).category_codes(position)


def missing_of(codes: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Whether each column has missing values."""
    return np.asarray((codes == missing[:, np.newaxis]).any(axis=1))


def rows_of(codes: np.ndarray, first: int, stop: int) -> np.ndarray:
    """The codes of some rows."""
    return np.ascontiguousarray(codes[:, first:stop])


def words_of(*parts: np.ndarray) -> np.ndarray:
    """The words of a shard, from the codes of its rows."""
    return pack_codes(np.concatenate(parts, axis=1))


class BinnedRows:
    """The rows of a loaded table on their way into shards.

    ``weights`` are those of the rows, or None. ``bin_weights`` decide the edges of bins: they may be changed before
    ``prepared`` is called.
    """

    def __init__(self, table: WorkerTable, max_bins: int) -> None:
        self.table, self.summary, self.max_bins = table, table.summary, max_bins
        self.ends = np.cumsum([0, *table.summary.lengths]).tolist()
        self.n_rows = int(self.ends[-1])
        parts = self._of_partitions(weights_of)
        has_weights = any(part is not None for part in parts)
        self.weights = self.bin_weights = np.concatenate(parts) if has_weights else None

    def target(self) -> np.ndarray:
        """The targets of all rows."""
        return np.concatenate([part for part in self._of_partitions(target_of) if len(part)])

    def prepared(self) -> PreparedTable:
        """The table, with its codes in shards on the workers."""
        summary, binner = self.summary, self._binner()
        codes = [
            self.table.submit(home, codes_of, partition, summary, binner)
            for home, partition in zip(self.table.homes, self.table.partitions, strict=True)
        ]
        is_missing = self.table.gather(
            [self.table.submit(h, missing_of, c, binner.missing) for h, c in zip(self.table.homes, codes, strict=True)]
        )
        columns = TableInShards(
            schema=summary.schema,
            n_rows=self.n_rows,
            binner=binner,
            has_missing=np.any(is_missing, axis=0),
            shards=self._shards(codes, len(binner.missing)),
            category_codes=lambda j: np.concatenate(self._of_partitions(category_codes_of, summary, j)),
            models_at_once=MODELS_AT_ONCE,
        )
        return PreparedTable(columns, summary.feature_names)

    def _of_partitions(self, function: Any, *args: Any) -> list[Any]:
        """What a function returns for each partition; it runs where the rows are."""
        table = self.table
        pairs = zip(table.homes, table.partitions, strict=True)
        return table.gather([table.submit(home, function, partition, *args) for home, partition in pairs])

    def _binner(self) -> Binner:
        """The bins that the local estimator would find."""
        schema = self.summary.schema
        plain = plain_columns(schema)
        numbers = [j for j in plain if j not in schema.categories]
        found = dict(zip(numbers, self._edges(numbers), strict=True))
        categories = {k: schema.categories[j] for k, j in enumerate(plain) if j in schema.categories}
        return Binner.from_edges([found.get(j) for j in plain], Schema(len(plain), categories))

    def _edges(self, numbers: list[int]) -> list[BinEdges]:
        """The edges of numeric columns, from the rows of ``edge_sample``."""
        if not numbers:
            return []
        chosen = edge_sample(self.n_rows, self.bin_weights)
        is_all = isinstance(chosen, slice)
        rows = np.arange(self.n_rows) if isinstance(chosen, slice) else chosen
        weights = None if self.bin_weights is None else self.bin_weights[rows]
        values = np.concatenate(self._numbers(rows, numbers), axis=1)
        edges = [BinEdges.from_values(column, self.max_bins, weights) for column in values]
        few = {j: each for j, each in zip(numbers, edges, strict=True) if each.has_one_value_per_bin}
        if is_all or not few:
            return edges
        missed = self._missed(few)
        return [
            edges_with_rare(values[k], missed[j], self.max_bins, weights) if j in missed else edges[k]
            for k, j in enumerate(numbers)
        ]

    def _numbers(self, rows: np.ndarray, positions: list[int]) -> list[np.ndarray]:
        cuts, table = np.searchsorted(rows, self.ends), self.table
        own = [rows[a:b] - first for (a, b), first in zip(pairwise(cuts), self.ends[:-1], strict=True)]
        tasks = zip(table.homes, table.partitions, own, strict=True)
        return table.gather([table.submit(h, numbers_of, p, self.summary, r, positions) for h, p, r in tasks])

    def _missed(self, few: dict[int, BinEdges]) -> dict[int, np.ndarray]:
        table, parts = self.table, list(pairwise(self.ends))
        weights = [None if self.bin_weights is None else self.bin_weights[a:b] for a, b in parts]
        tasks = zip(table.homes, table.partitions, weights, strict=True)
        found = table.gather([table.submit(h, missed_of, p, self.summary, w, few) for h, p, w in tasks])
        return {j: np.unique(np.concatenate([part[j] for part in found])) for j in few}

    def _shards(self, codes: Sequence[Any], n_columns: int) -> DaskShards:
        """Put the codes of whole blocks together on the worker that has most of their rows."""
        table, client = self.table, self.table.client
        threads = client.nthreads()
        owners = block_owners(self.ends, table.homes, self.n_rows)
        ranges, homes = shard_ranges(owners, self.n_rows, {home: threads.get(home, 1) for home in set(owners)})
        words = [self._words(first, stop, home, codes) for (first, stop), home in zip(ranges, homes, strict=True)]
        hosts = []
        for home in sorted(set(homes)):
            own = tuple(k for k, other in enumerate(homes) if other == home)
            future = client.submit(
                WorkerShards,
                [words[k] for k in own],
                [ranges[k] for k in own],
                n_columns,
                threads.get(home, 1),
                actor=True,
                pure=False,
                workers=[home],
            )
            hosts.append((future, home, own))
        actors = table.gather([future for future, _, _ in hosts])
        return DaskShards(client, [Host(actor, *host) for actor, host in zip(actors, hosts, strict=True)], ranges)

    def _words(self, first: int, stop: int, home: str, codes: Sequence[Any]) -> Any:
        """The words of a shard; of the partitions at its ends, only the rows that it needs move."""
        parts = []
        for (start, end), other, part in zip(pairwise(self.ends), self.table.homes, codes, strict=True):
            low, high = max(first, start), min(stop, end)
            if low < high:
                parts.append(self.table.submit(other, rows_of, part, low - start, high - start))
        return self.table.submit(home, words_of, *parts)


def block_owners(ends: Sequence[int], homes: Sequence[str], n_rows: int) -> list[str]:
    """For each block of rows, the worker that has most of them."""
    owners = []
    for block in range(count_blocks(n_rows)):
        first, stop = block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, n_rows)
        rows: dict[str, int] = {}
        for place in range(int(np.searchsorted(ends, first, side="right")) - 1, len(homes)):
            if ends[place] >= stop:
                break
            n_own = min(stop, ends[place + 1]) - max(first, ends[place])
            rows[homes[place]] = rows.get(homes[place], 0) + n_own
        owners.append(max(rows, key=lambda home: rows[home]))
    return owners


def shard_ranges(
    owners: Sequence[str], n_rows: int, threads: dict[str, int]
) -> tuple[list[tuple[int, int]], list[str]]:
    """Runs of blocks of one worker, cut so that each of its threads has a shard; and the worker of each."""
    cuts = [0, *(b for b in range(1, len(owners)) if owners[b] != owners[b - 1]), len(owners)]
    ranges, homes = [], []
    for first, stop in pairwise(cuts):
        n_parts = min(threads[owners[first]], stop - first)
        edges = [first + k * (stop - first) // n_parts for k in range(n_parts + 1)]
        for low, high in pairwise(edges):
            ranges.append((low * BLOCK_ROWS, min(high * BLOCK_ROWS, n_rows)))
            homes.append(owners[first])
    return ranges, homes
