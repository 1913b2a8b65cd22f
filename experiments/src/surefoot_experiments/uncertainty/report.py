"""The report of a run: tables, pictures and the summary, from all results in the folder."""

import json
from collections.abc import Sequence
from pathlib import Path

from surefoot_experiments.skeleton.report import QUICK_MARK, write_text
from surefoot_experiments.skeleton.run import SETTINGS, SUMMARY
from surefoot_experiments.uncertainty import charts, table_2
from surefoot_experiments.uncertainty.comparison_table import (
    TABLE_1,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TABLE_7,
    TableCell,
    TableLayout,
    as_csv,
    compare,
)
from surefoot_experiments.uncertainty.figures import draw_figure_2, draw_figure_3, draw_figure_4
from surefoot_experiments.uncertainty.findings import judge_tables
from surefoot_experiments.uncertainty.maps import read_map
from surefoot_experiments.uncertainty.methods import UncertaintySettings
from surefoot_experiments.uncertainty.scores import Scores
from surefoot_experiments.uncertainty.summary import make_remarks, write_summary
from surefoot_experiments.uncertainty.trainings import TrainingRun

TITLE = "Uncertainty in Gradient Boosting via Ensembles, tables 1, 2, 4 to 7 and figures 2 to 4"
LAYOUTS = (TABLE_1, TABLE_4, TABLE_5, TABLE_6, TABLE_7)


def write_report(folder: Path, trainings: TrainingRun, settings: UncertaintySettings) -> None:
    """Draw the figures, and write the tables and the summary."""
    scores = Scores(trainings.results.lines.values())
    mark = f" ({QUICK_MARK})" if settings.quick else ""
    maps = [folder / "heart.csv", folder / "spiral.csv"]
    heart = read_map(maps[0]) if all(path.exists() for path in maps) else None
    if heart is not None:
        spiral = read_map(maps[1])
        draw_figure_2(folder / "figure-2.png", heart)
        draw_figure_3(folder / "figure-3.png", spiral)
        draw_figure_4(folder / "figure-4.png", heart, spiral)
    tables = [(layout, compare(layout, scores)) for layout in LAYOUTS]
    rows = table_2.threshold_rows(scores)
    _write_tables(folder, tables, rows)
    text = write_summary(
        title=TITLE + mark,
        command=f"surefoot reproduce uncertainty --data DIR{' --quick' if settings.quick else ''}",
        seconds=_seconds(trainings),
        findings=judge_tables(scores, rows),
        remarks=make_remarks(scores, settings, _sources(folder)),
        table_2_rows=rows,
        tables=tables,
        heart=heart,
    )
    write_text(folder / SUMMARY, text)


def _write_tables(
    folder: Path, tables: Sequence[tuple[TableLayout, list[TableCell]]], rows: Sequence[table_2.ThresholdRow]
) -> None:
    for layout, cells in tables:
        write_text(folder / f"table-{layout.number}.csv", as_csv(cells))
        charts.draw_comparison(folder / f"table-{layout.number}.png", layout, cells)
    write_text(folder / "table-2.csv", table_2.as_csv(rows))
    charts.draw_table_2(folder / "table-2.png", f"Table 2: {table_2.TITLE}", rows)


def _seconds(trainings: TrainingRun) -> float:
    tuning = sum(line.seconds for line in trainings.tuning.lines.values())
    return tuning + sum(line.seconds for line in trainings.results.lines.values())


def _sources(folder: Path) -> dict[str, str]:
    """The file of each table."""
    return json.loads((folder / SETTINGS).read_text(encoding="utf-8"))["sources"]
