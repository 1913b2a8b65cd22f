"""Rows asked one by one get the answers they get together, to the last bit."""

import numpy as np
import pytest
from reference.models import make_frame
from sklearn.tree import DecisionTreeClassifier

from contract.registry import VARIANTS, answers, bits, each, each_subject, each_with_classes, those


def differing_in_batches(model, X, size):
    together = answers(model, X)
    batches = [answers(model, X[start : start + size]) for start in range(0, len(X), size)]
    return [n for n, array in together.items() if bits(np.concatenate([b[n] for b in batches])) != bits(array)]


@pytest.mark.fault(number=13)
@each_with_classes(VARIANTS)
def test_one_by_one_and_together(subject, n_classes):
    X, y = subject.problem(n_rows=60, n_classes=n_classes)
    if subject.takes_missing:
        X[::5, 0] = np.nan
    for voting in ("hard", "soft") if "voting" in subject.make().get_params() else (None,):
        model = subject.make(**({"voting": voting} if voting else {})).fit(X, y)
        assert differing_in_batches(model, X[:12], 1) == []
        assert differing_in_batches(model, X[:30], 7) == []


@pytest.mark.fault(number=13)
@each_subject
def test_across_blocks_of_rows_and_threads(subject):
    X, y = subject.problem(n_rows=20_000)
    model = subject.make().fit(X[:500], y[:500])
    method = model.transform if subject.selects else model.predict
    whole = method(X)
    assert np.concatenate([method(X[start : start + 3001]) for start in range(0, len(X), 3001)]).tobytes() == (
        whole.tobytes()
    )
    model.set_params(n_jobs=3)
    assert method(np.tile(X, (8, 1)))[:20_000].tobytes() == whole.tobytes()
    if hasattr(model, "decision_function"):
        whole = model.decision_function(X)
        parts = [model.decision_function(X[start : start + 3001]) for start in range(0, len(X), 3001)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.fault(number=13)
@each(those(ignores_weight_scale=True))
def test_borrowed_learners(subject):
    X, y = subject.problem(n_rows=60)
    model = subject.make(estimator=DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert differing_in_batches(model, X[:20], 1) == []


@pytest.mark.fault(number=13)
@each(those(takes_categories=True))
def test_frames_with_categories(subject):
    X, y = subject.problem(n_rows=60)
    frame = make_frame("pandas", {"a": X[:, 0]}, {"b": np.where(X[:, 1] > 0, "up", "down")})
    model = subject.make().fit(frame, y)
    assert differing_in_batches(model, frame[:8], 1) == []


@pytest.mark.fault(number=13)
@each(those(is_classifier=True))
def test_probabilities_of_many_classes(subject):
    """NumPy adds up more than eight numbers of one row in another order than those of several rows."""
    X, y = subject.problem(n_rows=300, n_classes=20)
    model = subject.make().fit(X, y)
    together = model.predict_proba(X[:40])
    alone = [model.predict_proba(X[i : i + 1]) for i in range(40)]
    assert np.concatenate(alone).tobytes() == np.ascontiguousarray(together).tobytes()
