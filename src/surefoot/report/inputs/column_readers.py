"""How each column of a table becomes numbers or categories for the models of an audit."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._formatting import counted
from surefoot.report.subject import ColumnNote

NUMBER, DATE, CATEGORY = "number", "date", "category"
SECONDS_PER_DAY = 86_400.0
MANY_CATEGORIES = 50
MIN_IDENTIFIER_ROWS = 20  # with fewer rows an identifier cannot be distinguished from a measurement
MOSTLY = 0.9
ISO = "ISO8601"
DATE_FORMATS = {  # how a date begins, and the formats it may have: only those in which day and month are unambiguous
    re.compile(r"\d{4}-\d"): (ISO,),
    re.compile(r"\d{4}/\d"): ("%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S"),
    re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}"): ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"),
}
AMBIGUOUS_DATE = re.compile(r"\d{1,2}[/-]\d{1,2}[/-]\d{2,4}")  # day and month may be either way round
LIKE_AN_ID = re.compile(r"(?:^|[_\W])id$|[a-z]I[dD]$", re.ASCII)  # such as id, row_id, customerId


@dataclass(frozen=True)
class ColumnReader:
    """Reads one column in the same way from the training data and from later tables."""

    name: Any
    kind: str

    def read(self, series: Any) -> Any:
        """The column as floats (missing: NaN) or as a pandas categorical."""
        import pandas as pd

        if self.kind == CATEGORY:
            text = _floats_as_text(series).astype("string").astype(object)
            return pd.Series(pd.Categorical(text.where(text.notna(), None)), index=series.index)
        if self.kind == DATE:
            dates = DateReader(self.name)
            days = dates.read(series)
            dates.check()
            return days
        numbers = pd.to_numeric(series, errors="coerce").astype("float64")
        unread = series[numbers.isna() & series.notna()]
        if len(unread):
            raise DataError(
                f"Column {self.name!r} held numbers (or dates) in the training data, but has other values now in "
                f"{counted(len(unread), 'row')}, such as {str(unread.iloc[0])!r}: make them numbers (dates: "
                "2024-12-31), or empty."
            )
        return numbers.where(np.isfinite(numbers), np.nan)


class DateReader:
    """Reads dates as days since 1970, in one part or several; a few values need not be dates, as in training data."""

    def __init__(self, name: Any) -> None:
        self.name = name
        self._n_known = self._n_unread = 0
        self._example: Any = None

    def read(self, series: Any) -> Any:
        """The days of one part of the column."""
        days = _days(series)
        unread = series[days.isna() & series.notna()]
        if len(unread) and not self._n_unread:
            self._example = unread.iloc[0]
        self._n_known += int(series.notna().sum())
        self._n_unread += len(unread)
        return days

    def check(self) -> None:
        """Raise an error if too many of all values are not dates."""
        if self._n_unread > (1 - MOSTLY) * self._n_known:
            raise DataError(
                f"Column {self.name!r} held dates in the training data, but has other values now in "
                f"{counted(self._n_unread, 'row')}, such as {str(self._example)!r}: write them all as 2024-12-31."
            )


def _floats_as_text(series: Any) -> Any:
    """Categories that are floats as text, 1.0 as "1": a missing value turns whole numbers into floats."""
    import pandas as pd

    values = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else series
    if not pd.api.types.is_float_dtype(values):
        return series
    return series.astype(object).map(lambda value: str(int(value) if value.is_integer() else value), na_action="ignore")


def kind_of(series: Any) -> str:
    """Whether a column holds numbers, dates or categories."""
    import pandas as pd

    types = pd.api.types
    if types.is_datetime64_any_dtype(series) or types.is_timedelta64_dtype(series):
        return DATE
    if types.is_bool_dtype(series) or types.is_numeric_dtype(series):
        if types.is_complex_dtype(series):
            message = f"Column {series.name!r} has complex numbers: pass real and imaginary parts as two columns."
            raise DataError(message)
        return NUMBER
    known = series.dropna()
    if isinstance(series.dtype, pd.CategoricalDtype) or not len(known):
        return CATEGORY
    if all(isinstance(value, bool | np.bool_ | int | float | np.number) for value in known.head(1000)):
        return NUMBER if len(pd.to_numeric(known, errors="coerce").dropna()) == len(known) else CATEGORY
    return DATE if _are_dates(known) or _date_format(known) is not None else CATEGORY


def notes_on(series: Any, kind: str, values: Any) -> list[ColumnNote]:
    """Notes on a column as it was passed; ``values`` are those that were read from it."""
    import pandas as pd

    name, known = str(series.name), values.dropna()
    if not len(known):
        return [ColumnNote(name, "all missing", "No row has a value: left out.", used=False)]
    if known.nunique() == 1 and len(known) == len(values):
        return [ColumnNote(name, "constant", f"Every row has the value {known.iloc[0]}: left out.", used=False)]
    is_ambiguous = kind == CATEGORY and _mostly(AMBIGUOUS_DATE, known.head(100))
    hint = " The values look like dates; write them as 2024-12-31 to have them read as dates." if is_ambiguous else ""
    if _is_identifier(known, kind):
        sentence = "Nearly every row has a different value, like a name or a row number: left out."
        return [ColumnNote(name, "identifier", sentence + hint, used=False)]
    notes = []
    if kind == DATE:
        n_unread = int((series.notna() & values.isna()).sum())
        unread = f" Values that are not dates count as missing ({counted(n_unread, 'row')})." if n_unread else ""
        notes.append(ColumnNote(name, "date", f"A date: models see it as days since 1970.{unread}", used=True))
    if kind == NUMBER and np.isinf(pd.to_numeric(series, errors="coerce").astype("float64")).any():
        notes.append(ColumnNote(name, "infinite", "Has infinite values: they count as missing.", used=True))
    if hint:
        notes.append(ColumnNote(name, "text", f"Read as text.{hint}", used=True))
    if kind == CATEGORY and known.nunique() > MANY_CATEGORIES:
        sentence = f"{known.nunique():,} categories: boosters encode them by the target values of their rows."
        notes.append(ColumnNote(name, "many categories", sentence, used=True))
    return notes


def _is_identifier(known: Any, kind: str) -> bool:
    """Text with hardly any repeated value, or distinct consecutive whole numbers."""
    n = len(known)
    if n < MIN_IDENTIFIER_ROWS or kind == DATE:
        return False
    if kind == CATEGORY:
        return bool(known.nunique() > MOSTLY * n)
    values = known.to_numpy()
    is_named = LIKE_AN_ID.search(str(known.name)) is not None
    is_whole = np.all(values == np.floor(values)) and np.abs(values).max() < 2**53
    return bool(is_whole and known.nunique() == n and (is_named or values.max() - values.min() <= n / MOSTLY))


def _mostly(pattern: re.Pattern[str], values: Any) -> bool:
    """Whether nearly all values match the pattern at their beginning."""
    return bool(np.mean([pattern.match(str(value).strip()) is not None for value in values]) > MOSTLY)


def _are_dates(known: Any) -> bool:
    import datetime

    return all(isinstance(value, datetime.date) for value in known.head(1000))


def _date_format(known: Any) -> str | None:
    """The date format of nearly all values; None if they are not text, or not dates."""
    import pandas as pd

    head = known.head(100)
    if not all(isinstance(value, str) for value in head):
        return None
    for begins, formats in DATE_FORMATS.items():
        if _mostly(begins, head):
            for each in formats:
                if pd.to_datetime(known, errors="coerce", format=each, utc=True).notna().mean() > MOSTLY:
                    return each
    return None


def _times(series: Any) -> Any:
    """Text as points in time; every value is read in its own format, so no row depends on the others."""
    import pandas as pd

    times = pd.to_datetime(series, errors="coerce", utc=True, format=ISO)
    for each in (other for formats in DATE_FORMATS.values() for other in formats if other != ISO):
        unread = times.isna() & series.notna()
        if unread.any():
            times = times.fillna(pd.to_datetime(series[unread], errors="coerce", utc=True, format=each))
    return times


def _days(series: Any) -> Any:
    """Days since 1970 (a timedelta in days); missing values are NaN."""
    import pandas as pd

    if pd.api.types.is_timedelta64_dtype(series):
        return series.dt.total_seconds() / SECONDS_PER_DAY
    if pd.api.types.is_numeric_dtype(series):
        raise DataError(f"Column {series.name!r} held dates in the training data, but holds numbers now.")
    if pd.api.types.is_datetime64_any_dtype(series) or _are_dates(series.dropna()):
        times = pd.to_datetime(series, errors="coerce", utc=True)
    else:
        times = _times(series)
    since_1970 = times - pd.Timestamp(0, tz="UTC")
    if isinstance(series.dtype, np.dtype | pd.DatetimeTZDtype) and series.dtype.kind == "M":
        since_1970 = since_1970.dt.as_unit(series.dt.unit)  # older versions of pandas make nanoseconds, and round more
    return since_1970.dt.total_seconds() / SECONDS_PER_DAY
