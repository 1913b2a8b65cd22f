"""Which columns the knowledge uncertainty of a row comes from.

Knowledge uncertainty is a function of the raw outputs of the members, and each of these is the sum of the SHAP values
of the columns. All values grow together from 0 to their full size, and the outputs from their bases to those of the
row. What a column's values add to the knowledge uncertainty on the way is its attribution (Aumann and Shapley 1974):
the integral of the derivative in the direction of the column's values. The attributions and the knowledge uncertainty
at the bases add up to that of the row.

Where a member's mean is a multiple of its first output, knowledge uncertainty is a variance, and the integral is the
covariance of the column's values with the sum of outputs and bases, over the members. That is the Shapley value of the
variance of the sum of the values of a set of columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp

from surefoot.data import Columns
from surefoot.uncertainty.decomposition import classification_uncertainty, regression_uncertainty
from surefoot.uncertainty.explanations.member_shap import MemberShap, for_each_members_block
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily

POINTS = (4, 16, 64, 256)  # of the integral: more of them for the rows where fewer do not suffice
TOLERANCE = 1e-11  # of the sum, as a fraction of the knowledge uncertainty at both ends


def knowledge_values(
    shaps: list[MemberShap],
    family: RegressionFamily | ClassificationFamily,
    columns: Columns,
    n_jobs: int | None,
    cuts: Sequence[int] | None = None,
) -> tuple[np.ndarray, float]:
    """Attributions (rows, columns) of the knowledge uncertainty, and that without any column."""
    all_cuts = [shap.member.trees.forest.n_trees for shap in shaps] if cuts is None else cuts
    pairs = list(zip(shaps if cuts is None else shaps * len(cuts), all_cuts, strict=True))
    bases = np.stack([shap.base(cut) for shap, cut in pairs])
    bounds = np.stack([shap.bounds(cut) for shap, cut in pairs])
    if isinstance(family, RegressionFamily):
        bounds = np.clip(bounds, family.floor, family.cap)
    knowledge = MemberKnowledge(family)
    starts = bases.copy()
    starts[:, -1] = np.clip(starts[:, -1], *bounds.T)
    out = np.empty((columns.n_rows, columns.n_columns))

    def attribute(values: np.ndarray, start: int, stop: int) -> None:
        _scale_to_bounds(values, bases, bounds)
        out[start:stop] = _integrated(knowledge, starts, values)

    for_each_members_block(shaps, cuts, columns, n_jobs, attribute)
    return out, float(knowledge.of(starts[:, :, np.newaxis])[0])


def _scale_to_bounds(values: np.ndarray, bases: np.ndarray, bounds: np.ndarray) -> None:
    """Where the last output is beyond its bounds, multiply its values so that they lead to the bound."""
    last = values[:, -1]
    low, high = bounds[:, :1], bounds[:, 1:]
    sums = last.sum(axis=1)
    outputs = bases[:, -1:] + sums
    kept = np.clip(outputs, low, high) - np.clip(bases[:, -1:], low, high)
    factor = np.divide(kept, sums, out=np.ones_like(sums), where=sums != 0)
    is_inside = (outputs >= low) & (outputs <= high) & (bases[:, -1:] >= low) & (bases[:, -1:] <= high)
    last *= np.where(is_inside, 1.0, factor)[:, np.newaxis]


def _integrated(knowledge: "MemberKnowledge", starts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Attributions (rows, columns): the integral, with more points for the rows where the sum is not exact."""
    totals = values.sum(axis=2)
    first, last = starts[:, :, np.newaxis], starts[:, :, np.newaxis] + totals
    low, high = knowledge.of(first), knowledge.of(last)
    out = np.empty((values.shape[3], values.shape[2]))
    rows = np.arange(values.shape[3])
    for n_points in POINTS:
        slopes = _mean_slopes(knowledge, first, totals[:, :, rows], n_points)
        out[rows] = np.einsum("mki,mkji->ij", slopes, values[:, :, :, rows])
        error = np.abs(out[rows].sum(axis=1) - (high[rows] - low))
        rows = rows[error > TOLERANCE * (high[rows] + low)]
        if len(rows) == 0:
            break
    return out


def _mean_slopes(knowledge: "MemberKnowledge", first: np.ndarray, totals: np.ndarray, n_points: int) -> np.ndarray:
    """The mean of the derivatives (members, outputs, rows) on the way to the outputs of the rows."""
    places, weights = np.polynomial.legendre.leggauss(n_points)
    slopes = np.zeros_like(totals)
    for place, weight in zip(places, weights, strict=True):
        slopes += 0.5 * weight * knowledge.slopes(first + 0.5 * (1.0 + place) * totals)
    return slopes


@dataclass(frozen=True)
class MemberKnowledge:
    """Knowledge uncertainty as a function of the raw outputs (members, outputs, rows), and its derivatives."""

    family: Any

    def of(self, raw: np.ndarray) -> np.ndarray:
        """The knowledge uncertainty of every row."""
        if isinstance(self.family, RegressionFamily):
            return regression_uncertainty([self.family.moments(member)[0] for member in raw]).knowledge
        return classification_uncertainty([self.family.probabilities(member) for member in raw]).knowledge

    def slopes(self, raw: np.ndarray) -> np.ndarray:
        """The derivatives by every output, (members, outputs, rows)."""
        if isinstance(self.family, RegressionFamily):
            means = np.stack([self.family.moments(member)[0] for member in raw])
            from_mean = means - means.mean(axis=0)
            mean_slopes = np.stack([self.family.mean_slopes(member) for member in raw])
            return 2.0 / len(raw) * from_mean[:, np.newaxis] * mean_slopes
        return _class_slopes(raw)


def _class_slopes(raw: np.ndarray) -> np.ndarray:
    """The derivatives of the mutual information by log-odds, or by the scores of classes."""
    is_binary = raw.shape[1] == 1
    scores = np.concatenate([np.zeros_like(raw), raw], axis=1) if is_binary else raw
    log_p = log_softmax(scores, axis=1)
    ratios = log_p - (logsumexp(log_p, axis=0) - np.log(len(raw)))  # logs of each member's over the mean probabilities
    p = np.exp(log_p)
    slopes = p * (ratios - (p * ratios).sum(axis=1, keepdims=True)) / len(raw)
    return slopes[:, 1:] if is_binary else slopes
