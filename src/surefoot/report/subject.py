"""What was audited: the table, its target and its columns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnNote:
    """Something about a column that a reader should know; ``used`` says whether models were given it."""

    column: str
    what: str  # "identifier", "constant", "all missing", "leak", "date", "infinite", "many categories", "text"
    sentence: str
    used: bool


@dataclass(frozen=True)
class DataCheck:
    """Something about the rows that a reader should know; if it ``matters``, the errors may be too small."""

    kind: str  # "copies", "near copies", "row order", "column role" or "predictions"
    matters: bool
    sentence: str
    undecided: str = ""  # what is not known, if it is not: "whether ..."


@dataclass(frozen=True)
class Subject:
    """What was audited."""

    target: str
    task: str  # "binary", "classes" or "regression"
    task_sentence: str
    n_rows: int
    n_columns: int
    n_judged: int  # rows that were held out, once in each draw of the folds
    n_folds: int
    n_new: int
    split: str  # how the rows were split, in a sentence
    classes: tuple[str, ...]  # their fractions, in the same order, below; both are empty for numbers
    shares: tuple[float, ...]
    notes: tuple[ColumnNote, ...]
    checks: tuple[DataCheck, ...]
    remarks: tuple[str, ...]  # rows without a target, what was left out when time ran out, and the like
    fingerprint: str  # of all values of the table
    source: str | None = None  # the file it came from
    date: str = ""
    n_draws: int = 1  # of the folds
