"""A row of weight k counts as k copies of it, a row of weight 0 as none; classes may have weights too."""

import numpy as np
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    GRADIENT_BOOSTERS,
    REGRESSORS,
    assert_close_answers,
    assert_finite_answers,
    assert_same_answers,
    difference_in_splits,
    problem,
    small,
    target_of,
)
from reference.models import make_frame
from sklearn.utils import compute_sample_weight

from surefoot import DataError, GradientBoostingClassifier, GradientBoostingRegressor

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
TARGETS = [(estimator, 2) for estimator in GRADIENT_BOOSTERS] + [(GradientBoostingClassifier, 4)]
each_target = pytest.mark.parametrize(("estimator", "n_classes"), TARGETS)


def without_held_out_rows(estimator, **parameters):
    """A small estimator that trains on all rows."""
    return small(estimator, n_estimators=5, early_stopping=False, **parameters)


def weighted_problem(estimator, n_classes, kind, seed):
    """A table, a target and weights 0 to 3."""
    generator = np.random.default_rng(seed)
    n_rows = 700 if kind == "more values than bins" else 60
    if kind in ("many ties", "categories"):
        X = generator.integers(0, 5, size=(n_rows, 3)).astype(float)
    else:
        X = generator.normal(size=(n_rows, 3))
    values = X[:, 0] + X[:, 1] + generator.normal(size=n_rows)
    if kind == "missing values":
        X[generator.random(X.shape) < 0.2] = np.nan
    return as_table(X, kind), target_of(estimator, values, n_classes), generator.integers(0, 4, size=n_rows)


def as_table(X, kind):
    if kind != "categories":
        return X
    return make_frame("pandas", {"c": X[:, 2]}, {name: X[:, j].astype(int).astype(str) for j, name in enumerate("ab")})


def rows_of(X, rows):
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


@each_target
@pytest.mark.parametrize("kind", ["many ties", "categories", "missing values", "more values than bins"])
@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
def test_copies_of_rows_grow_the_same_trees_as_their_weights(estimator, n_classes, kind, grow_policy):
    for seed in range(2):
        X, y, weights = weighted_problem(estimator, n_classes, kind, seed)
        copies = np.repeat(np.arange(len(y)), weights)
        weighted = without_held_out_rows(estimator, grow_policy=grow_policy).fit(X, y, sample_weight=weights)
        copied = without_held_out_rows(estimator, grow_policy=grow_policy).fit(rows_of(X, copies), y[copies])
        assert difference_in_splits(weighted, copied) is None
        assert_close_answers(weighted, copied, X)


@each_target
@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
def test_min_samples_leaf_counts_rows_by_weight(estimator, n_classes, grow_policy):
    for seed in range(3):
        X, y, weights = weighted_problem(estimator, n_classes, "numbers", seed)
        copies = np.repeat(np.arange(len(y)), weights)
        settings = {"grow_policy": grow_policy, "min_samples_leaf": 7}
        weighted = without_held_out_rows(estimator, **settings).fit(X, y, sample_weight=weights)
        copied = without_held_out_rows(estimator, **settings).fit(X[copies], y[copies])
        assert difference_in_splits(weighted, copied) is None


@pytest.mark.parametrize("distribution", ["lognormal", "laplace", "student_t", "poisson", "gamma"])
def test_a_weight_of_k_counts_as_k_copies_for_every_distribution(distribution):
    X, y, weights = weighted_problem(GradientBoostingRegressor, 2, "numbers", 0)
    y = np.round(np.exp(y / 2)) if distribution == "poisson" else np.exp(y / 2)
    copies = np.repeat(np.arange(len(y)), weights)
    weighted = without_held_out_rows(GradientBoostingRegressor, distribution=distribution).fit(
        X, y, sample_weight=weights
    )
    copied = without_held_out_rows(GradientBoostingRegressor, distribution=distribution).fit(X[copies], y[copies])
    assert_close_answers(weighted, copied, X)


def rows_without_weight(estimator, n_classes):
    """The last 40 rows would change everything, but have no weight: outliers, and a class that no other row has."""
    X, y = problem(estimator, n_rows=140, n_classes=n_classes)
    weights = np.random.default_rng(1).integers(1, 4, size=140).astype(float)
    weights[100:] = 0.0
    X[100:] = 1000.0
    y[100:] = 12_345
    return X, y, weights


@each_target
@pytest.mark.parametrize("settings", [{}, {"grow_policy": "depthwise"}, {"subsample": 0.5}, {"early_stopping": True}])
def test_weight_zero_equals_removal(estimator, n_classes, settings):
    X, y, weights = rows_without_weight(estimator, n_classes)
    weighted = small(estimator, **settings).fit(X, y, sample_weight=weights)
    removed = small(estimator, **settings).fit(X[:100], y[:100], sample_weight=weights[:100])
    assert_same_answers(weighted, removed, X)


@each_target
@pytest.mark.parametrize("rows", [slice(100, None), slice(120, 121)])
def test_missing_values_in_rows_without_weight_do_not_matter(estimator, n_classes, rows):
    X, y, weights = rows_without_weight(estimator, n_classes)
    X[rows] = np.nan
    weighted = small(estimator).fit(X, y, sample_weight=weights)
    removed = small(estimator).fit(X[:100], y[:100], sample_weight=weights[:100])
    assert_same_answers(weighted, removed, X)


@each_estimator
@pytest.mark.parametrize("kind", ["frame", "array"])
def test_a_category_that_only_rows_without_weight_have_counts_as_unseen(estimator, kind):
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 5, size=200)
    y = target_of(estimator, np.isin(labels, [1, 3]) + 0.1 * generator.normal(size=200))
    weights = (labels != 2).astype(float)
    if kind == "frame":
        X, settings = make_frame("pandas", categories={"a": labels.astype(str)}), {}
    else:
        X, settings = labels[:, np.newaxis].astype(float), {"categorical_features": [0]}
    weighted = without_held_out_rows(estimator, **settings).fit(X, y, sample_weight=weights)
    removed = without_held_out_rows(estimator, **settings).fit(rows_of(X, weights > 0), y[weights > 0])
    assert_same_answers(weighted, removed, X)


@each_estimator
@pytest.mark.parametrize("are_whole", [True, False])
def test_weights_may_add_up_to_the_largest_number_of_rows_that_a_float_can_count(estimator, are_whole):
    X, y = problem(estimator, n_rows=64)
    weights = np.full(64, 2.0**47) if are_whole else np.append(np.full(63, 2.0**47 - 0.25), 2.0**47 + 63 / 4)
    assert weights.sum() == 2.0**53
    assert_finite_answers(small(estimator).fit(X, y, sample_weight=weights), X)
    with pytest.raises(DataError, match=r"^sample_weight must add up to at most 2\*\*53"):
        small(estimator).fit(X, y, sample_weight=2 * weights)
    with pytest.raises(DataError, match=r"^sample_weight_val must add up to at most 2\*\*53"):
        small(estimator).fit(X, y, X_val=X, y_val=y, sample_weight_val=2 * weights)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_class_weights_that_no_float_can_count_are_refused_by_name(estimator):
    X, y = problem(estimator)
    with pytest.raises(DataError, match=r"^class_weight must add up"):
        small(estimator, class_weight={0: 1e308}).fit(X, y, sample_weight=np.full(80, 1e13))
    with pytest.raises(DataError, match=r"^sample_weight times class_weight must add up"):
        small(estimator, class_weight={0: 1e10}).fit(X, y, sample_weight=np.full(80, 1e10))


@each_estimator
def test_weights_that_add_up_to_one_are_a_model_of_one_row(estimator):
    X, y = problem(estimator)
    assert_finite_answers(small(estimator).fit(X, y, sample_weight=np.full(80, 1 / 80)), X)


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_a_row_with_a_large_weight_is_fitted_closely(estimator):
    X, y = problem(estimator)
    weights = np.where(np.arange(80) == 3, 1e6, 1.0)
    settings = {"n_estimators": 100, "max_depth": 6, "l2_regularization": 0.0, "early_stopping": False}
    model = small(estimator, **settings).fit(X, y, sample_weight=weights)
    assert abs(model.predict(X[3:4])[0] - y[3]) < 0.1


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array([7, -3])])
def test_balanced_classes_have_the_weights_that_scikit_learn_gives_them(estimator, labels):
    X, y = problem(estimator, n_rows=120)
    y = labels[np.where(np.arange(120) % 3 > 0, 0, y)]
    model = small(estimator, class_weight="balanced").fit(X, y)
    rows = small(estimator).fit(X, y, sample_weight=compute_sample_weight("balanced", y))
    assert_same_answers(model, rows, X)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_balanced_weights_raise_the_probability_of_a_rare_class(estimator):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 2))
    y = (X[:, 0] + generator.normal(size=400) > 1.8).astype(int)
    plain, balanced = (small(estimator, class_weight=weights).fit(X, y) for weights in (None, "balanced"))
    assert balanced.predict_proba(X)[:, 1].mean() > 2 * plain.predict_proba(X)[:, 1].mean()
