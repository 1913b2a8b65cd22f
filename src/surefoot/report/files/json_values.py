"""Records as plain JSON values and back: the type hints of a record's fields say what is read.

JSON has neither infinite numbers nor NaN. They are written as null, and listed by their places, so that an open end of
an interval is read as what it was.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from surefoot._strict_json import UnreadableJsonError

KINDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number", NoneType: "null"}
NOT_FINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


def plain(value: Any) -> Any:
    """The value as dicts, lists and plain values; numbers that are not finite stay."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def take_not_finite(value: Any) -> dict[str, str]:
    """Replace numbers that are not finite by None, in place; return what they were by their places (RFC 6901)."""
    taken = {}
    for holder, key, place in list(_places(value, "")):
        number = holder[key]
        if isinstance(number, float) and not isfinite(number):
            taken[place] = str(float(number))
            holder[key] = None
    return taken


def put_not_finite(value: Any, taken: Any) -> None:
    """Undo `take_not_finite`, in place."""
    if not isinstance(taken, dict):
        raise UnreadableJsonError("not_finite is not an object")
    slots = {place: (holder, key) for holder, key, place in _places(value, "")} if taken else {}
    for place, name in taken.items():
        holder, key = slots.get(place, ({}, place))
        if name not in NOT_FINITE or key not in _keys(holder) or holder[key] is not None:
            raise UnreadableJsonError(f"not_finite has {place!r}: {name!r}, which is not the place of a number")
        holder[key] = NOT_FINITE[name]


def _keys(holder: Any) -> Any:
    return holder.keys() if isinstance(holder, dict) else range(len(holder))


def _places(value: Any, place: str) -> Iterator[tuple[Any, Any, str]]:
    """The holder, the key and the place of every value that is neither a dict nor a list."""
    if not isinstance(value, dict | list):
        return
    for key in _keys(value):
        inner = f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}"
        if isinstance(value[key], dict | list):
            yield from _places(value[key], inner)
        else:
            yield value, key, inner


@cache
def hints_of(record: type) -> dict[str, Any]:
    """The types of the fields of a record, by name."""
    hints = get_type_hints(record)
    return {each.name: hints[each.name] for each in fields(record)}


def read_value(hint: Any, value: Any, where: str) -> Any:
    """The value that a plain value stands for; ``where`` is its place, for errors."""
    if hint is Any:
        return value
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _read_union(get_args(hint), value, where)
    if origin in (tuple, list):
        return _read_sequence(hint, value, where)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: read_value(get_args(hint)[1], part, f"{where}.{key}") for key, part in _object(value, where)}
    if is_dataclass(hint):
        return read_record(hint, value, where)
    return _read_scalar(hint, value, where)


def read_record(record: Any, value: Any, where: str = "") -> Any:
    """A record from its fields by name; a field with a default may be missing."""
    given, hints = dict(_object(value, where)), hints_of(record)
    if unknown := sorted(given.keys() - hints.keys()):
        raise UnreadableJsonError(f"{where or 'it'} has the unknown entry {unknown[0]!r}")
    read = {}
    for each in fields(record):
        if each.name in given:
            read[each.name] = read_value(hints[each.name], given[each.name], f"{where}.{each.name}".lstrip("."))
        elif is_required(each):
            raise UnreadableJsonError(f"{where or 'it'} has no entry {each.name!r}")
    return record(**read)


def is_required(field: Any) -> bool:
    """Whether a field of a record has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def _object(value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise UnreadableJsonError(f"{where} is not an object")
    return value.items()


def _read_union(hints: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and NoneType in hints:
        return None
    problems = []
    for hint in hints:
        try:
            if hint is not NoneType:
                return read_value(hint, value, where)
        except UnreadableJsonError as problem:
            problems.append(problem)
    raise problems[0]


def _read_sequence(hint: Any, value: Any, where: str) -> Any:
    """A tuple or a list; ``tuple[A, B]`` has as many entries as types."""
    if not isinstance(value, list):
        raise UnreadableJsonError(f"{where} is not an array")
    origin, hints = get_origin(hint), get_args(hint)
    is_fixed = origin is tuple and not (len(hints) == 2 and hints[1] is Ellipsis)
    if is_fixed and len(hints) != len(value):
        raise UnreadableJsonError(f"{where} has {len(value)} entries instead of {len(hints)}")
    each = hints if is_fixed else hints[:1] * len(value)
    pairs = enumerate(zip(each, value, strict=True))
    return origin(read_value(kind, part, f"{where}[{k}]") for k, (kind, part) in pairs)


def _read_scalar(hint: Any, value: Any, where: str) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if hint is float and is_number:
        return float(value)
    if hint in KINDS and isinstance(value, hint) and (hint is not int or is_number):
        return value
    raise UnreadableJsonError(f"{where} is not {KINDS.get(hint, 'of a known kind')}")
