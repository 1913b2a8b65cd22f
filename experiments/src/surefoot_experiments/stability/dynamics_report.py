"""The section on predators and prey: figures 2, 3, 10 and 13, and table 3."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefoot.selection.polynomial_library import PolynomialLibrary
from surefoot_experiments.skeleton.report import Section, image, new_figure, save_figure, table
from surefoot_experiments.stability import lynx_hare, paper
from surefoot_experiments.stability.charts import draw_correlations, save_by_bags, save_stability
from surefoot_experiments.stability.equations import DEGREE, NAMES, SEPARATOR, TRUTH, EquationSystem
from surefoot_experiments.stability.lines import RuleLine, WeightLine
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import SweepResults
from surefoot_experiments.stability.sweep_findings import (
    judge_accuracies,
    judge_rules,
    promise_remark,
    rule_table,
    undecided_remarks,
)
from surefoot_experiments.stability.validation import (
    HOW_VALIDATED,
    ValidationLine,
    draw_figure_10,
    draw_solution,
    equations_table,
    judge_validation,
    nearest_trajectory,
    table_3,
)

SHOWN_TRIAL = 0
TOP = 5
REPLACEMENT = (
    "The paper draws bags without replacement (table 1), and so does our first run. A second run draws them with "
    "replacement, the default of pysindy; its accuracies are also compared with those in the caption of figure 3."
)
DERIVATIVES = (
    "Theorem 4.2 is about models that depend only on the rows of their bag. SINDy's derivatives are differences "
    "between neighbouring times: leaving out a time changes the derivatives of its neighbours. Therefore no ε carries "
    "a guarantee in this section. The instability is measured, with derivatives recomputed without each time."
)
PRINTED_DIGITS = 3  # of the coefficients of equations 23 and 24


class Trajectories(NamedTuple):
    """States (trials, times, 2), their times, and the trajectory for cross-validation."""

    states: np.ndarray
    times: np.ndarray
    tuning: np.ndarray


class TrialRun(NamedTuple):
    """The lines of all trials, and whether the bags were drawn with replacement."""

    results: list[RuleLine]
    weights: list[WeightLine]
    replace: bool

    @property
    def replacement(self) -> str:
        return "with replacement" if self.replace else "without replacement"


def write_section(
    folder: Path,
    data: Path,
    trajectories: Trajectories,
    runs: Sequence[TrialRun],
    validation: Sequence[ValidationLine],
    settings: StabilitySettings,
) -> Section:
    """Draw the figures and write the section."""
    sweeps = {run.replace: SweepResults(run.results, settings.dynamics_bags) for run in runs}
    system = EquationSystem.fit(trajectories.tuning, trajectories.times, paper.CHOSEN_PENALTY, paper.CHOSEN_THRESHOLD)
    _draw_figure_2(folder / "figure-2.png", trajectories)
    draw_figure_10(folder / "figure-10.png", system, trajectories.tuning, trajectories.times)
    n_times = len(trajectories.times)
    parts = [image("figure-2"), *(_trials(folder, run, sweeps[run.replace], settings, n_times) for run in runs)]
    parts += [_table_3(validation, system), lynx_hare.write_section(folder, data)]
    findings = judge_rules(sweeps[False], paper.FIGURE_3, paper.FIGURE_3_ACCURACY, settings.fewer_bags)
    condition = ", if bags are drawn with replacement"
    findings += [judge_accuracies(sweeps[True], paper.FIGURE_3, paper.FIGURE_3_ACCURACY, condition)]
    findings += judge_validation(validation, system)
    remarks = (
        promise_remark(paper.FIGURE_3[-1].parameter, n_times, paper.DYNAMICS_BAG_SIZE),
        DERIVATIVES,
        *undecided_remarks(sweeps[False], paper.FIGURE_3),
        REPLACEMENT,
        _trajectory_remark(trajectories),
        lynx_hare.REMARK,
    )
    seconds = sum(line.seconds for run in runs for line in run.results)
    seconds += sum(line.seconds for line in validation)
    seconds += sum(line.seconds for line in lynx_hare.read_results(folder))
    return Section(
        title="Predators and prey: figures 2, 3, 10 and 13, and table 3",
        text="\n\n".join(part for part in parts if part),
        findings=tuple(findings),
        remarks=remarks,
        seconds=seconds,
    )


def _trials(folder: Path, run: TrialRun, sweeps: SweepResults, settings: StabilitySettings, n_times: int) -> str:
    """Draw figures 3 and 13 for one way of drawing bags, and write their numbers."""
    mark = "-replaced" if run.replace else ""
    title = f"Figure 3: SINDy on predators and prey, bags drawn {run.replacement}"
    save_stability(folder / f"figure-3{mark}.png", title, sweeps.curves(paper.FIGURE_3))
    title = f"Figure 13: instability by the number of bags, SINDy, drawn {run.replacement}"
    save_by_bags(folder / f"figure-13{mark}.png", title, sweeps.by_bags(paper.FIGURE_3, settings.fewer_bags))
    setting = {"n_samples": n_times, "bag_size": paper.DYNAMICS_BAG_SIZE, "replace": run.replace}
    return "\n\n".join(
        [
            f"### Bags drawn {run.replacement}{'' if run.replace else ', as in the paper'}",
            _introduction(sweeps, run.weights, n_times),
            rule_table(sweeps, paper.FIGURE_3, paper.FIGURE_3_ACCURACY, **setting),
            image(f"figure-3{mark}"),
            image(f"figure-13{mark}"),
        ]
    )


def _introduction(sweeps: SweepResults, weights: Sequence[WeightLine], n_times: int) -> str:
    trials = len(sweeps.of(paper.FIGURE_3[0]))
    truth = SEPARATOR.join(f"{equation}: {term}" for equation, term in TRUTH.equations)
    sums: dict[str, float] = {}
    for line in weights:
        sums[line.model] = sums.get(line.model, 0.0) + line.weight
    heaviest = sorted(sums, key=lambda model: -sums[model])[:TOP]
    rows = [[f"{sums[model] / trials:.1%}", f"{model}{' (the truth)' if model == truth else ''}"] for model in heaviest]
    return (
        f"{trials} trajectories of {n_times} times; SINDy with threshold {paper.CHOSEN_THRESHOLD} "
        f"and penalty {paper.CHOSEN_PENALTY}, {sweeps.bags:,} bags of {paper.DYNAMICS_BAG_SIZE}. When a time is left "
        "out, new derivatives are computed and new bags drawn. The models with the largest weights on average over "
        "trials (equation: term):\n\n" + table(["weight", "model"], rows)
    )


def _trajectory_remark(trajectories: Trajectories) -> str:
    """Whether the published trajectories can give the printed equations."""
    index, gap = nearest_trajectory([*trajectories.states, trajectories.tuning], trajectories.times)
    name = f"trial {index}" if index < len(trajectories.states) else "the one for cross-validation"
    _, own = nearest_trajectory([trajectories.tuning], trajectories.times)
    guess = " The printed numbers seem to come from another draw." if round(gap, PRINTED_DIGITS) else ""
    return (
        "Table 3 is computed on the trajectory that the authors published for cross-validation. With second-order "
        f"differences and the true terms its coefficients differ from equations 23 and 24 by up to {own:.3f}. Of all "
        f"published trajectories {name} is closest ({gap:.3f}).{guess}"
    )


def _table_3(validation: Sequence[ValidationLine], system: EquationSystem) -> str:
    return "\n\n".join(
        [
            "### Table 3 and figure 10: penalty λ and threshold ω",
            HOW_VALIDATED,
            table_3(validation),
            "Coefficients on the whole trajectory, with the paper's λ and ω:",
            equations_table(system),
            image("figure-10"),
        ]
    )


def _draw_figure_2(path: Path, trajectories: Trajectories) -> None:
    """Draw one trajectory with the true solution, and the correlations of its terms."""
    states, times = trajectories.states[SHOWN_TRIAL], trajectories.times
    library = PolynomialLibrary(NAMES, DEGREE)
    figure = new_figure(12.0, 4.6)
    first, second = figure.subplots(1, 2, width_ratios=(1.3, 1))
    draw_solution(first, TRUTH, states, times)
    first.set_title(f"trial {SHOWN_TRIAL}: observed states, and the true solution")
    with np.errstate(invalid="ignore", divide="ignore"):
        matrix = np.corrcoef(library.values(states).T)
    draw_correlations(second, matrix, library.names)
    second.set_title("correlations of its terms (grey: the constant)")
    figure.suptitle("Figure 2: predators and prey")
    save_figure(path, figure)
