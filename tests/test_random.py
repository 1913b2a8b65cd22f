"""Counter-based random numbers against the published generator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.split_mix import split_mix

from surefoot._random import (
    NormalRows,
    bootstrap_counts,
    random_bits,
    random_integers,
    random_normals,
    random_permutation,
    seed_from,
    stream_key,
)

words = st.integers(0, 2**64 - 1)


def test_the_published_numbers():
    # the first outputs of SplitMix64 for seed 1234567, as listed with the reference implementation
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert random_bits(np.uint64(1234567), 4).tolist() == published
    assert split_mix(1234567, 4) == published


@settings(deadline=None)
@given(key=words, n=st.integers(0, 20))
def test_bits_against_plain_integers(key, n):
    assert random_bits(np.uint64(key), n).tolist() == split_mix(key, n)


@settings(deadline=None)
@given(key=words, first=st.integers(0, 50), n=st.integers(0, 20))
def test_a_stream_can_be_read_from_any_position(key, first, n):
    assert random_bits(np.uint64(key), n, first).tolist() == split_mix(key, first + n)[first:]


def test_different_seeds_and_labels_give_different_keys():
    labels = [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, 1, 0), (0, 0, 1), (2**31, 5), (5, 2**31)]
    keys = [stream_key(*label) for label in labels]
    assert len(set(keys)) == len(keys)
    assert keys == [stream_key(*label) for label in labels]
    assert all(isinstance(key, np.uint64) for key in keys)


def test_streams_of_neighbouring_labels_are_unrelated():
    streams = np.stack([random_bits(stream_key(7, member), 64) for member in range(200)])
    assert len(np.unique(streams)) == streams.size
    bits = np.unpackbits(streams.view(np.uint8), axis=1).astype(float)
    assert abs(bits.mean() - 0.5) < 0.005
    alike = (bits[:-1] == bits[1:]).mean(axis=1)
    assert np.abs(alike - 0.5).max() < 0.05


@settings(deadline=None)
@given(key=words, n=st.integers(0, 300), below=st.integers(1, 2**40))
def test_integers_stay_in_range(key, n, below):
    drawn = random_integers(np.uint64(key), n, below)
    assert drawn.dtype == np.int64
    assert len(drawn) == n
    assert ((drawn >= 0) & (drawn < below)).all()


def test_integers_are_uniform():
    counts = np.bincount(random_integers(stream_key(3), 70_000, 7), minlength=7)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 22.5  # 99.9% of a chi-squared with 6 degrees of freedom


@settings(deadline=None)
@given(key=words, n=st.integers(0, 300))
def test_a_permutation_has_every_index_once(key, n):
    np.testing.assert_array_equal(np.sort(random_permutation(np.uint64(key), n)), np.arange(n))


def test_permutations_are_uniform():
    counts = np.zeros(24, dtype=int)
    orders = {}
    for k in range(2400):
        orders.setdefault(tuple(random_permutation(stream_key(1, k), 4)), len(orders))
        counts[orders[tuple(random_permutation(stream_key(1, k), 4))]] += 1
    assert len(orders) == 24
    assert ((counts - 100) ** 2 / 100).sum() < 49.7  # 99.9% of a chi-squared with 23 degrees of freedom


@settings(deadline=None)
@given(key=words, n=st.integers(1, 100), draws=st.integers(0, 300))
def test_bootstrap_counts_add_up(key, n, draws):
    counts = bootstrap_counts(np.uint64(key), n, draws)
    assert len(counts) == n
    assert counts.sum() == draws


def test_a_bootstrap_leaves_out_the_expected_fraction():
    counts = bootstrap_counts(stream_key(0), 100_000, 100_000)
    assert abs((counts == 0).mean() - np.exp(-1)) < 0.005


def test_rows_of_normals_are_those_of_their_keys():
    keys = random_bits(stream_key(3), 70)
    rows = NormalRows(keys, 5)
    for row in [0, 1, 31, 32, 69, 2]:  # several blocks, the incomplete last one, and the first again
        np.testing.assert_array_equal(rows[row], random_normals(keys[row], 5))


def test_seeds_follow_the_random_state():
    assert seed_from(5) == seed_from(5) != seed_from(6)
    state = np.random.RandomState(5)
    assert seed_from(state) == seed_from(5)
    assert seed_from(state) != seed_from(5)
    with pytest.raises(ValueError, match="seed"):
        seed_from("five")
