"""Figures 2 to 15 and tables 2 to 4 of "Stabilizing black-box model selection with the inflated argmax"."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.skeleton.report import write_text
from surefoot_experiments.skeleton.run import (
    ENVIRONMENT,
    SUMMARY,
    Outputs,
    ProgressCallback,
    check_jobs,
    choose_parts,
    default_folder,
    find_data_folder,
    folder_lock,
    open_folder,
)
from surefoot_experiments.stability.dynamics import Dynamics
from surefoot_experiments.stability.graph import Graph
from surefoot_experiments.stability.larger_sample import LargerSample
from surefoot_experiments.stability.part import Part
from surefoot_experiments.stability.regression import Regression
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.summary import write_summary
from surefoot_experiments.stability.trees import Trees

NAME = "stability"
PARTS: dict[str, Part] = {part.name: part for part in (Regression(), LargerSample(), Dynamics(), Graph(), Trees())}


def run(
    *,
    data: str | Path | None = None,
    out: str | Path | None = None,
    quick: bool = False,
    parts: Sequence[str] | None = None,
    n_jobs: int | None = None,
    callback: ProgressCallback = lambda done, total, label: None,
) -> Outputs:
    """Run the units that are not in the files of ``out`` yet; then draw the figures and write the summary."""
    settings, chosen = StabilitySettings.make(quick), [PARTS[name] for name in choose_parts(parts, PARTS)]
    check_jobs(n_jobs)
    outputs = Outputs(Path(out) if out is not None else default_folder(NAME, quick))
    tables, sources = _find_data(data, chosen, outputs.folder)
    open_results(outputs.folder, settings, sources)
    with folder_lock(outputs.folder):
        for part in chosen:
            part.run(outputs.folder, tables, settings, n_jobs, callback)
        callback(1, 1, "drawing")
        write_report(outputs.folder, tables, settings)
    return outputs


def open_results(folder: Path, settings: StabilitySettings, sources: dict[str, str]) -> None:
    """Create the folder of the results, or check that its results were made with these settings and data."""
    kinds = {name: kind for part in PARTS.values() for name, kind in part.lines.items()}
    wanted: dict[str, Any] = {"experiment": NAME, **asdict(settings), "sources": sources}
    open_folder(folder, wanted, kinds)


def write_report(folder: Path, data: Path, settings: StabilitySettings) -> None:
    """Draw the figures and write the tables and the summary of all parts that have results."""
    sections, without_results, without_data = [], [], []
    for part in PARTS.values():
        if not _has_begun(part, folder):
            without_results.append(part.name)
        elif any(not (data / file).exists() for file in part.files):
            without_data.append(part.name)  # some figures show the data itself
        elif (section := part.report(folder, data, settings)) is not None:
            sections.append(section)
        else:
            without_results.append(part.name)
    missing = [f"Not run, or too early for results: {', '.join(without_results)}."] if without_results else []
    missing += [f"Not shown, because their data files are missing: {', '.join(without_data)}."] if without_data else []
    write_text(folder / SUMMARY, write_summary(sections, missing, settings))


def _has_begun(part: Part, folder: Path) -> bool:
    return any((folder / name).exists() for name in part.lines)


def _find_data(data: str | Path | None, parts: Sequence[Part], out: Path) -> tuple[Path, dict[str, str]]:
    """The folder of the data files, and a hash of each file that is read, because results belong to its content."""
    files = [file for part in parts for file in part.files]
    if not files and data is None and not os.environ.get(ENVIRONMENT):
        return Path(), {}
    folder = find_data_folder(data, ", ".join(files) or "the data files")
    missing = [file for file in files if not (folder / file).is_file()]
    if missing:
        owners = [part.name for part in parts if missing[0] in part.files]
        raise DatasetMissingError(
            f"{folder} lacks {', '.join(missing)}: put it there, or leave out the part {owners[0]} with --parts."
        )
    reported = [part for part in PARTS.values() if part in parts or _has_begun(part, out)]
    read = [folder / file for part in reported for file in part.files if (folder / file).is_file()]
    return folder, {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in read}
