"""A row of weight k counts as k copies of it, and one of weight 0 as none; bad weights are refused by name."""

import numpy as np
import pytest
from reference.models import make_frame
from sklearn.utils import compute_sample_weight

from contract.registry import (
    SUBJECTS,
    VARIANTS,
    assert_close_answers,
    assert_finite_answers,
    assert_same_answers,
    assert_same_model,
    each,
    each_weighted,
    each_with_classes,
    failing,
    those,
)
from surefoot import DataError, ParameterError

KINDS = ("many ties", "categories", "missing values", "more values than bins")
WEIGHTED = [subject for subject in VARIANTS if subject.weights != "refused"]
CLASSIFIERS = [subject for subject in SUBJECTS if subject.is_classifier and subject.weights != "refused"]
BY_CLASS = [subject for subject in CLASSIFIERS if "class_weight" in subject.make().get_params()]


def weighted_problem(subject, kind, n_classes, seed):
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
    if kind == "categories":
        words = {name: X[:, j].astype(int).astype(str) for j, name in enumerate("ab")}
        X = make_frame("pandas", {"c": X[:, 2]}, words)
    return X, subject.target(values, n_classes), generator.integers(0, 4, size=n_rows)


def rows_of(X, rows):
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


# of so many rows, those that stand in for the target of a V-matrix are drawn at random: copies would fall apart
COPIES = [
    (subject, kind)
    for subject in those(weights="copies")
    for kind in KINDS
    if kind != "more values than bins" or not hasattr(subject.make(), "orientation")
]


@pytest.mark.fault(number=2)
@pytest.mark.parametrize(("subject", "kind"), COPIES, ids=str)
def test_integer_weights_are_copies(subject, kind):
    for n_classes in (2, 4) if subject.is_classifier else (2,):
        for seed in range(2):
            X, y, weights = weighted_problem(subject, kind, n_classes, seed)
            copies = np.repeat(np.arange(len(y)), weights)
            weighted = subject.make(**subject.wants).fit(X, y, sample_weight=weights)
            copied = subject.make(**subject.wants).fit(rows_of(X, copies), y[copies])
            assert_close_answers(weighted, copied, X)


def rows_without_weight(subject, n_classes):
    """The last 40 rows would change everything, but have no weight: outliers, and a class that no other row has."""
    X, y = subject.problem(n_rows=140, n_classes=n_classes)
    weights = np.random.default_rng(1).integers(1, 4, size=140).astype(float)
    weights[100:] = 0.0
    X[100:] = 1000.0
    y[100:] = 12_345
    return X, y, weights


@pytest.mark.fault(number=2)
@each_with_classes(WEIGHTED)
def test_weight_zero_is_removal(subject, n_classes):
    X, y, weights = rows_without_weight(subject, n_classes)
    removed = subject.make().fit(X[:100], y[:100], sample_weight=weights[:100])
    for holes in (slice(0, 0), slice(100, None), slice(120, 121)):
        X[holes] = np.nan
        assert_same_answers(subject.make().fit(X, y, sample_weight=weights), removed, X)


@each_weighted
def test_values_of_rows_without_weight_make_no_bins(subject):
    X, y = subject.problem(n_rows=1000, n_columns=1)
    weights = (np.arange(1000) % 3 > 0).astype(float)
    settings = {**subject.wants, "max_bins": 16}
    weighted = subject.make(**settings).fit(X, y, sample_weight=weights)
    removed = subject.make(**settings).fit(X[weights > 0], y[weights > 0])
    assert_same_answers(weighted, removed, X)


@each_weighted
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_category_that_only_rows_without_weight_have_counts_as_unseen(subject, kind):
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 5, size=200)
    y = subject.target(np.isin(labels, [1, 3]) + 0.1 * generator.normal(size=200))
    weights = (labels != 2).astype(float)
    X = make_frame(kind, categories={"a": labels.astype(str)})
    kept = make_frame(kind, categories={"a": labels[weights > 0].astype(str)})
    weighted = subject.make(**subject.wants).fit(X, y, sample_weight=weights)
    removed = subject.make(**subject.wants).fit(kept, y[weights > 0])
    assert_same_answers(weighted, removed, X)


ONES = {
    "array": np.ones(80),
    "list": [1.0] * 80,
    "whole numbers": np.ones(80, dtype=int),
    "a number": 1.0,
    "booleans": np.ones(80, dtype=bool),
}


@each_weighted
def test_weights_of_one_are_no_weights(subject):
    X, y = subject.problem()
    plain = subject.make().fit(X, y)

    def check(weights):
        assert_same_model(subject.make().fit(X, y, sample_weight=weights), plain)

    assert failing(ONES, check) == {}


def some_heavy(value):
    return np.where(np.arange(80) == 3, value, 1.0)


BAD = {
    "too short": np.ones(79),
    "too long": np.ones(81),
    "two-dimensional": np.ones((80, 1)),
    "negative": some_heavy(-1.0),
    "NaN": some_heavy(np.nan),
    "infinite": some_heavy(np.inf),
    "all zero": np.zeros(80),
    "words": np.full(80, "heavy"),
    "a name": "balanced",
    "negative scalar": -1.0,
}


@each_weighted
def test_bad_weights_are_refused_by_name(subject):
    X, y = subject.problem()

    def check(weights):
        with pytest.raises(ValueError, match=r"sample_weight|sample weight|heavy"):
            subject.make().fit(X, y, sample_weight=weights)
        if subject.takes_validation:
            with pytest.raises(ValueError, match=r"sample_weight_val|heavy"):
                subject.make().fit(X, y, X_val=X, y_val=y, sample_weight_val=weights)

    assert failing(BAD, check) == {}


@each(those(weights="refused"))
def test_weights_are_refused_where_they_have_no_meaning(subject):
    X, y = subject.problem()
    with pytest.raises((TypeError, DataError, ParameterError), match="sample_weight"):
        subject.make().fit(X, y, sample_weight=np.ones(80))


@each_weighted
@pytest.mark.parametrize("weight", [1e-320, 1e-300, 1e-9, 1e-3, 1e3, 1e9, 1e14, 1e40, 1e300, 1e308])
def test_equal_weights_of_any_size_give_finite_answers_or_are_refused(subject, weight):
    for n_classes in (2, 4) if subject.is_classifier else (2,):
        X, y = subject.problem(n_classes=n_classes)
        fit_or_refuse(subject, X, y, np.full(80, weight))


@each_weighted
@pytest.mark.parametrize("decades", [6, 200, 300])
def test_weights_of_all_magnitudes_at_once_give_finite_answers_or_are_refused(subject, decades):
    for n_classes in (2, 4) if subject.is_classifier else (2,):
        X, y = subject.problem(n_classes=n_classes)
        weights = 10.0 ** np.random.default_rng(0).permutation(np.linspace(-decades, decades, 80))
        fit_or_refuse(subject, X, y, weights)


def fit_or_refuse(subject, X, y, weights):
    """Finite answers, or an error that names the weights; where the scale does not matter there is no refusal."""
    model = subject.make()
    try:
        model.fit(X, y, sample_weight=weights)
    except DataError as refusal:
        assert not subject.ignores_weight_scale
        assert "sample_weight" in str(refusal)  # noqa: PT017
    else:
        assert_finite_answers(model, X)


@each(BY_CLASS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_class_weights_multiply_sample_weights(subject, n_classes):
    X, y = subject.problem(n_classes=n_classes)
    weights = np.random.default_rng(0).random(80)
    by_class = dict(enumerate([1.0, 4.0, 0.5, 2.0][:n_classes]))
    model = subject.make(class_weight=by_class).fit(X, y, sample_weight=weights)
    rows = subject.make().fit(X, y, sample_weight=weights * compute_sample_weight(by_class, y))
    assert_same_answers(model, rows, X)


@each(BY_CLASS)
@pytest.mark.parametrize("class_weight", ["balance", 3, {"no such class": 1.0}, {0: -1.0}, {0: np.nan}, {0: np.inf}])
def test_bad_class_weights_are_refused_by_name(subject, class_weight):
    X, y = subject.problem()
    with pytest.raises(ValueError, match="class_weight"):
        subject.make(class_weight=class_weight).fit(X, y)


@each(CLASSIFIERS)
def test_one_class_with_weight_is_refused(subject):
    X, y = subject.problem()
    with pytest.raises(DataError, match="y has only one class with weight"):
        subject.make().fit(X, y, sample_weight=(y == 1).astype(float))
