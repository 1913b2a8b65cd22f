"""Boost trees on a blended loss, round by round."""

from dataclasses import dataclass, replace

import numpy as np

from surefoot._parallel import RowThreads
from surefoot._progress import MemberProgress
from surefoot.shift.leafwise_grower import CodedTable, LeafRules, LeafwiseGrower
from surefoot.shift.leafwise_tree import LeafwiseTree, make_forest
from surefoot.shift.objective import Objective
from surefoot.trees.vector_forest import VectorForest


@dataclass(frozen=True)
class Recipe:
    """How many trees, how large their steps, and how they are grown."""

    n_estimators: int
    learning_rate: float
    rules: LeafRules
    patience: int | None  # rounds without a lower held-out loss before it stops; None: never


@dataclass(frozen=True)
class Boosted:
    """A constant and trees; ``held_out_loss`` after each round, if rows were held out."""

    start: float
    forest: VectorForest
    held_out_loss: np.ndarray


def boost(
    table: CodedTable,
    targets: tuple[np.ndarray, np.ndarray],
    objectives: tuple[Objective, Objective | None],
    recipe: Recipe,
    threads: RowThreads,
    progress: MemberProgress,
) -> Boosted:
    """Trees on the rows to train on; those held out (second in each pair) say when to stop."""
    (objective, check), exponent = objectives, _exponent(targets)
    y, y_held = (np.ldexp(part, -exponent) for part in targets)
    with np.errstate(over="ignore"):
        rules = replace(recipe.rules, min_gain=float(np.ldexp(recipe.rules.min_gain, -2 * exponent)))
    grower = LeafwiseGrower(table, objective, rules, threads)
    start = objective.best_constant(y)
    fitted, fitted_held = np.full(len(y), start), np.full(len(y_held), start)
    trees: list[LeafwiseTree] = []
    losses: list[float] = []
    best = 0
    while len(trees) < recipe.n_estimators:
        tree, step, step_held = grower.grow(y - fitted)
        fitted += recipe.learning_rate * step
        fitted_held += recipe.learning_rate * step_held
        trees.append(tree)
        if check is not None:
            losses.append(check.loss(y_held - fitted_held))
            best = len(trees) if best == 0 or losses[-1] < losses[best - 1] else best
            if recipe.patience is not None and len(trees) - best >= recipe.patience:
                break
        progress(len(trees), _unscaled(losses[-1], exponent) if losses else float("nan"))
        if not tree.splits:
            break  # nothing more to gain: all further trees would be this one
    kept = trees[:best] if check is not None and recipe.patience is not None else trees
    forest = make_forest(kept, table.missing, table.is_categorical)
    forest.leaves[...] = np.ldexp(recipe.learning_rate * forest.leaves, exponent)
    progress.finish(len(kept), _unscaled(losses[best - 1], exponent) if losses else float("nan"))
    return Boosted(float(np.ldexp(start, exponent)), forest, np.array([_unscaled(loss, exponent) for loss in losses]))


def _exponent(targets: tuple[np.ndarray, np.ndarray]) -> int:
    """The power of two that targets are divided by, exactly: squares of large ones overflow, of small ones vanish."""
    return int(np.frexp(max(np.abs(part).max(initial=0.0) for part in targets))[1])


def _unscaled(loss: float, exponent: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.ldexp(loss, 2 * exponent))
