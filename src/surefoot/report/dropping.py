"""What leaving out some rows, or a whole group, does to the conclusions; measured, without any guarantee."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.report.accuracy import Fitted
from surefoot.report.answers import Drop, Estimate
from surefoot.report.clock import Clock
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import Outcome, loss_of, measure_of
from surefoot.report.stability import LASSO, SelectionFrame, fit_stable
from surefoot.report.table import AuditTable
from surefoot.selection import StableSelector

SHARE = 0.01
TIMES = 5
MOST_GROUPS = 10
FEWEST_LEFT = 20


@dataclass(frozen=True)
class Dropper:
    """Refits what was found on all training rows, without some of them."""

    table: AuditTable
    parts: RowParts
    chosen: Fitted
    stable: StableSelector | None
    seed: int
    n_jobs: int | None

    def random_rows(self, clock: Clock) -> Drop:
        """Leave out one row in a hundred, several times."""
        train = self.parts.train
        n_dropped = max(1, round(SHARE * len(train)))
        generator = np.random.default_rng(self.seed)
        kept = [np.sort(generator.permutation(train)[n_dropped:]) for _ in range(TIMES)]
        return self._drop(f"a random {n_dropped / len(train):.0%} of the training rows", n_dropped, kept, None, clock)

    def groups(self, names: np.ndarray, clock: Clock) -> tuple[Drop, ...]:
        """Leave out each of the largest groups, and predict it by a model that has not seen it."""
        train = self.parts.train
        found, counts = np.unique(names[train].astype(str), return_counts=True)
        drops = []
        for name in found[np.argsort(-counts, kind="stable")[:MOST_GROUPS]]:
            inside = names[train].astype(str) == name
            if np.sum(~inside) < FEWEST_LEFT or not clock.has_time_for(f"leaving out group {name}", 0.9):
                continue
            drops.append(self._drop(f"group {name}", int(inside.sum()), [train[~inside]], train[inside], clock))
        return tuple(drops)

    def _drop(self, what: str, n_dropped: int, kept: list[np.ndarray], own: np.ndarray | None, clock: Clock) -> Drop:
        disjoint: list[bool] = []
        single: list[bool] = []
        changes: list[float] = []
        loss = None
        clock.step(0.85, f"question 3: without {what}")
        for rows in kept:
            if self.stable is not None:
                without = fit_stable(SelectionFrame.of(self.table, rows), LASSO, self.seed, self.n_jobs)
                disjoint.append(not set(without.selected_) & set(self.stable.selected_))
                single.append(without.select_once() != self._claim)
            change, loss = self._refit(rows, own)
            changes.append(change)
        means = [float(np.mean(each)) if each else None for each in (disjoint, single, changes)]
        return Drop(what, n_dropped, len(kept), means[0], means[1], means[2], loss)

    @cached_property
    def _claim(self) -> Any:
        """What one look at all training rows claims."""
        return None if self.stable is None else self.stable.select_once()

    @cached_property
    def _predicted(self) -> np.ndarray:
        """The held-out predictions of the model that has seen all training rows."""
        return self.chosen.contestant.predict(self.chosen.model, self.table, self.parts.test)

    def _refit(self, rows: np.ndarray, own: np.ndarray | None) -> tuple[float, Estimate | None]:
        """How far the held-out predictions change, and the loss on the rows left out."""
        contestant, table, test = self.chosen.contestant, self.table, self.parts.test
        model = contestant.fitted(table, rows)
        before, after = self._predicted, contestant.predict(model, table, test)
        if table.target.is_classes:
            change = float(np.mean(before != after))
        else:
            change = float(np.sqrt(np.mean((before - after) ** 2) / max(self.chosen.outcome.losses.mean(), 1e-300)))
        if own is None:
            return change, None
        losses = table.target.losses(contestant.predict(model, table, own), own)
        return change, loss_of(Outcome(losses), measure_of(table.target))
