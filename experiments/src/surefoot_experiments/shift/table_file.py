"""Tables that are written anew at the end of every run."""

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from surefoot._whole_files import write_text


def write_table(path: Path, rows: Sequence[Any]) -> None:
    """Write dataclasses of one kind as CSV, numbers to six digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(rows[0])])
    for row in rows:
        writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in astuple(row)])
    write_text(path, text.getvalue())
