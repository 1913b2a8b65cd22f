"""What one call of ``fit`` trains: the configuration of the models, the rows, and what all members share."""

import inspect
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import threads_for
from surefoot._progress import Progress
from surefoot._random import seed_from
from surefoot.data import Columns
from surefoot.data.problem import (
    NumberProblem,
    Problem,
    check_labels,
    check_number_problem,
    check_numbers,
    check_problem,
    check_table,
    check_weights,
)
from surefoot.trees.gradient_grower import GrowthRules
from surefoot.uncertainty.families import (
    REGRESSION_FAMILIES,
    Bernoulli,
    Categorical,
    ClassificationFamily,
    RegressionFamily,
)
from surefoot.uncertainty.recalibration import Recalibration

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

    @property
    def differs_by_seed(self) -> bool:
        """Whether models with different seeds differ; a single model without noise is the same for every seed."""
        return self.langevin or self.subsample < 1.0

    @classmethod
    def of(cls, model: Any, constraints: tuple[int, ...] | None) -> "TrainingConfig":
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
            ),
            subsample=model._row_fraction,
            langevin=model._uses_langevin,
            temperature=model.temperature,
            patience=int(model.n_iter_no_change) if stops else None,
            runs_its_length=not may_stop,
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
class TrainingRows:
    """The internal target and the weight of every row of the table; which rows are trained on and which held out."""

    y: np.ndarray
    weights: np.ndarray | None
    train: np.ndarray  # uint32
    held_out: np.ndarray  # uint32

    def shard(self, first: int, stop: int) -> "TrainingRows":
        """The rows from ``first`` to ``stop``, numbered from 0."""

        def own(rows: np.ndarray) -> np.ndarray:
            return rows[np.searchsorted(rows, first) : np.searchsorted(rows, stop)] - np.uint32(first)

        weights = None if self.weights is None else self.weights[first:stop]
        return TrainingRows(y=self.y[first:stop], weights=weights, train=own(self.train), held_out=own(self.held_out))

    @property
    def all_weights(self) -> np.ndarray:
        """The weights as an array."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    @cached_property
    def train_weight(self) -> float:
        """The weight of the rows that are trained on."""
        return float(len(self.train)) if self.weights is None else float(self.weights[self.train].sum())

    @cached_property
    def held_out_weight(self) -> float:
        """The weight of the rows that are held out."""
        return float(len(self.held_out)) if self.weights is None else float(self.weights[self.held_out].sum())


class ValidationRows(NamedTuple):
    """The validation rows as the user passed them."""

    X: Any
    y: Any
    weights: Any


@dataclass(frozen=True)
class FitSpec:
    """A table with its target, and everything that all members share.

    Rows from ``n_training_rows`` on are the validation rows that the user passed.
    """

    columns: Columns
    validation: Columns | None
    y: np.ndarray
    weights: np.ndarray | None
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
            return self.y[np.newaxis].astype(np.float64)
        return (self.y == self.informative_outputs[:, np.newaxis]).astype(np.float64)

    @property
    def informative_outputs(self) -> np.ndarray:
        """The outputs that statistics of categories inform about: the first parameter, or the most frequent classes."""
        if self.family.n_outputs == 1 or self.family.natural:
            return np.array([0])
        return np.argsort(-np.bincount(self.y[: self.n_training_rows]), kind="stable")[:MAX_TARGETS]

    def start(self, rows: np.ndarray) -> np.ndarray:
        """The constant outputs under which some rows are most likely."""
        weights = None if self.weights is None else self.weights[rows]
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


def make_fit_spec(model: Any, problem: Problem | NumberProblem, validation: ValidationRows | None) -> FitSpec:
    """What a gradient booster trains on a checked problem."""
    family: RegressionFamily | ClassificationFamily
    if isinstance(problem, NumberProblem):
        family, strata = regression_family(model.distribution, problem.y, problem.weights), None
        target = family.internal(problem.y)
    else:
        two_classes = problem.n_classes == 2
        family, strata = Bernoulli() if two_classes else Categorical(n_classes=problem.n_classes), problem.codes
        target = problem.codes.astype(np.float64 if two_classes else np.int32)
    weights, columns_val = problem.weights, None
    if validation is not None:
        target_val = _validation_target(problem, family, validation.y).astype(target.dtype)
        columns_val = check_table(model, validation.X, problem.columns.schema)
        if columns_val.n_rows != len(target_val):
            raise DataError(f"X_val has {columns_val.n_rows} rows, but y_val has {len(target_val)}.")
        weights = _joined_weights(weights, len(target), validation.weights, len(target_val))
        target = np.concatenate([target, target_val])
    config = TrainingConfig.of(model, monotone_constraints(model, problem.columns, family))
    uses_held_out_rows = model.early_stopping and (config.patience is not None or family.has_scale)
    return FitSpec(
        columns=problem.columns,
        validation=columns_val,
        y=target,
        weights=weights,
        family=family,
        strata=strata,
        config=config,
        max_bins=int(model.max_bins),
        hold_out=float(model.validation_fraction) if uses_held_out_rows else 0.0,
        seed=seed_from(model.random_state),
        is_repeatable=isinstance(model.random_state, Integral),
        n_jobs=model.n_jobs,
        progress=Progress(type(model).__name__, model._n_members, model.verbose, "held-out negative log-likelihood"),
    )


def regression_family(distribution: Any, y: np.ndarray, weights: np.ndarray | None = None) -> RegressionFamily:
    """The family that the parameter ``distribution`` describes, fitted to a target.

    Parameters
    ----------
    distribution : str, family or class of families
        A name such as ``"normal"``, or a family with settings, such as ``StudentT(df=4)``.
    y : array of shape (n_rows,)
    weights : array of shape (n_rows,) or None

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import StudentT
    >>> from surefoot.uncertainty.fit_spec import regression_family
    >>> regression_family("normal", np.array([1.0, 2.0]))
    Normal()
    >>> regression_family(StudentT(df=4), np.array([1.0, 2.0]))
    StudentT(df=4.0)
    """
    if isinstance(distribution, str) and distribution in REGRESSION_FAMILIES:
        distribution = REGRESSION_FAMILIES[distribution]
    if inspect.isclass(distribution) and issubclass(distribution, RegressionFamily):
        if not inspect.isabstract(distribution):
            return distribution.for_target(y, weights)
    elif isinstance(distribution, RegressionFamily):
        return distribution.fitted_to(y, weights)
    names = ", ".join(map(repr, REGRESSION_FAMILIES))
    raise ParameterError(
        f"distribution must be one of {names}, or a family such as StudentT(df=4), got {distribution!r}."
    )


def _validation_target(
    problem: Problem | NumberProblem, family: RegressionFamily | ClassificationFamily, y_val: Any
) -> np.ndarray:
    """The target of the validation rows: internal to the family, or the codes of labels."""
    if isinstance(family, RegressionFamily):
        return family.internal(check_numbers(y_val, "y_val"), "y_val")
    assert isinstance(problem, Problem)
    labels, classes = check_labels(y_val, "y_val"), problem.classes
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    unknown = classes[codes] != labels
    if unknown.any():
        raise DataError(f"y_val has labels that y does not have: {np.unique(labels[unknown])[:5].tolist()}.")
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
    signs = np.asarray(by_column)
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
    return tuple(signs.astype(np.int64).tolist())


def _joined_weights(weights: np.ndarray | None, n_rows: int, given_val: Any, n_val: int) -> np.ndarray | None:
    """Weights of the training rows, then of the validation rows."""
    weights_val = check_weights(given_val, n_val, relative=False, name="sample_weight_val")
    if weights is None and weights_val is None:
        return None
    return np.concatenate(
        [np.ones(n_rows) if weights is None else weights, np.ones(n_val) if weights_val is None else weights_val]
    )
