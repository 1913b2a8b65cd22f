"""How much more frequent a training row is among the deployment rows: importance weights."""

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
MAX_PRODUCT_COLUMNS = 20  # with more, products of two columns would be too many
MIN_CHANCE = 1e-6
MAX_STANDARD_DEVIATIONS = 5.0  # values further out count as this far: their squares would decide everything


def importance_weights(
    table: AuditTable,
    here: Any,
    there: Any,
    units: np.ndarray | None = None,
    units_there: np.ndarray | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Weights of the rows of ``here`` that make them look like those of ``there``, 1 on average.

    They are odds of two classifiers, boosted trees and a logistic regression with squares and products, each of which
    has not seen the row, combined and calibrated by a third, on rows that it has not seen either.
    """
    is_there = np.arange(len(here) + len(there)) >= len(here)
    folds = _folds((len(here), units), (len(there), units_there), seed)
    ranks, is_category = _ranks(here, there)
    inputs = [ranks, _squares_and_products(table, here, there)]
    scores = np.empty((len(folds), 2))
    with warnings.catch_warnings(), limited_threads(inputs[1].size, n_jobs):
        warnings.simplefilter("ignore")
        for k in np.unique(folds):
            train = folds != k
            trees = new_classifier(is_category, int(train.sum()), seed, balanced=False)
            models = [trees, LogisticRegression(max_iter=1000)]
            for j, (model, features) in enumerate(zip(models, inputs, strict=True)):
                model.fit(features[train], is_there[train])
                chance = np.clip(model.predict_proba(features[~train])[:, 1], MIN_CHANCE, 1 - MIN_CHANCE)
                scores[~train, j] = logit(chance)
        log_odds = _calibrated(scores, is_there, folds)[: len(here)]
    odds = np.exp(log_odds - log_odds.max())
    return np.asarray(odds / odds.mean())


def effective_rows(weights: np.ndarray) -> float:
    """As many rows of equal weight would tell as much."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _folds(here: tuple[int, np.ndarray | None], there: tuple[int, np.ndarray | None], seed: int) -> np.ndarray:
    """A fold for every row of both tables, given by their numbers of rows and units; units are kept together."""
    generator = np.random.default_rng(seed)
    parts = []
    for n_rows, units in (here, there):
        codes = np.arange(n_rows) if units is None else np.unique(units, return_inverse=True)[1]
        parts.append(generator.permutation(np.arange(codes.max() + 1) % N_FOLDS)[codes])
    return np.concatenate(parts)


def _ranks(here: Any, there: Any) -> tuple[np.ndarray, np.ndarray]:
    """What the two-sample test's classifier sees, and which of it are categories."""
    rows = [np.arange(len(here)), np.arange(len(there))]
    _, features, is_category = classifier_features(ComparedTables.read(here, there, "from_dtype"), rows)
    return (features, is_category) if features.size else (np.zeros((len(here) + len(there), 1)), np.array([False]))


def _squares_and_products(table: AuditTable, here: Any, there: Any) -> np.ndarray:
    """Columns, filled up and standardised, with their squares and (of not too many) products."""
    import pandas as pd

    as_objects = dict.fromkeys(table.categories, object)
    both = pd.concat([here.astype(as_objects), there.astype(as_objects)], ignore_index=True)
    numbers = [name for name in here.columns if name not in table.categories]
    linear = np.asarray(linear_input_of(numbers, table.categories).fit_transform(both), dtype=np.float64)
    linear = np.clip(linear, -MAX_STANDARD_DEVIATIONS, MAX_STANDARD_DEVIATIONS)
    if linear.shape[1] <= MAX_PRODUCT_COLUMNS:
        wide = PolynomialFeatures(2, include_bias=False).fit_transform(linear)
    else:
        wide = np.hstack([linear, linear[:, : len(numbers)] ** 2])
    return np.asarray(StandardScaler().fit_transform(wide))


def _calibrated(scores: np.ndarray, is_there: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Log-odds from both classifiers' log-odds, for each fold by the rows of the others."""
    found = np.empty(len(scores))
    for k in np.unique(folds):
        model = LogisticRegression(C=10.0, max_iter=1000).fit(scores[folds != k], is_there[folds != k])
        found[folds == k] = model.decision_function(scores[folds == k])
    return found
