"""Statistics of targets by category, by plain loops over rows and dictionaries."""

import numpy as np


def in_order(kinds, targets, weights, priors, strength):
    """Twin of the kernel: what the earlier rows of each row's kind say, (targets, rows), and {kind: (sums, weight)}."""
    seen = {}
    ordered = [[] for _ in targets]
    for i, kind in enumerate(kinds):
        sums, mass = seen.get(kind, ([0.0] * len(targets), 0.0))
        for k in range(len(targets)):
            ordered[k].append((sums[k] + strength * priors[k][i]) / (mass + strength))
        seen[kind] = ([s + weights[i] * target[i] for s, target in zip(sums, targets, strict=True)], mass + weights[i])
    return ordered, seen


def prior_before(place, target, weights):
    """Mean of the first 2**k rows, the most that lie before ``place``; 0 where they are none or weigh nothing."""
    if place == 0:
        return 0.0
    n = 1
    while 2 * n <= place:
        n *= 2
    mass = sum(weights[i] for i in range(n))
    return sum(weights[i] * target[i] for i in range(n)) / mass if mass > 0 else 0.0


def kind_of(codes, columns, i):
    """What row ``i`` has in ``columns``."""
    return tuple(int(codes[j][i]) for j in columns)


def statistic_in_order(codes, columns, targets, weights, order, strength):
    """{row: the ordered statistic of each target}, by looking at all earlier rows of ``order`` for every row."""
    found = {}
    for place, i in enumerate(order):
        before = [j for j in order[:place] if kind_of(codes, columns, j) == kind_of(codes, columns, i)]
        mass = sum(weights[j] for j in before)
        found[i] = []
        for target in targets:
            prior = prior_before(place, [target[j] for j in order], [weights[j] for j in order])
            found[i].append((sum(weights[j] * target[j] for j in before) + strength * prior) / (mass + strength))
    return found


def statistic_of_all(codes, columns, targets, weights, train, strength):
    """{kind: (statistic of each target, weight)} over the rows ``train``, and the mean of each target."""
    total = sum(weights[i] for i in train)
    priors = [sum(weights[i] * target[i] for i in train) / total for target in targets]
    found = {}
    for kind in {kind_of(codes, columns, i) for i in train}:
        rows = [i for i in train if kind_of(codes, columns, i) == kind]
        mass = sum(weights[i] for i in rows)
        sums = [sum(weights[i] * target[i] for i in rows) for target in targets]
        means = [(s + strength * prior) / (mass + strength) for s, prior in zip(sums, priors, strict=True)]
        found[kind] = (means, mass)
    return found, priors


def make_table(n_rows=400, n_categories=8, n_columns=2, seed=0):
    """Independent columns, and a target that none of them tells anything of."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, n_categories, size=(n_columns, n_rows)).astype(np.int32)
    return codes, generator.normal(size=(1, n_rows)), np.ones(n_rows), np.arange(n_rows)
