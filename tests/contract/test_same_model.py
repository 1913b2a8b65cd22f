"""The same seed gives the same model to the last bit: whatever the threads, the process or the time."""

import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from reference.models import make_frame
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from contract.registry import (
    SUBJECTS,
    VARIANTS,
    answers,
    assert_same_answers,
    assert_same_model,
    bits,
    differing_answers,
    each,
    each_subject,
    each_variant,
    each_with_classes,
    learned,
    those,
)
from surefoot._parallel import THREADED_CELLS

JOBS = (2, 3)
LARGE = {"n_estimators": 2}
FOREIGN = those(ignores_weight_scale=True)  # the voters take weak learners of other libraries


@pytest.mark.fault(number=11)
@each_with_classes(VARIANTS)
def test_jobs_change_nothing_on_small_tables(subject, n_classes):
    X, y = subject.problem(n_rows=150, n_classes=n_classes)
    members = {"n_members": 3} if "n_members" in subject.settings else {}
    one = subject.make(n_jobs=1, **members).fit(X, y)
    for n_jobs in JOBS:
        model = clone(one).set_params(n_jobs=n_jobs).fit(X, y)
        assert_same_model(one, model)
        assert_same_answers(one, model, X)


@pytest.mark.fault(number=11)
@each([subject for subject in SUBJECTS if "n_estimators" in subject.settings])
def test_jobs_change_nothing_on_tables_with_threads_of_their_own(subject):
    X, y = subject.problem(n_rows=26_000, n_columns=40)
    assert X.size > THREADED_CELLS
    X[::7, 3] = np.nan
    X[:, 5] = np.round(X[:, 5])
    settings = {"max_target_rows": 40} if "max_target_rows" in subject.make().get_params() else {}
    settings |= {"langevin": False} if "langevin" in subject.settings else {}
    settings |= {"early_stopping": False} if subject.name == "VMatrixClassifier" else {}  # it has a trial per class
    one = subject.make(n_jobs=1, **LARGE, **settings).fit(X, y)
    said = one.predict(X).tobytes()
    model = subject.make(n_jobs=3, **LARGE, **settings).fit(X, y)
    assert_same_model(one, model)
    assert model.predict(X).tobytes() == said


@pytest.mark.fault(number=11)
@each_subject
def test_the_threads_of_blas_change_nothing(subject):
    """From 10,000 rows on it adds up in as many parts as it has threads; the machine must not show in a model."""
    X, y = subject.problem(n_rows=12_000, n_columns=2)
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            models.append(subject.make().fit(X, y))
    assert_same_model(*models)


@each_variant
def test_the_same_seed_twice(subject):
    X, y = subject.problem(n_rows=200)
    one, other = (subject.make(random_state=7).fit(X, y) for _ in range(2))
    assert_same_model(one, other)
    assert_same_answers(one, other, X)


@each_subject
def test_a_generator_in_the_same_state(subject):
    X, y = subject.problem()
    one, other = (subject.make(random_state=np.random.RandomState(7)).fit(X, y) for _ in range(2))
    assert_same_model(one, other)


@each_subject
def test_a_second_fit_starts_anew(subject):
    X, y = subject.problem()
    once = subject.make().fit(X, y)
    twice = subject.make().fit(X[:60, :3], y[:60]).fit(X, y)
    assert_same_model(once, twice)


@each_subject
def test_the_global_generator_is_left_alone(subject):
    X, y = subject.problem()
    np.random.seed(3)
    before = np.random.get_state()[1].tobytes()
    answers(subject.make(random_state=7).fit(X, y), X)
    assert np.random.get_state()[1].tobytes() == before


@each([subject for subject in SUBJECTS if subject.chance is not None])
def test_another_seed_is_another_model_where_chance_plays_a_part(subject):
    X, y = subject.problem(n_rows=200)
    one, other = (subject.make(random_state=seed, **subject.chance).fit(X, y) for seed in (7, 8))
    different = differing_answers(one, other, X)
    if subject.selects:  # the same columns may be selected all the same
        different = dict(one.weights_) != dict(other.weights_)
    assert different


@each([subject for subject in SUBJECTS if subject.name in ("AdaBoost", "GradientRegressor", "GradientClassifier")])
def test_nothing_is_left_to_chance_without_a_reason(subject):
    X, y = subject.problem()
    settings = {"early_stopping": False} if "max_depth" in subject.settings else {}
    one, other = (subject.make(random_state=seed, **settings).fit(X, y) for seed in (7, None))
    assert_same_answers(one, other, X)


@each(FOREIGN)
def test_borrowed_learners_follow_the_seed_too(subject):
    X, y = subject.problem(n_rows=200)
    learner = DecisionTreeClassifier(max_depth=2, splitter="random")
    votes = [subject.make(estimator=learner, random_state=seed).fit(X, y).decision_function(X) for seed in (7, 7, 8)]
    np.testing.assert_array_equal(votes[0], votes[1])
    assert not np.array_equal(votes[0], votes[2])


@pytest.mark.fault(number=17)
@each([subject for subject in SUBJECTS if "n_members" in subject.settings])
def test_members_come_out_alike_from_other_backends(subject):
    X, y = subject.problem()
    threads = subject.make(n_jobs=2).fit(X, y)
    with joblib.parallel_config("sequential"):
        assert_same_model(subject.make(n_jobs=2).fit(X, y), threads)


@functools.cache
def digests():
    """A digest of what each estimator learns from a table with names, holes and categories."""
    out = []
    for subject in SUBJECTS:
        X, y = subject.problem(n_classes=3, n_rows=120)
        labels = np.array(["ox", "eel", "ant", "cow"])[np.digitize(X[:, 3], [-1, 0, 1])]
        X[::7, 0] = np.nan if subject.takes_missing else 0.0
        categories = {"c": labels} if subject.takes_categories else {}
        frame = make_frame("pandas", {"a": X[:, 0], "b": X[:, 1]}, categories)
        target = np.array(["x", "y", "z"])[y] if subject.is_classifier else y
        model = subject.make(**(subject.chance or {})).fit(frame, target)
        said = b"".join(name.encode() + bits(array) for name, array in answers(model, frame).items())
        out.append(hashlib.sha256(learned(model) + said).hexdigest())
    return out


@pytest.mark.fault(number=12)
def test_another_process_learns_the_same():
    hash_seed = "0" if os.environ.get("PYTHONHASHSEED") != "0" else "12345"  # not that of this process
    tests = str(Path(__file__).parents[1])
    paths = [tests, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(paths)}
    script = "from contract.test_same_model import digests; print(digests())"
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(digests())
