"""Four questions about one table and the model of it, and their answers."""

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot._parameters import check_choice
from surefoot._whole_files import write_text
from surefoot.report.run import AuditRun
from surefoot.report.sections.accuracy.findings import AccuracyFindings
from surefoot.report.sections.section import VerdictLine
from surefoot.report.sections.sentences import NAMES
from surefoot.report.sections.shift.findings import ShiftFindings
from surefoot.report.sections.stability.findings import StabilityFindings
from surefoot.report.sections.uncertainty.findings import UncertaintyFindings
from surefoot.report.subject import Subject
from surefoot.report.time_budget import ProgressCallback
from surefoot.report.verdict import verdict


@dataclass(frozen=True, repr=False)
class Audit:
    """What an audit found; made by `audit`. In a notebook it shows its verdict.

    Attributes
    ----------
    subject : Subject
        What was audited: target, task, rows, columns, and what was noticed about them.
    verdict : tuple of five Lines
        A headline, and for each question an ``answer`` ("yes", "partly", "no", "unknown") and a ``sentence``.
    accuracy, uncertainty, stability, shift : records of numbers
        The answers to the four questions. None where there was no time for one.
    seconds : float
    random_state : int
    version, command : str

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surefoot import audit
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = audit(X, y, time_limit=0.01)  # a trial: nearly everything is left out
    >>> found.subject.task, found.answer("shift")
    ('classes', 'unknown')
    """

    subject: Subject
    verdict: tuple[VerdictLine, ...]
    accuracy: AccuracyFindings
    uncertainty: UncertaintyFindings | None
    stability: StabilityFindings | None
    shift: ShiftFindings | None
    seconds: float
    random_state: int
    version: str
    command: str | None = None

    def answer(self, question: str) -> str:
        """The answer to one of "accuracy", "uncertainty", "stability" and "shift"."""
        return self.verdict[1 + NAMES.index(check_choice("question", question, NAMES))].answer

    def to_html(self, path: str | Path | None = None) -> str:
        """The page: one file that needs nothing else. With ``path`` it is written there, whole or not at all."""
        from surefoot.report.page.document import page_html

        text = page_html(self)
        if path is not None:
            write_text(Path(path), text)
        return text

    def to_json(self, path: str | Path | None = None) -> str:
        """All numbers as JSON; what is not a finite number is null."""
        text = json.dumps(_plain(dataclasses.asdict(self)), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if path is not None:
            write_text(Path(path), text)
        return text

    def __repr__(self) -> str:
        head, *lines = self.verdict
        told = [f"{line.question} {line.answer.capitalize()}. {line.sentence}" for line in lines]
        return "\n".join([head.sentence, *told])

    def _repr_html_(self) -> str:
        from html import escape

        head, *lines = self.verdict
        rows = "".join(
            f"<tr><td>{escape(line.question)}</td><td><b>{escape(line.answer)}</b></td><td>{escape(line.sentence)}</td></tr>"
            for line in lines
        )
        return f"<div><p><b>{escape(head.sentence)}</b></p><table>{rows}</table></div>"


def audit(
    X: Any,
    y: Any,
    *,
    X_new: Any = None,
    y_new: Any = None,
    model: Any = None,
    predictions: Any = None,
    groups: Any = None,
    time: Any = None,
    task: str | None = None,
    shift_tolerance: float = 0.25,
    time_limit: float | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    watch: ProgressCallback | None = None,
) -> Audit:
    """Ask four questions about a table of data and the model of it.

    Is it as accurate as the data allows? Does it know what it does not know? Would the conclusion survive dropping a
    row? Does it hold where it will be used? All four answers are about one model, yours or the one that is chosen.
    Every row is held out once, and predicted by models that have not seen it. An answer is *yes* or *no* where an
    interval lies inside or outside a stated tolerance, and *unknown* otherwise.

    Parameters
    ----------
    X : array, pandas or polars frame of shape (n_rows, n_columns)
        Dates, text and missing values are taken as they are.
    y : array or series of shape (n_rows,)
        Rows without a value are left out.
    X_new : table with the columns of X, default=None
        Rows of where the model will be used.
    y_new : array of shape (n_new,), default=None
        Their target, if it is known.
    model : scikit-learn estimator, default=None
        Your own. Clones of it are fitted to the rows of X as they are, one for each fold.
    predictions : array of shape (n_rows,), default=None
        Predictions of your own for the rows of X, made by a model that has not seen them.
    groups, time : name of a column of X, or array of shape (n_rows,), default=None
        Groups of rows that belong together are held out together. By time, rows are predicted by models of earlier
        ones, and the last fifth is deployment data, unless there is ``X_new``. Neither is given to the models.
    task : {"binary", "classes", "regression"}, default=None
        None: found out, and said.
    shift_tolerance : float, default=0.25
        By what fraction the error may be larger where the model will be used, for question 4 to be answered with yes.
    time_limit : float, default=None
        Seconds. Steps for which no time is left are left out, and named.
    random_state : int, default=0
    n_jobs : int, default=None
        Threads; the numbers do not depend on it.
    watch : callable, default=None
        Called with the share that is done and the name of the step.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surefoot import audit
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = audit(X, y, time_limit=0.01)  # a trial: nearly everything is left out
    >>> found.to_html().startswith("<!DOCTYPE html>")  # to_html("wine.html") writes it
    True
    """
    return audit_run(
        X, y, X_new=X_new, y_new=y_new, model=model, predictions=predictions, groups=groups, time=time, task=task,
        shift_tolerance=shift_tolerance, time_limit=time_limit, random_state=random_state, n_jobs=n_jobs, watch=watch,
    )[1]  # fmt: skip


def audit_run(X: Any, y: Any, **arguments: Any) -> tuple[AuditRun, Audit]:
    """An audit with everything that was fitted for it; the arguments are those of `audit`."""
    from surefoot import __version__

    run = AuditRun.begin(X, y, **arguments)
    answers = run.answers()
    subject = run.subject()
    lines = verdict(subject, *answers)
    return run, Audit(subject, lines, *answers, run.budget.seconds, run.seed, __version__)


def _plain(value: Any) -> Any:
    """The same with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
