"""Threads that grow a tree together: each task is done once, and nobody waits for a thread that does nothing."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive

from surefoot._jit import add_at, address_of_yield, call_at, kernel, read_at
from surefoot._parallel import RowThreads
from surefoot.trees import gradient_grower
from surefoot.trees.gradient_grower import GradientTreeGrower, GrowthRules
from surefoot.trees.level_kernels import SharedWork, grow_together, take_task, wait_for_tasks
from surefoot.trees.row_blocks import BlockRows

take_task, wait_for_tasks = kernel(take_task), kernel(wait_for_tasks)
SPLITS = ("features", "codes", "missing_left", "gains", "tables", "kept", "leaves")
KEY = np.uint64(7)


@kernel
def count_up(numbers, n_times):
    """Add 1 to a number many times, while other threads do the same; return what a last look shows."""
    for _ in range(n_times):
        add_at(numbers.ctypes.data, 1)
    return read_at(numbers.ctypes.data)


@kernel
def call(address):
    """Call a function of the operating system."""
    return call_at(address)


def work_of(n_queues=3):
    return SharedWork.of(1, n_queues, address_of_yield())


def test_additions_of_threads_are_not_lost():
    numbers = np.zeros(8, dtype=np.int64)
    with RowThreads(4) as threads:
        looks = threads.run(lambda _: count_up(numbers, 20_000), range(4))
    assert numbers.tolist() == [80_000] + [0] * 7
    assert max(looks) == 80_000


def test_a_thread_can_give_way():
    address = address_of_yield()
    assert address > 0
    assert call(address) in (0, 1)  # Windows: whether another thread was waiting


@settings(deadline=None, max_examples=60)
@given(n_tasks=st.integers(0, 20), n_queues=st.integers(1, 5), members=st.lists(st.integers(0, 4), min_size=1))
def test_each_task_is_taken_once_and_own_tasks_come_first(n_tasks, n_queues, members):
    claims = work_of(n_queues).claims[0]
    cuts = [queue * n_tasks // n_queues for queue in range(n_queues + 1)]
    queues = [list(range(first, last)) for first, last in pairwise(cuts)]
    for turn in range(n_tasks + 3):
        own = members[turn % len(members)] % n_queues
        in_turn = [queue for queue in queues[own:] + queues[:own] if queue]
        assert take_task(claims, own, n_tasks) == (in_turn[0].pop(0) if in_turn else -1)


@pytest.mark.parametrize("stops", [False, True])
def test_a_thread_waits_until_tasks_are_done_or_given_up(stops):
    work, ends = work_of(), []
    waiting = threading.Thread(target=lambda: ends.append(wait_for_tasks(work, 1, 2)))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    if stops:
        work.stopped[0] = 1
    else:
        work.done[1, 0] = 2
    waiting.join(10.0)
    assert ends == [not stops]


def drawn(n_scores=2, n_rows=900):
    table = naive.draw_table(0, n_rows, [60] * 17, n_scores=n_scores, missing=0.05, categorical=(3, 16))
    table.scores[:] = np.random.default_rng(0).normal(size=table.scores.shape)
    return table


def grown(table, threads, symmetric=True):
    rules = GrowthRules(5, symmetric, 5, 3.0)
    grower = GradientTreeGrower(table.words(), len(table.scores), rules, None, threads)
    n_rows = table.codes.shape[1]
    tree = grower.grow(table.scores, BlockRows.of(np.arange(n_rows), n_rows), KEY)
    return [getattr(tree, name).tobytes() for name in SPLITS]


@pytest.mark.parametrize("members", [[2], [1, 0], [3, 3, 1]])
@pytest.mark.parametrize("symmetric", [True, False])
def test_threads_that_do_not_start_leave_their_tasks_to_others(members, symmetric):
    """Some of four threads start, one after the other: the first grows the whole tree, the others find it done."""
    table = drawn()

    class SomeThreads(RowThreads):
        def run(self, function, items):
            return [function(items[member]) for member in members] if len(items) == 4 else super().run(function, items)

    with RowThreads(1) as one, SomeThreads(4) as some:
        assert grown(table, some, symmetric) == grown(table, one, symmetric)


@pytest.mark.parametrize("cells_at_once", [0, 1 << 30])
def test_a_call_for_each_level_grows_the_same_tree(cells_at_once, monkeypatch):
    table = drawn(n_scores=3)
    with RowThreads(1) as one, RowThreads(3) as three:
        expected = grown(table, one)
        monkeypatch.setattr(gradient_grower, "CELLS_AT_ONCE", cells_at_once)
        assert grown(table, one) == expected
        assert grown(table, three) == expected


def test_no_thread_waits_for_one_that_failed(monkeypatch):
    """A thread fails before it does the tasks that it has taken: the others stop, and the fit raises its error."""
    table = drawn()

    def fail_second(inputs, buffers, tree, work, member, first, last):
        if member == 1:
            work.claims[0, :, 0] += 1  # it has taken tasks
            raise MemoryError
        grow_together(inputs, buffers, tree, work, member, first, last)

    monkeypatch.setattr(gradient_grower, "grow_together", fail_second)
    with RowThreads(3) as threads, pytest.raises(MemoryError):
        grown(table, threads)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000), n_scores=st.integers(1, 3), weighted=st.booleans())
def test_rows_are_filled_in_as_the_reference_packs_them(seed, n_scores, weighted):
    table = naive.draw_table(seed, 30, [5, 9], n_scores=n_scores, heaviest=3)
    weights = table.weights if weighted else None
    grower = GradientTreeGrower(table.words(), n_scores, GrowthRules(2), weights, RowThreads(1))
    rows = BlockRows.of(np.sort(np.random.default_rng(seed).permutation(30)[:20]), 30)
    *sums, total = grower.absolute_sums(table.scores, rows).sum(axis=0).tolist()
    scales = grower.format.scales(sums, total, len(rows))
    grower.fill(table.scores, rows, scales, KEY)
    buffers, own = grower._buffers, np.ones(30) if weights is None else weights
    assert buffers.rows[0, :20].tolist() == rows.rows.tolist()
    for row, words in zip(rows.rows.tolist(), buffers.values[0, :20].tolist(), strict=True):
        if grower.format.packed:
            offsets = naive.dithers(row, int(KEY)) if scales.rounds_randomly else [0.5, 0.5]
            fields = table.scores[:, row].tolist(), own[row], scales.scores[:n_scores], offsets
            assert words == [naive.pack_row(*fields, grower.format.count_bits)]
        else:
            wide = naive.widen_row(table.scores[:, row], own[row], scales.scores[:n_scores], scales.weight)
            assert words == [int(own[row]), *wide[1:]]
