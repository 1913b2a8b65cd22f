"""Importance weights: the density ratio of the deployment data and the training data at each row."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from surefoot.data import Columns
from surefoot.data.columns import Schema, is_frame
from surefoot.shift.linear_input import linear_input_of
from surefoot.shift.shift_report_tables import ComparedTables
from surefoot.shift.two_sample_test import classifier_features, limited_threads, new_classifier

N_FOLDS = 5
MAX_ITER, LEARNING = 100, 5.0  # of the trees; their learning rate is the second number divided by the first
MAX_PRODUCT_COLUMNS = 20  # with more columns there would be too many products of two columns
MIN_PROBABILITY = 1e-6
SQUARES = (-1e145, 1e145)  # the squares of larger numbers may have an infinite sum
MAX_STANDARD_DEVIATIONS = 5.0  # values further out are clipped: their squares would dominate the regression


@dataclass(frozen=True)
class DensityRatio:
    """The ratio of the density of the deployment data to that of the training data.

    It is the odds of two classifiers, boosted trees and a logistic regression with squares and products. Both are
    fitted on other rows, and combined and calibrated by a third classifier that is fitted on other rows as well.

    Attributes
    ----------
    weights : array
        The ratio at the training rows, with a mean of 1. They make the training rows look like the deployment rows.
    scores : array of shape (n_rows, 2)
        The log-odds of both classifiers for the rows of both tables, the training rows first, each by classifiers that
        were fitted without the row's fold.
    folds : array of shape (n_rows,)
        The fold of each of these rows.
    """

    weights: np.ndarray
    scores: np.ndarray
    folds: np.ndarray
    schema: Schema  # of both tables together
    ranks: "RankFeatures"
    products: "ProductFeatures"
    models: tuple[tuple[Any, Any, Any], ...]  # for each fold: trees, a logistic regression, and what combines them
    scale: tuple[float, float]  # the largest log-odds of the training rows, and the mean of the odds relative to it
    tilt: np.ndarray  # what balancing adds to the log-odds, for each column of the linear features
    n_jobs: int | None = None

    @classmethod
    def fit(
        cls,
        training: Any,
        deployment: Any,
        training_units: np.ndarray | None = None,
        deployment_units: np.ndarray | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        *,
        balanced: bool = False,
        n_folds: int = N_FOLDS,
        max_iter: int = MAX_ITER,
    ) -> Self:
        """Learn the ratio from the rows of two tables; rows of one unit are held out together.

        Estimated ratios are less extreme than the true one. If they are balanced, the mean of each column is about the
        same in the weighted training rows and in the deployment rows.
        """
        tables = ComparedTables.read(training, deployment, "from_dtype")
        ranks = RankFeatures.of(tables)
        both = np.vstack([tables.matrix(deployment=False), tables.matrix(deployment=True)])
        products = ProductFeatures(tables.schema)
        is_deployment = np.arange(len(both)) >= tables.n_rows
        folds = _folds((tables.n_rows, training_units), (tables.n_target, deployment_units), n_folds, seed)
        inputs = [ranks.transform(both), products.fit_transform(both)]
        with warnings.catch_warnings(), limited_threads(inputs[1].size, n_jobs):
            warnings.simplefilter("ignore")
            pairs, scores = _cross_fitted(inputs, is_deployment, folds, ranks.is_category, seed, max_iter)
            combined = [
                LogisticRegression(C=10.0, max_iter=1000).fit(scores[folds != k], is_deployment[folds != k])
                for k in np.unique(folds)
            ]
        log_odds = np.empty(len(both))
        for k, model in zip(np.unique(folds), combined, strict=True):
            log_odds[folds == k] = model.decision_function(scores[folds == k])
        linear = products.linear_of(both)
        own, target = linear[: tables.n_rows], linear[tables.n_rows :]
        tilt = _balancing_tilt(log_odds[: tables.n_rows], own, target) if balanced else np.zeros(linear.shape[1])
        log_odds = log_odds[: tables.n_rows] + own @ tilt
        top = float(log_odds.max())
        odds = np.exp(log_odds - top)
        models = tuple((*pair, model) for pair, model in zip(pairs, combined, strict=True))
        scale = (top, float(odds.mean()))
        return cls(
            weights=odds / odds.mean(),
            scores=scores,
            folds=folds,
            schema=tables.schema,
            ranks=ranks,
            products=products,
            models=models,
            scale=scale,
            tilt=tilt,
            n_jobs=n_jobs,
        )

    def of(self, X: Any) -> np.ndarray:
        """Return the ratio at other rows, on the scale of ``weights``: by the mean of the folds' log-odds.

        ``X`` is a checked table with the columns of the training data, in their order.
        """
        read = Columns.from_frame if is_frame(X) else Columns.from_array
        values = _matrix(read(X, self.schema))
        inputs = [self.ranks.transform(values), self.products.transform(values)]
        log_odds = self.products.linear_of(values) @ self.tilt
        with limited_threads(inputs[1].size, self.n_jobs):
            for *pair, combined in self.models:
                scores = np.column_stack([_log_odds(*each) for each in zip(pair, inputs, strict=True)])
                log_odds += combined.decision_function(scores) / len(self.models)
        top, mean = self.scale
        return np.asarray(np.exp(log_odds - top) / mean)


def effective_rows(weights: np.ndarray) -> float:
    """The number of rows of equal weight that carry as much information."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _matrix(columns: Columns) -> np.ndarray:
    """All columns as numbers; missing and unknown values are NaN."""
    parts = []
    for j in range(columns.n_columns):
        if j in columns.schema.categories:
            codes = columns.category_codes(j).astype(np.float64)
            parts.append(np.where(codes < 0, np.nan, codes))
        else:
            parts.append(columns.column(j))
    return np.column_stack(parts)


@dataclass(frozen=True)
class RankFeatures:
    """The features of the two-sample test's classifier: values as ranks among those of both tables."""

    positions: tuple[int, ...]  # of the columns that vary
    distinct: tuple[np.ndarray, ...]
    is_category: np.ndarray

    @classmethod
    def of(cls, tables: ComparedTables) -> Self:
        """Learn the distinct values of the columns that vary."""
        rows = [np.arange(tables.n_rows), np.arange(tables.n_target)]
        positions, _, is_category = classifier_features(tables, rows)
        values = (np.concatenate([tables.pair(j).values, tables.pair(j).target]) for j in positions)
        distinct = tuple(np.unique(each[~np.isnan(each)]) for each in values)
        return cls(tuple(positions), distinct, is_category if positions else np.array([False]))

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Ranks; a number that is in neither table lies between two ranks."""
        if not self.positions:
            return np.zeros((len(values), 1))
        ranks = np.full((len(values), len(self.positions)), np.nan)
        for k, (j, distinct) in enumerate(zip(self.positions, self.distinct, strict=True)):
            known = np.flatnonzero(~np.isnan(values[:, j]))
            column = values[known, j]
            place = np.searchsorted(distinct, column)
            is_new = distinct[np.minimum(place, len(distinct) - 1)] != column
            between = np.clip(place - 0.5, 0, len(distinct) - 1)
            ranks[known, k] = np.where(is_new, between, place)
        return ranks


class ProductFeatures:
    """Columns, imputed and standardised, with their squares and, unless there are too many, products."""

    def __init__(self, schema: Schema) -> None:
        self.categories = sorted(schema.categories)
        self.numbers = [j for j in range(schema.n_columns) if j not in schema.categories]
        self.linear = linear_input_of(self.numbers, self.categories)
        self.scaler = StandardScaler()

    def fit_transform(self, values: np.ndarray) -> np.ndarray:
        """Learn how columns are imputed and standardised, and return the features."""
        self.linear.fit(np.clip(values, *SQUARES))
        return np.asarray(self.scaler.fit_transform(self._wide(values)))

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Return the features of other rows."""
        return np.asarray(self.scaler.transform(self._wide(values)))

    def linear_of(self, values: np.ndarray) -> np.ndarray:
        """Return the columns without squares and products."""
        linear = np.asarray(self.linear.transform(np.clip(values, *SQUARES)), dtype=np.float64)
        return np.clip(linear, -MAX_STANDARD_DEVIATIONS, MAX_STANDARD_DEVIATIONS)

    def _wide(self, values: np.ndarray) -> np.ndarray:
        linear = self.linear_of(values)
        if linear.shape[1] <= MAX_PRODUCT_COLUMNS:
            return np.asarray(PolynomialFeatures(2, include_bias=False).fit_transform(linear))
        return np.hstack([linear, linear[:, : len(self.numbers)] ** 2])


def _balancing_tilt(log_odds: np.ndarray, own: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Coefficients of the columns in the log-odds with which weighted means are those of the deployment rows.

    It is entropy balancing (Hainmueller 2012). A penalty as large as the variance of a difference of means keeps
    differences that are chance.
    """
    odds = np.exp(log_odds - log_odds.max())
    differences = own - target.mean(axis=0)
    penalty = 1 / effective_rows(odds) + 1 / len(target)

    def objective(tilt: np.ndarray) -> tuple[float, np.ndarray]:
        exponent = log_odds + differences @ tilt
        weights = np.exp(exponent - exponent.max())
        value = float(np.log(weights.sum()) + exponent.max() + 0.5 * penalty * tilt @ tilt)
        return value, weights @ differences / weights.sum() + penalty * tilt

    return np.asarray(minimize(objective, np.zeros(own.shape[1]), jac=True, method="L-BFGS-B").x)


def _folds(
    training: tuple[int, np.ndarray | None], deployment: tuple[int, np.ndarray | None], n_folds: int, seed: int
) -> np.ndarray:
    """A fold for every row of both tables, given by their numbers of rows and units; units are kept together."""
    generator = np.random.default_rng(seed)
    parts = []
    for n_rows, units in (training, deployment):
        codes = np.arange(n_rows) if units is None else np.unique(units, return_inverse=True)[1]
        if not codes.any():  # a single unit cannot be held out
            codes = np.arange(n_rows)
        parts.append(generator.permutation(np.arange(codes.max() + 1) % n_folds)[codes])
    return np.concatenate(parts)


def _cross_fitted(
    inputs: Sequence[np.ndarray],
    is_deployment: np.ndarray,
    folds: np.ndarray,
    is_category: np.ndarray,
    seed: int,
    max_iter: int,
) -> tuple[list[list[Any]], np.ndarray]:
    """Both classifiers for each fold, and their log-odds for all rows, by the models without the row's fold."""
    scores, pairs = np.empty((len(folds), 2)), []
    for k in np.unique(folds):
        train = folds != k
        trees = new_classifier(is_category, int(train.sum()), seed, balanced=False)
        trees.set_params(max_iter=max_iter, learning_rate=LEARNING / max_iter)
        pair = [trees, LogisticRegression(max_iter=1000)]
        for j, (model, features) in enumerate(zip(pair, inputs, strict=True)):
            model.fit(features[train], is_deployment[train])
            scores[~train, j] = _log_odds(model, features[~train])
        pairs.append(pair)
    return pairs, scores


def _log_odds(model: Any, features: np.ndarray) -> np.ndarray:
    probability = model.predict_proba(features)[:, 1]
    return np.asarray(logit(np.clip(probability, MIN_PROBABILITY, 1 - MIN_PROBABILITY)))
