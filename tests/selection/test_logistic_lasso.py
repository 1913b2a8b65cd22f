"""The logistic lasso against scikit-learn, the optimality conditions, and a naive implementation."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import logistic_lasso as naive
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import _exceptions
from surefoot._jit import kernel
from surefoot.selection import logistic_lasso as kernels
from surefoot.selection.logistic_bag import BagRows, measure_columns, scale_rows
from surefoot.selection.logistic_lasso_selector import FOLDS, GRID, LogisticLassoSelector
from surefoot.selection.selector import BagError
from surefoot.selection.table import SelectionTable

curve_losses = kernel(kernels.curve_losses, allocates=True)
find_logits = kernel(kernels.find_logits, allocates=True)
find_slopes = kernel(kernels.find_slopes, allocates=True)
minimise_quadratic = kernel(kernels.minimise_quadratic, allocates=True)
rate_classes = kernel(kernels.rate_classes, allocates=True)
shift_to_median = kernel(kernels.shift_to_median, allocates=True)
solve_equations = kernel(kernels.solve_equations, allocates=True)


def saga(C, tol=1e-12):
    """scikit-learn's logistic regression with an L1 penalty, with the parameters of the installed version."""
    penalty = inspect.signature(LogisticRegression).parameters.get("penalty")
    said = {"l1_ratio": 1.0} if penalty is None or penalty.default == "deprecated" else {"penalty": "l1"}
    return LogisticRegression(C=C, solver="saga", tol=tol, max_iter=500_000, random_state=0, **said)


def make_problem(seed, n_classes, n_rows=None, n_columns=None):
    """Standardised columns, some of which predict the class, and every class in more than one row."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = n_rows or int(rng.integers(30, 100)), n_columns or int(rng.integers(2, 20))
    X = rng.normal(size=(n_rows, n_columns)) + 0.5 * rng.normal(size=(n_rows, 1))
    X = StandardScaler().fit_transform(X)
    effects = rng.normal(size=(n_columns, n_classes)) * (rng.random((n_columns, 1)) < 0.4)
    y = (X @ effects + rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1)
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    return X, y


def table_of(X, y, groups=None):
    groups = np.arange(X.shape[1]) if groups is None else np.asarray(groups)
    names = tuple(f"v{k}" for k in range(groups.max() + 1))
    X, y = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64)
    return SelectionTable(X, names, groups.astype(np.int32), y, np.arange(y.max() + 1))


def all_rows(X):
    return np.arange(len(X), dtype=np.int32)


def own_coefficients(X, y, C, bag=None, standardize=False):
    """Coefficients and intercepts of the unscaled columns, and classes of the bag's rows."""
    bag = all_rows(X) if bag is None else bag
    prepared = LogisticLassoSelector(C, standardize=standardize).prepare(table_of(X, y))
    coefs = prepared.fit(bag[np.newaxis])[0]
    n_classes = len(np.unique(y[bag]))
    coefs = coefs[: n_classes if n_classes > 2 else 1]
    means, scales = X[bag].mean(axis=0), X[bag].std(axis=0)
    own = coefs[:, :-1] / np.where(scales > 0, scales, 1)
    return own, coefs[:, -1] - own @ means


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(50))
def test_coefficients_equal_those_of_scikit_learn(seed, n_classes):
    X, y = make_problem(seed, n_classes)
    C = 10 ** np.random.default_rng(seed).uniform(-1.5, 0.7)
    peer = saga(C).fit(X, y)
    coefs, intercepts = own_coefficients(X, y, C)
    np.testing.assert_array_equal(coefs != 0, peer.coef_ != 0)
    np.testing.assert_allclose(coefs, peer.coef_, atol=1e-7)
    if peer.coef_.any():  # if not, saga stops before its intercepts converge
        np.testing.assert_allclose(intercepts - intercepts.mean() * (n_classes > 2), peer.intercept_, atol=1e-6)
    chosen = LogisticLassoSelector(C).prepare(table_of(X, y)).select(all_rows(X)[np.newaxis])
    np.testing.assert_array_equal(chosen[0], (peer.coef_ != 0).any(axis=0))


@pytest.mark.parametrize("seed", range(8))
def test_four_classes_have_the_variables_and_the_objective_of_scikit_learn(seed):
    X, y = make_problem(seed, 4)  # coefficients are not unique: those of the two middle classes may shift
    C = 10 ** np.random.default_rng(seed).uniform(-1, 0.3)
    peer = saga(C).fit(X, y)
    coefs, intercepts = own_coefficients(X, y, C)
    np.testing.assert_array_equal((coefs != 0).any(axis=0), (peer.coef_ != 0).any(axis=0))
    ours = C * naive.log_loss(X, y, coefs, intercepts) + np.abs(coefs).sum()
    theirs = C * naive.log_loss(X, y, peer.coef_, peer.intercept_) + np.abs(peer.coef_).sum()
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_solutions_equal_those_of_the_naive_implementation(seed, n_classes):
    X, y = make_problem(seed, n_classes, n_columns=8)
    X = X * np.random.default_rng(seed).uniform(0.3, 3, size=8)  # without scaling, the columns' own scales count
    coefs, _ = own_coefficients(X, y, 0.3)
    twin, _ = naive.proximal_gradient(X, y, 0.3)
    np.testing.assert_array_equal(coefs != 0, twin != 0)
    np.testing.assert_allclose(coefs, twin, atol=1e-7)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 5),
    n_columns=st.integers(1, 60),
    exponent=st.floats(-3, 6),
    shape=st.sampled_from(["plain", "separable", "correlated", "heavy", "twins", "counts"]),
)
def test_optimality_conditions_hold(seed, n_classes, n_columns, exponent, shape):
    X, y = make_problem(seed, n_classes, n_rows=60, n_columns=n_columns)
    rng = np.random.default_rng(seed)
    if shape == "separable":
        y = np.argsort(np.argsort(X[:, 0])) * n_classes // 60
    elif shape == "correlated":
        X = X[:, :1] + 1e-3 * X
    elif shape == "heavy":
        X = np.clip(rng.standard_t(1, size=X.shape), -1e4, 1e4)
    elif shape == "twins":
        X = np.hstack([X, X])
    elif shape == "counts":
        X = rng.poisson(1, size=X.shape).astype(float)
    C = 10**exponent
    coefs, intercepts = own_coefficients(X, y, C)
    assert np.isfinite(coefs).all()
    noise = 1e-13 * C * len(X) * np.abs(X).max() * max(1, np.abs(naive.scores(X, coefs, intercepts)).max())
    assert naive.violation(X, y, C, coefs, intercepts) < 1e-5 + noise


@pytest.mark.parametrize("C", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_classes_have_finite_coefficients(C, n_classes):
    X, _ = make_problem(0, 2, n_rows=80, n_columns=10)
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], np.arange(1, n_classes) / n_classes))
    coefs, intercepts = own_coefficients(X, y, C)
    assert np.abs(coefs).max() < 1e5
    assert coefs[:, 0].any()
    assert (naive.scores(X, coefs, intercepts).argmax(axis=1) == y).mean() > 0.9
    assert naive.violation(X, y, C, coefs, intercepts) < 1e-5


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("C", [0.5, "cv"])
@pytest.mark.parametrize("replace", [False, True])
def test_a_bag_is_a_table_of_its_rows(replace, C, standardize):
    X, y = make_problem(3, 3, n_rows=60, n_columns=6)
    X[:, 1] *= 5
    rng = np.random.default_rng(0)
    bags = np.sort([rng.choice(60, size=35, replace=replace) for _ in range(5)], axis=1).astype(np.int32)
    selector = LogisticLassoSelector(C, standardize=standardize)
    together = selector.prepare(table_of(X, y)).select(bags)
    assert together.shape == (5, 6)
    for bag, model in zip(bags, together, strict=True):
        alone = selector.prepare(table_of(X, y)).select(bag[np.newaxis])
        np.testing.assert_array_equal(alone[0], model)
        if C != "cv":  # copies of a row stay in one fold, but are different rows in a new table
            copied = selector.prepare(table_of(X[bag], y[bag])).select(np.arange(35, dtype=np.int32)[np.newaxis])
            np.testing.assert_array_equal(copied[0], model)
    if C != "cv":
        assert len({model.tobytes() for model in together}) > 1


def test_repeated_rows_count_repeatedly():
    X, y = make_problem(5, 2, n_rows=40, n_columns=5)
    bag = np.sort(np.random.default_rng(1).integers(0, 40, size=40)).astype(np.int32)
    coefs, intercepts = own_coefficients(X, y, 0.7, bag)
    peer = saga(0.7).fit(X[bag], y[bag])
    np.testing.assert_allclose(coefs, peer.coef_, atol=1e-7)
    np.testing.assert_allclose(intercepts, peer.intercept_, atol=1e-7)


def test_the_columns_of_a_category_are_one_variable():
    rng = np.random.default_rng(0)
    kinds, other = rng.integers(0, 4, size=200), rng.normal(size=(200, 2))
    y = (rng.random(200) < np.array([0.9, 0.5, 0.5, 0.1])[kinds]).astype(int)
    X = np.column_stack([other[:, 0], np.eye(4)[kinds], other[:, 1]])
    table = table_of(X, y, groups=[0, 1, 1, 1, 1, 2])
    for C in (0.05, 0.2, 1.0, 20.0):
        nonzero = saga(C).fit(X, y).coef_[0] != 0
        expected = [nonzero[0], nonzero[1:5].any(), nonzero[5]]
        chosen = LogisticLassoSelector(C).prepare(table).select(all_rows(X)[np.newaxis])
        np.testing.assert_array_equal(chosen[0], expected)
    table = table_of(X, y, groups=[2, 0, 0, 0, 0, 1])  # in any order
    np.testing.assert_array_equal(LogisticLassoSelector(0.2).prepare(table).select(all_rows(X)[np.newaxis])[0, 0], True)


def test_a_bag_without_a_class_is_fitted_to_the_others():
    X, y = make_problem(2, 3, n_rows=90, n_columns=6)
    bag = np.flatnonzero(y != 1).astype(np.int32)
    coefs, _ = own_coefficients(X, y, 0.5, bag)
    np.testing.assert_allclose(coefs, saga(0.5).fit(X[bag], y[bag]).coef_, atol=1e-7)


def test_standardized_columns_are_those_of_the_bag():
    X, y = make_problem(4, 2, n_rows=80, n_columns=8)
    X = X * np.logspace(-2, 2, 8) + 100
    bag = np.sort(np.random.default_rng(2).integers(0, 80, size=50)).astype(np.int32)
    peer = make_pipeline(StandardScaler(), saga(0.3)).fit(X[bag], y[bag])
    prepared = LogisticLassoSelector(0.3, standardize=True).prepare(table_of(X, y))
    np.testing.assert_allclose(prepared.fit(bag[np.newaxis])[0, :, :-1], peer[-1].coef_, atol=1e-7)


def test_the_origin_of_a_column_does_not_matter():
    X, y = make_problem(6, 3, n_rows=60, n_columns=6)
    plain, _ = own_coefficients(X, y, 1.0)
    moved, _ = own_coefficients(X + 2.0**20, y, 1.0)
    np.testing.assert_array_equal(plain != 0, moved != 0)
    np.testing.assert_allclose(plain, moved, atol=1e-6)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("C", [1.0, 1e4, "cv"])
def test_constant_columns_have_no_coefficient(C, standardize):
    X, y = make_problem(7, 2, n_rows=50, n_columns=4)
    X[:, 1], X[:, 3] = 0.1, 1e-320 * np.arange(50)
    X[49, 1] = 7.0  # the column is constant in the bag only
    bag = np.arange(49, dtype=np.int32)[np.newaxis]
    chosen = LogisticLassoSelector(C, standardize=standardize).prepare(table_of(X, y)).select(bag)
    assert not chosen[0, 1]
    if not standardize:
        assert not chosen[0, 3]


def plain_choice(X, y, bag, standardize):
    """C by scikit-learn's fits on rows outside each fold; the smallest of tied values."""
    rows, counts, labels = (np.array(part) for part in naive.distinct_rows(y, bag))
    folds = np.array([-1 if fold is None else fold for fold in naive.deal_to_folds(labels.tolist(), FOLDS)])
    losses, n_classes = np.zeros(len(GRID)), labels.max() + 1
    for fold in range(FOLDS):
        rest, held = np.repeat(rows[folds != fold], counts[folds != fold]), folds == fold
        if not held.any():
            continue
        for c, C in enumerate(GRID):
            peer = saga(C, tol=1e-5)
            peer = make_pipeline(StandardScaler(), peer) if standardize else peer
            peer.fit(X[rest], y[rest])
            model = peer[-1] if standardize else peer
            if not model.coef_.any():  # saga stops before its intercepts converge
                model.intercept_ = np.log(np.bincount(y[rest]) / np.bincount(y[rest])[0])[1 if n_classes == 2 else 0 :]
            scores = peer.decision_function(X[rows[held]])
            scores = np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
            own = log_softmax(scores, axis=1)[np.arange(len(scores)), labels[held]]
            losses[c] -= (own * counts[held]).sum()
    return GRID[np.flatnonzero(losses <= losses.min() * (1 + 1e-9))[0]]


@pytest.mark.parametrize(
    ("seed", "n_classes", "standardize"), [(12, 2, False), (13, 2, True), (8, 2, False), (6, 2, True), (10, 3, False)]
)
def test_each_bag_chooses_its_own_weight_of_the_losses(seed, n_classes, standardize):
    X, y = make_problem(seed, n_classes, n_rows=70, n_columns=4)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(70) < 0.15, rng.integers(0, n_classes, size=70), y)  # far from separable
    bags = np.sort([rng.integers(0, 70, size=70) for _ in range(2)], axis=1).astype(np.int32)
    prepared = LogisticLassoSelector("cv", standardize=standardize).prepare(table_of(X, y))
    expected = [plain_choice(X, y, bag, standardize) for bag in bags]
    assert len(set(expected)) == 2
    np.testing.assert_array_equal(prepared.choose_weights(BagRows.from_bags(prepared.codes, bags)), expected)
    for bag, C, model in zip(bags, expected, prepared.select(bags), strict=True):
        fixed = LogisticLassoSelector(C, standardize=standardize).prepare(table_of(X, y)).select(bag[np.newaxis])
        np.testing.assert_array_equal(model, fixed[0])


def test_if_nothing_can_be_held_out_the_smallest_weight_is_chosen():
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 2])
    prepared = LogisticLassoSelector("cv").prepare(table_of(X, y))
    assert prepared.choose_weights(BagRows.from_bags(prepared.codes, np.array([[0, 0, 1, 2]], np.int32))) == [GRID[0]]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n_codes=st.integers(1, 6), size=st.integers(1, 40), n_folds=st.integers(2, 6))
def test_rows_and_folds_of_bags_equal_those_of_the_naive_implementation(seed, n_codes, size, n_folds):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_codes, size=25)
    bags = np.sort(rng.integers(0, 25, size=(3, size)), axis=1).astype(np.int32)
    parts = BagRows.from_bags(codes, bags)
    for b, bag in enumerate(bags):
        rows, counts, labels = naive.distinct_rows(codes, bag)
        n = parts.sizes[b]
        assert parts.rows[b, :n].tolist() == rows
        assert parts.counts[b, :n].tolist() == counts
        assert parts.labels[b, :n].tolist() == labels
        assert parts.n_classes[b] == len(set(labels))
        folds = naive.deal_to_folds(labels, n_folds)
        for fold in range(n_folds):
            for part, is_in in zip(parts.split(n_folds, fold), (False, True), strict=True):
                members = [i for i in range(n) if (folds[i] == fold) == is_in]
                m = part.sizes[b]
                assert part.rows[b, :m].tolist() == [rows[i] for i in members]
                assert part.counts[b, :m].tolist() == [counts[i] for i in members]
                assert part.labels[b, :m].tolist() == [labels[i] for i in members]
                assert part.n_classes[b] == len(set(labels))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), exponent=st.integers(-290, 290))
def test_scaled_rows_have_mean_0_and_deviation_1(seed, exponent):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3)) * [1, 10, 1] + [0, 100, 0]
    X[:, 2] = 0.1
    bags = np.sort(rng.integers(0, 20, size=(2, 15)), axis=1).astype(np.int32)
    parts = BagRows.from_bags(np.zeros(20, np.int64), bags)
    means, scales, values = np.empty((2, 3)), np.empty((2, 3)), np.empty((2, 15, 3))
    far = X * 10.0**exponent
    measure_columns(far, parts, means, scales)
    scale_rows(far, parts, means, scales, values)
    for b, bag in enumerate(bags):
        expected = StandardScaler().fit(X[bag]).transform(X[parts.rows[b, : parts.sizes[b]]])
        np.testing.assert_allclose(means[b], X[bag].mean(axis=0) * 10.0**exponent, rtol=1e-12)
        np.testing.assert_allclose(scales[b, :2], X[bag][:, :2].std(axis=0) * 10.0**exponent, rtol=1e-12)
        np.testing.assert_allclose(values[b, : parts.sizes[b], :2], expected[:, :2], atol=1e-11)
        assert scales[b, 2] == 0
        assert (values[b, : parts.sizes[b], 2] == 0).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_outputs=st.sampled_from([1, 3, 4]), size=st.floats(0.1, 300))
def test_probabilities_equal_those_of_scipy(seed, n_outputs, size):
    rng = np.random.default_rng(seed)
    logits, counts = size * rng.normal(size=(12, n_outputs)), rng.integers(1, 4, size=12).astype(float)
    labels = rng.integers(0, max(n_outputs, 2), size=12)
    rates, rests = np.empty_like(logits), np.empty_like(logits)
    loss = rate_classes(logits, labels, counts, rates, rests)
    whole = np.column_stack([np.zeros(12), logits]) if n_outputs == 1 else logits
    np.testing.assert_allclose(loss, -(counts * log_softmax(whole, axis=1)[np.arange(12), labels]).sum(), rtol=1e-12)
    expected = softmax(whole, axis=1)
    np.testing.assert_allclose(rates, expected[:, 1:] if n_outputs == 1 else expected, rtol=1e-12)
    for k in range(n_outputs):
        own = 1 if n_outputs == 1 else k
        others = np.delete(expected, own, axis=1).sum(axis=1)
        np.testing.assert_allclose(rests[:, k], others, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n_outputs=st.sampled_from([1, 3, 4]), n=st.integers(1, 11))
def test_derivatives_equal_those_of_the_naive_losses(seed, n_outputs, n):
    rng = np.random.default_rng(seed)
    values, coefs, counts = rng.normal(size=(n, 4)), rng.normal(size=(n_outputs, 5)), rng.integers(1, 4, size=n)
    labels = rng.integers(0, max(n_outputs, 2), size=n)
    logits, rates, rests = (np.empty((n, n_outputs)) for _ in range(3))
    find_logits(values, coefs, logits)
    rate_classes(logits, labels, counts.astype(float), rates, rests)
    repeated, repeated_labels = np.repeat(values, counts, axis=0), np.repeat(labels, counts)
    slopes = np.empty(coefs.shape)
    find_slopes(values, labels, counts.astype(float), rates, rests, 0.7, slopes)

    def naive_slopes(x):
        parts = naive.slopes(repeated, repeated_labels, x[:, :-1], x[:, -1])
        return 0.7 * np.column_stack(parts)

    np.testing.assert_allclose(slopes, naive_slopes(coefs), rtol=1e-10, atol=1e-12)

    outputs, columns = np.repeat(np.arange(n_outputs), 3), np.tile([0, 2, 4], n_outputs)
    chosen = np.ones((n + -n % 4, len(columns)))
    chosen[:n] = np.column_stack([values, np.ones(n)])[:, columns]
    curvature = np.empty((len(columns), len(columns)))
    curve_losses(chosen, outputs, counts.astype(float), rates, rests, 0.7, curvature)
    for u, (j, k) in enumerate(zip(columns, outputs, strict=True)):
        nudge = np.zeros(coefs.shape)
        nudge[k, j] = 1e-5
        change = (naive_slopes(coefs + nudge) - naive_slopes(coefs - nudge)) / 2e-5
        np.testing.assert_allclose(curvature[u], change[outputs, columns], rtol=1e-6, atol=1e-7)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 12))
def test_minima_of_quadratics_equal_those_of_the_naive_implementation(seed, size):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(size + 5, size))
    curvature, slopes = factor.T @ factor, 10 * rng.normal(size=size)
    penalties, start = rng.uniform(0, 15, size=size), rng.normal(size=size) * (rng.random(size) < 0.5)
    penalties[0], no_siblings = 0, np.empty((0, 1), np.int64)
    x, slopes_there = start.copy(), slopes.copy()
    for _ in range(15):  # each call leaves at most a tenth of the violation
        minimise_quadratic(curvature, penalties, np.full(size, 1e-10), no_siblings, x, slopes_there)
    twin = naive.quadratic_and_penalty(curvature, slopes, penalties, start)
    np.testing.assert_array_equal(x != 0, twin != 0)
    np.testing.assert_allclose(x, twin, atol=1e-7)
    np.testing.assert_allclose(slopes_there, slopes + curvature @ (x - start), atol=1e-9)
    solution = rng.normal(size=size)
    right = curvature @ solution
    solve_equations(curvature.copy(), size, right)
    np.testing.assert_allclose(right, solution, atol=1e-6)


@pytest.mark.parametrize(
    ("x", "shifted"),
    [
        ([1.0, 2.0, 4.0], [-1.0, 0.0, 2.0]),
        ([-1.0, 0.0, 4.0], [-1.0, 0.0, 4.0]),
        ([3.0, 1.0, 2.0, 5.0], [1.0, -1.0, 0.0, 3.0]),
        ([-3.0, -1.0, -2.0, 5.0], [-2.0, 0.0, -1.0, 6.0]),
        ([-3.0, -1.0, 2.0, 5.0], [-3.0, -1.0, 2.0, 5.0]),
    ],
)
def test_coefficients_of_a_column_are_shifted_to_their_median(x, shifted):
    n = len(x)
    curvature = np.arange(n * n, dtype=float).reshape(n, n) + np.arange(n * n, dtype=float).reshape(n, n).T
    siblings = np.array([[-1, *range(n - 1)], range(n)])  # of the first column, one is missing
    new, slopes = np.array(x), np.zeros(n)
    shift_to_median(curvature, siblings, new, slopes)
    assert new.tolist() == shifted
    np.testing.assert_allclose(slopes, curvature @ (new - x))


def test_a_bag_of_one_class_is_named():
    X, y = make_problem(0, 2, n_rows=40, n_columns=3)
    of_one = np.flatnonzero(y == 1)[:8]
    bags = np.array([np.arange(8), of_one, of_one], np.int32)
    for C in (1.0, "cv"):
        with pytest.raises(BagError) as caught:
            LogisticLassoSelector(C).prepare(table_of(X, y)).select(bags)
        assert caught.value.index == 1
        assert "one class" in caught.value.reason


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"C": 0.0}, "C "),
        ({"C": -1}, "C "),
        ({"C": float("nan")}, "C "),
        ({"C": "best"}, "C "),
        ({"C": None}, "C "),
        ({"C": True}, "C "),
        ({"standardize": "yes"}, "standardize "),
        ({"standardize": 1}, "standardize "),
    ],
)
def test_invalid_parameters_are_refused(parameters, named):
    X, y = make_problem(0, 2)
    with pytest.raises(_exceptions.ParameterError, match=f"^{named}"):
        LogisticLassoSelector(**parameters).prepare(table_of(X, y))


def test_unusable_tables_are_refused():
    X, y = make_problem(0, 2)
    for table, named in [
        (SelectionTable(X, ("a",), np.zeros(X.shape[1], np.int32)), "y must be labels"),
        (table_of(X, np.zeros(len(y))), "y has only one class"),
        (table_of(X * 1e305, y), "X has numbers beyond"),
    ]:
        with pytest.raises(_exceptions.DataError, match=named):
            LogisticLassoSelector().prepare(table)


def test_the_number_of_bags_per_call_depends_on_the_table():
    def bags_per_call(n_rows, n_columns, C=1.0):
        X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
        return LogisticLassoSelector(C).prepare(table_of(X, np.arange(n_rows) % 2)).bags_per_call

    assert bags_per_call(20, 2) == 1024
    assert 1024 > bags_per_call(200, 20) > bags_per_call(200, 20, "cv") > 1
    assert bags_per_call(5000, 400) == 1
