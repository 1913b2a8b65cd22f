"""Question 2: does it know what it does not know?"""

from typing import Any

import numpy as np
from scipy.stats import betabinom

from surefoot.metrics import rejection_curve
from surefoot.report.answers import Estimate, Knowing, NewRows, Rejection
from surefoot.report.calibration import calibration_of
from surefoot.report.intervals import bootstrap_interval, share_interval
from surefoot.report.least_known import STRANGE, columns_behind, least_known
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import Outcome, loss_of, measure_of
from surefoot.report.table import AuditTable
from surefoot.report.target import Target
from surefoot.uncertainty import BoostingEnsembleClassifier, BoostingEnsembleRegressor, Uncertainty

ENSEMBLE = "the ensemble"
GRID = np.linspace(0, 1, 101)
RATIO_BOOTSTRAPS = 200


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
    table: AuditTable, parts: RowParts, ensemble: Any, audited: tuple[str, np.ndarray] | None, new: Any, seed: int
) -> Knowing:
    """All that is said about question 2; ``audited`` is a model's name and predictions, None the ensemble itself."""
    target, test = table.target, parts.test
    X, groups = table.frame.iloc[test], None if parts.groups is None else parts.groups[test]
    uncertainty = ensemble.predict_uncertainty(X)
    name, predicted = (ENSEMBLE, np.asarray(ensemble.predict(X))) if audited is None else audited
    losses = target.losses(predicted, test).astype(np.float64)
    return Knowing(
        unit=uncertainty.unit,
        model=name,
        loss=loss_of(Outcome(losses, groups=groups), measure_of(target)),
        by_total=_rejection(losses, np.asarray(uncertainty.total), target.is_classes, seed, groups),
        by_knowledge=_rejection(losses, uncertainty.knowledge, target.is_classes, seed, groups),
        calibration=calibration_of(ensemble, X, target, test, groups),
        columns_behind=columns_behind(ensemble, table, X, uncertainty.knowledge),
        rows=least_known(ensemble, table, X, table.rows[test], target.labels[test], uncertainty),
        new=None if new is None else _new_rows(ensemble, table, new, uncertainty),
    )


def _rejection(
    losses: np.ndarray, uncertainty: np.ndarray, is_classes: bool, seed: int, groups: np.ndarray | None
) -> Rejection:
    """The rejection curve of row losses on a grid of shares."""
    kind, zeros = "zero_one" if is_classes else "squared_error", np.zeros(len(losses))
    shown = losses if is_classes else np.sqrt(losses)
    curve = rejection_curve(zeros, shown, uncertainty, loss=kind)
    error, random, oracle = (
        np.interp(GRID, curve.rejected, line) for line in (curve.error, curve.random, curve.oracle)
    )
    kept = np.divide(error, 1 - GRID, out=np.zeros(len(GRID)), where=GRID < 1)
    kept = kept if is_classes else np.sqrt(kept)

    def ratio(rows: np.ndarray) -> float:
        found = rejection_curve(zeros[rows], shown[rows], uncertainty[rows], loss=kind).ratio
        return float("nan") if found is None else found

    interval: Estimate | None = None
    if curve.ratio is not None:
        interval = bootstrap_interval(ratio, len(losses), seed, RATIO_BOOTSTRAPS, groups)
    threshold = np.quantile(uncertainty, 1 - GRID)
    shares, *lines = (tuple(line.tolist()) for line in (GRID, error, kept, threshold, random, oracle))
    return Rejection(shares, lines[0], lines[1], lines[2], lines[3], lines[4], interval)


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
