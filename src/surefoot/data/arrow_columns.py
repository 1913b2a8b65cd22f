"""What the columns of Arrow batches hold, and their cells as numbers or categories."""

from collections.abc import Hashable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from surefoot._exceptions import DataError
from surefoot.data.category_codes import ordered_categories
from surefoot.data.category_matching import match_labels, plain_label
from surefoot.data.record_batches import RecordBatches
from surefoot.data.refused_columns import infinite, refused_column

NUMBER, DATE, TEXT, CATEGORY, VALUES = "number", "date", "text", "category", "category of values that are not text"
CATEGORIES = (TEXT, CATEGORY, VALUES)
CHANGED = "X has changed while it was read: read it again."
SECONDS_PER_DAY = 86_400.0
UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def kinds_of_columns(batches: RecordBatches, names: list[str]) -> list[str]:
    """The kind of each column, from its types in all files."""
    return [_kind_of_column(name, batches) for name in names]


def _kind_of_column(name: str, batches: RecordBatches) -> str:
    """A column of text is of categories, in the order of the alphabet; a dictionary has an order of its own."""
    kinds = {kind_of_type(schema.field(name).type): schema.field(name) for schema in batches.schemas}
    empty = kinds.pop("missing", None)
    if set(kinds) == {TEXT, CATEGORY}:
        del kinds[CATEGORY]
    if len(kinds) > 1:
        kinds_found = " and ".join(sorted(str(field.type) for field in kinds.values()))
        raise DataError(f"Column {name!r} has different types in the files: {kinds_found}.", argument="X")
    kind, field = next(iter(kinds.items()), ("missing", empty))
    if kind not in (NUMBER, *CATEGORIES) and not (kind == DATE and batches.dates_as_days):
        import pyarrow as pa

        raise refused_column(nw.from_native(pa.schema([field]).empty_table())[name], name)
    return kind


def kind_of_type(dtype: Any) -> str:
    """The kind of an Arrow type: one of the constants above, ``"missing"`` or ``"other"``."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(dtype):
        return CATEGORY if kind_of_type(dtype.value_type) == TEXT else VALUES
    if types.is_boolean(dtype) or types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype):
        return NUMBER
    if types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype):
        return TEXT
    if types.is_date(dtype) or types.is_timestamp(dtype) or types.is_duration(dtype):
        return DATE
    return "missing" if types.is_null(dtype) else "other"


def numbers_of(column: Any, name: str) -> np.ndarray:
    """As ``cells_of``; infinite values are refused."""
    numbers = cells_of(column)
    if numbers.dtype.kind == "f" and np.isinf(numbers).any():
        raise infinite(name)
    return numbers


def cells_of(column: Any) -> np.ndarray:
    """The cells of a numeric column, or of dates as days since 1970; missing cells become NaN."""
    import pyarrow as pa

    types = pa.types
    if types.is_date(column.type) or types.is_timestamp(column.type) or types.is_duration(column.type):
        return _days(column)
    if types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    elif types.is_decimal(column.type) or types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _days(column: Any) -> np.ndarray:
    import pyarrow as pa

    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("ms"))
    ticks = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return ticks / UNITS_PER_SECOND[column.type.unit] / SECONDS_PER_DAY


class CategoryLabels:
    """The categories of one column, numbered in the order in which batches show them; a missing one has number -1.

    ``is_sorted`` says whether codes follow the order of the labels; otherwise, they follow that of the dictionaries.
    """

    def __init__(self, is_sorted: bool) -> None:
        self._is_sorted = is_sorted
        self._numbers: dict[Hashable, int] = {}
        self._mass = np.zeros(0)
        self._codes = np.zeros(0, dtype=np.float32)
        self._last: tuple[Any, np.ndarray] | None = None  # a dictionary and the numbers of its labels

    def count(self, column: Any, weights: np.ndarray | None) -> None:
        """Add the labels of a batch, and the number or the weight of their rows."""
        numbers = self.numbers_of(column)
        self._mass = np.append(self._mass, np.zeros(len(self._numbers) - len(self._mass)))
        present = numbers >= 0
        # added one by one, like the weights of a table in memory
        np.add.at(self._mass, numbers[present], 1.0 if weights is None else weights[present])

    def numbers_of(self, column: Any) -> np.ndarray:
        """The number of each row's label."""
        dictionary, places = _dictionary(column)
        if self._last is None or not self._last[0].equals(dictionary):
            labels = [plain_label(label) for label in dictionary.to_pylist()]
            self._last = dictionary, np.array([*map(self._number_of, labels), -1], dtype=np.int64)
        return self._last[1][places]  # a missing value has place -1: the last entry

    def _number_of(self, label: Hashable) -> int:
        is_missing = label is None or label != label
        return -1 if is_missing else self._numbers.setdefault(label, len(self._numbers))

    def in_order(self) -> tuple[Hashable, ...]:
        """The labels in the order of their numbers."""
        return tuple(self._numbers)

    def fix_codes(self) -> tuple[Hashable, ...]:
        """The categories in the order of their codes, which ``codes_of`` uses from now on."""
        labels = list(self._numbers)
        order = np.arange(len(labels))
        if self._is_sorted:
            order = np.array(sorted(order, key=lambda place: str(labels[place])), dtype=np.int64)
        known = ordered_categories([labels[place] for place in order], self._mass[order])
        self._codes = np.append(match_labels(labels, known), np.float32(np.nan))
        return known

    def codes_of(self, column: Any) -> np.ndarray:
        """Codes as float32, as ``Columns`` has them: NaN where missing, ``UNKNOWN`` for labels without weight."""
        numbers = self.numbers_of(column)
        if len(self._numbers) >= len(self._codes):
            raise DataError(CHANGED, argument="X")
        return self._codes[numbers]


def _dictionary(column: Any) -> tuple[Any, np.ndarray]:
    """The distinct values of a batch, and the place of each row's value (-1: missing)."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        column = column.dictionary_encode()
    return column.dictionary, column.indices.cast(pa.int64()).fill_null(-1).to_numpy()
