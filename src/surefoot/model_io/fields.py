"""The parts of a model: how they are written to a file, and read and checked from a file of any source.

The state of a model is a tree: scalars are JSON, and an array is a member of the archive, with a name from its place in
the tree. So every array is read once, and with its expected type.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from surefoot._exceptions import ModelFileError, ParameterError
from surefoot.model_io.archive import Archive
from surefoot.model_io.model_json import require

IN_A_MEMBER = "array"  # placeholder in the JSON for an array in its own member


class Field(Protocol):
    """One kind of value; ``path`` is its place in the tree."""

    def write(self, value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
        """The JSON of ``value``; arrays are added to ``arrays``."""

    def read(self, stored: Any, path: str, archive: Archive) -> Any:
        """The checked value."""


@dataclass(frozen=True)
class Scalar:
    """A whole number, a float, a boolean or a text; a number may have bounds."""

    kind: type
    min_value: float | None = None
    max_value: float | None = None

    @property
    def kinds(self) -> tuple[type, ...]:
        """The types of JSON that need no other check; none for a number with bounds."""
        return (self.kind,) if self.min_value is None and self.max_value is None else ()

    def write(self, value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
        return self.kind(value)

    def read(self, stored: Any, path: str, archive: Archive) -> Any:
        require(type(stored) is self.kind, f"{path} must be of type {self.kind.__name__}")
        require(self.min_value is None or stored >= self.min_value, f"{path} must be at least {self.min_value}")
        require(self.max_value is None or stored <= self.max_value, f"{path} must be at most {self.max_value}")
        return stored


@dataclass(frozen=True)
class Array:
    """An array of one type; with ``finite``, NaN and infinities are refused."""

    kind: type
    n_axes: int
    finite: bool = False

    def write(self, value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
        require(value.dtype == self.kind and value.ndim == self.n_axes, f"{path} is {value.dtype} {value.shape}")
        arrays[path] = value
        return IN_A_MEMBER

    def read(self, stored: Any, path: str, archive: Archive) -> np.ndarray:
        require(stored == IN_A_MEMBER, f"{path} must be an array")
        array = archive.array(path, self.n_axes, lambda kind: kind.str == np.dtype(self.kind).newbyteorder("<").str)
        require(not self.finite or np.isfinite(array).all(), f"{path} has values that are not finite")
        return array


@dataclass(frozen=True)
class Many:
    """A list."""

    of: Field

    def write(self, value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
        return [self.of.write(one, f"{path}.{place}", arrays) for place, one in enumerate(value)]

    def read(self, stored: Any, path: str, archive: Archive) -> list[Any]:
        require(type(stored) is list, f"{path} must be a list")
        if {type(one) for one in stored} <= set(getattr(self.of, "kinds", ())):
            return stored  # as they are: there may be millions of categories
        return [self.of.read(one, f"{path}.{place}", archive) for place, one in enumerate(stored)]


@dataclass(frozen=True)
class Maybe:
    """A value, or None."""

    of: Field

    def write(self, value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
        return None if value is None else self.of.write(value, path, arrays)

    def read(self, stored: Any, path: str, archive: Archive) -> Any:
        return None if stored is None else self.of.read(stored, path, archive)


@dataclass(frozen=True)
class Record:
    """A part with fields: ``take`` reads them from an object, ``make`` checks them together and builds the object.

    Without ``take``, fields are attributes. Fields in ``added`` were added later and are None in old files.
    """

    fields: dict[str, Field]
    make: Callable[..., Any]
    take: Callable[[Any], dict[str, Any]] | None = None
    added: Collection[str] = ()

    def write(self, value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
        taken = self.take(value) if self.take else {name: getattr(value, name) for name in self.fields}
        return {name: field.write(taken[name], f"{path}.{name}", arrays) for name, field in self.fields.items()}

    def read(self, stored: Any, path: str, archive: Archive) -> Any:
        return self.make_at(path, **self.read_fields(stored, path, archive))

    def read_fields(self, stored: Any, path: str, archive: Archive) -> dict[str, Any]:
        """The fields by name, each checked separately."""
        is_valid = type(stored) is dict and stored.keys() | set(self.added) == self.fields.keys()
        require(is_valid, f"{path} does not have the expected fields")
        read = {name: self.fields[name].read(stored[name], f"{path}.{name}", archive) for name in stored}
        return {name: read.get(name) for name in self.fields}

    def make_at(self, path: str, *given: Any, **fields: Any) -> Any:
        """The object from ``make``; errors name the place."""
        try:
            return self.make(*given, **fields)
        except (ModelFileError, ParameterError) as error:
            raise ModelFileError(f"{path}: {error}") from error
