"""Which model has the smallest loss: what the conclusion is drawn from."""

from collections.abc import Sequence

import numpy as np

from surefoot.report.models.cross_fitting import Comparison, CrossFitted
from surefoot.report.sections.sentences import listed
from surefoot.report.sections.stability.bags import Bagged

CLOSE = 0.01  # models whose losses differ by a smaller fraction are equally good for most uses


def comparable_losses(fitted: list[CrossFitted], audited: CrossFitted) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of models, and the loss of each of them on each judged row: (n_judged, n_models).

    It is the log-loss or the squared error. If the audited model gives no probabilities, it is whether the label is
    wrong, for all; other models without probabilities are left out.
    """
    models = [*fitted, *([] if any(each is audited for each in fitted) else [audited])]
    if audited.table.target.is_classes and audited.outcome.log_losses is None:
        return tuple(each.name for each in models), np.column_stack([each.outcome.losses for each in models]) * 1.0
    if audited.table.target.is_classes:
        models = [each for each in models if each.outcome.log_losses is not None]
    return tuple(each.name for each in models), np.column_stack([each.outcome.proper for each in models])


def mean_losses(draws: Sequence[Comparison]) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of models, and the mean loss of each on each judged row over the draws in which it took part."""
    names = comparable_losses(draws[0].fitted, draws[0].audited)[0]
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for draw in draws:
        for name, losses in zip(*_columns(draw), strict=True):
            found[name].append(losses)
    return names, np.column_stack([np.mean(losses, axis=0) for losses in found.values()])


def _columns(draw: Comparison) -> tuple[tuple[str, ...], np.ndarray]:
    names, losses = comparable_losses(draw.fitted, draw.audited)
    return names, losses.T


def winner_remarks(bagged: Bagged, names: tuple[str, ...], losses: np.ndarray, audited: CrossFitted) -> tuple[str, ...]:
    """By which loss, and by how much the models of the stable set differ."""
    target = audited.table.target
    measure = "squared error" if not target.is_classes else "log-loss"
    if target.is_classes and audited.outcome.log_losses is None:
        measure = "error rate"
    remarks = [f"Models are compared by their mean {measure} on rows that they have not seen."]
    inside = {name for model in bagged.selected for name in model}
    means = {name: mean for name, mean in zip(names, losses.mean(axis=0), strict=True) if name in inside}
    least = min(means.values())
    if len(means) > 1 and not bagged.undecided and least > 0:
        furthest = max(means.values()) / least - 1
        close = f": less than {CLOSE:.0%}, so that any of them will do" if furthest < CLOSE else ""
        remarks.append(f"The mean losses of {listed(list(means))} differ by {furthest:.1%}{close}.")
    return tuple(remarks)
