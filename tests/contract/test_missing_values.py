"""Missing values have a side in every split, whether or not they were seen when the model was fitted."""

import numpy as np
import pytest
from reference.models import FRAMES, make_frame

from contract.registry import (
    VARIANTS,
    answers,
    assert_finite_answers,
    assert_same_answers,
    bits,
    each,
    each_subject,
    each_with_classes,
    those,
)

TOLERANT = [subject for subject in VARIANTS if subject.takes_missing]


@pytest.mark.fault(number=5)
@each_with_classes(TOLERANT)
def test_holes_in_the_training_table(subject, n_classes):
    X, y = subject.problem(n_rows=200, n_classes=n_classes)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    rounds = {"n_estimators": 30} if subject.takes_validation else {}
    model = subject.make(**rounds).fit(X, y)
    assert_finite_answers(model, X)
    if subject.ignores_weight_scale or subject.takes_validation:
        least = 1.2 / n_classes if subject.ignores_weight_scale or n_classes > 2 else 0.7
        assert model.score(X, y) > (least if subject.is_classifier else 0.3)


@pytest.mark.fault(number=5)
@each(TOLERANT)
def test_missing_values_that_come_later(subject):
    X, y = subject.problem(n_rows=150)
    model = subject.make().fit(X, y)
    X[::2] = np.nan
    assert_finite_answers(model, X)
    first = answers(model, X[:1])
    assert [name for name, a in answers(model, X[::2]).items() if bits(a) != bits(np.repeat(first[name], 75, 0))] == []


@pytest.mark.fault(number=5)
@each([subject for subject in TOLERANT if subject.is_saved])
def test_being_missing_can_be_all_there_is_to_know(subject):
    X = np.full((40, 2), 5.0)
    X[::2, 1] = np.nan
    y = np.arange(40) % 2
    leaf = {"min_samples_leaf": 1} if "max_leaf_nodes" in subject.settings else {}
    model = subject.make(**{"n_estimators": 3 if subject.ignores_weight_scale else 50}, **leaf).fit(X, y)
    assert (model.predict([[5.0, 1e9], [5.0, -1e9], [5.0, np.nan]]) > 0.5).tolist() == [True, True, False]


@pytest.mark.fault(number=5)
@each([subject for subject in TOLERANT if subject.is_saved])
@pytest.mark.parametrize("filler", [np.nan, 7.0])
def test_a_column_without_any_news_is_never_used(subject, filler):
    X, y = subject.problem(n_rows=150)
    wider = np.insert(X, 1, filler, axis=1)
    model = subject.make().fit(wider, y)
    assert model.feature_importances_[1] == 0.0
    for later in (np.nan, -1e9, 3.0, 7.0):
        assert_same_answers(model, model, wider, np.insert(X, 1, later, axis=1))
    if subject.ignores_weight_scale or subject.name == "GradientRegressor":  # elsewhere chance may fall otherwise
        assert_same_answers(subject.make().fit(X, y), model, X, wider)


@pytest.mark.fault(number=5)
@each_subject
@pytest.mark.parametrize("kind", ["array", *FRAMES])
def test_infinity_is_refused_when_fitting_and_when_predicting(subject, kind):
    X, y = subject.problem(n_columns=2)

    def table(values):
        return values if kind == "array" else make_frame(kind, {"a": values[:, 0], "b": values[:, 1]})

    model = subject.make().fit(table(X), y)
    for infinity in (np.inf, -np.inf):
        broken = X.copy()
        broken[3, 1] = infinity
        with pytest.raises(ValueError, match="X contains infinity"):
            subject.make().fit(table(broken), y)
        if not subject.selects:  # it only takes columns out of a table
            with pytest.raises(ValueError, match="X contains infinity"):
                model.predict(table(broken))


@pytest.mark.fault(number=5)
@each(those(takes_missing=False))
def test_missing_values_are_refused_by_name_where_they_have_no_meaning(subject):
    X, y = subject.problem()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X.*NaN|NaN.*X"):
        subject.make().fit(X, y)
