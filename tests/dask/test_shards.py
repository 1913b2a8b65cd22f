"""Shards on workers: which worker has which blocks, and requests of several threads in one message."""

import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.dask import binned_rows
from surefoot.dask.binned_rows import block_owners, shard_ranges
from surefoot.dask.shards import Request, SharedMessages
from surefoot.trees import row_blocks


@settings(deadline=None, max_examples=60)
@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=8).filter(any),
    homes=st.lists(st.sampled_from("abc"), min_size=8, max_size=8),
    n_threads=st.integers(1, 3),
)
def test_shards_are_whole_blocks_of_the_worker_with_most_of_their_rows(lengths, homes, n_threads):
    ends, n_rows, block = np.cumsum([0, *lengths]).tolist(), sum(lengths), 10
    home_of_row = np.repeat(np.array(homes[: len(lengths)]), lengths)
    with pytest.MonkeyPatch.context() as patch:
        for module in (binned_rows, row_blocks):
            patch.setattr(module, "BLOCK_ROWS", block)
        owners = block_owners(ends, homes[: len(lengths)], n_rows)
        ranges, owned = shard_ranges(owners, n_rows, dict.fromkeys("abc", n_threads))
    for number, owner in enumerate(owners):
        homes_of_block = home_of_row[number * block : (number + 1) * block].tolist()
        assert homes_of_block.count(owner) == max(map(homes_of_block.count, homes_of_block))
    assert ranges[0][0] == 0
    assert ranges[-1][1] == n_rows
    assert all(stop == start for (_, stop), (start, _) in pairwise(ranges))
    for (first, stop), home in zip(ranges, owned, strict=True):
        assert first % block == 0
        assert set(owners[first // block : -(-stop // block)]) == {home}


def ask_in_threads(messages, n_threads, n_requests):
    answers = {}

    def work(thread):
        answers[thread] = [messages.ask(Request(thread, "method", (k,), False)) for k in range(n_requests)]

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    return answers


def test_every_thread_gets_its_own_answers_and_messages_are_shared():
    sizes = []

    def send(requests):
        sizes.append(len(requests))
        time.sleep(0.005)
        return [[(request.model, *request.args)] for request in requests]

    answers = ask_in_threads(SharedMessages(send), 6, 20)
    assert answers == {thread: [[(thread, k)] for k in range(20)] for thread in range(6)}
    assert sum(sizes) == 120
    assert len(sizes) < 80


def test_an_error_reaches_every_thread_that_waits():
    def send(requests):
        time.sleep(0.05)
        raise OSError("lost")

    messages, errors = SharedMessages(send), []

    def work():
        try:
            messages.ask(Request(0, "method", (), False))
        except OSError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert errors == ["lost"] * 4
