"""Models on deployment data whose target is known: the audited one, and boosters that are trained for it."""

import warnings
from dataclasses import dataclass
from typing import Any

from surefoot._exceptions import CoverageWarning
from surefoot.report.inputs.deployment_data import DeploymentData, sample_of
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.candidate_models import CandidateModel
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.scoring import ERROR_RATE, LOG_LOSS, RMSE, Outcome, gain_of
from surefoot.report.sections.accuracy.findings import ModelScore
from surefoot.report.sections.shift.density_ratio import importance_weights
from surefoot.report.sections.shift.deployment_loss import loss_interval
from surefoot.report.time_budget import TimeBudget
from surefoot.shift import VMatrixBoostingClassifier, VMatrixBoostingRegressor

MAX_ROWS = 20_000  # of either table, for boosters that are trained for the deployment data


@dataclass(frozen=True)
class DeployedModel:
    """A model, and what it makes of the deployment rows."""

    candidate: CandidateModel
    outcome: Outcome
    audited: bool = False


def deployed_models(
    table: AuditTable,
    splits: Splits,
    deployment: DeploymentData,
    fitted: list[DeployedModel],
    seed: int,
    n_jobs: int | None,
    budget: TimeBudget,
) -> list[DeployedModel]:
    """The fitted ones, then plain, importance-weighted and V-matrix boosting, if there is time for these."""
    if not budget.has_time_for("boosters trained for the deployment data", 0.95):
        return fitted
    rows = sample_of(splits.rows, MAX_ROWS, seed)
    X, there = table.frame.iloc[rows], deployment.frame.iloc[deployment.sample(MAX_ROWS, seed)]
    weights = importance_weights(table, X, there, seed=seed, n_jobs=n_jobs)
    y = table.target.labels[rows]
    kind: Any = VMatrixBoostingClassifier if table.target.is_classes else VMatrixBoostingRegressor
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)
        plain = kind(blend=0, **shared).fit(X, y)
        weighted = kind(blend=0, **shared).fit(X, y, weights)
        for_there = kind(**shared).fit(X, y, X_target=there)
    trained = [
        ("plain boosting", "squared loss on the training rows", plain),
        ("importance-weighted boosting", "training rows weighted to look like deployment data", weighted),
        ("V-matrix boosting", "the loss as deployment rows see it", for_there),
    ]
    found = list(fitted)
    for name, description, model in trained:
        candidate = CandidateModel(name, description, model)
        found.append(DeployedModel(candidate, deployment.outcome(candidate, model, table.target)))
    return found


def scores_there(models: list[DeployedModel], is_classes: bool) -> tuple[ModelScore, ...]:
    """Their losses on the deployment data, and what they remove of the constant's loss, which comes first."""
    base = models[0].outcome
    return tuple(_score(model, base, is_classes) for model in models)


def _score(model: DeployedModel, base: Outcome, is_classes: bool) -> ModelScore:
    outcome = model.outcome
    return ModelScore(
        name=model.candidate.name,
        what=model.candidate.description,
        loss=loss_interval(outcome, ERROR_RATE if is_classes else RMSE),
        gain=gain_of(outcome, base),
        auc=outcome.auc,
        seconds=float("nan"),
        chosen=model.audited,
        yours=model.candidate.raw,
        log_loss=None if outcome.log_losses is None else loss_interval(outcome, LOG_LOSS),
    )


def deployed(fitted: CrossFitted, deployment: DeploymentData, audited: bool = False) -> DeployedModel:
    """A candidate, fitted to all training rows, on the deployment data."""
    model = fitted.candidate.fit(fitted.table, fitted.splits.rows)
    outcome = deployment.outcome(fitted.candidate, model, fitted.table.target)
    return DeployedModel(fitted.candidate, outcome, audited)
