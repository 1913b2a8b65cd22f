"""The LASSO of bags against scikit-learn, the optimality conditions, and a naive implementation."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import lasso as naive
from sklearn.linear_model import Lasso, LassoCV, lasso_path
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import DataError, ParameterError, StableSelector
from surefoot._jit import kernel
from surefoot.selection import LassoSelector
from surefoot.selection import lasso_path as kernels
from surefoot.selection.bagged_selection import BagPool
from surefoot.selection.lasso_selector import FOLDS
from surefoot.selection.table import SelectionTable

descend = kernel(kernels.descend)
make_buffers, make_path, open_kernel_bag = kernels.make_buffers, kernels.make_path, kernels.open_bag
read_bag = kernel(kernels.read_bag)
solve_bag = kernel(kernels.solve_bag)
walk_path = kernel(kernels.walk_path)

TIGHT = {"tol": 1e-10, "max_iter": 10_000_000}
needs_trials = pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA names no folder of tables")


def table_of(X, y, groups=None):
    groups = np.arange(X.shape[1]) if groups is None else np.asarray(groups)
    names = tuple(f"v{k}" for k in range(groups.max() + 1))
    X, y = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return SelectionTable(X, names, groups.astype(np.int32), y)


def all_rows(X):
    return np.arange(len(X), dtype=np.int32)


def select(X, y, alpha, bags=None, standardize=False, groups=None):
    """Which variables each bag (by default one of all rows) gives a coefficient."""
    bags = all_rows(X)[np.newaxis] if bags is None else np.ascontiguousarray(bags, dtype=np.int32)
    return LassoSelector(alpha, standardize=standardize).prepare(table_of(X, y, groups)).select(bags)


def open_bag(X, y, alpha, bag=None, standardize=False):
    """A table, a bag of it and the arrays of its path, as the kernels need them."""
    bag = all_rows(X) if bag is None else np.asarray(bag, dtype=np.int32)
    table = LassoSelector(alpha, standardize=standardize).prepare(table_of(X, y)).table
    path = make_path(X.shape[1], min(X.shape[1], len(bag)))
    opened = open_kernel_bag(table, bag, make_buffers(table, len(bag)))
    return table, bag, opened, path


def coefficients(X, y, alpha, bag=None, standardize=False):
    """Coefficients of the unscaled columns, by the path and, if that fails, by descent."""
    table, rows, opened, path = open_bag(X, y, alpha, bag, standardize)
    out = np.empty((1, X.shape[1]))
    solve_bag(table, rows, opened, path, standardize, np.array([alpha]), out)
    return out[0]


def path_coefficients(X, y, alphas, bag=None, standardize=False):
    """Coefficients at several penalties by the path alone, and how many of them are certain."""
    table, _, opened, path = open_bag(X, y, alphas[0], bag, standardize)
    out = np.zeros((len(alphas), X.shape[1]))
    read_bag(table, opened, standardize)
    return out, walk_path(table, opened, path, np.array(alphas), out)


def descent_coefficients(X, y, alpha, bag=None, standardize=False):
    """Coefficients by descent alone."""
    table, rows, opened, _ = open_bag(X, y, alpha, bag, standardize)
    target_mean = read_bag(table, opened, standardize)
    out = np.zeros(X.shape[1])
    descend(table, rows, opened, target_mean, alpha, out)
    return out


def largest_penalty(X, y, standardize=False):
    """The smallest penalty without variables."""
    centred, target = naive.centred(X, y, standardize)
    return float(np.abs(centred.T @ target).max() / len(y))


def make_problem(seed, n_rows=None, n_columns=None, correlation=0.0, scales=False):
    """Continuous columns away from 0, some of which predict the target, and a penalty that chooses a few of them."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = n_rows or int(rng.integers(5, 61)), n_columns or int(rng.integers(1, 51))
    shared = rng.normal(size=(n_rows, 1))
    X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(n_rows, n_columns))
    y = X @ (rng.normal(size=n_columns) * (rng.random(n_columns) < 0.3)) + rng.normal(size=n_rows)
    X = X * (10 ** rng.uniform(-3, 3, n_columns) if scales else 1.0)
    X = X + rng.normal(size=n_columns) * X.std(axis=0)
    return X, y, largest_penalty(X, y) * float(10 ** rng.uniform(-2.5, 0.05))


@pytest.mark.parametrize("scales", [False, True])
@pytest.mark.parametrize("correlation", [0.0, 0.99])
def test_supports_equal_those_of_scikit_learn(correlation, scales):
    wide = 0
    for seed in range(250):
        X, y, alpha = make_problem(seed, correlation=correlation, scales=scales)
        wide += X.shape[1] > len(X)
        expected = Lasso(alpha, **TIGHT).fit(X, y).coef_ != 0
        assert select(X, y, alpha).tolist() == [expected.tolist()], seed
    assert wide > 50


@pytest.mark.parametrize("standardize", [False, True])
def test_bags_equal_scikit_learn_on_their_rows(standardize):
    for seed in range(40):
        X, y, _ = make_problem(seed, n_rows=30, scales=seed % 2 == 1)
        alpha = largest_penalty(X, y, standardize) * 0.1
        for size, replace in [(10, False), (15, False), (25, False), (29, False), (30, True), (45, True)]:
            bags = BagPool(30, size, replace, seed).bags(0, 3)
            found = select(X, y, alpha, bags, standardize)
            for bag, support in zip(bags, found, strict=True):
                model = Lasso(alpha, **TIGHT)
                if standardize:
                    expected = make_pipeline(StandardScaler(), model).fit(X[bag], y[bag])[-1].coef_
                else:
                    expected = model.fit(X[bag], y[bag]).coef_
                assert support.tolist() == (expected != 0).tolist(), (seed, size, replace)


@pytest.mark.parametrize("standardize", [False, True])
def test_coefficients_equal_those_of_scikit_learn_and_of_a_naive_implementation(standardize):
    for seed in range(30):
        X, y, _ = make_problem(seed, n_rows=24, n_columns=1 + seed % 12)
        alpha = largest_penalty(X, y, standardize) * 0.2
        bag = BagPool(24, 18, bool(seed % 2), seed).bags(0, 1)[0]
        own = coefficients(X, y, alpha, bag, standardize) * (X[bag].std(axis=0) if standardize else 1.0)
        twin = naive.coordinate_descent(X[bag], y[bag], alpha, standardize)
        scaled = StandardScaler().fit_transform(X[bag]) if standardize else X[bag]
        np.testing.assert_allclose(own, twin, atol=1e-9)
        np.testing.assert_allclose(own, Lasso(alpha, tol=1e-14, max_iter=10**7).fit(scaled, y[bag]).coef_, atol=1e-6)


def test_a_bag_equals_a_table_of_its_rows_alone():
    X, y, alpha = make_problem(4, n_rows=20, n_columns=8)
    bags = BagPool(20, 26, True, 0).bags(0, 50)
    assert any(len(set(bag)) < len(bag) - 8 for bag in bags.tolist())
    for bag, support in zip(bags, select(X, y, alpha, bags), strict=True):
        np.testing.assert_array_equal(support, select(X[bag], y[bag], alpha)[0])


def test_a_bag_does_not_depend_on_the_other_bags_of_a_call():
    X, y, _ = make_problem(5, n_rows=40, n_columns=12, correlation=0.5)
    for alpha in (largest_penalty(X, y) * 0.05, "cv"):
        bags = BagPool(40, 22, False, 0).bags(0, 30)
        together = select(X, y, alpha, bags)
        assert len(np.unique(together, axis=0)) > 1
        np.testing.assert_array_equal(select(X, y, alpha, bags[::-1])[::-1], together)
        np.testing.assert_array_equal(np.concatenate([select(X, y, alpha, [bag]) for bag in bags]), together)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 45), replace=st.booleans(), standardize=st.booleans())
def test_optimality_conditions_hold_on_every_bag(seed, size, replace, standardize):
    X, y, alpha = make_problem(seed, n_rows=30, correlation=0.5)
    bag = BagPool(30, size if replace else min(size, 29), replace, seed).bags(0, 1)[0]
    found = coefficients(X, y, alpha, bag, standardize)
    scaled = found * X[bag].std(axis=0) if standardize else found
    assert naive.violation(X[bag], y[bag], alpha, scaled, standardize) < 1e-6


def test_the_path_is_certain_and_correct_at_all_penalties():
    for seed in range(25):
        X, y, _ = make_problem(seed, correlation=0.9)
        alphas = [largest_penalty(X, y) * share for share in (1.5, 1.000001, 0.7, 0.3, 0.1, 0.03, 0.01, 0.001)]
        found, sure = path_coefficients(X, y, alphas)
        assert sure == len(alphas)
        assert not found[:2].any()
        for alpha, own in zip(alphas, found, strict=True):
            assert naive.violation(X, y, alpha, own) < 1e-6


def tied_problem(seed):
    """Columns of 0 and 1, many of them tied: copies, complements, and a target with few values."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(6, 40)), int(rng.integers(2, 25))
    X = rng.integers(0, 2, size=(n_rows, n_columns)).astype(float)
    half = n_columns - n_columns // 2
    if seed % 3:
        X[:, n_columns // 2 :] = X[:, :half] if seed % 3 == 1 else 1 - X[:, :half]
    y = rng.integers(0, 2, size=n_rows) if seed % 2 else X @ rng.integers(-1, 2, size=n_columns)
    return X, y.astype(float), float(rng.choice([0.01, 0.02, 0.05, 0.1, 0.125]))


def test_optimality_conditions_hold_with_ties():
    gave_up = 0
    for seed in range(800):
        X, y, alpha = tied_problem(seed)
        found = coefficients(X, y, alpha)
        assert naive.violation(X, y, alpha, found) < 1e-6, seed
        best = Lasso(alpha, tol=1e-12, max_iter=10**6).fit(X, y).coef_
        assert naive.objective(X, y, alpha, found) <= naive.objective(X, y, alpha, best) + 1e-10, seed
        gave_up += path_coefficients(X, y, [alpha])[1] == 0
    assert gave_up > 0  # the fallback has been used


@pytest.mark.parametrize("copies", [2, 3])
def test_identical_columns_have_a_solution(copies):
    for seed in range(60):
        X, y, alpha = make_problem(seed, n_columns=1 + seed % 10)
        one = coefficients(X, y, alpha)
        several = coefficients(np.hstack([X] * copies), y, alpha)
        assert naive.violation(np.hstack([X] * copies), y, alpha, several) < 1e-6
        np.testing.assert_allclose(several.reshape(copies, -1).sum(axis=0), one, atol=1e-8 * (1 + np.abs(one).max()))


@pytest.mark.parametrize("distance", [1e-3, 1e-4, 1e-5, 1e-6, 1e-8])
def test_optimality_conditions_hold_with_almost_identical_columns(distance):
    """Such as a length in inches and in centimetres, rounded."""
    missed = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y, alpha = make_problem(seed, n_rows=30, n_columns=6)
        X = np.hstack([X, X + distance * rng.normal(size=X.shape)])
        off = naive.violation(X, y, alpha, coefficients(X, y, alpha))
        missed += [(seed, off)] if off > 1e-6 else []
    assert missed == []


@pytest.mark.parametrize("standardize", [False, True])
def test_descent_alone_agrees_with_scikit_learn(standardize):
    for seed in range(60):
        X, y, _ = make_problem(seed, n_rows=40, n_columns=2 + seed % 20, scales=seed % 2 == 1)
        alpha = largest_penalty(X, y, standardize) * 0.1
        bag = BagPool(40, 36, bool(seed % 4 == 3), seed).bags(0, 1)[0]
        found = descent_coefficients(X, y, alpha, bag, standardize)
        scaled = StandardScaler().fit_transform(X[bag]) if standardize else X[bag]
        expected = Lasso(alpha, **TIGHT).fit(scaled, y[bag]).coef_
        assert (found != 0).tolist() == (expected != 0).tolist(), seed
        found = found * X[bag].std(axis=0) if standardize else found
        assert naive.violation(X[bag], y[bag], alpha, found, standardize) < 1e-6, seed


def one_hot(rng, n_rows, n_values):
    return np.eye(n_values)[rng.integers(0, n_values, size=n_rows)]


def test_columns_of_a_category_count_as_one_variable():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n_values = 2 + seed % 4
        X = np.hstack([rng.normal(size=(50, 2)), one_hot(rng, 50, n_values), rng.normal(size=(50, 2))])
        groups = np.array([0, 1] + [2] * n_values + [3, 4])
        y = X @ rng.normal(size=X.shape[1]) + 0.1 * rng.normal(size=50)
        alpha = largest_penalty(X, y) * 0.3
        found = coefficients(X, y, alpha)
        assert naive.violation(X, y, alpha, found) < 1e-6
        expected = [(found[groups == variable] != 0).any() for variable in range(5)]
        assert select(X, y, alpha, groups=groups).tolist() == [expected]


@pytest.mark.parametrize("standardize", [False, True])
def test_penalties_by_folds_equal_those_of_scikit_learn(standardize):
    for seed in range(10):
        X, y, _ = make_problem(seed, n_rows=30 + seed, n_columns=2 + seed)
        size, replace = (20 + seed, False) if seed % 2 else (30, True)
        bags = BagPool(len(X), size, replace, seed).bags(0, 2)
        found = select(X, y, "cv", bags, standardize)
        for bag, support in zip(bags, found, strict=True):
            assert support.tolist() == (folds_of_scikit_learn(X[bag], y[bag], standardize) != 0).tolist(), seed


def folds_of_scikit_learn(X, y, standardize):
    """Coefficients of LassoCV; standardized, every fold by its own rows, on penalties by those of the whole bag."""
    if not standardize:
        return LassoCV(alphas=100, cv=KFold(FOLDS), tol=1e-12, max_iter=10**6).fit(X, y).coef_
    alphas = largest_penalty(X, y, True) * np.geomspace(1, 1e-3, 100)
    errors = np.zeros(100)
    for train, test in KFold(FOLDS).split(X):
        scaler = StandardScaler().fit(X[train])
        inside, outside = scaler.transform(X[train]), scaler.transform(X[test])
        centre = y[train].mean()
        path = lasso_path(inside, y[train] - centre, alphas=alphas, tol=1e-12, max_iter=10**6)[1]
        errors += ((outside @ path + centre - y[test][:, np.newaxis]) ** 2).mean(axis=0)
    return Lasso(alphas[errors.argmin()], **TIGHT).fit(StandardScaler().fit_transform(X), y).coef_


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_folds_of_few_rows(size):
    X, y, _ = make_problem(1, n_rows=12, n_columns=2)
    bags = BagPool(12, size, False, 0).bags(0, 10)
    found = select(X, y, "cv", bags)
    assert found.shape == (10, 2)
    if size == 1:
        assert not found.any()
    if size >= FOLDS:  # fewer rows than folds are refused by scikit-learn
        expected = [folds_of_scikit_learn(X[bag], y[bag], False) != 0 for bag in bags]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("alpha", [1e-6, 0.1, "cv"])
@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3, 1e6])
def test_a_target_that_is_constant_on_a_bag_gives_no_variable(value, alpha):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 4)), np.full(30, value)
        assert not select(X, y, alpha).any(), seed
        y[7] += 5 * rng.normal()
        others = np.delete(np.arange(30), 7)
        for bag in (others, others[:14], others[14:]):
            assert not select(X, y, alpha, [bag]).any(), seed


@pytest.mark.parametrize("alpha", [0.01, "cv"])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_column_that_is_constant_on_a_bag_is_not_chosen(standardize, alpha):
    for seed in range(20):
        X, y, _ = make_problem(seed, n_rows=30, n_columns=4)
        X[:, 2] = 0.1
        X[7, 2] = 100.0
        others = np.delete(np.arange(30), 7)
        for bag in (others, others[:14]):
            found = select(X, y, alpha, [bag], standardize)[0]
            assert not found[2]
            assert found[[0, 1, 3]].tolist() == select(X[:, [0, 1, 3]], y, alpha, [bag], standardize)[0].tolist()


def test_a_zero_coefficient_does_not_count_after_rounding():
    """Half of the bag has 1, the others 0, and the target is a multiple: the covariance equals the penalty."""
    counted = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(20, 60))
        n_ones = int(rng.integers(8, n_rows - 8))
        x = np.repeat([0.0, 1.0], [n_rows - n_ones, n_ones])
        y = float(rng.choice([0.2, 0.6, 1.0, 2.0, 6.0])) * x + float(rng.choice([0.0, 0.1, 1 / 3]))
        bag = np.concatenate([rng.permutation(n_rows - n_ones)[:8], n_rows - n_ones + rng.permutation(n_ones)[:8]])
        bag, alpha = np.sort(bag), (y.max() - y.min()) / 4
        assert Lasso(alpha).fit(x[bag, np.newaxis], y[bag]).coef_[0] == 0.0
        counted += select(x[:, np.newaxis], y, alpha, [bag])[0, 0]
    assert counted == 0


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("far", [1e2, 1e4, 1e6, 1e8, 1e10])
def test_an_outlier_does_not_change_bags_without_it(far, standardize):
    wrong = []
    for seed in range(20):
        X, y, _ = make_problem(seed, n_rows=30, n_columns=8, correlation=0.5)
        others = np.delete(np.arange(30), 7)
        alpha = largest_penalty(X[others], y[others], standardize) * 0.1
        near = [select(X, y, alpha, [bag], standardize) for bag in (others, others[:14])]
        for column in (X[:, 0], y):
            before, column[7] = column[7], far
            found = [select(X, y, alpha, [bag], standardize) for bag in (others, others[:14])]
            wrong += [] if np.array_equal(found, near) else [seed]
            column[7] = before
    assert wrong == []


def fit_or_refuse(stable, X, y):
    """The selected models, or None if the table is refused."""
    try:
        return stable.fit(X, y).selected_
    except DataError:
        return None


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e100, 1e160, 1e300, 1e307])
def test_columns_of_extreme_scale_are_correct_or_refused(scale, standardize):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=30)
    X[:, 1] *= scale
    stable = StableSelector(LassoSelector(0.3, standardize=standardize), n_bags=20, bag_size=27, epsilon=0.3)
    expected = ("x0", "x1") if standardize or scale > 1 else ("x0",)
    assert fit_or_refuse(stable, X, y) in (None, (expected,))


def test_a_bag_of_one_row_gives_no_variable():
    X, y, _ = make_problem(0, n_rows=20, n_columns=5)
    assert not select(X, y, 1e-6, np.arange(20)[:, np.newaxis]).any()


def test_more_columns_than_products_are_stored_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 1001))
    y = X[:, 3] - X[:, 700] + 0.1 * rng.normal(size=20)
    bags = BagPool(20, 18, False, 0).bags(0, 3)
    for bag, support in zip(bags, select(X, y, 0.3, bags), strict=True):
        np.testing.assert_array_equal(support, Lasso(0.3, **TIGHT).fit(X[bag], y[bag]).coef_ != 0)


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan, np.inf, "CV", None, True])
def test_penalties_that_are_refused(alpha):
    with pytest.raises(ParameterError, match="alpha must be"):
        select(*make_problem(0)[:2], alpha)


def test_standardize_is_a_boolean():
    with pytest.raises(ParameterError, match="standardize must be True or False"):
        select(*make_problem(0)[:2], 0.1, standardize="yes")


@needs_trials
def test_weights_of_the_papers_trials_equal_those_by_scikit_learn():
    trials = np.load(Path(os.environ["SUREFOOT_DATA"]) / "correlated_regression_trials.npz")["data"]
    assert trials.shape == (200, 30, 21)
    for trial in (0, 99, 199):
        X, y = trials[trial][:, :-1], trials[trial][:, -1]
        stable = StableSelector(
            LassoSelector(0.5, standardize=False), n_bags=300, bag_size=25, epsilon=0.1, random_state=trial
        ).fit(X, y)
        bags = stable._bagging.pool.bags(0, 300)
        models = [np.flatnonzero(Lasso(0.5, tol=1e-10, max_iter=10**6).fit(X[bag], y[bag]).coef_) for bag in bags]
        expected = Counter(tuple(f"x{j}" for j in model) for model in models)
        assert dict(stable.weights_) == {model: count / 300 for model, count in expected.items()}
