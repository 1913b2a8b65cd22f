"""SINDy against pysindy (if installed), scikit-learn, SciPy, closed forms, and naive implementations."""

import os
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.thresholded_ridge import bag_coefficients, least_norm_ridge, refitted, thresholded_ridge
from scipy.integrate import solve_ivp
from scipy.interpolate import KroghInterpolator
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures

from surefoot._exceptions import DataError, ParameterError
from surefoot._jit import kernel
from surefoot.selection.finite_differences import differentiate
from surefoot.selection.polynomial_library import PolynomialLibrary
from surefoot.selection.selector import BagError
from surefoot.selection.sindy_selector import PreparedSINDy, SINDySelector, ensemble_coefficients
from surefoot.selection.table import SelectionTable
from surefoot.selection.thresholded_ridge import (
    make_buffers,
    reflect,
    rotate_columns,
    solve_dependent,
    solve_factored,
    sum_products,
    threshold_bags,
)

reflect, rotate_columns, solve_dependent, solve_factored, sum_products = map(
    partial(kernel, allocates=True), (reflect, rotate_columns, solve_dependent, solve_factored, sum_products)
)

PAPER = {"degree": 2, "threshold": 0.18, "alpha": 0.01}
TRUTH = {("hare", "hare"): 2 / 3, ("hare", "hare lynx"): -4 / 3, ("lynx", "lynx"): -1.0, ("lynx", "hare lynx"): 1.0}


def table_of(X, t, names=("hare", "lynx")):
    X = np.ascontiguousarray(X, dtype=np.float64)
    return SelectionTable(X, tuple(names), np.arange(X.shape[1], dtype=np.int32), extras={"t": t})


def random_bags(n_rows, n_bags, size, seed=0, replace=False):
    generator = np.random.default_rng(seed)
    return np.sort([generator.choice(n_rows, size, replace=replace) for _ in range(n_bags)], axis=1).astype(np.int32)


def all_rows(n_rows):
    return np.arange(n_rows, dtype=np.int32)[np.newaxis]


def lotka_volterra(times):
    """Exact trajectories of the paper's equations."""

    def slopes(_, u):
        return [2 / 3 * u[0] - 4 / 3 * u[0] * u[1], u[0] * u[1] - u[1]]

    solved = solve_ivp(slopes, (times[0], times[-1]), [1.0, 1.0], method="DOP853", t_eval=times, rtol=1e-11, atol=1e-12)
    return solved.y.T


def noisy_table(seed=0, n_rows=21):
    times = np.linspace(0, 16, n_rows)
    noise = np.random.default_rng(seed).normal(scale=0.05, size=(n_rows, 2))
    return table_of(lotka_volterra(times) + noise, times)


def random_problem(seed, n_rows=40, n_terms=7, n_equations=3):
    """Correlated terms of different scales, and targets that depend on few of them."""
    generator = np.random.default_rng(seed)
    scales = 10.0 ** generator.uniform(-1, 1, size=n_terms)
    library = generator.normal(size=(n_rows, n_terms)) @ generator.normal(size=(n_terms, n_terms)) * scales
    weights = generator.normal(size=(n_terms, n_equations)) * (generator.random((n_terms, n_equations)) < 0.4)
    return library, library @ weights + 0.3 * generator.normal(size=(n_rows, n_equations))


def fit_bags(library, targets, bags, threshold, alpha, refit):
    out = np.full((len(bags), targets.shape[1], library.shape[1]), np.nan)
    room = make_buffers(library.shape[1], targets.shape[1])
    assert threshold_bags(library, targets, bags, threshold, alpha, refit, room, out) == -1
    return out


@pytest.fixture(scope="module")
def trials():
    folder = os.environ.get("SUREFOOT_DATA")
    if folder is None:
        pytest.skip("SUREFOOT_DATA is not set: it names the folder with lotka_volterra_trials.npz")
    with np.load(Path(folder) / "lotka_volterra_trials.npz") as file:
        return file["data"], file["t"]


@pytest.fixture(scope="module")
def pysindy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pysindy")


# the library of terms


@pytest.mark.parametrize(("n_variables", "degree"), [(1, 1), (1, 5), (2, 2), (3, 2), (3, 4), (6, 3)])
def test_terms_equal_those_of_scikit_learn(n_variables, degree):
    X = np.random.default_rng(0).normal(size=(20, n_variables)) * 3
    names = tuple(f"state {j}" for j in range(n_variables))
    library, peer = PolynomialLibrary(names, degree), PolynomialFeatures(degree)
    np.testing.assert_allclose(library.values(X), peer.fit_transform(X), rtol=1e-14)
    assert library.names == tuple(peer.get_feature_names_out(names))
    assert library.n_terms == len(library.names) == peer.n_output_features_
    assert library.values(X).flags.c_contiguous


@pytest.mark.parametrize(("n_variables", "degree"), [(1, 3), (2, 2), (4, 3)])
def test_terms_equal_those_of_pysindy(pysindy, n_variables, degree):
    X = np.random.default_rng(1).normal(size=(20, n_variables)) * 3
    names = ["hare", "lynx", "grass", "x3"][:n_variables]
    peer = pysindy.PolynomialLibrary(degree=degree).fit(X)
    library = PolynomialLibrary(tuple(names), degree)
    np.testing.assert_allclose(library.values(X), np.asarray(peer.transform(X)), rtol=1e-14)
    assert list(library.names) == peer.get_feature_names(names)


# derivatives


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(3, 30))
def test_derivatives_of_parabolas_are_exact_at_uneven_times(seed, n_rows):
    generator = np.random.default_rng(seed)
    times = np.cumsum(generator.uniform(0.1, 2.0, size=n_rows))
    a, b, c = generator.normal(size=(3, 4))
    states = a + b * times[:, np.newaxis] + c * times[:, np.newaxis] ** 2
    np.testing.assert_allclose(differentiate(states, times), b + 2 * c * times[:, np.newaxis], atol=1e-8)


@pytest.mark.parametrize("even", [True, False])
def test_derivatives_equal_those_of_the_parabola_through_three_states(even):
    generator = np.random.default_rng(3)
    times = np.arange(12.0) if even else np.sort(generator.uniform(0, 10, size=12))
    states = generator.normal(size=(12, 3))
    for i, slopes in enumerate(differentiate(states, times)):
        first = min(max(i - 1, 0), 9)
        parabola = KroghInterpolator(times[first : first + 3], states[first : first + 3])
        np.testing.assert_allclose(slopes, parabola.derivative(times[i]), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n_rows", [3, 4, 21])
@pytest.mark.parametrize("even", [True, False])
def test_derivatives_equal_those_of_pysindy(pysindy, n_rows, even):
    generator = np.random.default_rng(n_rows)
    times = 0.8 * np.arange(n_rows) if even else np.cumsum(generator.uniform(0.1, 2, size=n_rows))
    states = generator.normal(size=(n_rows, 2))
    peer = pysindy.FiniteDifference(order=2)._differentiate(states, times)
    np.testing.assert_allclose(differentiate(states, times), np.asarray(peer), rtol=1e-9, atol=1e-11)


def test_leaving_out_a_row_changes_the_derivatives_of_its_neighbours():
    table, row = noisy_table(), 7
    assert not SINDySelector.pool_is_exact
    whole = SINDySelector().prepare(table)
    less = SINDySelector().prepare(table.without(row))
    changed = (np.delete(whole.derivatives, row, axis=0) != less.derivatives).all(axis=1)
    assert np.flatnonzero(changed).tolist() == [row - 1, row]
    np.testing.assert_array_equal(np.delete(whole.terms, row, axis=0), less.terms)


# thresholded ridge regression


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.0, 0.01, 1.0]),
    threshold=st.sampled_from([0.05, 0.3]),
    replace=st.booleans(),
    refit=st.booleans(),
)
def test_bags_equal_the_naive_implementation(seed, alpha, threshold, replace, refit):
    library, targets = random_problem(seed)
    bags = random_bags(40, 5, 25, seed, replace)
    expected = bag_coefficients(library, targets, bags, threshold, alpha, refit)
    found = fit_bags(library, targets, bags, threshold, alpha, refit)
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def ridge_of_scikit_learn(A, y, alpha):
    return Ridge(alpha=alpha, fit_intercept=False).fit(A, y).coef_


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_each_round_is_the_ridge_of_scikit_learn(alpha):
    table = noisy_table(seed=5, n_rows=30)
    prepared = SINDySelector(degree=2, threshold=0.18, alpha=alpha).prepare(table)
    bags = random_bags(30, 60, 20, seed=1)
    problem = prepared.terms, prepared.derivatives, bags, 0.18, alpha, False
    expected = bag_coefficients(*problem, solve=ridge_of_scikit_learn)
    np.testing.assert_allclose(fit_bags(*problem), expected, rtol=1e-7)
    assert 0 < (expected != 0).mean() < 1


def chain_problem():
    """Terms that are dropped one after another: each explains enough of the next to bring it below 0.1."""
    n_terms = 30
    gram = 0.9 ** np.abs(np.subtract.outer(np.arange(n_terms), np.arange(n_terms)))
    coefficients = 0.12 * np.resize([-1.0, 1.0], n_terms)
    coefficients[0] = -0.09
    A = np.ascontiguousarray(np.linalg.cholesky(gram).T)
    return A, (A @ coefficients)[:, np.newaxis]


def test_there_are_at_most_twenty_rounds():
    A, y = chain_problem()
    found = fit_bags(A, y, all_rows(30), 0.1, 1e-9, False)[0, 0]
    assert (found == 0).sum() == 20
    np.testing.assert_allclose(found, thresholded_ridge(A, y[:, 0], 0.1, 1e-9), atol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("size", [4, 7, 12, 40])
def test_dependent_terms_have_the_solution_of_smallest_norm(alpha, size):
    library, targets = random_problem(seed=size)
    library[:, 5] = library[:, 1]
    library[:, 6] = library[:, 0] - 2 * library[:, 2]
    bags = random_bags(40, 10, size)
    chosen, found = np.arange(7), np.empty(7)
    for rows in bags:
        solve_dependent(library, targets, 1, rows, alpha, chosen, 7, found)
        A, y = library[rows], targets[rows, 1]
        if alpha:
            expected = Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(A, y).coef_
        else:
            expected = np.linalg.lstsq(A, y, rcond=None)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


def test_dependent_terms_are_detected_and_stay_equal():
    library, targets = random_problem(seed=11)
    library[:, 5] = library[:, 1]
    bags = random_bags(40, 20, 25)
    found = fit_bags(library, targets, bags, 0.05, 0.0, False)
    expected = bag_coefficients(library, targets, bags, 0.05, 0.0, False)
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found[:, :, 5], found[:, :, 1], rtol=1e-6, atol=1e-9)


def test_fewer_rows_than_terms_are_refitted_with_smallest_norm():
    library, targets = random_problem(seed=2)
    bags = random_bags(40, 20, 4)
    found = fit_bags(library, targets, bags, 1e-4, 0.5, True)
    assert ((found != 0).sum(axis=2) > 4).any()
    expected = bag_coefficients(library, targets, bags, 1e-4, 0.5, True)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_constant_and_empty_columns():
    library = np.column_stack([np.zeros(20), np.ones(20), np.arange(20.0)])
    targets = np.column_stack([2.0 + 0.5 * np.arange(20.0), np.zeros(20)])
    for alpha in (0.0, 1e-9):
        found = fit_bags(library, targets, all_rows(20), 0.1, alpha, False)[0]
        np.testing.assert_allclose(found, [[0, 2, 0.5], [0, 0, 0]], atol=1e-7)


# parts of the kernels


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([0.0, 0.3]))
def test_sums_of_products_and_their_solution(seed, alpha):
    library, targets = random_problem(seed)
    rows, chosen = random_bags(40, 1, 25, seed, replace=True)[0], np.array([0, 2, 3, 6, -1, -1, -1])
    gram, products, factor, solution = np.empty((7, 7)), np.empty((3, 7)), np.empty((7, 7)), np.empty(7)
    sum_products(library, targets, rows, gram, products)
    np.testing.assert_allclose(np.tril(gram), np.tril(library[rows].T @ library[rows]), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(products, targets[rows].T @ library[rows], rtol=1e-9, atol=1e-9)
    assert solve_factored(gram, products[2], alpha, chosen, 4, factor, solution)
    A = library[rows][:, chosen[:4]]
    np.testing.assert_allclose(solution[:4], least_norm_ridge(A, targets[rows, 2], alpha), rtol=1e-5, atol=1e-7)


def test_a_factor_of_dependent_terms_is_not_reliable():
    library, targets = random_problem(seed=0)
    library[:, 4] = library[:, 2] * 3
    gram, products, factor, solution = np.empty((7, 7)), np.empty((3, 7)), np.empty((7, 7)), np.empty(7)
    sum_products(library, targets, np.arange(40), gram, products)
    assert not solve_factored(gram, products[0], 0.0, np.arange(7), 7, factor, solution)
    assert solve_factored(gram, products[0], 0.0, np.array([0, 1, 2, 3, 5, 6]), 6, factor, solution)


@pytest.mark.parametrize("shape", [(5, 12), (5, 5), (1, 3)])
def test_reflections_give_the_triangle_of_qr(shape):
    generator = np.random.default_rng(0)
    columns, target = generator.normal(size=shape), generator.normal(size=shape[1])
    triangle = np.linalg.qr(columns.T)[1]
    reflected, moved = columns.copy(), target.copy()
    reflect(reflected, moved)
    np.testing.assert_allclose(np.abs(reflected.T[: shape[0]]), np.abs(triangle), atol=1e-13)
    assert (reflected.T[shape[0] :] == 0).all()
    np.testing.assert_allclose(reflected @ moved, columns @ target, atol=1e-12)
    np.testing.assert_allclose(moved @ moved, target @ target)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), rank=st.integers(1, 6), size=st.integers(6, 9))
def test_rotated_columns_are_orthogonal_and_as_long_as_the_singular_values(seed, rank, size):
    generator = np.random.default_rng(seed)
    columns = generator.normal(size=(6, rank)) @ generator.normal(size=(rank, size))
    rotated, turns = columns.copy(), np.eye(6)
    rotate_columns(rotated, turns)
    values = np.linalg.svd(columns, compute_uv=False)
    np.testing.assert_allclose(np.sort(np.linalg.norm(rotated, axis=1))[::-1], values, atol=1e-12 * values[0])
    np.testing.assert_allclose(turns @ turns.T, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(turns @ columns, rotated, atol=1e-12 * values[0])
    products = rotated @ rotated.T
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-12 * values[0] ** 2)


# pysindy


def pysindy_coefficients(pysindy, A, y, threshold, alpha):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pysindy warns if an equation has no terms
        return np.asarray(pysindy.STLSQ(threshold=threshold, alpha=alpha).fit(A, y).coef_)


def test_bags_of_the_papers_trials_agree_with_pysindy(pysindy, trials):
    data, times = trials
    for number, X in enumerate(data):
        prepared = SINDySelector(**PAPER).prepare(table_of(X, times))
        bags = random_bags(21, 2, 15, seed=number)
        selected, coefficients = prepared.select(bags), prepared.coefficients(bags)
        for b, rows in enumerate(bags):
            expected = pysindy_coefficients(pysindy, prepared.terms[rows], prepared.derivatives[rows], 0.18, 0.01)
            np.testing.assert_array_equal(selected[b].reshape(2, 6), expected != 0)
            np.testing.assert_allclose(coefficients[b].T, expected, rtol=1e-7, atol=1e-9)


def test_whole_trials_agree_with_the_model_of_pysindy(pysindy, trials):
    data, times = trials
    for X in data[:20]:
        peer = pysindy.SINDy(
            optimizer=pysindy.STLSQ(threshold=0.18, alpha=0.01),
            feature_library=pysindy.PolynomialLibrary(degree=2),
            differentiation_method=pysindy.FiniteDifference(),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pysindy warns if an equation has no terms
            peer.fit(X, t=times)
        found = SINDySelector(**PAPER).prepare(table_of(X, times)).coefficients(all_rows(21))[0]
        np.testing.assert_allclose(found.T, np.asarray(peer.coefficients()), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("threshold", [0.05, 0.3])
def test_random_problems_agree_with_pysindy(pysindy, alpha, threshold):
    for seed in range(25):
        library, targets = random_problem(seed)
        bags = random_bags(40, 2, 25, seed, replace=True)
        selected = fit_bags(library, targets, bags, threshold, alpha, False) != 0
        found = fit_bags(library, targets, bags, threshold, alpha, True)
        for b, rows in enumerate(bags):
            expected = pysindy_coefficients(pysindy, library[rows], targets[rows], threshold, alpha)
            np.testing.assert_array_equal(selected[b], expected != 0)
            np.testing.assert_allclose(found[b], expected, rtol=1e-6, atol=1e-8)


def test_pysindy_has_at_most_twenty_rounds_too(pysindy):
    A, y = chain_problem()
    expected = pysindy_coefficients(pysindy, A, y, 0.1, 1e-9)
    np.testing.assert_allclose(fit_bags(A, y, all_rows(30), 0.1, 1e-9, True)[0], expected, atol=1e-6)


# the selector


@pytest.mark.parametrize(("degree", "alpha"), [(2, 0.01), (3, 0.0)])
def test_the_equations_of_lotka_and_volterra_are_found(degree, alpha):
    times = np.linspace(0, 16, 1601)
    prepared = SINDySelector(degree=degree, threshold=0.18, alpha=alpha).prepare(table_of(lotka_volterra(times), times))
    bags = random_bags(1601, 5, 800)
    for selected in [*prepared.select(bags), prepared.select(all_rows(1601))[0]]:
        assert {item for item, chosen in zip(prepared.items, selected, strict=True) if chosen} == set(TRUTH)
    coefficients = prepared.coefficients(all_rows(1601))[0]
    found = dict(zip(prepared.items, coefficients.T.ravel(), strict=True))
    for item, value in found.items():
        assert value == pytest.approx(TRUTH.get(item, 0.0), abs=1e-3)


def test_bags_of_the_papers_trials_equal_the_naive_implementation(trials):
    data, times = trials
    for number, X in enumerate(data[::5]):
        prepared = SINDySelector(**PAPER).prepare(table_of(X, times))
        bags = random_bags(21, 5, 15, seed=number)
        expected = bag_coefficients(prepared.terms, prepared.derivatives, bags, 0.18, 0.01, True)
        np.testing.assert_array_equal(prepared.select(bags), (expected != 0).reshape(5, 12))
        np.testing.assert_allclose(prepared.coefficients(bags), expected.swapaxes(1, 2), rtol=1e-7, atol=1e-9)


def test_items_are_pairs_of_equations_and_terms():
    prepared = SINDySelector().prepare(noisy_table())
    terms = ["1", "hare", "lynx", "hare^2", "hare lynx", "lynx^2"]
    assert prepared.items == tuple((equation, term) for equation in ("hare", "lynx") for term in terms)
    assert prepared.are_variables is False
    assert SINDySelector.target == "none"


def test_models_are_the_nonzero_coefficients():
    prepared = SINDySelector(**PAPER).prepare(noisy_table())
    bags = random_bags(21, 50, 15)
    coefficients = prepared.coefficients(bags)
    assert coefficients.shape == (50, 6, 2)
    np.testing.assert_array_equal(prepared.select(bags), (coefficients != 0).swapaxes(1, 2).reshape(50, 12))
    assert prepared.select(bags[:0]).shape == (0, 12)


def test_a_bag_does_not_depend_on_the_others_of_its_call():
    prepared = SINDySelector(**PAPER).prepare(noisy_table())
    bags = random_bags(21, 30, 15, replace=True)
    together = prepared.coefficients(bags)
    for b in range(30):
        assert prepared.coefficients(bags[b : b + 1]).tobytes() == np.ascontiguousarray(together[b]).tobytes()


def test_a_repeated_row_counts_twice():
    prepared = SINDySelector(**PAPER).prepare(noisy_table())
    rows = np.sort(np.repeat(np.arange(21), np.resize([1, 2, 0], 21))).astype(np.int32)
    weights = np.sqrt(np.bincount(rows, minlength=21))[:, np.newaxis]
    for equation in range(2):
        A, y = weights * prepared.terms, weights[:, 0] * prepared.derivatives[:, equation]
        expected = refitted(A, y, thresholded_ridge(A, y, 0.18, 0.01))
        found = prepared.coefficients(rows[np.newaxis])[0, :, equation]
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_calls_stay_short_on_large_tables():
    small = SINDySelector().prepare(noisy_table())
    X = np.random.default_rng(0).normal(size=(2000, 6))
    large = SINDySelector(degree=4).prepare(table_of(X, np.arange(2000.0), names="abcdef"))
    assert small.bags_per_call == 256
    assert 1 <= large.bags_per_call < 5


def test_the_selector_is_a_scikit_learn_estimator():
    selector = SINDySelector(degree=3, threshold=0.2, alpha=0.0)
    assert clone(selector).get_params() == {"degree": 3, "threshold": 0.2, "alpha": 0.0}


def test_inputs_are_not_changed_and_may_be_read_only():
    table = noisy_table()
    table.X.setflags(write=False)
    table.extras["t"].setflags(write=False)
    bags = random_bags(21, 5, 15)
    expected = SINDySelector().prepare(noisy_table()).select(bags)
    bags.setflags(write=False)
    np.testing.assert_array_equal(SINDySelector().prepare(table).select(bags), expected)


def test_times_may_be_whole_numbers_or_a_list():
    X = noisy_table().X
    for t in (list(range(21)), np.arange(21, dtype=np.int16), np.arange(21).astype(object)):
        prepared = SINDySelector().prepare(table_of(X, t))
        np.testing.assert_array_equal(prepared.derivatives, differentiate(X, np.arange(21.0)))


# E-SINDy


@pytest.mark.parametrize("tau", [0.0, 0.3, 0.63, 0.95])
def test_averaged_coefficients_equal_those_of_a_plain_loop(tau):
    prepared = SINDySelector(**PAPER).prepare(noisy_table())
    bags = random_bags(21, 600, 15)
    fitted = bag_coefficients(prepared.terms, prepared.derivatives, bags, 0.18, 0.01, True)
    found = ensemble_coefficients(prepared, bags, tau)
    for equation in range(2):
        for term in range(6):
            values = fitted[:, equation, term]
            expected = values.mean() if (values != 0).mean() > tau else 0.0
            assert found[term, equation] == pytest.approx(expected, rel=1e-8, abs=1e-10)
    assert (found != 0).any()


def test_a_fraction_must_be_above_tau():
    prepared = SINDySelector(**PAPER).prepare(noisy_table())
    bags = random_bags(21, 200, 15)
    share = prepared.select(bags).mean(axis=0)
    item = int(np.argmin(np.abs(share - 0.5)))
    place = item % 6, item // 6
    assert 0 < share[item] < 1
    assert ensemble_coefficients(prepared, bags, share[item])[place] == 0
    assert ensemble_coefficients(prepared, bags, share[item] - 0.001)[place] != 0


@pytest.mark.parametrize("tau", [-0.1, 1.0, "half"])
def test_a_wrong_tau_is_refused(tau):
    with pytest.raises(ParameterError, match="tau"):
        ensemble_coefficients(SINDySelector().prepare(noisy_table()), random_bags(21, 2, 15), tau)


def test_an_empty_pool_is_refused():
    with pytest.raises(DataError, match="pool_bags has no bags"):
        ensemble_coefficients(SINDySelector().prepare(noisy_table()), np.empty((0, 15), dtype=np.int32), 0.5)


# errors


@pytest.mark.parametrize(
    ("name", "value"),
    [("degree", 0), ("degree", 1.5), ("threshold", 0), ("threshold", -1), ("threshold", np.nan), ("alpha", -0.1),
     ("alpha", np.inf), ("alpha", "small")],
)  # fmt: skip
def test_wrong_parameters_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=name):
        SINDySelector(**{name: value}).prepare(noisy_table())


@pytest.mark.parametrize(
    ("t", "reason"),
    [
        (None, r"give t"),
        (np.arange(20.0), "one time for each of the 21 rows"),
        (0.1, "one time for each"),
        (np.arange(21.0)[::-1], "strictly increasing"),
        (np.repeat(np.arange(11.0), 2)[:21], "strictly increasing"),
        (np.append(np.arange(20.0), np.nan), "missing or infinite"),
        (np.append(np.arange(20.0), np.inf), "missing or infinite"),
        (np.arange("1900", "1921", dtype="datetime64[Y]"), "numbers"),
        ([str(year) for year in range(21)], "numbers"),
        ([*range(20), "then"], "numbers"),
        (np.array([*range(20), None]), "missing"),
    ],
    ids=str,
)
def test_wrong_times_are_refused(t, reason):
    with pytest.raises(DataError, match=reason):
        SINDySelector().prepare(table_of(noisy_table().X, t))


def test_missing_times_are_an_error():
    table = noisy_table()
    with pytest.raises(DataError, match="give t"):
        SINDySelector().prepare(SelectionTable(table.X, table.names, table.groups))


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_three_rows_are_needed(n_rows):
    with pytest.raises(DataError, match="3 or more"):
        SINDySelector().prepare(table_of(noisy_table().X[:n_rows], np.arange(float(n_rows))))


def test_three_rows_are_enough():
    prepared = SINDySelector().prepare(table_of(noisy_table().X[:3], np.arange(3.0)))
    assert np.isfinite(prepared.coefficients(all_rows(3))).all()


def test_categories_are_refused():
    table = SelectionTable(np.eye(4), ("a", "b"), np.array([0, 1, 1, 1], dtype=np.int32), extras={"t": np.arange(4.0)})
    with pytest.raises(DataError, match="categories"):
        SINDySelector().prepare(table)


@pytest.mark.parametrize(("names", "term"), [(("a", "b", "a b"), "a b"), (("a", "a^2"), "a^2"), (("1", "b"), "1")])
def test_equal_names_of_terms_are_refused(names, term):
    X = np.random.default_rng(0).normal(size=(9, len(names)))
    with pytest.raises(DataError) as caught:
        SINDySelector().prepare(table_of(X, np.arange(9.0), names))
    assert repr(term) in str(caught.value)


def test_too_many_terms_are_refused_before_they_are_computed():
    with pytest.raises(ParameterError, match="degree=1000000"):
        SINDySelector(degree=10**6).prepare(noisy_table())


@pytest.mark.parametrize("size", [1e308, 1e160, 1e80])
def test_values_too_large_for_the_terms_are_refused(size):
    table = noisy_table()
    with pytest.raises(DataError, match="too large"):
        SINDySelector(degree=2).prepare(table_of(table.X * size, table.extras["t"]))


@pytest.mark.parametrize("step", [1e-308, 5e-324, 1e-160])
def test_derivatives_beyond_float64_are_refused(step):
    with pytest.raises(DataError, match="too fast"):
        SINDySelector().prepare(table_of(noisy_table().X, np.arange(21.0) * step))


@pytest.mark.parametrize("size", [1e-308, 1e-160, 1e-80, 1e70])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_very_small_and_large_values_give_finite_coefficients(size, alpha):
    table = noisy_table()
    prepared = SINDySelector(alpha=alpha).prepare(table_of(table.X * size, table.extras["t"]))
    assert np.isfinite(prepared.coefficients(random_bags(21, 20, 15))).all()


def test_a_bag_with_overflowing_coefficients_is_named():
    terms, derivatives = np.ones((20, 1)), np.full((20, 1), 1e150)
    terms[10:] = 1e-160
    prepared = PreparedSINDy((("a", "a"),), terms, derivatives, 0.1, 0.0)
    bags = np.array([np.arange(10), np.arange(5, 15), np.arange(10, 20)], dtype=np.int32)
    with pytest.raises(BagError) as caught:
        prepared.select(bags)
    assert caught.value.index == 2
    with pytest.raises(DataError, match="Bag 2 has no model"):
        ensemble_coefficients(prepared, bags, 0.5)
