"""What V-matrix boosters share: parameters, checks, the matrix, training and raw predictions."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._estimator import CategoricalParameter, RenamedAttributes, TableEstimator
from surefoot._exceptions import CoverageWarning, DataError, warn_caller
from surefoot._fitted_state import new_fit, reads_one_fit
from surefoot._parallel import RowThreads, threads_for
from surefoot._parameters import check_boolean_or, check_choice, check_integer, check_number
from surefoot._progress import Progress
from surefoot._random import random_permutation, seed_from, stream_key
from surefoot.data import Columns
from surefoot.data.binner import MAX_BINS, Binner
from surefoot.data.problem import NumberProblem, Problem
from surefoot.shift.builders import KINDS, ORIENTATIONS, features_of, make_gram, read_target, rows_as_target
from surefoot.shift.gram import Gram
from surefoot.shift.leafwise_grower import LeafRules
from surefoot.shift.training import Boosted, BoostingConfig, BoostingTable, HoldOut, boost
from surefoot.shift.v_matrix import given_gram

TARGET_ROWS, HOLD_OUT = 1_000_301, 1_000_303  # labels of streams
PREDICT_BLOCK = 4096
DEPRECATED = "deprecated"  # the value of a parameter that has another name now


class VMatrixBooster(RenamedAttributes, CategoricalParameter, TableEstimator):
    """Parameters, and everything from a table to boosted trees; a subclass knows its kind of target."""

    _boosted: list[Boosted]
    _renamed_attributes: ClassVar[dict[str, str]] = {"n_trees_": "n_iter_"}

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        max_leaf_nodes: int = 16,
        learning_rate: float = 0.1,
        l2_regularization: float = 1.0,
        min_gain: float = 0.0,
        min_samples_leaf: int = 5,
        kind: str = "mean",
        orientation: str = "lower",
        blend: float = 0.5,
        max_target_rows: int = 1000,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        max_target: Any = DEPRECATED,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.learning_rate = learning_rate
        self.l2_regularization = l2_regularization
        self.min_gain = min_gain
        self.min_samples_leaf = min_samples_leaf
        self.kind = kind
        self.orientation = orientation
        self.blend = blend
        self.max_target_rows = max_target_rows
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_target = max_target

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_boosted")

    def _check_parameters(self) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        check_integer("max_leaf_nodes", self.max_leaf_nodes, 2, 256)
        check_number("learning_rate", self.learning_rate, 0, 1, include_boundaries="right")
        check_number("l2_regularization", self.l2_regularization, 0, 1e12, include_boundaries="both")
        check_number("min_gain", self.min_gain, 0, np.inf, include_boundaries="left")
        check_integer("min_samples_leaf", self.min_samples_leaf, 1)
        check_choice("kind", self.kind, KINDS)
        check_choice("orientation", self.orientation, ORIENTATIONS)
        check_number("blend", self.blend, 0, 1, include_boundaries="both")
        check_integer("max_target_rows", self.max_target_rows, 2)
        if self._uses_max_target:
            check_integer("max_target", self.max_target, 2)
        check_integer("max_bins", self.max_bins, 2, MAX_BINS)
        check_number("validation_fraction", self.validation_fraction, 0, 1, include_boundaries="neither")
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        check_boolean_or("early_stopping", self.early_stopping, "auto")
        self._check_categorical_features()

    @property
    def _uses_max_target(self) -> bool:
        return not (isinstance(self.max_target, str) and self.max_target == DEPRECATED)

    @property
    def _max_target_rows(self) -> int:
        return int(self.max_target if self._uses_max_target else self.max_target_rows)

    @property
    def n_trees_(self) -> int:
        """Number of boosting rounds kept; this is the earlier name of ``n_iter_``."""
        return int(self._renamed("n_trees_"))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_target: Any = None, V: Any = None) -> Self:
        """Fit on rows X with their y, for use on rows like ``X_target``.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            The training data.
        y : array of shape (n_rows,)
            Their targets.
        sample_weight : array of shape (n_rows,), default=None
            A row of weight 2 counts as two rows (as one row for ``min_samples_leaf``).
        X_target : array, pandas or polars frame of shape (n_target, n_columns), default=None
            Deployment data, with the columns of X; their y is not needed. Columns of two frames are matched by name.
            None: the training data.
        V : VMatrix or array of shape (n_rows, n_rows), default=None
            Your own matrix, instead of ``X_target``. It must not have negative eigenvalues; if it is not symmetric,
            its symmetric part counts.

        Returns
        -------
        self : object
            The fitted model.
        """
        with new_fit(self) as fitted:
            fitted._check_parameters()
            if self._uses_max_target:
                warn_caller("max_target is now max_target_rows: use that name.", FutureWarning)
            if X_target is not None and V is not None:
                raise DataError("X_target and V exclude each other: pass one of them.")
            fitted._fit(X, y, sample_weight, X_target, V)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_target: Any, V: Any) -> Self:
        raise NotImplementedError

    def _train(
        self,
        problem: NumberProblem | Problem,
        outputs: Sequence[np.ndarray],
        strata: np.ndarray | None,
        X: Any,
        X_target: Any,
        V: Any,
    ) -> None:
        """Boost on a checked problem: one sequence of trees for each of the ``outputs``."""
        columns, weights = problem.columns, problem.weights
        seed = seed_from(self.random_state)
        self._schema = columns.schema
        gram = self._make_gram(columns, X, X_target, V, weights, seed)
        hold_out = HoldOut(float(self.validation_fraction), stream_key(seed, HOLD_OUT), strata)
        with RowThreads(threads_for(self.n_jobs, columns.n_rows * columns.n_columns)) as threads:
            self._binner = Binner.from_columns(columns, int(self.max_bins), weights, threads)
            table = BoostingTable(
                codes=self._binner.codes(columns, threads),
                missing=self._binner.missing,
                is_categorical=np.array([edge is None for edge in self._binner.edges], dtype=np.bool_),
                weights=weights,
                gram=gram,
                blend=float(self.blend),
            )
            self._boosted = boost(
                table,
                outputs,
                self._config(),
                hold_out if self.early_stopping else None,
                threads,
                self.n_jobs,
                Progress(type(self).__name__, len(outputs), self.verbose, "held-out loss"),
            )
        self.n_iter_ = max(boosted.forest.n_trees for boosted in self._boosted)

    def _config(self) -> BoostingConfig:
        rules = LeafRules(
            max_leaves=int(self.max_leaf_nodes),
            l2=float(self.l2_regularization),
            min_gain=float(self.min_gain),
            min_rows=int(self.min_samples_leaf),
        )
        return BoostingConfig(
            n_estimators=int(self.n_estimators),
            learning_rate=float(self.learning_rate),
            rules=rules,
            patience=int(self.n_iter_no_change),
        )

    def _make_gram(
        self, columns: Columns, X: Any, X_target: Any, V: Any, weights: np.ndarray | None, seed: int
    ) -> Gram | None:
        """Make the matrix of all rows; None if it has no part in the loss."""
        self.coverage_ = 1.0  # squared loss depends on every row
        if V is not None:
            gram = given_gram(V, columns.n_rows)
        else:
            target = self._target(columns, X, X_target, weights, seed)
            if self.blend == 0:
                return None
            gram = make_gram(features_of(columns, target), self.kind, self.orientation).for_boosting("kind")
        if self.blend > 0:
            dominated = gram.diagonal() > 0
            self.coverage_ = float(np.mean(dominated if weights is None else dominated[weights > 0]))
            _check_coverage(self.coverage_, V is not None, self._remedies())
        return gram

    def _target(self, columns: Columns, X: Any, X_target: Any, weights: np.ndarray | None, seed: int) -> Columns:
        """Read the target, and draw ``max_target_rows`` of its rows if it has more."""
        max_rows = self._max_target_rows
        if X_target is None:
            target = columns if weights is None else columns.take(rows_as_target(weights, max_rows))
        else:
            target = read_target(self, X, X_target, columns)
        if target.n_rows <= max_rows:
            return target
        return target.take(np.sort(random_permutation(stream_key(seed, TARGET_ROWS), target.n_rows)[:max_rows]))

    def _remedies(self) -> str:
        """Name parameters that are not set yet and would increase the coverage."""
        tips = ["kind='mean'"] if self.kind != "mean" else []
        tips += ["orientation='both'"] if self.orientation != "both" else []
        return f", or try {' or '.join(tips)}" if tips else ""

    def _raw(self, X: Any) -> np.ndarray:
        """Return the raw predictions of each sequence of trees, (outputs, rows)."""
        columns = self._columns(X)

        def predict(start: int, stop: int) -> np.ndarray:
            codes = self._binner.codes_of(columns.block(start, stop))
            raw = np.empty((len(self._boosted), stop - start))
            for k, boosted in enumerate(self._boosted):
                raw[k] = boosted.start
                boosted.forest.add(codes, 0, boosted.forest.n_trees, raw[k : k + 1])
            return raw

        n_trees = sum(boosted.forest.n_trees for boosted in self._boosted)
        return self._predict_blocks(columns, len(self._boosted), predict, n_trees, PREDICT_BLOCK)

    @property
    @reads_one_fit
    def feature_importances_(self) -> np.ndarray:
        """Each column's fraction of the gains of all splits."""
        check_is_fitted(self)
        return np.mean([b.forest.feature_importances(self.n_features_in_) for b in self._boosted], axis=0)


def _check_coverage(coverage: float, is_given: bool, remedies: str) -> None:
    if coverage == 0 and is_given:
        raise DataError("V is zero on its diagonal, so its loss depends on no row: pass another matrix.")
    if coverage == 0:
        raise DataError(
            "No row of X is dominated by a row of X_target: the two do not overlap. See shift_report(X, X_target)"
            f"{remedies}."
        )
    if coverage < 0.5:
        what = "in the loss of V" if is_given else "dominated by a row of X_target; the V-matrix ignores the others"
        remedy = "" if is_given else f" See shift_report(X, X_target){remedies}, or use fewer columns."
        warn_caller(f"Only {coverage:.0%} of the rows of X are {what}.{remedy}", CoverageWarning)
