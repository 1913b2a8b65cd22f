"""Labels of every type come back as they were; labels that are no labels are refused by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference.models import two_classes

from contract.registry import bits, each_classifier
from surefoot import AdaBoostClassifier

X, CODES = two_classes()
NAMES = np.where(CODES == 1, "yes", "no")

LABELS = {
    "strings": NAMES,
    "objects": NAMES.astype(object),
    "booleans": CODES.astype(bool),
    "floats": CODES + 0.0,
    "negative numbers": CODES - 7,
    "small unsigned numbers": CODES.astype(np.uint8),
    "a list": NAMES.tolist(),
    "a pandas series of strings": pd.Series(NAMES),
    "a pandas categorical": pd.Series(pd.Categorical(NAMES)),
    "nullable integers": pd.Series(CODES, dtype="Int64"),
    "a polars series": pl.Series(CODES),
    "polars strings": pl.Series(NAMES.tolist()),
    "long strings": np.where(CODES == 1, "z" * 300, "a" * 299),
}


@pytest.mark.fault(number=6)
@each_classifier
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type_give_the_same_vote(subject, kind):
    labels = LABELS[kind]
    extra = {"X_val": X, "y_val": labels} if subject.takes_validation else {}
    model = subject.make().fit(X, labels, **extra)
    plain = subject.make().fit(X, CODES, **(extra | {"y_val": CODES} if extra else {}))
    assert bits(model.predict_proba(X)) == bits(plain.predict_proba(X))
    if hasattr(model, "decision_function"):
        np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    given = np.asarray(labels)
    assert model.classes_.tolist() == sorted(set(given.tolist()))
    np.testing.assert_array_equal(model.predict(X) == given, plain.predict(X) == CODES)


@pytest.mark.fault(number=6)
@each_classifier
@pytest.mark.parametrize("label", ["only", 3, True])
def test_one_class_is_refused_and_named(subject, label):
    with pytest.raises(ValueError, match=f"y has only one class.*{label}"):
        subject.make().fit(X, [label] * len(X))


@pytest.mark.fault(number=6)
@each_classifier
@pytest.mark.parametrize(
    "labels",
    [
        np.where(CODES == 1, np.nan, 0.0),
        np.where(CODES == 1, np.inf, 0.0),
        np.where(CODES == 1, None, "no"),
        np.array([1 if code else "no" for code in CODES], dtype=object),
        pd.Series(np.where(CODES == 1, "yes", None)),
        pd.Series([pd.NA, *CODES[1:]], dtype="Int64"),
        pl.Series([None, *CODES[1:].tolist()]),
    ],
    ids=["NaN", "infinity", "None", "mixed", "missing string", "missing nullable integer", "polars null"],
)
def test_missing_labels_are_refused_and_y_is_named(subject, labels):
    with pytest.raises(ValueError, match=r"\by\b"):
        subject.make().fit(X, labels)
    if subject.takes_validation:
        with pytest.raises(ValueError, match=r"\by_val\b"):
            subject.make().fit(X, CODES, X_val=X, y_val=labels)


@pytest.mark.fault(number=6)
@each_classifier
def test_numbers_that_are_no_labels_are_refused(subject):
    with pytest.raises(ValueError, match="Unknown label type"):
        subject.make().fit(X, X[:, 0])


@pytest.mark.fault(number=6)
@each_classifier
def test_three_classes_of_strings(subject):
    labels = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    for depth in ({"max_depth": 1}, {"max_depth": 2}) if subject.ignores_weight_scale else ({},):
        model = subject.make(**depth).fit(X, labels)
        assert model.classes_.tolist() == ["low", "mid", "top"]
        assert model.predict_proba(X).shape == (len(X), 3)
        if hasattr(model, "decision_function"):
            assert model.decision_function(X).shape == (len(X), 3)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        assert model.score(X, labels) > 0.6


@pytest.mark.fault(number=6)
@pytest.mark.parametrize("max_depth", [1, 2])
def test_ten_thousand_classes(max_depth):
    n_classes = 10_000
    labels = np.repeat(np.arange(n_classes), 2)
    values = labels[:, np.newaxis].astype(float)
    model = AdaBoostClassifier(n_estimators=2, max_depth=max_depth).fit(values, labels)
    rows = values[:: len(values) // 5]
    assert model.decision_function(rows).shape == (5, n_classes)
    assert np.isfinite(model.decision_function(rows)).all()
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
    assert set(model.predict(rows)) <= set(range(n_classes))
