"""The same seed gives the same model for any number of threads."""

import numpy as np
import pytest
from reference.gradient_boosters import (
    GRADIENT_BOOSTERS,
    answers,
    assert_identical_boosters,
    problem,
    small,
)
from reference.models import make_frame
from threadpoolctl import threadpool_limits

from surefoot import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from surefoot._parallel import THREADED_CELLS

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)


def wide_table(estimator):
    """A table large enough for several threads."""
    X, y = problem(estimator, n_rows=26_000, n_columns=40)
    assert X.size > THREADED_CELLS
    X[::7, 3] = np.nan
    X[:, 5] = np.round(X[:, 5])
    return X, y


@pytest.mark.parametrize("distribution", ["normal", "lognormal", "laplace", "student_t", "poisson", "gamma"])
def test_the_threads_of_blas_change_nothing(distribution):
    """From 10,000 rows on, BLAS sums in as many parts as it has threads; the model must not depend on the machine."""
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
@pytest.mark.parametrize(
    "settings", [{"subsample": 0.5}, {"early_stopping": True, "n_estimators": 200, "n_iter_no_change": 3}]
)
def test_another_seed_gives_another_model_if_training_is_random(estimator, settings):
    X, y = problem(estimator)
    one, other = (small(estimator, random_state=seed, **settings).fit(X, y) for seed in (7, 8))
    assert any(answers(one, X)[name].tobytes() != answers(other, X)[name].tobytes() for name in answers(one, X))
