"""Question 2: does it know what it does not know?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import betabinom

from surefoot.report.answers import Knowing, NewRows
from surefoot.report.calibration import calibration_of_intervals, calibration_of_probabilities
from surefoot.report.intervals import share_interval
from surefoot.report.least_known import STRANGE, columns_behind, least_known
from surefoot.report.rejecting import claimed_ratio, rejection_of
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import Outcome, loss_of, measure_of
from surefoot.report.table import AuditTable
from surefoot.report.target import Target
from surefoot.uncertainty import BoostingEnsembleClassifier, BoostingEnsembleRegressor, Uncertainty

ENSEMBLE = "the ensemble"
CLAIM_DRAWS = 100


@dataclass(frozen=True)
class OwnPredictions:
    """What a user's own model predicts for the held-out rows, and its probabilities of the classes if it gives any."""

    name: str
    values: np.ndarray
    probabilities: np.ndarray | None


def new_ensemble(target: Target, method: str | None = None, **settings: Any) -> Any:
    """An ensemble for a target.

    Of classes by drawn rows: then rounds stop where held-out rows no longer gain, and on noise it says nothing.
    """
    if target.is_classes:
        return BoostingEnsembleClassifier(method=method or "sgb", **settings)
    return BoostingEnsembleRegressor(method=method or "sglb", **settings)


def fit_ensemble(table: AuditTable, rows: np.ndarray, seed: int, n_jobs: int | None) -> Any:
    """The ensemble whose members' disagreement tells what is not known."""
    model = new_ensemble(table.target, random_state=seed, n_jobs=n_jobs)
    return model.fit(table.frame.iloc[rows], table.target.labels[rows])


def knowing(
    table: AuditTable, parts: RowParts, ensemble: Any, own: OwnPredictions | None, new: Any, seed: int
) -> Knowing:
    """All that is said about question 2; ``own`` predictions are those looked at, None: the ensemble's."""
    target, test = table.target, parts.test
    X, groups = table.frame.iloc[test], None if parts.groups is None else parts.groups[test]
    uncertainty = ensemble.predict_uncertainty(X)
    total, is_classes = np.asarray(uncertainty.total), target.is_classes
    guess = np.asarray(ensemble.predict(X))
    predicted = guess if own is None else own.values
    losses = target.losses(predicted, test).astype(np.float64)
    said = ensemble.predict_proba(X) if is_classes else ensemble.predict_distribution(X)
    own_calibration = None
    if own is not None and own.probabilities is not None:
        own_calibration = calibration_of_probabilities(own.probabilities, own.values, target, test, groups)
    if is_classes:
        calibration = calibration_of_probabilities(said, guess, target, test, groups)
    else:
        calibration = calibration_of_intervals(said, target, test, groups)
    claimed = claimed_ratio(_imagined(said, target, predicted, seed), total, is_classes)
    return Knowing(
        unit=uncertainty.unit,
        model=ENSEMBLE if own is None else own.name,
        loss=loss_of(Outcome(losses, groups=groups), measure_of(target)),
        by_total=replace(rejection_of(losses, total, is_classes, seed, groups), claimed=claimed),
        by_knowledge=rejection_of(losses, uncertainty.knowledge, is_classes, seed, groups),
        calibration=calibration,
        columns_behind=columns_behind(ensemble, table, X, uncertainty.knowledge),
        rows=least_known(ensemble, table, X, table.rows[test], target.labels[test], uncertainty),
        new=None if new is None else _new_rows(ensemble, table, new, uncertainty),
        own_calibration=own_calibration,
        by_groups=groups is not None,
    )


def _imagined(said: Any, target: Target, predicted: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """Losses of the same predictions, were each target drawn from what the ensemble says of it."""
    generator = np.random.default_rng(seed)
    for _ in range(CLAIM_DRAWS):
        if target.is_classes:
            beyond = said.cumsum(axis=1) < generator.random((len(said), 1))
            drawn = target.classes[np.minimum(beyond.sum(axis=1), len(target.classes) - 1)]
            yield (predicted != drawn).astype(np.float64)
        else:
            yield np.square(np.asarray(predicted, dtype=np.float64) - said.sample(1, generator)[0])


def _new_rows(ensemble: Any, table: AuditTable, new: Any, held_out: Uncertainty) -> NewRows:
    """How many new rows are stranger than the strangest twentieth of the held-out rows.

    Were the new rows like those, the share above the j-th largest of m held-out values would follow a beta
    distribution, and the number of n new rows above it a beta-binomial one.
    """
    found = ensemble.predict_uncertainty(new)
    m, n = len(held_out), len(found)
    j = max(1, int(np.ceil(STRANGE * m)))
    above = found.knowledge > np.sort(held_out.knowledge)[m - j]
    p_value = float(betabinom.sf(above.sum() - 1, n, j, m + 1 - j))
    rows = least_known(ensemble, table, new, np.arange(n), None, found)
    return NewRows(n, int(above.sum()), share_interval(above), j / (m + 1), p_value, rows)
