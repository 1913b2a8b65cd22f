"""Splits are the best by brute force on small tables, and leaf values solve the paper's equation."""

import numpy as np
import pytest
from reference.vmatrix_trees import blended, grow, naive_v, score, system

from surefoot._parallel import RowThreads
from surefoot.shift.gram import DenseGram
from surefoot.shift.leafwise_grower import CodedTable, LeafRules, LeafwiseGrower
from surefoot.shift.objective import Objective
from surefoot.shift.v_matrix import VMatrix


def table_of(X):
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in X.T]).astype(np.uint8)
    missing = codes.max(axis=1).astype(np.int64) + 1
    n_columns = X.shape[1]
    return CodedTable(codes, codes[:, :3].copy(), missing, np.zeros(n_columns, dtype=bool))


def grown(X, objective, residuals, rules):
    with RowThreads(1) as threads:
        return LeafwiseGrower(table_of(X), objective, rules, threads).grow(residuals)


def example(seed, n=24, kind="dense"):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 3)).astype(float)
    y = rng.normal(size=n)
    if kind == "dense":
        root = rng.normal(size=(n, n))
        return X, y, root @ root.T / n
    T = rng.integers(0, 7, (15, 3)).astype(float)
    return X, y, VMatrix.from_target(X, T, kind=kind)


@pytest.mark.parametrize("kind", ["dense", "mean", "joint", "product"])
@pytest.mark.parametrize(("seed", "l2", "blend"), [(0, 1.0, 1.0), (1, 0.5, 0.4), (2, 3.0, 0.9), (3, 0.01, 0.2)])
def test_the_tree_is_that_of_brute_force(kind, seed, l2, blend):
    X, y, V = example(seed, kind=kind)
    gram = DenseGram(V) if kind == "dense" else V.gram
    dense = V if kind == "dense" else V.dense()
    loss = blended(dense, blend)
    tree, fitted, held_out = grown(X, Objective(gram, blend, np.ones(len(X))), y, LeafRules(5, l2, 0.0, 2))
    leaves, values, _ = grow(X, loss, y, 5, l2, least_rows=2)
    expected = np.empty(len(X))
    for leaf, value in zip(leaves, values, strict=True):
        expected[leaf] = value
    np.testing.assert_allclose(fitted, expected, atol=1e-9)
    np.testing.assert_allclose(held_out, expected[:3], atol=1e-9)
    assert sorted(tree.values.values()) == pytest.approx(sorted(values))


def test_weights_are_copies():
    X, y, _ = example(4)
    weights = np.random.default_rng(4).integers(1, 4, len(X)).astype(float)
    T = np.random.default_rng(5).integers(0, 7, (15, 3)).astype(float)
    copies = np.repeat(np.arange(len(X)), weights.astype(int))
    for kind in ("mean", "joint", "product"):
        once, often = (VMatrix.from_target(rows, T, kind=kind).gram for rows in (X, X[copies]))
        rules = LeafRules(6, 1.0, 0.0, 1)
        _, fitted, _ = grown(X, Objective(once, 0.5, weights), y, rules)
        _, expected, _ = grown(X[copies], Objective(often, 0.5, np.ones(len(copies))), y[copies], rules)
        np.testing.assert_allclose(fitted[copies], expected, atol=1e-10)


def test_an_asymmetric_matrix_has_the_score_of_equation_18():
    rng = np.random.default_rng(6)
    X, y, V = example(6)
    V = V + 0.2 * (rng.normal(size=V.shape) * (1 - np.tri(len(X))))
    V += 3 * np.eye(len(X))
    objective = Objective(DenseGram(V), 1.0, np.ones(len(X)))
    tree, fitted, _ = grown(X, objective, y, LeafRules(4, 1.0, 0.0, 1))
    scaled = blended(V, 1.0)
    leaves = [np.flatnonzero(fitted == value).tolist() for value in np.unique(fitted)]
    value, w = score(scaled, y, leaves, 1.0)
    np.testing.assert_allclose(np.unique(fitted), np.sort(w), atol=1e-10)
    D, U, _ = system(scaled, y, leaves, 1.0)
    np.testing.assert_allclose(D @ np.unique(fitted), U, atol=1e-9)
    by_brute_force = grow(X, scaled, y, 4, 1.0)[2]
    assert value == pytest.approx(by_brute_force)
    # the objective itself, written out
    f = fitted
    direct = ((y - f) @ scaled @ (y - f)) - (y @ scaled @ y) + 0.5 * (np.array(list(tree.values.values())) ** 2).sum()
    assert value == pytest.approx(direct)


def test_gains_are_the_decrease_of_the_score():
    X, y, V = example(7)
    objective = Objective(DenseGram(V), 0.5, np.ones(len(X)))
    loss = blended(V, 0.5)
    tree, fitted, _ = grown(X, objective, y, LeafRules(5, 1.0, 0.0, 1))
    leaves = [np.flatnonzero(fitted == value).tolist() for value in np.unique(fitted)]
    whole = score(loss, y, [list(range(len(X)))], 1.0)[0]
    assert sum(split.gain for split in tree.splits.values()) == pytest.approx(whole - score(loss, y, leaves, 1.0)[0])


def test_min_gain_ends_growth_like_brute_force():
    X, y, V = example(8)
    for min_gain in (0.5, 2.0, 1e9):
        objective = Objective(DenseGram(V), 1.0, np.ones(len(X)))
        tree, _, _ = grown(X, objective, y, LeafRules(8, 1.0, min_gain, 1))
        leaves, _, _ = grow(X, blended(V, 1.0), y, 8, 1.0, min_gain=min_gain)
        assert len(tree.values) == len(leaves)


def test_rows_without_a_part_in_the_loss_get_the_value_0_without_l2():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    gram = VMatrix.from_target(X, [[1.0], [1.0]], kind="joint").gram
    _, fitted, _ = grown(X, Objective(gram, 1.0, np.ones(4)), np.array([1.0, 2.0, 5.0, 5.0]), LeafRules(4, 0.0, 0.0, 1))
    assert np.isfinite(fitted).all()
    np.testing.assert_allclose(fitted[2:], fitted[3])


def test_the_naive_matrix():
    X, T = np.array([[0.0], [1.0]]), np.array([[0.0], [1.0], [1.0], [3.0]])
    np.testing.assert_array_equal(naive_v(X, T, "joint"), [[1.0, 0.75], [0.75, 0.75]])
