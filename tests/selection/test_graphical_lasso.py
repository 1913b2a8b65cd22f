"""The graphical lasso against scikit-learn, plain loops and the optimality conditions."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.graphical_lasso import covariance_of, graphical_lasso, lasso
from scipy.optimize import minimize_scalar
from sklearn.covariance import graphical_lasso as graphical_lasso_of_sklearn

from surefoot._exceptions import DataError, ParameterError
from surefoot._jit import kernel
from surefoot.selection.graphical_lasso import (
    best_length,
    invert,
    minimise_model,
    penalty_roots,
    solve_among,
    solve_graphical_lasso,
    take_newton_step,
)
from surefoot.selection.graphical_lasso_selector import GraphicalLassoSelector
from surefoot.selection.selector import BagError
from surefoot.selection.table import SelectionTable

best_length, invert, minimise_model, solve_among, take_newton_step = map(
    partial(kernel, allocates=True), (best_length, invert, minimise_model, solve_among, take_newton_step)
)

seeds = st.integers(0, 2**32 - 1)
SACHS = Path(os.environ.get("SUREFOOT_DATA", "")) / "sachs_cd3cd28icam2_u0126.parquet"
needs_sachs = pytest.mark.skipif(
    "SUREFOOT_DATA" not in os.environ or not SACHS.exists(), reason=f"SUREFOOT_DATA names no folder with {SACHS.name}"
)


def some_columns(generator, n_rows, n_variables):
    """Correlated columns."""
    mixing = np.eye(n_variables) + generator.normal(size=(n_variables, n_variables)) * (
        generator.random((n_variables, n_variables)) < 0.3
    )
    return generator.normal(size=(n_rows, n_variables)) @ mixing


def table_of(X):
    n_variables = X.shape[1]
    names = tuple(f"x{i}" for i in range(n_variables))
    return SelectionTable(np.ascontiguousarray(X, dtype=float), names, np.arange(n_variables, dtype=np.int32))


def sklearn_precision(covariance, alpha):
    return graphical_lasso_of_sklearn(covariance, alpha, tol=1e-10, enet_tol=1e-12, max_iter=20_000)[1]


def worst_violation(covariance, alpha, precision):
    """The largest violation of the optimality conditions, in units of correlation."""
    deviations = np.sqrt(np.diag(covariance))
    gradient = covariance - np.linalg.inv(precision)
    at_zero = np.maximum(np.abs(gradient) - alpha, 0)
    slopes = np.where(precision == 0, at_zero, gradient + alpha * np.sign(precision))
    np.fill_diagonal(slopes, np.diag(gradient))
    return np.abs(slopes / np.outer(deviations, deviations)).max()


def objective(correlation, penalties, precision):
    sign, log_determinant = np.linalg.slogdet(precision)
    assert sign > 0
    assert np.linalg.eigvalsh(precision)[0] > 0
    return -log_determinant + np.sum(correlation * precision) + np.sum(penalties * np.abs(precision))


def test_graphs_equal_those_of_scikit_learn():
    differing, sizes = [], set()
    for seed in range(300):
        generator = np.random.default_rng(seed)
        n_variables = int(generator.integers(3, 13))
        covariance = np.cov(some_columns(generator, 4 * n_variables, n_variables).T, bias=True)
        off_diagonal = np.abs(covariance[np.triu_indices(n_variables, 1)])
        alpha = float(np.quantile(off_diagonal, generator.uniform(0.2, 0.9)))
        ours, theirs = solve_graphical_lasso(covariance, alpha), sklearn_precision(covariance, alpha)
        if not np.array_equal(ours != 0, theirs != 0) or not np.allclose(ours, theirs, rtol=1e-4, atol=1e-5):
            differing.append(seed)
        sizes.add(np.count_nonzero(ours))
    assert differing == []
    assert len(sizes) > 30  # from few edges to almost all


@settings(deadline=None, max_examples=30)
@given(seed=seeds, n_variables=st.integers(1, 6), alpha=st.floats(0.02, 2))
def test_solutions_equal_those_of_plain_loops(seed, n_variables, alpha):
    generator = np.random.default_rng(seed)
    X = some_columns(generator, 3 * n_variables + 3, n_variables)
    covariance = np.array(covariance_of(X, range(len(X))))
    expected = np.array(graphical_lasso(covariance.tolist(), alpha))
    found = solve_graphical_lasso(covariance, alpha)
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("share", [0.3, 1e-2, 1e-4])
@pytest.mark.parametrize(("n_rows", "n_variables"), [(5, 8), (200, 8), (12, 20), (300, 20)])
def test_hard_problems_are_solved_to_the_last_digit(n_rows, n_variables, share):
    generator = np.random.default_rng(n_rows)
    covariance = np.cov(some_columns(generator, n_rows, n_variables).T, bias=True)
    alpha = share * np.diag(covariance).mean()
    precision = solve_graphical_lasso(covariance, alpha)
    np.testing.assert_array_equal(precision, precision.T)
    assert worst_violation(covariance, alpha, precision) < 1e-9


def test_two_variables_have_a_closed_form():
    covariance = np.array([[4.0, 1.0], [1.0, 1.0]])
    shrunk = np.array([[4.0, 0.75], [0.75, 1.0]])
    np.testing.assert_allclose(solve_graphical_lasso(covariance, 0.25), np.linalg.inv(shrunk), rtol=1e-12)
    np.testing.assert_allclose(solve_graphical_lasso(-covariance + 2 * np.diag([4.0, 1.0]), 0.25)[0, 1], 0.75 / 3.4375)
    np.testing.assert_array_equal(solve_graphical_lasso(covariance, 1.01), np.diag([0.25, 1.0]))


def test_a_tiny_penalty_gives_the_inverse_and_a_huge_one_no_edge():
    covariance = np.cov(some_columns(np.random.default_rng(0), 60, 5).T)
    np.testing.assert_allclose(solve_graphical_lasso(covariance, 1e-300), np.linalg.inv(covariance), rtol=1e-9)
    np.testing.assert_allclose(solve_graphical_lasso(covariance, 1e300), np.diag(1 / np.diag(covariance)), rtol=1e-15)


@pytest.mark.parametrize("unit", [1e-150, 1e-6, 1e6, 1e150])
def test_the_units_of_covariance_and_alpha_cancel(unit):
    covariance = np.cov(some_columns(np.random.default_rng(1), 40, 6).T)
    plain, scaled = solve_graphical_lasso(covariance, 0.3), solve_graphical_lasso(covariance * unit, 0.3 * unit)
    np.testing.assert_array_equal(plain != 0, scaled != 0)
    np.testing.assert_allclose(scaled, plain / unit, rtol=1e-8)


def test_variances_of_very_different_size():
    generator = np.random.default_rng(2)
    units = 10.0 ** np.array([-4, -3, -2, 0, 1, 3, 4, 5])
    for _ in range(20):
        covariance = np.cov(some_columns(generator, 60, 8).T) * np.outer(units, units)
        for alpha in (1e-6, 1e-2, 10.0, 1e5):
            assert worst_violation(covariance, alpha, solve_graphical_lasso(covariance, alpha)) < 1e-9


@pytest.mark.parametrize(
    ("covariance", "says"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(3), "square"),
        (np.empty((0, 0)), "square"),
        (np.diag([1.0, 0.0]), "positive variances"),
        (np.diag([1.0, np.nan]), "finite"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "not a covariance matrix"),
    ],
)
def test_matrices_that_are_refused(covariance, says):
    with pytest.raises(DataError, match=says):
        solve_graphical_lasso(covariance, 0.1)


@pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf, "cv", None, True])
def test_alpha_is_a_positive_number(alpha):
    table = table_of(np.random.default_rng(0).normal(size=(9, 2)))
    with pytest.raises(ParameterError, match="alpha"):
        GraphicalLassoSelector(alpha, standardize=False).prepare(table)
    with pytest.raises(ParameterError, match="alpha"):
        solve_graphical_lasso(np.eye(2), alpha)


# The parts of the solver.


@settings(deadline=None)
@given(seed=seeds, n=st.integers(1, 12))
def test_inverse(seed, n):
    factor = np.random.default_rng(seed).normal(size=(n, n + 3))
    matrix, inverse = factor @ factor.T, np.empty((n, n))
    assert invert(matrix, inverse)
    np.testing.assert_allclose(inverse, np.linalg.inv(matrix), rtol=1e-6, atol=1e-9 * np.abs(inverse).max())
    matrix[-1, -1] -= np.linalg.det(matrix) / (np.linalg.det(matrix[:-1, :-1]) if n > 1 else 1) * 2
    assert not invert(matrix, inverse)


@settings(deadline=None)
@given(seed=seeds, n=st.integers(1, 12), share=st.floats(0.1, 1))
def test_solution_among_some_rows_and_columns(seed, n, share):
    generator = np.random.default_rng(seed)
    factor = generator.normal(size=(n, n + 5))
    matrix, right = factor @ factor.T, generator.normal(size=n)
    some = np.sort(generator.choice(n, max(1, int(share * n)), replace=False))
    found = right[: len(some)].copy()
    assert solve_among(matrix, some, found)
    np.testing.assert_allclose(matrix[np.ix_(some, some)] @ found, right[: len(some)], rtol=1e-6, atol=1e-8)
    assert not solve_among(-matrix, some, found)


@settings(deadline=None)
@given(seed=seeds, n=st.integers(1, 10))
def test_minimum_of_a_model(seed, n):
    generator = np.random.default_rng(seed)
    factor = generator.normal(size=(n, n + 5))
    hessian, linear, penalty = factor @ factor.T, 5 * generator.normal(size=n), 5 * generator.random(n)
    values = generator.normal(size=n)
    gradient = hessian @ values - linear
    minimise_model(hessian, penalty, 1e-12, values, gradient)
    expected = np.array(lasso(hessian.tolist(), linear.tolist(), penalty.tolist()))
    np.testing.assert_array_equal(values != 0, expected != 0)
    np.testing.assert_allclose(values, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(gradient, hessian @ values - linear, atol=1e-9)


@settings(deadline=None)
@given(seed=seeds, n=st.integers(1, 8))
def test_best_length_of_a_step(seed, n):
    generator = np.random.default_rng(seed)
    factor = generator.normal(size=(n, n + 5))
    hessian, linear, penalty = factor @ factor.T, 5 * generator.normal(size=n), 5 * generator.random(n)
    values = generator.normal(size=n)
    slopes = hessian @ values - linear + penalty * np.sign(values)
    step = -np.linalg.solve(hessian, slopes)
    length, stopped = best_length(penalty, np.arange(n), values, slopes, step)

    def model(t):
        x = values + t * step
        return x @ hessian @ x / 2 - linear @ x + penalty @ np.abs(x)

    best = minimize_scalar(model, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    assert 0 < length <= 1 + 1e-9
    assert model(length) <= best.fun + 1e-9 * (1 + abs(best.fun))
    if stopped >= 0:
        assert abs(values[stopped] + length * step[stopped]) < 1e-12


@settings(deadline=None)
@given(seed=seeds, n=st.integers(2, 7), size=st.floats(1e-3, 0.5))
def test_every_newton_step_descends_and_stays_positive_definite(seed, n, size):
    generator = np.random.default_rng(seed)
    correlation = np.corrcoef(some_columns(generator, n + 2, n).T)
    factor = generator.normal(size=(n, n + 1))
    precision = factor @ factor.T
    penalties = np.full((n, n), size)
    np.fill_diagonal(penalties, 0)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1)])
    before = objective(correlation, penalties, precision)
    for _ in range(5):
        take_newton_step(correlation, penalties, np.linalg.inv(precision), pairs, 1e-9, precision)
        after = objective(correlation, penalties, precision)
        assert after <= before + 1e-9 * (1 + abs(before))
        before = after


# Bags of a table.


@settings(deadline=None)
@given(
    seed=seeds,
    n_rows=st.integers(4, 40),
    share=st.floats(0.3, 1),
    replace=st.booleans(),
    outlier=st.sampled_from([1.0, 1e5, 1e9]),
)
def test_correlations_of_bags(seed, n_rows, share, replace, outlier):
    generator = np.random.default_rng(seed)
    X = some_columns(generator, n_rows, 3) * [1.0, 1e6, 1e-6] + [0.0, 1e7, 3.0]
    X[0, 0] = outlier  # without it, almost nothing is left of the sums over all rows
    prepared = GraphicalLassoSelector(1.0, standardize=False).prepare(table_of(X))
    size = max(3, int(share * n_rows))
    bags = np.sort([generator.choice(n_rows, size, replace=replace) for _ in range(5)], axis=1)
    bags[-1] = np.arange(n_rows - size, n_rows)
    correlations, deviations = prepared.correlate(bags)
    for bag, correlation, deviation in zip(bags, correlations, deviations, strict=True):
        expected = np.array(covariance_of(X, bag))
        roots = np.sqrt(np.diag(expected))
        if len(set(bag)) < 2:
            continue
        np.testing.assert_allclose(deviation / prepared.roots, roots, rtol=1e-7)
        np.testing.assert_allclose(correlation, expected / np.outer(roots, roots), atol=1e-7)


def test_models_of_bags_equal_those_of_their_covariances():
    generator = np.random.default_rng(3)
    X = some_columns(generator, 50, 6) * 10.0 ** np.arange(-2, 4)
    prepared = GraphicalLassoSelector(0.2, standardize=False).prepare(table_of(X))
    assert prepared.items[:2] == (("x0", "x1"), ("x0", "x2"))
    assert len(prepared.items) == 15
    assert not prepared.are_variables
    upper = np.triu_indices(6, 1)
    for size, replace in ((50, False), (40, False), (20, False), (50, True)):
        bags = np.sort([generator.choice(50, size, replace=replace) for _ in range(30)], axis=1).astype(np.int32)
        models = prepared.select(bags)
        assert models.shape == (30, 15)
        assert models.dtype == bool
        for bag, model in zip(bags, models, strict=True):
            expected = solve_graphical_lasso(np.cov(X[bag].T, bias=True), 0.2)[upper] != 0
            np.testing.assert_array_equal(model, expected)
            np.testing.assert_array_equal(model, prepared.select(bag[np.newaxis])[0])


def test_penalty_roots_multiply_to_penalties_of_correlations():
    roots = penalty_roots(6.0, np.array([2.0, 3.0, 0.0, np.inf]))
    assert roots[0] * roots[1] == pytest.approx(1.0)
    assert np.isfinite(roots).all()
    assert (roots > 0).all()


def test_huge_and_tiny_numbers():
    X = some_columns(np.random.default_rng(4), 40, 3)
    X[:, 1] += X[:, 0]
    rows = np.arange(40)[np.newaxis]
    plain = GraphicalLassoSelector(0.3, standardize=False).prepare(table_of(X)).select(rows)
    for power in (-500, 500):  # a power of two: the same digits
        scaled = (
            GraphicalLassoSelector(0.3 * 4.0**power, standardize=False).prepare(table_of(X * 2.0**power)).select(rows)
        )
        np.testing.assert_array_equal(scaled, plain)
    X[:, 2] = np.where(np.arange(40) % 2, 1e308, -1e308)
    assert GraphicalLassoSelector(1.0, standardize=False).prepare(table_of(X)).select(rows).shape == (1, 3)


def test_constant_columns_and_categories_are_named():
    X = np.random.default_rng(5).normal(size=(20, 3))
    X[:, 1] = 0.1
    with pytest.raises(DataError, match="'x1' is constant"):
        GraphicalLassoSelector(0.1, standardize=False).prepare(table_of(X))
    category = SelectionTable(X, ("size", "colour"), np.array([0, 1, 1], dtype=np.int32))
    with pytest.raises(DataError, match="'colour' is a category"):
        GraphicalLassoSelector(0.1, standardize=False).prepare(category)
    with pytest.raises(DataError, match="two columns"):
        GraphicalLassoSelector(0.1, standardize=False).prepare(table_of(X[:, :1]))


@pytest.mark.parametrize("outlier", [0.2, 1e12])
@pytest.mark.parametrize("bag", [np.arange(1, 20), np.arange(1, 8), np.repeat(np.arange(3, 13), 2)])
def test_a_bag_with_a_constant_column_has_no_model(outlier, bag):
    X = np.random.default_rng(6).normal(size=(20, 3))
    X[:, 1] = 0.1
    X[0, 1] = outlier
    prepared = GraphicalLassoSelector(0.1, standardize=False).prepare(table_of(X))
    fine = np.arange(len(bag))
    with pytest.raises(BagError) as error:
        prepared.select(np.array([fine, fine, bag], dtype=np.int32))
    assert error.value.index == 2
    assert "'x1'" in error.value.reason


def test_small_bags_with_any_constant_column_have_no_model():
    X = np.random.default_rng(6).normal(size=(200, 2))
    X[:, 1] = np.repeat(X[:10, 1], 20)
    prepared = GraphicalLassoSelector(0.1, standardize=False).prepare(table_of(X))
    for first in range(0, 200, 20):
        for size in range(1, 21):
            with pytest.raises(BagError, match="constant"):
                prepared.select(np.arange(first, first + size)[np.newaxis])


def test_collinear_columns_need_an_alpha():
    X = np.random.default_rng(7).normal(size=(30, 3))
    X[:, 2] = X[:, 0] + X[:, 1]
    assert GraphicalLassoSelector(1e-4, standardize=False).prepare(table_of(X)).select(np.arange(30)[np.newaxis]).all()
    with pytest.raises(DataError, match="collinear"):
        GraphicalLassoSelector(1e-14, standardize=False).prepare(table_of(X))


def test_a_bag_that_cannot_be_solved_is_named():
    X = np.random.default_rng(8).normal(size=(30, 3))
    X[:20, 2] = X[:20, 0] + X[:20, 1]
    prepared = GraphicalLassoSelector(1e-14, standardize=False).prepare(table_of(X))
    with pytest.raises(BagError) as error:
        prepared.select(np.array([np.arange(10, 30), np.arange(20)], dtype=np.int32))
    assert error.value.index == 1
    assert "collinear" in error.value.reason


@needs_sachs
def test_the_proteins_of_sachs():
    frame = pd.read_parquet(SACHS)
    X = np.ascontiguousarray(frame.to_numpy(dtype=float))
    table = SelectionTable(X, tuple(frame.columns), np.arange(11, dtype=np.int32))
    prepared = GraphicalLassoSelector(77, standardize=False).prepare(table)
    generator = np.random.default_rng(0)
    bags = np.sort([generator.choice(759, 700, replace=False) for _ in range(2000)], axis=1).astype(np.int32)
    models = prepared.select(bags)  # none raises
    upper = np.triu_indices(11, 1)
    for bag, model in zip(bags[:20], models[:20], strict=True):
        theirs = graphical_lasso_of_sklearn(np.cov(X[bag].T, bias=True), 77, tol=1e-8, enet_tol=1e-14, max_iter=5000)
        np.testing.assert_array_equal(model, theirs[1][upper] != 0)
    distinct, counts = np.unique(models, axis=0, return_counts=True)
    first, second = distinct[np.argsort(counts)[:-3:-1]]
    # The paper's two most frequent graphs differ only in this edge.
    assert [prepared.items[k] for k in np.flatnonzero(first != second)] == [("Mek", "Akt")]
