"""What one call of ``fit`` trains: the configuration of the models, the rows, and what all members share."""

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import array_of, naming, passed_as
from surefoot._parallel import threads_for
from surefoot._progress import Progress
from surefoot._random import seed_from
from surefoot.data import Columns
from surefoot.data.checked_table import check_table
from surefoot.data.problem import (
    NumberProblem,
    Problem,
    check_labels,
    check_number_problem,
    check_numbers,
    check_problem,
)
from surefoot.trees.growth_rules import GrowthRules
from surefoot.uncertainty.families import (
    Bernoulli,
    Categorical,
    ClassificationFamily,
    RegressionFamily,
)
from surefoot.uncertainty.families.chosen import unfitted_family
from surefoot.uncertainty.fit_options import FitOptions
from surefoot.uncertainty.interactions import interaction_groups
from surefoot.uncertainty.offsets import (
    NO_OFFSETS,
    GivenOffsets,
    RowOffsets,
    fitted_family,
    read_offset,
    row_offsets,
    times_exposures,
    without_offset,
)
from surefoot.uncertainty.recalibration import Recalibration
from surefoot.uncertainty.training_rows import TrainingRows, ValidationRows, joined_weights, n_validation_rows

MAX_CLASSES = 500  # every bin of every column has a sum for each class
MAX_TARGETS = 8  # with many classes, statistics of categories cover only the most frequent


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained; the same for all members of an ensemble."""

    n_estimators: int
    learning_rate: float
    rules: GrowthRules
    subsample: float = 1.0
    langevin: bool = False
    temperature: float | None = None  # None: one over the number of rows, as in the paper
    patience: int | None = None  # rounds without a better held-out likelihood before training stops; None: never
    runs_its_length: bool = True  # held-out rows never end training
    split_noise: float | None = None  # in standard errors, in every round; None: see ``BoostingLoop``

    @property
    def differs_by_seed(self) -> bool:
        """Whether models with different seeds differ; a single model without noise is the same for every seed."""
        return self.langevin or self.subsample < 1.0 or self.rules.max_features < 1.0 or bool(self.split_noise)

    @classmethod
    def of(
        cls, model: Any, constraints: tuple[int, ...] | None, interactions: tuple[tuple[int, ...], ...] | int | None
    ) -> "TrainingConfig":
        """The configuration that the parameters of a gradient booster describe."""
        choice = model.early_stopping
        stops = model.temperature is None if choice == "auto" else choice != "scale" and bool(choice)
        may_stop = stops and (model.n_iter_no_change < model.n_estimators or model.warm_start)
        return cls(
            n_estimators=int(model.n_estimators),
            learning_rate=float(model.learning_rate),
            rules=GrowthRules(
                depth=int(model.max_depth),
                symmetric=model.grow_policy == "symmetric",
                min_samples_leaf=int(model.min_samples_leaf),
                l2=float(model.l2_regularization),
                constraints=constraints,
                max_features=float(model.max_features),
                max_leaf_nodes=model._leaf_limit,
                interactions=interactions,
            ),
            subsample=model._row_fraction,
            langevin=model._uses_langevin,
            temperature=model.temperature,
            patience=int(model.n_iter_no_change) if stops else None,
            runs_its_length=not may_stop,
            split_noise=model._noise_of_splits,
        )


@dataclass(frozen=True)
class InflationSchedule:
    """How far residuals are inflated in each round, learned from held-out rows of trial models.

    A model that follows the schedule needs no held-out rows of its own.
    """

    residual_inflations: np.ndarray  # one for each round in which the scale is learned
    levels: np.ndarray = field(default_factory=lambda: np.empty(0))  # steps of the whole scale in the later rounds
    recalibration: Recalibration = field(default_factory=Recalibration)


@dataclass(frozen=True)
class FitSpec:
    """A table with its target, and everything that all members share.

    Rows from ``n_training_rows`` on are the validation rows that the user passed.
    """

    columns: Columns
    validation: Columns | None
    y: np.ndarray
    weights: np.ndarray | None  # with which trees are grown: times the exposures, if there are any
    family: RegressionFamily | ClassificationFamily
    strata: np.ndarray | None  # the class of each row: every class is held out in proportion
    config: TrainingConfig
    max_bins: int
    hold_out: float  # fraction of the rows, 0 for none
    seed: int
    n_jobs: int | None
    progress: Progress
    inflation_schedule: InflationSchedule | None = None  # from the held-out rows of trial models
    history: tuple[float, ...] = ()  # their held-out losses, round by round
    is_repeatable: bool = False  # whether another fit with the same parameters has the same seed
    options: FitOptions = field(default_factory=FitOptions)
    offsets: RowOffsets | None = None

    @property
    def n_training_rows(self) -> int:
        return self.columns.n_rows

    @property
    def n_models_at_once(self) -> int | None:
        """The number of models that shards can train side by side; None: the rows are in this process."""
        return getattr(self.columns, "models_at_once", None)

    @property
    def n_threads(self) -> int:
        """The number of threads that one model uses."""
        return threads_for(self.n_jobs, len(self.y) * self.columns.n_columns)

    def targets(self) -> np.ndarray:
        """What statistics of categories are computed of, (targets, rows).

        The target itself; for several classes, an indicator of each of the most frequent.
        """
        if self.family.n_outputs == 1 or self.family.natural:
            y = self.y[np.newaxis].astype(np.float64)
            return y if self.exposures is None else y / self.exposures
        return (self.y == self.informative_outputs[:, np.newaxis]).astype(np.float64)

    @property
    def informative_outputs(self) -> np.ndarray:
        """The outputs that statistics of categories inform about: the first parameter, or the most frequent classes."""
        if self.family.n_outputs == 1 or self.family.natural:
            return np.array([0])
        return np.argsort(-np.bincount(self.y[: self.n_training_rows]), kind="stable")[:MAX_TARGETS]

    @property
    def exposures(self) -> np.ndarray | None:
        """The exposure of every row, relative to their mean; None if all are the same."""
        return None if self.offsets is None else self.offsets.exposures

    @property
    def likelihood_weights(self) -> np.ndarray | None:
        """The weights of rows without their exposures."""
        if self.weights is None or self.exposures is None:
            return self.weights
        return self.weights / self.exposures

    def rows(self, train: np.ndarray, held_out: np.ndarray) -> TrainingRows:
        """What one model is trained on."""
        return TrainingRows(y=self.y, weights=self.weights, train=train, held_out=held_out, offsets=self.offsets)

    def start(self, rows: np.ndarray) -> np.ndarray:
        """The constant outputs under which some rows are most likely, given their offsets."""
        weights = None if self.likelihood_weights is None else self.likelihood_weights[rows]
        if self.offsets is not None:
            return self.family.start_with_offset(self.y[rows], weights, self.offsets.raw[:, rows])
        if isinstance(self.family, RegressionFamily):
            return self.family.start(self.y[rows], weights)
        return self.family.start(self.y[rows], weights, max(2, self.family.n_outputs))


def read_problem(model: Any, X: Any, y: Any, sample_weight: Any) -> Problem | NumberProblem:
    """The checked training data of a gradient booster."""
    categorical = model._listed_categories
    if not is_classifier(model):
        return check_number_problem(model, X, y, sample_weight, categorical=categorical)
    class_weight = model.class_weight
    problem = check_problem(model, X, y, sample_weight, class_weight, categorical=categorical, relative_weights=False)
    if problem.n_classes > MAX_CLASSES:
        raise DataError(
            f"y has {problem.n_classes} classes; gradient boosting takes at most {MAX_CLASSES}: merge rare classes, "
            "or predict a number with a regressor."
        )
    return problem


def make_fit_spec(
    model: Any,
    problem: Problem | NumberProblem,
    validation: ValidationRows | None,
    given: GivenOffsets = NO_OFFSETS,
) -> FitSpec:
    """What a gradient booster trains on a checked problem, with the offsets that are ``given`` for its rows."""
    family, target, offset = _family_and_target(model, problem, given)
    strata = None if isinstance(problem, NumberProblem) else problem.codes
    weights, columns_val, n_rows = problem.weights, None, len(target)
    if validation is not None:
        n_val = n_validation_rows(validation)
        with passed_as("X_val"):
            columns_val = check_table(model, validation.X, problem.columns.schema)
        offset_val = read_offset(family, validation.offsets, n_val, "_val")
        target_val = validation_target(problem, family, validation.y, offset_val).astype(target.dtype)
        if columns_val.n_rows != len(target_val):
            raise DataError(f"X_val has {columns_val.n_rows} rows, but y_val has {len(target_val)}.")
        weights = joined_weights(weights, n_rows, validation.weights, len(target_val))
        target = np.concatenate([target, target_val])
        offset = None if offset is None or offset_val is None else np.concatenate([offset, offset_val], axis=-1)
    offsets = row_offsets(family, offset, weights, n_rows)
    constraints = monotone_constraints(model, problem.columns, family)
    config = TrainingConfig.of(model, constraints, interaction_groups(model, problem.columns))
    uses_held_out_rows = model.early_stopping and (config.patience is not None or family.has_scale)
    return FitSpec(
        columns=problem.columns,
        validation=columns_val,
        y=target,
        weights=times_exposures(weights, offsets),
        family=family,
        strata=strata,
        config=config,
        max_bins=int(model.max_bins),
        hold_out=float(model.validation_fraction) if uses_held_out_rows else 0.0,
        seed=seed_from(model.random_state),
        is_repeatable=isinstance(model.random_state, Integral),
        n_jobs=model.n_jobs,
        progress=Progress(type(model).__name__, model._n_members, model.verbose, "held-out negative log-likelihood"),
        offsets=offsets,
    )


def _family_and_target(
    model: Any, problem: Problem | NumberProblem, given: GivenOffsets
) -> tuple[RegressionFamily | ClassificationFamily, np.ndarray, np.ndarray | None]:
    """The fitted family, the internal target, and the offsets of the rows in the terms of the target."""
    if isinstance(problem, NumberProblem):
        unfitted = unfitted_family(model.distribution)
        if hasattr(model, "n_members") and not unfitted.is_distribution:
            message = (
                f"distribution={unfitted.name!r} is for single models: an ensemble needs variances of its members."
            )
            raise ParameterError(message, argument="distribution")
        offset = read_offset(unfitted, given, len(problem.y))
        y = without_offset(unfitted, problem.y, offset)
        family = fitted_family(unfitted, y, problem.weights, offset)
        return family, family.internal(y), offset
    two_classes = problem.n_classes == 2
    kind = Bernoulli() if two_classes else Categorical(n_classes=problem.n_classes)
    target = problem.codes.astype(np.float64 if two_classes else np.int32)
    return kind, target, read_offset(kind, given, len(target))


def validation_target(
    problem: Problem | NumberProblem,
    family: RegressionFamily | ClassificationFamily,
    y_val: Any,
    offset: np.ndarray | None = None,
    name: str = "y_val",
) -> np.ndarray:
    """The target of the validation rows: internal to the family, or the codes of labels."""
    if isinstance(family, RegressionFamily):
        return family.internal(without_offset(family, check_numbers(y_val, name), offset, name), name)
    assert isinstance(problem, Problem)
    labels, classes = check_labels(y_val, name), problem.classes
    with naming(name):  # not every text can be compared with numbers
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        unknown = np.asarray(classes[codes] != labels)  # unlike np.not_equal, it compares text with numbers
    if unknown.any():
        raise DataError(f"{name} has labels that y does not have: {np.unique(labels[unknown])[:5].tolist()}.")
    return codes


def monotone_constraints(
    model: Any, columns: Columns, family: RegressionFamily | ClassificationFamily
) -> tuple[int, ...] | None:
    """The monotone constraint of every column, from a list or a dict by name; None if no column has one."""
    by_column = model.monotonic_cst
    if by_column is None:
        return None
    if isinstance(by_column, dict):
        names = list(getattr(model, "feature_names_in_", ()))
        unknown = sorted(map(str, set(by_column) - set(names)))
        if unknown:
            raise ParameterError(f"monotonic_cst names columns that X does not have: {unknown}.")
        by_column = [by_column.get(name, 0) for name in names]
    signs = array_of("monotonic_cst", by_column)
    if signs.shape != (columns.n_columns,) or not np.isin(signs, (-1, 0, 1)).all():
        raise ParameterError(
            f"monotonic_cst must have one of -1, 0 and 1 for each of the {columns.n_columns} columns, "
            f"or be a dict of column names, got {model.monotonic_cst!r}."
        )
    if any(signs[j] != 0 for j in columns.schema.categories):
        raise ParameterError("monotonic_cst must be 0 for categorical columns: categories have no order.")
    if not signs.any():
        return None
    if isinstance(family, ClassificationFamily) and family.n_outputs > 1:
        raise ParameterError(f"monotonic_cst is for two classes, y has {family.n_outputs}: leave it at None.")
    if not family.constrained_outputs:
        message = f"monotonic_cst is not for distribution={family.name!r}, whose mean depends on two outputs: "
        raise ParameterError(f"{message}choose another, or leave it at None.", argument="monotonic_cst")
    if isinstance(family, RegressionFamily) and family.n_locations > 1:
        raise ParameterError("monotonic_cst would hold for the lowest quantile only: fit a model for each level.")
    return tuple(signs.astype(np.int64).tolist())
