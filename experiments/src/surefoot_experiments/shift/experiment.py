"""Measure the bounds of the V-matrix, and boosting on biased samples of nine tables with unbiased test rows."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from surefoot import ParameterError
from surefoot._atomic_io import write_text
from surefoot_experiments.shift import protocol
from surefoot_experiments.shift.bounds import run_bounds
from surefoot_experiments.shift.bounds_report import describe_bounds
from surefoot_experiments.shift.lines import BOUNDS_FILE, BoundLine, ResultLine
from surefoot_experiments.shift.methods import DEFAULT, make_model
from surefoot_experiments.shift.protocol import BOUNDS, PARTS, QUICK_SPLITS, SPLITS, STUDY, ShiftSettings
from surefoot_experiments.shift.study import run_study
from surefoot_experiments.shift.study_report import describe_study
from surefoot_experiments.shift.summary import write_summary
from surefoot_experiments.shift.tables import Tables
from surefoot_experiments.skeleton.run import (
    RESULTS,
    SETTINGS,
    SUMMARY,
    Outputs,
    ProgressCallback,
    check_jobs,
    check_settings,
    choose_parts,
    default_folder,
    folder_lock,
    open_folder,
)
from surefoot_experiments.skeleton.unit import GrowingCsv

NAME = "shift"
FILES: dict[str, type[Any]] = {BOUNDS_FILE: BoundLine, RESULTS: ResultLine}


def run(
    *,
    data: str | Path | None = None,
    out: str | Path | None = None,
    quick: bool = False,
    datasets: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    n_splits: int | None = None,
    n_jobs: int | None = None,
    callback: ProgressCallback = lambda done, total, label: None,
) -> Outputs:
    """Run what is not yet in the files of ``out``; then write the report of all results."""
    settings, splits, chosen = ShiftSettings.make(quick), _count_splits(n_splits, quick), choose_parts(parts, PARTS)
    check_jobs(n_jobs)
    tables = Tables.find(data, datasets, quick) if STUDY in chosen else Tables()
    outputs = Outputs(Path(out) if out is not None else default_folder(NAME, quick))
    open_results(outputs.folder, settings, tables.sources)
    with folder_lock(outputs.folder):
        if BOUNDS in chosen:
            run_bounds(outputs.folder, settings, n_jobs, callback)
        if STUDY in chosen:
            run_study(outputs.folder, tables, splits, settings, n_jobs, callback)
        callback(1, 1, "drawing")
        write_report(outputs.folder, settings)
    return outputs


def write_report(folder: Path, settings: ShiftSettings) -> None:
    """Write figures, tables and the summary of both parts, as far as they have results."""
    bounds = list(GrowingCsv(folder / BOUNDS_FILE, BoundLine).lines.values())
    results = list(GrowingCsv(folder / RESULTS, ResultLine).lines.values())
    sections = {BOUNDS: describe_bounds(folder, bounds), STUDY: describe_study(folder, results, settings)}
    absent = [name for name, section in sections.items() if section is None]
    present = [section for section in sections.values() if section is not None]
    write_text(folder / SUMMARY, write_summary(present, absent, settings))


def open_results(folder: Path, settings: ShiftSettings, sources: dict[str, str]) -> None:
    """Check that results in the folder have the same protocol, the same booster defaults and the same tables."""
    fixed = {
        name.lower(): getattr(protocol, name)
        for name in ("STRENGTH", "MAX_TRAINING_ROWS", "TRAINING_FRACTION", "HELD_OUT_FRACTION", "MAX_TARGET_ROWS",
                     "CONFIDENCE", "BOUND_ROWS")
    }  # fmt: skip
    # a deprecated parameter is no default, and will be gone
    booster = {name: value for name, value in make_model(DEFAULT).get_params().items() if value != "deprecated"}
    wanted: dict[str, Any] = {"experiment": NAME, **asdict(settings), **fixed, "booster": booster, "sources": sources}
    wanted = json.loads(json.dumps(wanted))  # tuples become lists, as they will be when they are read again
    for name in FILES if not (folder / SETTINGS).exists() else ():
        check_settings(folder / SETTINGS, wanted, folder / name)
    open_folder(folder, wanted, FILES)


def _count_splits(n_splits: int | None, quick: bool) -> int:
    if n_splits is None:
        return QUICK_SPLITS if quick else SPLITS
    if n_splits < 1:
        raise ParameterError(f"splits must be 1 or more, got {n_splits}.")
    return n_splits
