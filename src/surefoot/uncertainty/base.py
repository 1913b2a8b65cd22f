"""What the gradient boosters share: parameters, checks and ``fit``; what a single model adds, and what an ensemble."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._estimator import CategoricalParameter, RenamedAttributes, TableEstimator, restore_on_failure
from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_boolean, check_boolean_or, check_choice, check_integer, check_number
from surefoot.data.binner import MAX_BINS
from surefoot.data.problem import NumberProblem, PreparedTable, Problem
from surefoot.data.stored_input import is_stored
from surefoot.uncertainty.decomposition import Uncertainty, row_index
from surefoot.uncertainty.families import DISPERSED, ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_spec import FitSpec, ValidationRows, make_fit_spec, read_problem
from surefoot.uncertainty.member import Member, members_uncertainty, raw_outputs
from surefoot.uncertainty.shap_trees import shap_models
from surefoot.uncertainty.stored_rows import open_table
from surefoot.uncertainty.training import train_members
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble
from surefoot.uncertainty.warm_start import MemberRun, begin_runs, check_runs, resume_runs

MAX_DEPTH = 10


class GradientBooster(CategoricalParameter, TableEstimator):
    """Parameters, checks, training and raw outputs.

    A subclass adds the kind of target (regression or classification), another the number of models (one or several).
    """

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
        warm_start: bool,
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
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _uses_langevin(self) -> bool:
        raise NotImplementedError

    @property
    def _row_fraction(self) -> float:
        """Fraction of the rows that each tree is grown on."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_boolean("warm_start", self.warm_start)
        check_integer("n_estimators", self.n_estimators, 1)
        check_number("learning_rate", self.learning_rate, 0, 1, include_boundaries="right")
        check_integer("max_depth", self.max_depth, 1, MAX_DEPTH)
        check_choice("grow_policy", self.grow_policy, ("symmetric", "depthwise"))
        check_integer("min_samples_leaf", self.min_samples_leaf, 1)
        check_number("l2_regularization", self.l2_regularization, 0, 1e12, include_boundaries="both")
        check_integer("max_bins", self.max_bins, 2, MAX_BINS)
        check_number("validation_fraction", self.validation_fraction, 0, 1, include_boundaries="neither")
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        check_boolean_or("early_stopping", self.early_stopping, "auto", "scale")
        if self.temperature is not None:
            check_number("temperature", self.temperature, 0, np.inf, include_boundaries="neither")
            if not self._uses_langevin:
                raise ParameterError("temperature is for Langevin noise: leave it at None without it.")
        self._check_categorical_features()

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
        X : array, pandas or polars frame of shape (n_rows, n_columns), path or StoredTable
            The training data. A Parquet or Arrow file, a folder of Parquet files or a data set of pyarrow may be larger
            than memory: its bins are written to a temporary folder, about one byte for each cell, and read from there.
            In the folder of a ``StoredTable`` that is kept, trees are recorded: after a stop, the same fit continues.
        y : array of shape (n_rows,), str or None
            The targets of the training rows; of a table in files, the name of their column; None for a ``StoredTable``.
        sample_weight : array of shape (n_rows,) or str, default=None
            A row of weight 2 counts as two rows; of a table in files, the name of a column.
        X_val : array, pandas or polars frame of shape (n_val, n_columns), default=None
            Validation rows for early stopping, used instead of a part of the training rows.
        y_val : array of shape (n_val,), default=None
            The targets of the validation rows.
        sample_weight_val : array of shape (n_val,), default=None
            The weights of the validation rows.

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
            if is_stored(X) or isinstance(X, PreparedTable):
                self._check_prepared(X_val)
            if is_stored(X):
                X, y, sample_weight = open_table(self, X, y, sample_weight)
            validation = None if X_val is None else ValidationRows(X_val, y_val, sample_weight_val)
            return self._fit(read_problem(self, X, y, sample_weight), validation)

    def _check_prepared(self, X_val: Any) -> None:
        """Refuse what rows that are not in memory cannot be used for."""
        if X_val is not None:
            raise DataError("X_val is for tables in memory: here, leave it out, and training rows are held out.")
        if self.warm_start:
            raise ParameterError("warm_start is for tables in memory: set it to False.")

    def _fit(self, problem: Problem | NumberProblem, validation: ValidationRows | None) -> Self:
        self._remember(problem)
        if isinstance(problem, Problem):
            self.classes_ = problem.classes
        spec = make_fit_spec(self, problem, validation)
        members = self._train(spec)
        family = spec.family
        if isinstance(family, DISPERSED):
            family = replace(family, dispersion=float(np.mean([member.dispersion for member in members])))
        self._adopt(family, members)
        return self

    def _train(self, spec: FitSpec) -> list[Member]:
        if self.warm_start:
            return self._resume(spec)
        self.__dict__.pop("_run_so_far", None)
        return train_members(spec, self._n_members)

    def _resume(self, spec: FitSpec) -> list[Member]:
        """Add trees to those of the last fit, if there was one, and keep the state for the next."""
        runs: list[MemberRun] = getattr(self, "_run_so_far", [])
        if runs and all(run.is_complete for run in runs):
            check_runs(runs, spec, self._n_members)
        else:
            runs = begin_runs(spec, self._n_members)
        members = resume_runs(runs, spec)
        self._run_so_far = runs
        return members

    def _raw(self, X: Any) -> np.ndarray:
        """Raw outputs of every member, (members, outputs, rows)."""
        columns = self._columns(X)  # first, because it checks that the model is fitted
        return raw_outputs(self._members, columns, self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Each column's fraction of the gains of all splits."""
        check_is_fitted(self)
        fractions = [
            member.encoding.split_importances(
                member.trees.forest.feature_importances(len(member.encoding.sources)), self.n_features_in_
            )
            for member in self._members
        ]
        return np.mean(fractions, axis=0)


class SingleBooster(RenamedAttributes, GradientBooster):
    """One model: predictions after each tree, a virtual ensemble cut out of it, and its trees for shap."""

    langevin: bool
    _n_members: ClassVar[int] = 1
    _renamed_attributes: ClassVar[dict[str, str]] = {"n_trees_": "n_iter_", "validation_nll_": "validation_loss_"}

    @property
    def n_trees_(self) -> int:
        """Number of boosting rounds kept; this is the earlier name of ``n_iter_``."""
        return self._renamed("n_trees_")

    @property
    def validation_nll_(self) -> np.ndarray:
        """Loss of the held-out rows after each round; this is the earlier name of ``validation_loss_``."""
        return self._renamed("validation_nll_")

    @property
    def _uses_langevin(self) -> bool:
        return bool(self.langevin)

    @property
    def _row_fraction(self) -> float:
        return 1.0 if self.subsample is None else float(self.subsample)

    def _check_parameters(self) -> None:
        check_boolean("langevin", self.langevin)
        check_number("subsample", self.subsample, 0, 1, include_boundaries="right")
        super()._check_parameters()

    def _adopt(self, family: RegressionFamily | ClassificationFamily, members: Sequence[Member]) -> None:
        self.family_ = family
        self._members = list(members)
        self.n_iter_ = members[0].trees.forest.n_trees
        self.validation_loss_ = members[0].trees.held_out_nll

    def _member_raw(self, X: Any, cuts: Sequence[int]) -> np.ndarray:
        """Raw outputs of the model truncated after each number of trees in ``cuts``, (cuts, outputs, rows)."""
        columns = self._columns(X)
        return raw_outputs(self._members, columns, self.n_jobs, cuts)

    def virtual_ensemble(self, n_members: int = 10) -> VirtualEnsemble:
        """Return an ensemble cut out of this model, without training.

        Parameters
        ----------
        n_members : int, default=10
            Number of members, at least 2; the model needs twice as many trees.

        Returns
        -------
        VirtualEnsemble
            Its ``predict_uncertainty`` gives total, data and knowledge uncertainty.
        """
        check_is_fitted(self)
        return VirtualEnsemble(self, n_members)

    def to_shap(self) -> dict[Hashable, dict[str, Any]]:
        """Return the trees in the form that ``shap.TreeExplainer`` takes, for each parameter of the distribution.

        SHAP values and the expected value add up to the parameter as the trees see it: for a normal distribution,
        ``mu`` is in units of ``family_.spread`` from ``family_.location``. The last parameter is the sum of the trees
        before the bound that keeps the scale of a row from being much smaller than that of the others. Pass X as
        numbers, missing values as NaN. Models that split on categories are refused.

        Returns
        -------
        dict
            From each name in ``family_.parameters`` to a model; for three or more classes, from each label.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from surefoot import GradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> models = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y).to_shap()
        >>> list(models), len(models["mu"]["trees"])
        (['mu', 'log_sigma'], 20)
        >>> # shap.TreeExplainer(models["log_sigma"]).shap_values(X): what makes a prediction uncertain
        """
        check_is_fitted(self)
        labels = getattr(self, "classes_", np.empty(0)).tolist()
        outputs = labels if len(labels) > 2 else self.family_.parameters
        return shap_models(self._members[0], self._schema, outputs, getattr(self, "feature_names_in_", None))

    def _stages(self, X: Any) -> Iterator[np.ndarray]:
        """Raw outputs after one tree, after two, and so on."""
        columns = self._columns(X)  # first, because it checks that the model is fitted
        return self._members[0].stages(columns)


class EnsembleBooster(GradientBooster):
    """Several models on one table that differ by Langevin noise or by the rows drawn for each tree."""

    method: str
    n_members: int
    _member_class: ClassVar[type[Any]]

    @property
    def _uses_langevin(self) -> bool:
        return self.method == "sglb"

    @property
    def _row_fraction(self) -> float:
        if self.subsample is None:
            return 1.0 if self.method == "sglb" else 0.5
        return float(self.subsample)

    def _check_parameters(self) -> None:
        check_choice("method", self.method, ("sglb", "sgb"))
        check_integer("n_members", self.n_members, 1)
        if self.subsample is not None:
            check_number("subsample", self.subsample, 0, 1, include_boundaries="right")
        if self.method == "sgb" and self._row_fraction == 1.0:
            raise ParameterError("subsample must be below 1 with method='sgb': otherwise all members are the same.")
        super()._check_parameters()

    @property
    def _n_members(self) -> int:
        return int(self.n_members)

    def _new_member(self) -> SingleBooster:
        """An unfitted model with the parameters of one member."""
        member = self._member_class()
        parameters = {**self.get_params(deep=False), "warm_start": False}
        parameters |= {"subsample": self._row_fraction, "langevin": self._uses_langevin}
        return member.set_params(**{name: parameters[name] for name in member.get_params(deep=False)})

    def _uncertainty(self, X: Any) -> Uncertainty:
        columns = self._columns(X)  # first, because it checks that the model is fitted
        return members_uncertainty(self._members, self.family_, columns, self.n_jobs, index=row_index(X))

    def _adopt(self, family: RegressionFamily | ClassificationFamily, members: Sequence[Member]) -> None:
        self.family_ = family
        self._members = list(members)
        self.estimators_ = []
        for member in members:
            estimator = self._new_member()
            for name in ("n_features_in_", "feature_names_in_", "_schema", "classes_"):
                if hasattr(self, name):
                    setattr(estimator, name, getattr(self, name))
            estimator._adopt(family, [member])
            self.estimators_.append(estimator)
