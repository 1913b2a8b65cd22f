"""A bag's model depends only on the bag's own rows, for all units, penalties and missing values."""

import numpy as np
import pandas as pd
import pytest
from reference import gaps as naive_gaps
from reference import lasso as naive_lasso
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from surefoot import DataError, ParameterError, StableSelector
from surefoot.selection import (
    Argmax,
    ClusterCountSelector,
    GraphicalLassoSelector,
    LassoSelector,
    LogisticLassoSelector,
    TreeSelector,
)
from surefoot.selection.bagged_selection import BagPool
from surefoot.selection.table import MissingValues, SelectionTable, filled_bags

TIGHT = {"tol": 1e-10, "max_iter": 1_000_000}
SELECTORS = {
    "lasso": LassoSelector(),
    "lasso, cv": LassoSelector("cv"),
    "logistic": LogisticLassoSelector(0.3),
    "logistic, universal": LogisticLassoSelector("universal"),
    "logistic, cv": LogisticLassoSelector("cv"),
    "graph": GraphicalLassoSelector(0.2),
    "clusters": ClusterCountSelector([2, 3, 4], n_init=1),
    "tree": TreeSelector(max_depth=2, random_state=0),
}
WITH_GAPS = {
    "lasso": LassoSelector(missing="bag_median"),
    "lasso, cv": LassoSelector("cv", missing="bag_median"),
    "logistic": LogisticLassoSelector("universal", missing="bag_median"),
    "logistic, cv": LogisticLassoSelector("cv", missing="bag_median"),
    "tree": TreeSelector(max_depth=2, random_state=0, missing="bag_median"),
}


def make_table(seed, selector, n_rows=60, n_columns=6):
    """Correlated columns with several scales, and a target of the kind that the selector needs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) + rng.normal(size=(n_rows, 1))
    y = X[:, 0] + 0.6 * X[:, 1] - 0.8 * X[:, 2] + rng.normal(size=n_rows)
    if isinstance(selector, LogisticLassoSelector):
        y = np.digitize(y, np.quantile(y, [0.3, 0.7]) if seed % 2 else [np.median(y)])
    return X, None if isinstance(selector, GraphicalLassoSelector | ClusterCountSelector) else y


def prepare(selector, X, y):
    names, groups = tuple(f"x{j}" for j in range(X.shape[1])), np.arange(X.shape[1], dtype=np.int32)
    classes = np.unique(y) if isinstance(selector, LogisticLassoSelector) else None
    return selector.prepare(SelectionTable(np.ascontiguousarray(X), names, groups, y, classes))


def models_of(selector, X, y, bags):
    return np.asarray(prepare(selector, X, y).select(bags), dtype=object).tolist()


@pytest.mark.parametrize("name", SELECTORS)
def test_units_of_the_columns_do_not_matter(name):
    selector, several = SELECTORS[name], 0
    for seed in range(3):
        X, y = make_table(seed, selector)
        bags = BagPool(60, 30, bool(seed == 2), seed).bags(0, 15)
        plain = models_of(selector, X, y, bags)
        several += len(set(map(str, plain))) > 1
        units = 10.0 ** np.random.default_rng(seed).uniform(-4, 4, X.shape[1])
        assert models_of(selector, X * units + 3 * units, y, bags) == plain, seed
    assert several > 0  # if not, a constant would pass


@pytest.mark.parametrize("alpha", ["universal", "cv"])
def test_units_of_the_target_do_not_matter(alpha):
    for seed in range(3):
        X, y = make_table(seed, None)
        bags = BagPool(60, 40, False, seed).bags(0, 15)
        plain = models_of(LassoSelector(alpha), X, y, bags)
        for unit in (1e-5, 0.3048, 1e6):
            assert models_of(LassoSelector(alpha), X, unit * (y - 7), bags) == plain, (seed, unit)


def test_without_standardizing_a_change_of_units_changes_the_variables():
    """The default prevents this."""
    X, y = make_table(0, None)
    bags = BagPool(60, 30, False, 0).bags(0, 15)
    selector = LassoSelector(0.3, standardize=False)
    assert models_of(selector, X, y, bags) != models_of(selector, X * [100, 1, 1, 1, 1, 0.01], y, bags)


def with_gaps(X, seed, fraction=0.2):
    X = X.copy()
    X[:, :4][np.random.default_rng(seed).random((len(X), 4)) < fraction] = np.nan
    return X


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", SELECTORS)
def test_rows_outside_a_bag_do_not_matter(name, gaps):
    if gaps and name not in WITH_GAPS:
        pytest.skip("refuses missing values")
    selector = (WITH_GAPS if gaps else SELECTORS)[name]
    for seed in range(3):
        X, y = make_table(seed, selector)
        X = with_gaps(X, seed) if gaps else X
        rng = np.random.default_rng(100 + seed)
        for bag in BagPool(60, 35, bool(seed == 2), seed).bags(0, 6):
            others = np.setdiff1d(np.arange(60), bag)
            changed, target = X.copy(), None if y is None else y.copy()
            changed[others] = 50 * rng.normal(size=(len(others), X.shape[1])) + 30
            if y is not None:
                target[others] = (
                    rng.permutation(y[others]) if y.dtype.kind == "i" else 1000 * rng.normal(size=len(others))
                )
            one = bag[np.newaxis]
            assert models_of(selector, changed, target, one) == models_of(selector, X, y, one), seed


def test_universal_penalties_use_the_bags_rows_and_solutions_equal_scikit_learn():
    several = set()
    for seed in range(20):
        X, y = make_table(seed, None)
        X[:, 5] = 0.0
        X[::9, 5] = 1.0  # constant in some bags
        for size, replace in [(8, False), (30, False), (50, False), (60, True), (59, False)]:
            bags = BagPool(60, size, replace, seed).bags(0, 4)
            for bag, found in zip(bags, prepare(LassoSelector(), X, y).select(bags), strict=True):
                alpha = naive_lasso.universal_penalty(X[bag], y[bag])
                expected = make_pipeline(StandardScaler(), Lasso(alpha, **TIGHT)).fit(X[bag], y[bag])[-1].coef_ != 0
                assert found.tolist() == expected.tolist(), (seed, size)
                several.add(tuple(found))
    assert len(several) > 5


def test_noise_rarely_exceeds_the_universal_penalty():
    """2 p tails beyond sqrt(2 log 2p) deviations: at most 1 / sqrt(4 pi log 2p), .22 for 20 columns, less with ties."""
    rng, passed = np.random.default_rng(0), {"lasso": [], "logistic": []}
    for _ in range(300):
        X, y = rng.normal(size=(100, 20)), rng.normal(size=100)
        every = np.arange(100, dtype=np.int32)[np.newaxis]
        passed["lasso"].append(prepare(LassoSelector(), X, y).select(every).any())
        codes = (y > 0.5).astype(np.int64)
        passed["logistic"].append(prepare(LogisticLassoSelector("universal"), X, codes).select(every).any())
    for name, found in passed.items():
        assert 0.03 < np.mean(found) < 0.22 + 3 * np.sqrt(0.22 * 0.78 / 300), name


@pytest.mark.parametrize("n_classes", [2, 3])
def test_universal_weights_of_logistic_regressions(n_classes):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(90, 5))
        y = np.digitize(X[:, 0] + rng.normal(size=90), [-0.5, 0.8][: n_classes - 1])
        bag = BagPool(90, 60, bool(seed % 2), seed).bags(0, 1)[0]
        shares = np.bincount(y[bag]) / 60
        outputs = 1 if n_classes == 2 else n_classes
        C = 1 / np.sqrt(2 * np.log(2 * 5 * outputs) * 60 * (shares * (1 - shares)).max())
        peer = LogisticRegression(l1_ratio=1, solver="saga", C=C, tol=1e-8, max_iter=100_000)
        expected = (make_pipeline(StandardScaler(), peer).fit(X[bag], y[bag])[-1].coef_ != 0).any(axis=0)
        found = prepare(LogisticLassoSelector("universal"), X, y).select(bag[np.newaxis])[0]
        assert found.tolist() == expected.tolist(), seed


def test_select_once_uses_the_penalty_of_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + 0.35 * X[:, 1] + rng.normal(size=200)
    stable = StableSelector(LassoSelector(), n_bags=200, bag_size=30, random_state=0).fit(X, y)
    alpha = naive_lasso.universal_penalty(X, y)
    chosen = np.flatnonzero(make_pipeline(StandardScaler(), Lasso(alpha, **TIGHT)).fit(X, y)[-1].coef_)
    assert stable.select_once() == tuple(f"x{j}" for j in chosen) == ("x0", "x1")
    assert stable.selected_ == (("x0",),)  # too few rows in a bag for the second


# Missing values


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_missing_values_are_filled_with_the_medians_of_the_bag(dtype):
    X = with_gaps(make_table(0, None)[0], 0, 0.4).astype(dtype)
    bags = np.vstack([BagPool(60, 7, True, 0).bags(0, 40)])
    X[bags[0], 2] = np.nan  # no value is known
    X[:30, 1] = np.round(X[:30, 1])  # equal values
    out = filled_bags(X, MissingValues.find(X), bags).reshape(40, 7, 6)
    for bag, rows in zip(bags, out, strict=True):
        np.testing.assert_array_equal(rows, naive_gaps.filled(X[bag]))
        known = ~np.isnan(X[bag]).all(axis=0)
        np.testing.assert_allclose(rows[:, known], SimpleImputer(strategy="median").fit_transform(X[bag][:, known]))


def indicated(X):
    """The columns, those with missing values followed by a column that marks them, and the variable of each."""
    parts, groups = [], []
    for j, column in enumerate(X.T):
        own = [column, np.isnan(column).astype(float)] if np.isnan(column).any() else [column]
        parts, groups = parts + own, groups + [j] * len(own)
    return np.column_stack(parts), np.array(groups)


@pytest.mark.parametrize("name", ["lasso", "tree"])
def test_bags_with_missing_values_equal_scikit_learn_on_filled_rows(name):
    several = set()
    for seed in range(5):
        X, y = make_table(seed, None)
        X = with_gaps(X, seed)
        y = y + 2.0 * np.isnan(X[:, 3])  # the target also depends on whether a value is missing
        stable = StableSelector(WITH_GAPS[name], n_bags=10, bag_size=40, rule=Argmax(), random_state=seed).fit(X, y)
        wide, groups = indicated(X)
        for bag, place in zip(stable._bagging.pool.bags(0, 10), stable.bag_models_, strict=True):
            rows = SimpleImputer(strategy="median").fit_transform(wide[bag])
            if name == "lasso":
                alpha = naive_lasso.universal_penalty(rows, y[bag])
                fitted = make_pipeline(StandardScaler(), Lasso(alpha, **TIGHT)).fit(rows, y[bag])[-1]
                expected = tuple(f"x{j}" for j in sorted(set(groups[fitted.coef_ != 0])))
                found = stable.models_[place]
            else:
                tree = DecisionTreeRegressor(max_depth=2, random_state=0).fit(rows, y[bag]).tree_
                expected, found = f"x{groups[tree.feature[0]]}", stable.models_[place][0]
            assert found == expected, seed
            several.add(str(found))
    assert len(several) > 1
    assert any("x3" in model for model in several)


def test_missing_categories_are_a_value_of_their_own():
    rng = np.random.default_rng(0)
    kind = pd.Series(rng.choice(["a", "b", "c"], 120))
    kind[rng.random(120) < 0.3] = None
    X = pd.DataFrame({"kind": kind.astype("category"), "noise": rng.normal(size=120)})
    y = 3.0 * kind.isna().to_numpy() + 0.3 * rng.normal(size=120)
    with pytest.raises(DataError, match=r"missing categories.*missing='bag_median'"):
        StableSelector(LassoSelector(), n_bags=5).fit(X, y)
    assert StableSelector(WITH_GAPS["lasso"], n_bags=50, random_state=0).fit(X, y).selected_ == (("kind",),)


def test_missing_values_are_refused_by_default():
    X, y = make_table(0, None)
    X = with_gaps(X, 0)
    with pytest.raises(DataError, match=r"X contains NaN in columns 'x0', .*missing='bag_median'"):
        StableSelector(LassoSelector(), n_bags=5).fit(X, y)
    with pytest.raises(ParameterError, match="missing must be one of 'error', 'bag_median', got 'mean'"):
        StableSelector(LassoSelector(missing="mean"), n_bags=5).fit(X, y)
    X[:, 1] = np.nan
    with pytest.raises(DataError, match="same value in every row of column 'x1'"):
        StableSelector(WITH_GAPS["lasso"], n_bags=5).fit(X, y)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_transform_keeps_missing_values_where_they_are_filled(kind):
    X, y = make_table(0, None)
    X = with_gaps(X, 0)
    stable = StableSelector(LassoSelector(missing="bag_median"), n_bags=50, random_state=0)
    kept = stable.fit_transform(kind(X), y)
    np.testing.assert_array_equal(np.asarray(kept), X[:, stable.get_support()])
    with pytest.raises(ValueError, match="X contains NaN"):
        StableSelector(LassoSelector(), n_bags=50, random_state=0).fit(np.nan_to_num(X), y).transform(X)


def test_a_column_whose_only_value_is_left_out():
    X, y = make_table(0, None, n_rows=30)
    X[1:, 2] = np.nan
    stable = StableSelector(WITH_GAPS["lasso"], n_bags=50, bag_size=10, epsilon=0.3, random_state=0).fit(X, y)
    stable.leave_one_out("refit")
    assert all("x2" not in model for model in stable.models_)


@pytest.mark.parametrize(
    "selector", [LassoSelector("universal", standardize=False), LogisticLassoSelector("universal", standardize=False)]
)
def test_universal_penalties_are_for_columns_on_one_scale(selector):
    X, y = make_table(0, selector)
    with pytest.raises(ParameterError, match="'universal' is for columns on one scale"):
        StableSelector(selector, n_bags=5).fit(X, y)


# A penalty from all rows voids the guarantee


def few_rows_that_set_the_scale():
    """A table of 150 rows, ten of which have nearly all of the variance of the target, and no other information.

    In bags of 50 the covariance of column and target hardly varies, and lies between the penalties that all rows give
    with all ten of these rows and with nine of them.
    """
    x, y = np.tile([1.0, -1.0], 75), np.zeros(150)
    y[:10] = np.repeat([1.0, -1.0], 5)
    x[:10] = 0.0
    y += SLOPE * x
    return np.column_stack([x, np.tile([1.0, 1.0, -1.0, -1.0], 38)[:150]]), y


SLOPE, BAG = 0.0635, 50


def penalty_of_all_rows(y):
    return float(np.std(y) * np.sqrt(2 * np.log(2 * 2) / BAG))


def fitted(selector, X, y):
    return StableSelector(selector, delta=0.05, n_bags=2000, bag_size=BAG, random_state=0).fit(X, y)


def test_a_penalty_of_all_rows_voids_the_guarantee_and_the_pool_does_not_show_it():
    X, y = few_rows_that_set_the_scale()
    stable = fitted(LassoSelector(penalty_of_all_rows(y)), X, y)
    assert stable.delta_ == pytest.approx(0.05)
    assert stable.leave_one_out().instability == 0.0  # the pool has only one penalty
    overturned = 0
    for row in range(10):
        others = np.delete(np.arange(150), row)
        without = fitted(LassoSelector(penalty_of_all_rows(y[others])), X[others], y[others])
        overturned += not set(without.selected_) & set(stable.selected_)
    assert overturned == 10  # of 150 rows: more than delta


def test_a_penalty_of_the_bags_rows_keeps_the_guarantee_and_the_pool_agrees_with_refits():
    X, y = few_rows_that_set_the_scale()
    stable = fitted(LassoSelector(), X, y)
    pool, refit = stable.leave_one_out("pool"), stable.leave_one_out("refit")
    assert pool.instability <= 0.05
    assert refit.instability <= 0.05
    assert pool.disjoint_rows.tolist() == refit.disjoint_rows.tolist()


@pytest.mark.parametrize("name", ["lasso", "logistic", "tree"])
def test_a_bag_without_a_row_is_a_bag_of_the_table_without_it(name):
    selector = WITH_GAPS[name]
    X, y = make_table(1, selector)
    X = with_gaps(X, 1)
    X[np.arange(60) != 7, 3] = np.nan_to_num(X[np.arange(60) != 7, 3])
    X[7, 3] = np.nan  # the only missing value of its column
    stable = StableSelector(selector, n_bags=40, bag_size=30, rule=Argmax(), random_state=0).fit(X, y)
    bagging = stable._bagging
    for row in (0, 7, 59):
        bags = np.array([bag for bag in bagging.pool.bags(0, 40) if row not in bag])
        without = selector.prepare(bagging.table.without(row)).select(bags - (bags > row).astype(np.int32))
        assert np.asarray(without, dtype=object).tolist() == np.asarray(bagging.prepared.select(bags), object).tolist()
