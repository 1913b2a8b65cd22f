"""The shards of a table that lie in one process, and the models in training on them."""

from collections.abc import Sequence
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.data.mapped_arrays import MappedArrays, mapping_of, release
from surefoot.trees.packed_codes import add_columns, mixed_rows
from surefoot.trees.shard_grower import LevelSums
from surefoot.uncertainty.shard_model import ShardModel
from surefoot.uncertainty.sharded_rows import ShardSpec


class ShardHost:
    """Some shards, and for each model in training its part of them; threads take the shards in turn.

    ``words`` has the codes of each shard; all have the same ``n_columns``. With a ``folder``, what a model keeps for
    each row is in files there, and only the shards that are being worked on take memory. ``unused`` are files that need
    not stay in memory once a model has begun.
    """

    def __init__(
        self,
        words: Sequence[np.ndarray],
        row_ranges: Sequence[tuple[int, int]],
        n_columns: int,
        n_threads: int = 1,
        folder: Path | None = None,
        unused: Sequence[mmap] = (),
    ) -> None:
        self.folder, self._unused = folder, list(unused)
        self._files: dict[int, list[MappedArrays]] = {}
        self.words, self.row_ranges, self.n_columns = list(words), list(row_ranges), n_columns
        self._sums: list[np.ndarray] = []  # one array for each thread
        self.models: dict[int, list[ShardModel]] = {}
        self.threads = RowThreads(min(n_threads, max(len(self.words), 1)))

    def create(self, model: int, specs: list[ShardSpec], codes: list[tuple[np.ndarray, ...]]) -> None:
        """Begin a model; ``codes`` has, for each shard, the codes of columns that only this model reads."""
        release(self._unused)
        self.models[model], self._files[model] = [], []
        for spec, words, own in zip(specs, self.words, codes, strict=True):
            shard = spec.build([self._with_columns(words, part) for part in own], RowThreads(1))
            self.models[model].append(shard)
            if self.folder is not None:
                files = MappedArrays(self.folder)
                shard.move_arrays(files.move)
                files.keep(words)
                files.release()
                self._files[model].append(files)

    def _with_columns(self, words: np.ndarray, codes: np.ndarray) -> np.ndarray:
        return add_columns(words, self.n_columns, codes) if len(codes) else words

    def call(self, model: int, method: str, *args: Any) -> list[Any]:
        """What a method of ``ShardModel`` returns, for each shard."""
        shards, files = self.models[model], self._files[model]
        results: list[Any] = [None] * len(shards)

        def work(place: int) -> None:
            results[place] = getattr(shards[place], method)(*args)
            if files:
                files[place].release()

        self.threads.each(work, range(len(shards)))
        return results

    def add_up(self, model: int, method: str, *args: Any) -> LevelSums:
        """The sums that a method of ``ShardModel`` writes, over the shards; each thread adds up those of some."""
        shards, files, n_threads = self.models[model], self._files[model], self.threads.n_threads
        grower = shards[0].grower
        if len(self._sums) != n_threads or self._sums[0].shape != grower.sums_shape:
            self._sums = [np.empty(grower.sums_shape, dtype=np.int64) for _ in range(n_threads)]

        def work(thread: int) -> np.ndarray:
            counts = []
            for place in range(thread, len(shards), n_threads):
                counts.append(getattr(shards[place], method)(*args, self._sums[thread], place > thread))
                if files:
                    files[place].release()
            return np.sum(counts, axis=0)

        counts = np.sum(self.threads.run(work, range(n_threads)), axis=0)
        parts = [sums[0, : max(len(counts) // 2, 1)] for sums in self._sums]
        total = sum(parts[1:], start=parts[0])
        return LevelSums(sums=total[:, grower.used_words], counts=counts)

    def mixed_rows(self, codes: list[np.ndarray]) -> np.ndarray:
        """A number for every row: see ``packed_codes.mixed_rows``; ``codes`` are those of columns that shards lack."""
        out = np.empty(self.row_ranges[-1][1], dtype=np.uint64)
        for (first, stop), words, own in zip(self.row_ranges, self.words, codes, strict=True):
            out[first:stop] = mixed_rows(self._with_columns(words, own))
            release(mapping_of(words))
        return out

    def mixed_parts(self, codes: list[np.ndarray]) -> list[np.ndarray]:
        """The same, for each shard."""
        return [mixed_rows(self._with_columns(words, own)) for words, own in zip(self.words, codes, strict=True)]

    def all_words(self) -> list[np.ndarray]:
        """The codes of each shard."""
        return self.words

    def drop(self, model: int) -> None:
        """Forget a model."""
        del self.models[model], self._files[model]
