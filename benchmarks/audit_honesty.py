"""Are the audit's answers right? Audits of simulated tables with a known truth.

    python benchmarks/audit_honesty.py --results honesty.jsonl --workers 2
    python benchmarks/audit_honesty.py --results honesty.jsonl --table
    python benchmarks/audit_honesty.py --section segments --replications 300

The last line is about one section: a file `honesty_<section>.py` has its ``SCENARIOS``, functions of a generator and a
number of rows that return what was found as a dict, and ``summary`` of the lines of all runs.

A run that was stopped continues where it was. For each scenario of `honesty_tables.py` the table counts answers that
contradict the truth, how often a required note was given, and how often the interval of the audited model's error
contains its error on fresh rows: from the same distribution or, where deployment rows have no targets, from that of the
deployment rows. All settings are defaults.
"""

import argparse
import importlib
import json
import os
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from honesty_tables import NO, PARTLY, SCENARIOS, UNKNOWN, YES, Case

from surefoot.report.audit import Audit, audit_run
from surefoot.report.models.scoring import Outcome, main_measure
from surefoot.report.run import AuditRun
from surefoot.report.sections import ANSWERED

SIZES = (400,)  # rows
FRESH_ROWS = 20_000
SECTIONS = sorted(path.stem.removeprefix("honesty_") for path in Path(__file__).parent.glob("honesty_*.py"))
SECTIONS.remove("tables")  # of whole audits
ROW_SCENARIOS = ("linear_numbers", "curved_classes", "own_right_chances", "own_right_intervals")  # by number of rows
ROW_SIZES = (100, 300, 1000, 3000, 10_000)


def main() -> None:
    arguments = _arguments()
    section = None if arguments.section is None else importlib.import_module(f"honesty_{arguments.section}")
    scenarios, summarize = (SCENARIOS, summary) if section is None else (section.SCENARIOS, section.summary)
    if unknown := set(arguments.scenarios or ()) - set(scenarios):
        raise SystemExit(f"--scenarios {min(unknown)}: there are {', '.join(scenarios)}")
    if not arguments.table:
        run_all(arguments, list(arguments.scenarios or scenarios))
    print(summarize(read_lines(arguments.results)))


def run_all(arguments: argparse.Namespace, names: list[str]) -> None:
    """Run everything that is not yet among the results."""
    sizes = {name: ROW_SIZES if name in ROW_SCENARIOS and arguments.rows else SIZES for name in names}
    wanted = [
        (name, n, k)
        for k in range(arguments.first, arguments.first + arguments.replications)
        for name in names
        for n in arguments.sizes or sizes[name]
    ]
    known = {(line["scenario"], line["n"], line["replication"]) for line in read_lines(arguments.results)}
    remaining = [task for task in wanted if task not in known]
    print(f"{len(wanted) - len(remaining)} of {len(wanted)} are done", flush=True)
    run = run_one if arguments.section is None else partial(run_section, arguments.section)
    with ProcessPoolExecutor(arguments.workers) as pool, arguments.results.open("a") as file:
        for future in as_completed([pool.submit(run, *task) for task in remaining]):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()


def run_section(section: str, name: str, n: int, replication: int) -> dict[str, Any]:
    """One run of a scenario of one section."""
    warnings.simplefilter("ignore")
    generator = np.random.default_rng([sum(name.encode()), n, replication])
    found = importlib.import_module(f"honesty_{section}").SCENARIOS[name](generator, n)
    return {"scenario": name, "n": n, "replication": replication, **found}


def run_one(name: str, n: int, replication: int) -> dict[str, Any]:
    """One audit of one table."""
    warnings.simplefilter("ignore")
    seed = [sum(name.encode()), n, replication]
    case = SCENARIOS[name](np.random.default_rng(seed), n)
    run, audit = audit_run(case.X, case.y, **case.options, random_state=replication, n_jobs=1)
    subject = audit.subject
    lines = dict(zip(("headline", *ANSWERED), audit.verdict, strict=True))
    return {
        "scenario": name,
        "n": n,
        "replication": replication,
        "seconds": round(run.budget.seconds, 2),
        "answers": {question: lines[question].answer for question in case.wrong},
        "sentences": {question: lines[question].sentence for question in ("headline", *case.wrong)},
        "headline": lines["headline"].answer,
        "wrong": [question for question, wrong in case.wrong.items() if lines[question].answer in wrong],
        "asked": list(case.wrong),
        "noted": _noted(case, subject),
        "interval": _interval(case, run, audit),
    }


def _noted(case: Case, subject: Any) -> bool | None:
    """Whether a required note was given, or a false one was not."""
    notes = [check.kind for check in subject.checks] + [note.column for note in subject.notes]
    if case.must_not_note is not None:
        return not any(note.startswith(case.must_not_note) for note in notes)
    return None if case.must_note is None else any(case.must_note in note for note in notes)


def _interval(case: Case, run: AuditRun, audit: Audit) -> str | None:
    """Whether the interval of the audited model's loss contains the mean loss of the fold models on fresh rows."""
    if case.fresh is None and case.deployment is None:
        return None
    accuracy, shift = audit.accuracy, audit.shift
    measure = main_measure(run.table.target, run.splits.held_out)
    loss = next(model for model in accuracy.models if model.chosen).loss
    if case.deployment is not None:
        loss, measure = None if shift.weighted is None else shift.weighted.loss, shift.measure
    if loss is None or not (np.isfinite(loss.low) and np.isfinite(loss.high)):
        return "withheld"
    true = _true_loss(case, run, measure)
    return "held" if loss.low <= true <= loss.high else "above" if true > loss.high else "below"


def _true_loss(case: Case, run: AuditRun, measure: str) -> float:
    draw = case.deployment or case.fresh
    assert draw is not None
    X, y = draw(np.random.default_rng(999), FRESH_ROWS)
    y = y if case.rule is None else case.rule(X)  # with heavy tails, a mean square would need far more rows
    target, audited = run.table.target, run.audited
    frame, truth = run.table.like(X, "X"), np.asarray(y, dtype=object)
    outcomes = [
        Outcome.of_truth(target, audited.candidate.predict_table(model, frame, target), truth)
        for each in run.comparisons
        for model in each.audited.fold_models
    ]
    losses = [(each.proper if measure == "log-loss" else each.losses).mean() for each in outcomes]
    return (float(np.mean(losses)) + case.noise) ** (0.5 if measure == "RMSE" else 1.0)


def summary(lines: list[dict[str, Any]]) -> str:
    """A table in Markdown."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        groups[line["scenario"], line["n"]].append(line)
    rows = [
        "| scenario | rows | audits | question | yes | partly | no | unknown | wrong | noted | interval held |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in SCENARIOS:
        for (_, n), group in sorted((key, each) for key, each in groups.items() if key[0] == name):
            rows += _rows(name, n, group)
    return "\n".join([*rows, "", *_totals(lines)])


def _rows(name: str, n: int, group: list[dict[str, Any]]) -> list[str]:
    noted = [line["noted"] for line in group if line["noted"] is not None]
    intervals = [line["interval"] for line in group if line["interval"] not in (None, "withheld")]
    withheld = sum(line["interval"] == "withheld" for line in group)
    held = f"{intervals.count('held')} of {len(intervals)}" if intervals else "-"
    held += f" ({withheld} withheld)" if withheld else ""
    rows = []
    for question in group[0]["asked"] or [None]:
        answers = [line["answers"][question] for line in group] if question else []
        counts = [str(answers.count(word)) if answers else "-" for word in (YES, PARTLY, NO, UNKNOWN)]
        wrong = sum(question in line["wrong"] for line in group) if question else "-"
        cells = [name.replace("_", " "), f"{n:,}", len(group), question or "-", *counts, wrong]
        cells += [f"{sum(noted)} of {len(noted)}" if noted else "-", held]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return rows


def _totals(lines: list[dict[str, Any]]) -> list[str]:
    """Wrong answers by kind, among all answers that were assessed."""
    assessed = [(line, question) for line in lines for question in line["asked"]]
    wrong = [(line["answers"][question]) for line, question in assessed if question in line["wrong"]]
    intervals = [line["interval"] for line in lines if line["interval"] not in (None, "withheld")]
    n = max(len(assessed), 1)
    return [
        f"Of {len(assessed)} answers, {wrong.count(YES)} are a wrong yes ({wrong.count(YES) / n:.1%}), "
        f"{wrong.count(PARTLY)} a wrong partly ({wrong.count(PARTLY) / n:.1%}), "
        f"{wrong.count(NO)} a wrong no ({wrong.count(NO) / n:.1%}). "
        f"{intervals.count('held')} of {len(intervals)} intervals hold.",
    ]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", choices=SECTIONS, help="scenarios of one section, instead of whole audits")
    parser.add_argument("--results", type=Path, help="honesty.jsonl, or honesty-<section>.jsonl")
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first replication; it changes the tables")
    parser.add_argument("--scenarios", nargs="*")
    parser.add_argument("--sizes", nargs="*", type=int)
    parser.add_argument("--rows", action="store_true", help="some scenarios with 100 to 10,000 rows")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--table", action="store_true", help="print the table of the results without any audit")
    arguments = parser.parse_args()
    if arguments.results is None:
        arguments.results = Path(f"honesty-{arguments.section}.jsonl" if arguments.section else "honesty.jsonl")
    return arguments


if __name__ == "__main__":
    main()
