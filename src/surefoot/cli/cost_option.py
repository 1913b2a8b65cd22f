"""The option ``--cost``: what the errors of a classifier cost."""

from typing import Any

from surefoot import ParameterError
from surefoot.report.sections.own_measure.cost import POSITIVE


def read_cost(text: str) -> dict[str, Any]:
    """The costs in a text such as "fp=1,fn=20,positive=sick"; the class comes last, as its name may have commas."""
    numbers, found, positive = text.partition(f"{POSITIVE}=")
    costs: dict[str, Any] = {POSITIVE: positive} if found else {}
    for entry in numbers.strip(" ,").split(","):
        name, _, value = entry.partition("=")
        try:
            costs[name.strip()] = float(value)
        except ValueError as error:
            message = f"{text!r} has the entry {entry.strip()!r}: write fp=1,fn=20, or fp=1,fn=20,positive=CLASS."
            raise ParameterError(message, argument="costs") from error
    return costs
