"""The course of an audit: what is trained once, and used for several questions."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from surefoot._exceptions import DataError
from surefoot.report.accuracy import Fitted, accuracy, choose, compare
from surefoot.report.answers import Accuracy, Drop, Knowing, Stability, Subject, Transfer
from surefoot.report.arguments import AuditArguments
from surefoot.report.clock import Clock
from surefoot.report.contestants import YOUR_PREDICTIONS, YOURS, Contestant, contestants
from surefoot.report.dropping import Dropper
from surefoot.report.knowing import OwnPredictions, fit_ensemble, knowing
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import Predictions, probabilities_of
from surefoot.report.stability import LASSO, SelectionFrame, fit_stable, stable_set
from surefoot.report.table import AuditTable
from surefoot.report.transfer import There, nowhere, transfer


@dataclass
class Course:
    """A checked table and everything that is fitted to it, each once."""

    table: AuditTable
    parts: RowParts
    there: There | None
    groups: np.ndarray | None
    own: Contestant | None
    predictions: Predictions | None
    seed: int
    n_jobs: int | None
    clock: Clock
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def begin(cls, X: Any, y: Any, **arguments: Any) -> Self:
        """Check everything before anything is trained."""
        given = AuditArguments(X=X, y=y, **arguments)
        clock = Clock(given.time_limit, given.watch)
        clock.step(0.0, "reading the table")
        X, groups, time = given.read_apart()
        table = AuditTable.read(X, y, given.task)
        groups, time = (None if each is None else each[table.known] for each in (groups, time))
        parts = RowParts.draw(table.target, groups, time if given.X_new is None else None, given.random_state)
        there, remarks = given.there(table, parts, time), list(table.remarks)
        if there is not None and given.X_new is not None and (n_known := table.count_known(there.frame)):
            remarks.append(f"{n_known:,} of the new rows are rows of the table: what is measured on them is no test.")
        if parts.groups is not None:
            held = len(np.unique(parts.groups[parts.test]))
            remarks.append(
                f"Whole groups were held out, {held:,} of {len(np.unique(parts.groups)):,}: intervals of errors and of "
                "their differences count groups as what was drawn, not rows."
            )
        return cls(
            table, parts, there, groups, given.own_model(table), given.own_predictions(table),
            given.random_state, given.n_jobs, clock, remarks,
        )  # fmt: skip

    @cached_property
    def fitted(self) -> list[Fitted]:
        """Every model of question 1 after training."""
        constant, *others = contestants(self.table, self.seed, self.n_jobs)
        own = [self.own] if self.own else []  # early: it is what the audit is about
        return compare(self.table, self.parts, [constant, *own, *others], self.seed, self.clock, self.remarks)

    @property
    def audited(self) -> Fitted:
        """The user's model, or the one that cross-validation chose."""
        own = [each for each in self.fitted if each.contestant.raw]
        return own[0] if own else choose(self.fitted)

    def accuracy(self) -> Accuracy:
        own, test = self.predictions, self.parts.test
        predicted = None if own is None else own.outcome(self.table.target, test, self.parts.groups)
        return accuracy(self.table, self.parts, self.fitted, predicted, self.seed, self.clock)

    def uncertainty(self) -> Knowing | None:
        """Question 2, if there is time for an ensemble."""
        if not self.clock.has_time_for("question 2", 0.7):
            return None
        self.clock.step(0.55, "question 2: an ensemble of boosters")
        table = self.table
        ensemble = fit_ensemble(table, self.parts.train, self.seed, self.n_jobs)
        self.clock.step(0.7, "question 2: what it does not know")
        new = None if self.there is None else self.there.frame
        return knowing(table, self.parts, ensemble, self._own_held_out(), new, self.seed)

    def _own_held_out(self) -> OwnPredictions | None:
        """What the user's own model says of the held-out rows; None if there is none."""
        table, test = self.table, self.parts.test
        if self.predictions is not None:
            chances = self.predictions.scores
            both = None if chances is None else np.column_stack([1 - chances, chances])[test]
            return OwnPredictions(YOUR_PREDICTIONS, self.predictions.values[test], both)
        if self.own is None:
            return None
        model = self.audited.model
        chances = probabilities_of(model, self.own.table_of(table, test), table.target)
        return OwnPredictions(YOURS, self.own.predict(model, table, test), chances)

    def stability(self) -> Stability | None:
        """Question 3, if there is time."""
        if not self.clock.has_time_for("question 3", 0.8):
            return None
        self.clock.step(0.75, "question 3: bags of rows")
        table = SelectionFrame.of(self.table, self.parts.train)
        if table.frame.shape[1] < 1:
            return Stability((), (), "No column has values that variables could be chosen by.")
        try:
            fits = {name: fit_stable(table, name, self.seed, self.n_jobs) for name in table.selectors}
        except DataError as error:  # numbers so large that their squares are not
            return Stability((), (), str(error))
        sets = tuple(stable_set(table, name, stable) for name, stable in fits.items())
        dropper = Dropper(self.table, self.parts, self.audited, fits.get(LASSO), self.seed, self.n_jobs)
        drops: tuple[Drop, ...] = ()
        if self.clock.has_time_for("dropping rows", 0.85):
            drops = (dropper.random_rows(self.clock),)
        if self.groups is not None:
            drops += dropper.groups(self.groups, self.clock)
        return Stability(sets, drops, None)

    def shift(self) -> Transfer | None:
        """Question 4, if someone has said where."""
        if self.there is None:
            return nowhere()
        if not self.clock.has_time_for("question 4", 0.95):
            return None
        self.clock.step(0.9, "question 4: what has shifted")
        return transfer(self.table, self.parts, self.there, self.audited, self.fitted, self.seed, self.n_jobs)

    def subject(self) -> Subject:
        """What was audited, and what was left out."""
        target, parts = self.table.target, self.parts
        late = [f"Left out for want of time: {', '.join(self.clock.left_out)}."] if self.clock.left_out else []
        shares = np.bincount(target.y) / len(target.y) if target.is_classes else np.empty(0)
        return Subject(
            target.name, target.task, target.sentence, self.table.n_rows, len(self.table.readers), len(parts.train),
            len(parts.test), 0 if self.there is None else len(self.there.frame), tuple(map(str, target.classes)),
            tuple(shares.tolist()), self.table.notes, (*self.remarks, *late),
        )  # fmt: skip
