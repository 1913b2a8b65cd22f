"""The inputs of an ONNX model, and the matrix that its trees read.

A table of numbers is one input, a matrix. A table with text in categorical columns has an input for each column,
because a matrix of ONNX has one type.
"""

from functools import cached_property
from typing import Any

import numpy as np

from surefoot.data.category_statistics import CategoryStatistics, Statistic
from surefoot.export.category_values import is_text, missing_texts, number_codes, statistic_columns, text_codes
from surefoot.export.exported_model import ExportedModel
from surefoot.export.onnx_graph import OnnxGraph, OnnxValue
from surefoot.uncertainty.member import Member

MATRIX = "X"
UNKNOWN_KEY, MISSING_KEY, FIRST_KEY = 0, 1, 2  # categories as digits of the keys of statistics


def input_names(exported: ExportedModel) -> tuple[str, ...]:
    """The names of the inputs."""
    return (MATRIX,) if exported.schema.has_only_numbers else exported.names


class OnnxInputs:
    """The inputs of a graph as numbers: as they are, as codes of categories, or as statistics of categories."""

    def __init__(self, graph: OnnxGraph, exported: ExportedModel, dtype: type) -> None:
        self.graph, self.exported, self.dtype = graph, exported, dtype
        self._categories = exported.schema.categories
        self._digits: dict[int, OnnxValue] = {}
        names = input_names(exported)
        self._is_matrix = exported.schema.has_only_numbers
        if self._is_matrix:
            self._inputs = [graph.input(MATRIX, dtype, len(exported.names))]
        else:
            kinds = [str if is_text(self._categories.get(j, ())) else dtype for j in range(len(names))]
            self._inputs = [graph.input(name, kind, 1) for name, kind in zip(names, kinds, strict=True)]

    @cached_property
    def _matrix(self) -> OnnxValue:
        return self._inputs[0] if self.dtype is np.float64 else self._inputs[0].cast(np.float64)

    def matrix(self) -> tuple[OnnxValue, list[np.ndarray]]:
        """The matrix that the trees of all members read; for each member, the column of each feature."""
        members = self.exported.members
        if self._is_matrix and not self._categories:
            return self._matrix, [np.arange(len(member.encoding.sources)) for member in members]
        used = [np.unique(member.trees.forest.features[member.trees.forest.features >= 0]) for member in members]
        parts, column_of = self._plain_part(used)
        n_columns, places = len(column_of), []
        for member, features in zip(members, used, strict=True):
            plain, columns = member.encoding.plain, np.zeros(len(member.encoding.sources), dtype=np.int64)
            for feature in features[features < len(plain)]:
                columns[feature] = column_of[plain[feature]]
            values, of_values = self._statistics(member, features[features >= len(plain)])
            columns[of_values] = n_columns + np.arange(len(of_values))
            n_columns += len(of_values)
            parts += values
            places.append(columns)
        return self.graph.concatenated(parts), places

    def _plain_part(self, used: list[np.ndarray]) -> tuple[list[OnnxValue], dict[int, int]]:
        """Columns that trees of any member read directly, numbers before categories; and the place of each."""
        read = zip(self.exported.members, used, strict=True)
        plain = {member.encoding.plain[i] for member, of in read for i in of if i < len(member.encoding.plain)} or {0}
        numbers = sorted(plain - self._categories.keys())
        codes = sorted(plain & self._categories.keys())
        parts = [self._numbers(numbers)] if numbers else []
        return parts + [self._codes(j) for j in codes], {j: place for place, j in enumerate(numbers + codes)}

    def _column(self, j: int) -> OnnxValue:
        """A column of the table, (rows, 1)."""
        if self._is_matrix:
            return self._matrix.take([j])
        is_ready = self.dtype is np.float64 or is_text(self._categories.get(j, ()))
        return self._inputs[j] if is_ready else self._inputs[j].cast(np.float64)

    def _numbers(self, columns: list[int]) -> OnnxValue:
        if self._is_matrix:
            return self._matrix.take(columns)
        return self.graph.concatenated([self._column(j) for j in columns])

    def _keys(self, j: int) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """The values that mean a category, their codes, and the values that mean that it is missing."""
        labels, name = self._categories[j], self.exported.names[j]
        if is_text(labels):
            codes = text_codes(labels)
            return np.array(list(codes), dtype=object), np.array(list(codes.values())), missing_texts(labels)
        return number_codes(labels, self.dtype, name), np.arange(len(labels)), [np.nan]

    def _codes(self, j: int) -> OnnxValue:
        """Codes from 1 of a column with few categories; a missing or unknown one has the code after the last."""
        keys, codes, missing = self._keys(j)
        other = len(self._categories[j]) + 1.0
        values = np.append(codes + 1.0, [other] * len(missing))
        return self._encoded(j, np.append(keys, missing), values, other)

    def _digit(self, j: int) -> OnnxValue:
        """The digit of a column in the keys of statistics."""
        if j not in self._digits:
            keys, codes, missing = self._keys(j)
            values = np.append(codes + FIRST_KEY, [MISSING_KEY] * len(missing)).astype(np.int64)
            self._digits[j] = self._encoded(j, np.append(keys, missing), values, UNKNOWN_KEY)
        return self._digits[j]

    def _encoded(self, j: int, keys: np.ndarray, values: np.ndarray, default: float) -> OnnxValue:
        other = np.array([default], dtype=values.dtype)
        column = self._column(j)
        return self.graph.ml_node("LabelEncoder", column, keys_tensor=keys, values_tensor=values, default_tensor=other)

    def _statistics(self, member: Member, features: np.ndarray) -> tuple[list[OnnxValue], np.ndarray]:
        """The values of the statistics that a member uses, and the features that they are."""
        encoding, first = member.encoding, len(member.encoding.plain)
        parts, order = [], []
        for statistics in (encoding.combinations, encoding.statistics):
            if statistics is None:
                continue
            layout = statistics.layout
            places = [int(i) - first for i in features if first <= i < first + len(layout)]
            for statistic in statistics.statistics:
                own = [place for place in places if layout[place][0] is statistic]
                if own:
                    targets = [layout[place][1] for place in own]
                    columns = statistic_columns(encoding, statistic.columns)
                    parts.append(self._looked_up(statistics, statistic, targets, columns))
                    order += [place + first for place in own]
            first += len(layout)
        return parts, np.array(order, dtype=np.int64)

    def _looked_up(
        self, statistics: CategoryStatistics, statistic: Statistic, targets: list[int | None], columns: list[int]
    ) -> OnnxValue:
        """Values (rows, targets) of one statistic: the last row of its table is for unknown combinations."""
        key = self._digit(columns[0])
        for j, factor in zip(columns[1:], statistic.factors[1:], strict=True):
            key = self.graph.node("Mul", key, np.array(factor, dtype=np.int64))
            key = self.graph.node("Add", key, self._digit(j))
        n_keys = len(statistic.keys)
        place = self.graph.ml_node(
            "LabelEncoder",
            key,
            keys_tensor=statistic.keys.astype(np.int64),
            values_tensor=np.arange(n_keys, dtype=np.int64),
            default_tensor=np.array([n_keys], dtype=np.int64),
        )
        table = [
            np.append(statistic.counts, 0.0) if k is None else np.append(statistic.means[k], statistics.prior[k])
            for k in targets
        ]
        values = self.graph.constant(np.stack(table, axis=1))
        return self.graph.node("Gather", values, place, axis=0).squeeze(1)
