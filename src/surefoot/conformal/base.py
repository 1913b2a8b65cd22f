"""What both conformal estimators share: which rows calibrate, their groups, their weights, and the guarantee."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError, InfiniteIntervalWarning, ParameterError, warn_caller
from surefoot._fitted_state import new_fit
from surefoot._numbers import array_of
from surefoot._parallel import Cancellation, run_tasks
from surefoot._parameters import check_integer, check_number, is_one_of
from surefoot._random import random_permutation, seed_from, stream_key
from surefoot._row_values import has_missing_labels
from surefoot.conformal.calibration import CalibrationScores, rows_for_level
from surefoot.conformal.guarantee import guarantee_in_words, guaranteed_coverage
from surefoot.data.columns import is_frame
from surefoot.data.held_out import split_held_out
from surefoot.data.problem import check_length, require_target
from surefoot.selection.selector import open_random_states
from surefoot.selection.table import check_columns, take_rows
from surefoot.shift.density_ratio import DensityRatio, effective_rows

ROWS, MEMBER, RATIO = 9_000_011, 9_000_013, 9_000_017  # labels of streams of random numbers
PREFIT, SPLIT = "prefit", "split"
MAX_NAMED = 5
MAX_WHOLE = 2.0**63  # floats below are whole numbers of NumPy
GROUPS_HINT = "pass the group of every row, as an array or a series"


class ConformalEstimator(BaseEstimator):
    """Calibrates the predictions of a model on rows that it was not trained on."""

    model: Any
    confidence_level: float
    cv: Any
    calibration_fraction: float
    random_state: Any
    n_jobs: int | None
    models_: list[Any]
    confidence_level_: float
    n_features_in_: int
    _calibration: CalibrationScores
    _groups: dict[Any, np.ndarray] | None
    _ratio: DensityRatio | None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.model, "__sklearn_tags__") and not isinstance(self.model, type):
            own = get_tags(self.model)
            for name in ("allow_nan", "categorical", "string", "sparse"):
                setattr(tags.input_tags, name, getattr(own.input_tags, name))
            if own.classifier_tags is not None and tags.classifier_tags is not None:
                tags.classifier_tags.multi_class = own.classifier_tags.multi_class
        return tags

    def _fit_all(self, X: Any, y: Any, groups: Any, X_target: Any) -> Self:
        with new_fit(self) as fitted:
            fitted._fit(X, y, groups, X_target)
        return self

    def _fit(self, X: Any, y: Any, groups: Any, X_target: Any) -> None:
        level = self._check_parameters()
        require_target(self, y)
        X = self._check_table(X, reset=True)
        target = self._read_target(y)
        check_length(target, X.shape[0])
        labels = None if groups is None else read_groups(groups, len(target))
        if groups is not None and X_target is not None:
            message = "groups and X_target cannot be combined: weights within groups are not implemented."
            raise ParameterError(message, argument="groups")
        seed = seed_from(self.random_state)
        folds = self._folds(len(target), labels, seed)
        self._ratio = None if X_target is None else self._fit_ratio(X, X_target, seed)
        self.models_ = self._fit_models(X, target, folds, seed)
        self._calibrate(X, target, folds, labels, level)
        self.confidence_level_ = level
        self._describe()

    def _fit_ratio(self, X: Any, X_target: Any, seed: int) -> DensityRatio:
        """The weights of all rows, as more rows than those that calibrate show how both tables differ."""
        seed = int(stream_key(seed, RATIO) >> np.uint64(33))
        return DensityRatio.fit(X, X_target, seed=seed, n_jobs=self.n_jobs, balanced=True)

    def _check_parameters(self) -> float:
        for method in ("predict",) if is_one_of(self.cv, (PREFIT,)) else ("fit", "predict"):
            if isinstance(self.model, type) or not hasattr(self.model, method):
                message = f"model must be an estimator with a method {method}, got {self.model!r}."
                raise ParameterError(message, argument="model")
        if not (isinstance(self.cv, str) and self.cv in (PREFIT, SPLIT)):
            if isinstance(self.cv, str) or not isinstance(self.cv, int | np.integer):
                message = f"cv must be 'split', 'prefit' or a number of folds, got {self.cv!r}."
                raise ParameterError(message, argument="cv")
            check_integer("cv", self.cv, 2)
        check_number("calibration_fraction", self.calibration_fraction, 0.0, 1.0, include_boundaries="neither")
        return check_number("confidence_level", self.confidence_level, 0.0, 1.0, include_boundaries="neither")

    def _check_table(self, X: Any, *, reset: bool) -> Any:
        if is_frame(X) and len(X) == 0:
            raise DataError("X has 0 sample(s) (rows) while a minimum of 1 is required.")
        if is_frame(X) and X.shape[1] == 0:
            raise DataError("X has 0 feature(s) (columns) while a minimum of 1 is required.")
        return check_columns(self, X, reset=reset)

    def _folds(self, n_rows: int, labels: np.ndarray | None, seed: int) -> np.ndarray:
        """For each row, the number of the model that is not trained on it; -1 for rows that do not calibrate."""
        if self.cv == PREFIT:
            return np.zeros(n_rows, dtype=np.int64)
        key = stream_key(seed, ROWS)
        strata = (
            np.zeros(n_rows, dtype=np.int64) if labels is None else np.unique(labels, return_inverse=True)[1].ravel()
        )
        if self.cv != SPLIT:
            if n_rows < self.cv:
                message = f"cv={self.cv} needs at least as many rows, got n_samples = {n_rows}: lower cv."
                raise DataError(message, argument="cv")
            folds = np.empty(n_rows, dtype=np.int64)
            order = random_permutation(key, n_rows)
            folds[order[np.argsort(strata[order], kind="stable")]] = np.arange(n_rows) % self.cv  # even in each group
            return folds
        held_out = split_held_out(np.arange(n_rows), key, self.calibration_fraction, strata=strata).held_out
        if not len(held_out):
            raise DataError(f"n_samples = {n_rows} rows are too few to hold some out for the calibration: use cv=5.")
        folds = np.full(n_rows, -1)
        folds[held_out] = 0
        return folds

    def _fit_models(self, X: Any, target: np.ndarray, folds: np.ndarray, seed: int) -> list[Any]:
        """One model for each fold, trained on the other rows."""
        if self.cv == PREFIT:
            return [self.model]
        fit = FoldFit(estimator=self, X=X, target=target, folds=folds, seed=seed)
        return run_tasks(fit, range(folds.max() + 1), self.n_jobs)

    def _calibrate(
        self, X: Any, target: np.ndarray, folds: np.ndarray, labels: np.ndarray | None, level: float
    ) -> None:
        """Score the rows of each fold with the model that was not trained on them."""
        rows = np.flatnonzero(folds >= 0)
        scores = np.empty(len(rows))
        for k, model in enumerate(self.models_):
            inside = folds[rows] == k
            scores[inside] = self._scores(model, take_rows(X, rows[inside]), target[rows[inside]], level)
        weights = None if self._ratio is None else self._ratio.weights[rows]
        self._calibration = CalibrationScores(scores, folds[rows], weights)
        self._groups = None
        if labels is not None:
            self._groups = {name: np.flatnonzero(labels[rows] == name) for name in np.unique(labels).tolist()}

    def _describe(self) -> None:
        """Store what is guaranteed, and warn where the rows are too few for it."""
        level = self.confidence_level_
        self.n_calibration_ = len(self._calibration.scores)
        weights = self._calibration.weights
        self.effective_calibration_ = self.n_calibration_ if weights is None else effective_rows(weights)
        parts = {None: self._calibration}
        if self._groups is not None:
            parts = {name: self._calibration[rows] for name, rows in self._groups.items()}
        finite = [len(part.scores) for part in parts.values() if part.supports(level)]  # the others are all covered
        coverage = guaranteed_coverage(level, min(finite), len(self.models_)) if finite else level
        self.guaranteed_coverage_ = None if self._ratio is not None and len(self.models_) > 1 else coverage
        self.guarantee_ = guarantee_in_words(
            level,
            self.guaranteed_coverage_,
            of_labels=hasattr(self, "predict_set"),
            by_group=self._groups is not None,
            is_weighted=self._ratio is not None,
        )
        self._warn_of_few_rows(parts, level)

    def _warn_of_few_rows(self, parts: dict[Any, CalibrationScores], level: float) -> None:
        few = [name for name, part in parts.items() if not part.supports(level)]
        if few:
            which = "" if self._groups is None else f" in the group{'s' if len(few) > 1 else ''} {_listed(few)}"
            result = "sets contain all labels" if hasattr(self, "predict_set") else "intervals are infinite"
            warn_caller(
                f"The calibration rows{which} are too few for confidence_level={level:g}, which takes at least "
                f"{rows_for_level(level)}: {result}. Use more rows, or a lower level.",
                InfiniteIntervalWarning,
            )

    def _parts(self, groups: Any, n_rows: int) -> list[tuple[np.ndarray, CalibrationScores]]:
        """The rows to predict by group, each with the calibration rows of that group; none for an unknown group."""
        if self._groups is None:
            if groups is not None:
                message = "groups were not passed to fit: leave them out, or fit with groups."
                raise ParameterError(message, argument="groups")
            return [(np.arange(n_rows), self._calibration)]
        if groups is None:
            message = f"groups were passed to fit: {GROUPS_HINT}."
            raise ParameterError(message, argument="groups")
        names, codes = np.unique(read_groups(groups, n_rows), return_inverse=True)
        nothing = np.empty(0, dtype=np.int64)
        return [
            (np.flatnonzero(codes == k), self._calibration[self._groups.get(name, nothing)])
            for k, name in enumerate(names.tolist())
        ]

    def _next_weights(self, X: Any, n_rows: int) -> np.ndarray:
        """The weights of the rows to predict, on the scale of those of the calibration rows."""
        return np.ones(n_rows) if self._ratio is None else self._ratio.of(X)

    def _level(self, confidence_level: float | None) -> float:
        if confidence_level is None:
            return self.confidence_level_
        return check_number("confidence_level", confidence_level, 0.0, 1.0, include_boundaries="neither")

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "models_")
        return self._check_table(X, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "models_")

    def _read_target(self, y: Any) -> np.ndarray:
        raise NotImplementedError

    def _scores(self, model: Any, X: Any, target: np.ndarray, level: float) -> np.ndarray:
        raise NotImplementedError

    def _fit_one(self, model: Any, X: Any, target: np.ndarray) -> Any:
        return model.fit(X, target)


@dataclass(frozen=True)
class FoldFit:
    """Fits the model without the rows of a fold, given the fold's number."""

    estimator: ConformalEstimator
    X: Any
    target: np.ndarray
    folds: np.ndarray
    seed: int

    def __call__(self, fold: int, cancellation: Cancellation) -> Any:
        cancellation.check()
        rows = np.flatnonzero(self.folds != fold)
        model = clone(self.estimator.model)
        states = open_random_states(model)
        keys = [stream_key(self.seed, MEMBER, fold, place) for place in range(len(states))]
        model.set_params(**{name: int(key >> np.uint64(33)) for name, key in zip(states, keys, strict=True)})
        return self.estimator._fit_one(model, take_rows(self.X, rows), self.target[rows])


def read_groups(groups: Any, n_rows: int) -> np.ndarray:
    """The group of each row as text, the same for whole numbers of any type; missing groups are refused."""
    labels = array_of("groups", groups)
    if labels.dtype.kind in "US" and not hasattr(groups, "dtype"):
        labels = np.array(list(groups), dtype=object)  # otherwise a missing value would become the text "nan"
    if labels.shape != (n_rows,):
        message = f"groups has the shape {labels.shape}, and X has {n_rows} rows: {GROUPS_HINT}."
        raise DataError(message, argument="groups")
    if has_missing_labels(labels):
        raise DataError("groups has missing values: give these rows a group of their own.", argument="groups")
    if labels.dtype.kind in "cV" or any(isinstance(label, list | dict | np.ndarray) for label in labels.ravel()[:1]):
        message = f"groups must be text, whole numbers or other names of groups, got {labels.dtype}."
        raise DataError(message, argument="groups")
    if labels.dtype.kind in "uif" and (labels == np.floor(labels)).all() and (np.abs(labels) < MAX_WHOLE).all():
        labels = labels.astype(np.int64)
    return labels.astype(str)


def _listed(names: list[Any]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(map(repr, names[:MAX_NAMED]))}{more}"
