"""What V-matrix boosters share: parameters, checks, the matrix, and the way to predictions."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from surefoot._estimator import CategoricalParameter, TableEstimator, restore_on_failure
from surefoot._exceptions import CoverageWarning, DataError, warn_caller
from surefoot._parallel import Cancellation, RowThreads, threads_for
from surefoot._parameters import check_boolean_or, check_choice, check_integer, check_number
from surefoot._progress import Progress
from surefoot._random import random_permutation, seed_from, stream_key
from surefoot.data import Columns
from surefoot.data.binner import MAX_BINS, Binner
from surefoot.shift.builders import features_of, joint_gram, mean_gram, shuffled_gram
from surefoot.shift.dense_gram import DenseGram
from surefoot.shift.given_matrix import given_gram
from surefoot.shift.gram import Gram
from surefoot.shift.leafwise_grower import CodedTable, LeafRules
from surefoot.shift.objective import Objective
from surefoot.shift.table_pair import read_target, stand_ins
from surefoot.shift.training import Boosted, Recipe, boost
from surefoot.shift.v_matrix import KINDS, ORIENTATIONS

TARGET_ROWS, HOLD_OUT = 1_000_301, 1_000_303  # labels of streams
MIN_TO_STOP = 10_000  # rows from which early_stopping="auto" holds some out
WRITTEN_OUT = 500  # up to so many rows, the matrix written out (2 MB) is the faster way
PREDICT_BLOCK = 4096


class VMatrixBooster(CategoricalParameter, TableEstimator):
    """Parameters, and the walk from a table to boosted trees; a subclass knows its kind of target."""

    _boosted: list[Boosted]

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
        max_target: int = 1000,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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
        self.max_target = max_target
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_boosted")

    def _check_parameters(self) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        check_integer("max_leaf_nodes", self.max_leaf_nodes, 2, 256)
        check_number("learning_rate", self.learning_rate, 0, 1, most_included=True)
        check_number("l2_regularization", self.l2_regularization, 0, 1e12, least_included=True, most_included=True)
        check_number("min_gain", self.min_gain, 0, np.inf, least_included=True, most_included=False)
        check_integer("min_samples_leaf", self.min_samples_leaf, 1)
        check_choice("kind", self.kind, KINDS)
        check_choice("orientation", self.orientation, ORIENTATIONS)
        check_number("blend", self.blend, 0, 1, least_included=True, most_included=True)
        check_integer("max_target", self.max_target, 2)
        check_integer("max_bins", self.max_bins, 2, MAX_BINS)
        check_number("validation_fraction", self.validation_fraction, 0, 1, most_included=False)
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        check_boolean_or("early_stopping", self.early_stopping, "auto")
        self._check_categorical_features()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_target: Any = None, V: Any = None) -> Self:
        """Fit on rows X with their y, for use on rows like ``X_target``.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            The training data.
        y : array of shape (n_rows,)
            Their targets.
        sample_weight : array of shape (n_rows,), default=None
            A row of weight 2 counts as two rows (as one where ``min_samples_leaf`` counts).
        X_target : table with the columns of X, default=None
            Rows of where the model will be used; their y is not needed. Columns of two frames are matched by name.
            None: the training rows stand in.
        V : VMatrix or array of shape (n_rows, n_rows), default=None
            A matrix of your own, instead of ``X_target``. Of an asymmetric one the symmetric part counts, and it must
            not have negative eigenvalues.

        Returns
        -------
        self : object
            The fitted model.
        """
        # BLAS adds up in as many parts as it has threads: the machine must not show in a model
        with restore_on_failure(self), threadpool_limits(1, "blas"):
            self._check_parameters()
            if X_target is not None and V is not None:
                raise DataError("X_target and V are two ways to say the same: pass one of them.")
            return self._fit(X, y, sample_weight, X_target, V)

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_target: Any, V: Any) -> Self:
        raise NotImplementedError

    def _train(
        self, columns: Columns, outputs: Sequence[np.ndarray], weights: np.ndarray | None, X: Any, X_target: Any, V: Any
    ) -> None:
        """Boost on checked columns: one sequence of trees for each of the ``outputs``."""
        seed = seed_from(self.random_state)
        self._schema = columns.schema
        gram = self._gram(columns, X, X_target, V, weights, seed)
        train, held_out = self._part_rows(columns.n_rows, weights, seed)
        with RowThreads(threads_for(self.n_jobs, columns.n_rows * columns.n_columns)) as threads:
            self._binner = Binner.from_columns(columns, int(self.max_bins), weights, threads)
            codes = self._binner.codes(columns, threads)
            is_categorical = np.array([edge is None for edge in self._binner.edges], dtype=np.bool_)
            table = CodedTable(
                np.ascontiguousarray(codes[:, train]),
                np.ascontiguousarray(codes[:, held_out]),
                self._binner.missing,
                is_categorical,
            )
            del codes
            objectives = self._objectives(gram, weights, train, held_out, threads)
            progress = Progress(type(self).__name__, len(outputs), self.verbose, "held-out loss")
            recipe = self._recipe()
            self._boosted = [
                boost(
                    table,
                    (y[train], y[held_out]),
                    objectives,
                    recipe,
                    threads,
                    progress.of_member(k, recipe.n_estimators, Cancellation()),
                )
                for k, y in enumerate(outputs)
            ]
        self.n_trees_ = max(boosted.forest.n_trees for boosted in self._boosted)

    def _recipe(self) -> Recipe:
        rules = LeafRules(
            int(self.max_leaf_nodes), float(self.l2_regularization), float(self.min_gain), int(self.min_samples_leaf)
        )
        return Recipe(int(self.n_estimators), float(self.learning_rate), rules, int(self.n_iter_no_change))

    def _gram(
        self, columns: Columns, X: Any, X_target: Any, V: Any, weights: np.ndarray | None, seed: int
    ) -> Gram | None:
        """The matrix among all rows; None if ``blend`` leaves nothing of it."""
        self.coverage_ = 1.0  # plain squares see every row
        if V is not None:
            gram = given_gram(V, columns.n_rows)
        else:
            target = self._target(columns, X, X_target, weights, seed)
            if self.blend == 0:
                return None
            features = features_of(columns, np.arange(columns.n_rows), target)
            if self.kind == "product":
                gram = shuffled_gram(features, self.orientation, seed)
            else:
                gram = {"mean": mean_gram, "joint": joint_gram}[self.kind](features, self.orientation)
        if self.blend > 0:
            seen = gram.diagonal() > 0
            self.coverage_ = float(np.mean(seen if weights is None else seen[weights > 0]))
            _look_at_coverage(self.coverage_, V is not None, self._remedies())
        return gram

    def _target(self, columns: Columns, X: Any, X_target: Any, weights: np.ndarray | None, seed: int) -> Columns:
        """The target's rows, at most ``max_target`` of them."""
        most = int(self.max_target)
        if X_target is None:
            target = columns if weights is None else columns.take(stand_ins(weights, most))
        else:
            target = read_target(self, X, X_target, columns)
        if target.n_rows <= most:
            return target
        return target.take(np.sort(random_permutation(stream_key(seed, TARGET_ROWS), target.n_rows)[:most]))

    def _remedies(self) -> str:
        """What could make the target see more rows, of what has not been done yet."""
        tips = ["kind='mean'"] if self.kind != "mean" else []
        tips += ["orientation='both'"] if self.orientation != "both" else []
        return f", or try {' or '.join(tips)}" if tips else ""

    def _part_rows(self, n_rows: int, weights: np.ndarray | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to train on and rows to hold out; rows without weight are neither."""
        rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
        stops = len(rows) > MIN_TO_STOP if self.early_stopping == "auto" else self.early_stopping
        n_held = int(self.validation_fraction * len(rows) + 0.5) if stops else 0
        if stops and not 0 < n_held < len(rows):
            raise DataError(
                f"validation_fraction={self.validation_fraction} of n_samples={len(rows)} leaves none to train on or "
                "to stop by: set early_stopping=False, or pass more rows."
            )
        shuffled = rows[random_permutation(stream_key(seed, HOLD_OUT), len(rows))]
        return np.sort(shuffled[n_held:]), np.sort(shuffled[:n_held])

    def _objectives(
        self,
        gram: Gram | None,
        weights: np.ndarray | None,
        train: np.ndarray,
        held_out: np.ndarray,
        threads: RowThreads,
    ) -> tuple[Objective, Objective | None]:
        def objective(rows: np.ndarray) -> Objective:
            own = np.ones(len(rows)) if weights is None else weights[rows]
            if gram is None:
                return Objective(None, 0.0, own, threads)
            own_gram = DenseGram(gram.piece(rows)) if len(rows) <= WRITTEN_OUT else gram.only(rows)
            made = Objective(own_gram, float(self.blend), own, threads)
            if made.is_blind:
                raise DataError(
                    "The rows that are dominated by a row of X_target are all held out, or none of them is: set "
                    "early_stopping=False, or blend below 1."
                )
            return made

        return objective(train), objective(held_out) if len(held_out) else None

    def _raw(self, X: Any) -> np.ndarray:
        """What each sequence of trees says of each row, (outputs, rows)."""
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
    def feature_importances_(self) -> np.ndarray:
        """Each column's share of the fall of the score by all splits."""
        check_is_fitted(self)
        return np.mean([b.forest.feature_importances(self.n_features_in_) for b in self._boosted], axis=0)


def _look_at_coverage(coverage: float, own_matrix: bool, remedies: str) -> None:
    if coverage == 0 and own_matrix:
        raise DataError("V is zero on its diagonal, so its loss sees no row at all: pass another matrix.")
    if coverage == 0:
        raise DataError(
            "No row of X is dominated by a row of X_target: the two do not overlap. Look at shift_report(X, X_target)"
            f"{remedies}."
        )
    if coverage < 0.5:
        what = "seen by V" if own_matrix else "dominated by a row of X_target; the V-matrix does not see the others"
        remedy = "" if own_matrix else f" Look at shift_report(X, X_target){remedies}, or use fewer columns."
        warn_caller(f"Only {coverage:.0%} of the rows of X are {what}.{remedy}", CoverageWarning)
