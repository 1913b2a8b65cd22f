"""The same analysis of real predators and prey: the pelts of the Hudson Bay Company."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot import StableSelector
from surefoot.plots import ModelWeightsDisplay
from surefoot.selection import InflatedArgmax, stability_epsilon
from surefoot_experiments.skeleton.report import image, new_figure, save_figure, table
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INFLATED, ComparedRule
from surefoot_experiments.stability.equations import SEPARATOR, fit_bags, item_names, name_items
from surefoot_experiments.stability.lines import RuleLine, WeightLine, weight_lines
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import rule_lines

FILE = "lynx_hare.parquet"
RESULTS, WEIGHTS = "lynx_hare.csv", "lynx_hare-weights.csv"
PICTURE = "lynx_hare-models"
NAMES = ("hare", "lynx")
PROMISED_DELTA = 0.25
TOP = 10
LOTKA_VOLTERRA = ("hare: hare", "hare: hare lynx", "lynx: lynx", "lynx: hare lynx")
REMARK = (
    "Lynx and hare: 21 years are few, a derivative is a difference between years, and pelts are not animals. Both "
    "columns are divided by their means, so that one threshold suits all terms. The threshold and the penalty are the "
    "paper's; nothing was tuned on this table."
)


def read_states(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of hares and lynxes, scaled to a mean of 1, and the years."""
    import pandas as pd

    frame = pd.read_parquet(data / FILE)
    states = frame[list(NAMES)].to_numpy(np.float64)
    return states / states.mean(axis=0), frame["year"].to_numpy(np.float64)


def compared_rules(n_rows: int) -> list[ComparedRule]:
    """The rules of figure 3, and the epsilon of theorem 4.2 for a delta below 1."""
    epsilon = stability_epsilon(PROMISED_DELTA, n_samples=n_rows, bag_size=paper.DYNAMICS_BAG_SIZE)
    return [ComparedRule(BASE), ComparedRule(ARGMAX), *paper.FIGURE_3, ComparedRule(INFLATED, epsilon)]


def run(folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None) -> None:
    """Fit, if the results are not in the files yet."""
    results, weights = GrowingCsv(folder / RESULTS, RuleLine), GrowingCsv(folder / WEIGHTS, WeightLine)
    states, years = read_states(data)
    rules = compared_rules(len(states))
    if {line.compared_rule for line in results.lines.values()} >= set(rules):
        return
    started = time.process_time()
    stable: StableSelector = fit_bags(states, years, 0, settings.dynamics_bags, n_jobs, NAMES)
    lines = rule_lines(stable, stable.left_out_weights("refit"), 0, rules, started=started)
    weights.append(weight_lines(name_items(stable.weights_), 0, separator=SEPARATOR))
    results.append(lines)  # last, because they mark the fit as done


def read_results(folder: Path) -> list[RuleLine]:
    """The lines of the rules."""
    return list(GrowingCsv(folder / RESULTS, RuleLine).lines.values())


def write_section(folder: Path, data: Path) -> str:
    """Draw the picture and write Markdown about it; empty if there are no results."""
    results = read_results(folder)
    if not results:
        return ""
    lines = GrowingCsv(folder / WEIGHTS, WeightLine).lines.values()
    weights = {tuple(line.model.split(SEPARATOR)) if line.model else (): line.weight for line in lines}
    years = read_states(data)[1]
    selected = selected_models(weights, paper.FIGURE_3[-1].parameter)
    _draw(folder / f"{PICTURE}.png", weights, selected)
    truth = weights.get(LOTKA_VOLTERRA, 0.0)
    rank = 1 + sum(weight > truth for weight in weights.values())
    introduction = (
        f"{len(years)} years of pelts. The bags chose {len(weights):,} different models. The Lotka-Volterra equations "
        f"have {truth:.1%} of the bags" + (f" (rank {rank})." if truth else ".")
    )
    heaviest = [f"{weight:.1%}: {'; '.join(model)}" for model, weight in list(weights.items())[:3]]
    return "\n\n".join(
        [
            f"### Lynx and hare, {years[0]:.0f} to {years[-1]:.0f} (not in the paper)",
            f"{introduction} The heaviest models: {' / '.join(heaviest)}.",
            _rule_table(results),
            image(PICTURE),
        ]
    )


def selected_models(weights: dict[tuple[str, ...], float], epsilon: float) -> list[tuple[str, ...]]:
    """The models that the inflated argmax returns."""
    models = list(weights)
    return [models[index] for index in InflatedArgmax(epsilon).choose(np.array(list(weights.values())))]


def _rule_table(results: Sequence[RuleLine]) -> str:
    rows = []
    for line in results:
        size = "every model" if line.undecided else str(line.set_size)
        rows.append([line.compared_rule.label, f"{line.instability:.3f}", size, f"{line.left_out_size:.2f}"])
    return table(["rule", "instability", "set size", "mean set size without a row"], rows)


def _draw(path: Path, weights: dict[tuple[str, ...], float], selected: list[tuple[str, ...]]) -> None:
    figure = new_figure(7.2, 5.6)
    display = ModelWeightsDisplay(
        weights,
        items=item_names(NAMES),
        selected=selected,
        top=TOP,
        noun="terms",
        name=f"Lynx and hare: the heaviest models (selected with ε = {paper.FIGURE_3[-1].parameter:g})",
    )
    display.plot(ax=figure.subplots())
    save_figure(path, figure)
