"""The bounds of the V-matrix, measured; and boosting on biased samples of nine tables against unbiased test rows."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from surefoot import ParameterError
from surefoot._atomic_io import write_text
from surefoot_experiments.shift import protocol
from surefoot_experiments.shift.bounds import run_bounds
from surefoot_experiments.shift.bounds_report import tell_bounds
from surefoot_experiments.shift.lines import BOUNDS_FILE, BoundLine, ResultLine
from surefoot_experiments.shift.methods import DEFAULT, make_model
from surefoot_experiments.shift.protocol import BOUNDS, PARTS, QUICK_SPLITS, SPLITS, STUDY, ShiftSettings
from surefoot_experiments.shift.study import run_study
from surefoot_experiments.shift.study_report import tell_study
from surefoot_experiments.shift.summary import write_summary
from surefoot_experiments.shift.tables import Tables
from surefoot_experiments.skeleton.run import (
    RESULTS,
    SETTINGS,
    SUMMARY,
    Outputs,
    Watcher,
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
    callback: Watcher = lambda done, total, label: None,
) -> Outputs:
    """Run what is not yet in the files of ``out``; then draw and write about everything that is there."""
    settings, splits, chosen = ShiftSettings.make(quick), _count_splits(n_splits, quick), choose_parts(parts, PARTS)
    check_jobs(n_jobs)
    tables = Tables.find(data, datasets, quick) if STUDY in chosen else Tables()
    outputs = Outputs(Path(out) if out is not None else default_folder(NAME, quick))
    _open(outputs.folder, settings, tables.sources)
    with folder_lock(outputs.folder):
        if BOUNDS in chosen:
            run_bounds(outputs.folder, settings, n_jobs, callback)
        if STUDY in chosen:
            run_study(outputs.folder, tables, splits, settings, n_jobs, callback)
        callback(1, 1, "drawing")
        write_report(outputs.folder, settings)
    return outputs


def write_report(folder: Path, settings: ShiftSettings) -> None:
    """Figures, tables and the summary, of both parts as far as they have results."""
    bounds = list(GrowingCsv(folder / BOUNDS_FILE, BoundLine).lines.values())
    results = list(GrowingCsv(folder / RESULTS, ResultLine).lines.values())
    told = {BOUNDS: tell_bounds(folder, bounds), STUDY: tell_study(folder, results, settings)}
    absent = [name for name, section in told.items() if section is None]
    sections = [section for section in told.values() if section is not None]
    write_text(folder / SUMMARY, write_summary(sections, absent, settings))


def _open(folder: Path, settings: ShiftSettings, sources: dict[str, str]) -> None:
    """Results belong to the protocol, to the booster's defaults, and to the content of the tables."""
    fixed = {
        name.lower(): getattr(protocol, name)
        for name in ("STRENGTH", "MAX_TRAINING", "TRAINING_SHARE", "HELD_OUT_SHARE", "MAX_TARGET", "CONFIDENCE",
                     "BOUND_ROWS")
    }  # fmt: skip
    booster = make_model(DEFAULT).get_params()
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
