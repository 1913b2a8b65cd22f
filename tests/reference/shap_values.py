"""Shapley values from their definition: over all sets of columns, for one row at a time."""

from itertools import combinations
from math import factorial

import numpy as np

EMPTY_FRACTION = 1e-9


def subsets(players):
    return [frozenset(chosen) for size in range(len(players) + 1) for chosen in combinations(players, size)]


def shapley_values(game, n_players):
    """The Shapley value of each player; ``game`` gives a number or an array for a set of players."""
    worth = {chosen: game(chosen) for chosen in subsets(range(n_players))}
    values = []
    for j in range(n_players):
        others = [k for k in range(n_players) if k != j]
        values.append(
            sum(
                factorial(len(chosen))
                * factorial(n_players - len(chosen) - 1)
                / factorial(n_players)
                * (worth[chosen | {j}] - worth[chosen])
                for chosen in subsets(others)
            )
        )
    return np.array(values)


def goes_right(forest, t, node, code):
    if forest.sets[t, node] >= 0:
        return bool(forest.tables[forest.sets[t, node], code])
    return (int(code) - int(forest.shifts[t, node])) % 256 > int(forest.limits[t, node])


def node_weight(forest, t, node):
    """Training rows below a node; a leaf without any has a tiny weight."""
    n_nodes = forest.features.shape[1]
    if node >= n_nodes:
        return max(forest.covers[t, node - n_nodes], EMPTY_FRACTION * forest.covers[t].sum())
    left = node_weight(forest, t, 2 * node + 1)
    return left if forest.features[t, node] < 0 else left + node_weight(forest, t, 2 * node + 2)


def tree_worth(forest, sources, t, codes, known, node=0):
    """What a tree predicts for a row of which only the columns ``known`` are known: (outputs,)."""
    n_nodes = forest.features.shape[1]
    if node >= n_nodes:
        return forest.leaves[t, node - n_nodes]
    left, right, feature = 2 * node + 1, 2 * node + 2, forest.features[t, node]
    if feature < 0:
        return tree_worth(forest, sources, t, codes, known, left)
    if known >= set(sources[feature]):
        own = right if goes_right(forest, t, node, codes[feature]) else left
        return tree_worth(forest, sources, t, codes, known, own)
    weights = [node_weight(forest, t, child) for child in (left, right)]
    worths = [tree_worth(forest, sources, t, codes, known, child) for child in (left, right)]
    return (weights[0] * worths[0] + weights[1] * worths[1]) / sum(weights)


def member_worth(member, codes, known):
    """What a member predicts for a row of which only the columns ``known`` are known: (outputs,)."""
    forest = member.trees.forest
    trees = [tree_worth(forest, member.encoding.sources, t, codes, known) for t in range(forest.n_trees)]
    return member.trees.start + sum(trees)


def ensemble_shap(model, X):
    """SHAP values (outputs, rows, columns) and bases (outputs,) of the mean of the members' outputs."""
    columns, members = model._columns(X), model._members
    codes = [member.encoding.codes(columns, 0, columns.n_rows) for member in members]

    def explain(i):
        def worth(known):
            return np.mean([member_worth(m, c[:, i], known) for m, c in zip(members, codes, strict=True)], axis=0)

        return shapley_values(worth, columns.n_columns), worth(frozenset())

    rows = [explain(i) for i in range(columns.n_rows)]
    return np.stack([values.T for values, _ in rows], axis=1), rows[0][1]


def variance_shap(components, bases):
    """Shapley values of the variance over members of a base plus the components (members, columns) in a set."""

    def variance(chosen):
        return np.var(bases + components[:, sorted(chosen)].sum(axis=1))

    return shapley_values(variance, components.shape[1])


def background_shap(predict, X, background):
    """SHAP values (outputs, rows, columns) and bases (outputs,) by predictions for rows mixed with background rows.

    ``predict`` gives outputs (outputs, rows) for a frame.
    """

    def explain(i):
        def worth(known):
            mixed = background.copy()
            for j in known:
                mixed.isetitem(j, X.iloc[[i] * len(background), j].to_numpy(copy=True))
            return predict(mixed.astype(X.dtypes)).mean(axis=1)

        return shapley_values(worth, X.shape[1]), worth(frozenset())

    rows = [explain(i) for i in range(len(X))]
    return np.stack([values.T for values, _ in rows], axis=1), rows[0][1]
