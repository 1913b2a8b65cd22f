"""Coverage of the audit's 95% intervals on simulated data with a known truth.

    .venv/bin/python benchmarks/interval_coverage.py [--replications 1000] [--only rmse ratio rates ...]

Every line is one distribution of data and one number of rows. *Held*: replications whose interval contains the truth,
including withheld intervals and open ends; *withheld*: without an interval; *open*: with one end open; *truth below*
and *truth above*: misses on either side, as fractions of all replications; *closed, held*: the coverage of intervals
with two ends. Cross-fitting fits models and is slow; it has its own benchmark.
"""

import argparse
import zlib
from collections.abc import Callable, Iterator

import numpy as np
from interval_scenarios import SECTIONS, Case

from surefoot.report.statistics import is_one_sided, is_withheld

LINE = "| {:<46} | {:>5} | {:>5} | {:>8} | {:>5} | {:>11} | {:>11} | {:>12} |"


def measure(case: Case, replications: int) -> str:
    """One line of the table; data is drawn for each replication, with a seed from the name of the case."""
    rng = np.random.default_rng(zlib.crc32(f"{case.name} {case.n}".encode()))
    below = above = held = n_withheld = n_open = n_closed = closed_held = 0
    for _ in range(replications):
        estimate = case.draw(rng)
        if estimate is None or is_withheld(estimate):
            n_withheld += 1
            held += 1
            continue
        miss_below, miss_above = case.truth < estimate.low - 1e-12, case.truth > estimate.high + 1e-12
        below, above, held = below + miss_below, above + miss_above, held + (not miss_below and not miss_above)
        if is_one_sided(estimate):
            n_open += 1
        else:
            n_closed += 1
            closed_held += not miss_below and not miss_above
    parts = (f"{count / replications:.3f}" for count in (held, n_withheld, n_open, below, above))
    return LINE.format(case.name, case.n, *parts, f"{closed_held / n_closed:.3f}" if n_closed else "-")


def table(cases: Iterator[Case], replications: int, show: Callable[[str], None]) -> None:
    """Show the lines of a section, each as soon as it is measured."""
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
