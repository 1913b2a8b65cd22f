"""The audit: four questions about one table and its model, and their answers."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from surefoot._exceptions import ParameterError
from surefoot._extras import needs
from surefoot._numbers import naming
from surefoot._parameters import check_choice
from surefoot.report.files.audit_files import ADDED, AuditFiles
from surefoot.report.row_losses import RowLosses
from surefoot.report.run import AuditRun
from surefoot.report.sections import NAMES, SECTIONS
from surefoot.report.sections.accuracy.findings import AccuracyFindings
from surefoot.report.sections.accuracy.verdict import headline
from surefoot.report.sections.guarantee.findings import GuaranteeFindings
from surefoot.report.sections.importance.findings import ImportanceFindings
from surefoot.report.sections.labels.findings import LabelFindings
from surefoot.report.sections.over_time.findings import OverTimeFindings
from surefoot.report.sections.own_measure.findings import OwnMeasureFindings
from surefoot.report.sections.section import Section, SectionContext, SupportingSection, VerdictLine
from surefoot.report.sections.shift.findings import ShiftFindings
from surefoot.report.sections.stability.findings import StabilityFindings
from surefoot.report.sections.subgroups.findings import SubgroupFindings
from surefoot.report.sections.uncertainty.findings import UncertaintyFindings
from surefoot.report.subject import Subject
from surefoot.report.time_budget import ProgressCallback


@dataclass(frozen=True, repr=False)
class Audit(AuditFiles):
    """The result of `audit`. In a notebook it shows its verdict.

    Parameters
    ----------
    subject : Subject
        What was audited: target, task, rows and columns, with notes on them.
    verdict : tuple of VerdictLine
        A headline, and for each question an ``answer`` ("yes", "partly", "no", "unknown") and a ``sentence``.
    accuracy, uncertainty, stability, shift : records of numbers
        The findings of the four questions. None where there was not enough time.
    seconds : float
        Duration of the audit.
    random_state : int
        The seed.
    version, command : str
        The version of surefoot, and the command line, if there was one.
    own_measure, subgroups, labels, guarantee, importance, over_time : records of numbers
        The findings of supporting sections.
    row_losses : RowLosses
        Losses on blocks of held-out rows, for comparisons with audits of the same rows.
    own_findings : dict of str to records
        The findings of your own sections by name.
    sections : tuple of Section
        The sections, in the order of the page; not part of the JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surefoot import audit
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> result = audit(X, y, time_limit=0.01)  # a very short limit: most steps are left out
    >>> result.subject.task, result.answer("shift")
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
    own_measure: OwnMeasureFindings | None = None
    subgroups: SubgroupFindings | None = None
    labels: LabelFindings | None = None
    guarantee: GuaranteeFindings | None = None
    importance: ImportanceFindings | None = None
    over_time: OverTimeFindings | None = None
    row_losses: RowLosses | None = None
    own_findings: Mapping[str, Any] = field(default_factory=dict)
    sections: tuple[Section | SupportingSection, ...] = SECTIONS

    @property
    def findings(self) -> dict[str, Any]:
        """The findings of every section by name; None where there was not enough time."""
        return {name: getattr(self, name) for name in NAMES} | dict(self.own_findings)

    def answer(self, question: str) -> str:
        """Return the answer to one question.

        Parameters
        ----------
        question : str
            "accuracy", "uncertainty", "stability" or "shift", or the name of a section of your own.

        Returns
        -------
        str
            "yes", "partly", "no" or "unknown".
        """
        names = tuple(section.name for section in self.sections if isinstance(section, Section))
        return self.verdict[1 + names.index(check_choice("question", question, names))].answer

    def __repr__(self) -> str:
        head, *lines = self.verdict
        answers = [f"{line.question} {line.answer.capitalize()}. {line.sentence}" for line in lines]
        return "\n".join([head.sentence, *answers])

    def _repr_html_(self) -> str:
        from html import escape

        head, *lines = self.verdict
        rows = "".join(
            f"<tr><td>{escape(line.question)}</td><td><b>{escape(line.answer)}</b></td><td>{escape(line.sentence)}</td></tr>"
            for line in lines
        )
        return f"<div><p><b>{escape(head.sentence)}</b></p><table>{rows}</table></div>"


@needs("pandas", "jinja2", "matplotlib")
def audit(
    X: Any,
    y: Any,
    *,
    X_new: Any = None,
    y_new: Any = None,
    model: Any = None,
    refit: bool = True,
    trained_on: Any = None,
    predictions: Any = None,
    models: str | Sequence[str] | None = None,
    metric: Any = None,
    costs: Mapping[str, Any] | None = None,
    slices: Any = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    task: str | None = None,
    shift_tolerance: float = 0.25,
    time_limit: float | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_rows: int | None = 200_000,
    sections: Sequence[Section | SupportingSection] | None = None,
    callback: ProgressCallback | None = None,
    watch: ProgressCallback | None = None,
) -> Audit:
    """Answer four questions about a table of data and its model.

    Is it as accurate as the data allows? Does it know what it does not know? Would the conclusion survive dropping a
    row? Does it hold where it will be used? All four answers are about one model: yours, or the best candidate.
    Every row is held out once, and predicted by models that were not trained on it. An answer is *yes* or *no* if an
    interval lies inside or outside a stated tolerance, and *unknown* otherwise.

    Parameters
    ----------
    X : array, pandas or polars frame of shape (n_rows, n_columns)
        The table. It may contain dates, text and missing values.
    y : array or series of shape (n_rows,)
        The target. Rows without a value are left out.
    X_new : table with the columns of X, or list or dict of tables, default=None
        Deployment data: rows from where the model will be used. Of several tables, in the order of time, each is also
        assessed by itself; a dict has their names.
    y_new : array of shape (n_new,), or list or dict of arrays like X_new, default=None
        The target of the deployment data, if it is known; values may be missing.
    model : object with ``fit`` and ``predict``, default=None
        Your own model. Copies of it are fitted to the rows of X without any preprocessing, one for each fold.
    refit : bool, default=True
        False: the model is fitted, and audited as it is; it needs no method ``fit``. It cannot be seen then whether
        more rows would help it.
    trained_on : name of a column of X, array of shape (n_rows,) or False, default=None
        With ``refit=False``: which rows the model was trained on, as booleans. The other models are trained on the same
        rows, and all are compared on the others. False: the model was trained on none of the rows. None: this is not
        known, and no question is answered with yes.
    predictions : array of shape (n_rows,), default=None
        Your own predictions for the rows of X, by a model that was not trained on them.
    models : "installed" or list of str, default=None
        Models of other libraries that take part besides ours, each with its defaults: "hist_gradient_boosting" (of
        scikit-learn), "lightgbm", "xgboost", "catboost" and "chimeraboost", or all of these that are installed. Also
        "tabicl", but only by its name, because its first fit downloads a network.
    metric : str or callable, default=None
        Your own measure: the name of a scorer of scikit-learn, or a function of a model, X and y, as ``make_scorer``
        returns it. Classes are passed to it as codes. It is reported for every model.
    costs : dict, default=None
        For two classes: what a false positive and a false negative cost, such as ``{"fp": 1, "fn": 20}``. The second
        class is the positive one, unless there is an entry ``"positive"``. The page reports the threshold that follows.
    slices : list of str, tuples of str, or series, default=None
        Columns, crossings of columns such as ``("sex", "age")``, or named series with a value for each row, by which
        errors are compared besides the columns that models use. Group columns can be named too.
    groups : name of a column of X, or array of shape (n_rows,), default=None
        Groups of rows that belong together. They are held out together, and not passed to the models.
    time : name of a column of X, or array of shape (n_rows,), default=None
        Time of the rows. Rows are predicted by models of earlier rows, and the last fifth is the deployment data,
        unless there is ``X_new``. It is not passed to the models. Deployment data with this column is also assessed in
        runs of consecutive time.
    sample_weight : name of a column of X, or array of shape (n_rows,), default=None
        How much each row counts, as in a survey: models are fitted with the weights, and errors, fractions and their
        intervals are those of the weighted rows. Deployment data has weights if it has the column. Not passed to the
        models as a column. The guide says which parts of the page are left out.
    task : {"binary", "classes", "regression"}, default=None
        The task. None detects it from the values of y; the page reports it.
    shift_tolerance : float, default=0.25
        By what fraction the loss may be higher on the deployment data for question 4 to be answered with yes.
    time_limit : float, default=None
        Seconds. Steps for which there is not enough time are stopped or left out, and listed. If the fits of your own
        model do not end in time, it is an error.
    random_state : int, default=0
        Seed of all random numbers.
    n_jobs : int, default=None
        Number of threads; the results do not depend on it.
    max_rows : int, default=200_000
        Of a table with more rows, as many are drawn at random, and the audit is about them. None: all rows.
    sections : sequence of Section, default=None
        Your own sections. They follow the four questions in the verdict, on the page and in the JSON. A section without
        a method ``verdict`` has no answer, and is not in the verdict.
    callback : callable, default=None
        Called with the fraction of the work that is done and the name of the next step.
    watch : callable, default=None
        Deprecated name of ``callback``, which will be removed in the next release.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surefoot import audit
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> result = audit(X, y, time_limit=0.01)  # a very short limit: most steps are left out
    >>> result.to_html().startswith("<!DOCTYPE html>")  # to_html("wine.html") writes a file
    True
    """
    arguments = dict(locals())
    if arguments.pop("watch") is not None:
        message = "The parameter watch was renamed to callback; the old name will be removed in the next release."
        warnings.warn(message, FutureWarning, stacklevel=2)
        arguments["callback"] = callback or watch
    return audit_run(**arguments)[1]


def audit_run(
    X: Any, y: Any, *, sections: Sequence[Section | SupportingSection] | None = None, **arguments: Any
) -> tuple[AuditRun, Audit]:
    """An audit and everything that was fitted for it; the arguments are those of `audit`."""
    from surefoot import __version__

    every = (*SECTIONS, *_checked(sections or ()))
    run = AuditRun.begin(X, y, **arguments)
    findings = run.measure(every)
    subject = run.subject()
    context = SectionContext(subject=subject, findings=findings)
    lines = [each.verdict(findings[each.name], context) for each in every if isinstance(each, Section)]
    result = Audit(
        subject=subject,
        verdict=tuple(line.doubted(subject.doubt) for line in (headline(subject, findings["accuracy"]), *lines)),
        **{name: findings[name] for name in NAMES},
        seconds=run.budget.seconds,
        random_state=run.seed,
        version=__version__,
        row_losses=RowLosses.of(run),
        own_findings={name: own for name, own in findings.items() if name not in NAMES},
        sections=every,
    )
    return run, result


def _checked(sections: Sequence[Section | SupportingSection]) -> Sequence[Section | SupportingSection]:
    """The user's sections; their names are keys of the JSON, so no name may occur twice."""
    with naming("sections"):
        sections = tuple(sections)
    taken = {each.name for each in fields(Audit)} | {"findings", "checks", "remarks", "limits", *ADDED}
    for section in sections:
        missing = [part for part in ("name", "question", "measure", "page") if not hasattr(section, part)]
        if missing:
            message = f"sections contains an entry of type {type(section).__name__} without {missing[0]!r}: add it."
            raise ParameterError(message, argument="sections")
        if section.name in taken:
            message = f"sections contains the name {section.name!r}, which is taken: choose another one."
            raise ParameterError(message, argument="sections")
        taken.add(section.name)
    return sections
