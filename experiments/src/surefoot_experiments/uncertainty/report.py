"""What is written at the end of a run: tables, pictures and the summary, from everything in the folder."""

import json
from collections.abc import Sequence
from pathlib import Path

from surefoot._atomic_io import write_text
from surefoot_experiments.skeleton.run import SETTINGS, SUMMARY
from surefoot_experiments.uncertainty import charts, table_2
from surefoot_experiments.uncertainty.comparison_table import (
    TABLE_1,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TABLE_7,
    Cell,
    Layout,
    as_csv,
    compare,
)
from surefoot_experiments.uncertainty.figures import draw_figure_2, draw_figure_3, draw_figure_4
from surefoot_experiments.uncertainty.findings import judge_tables
from surefoot_experiments.uncertainty.maps import read_map
from surefoot_experiments.uncertainty.methods import UncertaintySettings
from surefoot_experiments.uncertainty.scores import Scores
from surefoot_experiments.uncertainty.summary import QUICK_MARK, make_remarks, write_summary
from surefoot_experiments.uncertainty.trials import Trials

TITLE = "Uncertainty in Gradient Boosting via Ensembles, tables 1, 2, 4 to 7 and figures 2 to 4"
LAYOUTS = (TABLE_1, TABLE_4, TABLE_5, TABLE_6, TABLE_7)


def write_report(folder: Path, trials: Trials, settings: UncertaintySettings) -> None:
    """Everything but the results themselves."""
    scores = Scores(trials.results.lines.values())
    mark = f" ({QUICK_MARK})" if settings.quick else ""
    maps = [folder / "heart.csv", folder / "spiral.csv"]
    heart = read_map(maps[0]) if all(path.exists() for path in maps) else None
    if heart is not None:
        spiral = read_map(maps[1])
        draw_figure_2(folder / "figure-2.png", heart)
        draw_figure_3(folder / "figure-3.png", spiral)
        draw_figure_4(folder / "figure-4.png", heart, spiral)
    tables = [(layout, compare(layout, scores)) for layout in LAYOUTS]
    bars = table_2.bar_rows(scores)
    _write_tables(folder, tables, bars)
    text = write_summary(
        title=TITLE + mark,
        command=f"surefoot reproduce uncertainty --data DIR{' --quick' if settings.quick else ''}",
        seconds=_seconds(trials),
        findings=judge_tables(scores, bars),
        remarks=make_remarks(scores, settings, _sources(folder)),
        bars=bars,
        tables=tables,
        heart=heart,
    )
    write_text(folder / SUMMARY, text)


def _write_tables(folder: Path, tables: Sequence[tuple[Layout, list[Cell]]], bars: Sequence[table_2.BarRow]) -> None:
    for layout, cells in tables:
        write_text(folder / f"table-{layout.number}.csv", as_csv(cells))
        charts.draw_comparison(folder / f"table-{layout.number}.png", layout, cells)
    write_text(folder / "table-2.csv", table_2.as_csv(bars))
    charts.draw_bars(folder / "table-2.png", f"Table 2: {table_2.TITLE}", bars)


def _seconds(trials: Trials) -> float:
    tuned = sum(line.seconds for line in trials.tuning.lines.values())
    return tuned + sum(line.seconds for line in trials.results.lines.values())


def _sources(folder: Path) -> dict[str, str]:
    """The file that each table of these results was read from."""
    return json.loads((folder / SETTINGS).read_text(encoding="utf-8"))["sources"]
