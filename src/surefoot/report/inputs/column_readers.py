"""How each column of a table that came in becomes numbers or categories, for the models of an audit."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.report.subject import ColumnNote

NUMBER, DATE, CATEGORY = "number", "date", "category"
SECONDS_PER_DAY = 86_400.0
MANY_CATEGORIES = 50
MIN_TO_JUDGE = 20  # of fewer rows nobody can tell an identifier from a measurement
MOSTLY = 0.9
ISO = "ISO8601"
DATE_FORMATS = {  # how a date begins, and the formats it may have: only those in which day and month cannot be mixed up
    re.compile(r"\d{4}-\d"): (ISO,),
    re.compile(r"\d{4}/\d"): ("%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S"),
    re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}"): ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"),
}
MIXED_UP = re.compile(r"\d{1,2}[/-]\d{1,2}[/-]\d{2,4}")  # a date of which nobody can tell the day from the month
LIKE_AN_ID = re.compile(r"(?:^|[_\W])id$|[a-z]I[dD]$", re.ASCII)  # such as id, row_id, customerId


@dataclass(frozen=True)
class ColumnReader:
    """Reads one column, of the table at hand and of later ones, in one way."""

    name: Any
    kind: str

    def read(self, series: Any) -> Any:
        """The column as floats (missing: NaN) or as a pandas categorical."""
        import pandas as pd

        if self.kind == CATEGORY:
            text = _floats_as_text(series).astype("string").astype(object)
            return pd.Series(pd.Categorical(text.where(text.notna(), None)), index=series.index)
        if self.kind == DATE:
            return self._dates(series)
        numbers = pd.to_numeric(series, errors="coerce").astype("float64")
        strange = series[numbers.isna() & series.notna()]
        if len(strange):
            raise DataError(
                f"Column {self.name!r} held numbers (or dates) in the first table; now {len(strange):,} of its values "
                f"are not, such as {str(strange.iloc[0])!r}: make them numbers (dates: 2024-12-31), or empty."
            )
        return numbers.where(np.isfinite(numbers), np.nan)

    def _dates(self, series: Any) -> Any:
        """Days since 1970; a few values may be no dates, as in the first table, but not more."""
        days = _days(series)
        strange = series[days.isna() & series.notna()]
        if len(strange) > (1 - MOSTLY) * series.notna().sum():
            raise DataError(
                f"Column {self.name!r} held dates in the first table; now {len(strange):,} of its values are not "
                f"written as the others are, such as {str(strange.iloc[0])!r}: write them all as 2024-12-31."
            )
        return days


def _floats_as_text(series: Any) -> Any:
    """Categories that are floats as text, whole ones as whole numbers: a missing value among them makes 1.0 of 1."""
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
            raise DataError(f"Column {series.name!r} has complex numbers: pass its parts as columns of their own.")
        return NUMBER
    known = series.dropna()
    if isinstance(series.dtype, pd.CategoricalDtype) or not len(known):
        return CATEGORY
    if all(isinstance(value, bool | np.bool_ | int | float | np.number) for value in known.head(1000)):
        return NUMBER if len(pd.to_numeric(known, errors="coerce").dropna()) == len(known) else CATEGORY
    return DATE if _are_dates(known) or _date_format(known) is not None else CATEGORY


def notes_on(series: Any, kind: str, read: Any) -> list[ColumnNote]:
    """What a reader should know about a column, whatever its target."""
    import pandas as pd

    name, known = str(series.name), read.dropna()
    if not len(known):
        return [ColumnNote(name, "all missing", "No row has a value: left out.", used=False)]
    if known.nunique() == 1 and len(known) == len(read):
        return [ColumnNote(name, "constant", f"Every row has the value {known.iloc[0]}: left out.", used=False)]
    mixed_up = kind == CATEGORY and _mostly(MIXED_UP, known.head(100))
    hint = " These look like dates: written as 2024-12-31, they are read as such." if mixed_up else ""
    if _is_identifier(known, kind):
        sentence = "All but every row has a value of its own, as names and numbers of rows have: left out."
        return [ColumnNote(name, "identifier", sentence + hint, used=False)]
    notes = []
    if kind == DATE:
        n_strange = int((series.notna() & read.isna()).sum())
        strange = f" {n_strange:,} of its values are no dates and count as missing." if n_strange else ""
        notes.append(ColumnNote(name, "date", f"A date: models see it as days since 1970.{strange}", used=True))
    if kind == NUMBER and np.isinf(pd.to_numeric(series, errors="coerce").astype("float64")).any():
        notes.append(ColumnNote(name, "infinite", "Has infinite values: they count as missing.", used=True))
    if hint:
        notes.append(ColumnNote(name, "text", f"Read as text.{hint}", used=True))
    if kind == CATEGORY and known.nunique() > MANY_CATEGORIES:
        sentence = f"{known.nunique():,} categories: boosters see what the target was like in each."
        notes.append(ColumnNote(name, "many categories", sentence, used=True))
    return notes


def _is_identifier(known: Any, kind: str) -> bool:
    """Text with (nearly) no value twice, or consecutive whole numbers, each once."""
    n = len(known)
    if n < MIN_TO_JUDGE or kind == DATE:
        return False
    if kind == CATEGORY:
        return bool(known.nunique() > MOSTLY * n)
    values = known.to_numpy()
    named = LIKE_AN_ID.search(str(known.name)) is not None
    is_whole = np.all(values == np.floor(values)) and np.abs(values).max() < 2**53
    return bool(is_whole and known.nunique() == n and (named or values.max() - values.min() <= n / MOSTLY))


def _mostly(pattern: re.Pattern[str], values: Any) -> bool:
    """Whether (nearly) all of some values begin so."""
    return bool(np.mean([pattern.match(str(value).strip()) is not None for value in values]) > MOSTLY)


def _are_dates(known: Any) -> bool:
    import datetime

    return all(isinstance(value, datetime.date) for value in known.head(1000))


def _date_format(known: Any) -> str | None:
    """The format that (nearly) all of some values are dates in; None if they are no text, or no dates."""
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
    """Text as points in time, each value in the format that it has: what a row says does not depend on the others."""
    import pandas as pd

    times = pd.to_datetime(series, errors="coerce", utc=True, format=ISO)
    for each in (other for formats in DATE_FORMATS.values() for other in formats if other != ISO):
        unread = times.isna() & series.notna()
        if unread.any():
            times = times.fillna(pd.to_datetime(series[unread], errors="coerce", utc=True, format=each))
    return times


def _days(series: Any) -> Any:
    """Days since 1970 (of lengths of time, days), missing as NaN."""
    import pandas as pd

    if pd.api.types.is_timedelta64_dtype(series):
        return series.dt.total_seconds() / SECONDS_PER_DAY
    if pd.api.types.is_numeric_dtype(series):
        raise DataError(f"Column {series.name!r} held dates in the first table, but holds numbers now.")
    if pd.api.types.is_datetime64_any_dtype(series) or _are_dates(series.dropna()):
        times = pd.to_datetime(series, errors="coerce", utc=True)
    else:
        times = _times(series)
    return (times - pd.Timestamp(0, tz="UTC")).dt.total_seconds() / SECONDS_PER_DAY
