"""How often the audit's 95% intervals hold the truth, where it is known.

    .venv/bin/python benchmarks/interval_coverage.py [--replications 1000] [--only rmse ratio rates ...]

Every line is one way of drawing data and one number of rows. *Held*: replications whose interval holds the truth,
withheld and open ends included; *withheld*: without an interval; *open*: with one end open; *truth below* and *truth
above*: misses on either side, as fractions of all replications; *closed, held*: of intervals with both ends, the
fraction that holds the truth. Cross-fitting fits models and takes most of the time; it has a table of its own.
"""

import argparse
import zlib
from collections.abc import Callable, Iterator

import numpy as np
from interval_scenarios import SECTIONS, Case

from surefoot.report.statistics import is_one_sided, is_withheld

LINE = "| {:<46} | {:>5} | {:>5} | {:>8} | {:>5} | {:>11} | {:>11} | {:>12} |"


def measure(case: Case, replications: int) -> str:
    """One line of the table; data are drawn anew for each replication, from a seed of the case's name."""
    rng = np.random.default_rng(zlib.crc32(f"{case.name} {case.n}".encode()))
    below = above = held = n_withheld = n_open = n_closed = closed_held = 0
    for _ in range(replications):
        found = case.draw(rng)
        if found is None or is_withheld(found):
            n_withheld += 1
            held += 1
            continue
        miss_below, miss_above = case.truth < found.low - 1e-12, case.truth > found.high + 1e-12
        below, above, held = below + miss_below, above + miss_above, held + (not miss_below and not miss_above)
        if is_one_sided(found):
            n_open += 1
        else:
            n_closed += 1
            closed_held += not miss_below and not miss_above
    parts = (f"{count / replications:.3f}" for count in (held, n_withheld, n_open, below, above))
    return LINE.format(case.name, case.n, *parts, f"{closed_held / n_closed:.3f}" if n_closed else "-")


def table(cases: Iterator[Case], replications: int, show: Callable[[str], None]) -> None:
    """All lines of a section, each as soon as it is known."""
    show(LINE.format("data", "rows", "held", "withheld", "open", "truth below", "truth above", "closed, held"))
    show("|" + "|".join(["---"] + ["---:"] * 7) + "|")
    for case in cases:
        show(measure(case, replications))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--only", nargs="*", choices=tuple(SECTIONS), default=tuple(SECTIONS))
    arguments = parser.parse_args()
    for name in arguments.only:
        title, cases = SECTIONS[name]
        print(f"\n### {title}\n", flush=True)
        table(cases(), arguments.replications, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
