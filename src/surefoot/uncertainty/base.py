"""What the gradient boosters share: parameters, checks and ``fit``; and what a single model adds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._estimator import CategoricalParameter, RenamedAttributes, TableEstimator
from surefoot._exceptions import DataError, ParameterError
from surefoot._fitted_state import new_fit, reads_one_fit
from surefoot._parameters import check_boolean, check_boolean_or, check_integer, check_number
from surefoot.data.problem import NumberProblem, PreparedTable, Problem
from surefoot.data.stored_input import is_stored
from surefoot.uncertainty.eval_sets import read_eval_sets, with_losses
from surefoot.uncertainty.explanations.explained import ExplainedBooster, ExplainedModel
from surefoot.uncertainty.families import DISPERSED, ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_options import NO_OPTIONS, FitOptions, GivenOptions
from surefoot.uncertainty.fit_spec import FitSpec, make_fit_spec, read_problem
from surefoot.uncertainty.growth_parameters import GrowthParameters
from surefoot.uncertainty.member import Member, raw_outputs
from surefoot.uncertainty.offsets import NO_OFFSETS, GivenOffsets, new_offset
from surefoot.uncertainty.snapshot import describe
from surefoot.uncertainty.stored_rows import open_table
from surefoot.uncertainty.training import train_members
from surefoot.uncertainty.training_rows import ValidationRows, check_validation
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble
from surefoot.uncertainty.warm_start import MemberRun, begin_runs, check_runs, resume_runs

MAX_TEMPERATURE = 1e100  # the sum of larger noise is infinite


class GradientBooster(GrowthParameters, CategoricalParameter, TableEstimator, ExplainedBooster):
    """Parameters, checks, training and raw outputs.

    A subclass adds the kind of target (regression or classification), another the number of models (one or several).
    """

    family_: Any
    _members: list[Member]
    _bins_sparse: ClassVar[bool] = True

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
        interaction_cst: Any,
        max_features: float,
        max_leaf_nodes: int | None,
        split_noise: Any,
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
        self.interaction_cst = interaction_cst
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.split_noise = split_noise
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.subsample = subsample
        self.temperature = temperature
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_boolean("warm_start", self.warm_start)
        check_integer("n_estimators", self.n_estimators, 1)
        check_number("learning_rate", self.learning_rate, 0, 1, include_boundaries="right")
        self._check_growth()
        check_number("validation_fraction", self.validation_fraction, 0, 1, include_boundaries="neither")
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        check_boolean_or("early_stopping", self.early_stopping, "auto", "scale")
        if self.temperature is not None:
            check_number("temperature", self.temperature, 0, MAX_TEMPERATURE, include_boundaries="right")
            if not self._uses_langevin:
                raise ParameterError("temperature is for Langevin noise: leave it at None without it.")
        self._check_categorical_features()

    def _fit_rows(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation: ValidationRows,
        given: GivenOffsets = NO_OFFSETS,
        more: GivenOptions = NO_OPTIONS,
    ) -> Self:
        """Fit on a table and its target; without ``validation.X``, a part of the training rows is held out."""
        self._check_parameters()
        check_validation(validation, given)
        is_in_memory = not (is_stored(X) or isinstance(X, PreparedTable))
        if not is_in_memory:
            self._check_prepared(validation.X)
        options = FitOptions.of(self, more, is_in_memory)
        if options.given_sets and not given.are_missing:
            message = "eval_sets take no offset or exposure: leave them out, or use X_val with offset_val."
            raise DataError(message, argument="eval_sets")
        with new_fit(self) as fitted:
            if is_stored(X):
                X, y, sample_weight = open_table(fitted, X, y, sample_weight)
            problem = read_problem(fitted, X, y, sample_weight)
            fitted._fit(problem, None if validation.X is None else validation, given, options)
        return self

    def _check_prepared(self, X_val: Any) -> None:
        """Refuse what rows that are not in memory cannot be used for."""
        if X_val is not None:
            raise DataError("X_val is for tables in memory: here, leave it out, and training rows are held out.")
        if self.warm_start:
            raise ParameterError("warm_start is for tables in memory: set it to False.")

    def _fit(
        self,
        problem: Problem | NumberProblem,
        validation: ValidationRows | None,
        given: GivenOffsets,
        options: FitOptions,
    ) -> Self:
        self._remember(problem)
        if isinstance(problem, Problem):
            self.classes_ = problem.classes
        spec = make_fit_spec(self, problem, validation, given)
        family = spec.family
        eval_sets = read_eval_sets(self, problem, family, options.given_sets)
        options = replace(options, eval_sets=eval_sets, description=describe(options, problem, validation, given, spec))
        members = self._train(replace(spec, options=options))
        if isinstance(family, DISPERSED):
            family = replace(family, dispersion=float(np.mean([member.dispersion for member in members])))
        self._adopt(family, with_losses(members, family, eval_sets, self.n_jobs))
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

    def _raw(self, X: Any, given: GivenOffsets = NO_OFFSETS) -> np.ndarray:
        """Raw outputs of every member, (members, outputs, rows)."""
        columns = self._columns(X)  # first, because it checks that the model is fitted
        offset = new_offset(self.family_, given, columns.n_rows)
        return raw_outputs(self._members, columns, self.n_jobs, offset=offset)

    @property
    @reads_one_fit
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


class SingleBooster(RenamedAttributes, GradientBooster, ExplainedModel):
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
        self.validation_losses_ = members[0].losses

    def _member_raw(self, X: Any, cuts: Sequence[int]) -> np.ndarray:
        """Raw outputs of the model truncated after each number of trees in ``cuts``, (cuts, outputs, rows)."""
        columns = self._columns(X)
        return raw_outputs(self._members, columns, self.n_jobs, cuts)

    @reads_one_fit
    def virtual_ensemble(self, n_members: int = 10, *, method: str = "auto", X_train: Any = None) -> VirtualEnsemble:
        """Return an ensemble made from this model, without training.

        Parameters
        ----------
        n_members : int, default=10
            Number of members, at least 2.
        method : {"auto", "copies", "increments", "truncation"}, default="auto"
            How members are made; see ``VirtualEnsemble``.
        X_train : table, default=None
            The training table, or a sample of its rows: with it, members differ by about as much as models that are
            trained independently.

        Returns
        -------
        VirtualEnsemble
            Its ``predict_uncertainty`` gives total, data and knowledge uncertainty.
        """
        check_is_fitted(self)
        return VirtualEnsemble(self, n_members, method=method, X_train=X_train)

    def _stages(self, X: Any, given: GivenOffsets = NO_OFFSETS) -> Iterator[np.ndarray]:
        """Raw outputs after one tree, after two, and so on."""
        columns = self._columns(X)  # first, because it checks that the model is fitted
        return self._members[0].stages(columns, new_offset(self.family_, given, columns.n_rows))
