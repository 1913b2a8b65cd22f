"""Importance weights: the density ratio of the deployment data and the training data at each training row."""

import warnings
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.candidate_models import linear_input_of
from surefoot.shift.shift_report_tables import ComparedTables
from surefoot.shift.two_sample_test import classifier_features, limited_threads, new_classifier

N_FOLDS = 5
MAX_ITER, LEARNING = 100, 5.0  # of the trees; their learning rate is the second number divided by the first
MAX_PRODUCT_COLUMNS = 20  # with more columns there would be too many products of two columns
MIN_PROBABILITY = 1e-6
MAX_STANDARD_DEVIATIONS = 5.0  # values further out are clipped: their squares would dominate the regression


def importance_weights(
    table: AuditTable,
    training: Any,
    deployment: Any,
    training_units: np.ndarray | None = None,
    deployment_units: np.ndarray | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Weights of the rows of ``training``, with a mean of 1, that make them look like those of ``deployment``.

    They are the odds of two classifiers, boosted trees and a logistic regression with squares and products. Both are
    fitted on other rows, and combined and calibrated by a third classifier that is fitted on other rows as well.
    """
    scores, folds = cross_fitted_scores(table, training, deployment, training_units, deployment_units, seed, n_jobs)
    return weights_of(scores, folds, len(training), n_jobs)


def cross_fitted_scores(
    table: AuditTable,
    training: Any,
    deployment: Any,
    training_units: np.ndarray | None,
    deployment_units: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
    n_folds: int = N_FOLDS,
    max_iter: int = MAX_ITER,
) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds that a row is of the deployment data, by trees and by a logistic regression, and the fold of each row.

    The rows of ``training`` come first. Each is scored by classifiers of the other folds.
    """
    is_deployment = np.arange(len(training) + len(deployment)) >= len(training)
    folds = _folds((len(training), training_units), (len(deployment), deployment_units), n_folds, seed)
    ranks, is_category = _ranks(training, deployment)
    inputs = [ranks, _squares_and_products(table, training, deployment)]
    scores = np.empty((len(folds), 2))
    with warnings.catch_warnings(), limited_threads(inputs[1].size, n_jobs):
        warnings.simplefilter("ignore")
        for k in np.unique(folds):
            train = folds != k
            trees = new_classifier(is_category, int(train.sum()), seed, balanced=False)
            trees.set_params(max_iter=max_iter, learning_rate=LEARNING / max_iter)
            models = [trees, LogisticRegression(max_iter=1000)]
            for j, (model, features) in enumerate(zip(models, inputs, strict=True)):
                model.fit(features[train], is_deployment[train])
                probability = model.predict_proba(features[~train])[:, 1]
                scores[~train, j] = logit(np.clip(probability, MIN_PROBABILITY, 1 - MIN_PROBABILITY))
    return scores, folds


def weights_of(scores: np.ndarray, folds: np.ndarray, n_training: int, n_jobs: int | None = None) -> np.ndarray:
    """The weights of the training rows, from the cross-fitted scores of both tables."""
    is_deployment = np.arange(len(scores)) >= n_training
    with warnings.catch_warnings(), limited_threads(scores.size, n_jobs):
        warnings.simplefilter("ignore")
        log_odds = _calibrated(scores, is_deployment, folds)[:n_training]
    odds = np.exp(log_odds - log_odds.max())
    return np.asarray(odds / odds.mean())


def effective_rows(weights: np.ndarray) -> float:
    """The number of rows of equal weight that carry as much information."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _folds(
    training: tuple[int, np.ndarray | None], deployment: tuple[int, np.ndarray | None], n_folds: int, seed: int
) -> np.ndarray:
    """A fold for every row of both tables, given by their numbers of rows and units; units are kept together."""
    generator = np.random.default_rng(seed)
    parts = []
    for n_rows, units in (training, deployment):
        codes = np.arange(n_rows) if units is None else np.unique(units, return_inverse=True)[1]
        parts.append(generator.permutation(np.arange(codes.max() + 1) % n_folds)[codes])
    return np.concatenate(parts)


def _ranks(training: Any, deployment: Any) -> tuple[np.ndarray, np.ndarray]:
    """The features of the two-sample test's classifier, and which of them are categories."""
    rows = [np.arange(len(training)), np.arange(len(deployment))]
    tables = ComparedTables.read(training, deployment, "from_dtype")
    _, features, is_category = classifier_features(tables, rows)
    if not features.size:
        return np.zeros((len(training) + len(deployment), 1)), np.array([False])
    return features, is_category


def _squares_and_products(table: AuditTable, training: Any, deployment: Any) -> np.ndarray:
    """Columns, imputed and standardised, with their squares and, unless there are too many, products."""
    import pandas as pd

    as_objects = dict.fromkeys(table.categories, object)
    both = pd.concat([training.astype(as_objects), deployment.astype(as_objects)], ignore_index=True)
    numbers = [name for name in training.columns if name not in table.categories]
    linear = np.asarray(linear_input_of(numbers, table.categories).fit_transform(both), dtype=np.float64)
    linear = np.clip(linear, -MAX_STANDARD_DEVIATIONS, MAX_STANDARD_DEVIATIONS)
    if linear.shape[1] <= MAX_PRODUCT_COLUMNS:
        wide = PolynomialFeatures(2, include_bias=False).fit_transform(linear)
    else:
        wide = np.hstack([linear, linear[:, : len(numbers)] ** 2])
    return np.asarray(StandardScaler().fit_transform(wide))


def _calibrated(scores: np.ndarray, is_deployment: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Log-odds from those of both classifiers, for each fold by a model of the other folds."""
    log_odds = np.empty(len(scores))
    for k in np.unique(folds):
        train, test = folds != k, folds == k
        model = LogisticRegression(C=10.0, max_iter=1000).fit(scores[train], is_deployment[train])
        log_odds[test] = model.decision_function(scores[test])
    return log_odds
