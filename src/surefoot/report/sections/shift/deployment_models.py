"""Models on deployment data with known targets: the audited one, and boosters that are trained for it."""

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from surefoot._exceptions import CoverageWarning
from surefoot.report.inputs.deployment_data import DeploymentData, sample_of
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CandidateModel, CrossFitted
from surefoot.report.models.scoring import Outcome, measure_of
from surefoot.report.sections.accuracy.findings import ModelScore
from surefoot.report.sections.accuracy.measure import score
from surefoot.report.time_budget import TimeBudget
from surefoot.shift import VMatrixBoostingClassifier, VMatrixBoostingRegressor
from surefoot.shift.density_ratio import DensityRatio

MAX_ROWS = 20_000  # of either table, for boosters that are trained for the deployment data


@dataclass(frozen=True)
class DeployedModel:
    """A model and its outcome on the deployment data."""

    candidate: CandidateModel
    outcome: Outcome
    audited: bool = False

    @classmethod
    def of(cls, fitted: CrossFitted, deployment: DeploymentData, audited: bool = False) -> "DeployedModel":
        """A candidate, fitted to all training rows."""
        model = fitted.candidate.fit(fitted.table, fitted.splits.rows)
        outcome = deployment.outcome(fitted.candidate, model, fitted.table.target)
        return cls(fitted.candidate, outcome, audited)


def deployed_models(
    table: AuditTable,
    splits: Splits,
    deployment: DeploymentData,
    target_rows: Any,
    fitted: list[DeployedModel],
    seed: int,
    n_jobs: int | None,
    budget: TimeBudget,
) -> list[DeployedModel]:
    """The fitted models, then plain, importance-weighted and V-matrix boosting, if there is enough time for these.

    ``target_rows`` are rows of the deployment data that all count the same; the importance weights make training rows
    look like these, whatever the weights of the training rows are.
    """
    arguments = (table, splits, deployment, target_rows, seed, n_jobs)
    trained = budget.within("boosters trained for the deployment data", 0.95, partial(_trained_boosters, *arguments))
    return [*fitted, *(trained or ())]


def _trained_boosters(
    table: AuditTable, splits: Splits, deployment: DeploymentData, target_rows: Any, seed: int, n_jobs: int | None
) -> list[DeployedModel]:
    """Plain, importance-weighted and V-matrix boosting."""
    rows = sample_of(splits.rows, MAX_ROWS, seed)
    X = table.frame.iloc[rows]
    X_target = target_rows.iloc[sample_of(np.arange(len(target_rows)), MAX_ROWS, seed)]
    importance = DensityRatio.fit(X, X_target, seed=seed, n_jobs=n_jobs).weights
    y, weights = table.target.labels[rows], table.weights_of(rows)
    kind: Any = VMatrixBoostingClassifier if table.target.is_classes else VMatrixBoostingRegressor
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)
        plain = kind(blend=0, **shared).fit(X, y, weights)
        weighted = kind(blend=0, **shared).fit(X, y, importance)
        by_vmatrix = kind(**shared).fit(X, y, weights, X_target=X_target)
    trained = [
        ("plain boosting", "squared loss on the training rows", plain),
        ("importance-weighted boosting", "training rows weighted to look like the deployment data", weighted),
        ("V-matrix boosting", "the V-matrix loss of the deployment data", by_vmatrix),
    ]
    models = []
    for name, description, model in trained:
        candidate = CandidateModel(name, description, model)
        models.append(DeployedModel(candidate, deployment.outcome(candidate, model, table.target)))
    return models


def deployment_scores(models: list[DeployedModel], table: AuditTable) -> tuple[ModelScore, ...]:
    """The losses of the models on the deployment data, compared with those of the constant, which comes first."""
    constant, measure = models[0].outcome, measure_of(table.target)
    scores = []
    for model in models:
        candidate = model.candidate
        scored = score(candidate.name, candidate.description, model.outcome, constant, measure)
        scores.append(replace(scored, chosen=model.audited, yours=candidate.raw))
    return tuple(scores)
