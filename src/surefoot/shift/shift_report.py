"""Does the deployment data look like the training data? Column by column, and all columns together."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from surefoot._extras import needs
from surefoot._parameters import check_integer
from surefoot._random import seed_from
from surefoot.shift.column_shift import DIFFERS_SLIGHTLY, LEVEL, NOT_TESTED, ColumnShift, compare_columns
from surefoot.shift.group_permutations import read_groups
from surefoot.shift.shift_report_tables import ComparedTables
from surefoot.shift.shift_report_text import html_of, text_of, verdict_of
from surefoot.shift.two_sample_test import MIN_ROWS, two_sample_test

if TYPE_CHECKING:
    import pandas as pd

MIN_AUC = 0.55  # with a smaller one, even if it is significant, the tables differ only slightly


@dataclass(frozen=True, repr=False)
class ShiftReport:
    """How the deployment data differ from the training data; made by `shift_report`.

    Parameters
    ----------
    columns : tuple of ColumnShift
        The comparison of each column: columns that have shifted come first, ordered by how far they have shifted.
    auc : float
        How well a classifier tells held-out rows of both tables apart: the probability that it gives a row of the
        target a higher score than a row of X. 0.5 is chance level, 1 is perfect. NaN if there was no test; ``note`` has
        the reason. Only an AUC above 0.5 indicates shift. Rows that are in both tables push it below 0.5: the
        classifier has learned such a row as one of the other table.
    p_value : float
        P-value of the one-sided Mann-Whitney test of ``auc`` against 0.5; with groups, of permuting whole groups.
    auc_interval : tuple of two floats
        95% interval of ``auc``: Newcombe's score interval with the variance of Hanley and McNeil; with groups,
        Obuchowski's.
    n_rows, n_target : int
        Number of rows of X and of the target.
    note : str or None
        The reason if there is no joint test.

    Examples
    --------
    >>> from surefoot import shift_report
    >>> report = shift_report([[i, i % 3] for i in range(90)], [[i + 60, i % 3] for i in range(90)], random_state=0)
    >>> report.shifted_columns, report.jointly_shifted
    (('x0',), True)
    >>> report.to_frame()["distance"].round(2).to_dict()
    {'x0': 0.67, 'x1': 0.0}
    """

    columns: tuple[ColumnShift, ...]
    auc: float
    p_value: float
    auc_interval: tuple[float, float]
    n_rows: int
    n_target: int
    note: str | None = None

    @property
    def shifted_columns(self) -> tuple[str, ...]:
        """Names of the columns that have shifted by a distance of 0.1 or more, the largest shift first."""
        return tuple(column.name for column in self.columns if column.shifted)

    @property
    def slightly_different_columns(self) -> tuple[str, ...]:
        """Names of the columns that differ significantly, but by less than 0.1."""
        return tuple(column.name for column in self.columns if column.outcome == DIFFERS_SLIGHTLY)

    @property
    def untested_columns(self) -> tuple[str, ...]:
        """Names of the columns that were not tested, because they have no or too few values."""
        return tuple(column.name for column in self.columns if column.outcome == NOT_TESTED)

    @property
    def jointly_shifted(self) -> bool:
        """Whether the classifier tells the tables apart, at level 0.05 and with an AUC of 0.55 or more."""
        return self.p_value < LEVEL and self.auc >= MIN_AUC

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        return verdict_of(self)

    @needs("pandas")
    def to_frame(self) -> "pd.DataFrame":
        """Convert the comparison of the columns to a pandas frame.

        Returns
        -------
        pandas.DataFrame
            One row for each column, in the order of ``columns``, indexed by their names.
        """
        import pandas as pd

        rows = [asdict(column) | {"outcome": column.outcome} for column in self.columns]
        return pd.DataFrame(rows).set_index("name").rename_axis("column")

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)


def shift_report(
    X: Any,
    X_target: Any,
    *,
    categorical_features: Any = "from_dtype",
    groups: Any = None,
    groups_target: Any = None,
    max_rows: int | None = 20_000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ShiftReport:
    """Compare the training data of a model with its deployment data.

    Each column is compared on its own: its distribution, its missing values, and values of the deployment data that are
    new; p-values are corrected for the number of columns by Holm's method. All columns together are compared by a
    classifier two-sample test: gradient boosting is trained on half of the rows of both tables to tell the tables
    apart, and is tested on the other half. It also detects shift in the dependence between columns, which no single
    column shows.

    A column has shifted if it differs significantly and by a distance of 0.1 or more; a column that differs
    significantly by less differs slightly: large tables show differences that do not matter. A shift does not imply
    that a model will fail, and finding none does not imply that there is none: small tables show only large shifts, and
    the columns do not show whether the target still depends on them in the same way. A column with no or too few values
    in one of the tables is reported as not tested.

    The tables should have no rows in common: the classifier learns such a row as one of one table and is tested on it
    as one of the other, so that the AUC falls below 0.5 (far below, for a table against itself). Only an AUC above 0.5
    indicates shift.

    Parameters
    ----------
    X, X_target : arrays or frames (pandas, polars, ...) of shapes (n_rows, n_columns) and (n_target, n_columns)
        Training data and deployment data, with the same columns. Columns of two frames are matched by name, in any
        order; if one of the tables is an array, by position. Values may be missing.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of categorical dtype, always; further columns of X by position, name or a boolean for each.
    groups, groups_target : arrays of shape (n_rows,) and (n_target,), default=None
        The group of each row: rows of one group, such as a patient, are not independent. If both are given, tests
        permute whole groups.
    max_rows : int or None, default=20_000
        Maximum number of rows of each table for the classifier, drawn at random; None: all. Columns are compared on all
        rows. With fewer than 20 rows in either table, there is no classifier.
    random_state : int, RandomState or None, default=None
        Decides which rows the classifier is trained on.
    n_jobs : int, default=None
        Number of threads of the classifier. The result does not depend on it.

    Returns
    -------
    ShiftReport
        The comparison; it prints as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot import shift_report
    >>> generator = np.random.default_rng(0)
    >>> X, X_target = generator.normal(size=(500, 3)), generator.normal(size=(400, 3))
    >>> X_target[:, 1] += 0.8
    >>> report = shift_report(X, X_target, random_state=0)
    >>> report.shifted_columns
    ('x1',)
    >>> print(report.verdict)  # doctest: +ELLIPSIS
    1 of 3 columns has shifted (x1), and a classifier tells the rows of both tables apart (AUC 0.6..., p < 0.0001).
    """
    if max_rows is not None:
        check_integer("max_rows", max_rows, MIN_ROWS)
    tables = ComparedTables.read(X, X_target, categorical_features)
    seed = seed_from(random_state)
    known_groups = read_groups(groups, groups_target, tables.n_rows, tables.n_target, seed)
    columns = compare_columns(tables, known_groups)
    joint = two_sample_test(tables, max_rows=max_rows, seed=seed, n_jobs=n_jobs, groups=known_groups)
    columns = [
        replace(column, importance=float(importance))
        for column, importance in zip(columns, joint.importances, strict=True)
    ]
    return ShiftReport(
        columns=tuple(sorted(columns, key=lambda column: (not column.shifted, -column.size))),
        auc=joint.auc,
        p_value=joint.p_value,
        auc_interval=joint.interval,
        n_rows=tables.n_rows,
        n_target=tables.n_target,
        note=joint.note,
    )
