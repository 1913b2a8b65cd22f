"""Copies of rows and rows that are equal by chance; near copies and neighbours."""

import numpy as np
import pandas as pd
import pytest

from surefoot.report.checks import find_copies, near_copies
from surefoot.report.checks.copies import count_equal_rows


def numbers(rng, n=300, d=5):
    return pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])


def categories(codes):
    return pd.DataFrame({f"c{j}": pd.Categorical(codes[:, j].astype(str)) for j in range(codes.shape[1])})


def taken(frame, places):
    return frame.iloc[places].reset_index(drop=True)


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_occur_twice_are_groups_of_two(seed):
    rng = np.random.default_rng(seed)
    places = rng.permutation(np.tile(np.arange(300), 2))
    X, y = taken(numbers(rng), places), rng.integers(0, 2, 300)[places]
    copies = find_copies(X, y)
    assert (copies.n_rows_in_copies, copies.n_groups, copies.n_conflicting) == (600, 300, 0)
    pairs = pd.Series(copies.groups).groupby(places).nunique()
    assert (pairs == 1).all()
    assert len(np.unique(copies.groups)) == 300
    assert "600 rows are copies" in copies.sentence


@pytest.mark.parametrize("seed", range(5))
def test_an_upsampled_rare_class_has_copies(seed):
    rng = np.random.default_rng(seed)
    y = (np.arange(600) < 15).astype(int)
    places = np.r_[np.arange(600), rng.choice(15, 300)]
    copies = find_copies(taken(numbers(rng, 600), places), y[places])
    drawn = np.bincount(places, minlength=600)[places] > 1
    assert copies.n_rows_in_copies == drawn.sum()
    sizes = np.bincount(copies.groups)[copies.groups]
    np.testing.assert_array_equal(sizes > 1, drawn)


@pytest.mark.parametrize("seed", range(5))
def test_equal_rows_of_few_discrete_columns_are_different_subjects(seed):
    rng = np.random.default_rng(seed)
    X = categories(rng.integers(0, 2, (1000, 3)))
    for y in (rng.integers(0, 2, 1000), rng.normal(size=1000), np.round(rng.normal(size=1000), 1)):
        copies = find_copies(X, y)
        assert copies.groups is None
        assert copies.n_equal_rows == 1000
        assert "explained by chance" in copies.sentence
    many = find_copies(categories(rng.integers(0, 5, (3000, 6))), rng.integers(0, 2, 3000))
    assert many.groups is None
    assert many.n_equal_rows > 300


@pytest.mark.parametrize("seed", range(5))
def test_discrete_rows_that_all_occur_twice_are_copies(seed):
    rng = np.random.default_rng(seed)
    places = np.tile(np.arange(1500), 2)
    X = taken(categories(rng.integers(0, 5, (1500, 6))), places)
    assert find_copies(X, rng.integers(0, 2, 1500)[places]).n_rows_in_copies == 3000
    few = taken(categories(rng.integers(0, 2, (1500, 3))), places)
    by_target = find_copies(few, rng.normal(size=1500)[places])
    assert by_target.n_groups == 1500  # the target is a number; the columns alone have eight patterns
    assert find_copies(few, rng.integers(0, 2, 1500)[places]).groups is None


def test_strongly_correlated_columns_do_not_make_copies():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        answers = 4 * rng.normal(size=(2000, 1)) + rng.normal(size=(2000, 30)) > 1.5 * rng.normal(size=30)
        assert find_copies(categories(answers.astype(int)), rng.integers(0, 2, 2000)).n_rows_in_copies < 10


def test_unique_rows_and_missing_values():
    rng = np.random.default_rng(0)
    X = numbers(rng, 50)
    assert find_copies(X, rng.normal(size=50)).sentence == "No two rows are equal in every column."
    X = X.mask(rng.random(X.shape) < 0.2)
    twice = pd.concat([X, X], ignore_index=True)
    assert find_copies(twice, np.tile(rng.normal(size=50), 2)).n_groups == 50


def test_conflicting_targets_of_copies_are_counted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    other = y.copy()
    other[:10] = 1 - other[:10]
    X = numbers(rng)
    copies = find_copies(pd.concat([X, X], ignore_index=True), np.r_[y, other])
    assert copies.n_conflicting == 20
    assert "In 20 of them the target differs" in copies.sentence


def test_rows_of_another_table_are_counted():
    rng = np.random.default_rng(0)
    X = numbers(rng, 40).assign(word=pd.Categorical(rng.choice(["a", "b"], 40)))
    other = pd.concat([X.iloc[:7], X.iloc[7:20].assign(x0=9.0)], ignore_index=True)
    other["word"] = pd.Categorical(other["word"].astype(str), categories=["a", "b", "new"])
    assert count_equal_rows(X, other) == 7


@pytest.mark.parametrize("seed", range(5))
def test_jittered_copies_across_a_split_are_near_copies_and_neighbours_are_not(seed):
    rng = np.random.default_rng(seed)
    X = numbers(rng, 500, 6).assign(word=pd.Categorical(rng.choice(list("abc"), 500)))
    sides = rng.integers(0, 5, 1000)
    jittered = X.copy()
    jittered.iloc[:, :6] += 1e-3 * rng.normal(size=(500, 6))
    near = near_copies(pd.concat([X, jittered], ignore_index=True), sides)
    assert near.matters
    crossing = (sides[:500] != sides[500:]).mean()
    assert abs(near.fraction - crossing) < 0.05
    alone = near_copies(X, sides[:500])
    assert not alone.matters
    assert alone.fraction < 0.02


def test_near_copies_on_one_side_do_not_count():
    rng = np.random.default_rng(0)
    X = numbers(rng, 400)
    sides = np.tile(rng.integers(0, 5, 400), 2)
    near = near_copies(pd.concat([X, X + 1e-4 * rng.normal(size=X.shape)], ignore_index=True), sides)
    assert near.n_near_copies == 0
    assert near_copies(X.iloc[:30], np.arange(30) % 2).n_checked == 0
