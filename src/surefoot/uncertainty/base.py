"""What the gradient boosters share: their parameters and how they are checked."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._estimator import CategoricalParameter, TableEstimator, restore_on_failure
from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_boolean_or, check_choice, check_integer, check_number
from surefoot._progress import Progress
from surefoot._random import seed_from
from surefoot.data import Columns
from surefoot.data.binner import MAX_BINS
from surefoot.data.problem import NumberProblem, Problem, check_table, check_weights
from surefoot.trees.gradient_grower import GrowthRules
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_spec import FitSpec, TrainingConfig
from surefoot.uncertainty.member import Member, raw_outputs
from surefoot.uncertainty.training import train_members

MAX_DEPTH = 10
SHARED = (
    "n_estimators",
    "learning_rate",
    "max_depth",
    "grow_policy",
    "min_samples_leaf",
    "l2_regularization",
    "max_bins",
    "categorical_features",
    "monotonic_cst",
    "early_stopping",
    "validation_fraction",
    "n_iter_no_change",
    "random_state",
    "n_jobs",
    "verbose",
)


class GradientBooster(CategoricalParameter, TableEstimator):
    """Parameters, checks and raw outputs; a subclass knows its kind of target and what it makes of the outputs."""

    family_: Any
    _members: list[Member]

    def __init__(
        self,
        *,
        n_estimators: int,
        learning_rate: float,
        max_depth: int,
        grow_policy: str,
        min_samples_leaf: int,
        l2_regularization: float,
        max_bins: int,
        categorical_features: Any,
        monotonic_cst: Any,
        early_stopping: Any,
        validation_fraction: float,
        n_iter_no_change: int,
        subsample: float | None,
        temperature: float | None,
        random_state: Any,
        n_jobs: int | None,
        verbose: int,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.grow_policy = grow_policy
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.subsample = subsample
        self.temperature = temperature
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _uses_langevin(self) -> bool:
        raise NotImplementedError

    @property
    def _row_share(self) -> float:
        """Share of the rows that each tree is grown on."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        check_number("learning_rate", self.learning_rate, 0, 1, most_included=True)
        check_integer("max_depth", self.max_depth, 1, MAX_DEPTH)
        check_choice("grow_policy", self.grow_policy, ("symmetric", "depthwise"))
        check_integer("min_samples_leaf", self.min_samples_leaf, 1)
        check_number("l2_regularization", self.l2_regularization, 0, 1e12, least_included=True, most_included=True)
        check_integer("max_bins", self.max_bins, 2, MAX_BINS)
        check_number("validation_fraction", self.validation_fraction, 0, 1, most_included=False)
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        check_boolean_or("early_stopping", self.early_stopping, "auto", "scale")
        if self.temperature is not None:
            check_number("temperature", self.temperature, 0, np.inf, most_included=False)
            if not self._uses_langevin:
                raise ParameterError("temperature is for Langevin noise: leave it at None without it.")
        self._check_categorical_features()

    def _recipe(self, constraints: tuple[int, ...] | None, has_validation: bool) -> TrainingConfig:
        wanted = self.early_stopping
        stops = self.temperature is None if wanted == "auto" else wanted != "scale" and bool(wanted)
        rules = GrowthRules(
            int(self.max_depth),
            self.grow_policy == "symmetric",
            int(self.min_samples_leaf),
            float(self.l2_regularization),
            constraints,
        )
        return TrainingConfig(
            int(self.n_estimators),
            float(self.learning_rate),
            rules,
            self._row_share,
            self._uses_langevin,
            self.temperature,
            int(self.n_iter_no_change) if stops else None,
            not stops or not (self.n_iter_no_change < self.n_estimators or getattr(self, "warm_start", False)),
        )

    def _constraints(self, columns: Columns) -> tuple[int, ...] | None:
        """The monotone constraint of every column, from a list or a dict by name."""
        if self.monotonic_cst is None:
            return None
        wanted = self.monotonic_cst
        if isinstance(wanted, dict):
            names = list(getattr(self, "feature_names_in_", ()))
            unknown = sorted(map(str, set(wanted) - set(names)))
            if unknown:
                raise ParameterError(f"monotonic_cst names columns that X does not have: {unknown}.")
            wanted = [wanted.get(name, 0) for name in names]
        signs = np.asarray(wanted)
        if signs.shape != (columns.n_columns,) or not np.isin(signs, (-1, 0, 1)).all():
            raise ParameterError(
                f"monotonic_cst must have one of -1, 0 and 1 for each of the {columns.n_columns} columns, "
                f"or be a dict of column names, got {self.monotonic_cst!r}."
            )
        if any(signs[j] != 0 for j in columns.schema.categories):
            raise ParameterError("monotonic_cst must be 0 for categorical columns: categories have no order.")
        return tuple(signs.astype(np.int64).tolist()) if signs.any() else None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit on a table and its target.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            The training data.
        y : array of shape (n_rows,)
            Their targets.
        sample_weight : array of shape (n_rows,), default=None
            A row of weight 2 counts as two rows.
        X_val : array, pandas or polars frame of shape (n_val, n_columns), default=None
            Rows to stop early by, instead of a part of the training rows.
        y_val : array of shape (n_val,), default=None
            Their targets.
        sample_weight_val : array of shape (n_val,), default=None
            Their weights.

        Returns
        -------
        self : object
            The fitted model.
        """
        with restore_on_failure(self):
            self._check_parameters()
            if (X_val is None) != (y_val is None):
                raise DataError("X_val and y_val go together: pass both or neither.")
            if X_val is None and sample_weight_val is not None:
                raise DataError("sample_weight_val is for X_val and y_val: pass them too.")
            return self._fit(X, y, sample_weight, X_val, y_val, sample_weight_val)

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, sample_weight_val: Any) -> Self:
        raise NotImplementedError

    def _train(
        self,
        problem: Problem | NumberProblem,
        target: np.ndarray,
        family: RegressionFamily | ClassificationFamily,
        strata: np.ndarray | None,
        validation: tuple[Any, np.ndarray, Any] | None,
    ) -> list[Member]:
        """Train on a checked problem; ``target`` is internal, as is that of the ``validation`` rows."""
        self._remember(problem)
        weights, columns_val = problem.weights, None
        if validation is not None:
            X_val, target_val, sample_weight_val = validation
            columns_val = check_table(self, X_val, self._schema)
            if columns_val.n_rows != len(target_val):
                raise DataError(f"X_val has {columns_val.n_rows} rows, but y_val has {len(target_val)}.")
            weights = _joined_weights(weights, sample_weight_val, len(target), len(target_val))
            target = np.concatenate([target, target_val])
        recipe = self._recipe(self._constraints(problem.columns), validation is not None)
        of_use = recipe.patience is not None or family.has_scale
        hold_out = float(self.validation_fraction) if of_use and self.early_stopping else 0.0
        task = FitSpec(
            problem.columns,
            columns_val,
            target,
            weights,
            family,
            strata,
            recipe,
            int(self.max_bins),
            hold_out,
            seed_from(self.random_state),
            self.n_jobs,
            Progress(type(self).__name__, self._n_members, self.verbose, "held-out negative log-likelihood"),
        )
        return self._run(task)

    def _run(self, task: FitSpec) -> list[Member]:
        return train_members(task, self._n_members)

    def _raw(self, X: Any) -> np.ndarray:
        """Raw outputs of every member, (members, outputs, rows)."""
        columns = self._columns(X)  # first of all: it says so if the model is not fitted
        return raw_outputs(self._members, columns, self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Each column's share of the gains of all splits."""
        check_is_fitted(self)
        shares = [
            member.encoding.split_importances(
                member.trees.forest.feature_importances(len(member.encoding.sources)), self.n_features_in_
            )
            for member in self._members
        ]
        return np.mean(shares, axis=0)


def _joined_weights(weights: np.ndarray | None, weights_val: Any, n_rows: int, n_validation: int) -> np.ndarray | None:
    """Weights of the training rows and then of the validation rows."""
    after = check_weights(weights_val, n_validation, relative=False, name="sample_weight_val")
    if weights is None and after is None:
        return None
    return np.concatenate(
        [np.ones(n_rows) if weights is None else weights, np.ones(n_validation) if after is None else after]
    )
