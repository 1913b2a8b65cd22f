"""Text in CSV files that spreadsheets would take for formulas, such as a label ``=HYPERLINK(...)``."""

import re
from typing import Any

FULL_WIDTH = "\uff1d\uff0b\uff0d\uff20"  # the same four signs for East Asian text
FORMULA = re.compile(rf"[=+\-@\t\r\n{FULL_WIDTH}]")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def as_plain_text(frame: Any) -> Any:
    """The frame with a ``'`` before names and texts that would be formulas; numbers stay as they are.

    Spreadsheets show such a cell as text.
    """
    import pandas as pd

    texts = {
        name: frame[name].map(_plain, na_action="ignore")
        for name in frame.columns
        if not pd.api.types.is_numeric_dtype(frame[name])
    }
    return frame.assign(**texts).rename(columns=_plain)


def _plain(value: Any) -> Any:
    is_formula = isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value
