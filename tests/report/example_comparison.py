"""Audits of one target, before and after, with losses on the same rows or on others."""

from dataclasses import replace

import numpy as np
from example_audit import around, classification, regression

from surefoot.report.row_losses import RowLosses
from surefoot.report.sections.section import NO, PARTLY, VerdictLine
from surefoot.report.statistics import Estimate


def losses(errors, rows="a", log_losses=None, counts=None, by_groups=False):
    values = tuple(float(each) for each in errors)
    logs = None if log_losses is None else tuple(float(each) for each in log_losses)
    return RowLosses(
        rows=rows, by_groups=by_groups, counts=tuple(counts or (1,) * len(values)), errors=values, log_losses=logs
    )


def with_loss(audit, estimate, **changes):
    """The audit with another loss of the audited model."""
    models = tuple(replace(each, loss=estimate) if each.chosen else each for each in audit.accuracy.models)
    return audit.but(accuracy=replace(audit.accuracy, models=models), **changes)


def squared_errors(scale, n_rows=442, seed=0):
    return (scale * np.random.default_rng(seed).normal(size=n_rows)) ** 2


def better_regression():
    """The same rows with a clearly smaller error, which the two intervals alone would not show."""
    before = squared_errors(54.3)
    after = before * 0.9 * np.random.default_rng(1).uniform(0.95, 1.05, size=len(before))
    one, other = np.sqrt(before.mean()), np.sqrt(after.mean())
    return (
        with_loss(regression(), around(one, 6.0), row_losses=losses(before)),
        with_loss(regression(), around(other, 6.0), row_losses=losses(after)),
    )


def other_classification():
    """Another table, with a worse answer and a larger error."""
    plain = classification()
    verdict = tuple(
        VerdictLine(line.question, {"yes": PARTLY, "partly": NO}.get(line.answer, line.answer), line.sentence)
        for line in plain.verdict
    )
    subject = replace(plain.subject, fingerprint="fedcba9876543210", source="credit-may.csv", n_rows=1100)
    return with_loss(plain, Estimate(0.44, 0.4, 0.48), subject=subject, verdict=verdict, version="0.2.0")
