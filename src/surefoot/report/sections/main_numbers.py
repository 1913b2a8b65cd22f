"""The main numbers of an audit by their short names, for rules of a pipeline and for comparisons.

Each section owns its names: its attribute ``main_numbers`` maps a name to a function of its findings.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from surefoot.report.statistics import Estimate

LOWER, HIGHER, GOAL, NEITHER = "lower", "higher", "goal", "neither"
Reader = Callable[[Any], "MainNumber | Estimate | float | None"]


@dataclass(frozen=True)
class MainNumber:
    """A number that a section is summarized by."""

    label: str
    value: Estimate | float | None  # None: not measured
    better: str = LOWER  # "lower", "higher", "goal" (closer to the goal) or "neither"
    goal: float = 0.0
    is_rate: bool = False  # written in percent
    kind: str = ""  # numbers of different kinds are not compared: the name of a metric, say

    @property
    def estimate(self) -> Estimate | None:
        """The number with its interval; a number without one has open ends. None if it was not measured."""
        if isinstance(self.value, Estimate):
            return self.value if isfinite(self.value.value) else None
        is_known = self.value is not None and isfinite(self.value)
        return Estimate(float(self.value), float("-inf"), float("inf")) if is_known and self.value is not None else None


def names_of(sections: Iterable[Any]) -> dict[str, tuple[str, Reader]]:
    """The names that sections publish; each with the section's name and the function that reads the number."""
    names: dict[str, tuple[str, Reader]] = {}
    for section in sections:
        published: Mapping[str, Reader] = getattr(section, "main_numbers", {})
        names |= {name: (section.name, read) for name, read in published.items()}
    return names


def main_numbers(audit: Any) -> dict[str, MainNumber]:
    """The main numbers of an audit by name; those of a section that was left out have no value."""
    return {name: _read(audit.findings.get(of), name, read) for name, (of, read) in names_of(audit.sections).items()}


def numbers_of(audit: Any, section: Any) -> dict[str, MainNumber]:
    """The main numbers of one section that were measured."""
    own, every = getattr(section, "main_numbers", {}), main_numbers(audit)
    return {name: every[name] for name in own if every[name].estimate is not None}


def _read(findings: Any, name: str, read: Reader) -> MainNumber:
    found = None if findings is None else read(findings)
    return found if isinstance(found, MainNumber) else MainNumber(name.replace("_", " "), found, NEITHER)
