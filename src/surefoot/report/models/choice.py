"""The candidate that an audit is about: chosen by its loss on held-out rows."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from surefoot.report.inputs.splits import Splits
from surefoot.report.models.candidate_models import CONSTANT, ENSEMBLE
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.scoring import Outcome, excess_of
from surefoot.report.statistics.estimates import Estimate


def choose(fitted: Sequence[CrossFitted], rows: np.ndarray | slice = slice(None)) -> CrossFitted:
    """The candidate with the least log-loss or squared error on some of the judged rows; see ``choose_name``."""
    chosen = choose_name({each.name: each.outcome[rows] for each in fitted})[0]
    return next(each for each in fitted if each.name == chosen)


def choose_name(outcomes: dict[str, Outcome]) -> tuple[str, Estimate | None]:
    """The candidate with the least loss, and how far the ensemble is behind the best of the others, if it is.

    The ensemble is taken where it is not clearly behind, for it says more about its predictions than the others; of
    equal ones the first, which is the simpler.
    """
    best = min(outcomes, key=lambda name: comparable_loss(outcomes[name]))
    if ENSEMBLE not in outcomes or best in (ENSEMBLE, CONSTANT):
        return best, None
    behind = excess_of(outcomes[ENSEMBLE], outcomes[best])
    return best if behind.low > 0 else ENSEMBLE, behind


def mean_outcomes(draws: Sequence[Sequence[CrossFitted]]) -> dict[str, Outcome]:
    """The outcome of each candidate, its losses averaged over the draws of the folds in which it took part."""
    found: dict[str, list[Outcome]] = {each.name: [] for each in draws[0]}
    for each in chain.from_iterable(draws):
        found[each.name].append(each.outcome)
    return {name: Outcome.mean_of(outcomes) for name, outcomes in found.items()}


def comparable_loss(outcome: Outcome) -> float:
    """Classifiers without probabilities come last: their errors cannot be compared with log-losses."""
    labels_only = outcome.log_losses is None and not outcome.is_number
    return np.inf if labels_only else float(outcome.proper.mean())


def outcome_of_choice(fitted: Sequence[CrossFitted], splits: Splits) -> Outcome:
    """The outcome of choosing: for each fold, that of the candidate chosen on the other folds.

    The loss of the best of several models on the rows that it was chosen on is too good.
    """
    parts, order = [], []
    for _, judge in splits.folds:
        inside = np.isin(splits.judged, judge)
        parts.append(choose(fitted, ~inside).outcome[inside])
        order.append(np.flatnonzero(inside))
    back = np.argsort(np.concatenate(order), kind="stable")
    return Outcome.joined(parts)[back]
