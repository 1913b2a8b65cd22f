"""Unusual rows of each chunk: with much knowledge uncertainty, or outside the range of the training data."""

import numpy as np

from surefoot.report.inputs.deployment_chunks import Chunk
from surefoot.report.inputs.deployment_data import DeploymentData, sample_of
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.sections.over_time.chunk_units import ChunkUnits
from surefoot.report.sections.over_time.findings import UnusualFraction
from surefoot.report.sections.shift.unusual_rows import (
    RangeFlags,
    chance_of_knowledge,
    chance_of_outside,
    knowledge_limit,
)
from surefoot.report.sections.uncertainty.most_uncertain import TOP_FRACTION
from surefoot.report.statistics import rate_interval
from surefoot.report.statistics.rise_test import rise_p_value

MAX_ROWS = 12_000  # of all chunks together, for knowledge uncertainty


def chunks_outside(
    table: AuditTable,
    splits: Splits,
    deployment: DeploymentData,
    groups: np.ndarray | None,
    units: ChunkUnits,
    seed: int,
) -> tuple[UnusualFraction, ...]:
    """Count rows outside the range of the training rows, for each chunk."""
    flags = RangeFlags.of(table, splits, deployment.frame, groups)
    places = np.searchsorted(splits.rows, splits.held_out)  # units are those of the held-out rows
    expected, parts = float(flags.by_chance.mean()), []
    for chunk in deployment.chunks:
        outside = flags.outside[chunk.rows]
        ours, theirs = units.pair(flags.by_chance[places], np.arange(len(places)), chunk.rows)
        if theirs is None:
            p_value = chance_of_outside(outside, flags.by_chance)
        else:
            p_value = rise_p_value(flags.by_chance[places], outside, ours, theirs, seed)
        fraction = rate_interval(outside, theirs)
        parts.append(UnusualFraction(len(outside), int(outside.sum()), fraction, expected, p_value))
    return tuple(parts)


def uncertain_chunks(
    splits: Splits, deployment: DeploymentData, ensemble: CrossFitted, units: ChunkUnits, seed: int
) -> tuple[UnusualFraction, ...]:
    """Count rows with more knowledge uncertainty than all but a twentieth of the held-out rows, for each chunk.

    All chunks are predicted at once, by the model of the last fold; empty if it has no knowledge uncertainty.
    """
    test, model = splits.folds[-1][1], ensemble.fold_models[-1]
    places = np.searchsorted(splits.held_out, test)
    held_out = ensemble.predictions[places].knowledge
    if held_out is None:
        return ()
    chosen = [sample_of(chunk.rows, MAX_ROWS // len(deployment.chunks), seed) for chunk in deployment.chunks]
    new = np.asarray(model.predict_uncertainty(deployment.frame.iloc[np.concatenate(chosen)]).knowledge)
    of_chunks = np.split(new, np.cumsum([len(rows) for rows in chosen])[:-1])
    return tuple(
        _uncertain(held_out, values, units, (places, rows, chunk), seed)
        for values, rows, chunk in zip(of_chunks, chosen, deployment.chunks, strict=True)
    )


def _uncertain(
    held_out: np.ndarray,
    values: np.ndarray,
    units: ChunkUnits,
    of: tuple[np.ndarray, np.ndarray, Chunk],
    seed: int,
) -> UnusualFraction:
    """One chunk. The limit of a permutation test is a quantile of both tables, so that it favours neither."""
    places, rows, chunk = of
    limit, common = knowledge_limit(held_out), np.quantile(np.concatenate([held_out, values]), 1 - TOP_FRACTION)
    above = values > limit
    ours, theirs = units.pair(held_out > limit, places, rows, len(chunk.rows))
    if theirs is None:
        p_value = chance_of_knowledge(above, len(held_out))
    else:
        p_value = rise_p_value(held_out > common, values > common, ours, theirs, seed)
    expected = max(1, int(np.ceil(TOP_FRACTION * len(held_out)))) / (len(held_out) + 1)
    return UnusualFraction(len(values), int(above.sum()), rate_interval(above, theirs), expected, p_value)
