"""The same seed gives the same model: whatever the threads, the process, the batch, or how it was copied."""

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    ENSEMBLES,
    GRADIENT_BOOSTERS,
    answers,
    assert_identical_boosters,
    assert_same_answers,
    bits,
    model_arrays,
    problem,
    small,
)
from reference.models import make_frame
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from surefoot._parallel import THREADED_CELLS

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
JOBS = (2, 3)
VARIANTS = {
    "as it comes": {},
    "depthwise": {"grow_policy": "depthwise"},
    "subsample": {"subsample": 0.5},
    "no early stopping": {"early_stopping": False},
}


def wide_table(estimator):
    """Large enough for threads of its own."""
    X, y = problem(estimator, n_rows=26_000, n_columns=40)
    assert X.size > THREADED_CELLS
    X[::7, 3] = np.nan
    X[:, 5] = np.round(X[:, 5])
    return X, y


@each_estimator
@pytest.mark.parametrize("variant", VARIANTS)
def test_jobs_change_nothing_on_small_tables(estimator, variant):
    X, y = problem(estimator, n_rows=150)
    one = small(estimator, n_members=3, n_jobs=1, **VARIANTS[variant]) if estimator in ENSEMBLES else None
    one = (one or small(estimator, n_jobs=1, **VARIANTS[variant])).fit(X, y)
    for n_jobs in JOBS:
        model = clone(one).set_params(n_jobs=n_jobs).fit(X, y)
        assert_identical_boosters(one, model)
        assert_same_answers(one, model, X)


@each_estimator
def test_jobs_change_nothing_on_large_tables(estimator):
    X, y = wide_table(estimator)
    settings = {"n_estimators": 2, "max_depth": 4}
    one = small(estimator, n_jobs=1, **settings).fit(X, y)
    for n_jobs in JOBS:
        model = small(estimator, n_jobs=n_jobs, **settings).fit(X, y)
        assert_identical_boosters(one, model)
        assert model.predict(X).tobytes() == one.predict(X).tobytes()


@pytest.mark.parametrize("distribution", ["normal", "lognormal", "laplace", "student_t", "poisson", "gamma"])
def test_the_threads_of_blas_change_nothing(distribution):
    """From 10,000 rows on it adds up in as many parts as it has threads; the machine must not show in a model."""
    X, y = problem(GradientBoostingRegressor, n_rows=25_000, n_columns=2)
    y = np.round(np.exp(y / 4)) + 1.0
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            models.append(small(GradientBoostingRegressor, distribution=distribution, n_estimators=3).fit(X, y))
    assert_identical_boosters(*models)


def test_jobs_change_nothing_with_weights_categories_and_several_classes():
    X, y = wide_table(GradientBoostingClassifier)
    numbers = {f"x{j}": X[:, j] for j in range(1, 40)}
    frame = make_frame("pandas", numbers, {"c": np.round(X[:, 0]).astype(int).astype(str)})
    weights = np.random.default_rng(0).random(len(X))
    several = y + 2 * (X[:, 2] > 0)
    for target in (y, several):
        one, other = (
            small(GradientBoostingClassifier, n_estimators=2, n_jobs=n_jobs).fit(frame, target, sample_weight=weights)
            for n_jobs in (1, 3)
        )
        assert_identical_boosters(one, other)


@each_estimator
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_seed_twice(estimator, variant):
    X, y = problem(estimator)
    one, other = (small(estimator, random_state=7, **VARIANTS[variant]).fit(X, y) for _ in range(2))
    assert_identical_boosters(one, other)


@each_estimator
def test_a_generator_in_the_same_state(estimator):
    X, y = problem(estimator)
    one, other = (small(estimator, random_state=np.random.RandomState(7)).fit(X, y) for _ in range(2))
    assert_identical_boosters(one, other)


@each_estimator
def test_the_global_generator_is_left_alone(estimator):
    X, y = problem(estimator)
    np.random.seed(3)
    before = np.random.get_state()[1].tobytes()
    small(estimator, random_state=7).fit(X, y)
    assert np.random.get_state()[1].tobytes() == before


@each_estimator
@pytest.mark.parametrize(
    "settings", [{"subsample": 0.5}, {"early_stopping": True, "n_estimators": 200, "n_iter_no_change": 3}]
)
def test_another_seed_is_another_model_where_chance_plays_a_part(estimator, settings):
    X, y = problem(estimator)
    one, other = (small(estimator, random_state=seed, **settings).fit(X, y) for seed in (7, 8))
    assert any(answers(one, X)[name].tobytes() != answers(other, X)[name].tobytes() for name in answers(one, X))


@pytest.mark.parametrize("estimator", [e for e in GRADIENT_BOOSTERS if e not in ENSEMBLES])
def test_nothing_is_left_to_chance_without_a_reason(estimator):
    X, y = problem(estimator)
    one, other = (small(estimator, random_state=seed, early_stopping=False).fit(X, y) for seed in (7, None))
    assert_same_answers(one, other, X)


FIT_AND_HASH = """
from test_gradient_determinism import digests
print(digests())
"""


def digests():
    """A digest of what each estimator learns from a table with names, holes and categories."""
    out = []
    for estimator in GRADIENT_BOOSTERS:
        X, y = problem(estimator, n_classes=3, n_rows=120)
        X[::7, 0] = np.nan
        labels = np.array(["ox", "eel", "ant", "cow"])[np.digitize(X[:, 3], [-1, 0, 1])]
        frame = make_frame("pandas", {"a": X[:, 0], "b": X[:, 1]}, {"c": labels})
        target = np.array(["x", "y", "z"])[y] if estimator in CLASSIFIERS else y
        model = small(estimator, subsample=0.7).fit(frame, target)
        arrays = model_arrays(model) | answers(model, frame)
        parts = b"".join(name.encode() + bits(array) for name, array in arrays.items())
        out.append(hashlib.sha256(parts).hexdigest())
    return out


@pytest.mark.parametrize("hash_seed", ["0", "12345"])
def test_other_processes_learn_the_same(hash_seed):
    here = Path(__file__).parent
    paths = [str(here.parent), str(here), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(paths)}
    run = subprocess.run(
        [sys.executable, "-c", FIT_AND_HASH], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == str(digests())


@each_estimator
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_asked_one_by_one_get_the_answers_they_get_together(estimator, n_classes):
    X, y = problem(estimator, n_rows=90, n_classes=n_classes)
    X[::5, 0] = np.nan
    model = small(estimator).fit(X, y)
    together = answers(model, X[:30])
    for size in (1, 7):
        batches = [answers(model, X[start : min(start + size, 30)]) for start in range(0, 30, size)]
        for name, array in together.items():
            assert np.concatenate([batch[name] for batch in batches]).tobytes() == array.tobytes(), name


@each_estimator
def test_rows_across_blocks_and_threads_get_the_same_answers(estimator):
    X, y = problem(estimator, n_rows=20_000)
    model = small(estimator).fit(X[:500], y[:500])
    whole = model.predict(X)
    assert np.concatenate([model.predict(X[start : start + 3001]) for start in range(0, len(X), 3001)]).tobytes() == (
        whole.tobytes()
    )
    assert model.set_params(n_jobs=3).predict(np.tile(X, (8, 1)))[:20_000].tobytes() == whole.tobytes()


@each_estimator
def test_categories_asked_one_by_one(estimator):
    X, y = problem(estimator)
    frame = make_frame("pandas", {"a": X[:, 0]}, {"b": np.where(X[:, 1] > 0, "up", "down")})
    model = small(estimator).fit(frame, y)
    alone = np.concatenate([model.predict(frame.iloc[i : i + 1]) for i in range(20)])
    assert alone.tobytes() == model.predict(frame)[:20].tobytes()


@each_estimator
def test_pickles_answer_alike(estimator):
    X, y = problem(estimator)
    model = small(estimator).fit(X, y)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        again = pickle.loads(pickle.dumps(model, protocol=protocol))
        assert_identical_boosters(model, again)
        assert_same_answers(model, again, X)


@each_estimator
def test_files_mapped_into_memory_answer_alike(estimator, tmp_path):
    X, y = problem(estimator)
    model = small(estimator).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same_answers(model, joblib.load(tmp_path / "model.joblib", mmap_mode="r"), X)


@each_estimator
def test_deep_copies_share_nothing(estimator):
    X, y = problem(estimator)
    model = small(estimator).fit(X, y)
    before = answers(model, X)
    copy.deepcopy(model).fit(-X, y)
    assert all(before[name].tobytes() == array.tobytes() for name, array in answers(model, X).items())


@each_estimator
def test_clones_are_unfitted_and_fit_to_the_same_model(estimator):
    X, y = problem(estimator)
    model = small(estimator, learning_rate=0.3).fit(X, y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        twin.predict(X)
    assert_identical_boosters(model, twin.fit(X, y))


@pytest.mark.parametrize("estimator", [BoostingEnsembleRegressor, BoostingEnsembleClassifier])
def test_members_come_out_alike_from_other_backends(estimator):
    X, y = problem(estimator)
    threads = small(estimator, n_jobs=2).fit(X, y)
    with joblib.parallel_config("sequential"):
        assert_identical_boosters(small(estimator, n_jobs=2).fit(X, y), threads)
