"""The base class of the five boosters: parameters and their checks, votes, labels, probabilities and margins."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin

from surefoot._estimator import TableEstimator
from surefoot._exceptions import DataError, ParameterError
from surefoot._fitted_state import new_fit, reads_one_fit
from surefoot._parallel import ROW_BLOCK, rows_in_memory
from surefoot._parameters import check_boolean, check_choice, check_integer, check_number
from surefoot._progress import Progress
from surefoot._random import seed_from
from surefoot.boosting.samme import check_weak_learner
from surefoot.boosting.stump_kernels import ERROR, GINI, Rule
from surefoot.boosting.training import Settings
from surefoot.boosting.vote_link import VoteLink, softmax_of_rows
from surefoot.data import Columns
from surefoot.data.binner import MAX_BINS
from surefoot.data.problem import NumberProblem, PreparedTable, Problem, check_labels, check_problem
from surefoot.data.stored_columns import StoredColumns
from surefoot.data.stored_input import is_stored, open_stored
from surefoot.metrics.margins import voting_margins

DEPTH_WITH_ESTIMATOR = "max_depth is for the native tree: set the depth on the estimator instead."
TIE_VOTE = np.finfo(np.float64).tiny  # a tie counts as the positive class, and can be recognised
MEMBER_PARAMETERS = (
    "estimator",
    "max_depth",
    "n_estimators",
    "learning_rate",
    "variant",
    "margin_precision",
    "max_bins",
    "calibrate",
    "random_state",
    "n_jobs",
    "verbose",
)


class BaseBooster(ClassifierMixin, TableEstimator):
    """Checks, predictions and margins; a booster adds ``_fit_problem`` and ``_tally_block``."""

    _link: VoteLink | None = None  # models from old files have none
    _bins_sparse: ClassVar[bool] = True

    def __init__(
        self,
        *,
        estimator: Any = None,
        max_depth: int = 1,
        n_estimators: int = 300,
        learning_rate: float = 1.0,
        variant: str = "adaboost",
        margin_precision: float = 0.1,
        max_bins: int | None = 255,
        class_weight: Any = None,
        calibrate: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.max_depth = max_depth
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.variant = variant
        self.margin_precision = margin_precision
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _takes_raw_columns(self) -> bool:
        return self.estimator is None

    def _check_problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        self._check_parameters()
        problem = check_problem(self, X, y, sample_weight, self.class_weight)
        if self.variant == "adaboost_star" and problem.n_classes > 2:
            raise ParameterError(f"variant='adaboost_star' is for two classes, y has {problem.n_classes}.")
        return problem

    def _check_parameters(self) -> None:
        self._check_depth()
        check_integer("n_estimators", self.n_estimators, 1)
        check_number("learning_rate", self.learning_rate, 0, 2, include_boundaries="right")
        check_number("margin_precision", self.margin_precision, 0, 1, include_boundaries="neither")
        check_boolean("calibrate", self.calibrate)
        check_choice("variant", self.variant, ("adaboost", "adaboost_star"))
        if self.max_bins is not None:
            check_integer("max_bins", self.max_bins, 2, MAX_BINS)
        if self.variant == "adaboost_star" and self.learning_rate != 1.0:
            raise ParameterError("learning_rate must be 1.0 with variant='adaboost_star': votes follow from the edges.")
        if self.variant == "adaboost" and self.margin_precision != 0.1:
            raise ParameterError("margin_precision is for variant='adaboost_star': leave it at 0.1 otherwise.")
        if self.estimator is not None:
            check_weak_learner(self.estimator)
        if self.estimator is not None and self.max_bins != MAX_BINS:
            raise ParameterError(
                "max_bins is for the native tree: leave it at 255 with an estimator, which is not binned."
            )

    def _check_depth(self) -> None:
        check_integer("max_depth", self.max_depth, 1, 12)
        if self.estimator is not None and self.max_depth != 1:
            raise ParameterError(DEPTH_WITH_ESTIMATOR)

    def _settings(self, n_members: int, seed: int) -> Settings:
        star = self.variant == "adaboost_star"
        return Settings(
            estimator=self.estimator,
            max_depth=int(self.max_depth),
            n_estimators=int(self.n_estimators),
            rule=Rule(
                criterion=ERROR if star else GINI,
                star=star,
                learning_rate=float(self.learning_rate),
                precision=float(self.margin_precision),
            ),
            max_bins=self.max_bins,
            seed=seed,
            n_jobs=self.n_jobs,
            progress=Progress(type(self).__name__, n_members, self.verbose),
        )

    def _member_parameters(self) -> dict[str, Any]:
        """The parameters that a booster passes to its members."""
        return {name: getattr(self, name) for name in MEMBER_PARAMETERS}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the booster.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns), path or StoredTable
            The training data. A Parquet or Arrow file, a folder of Parquet files or a data set of pyarrow may be larger
            than memory: its bins are written to a temporary folder, about one byte for each cell, and read from there.
        y : array of shape (n_rows,), str or None
            Labels of the rows, from two or more classes. Of a table in files, the name of their column; None for a
            ``StoredTable``, which has the target.
        sample_weight : array of shape (n_rows,), str or None, default=None
            Weights of the rows; of a table in files, the name of a column. None: all rows have the same weight.

        Returns
        -------
        self : object
            The fitted booster.
        """
        with new_fit(self) as fitted:
            if is_stored(X):
                X, y, sample_weight = fitted._open(X, y, sample_weight)
            problem = fitted._check_problem(X, y, sample_weight)
            fitted._fit_problem(problem, seed_from(fitted.random_state))
        return self

    def _open(self, X: Any, y: Any, sample_weight: Any) -> tuple[PreparedTable, np.ndarray, np.ndarray | None]:
        """A table in files, its target and its weights."""
        self._check_parameters()
        if self.estimator is not None:
            message = "estimator is for tables in memory: here, leave it at None, and set max_depth for deeper trees."
            raise ParameterError(message, argument="estimator")
        if self.max_bins is None:
            raise ParameterError(f"max_bins=None is for tables in memory: set it to {MAX_BINS}.", argument="max_bins")
        stored = open_stored(X, y, sample_weight, max_bins=self.max_bins, n_jobs=self.n_jobs)
        if self._reads_values:
            stored.reread()  # before training: without the files, it would fail at the end
        assert stored.y is not None, "open_stored checks that there is a target"
        return PreparedTable(StoredColumns(stored), stored.feature_names), stored.y, stored.weights

    @property
    def _reads_values(self) -> bool:
        """Whether training reads values besides the bins: to calibrate, or for bins that depend on other weights."""
        return bool(self.calibrate) or self.class_weight is not None

    def _fit_problem(self, problem: Problem, seed: int) -> Self:
        """Fit on a checked problem."""
        raise NotImplementedError

    def _remember(self, problem: Problem | NumberProblem) -> None:
        assert isinstance(problem, Problem)
        self.classes_ = problem.classes
        super()._remember(problem)

    @property
    def _n_tallies(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _tally_block(self, values: np.ndarray) -> np.ndarray:
        """The vote on a block of columns: (1, rows) from -1 to 1 for two classes, else fractions (classes, rows)."""
        raise NotImplementedError

    def _mean_vote_block(self, values: np.ndarray) -> np.ndarray:
        """The mean of the members' normalised votes, from which probabilities are computed; shapes as above."""
        return self._tally_block(values)

    def _tally(self, columns: Columns, vote: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
        """The vote on every row, block by block."""
        vote = vote or self._tally_block
        return self._predict_blocks(columns, self._n_tallies, lambda start, stop: vote(columns.block(start, stop)))

    def _mean_vote(self, columns: Columns) -> np.ndarray:
        """The mean of the members' normalised votes on every row."""
        return self._tally(columns, self._mean_vote_block)

    def _decide(self, tally: np.ndarray) -> np.ndarray:
        """The values of ``decision_function`` for a tally."""
        if len(tally) > 1:
            return tally.T
        return break_ties(tally[0])

    @reads_one_fit
    def decision_function(self, X: Any) -> np.ndarray:
        """Compute the vote of the members.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            For two classes one number per row, above 0 for ``classes_[1]``; else one column per class.
        """
        return self._decide(self._tally(self._columns(X)))

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class that wins the vote.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels from ``classes_``. If two classes tie, the label is ``classes_[1]``.
        """
        columns = self._columns(X)

        def winners(start: int, stop: int) -> np.ndarray:
            return winning_places(self._decide(self._tally_block(columns.block(start, stop))))[np.newaxis]

        size = rows_in_memory(ROW_BLOCK, self._n_tallies)  # the votes of all rows for all classes need not be in memory
        return self.classes_[self._predict_blocks(columns, 1, winners, size=size)[0].astype(np.int64)]

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities: a function of the members' mean vote, calibrated on out-of-sample votes.

        They are computed from soft votes for every ``voting``, so the most probable class may differ from that of
        ``predict``. With ``calibrate=False`` they are computed from the decision function as in scikit-learn or, for
        hard votes, are each class's fraction of the members; these rank rows and are not calibrated.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._probabilities(self._columns(X))

    def _probabilities(self, columns: Columns) -> np.ndarray:
        if self._link is None:
            return self._uncalibrated(self._tally(columns))
        link = self._link
        if len(self.classes_) == 2:
            return link.probabilities(self._mean_vote(columns))

        def probabilities(start: int, stop: int) -> np.ndarray:
            votes = self._mean_vote_block(columns.block(start, stop))
            return link.probabilities(np.ascontiguousarray(votes)).T  # in another layout, sums differ by rounding

        return self._predict_blocks(columns, len(self.classes_), probabilities).T

    def _uncalibrated(self, tally: np.ndarray) -> np.ndarray:
        return vote_probabilities(self._decide(tally))

    def _labels(self, decision: np.ndarray) -> np.ndarray:
        return self.classes_[winning_places(decision)]

    @reads_one_fit
    def margins(self, X: Any, y: Any) -> np.ndarray:
        """Compute the margin of each row: the vote for its class minus the largest other vote.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Rows with the columns of the training data.
        y : array of shape (n_rows,)
            True labels of the rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Margins from -1 to 1, above 0 for rows that are classified correctly.
        """
        tally = self._tally(self._columns(X))
        labels = check_labels(y)
        if len(labels) != tally.shape[1]:
            raise DataError(f"y has {len(labels)} labels for {tally.shape[1]} rows of X: each row needs one.")
        unknown = set(np.unique(labels).tolist()) - set(self.classes_.tolist())
        if unknown:
            raise DataError(f"y has labels that the model was not fitted on: {sorted(map(str, unknown))}.")
        return voting_margins(tally, np.searchsorted(self.classes_, labels))


def winning_places(decision: np.ndarray) -> np.ndarray:
    """The place in ``classes_`` of the class that each row is predicted to have."""
    return (decision > 0).astype(np.int64) if decision.ndim == 1 else decision.argmax(axis=1)


def break_ties(votes: np.ndarray) -> np.ndarray:
    """Votes for class 1 minus votes for class 0; a tie becomes the smallest positive number."""
    return np.where(votes == 0, TIE_VOTE, votes)


def vote_probabilities(decision: np.ndarray) -> np.ndarray:
    """Probabilities as scikit-learn computes them from AdaBoost's decision function (they are not calibrated)."""
    if decision.ndim == 1:
        return two_columns(expit(decision), decision)
    return softmax_of_rows(decision / (decision.shape[1] - 1))


def two_columns(positive: np.ndarray, decision: np.ndarray) -> np.ndarray:
    """Probabilities of both classes; if the vote is a tie, that of the positive class is slightly above one half."""
    positive = np.where(decision > 0, np.maximum(positive, np.nextafter(0.5, 1)), positive)
    return np.stack([1 - positive, positive], axis=1)
