"""Statistics of targets by category, by plain loops over rows and dictionaries."""


def category(codes, members, i):
    """What row ``i`` has in the columns ``members``."""
    return tuple(int(codes[j][i]) for j in members)


def full(codes, targets, weights, members, smoothing):
    """{category: (smoothed mean of each target, weight)} over all rows, and the mean of each target."""
    n_rows = len(codes[0])
    total = sum(weights[i] for i in range(n_rows))
    priors = [sum(weights[i] * target[i] for i in range(n_rows)) / total for target in targets]
    found = {}
    for c in {category(codes, members, i) for i in range(n_rows) if weights[i] > 0}:
        rows = [i for i in range(n_rows) if category(codes, members, i) == c]
        mass = sum(weights[i] for i in rows)
        sums = [sum(weights[i] * target[i] for i in rows) for target in targets]
        means = [(s + smoothing * prior) / (mass + smoothing) for s, prior in zip(sums, priors, strict=True)]
        found[c] = (means, mass)
    return found, priors


def earlier_mean(order, place, target, weights):
    """Mean target of the first 2**k rows of ``order``, the most that lie before ``place``; 0 where there are none."""
    if place == 0:
        return 0.0
    n = 1
    while 2 * n <= place:
        n *= 2
    rows = order[:n]
    return sum(weights[i] * target[i] for i in rows) / sum(weights[i] for i in rows)


def ordered(codes, targets, weights, members, smoothing, order):
    """{row: smoothed mean of each target over the rows of its category that come before it in ``order``}."""
    found = {}
    for place, i in enumerate(order):
        before = [j for j in order[:place] if category(codes, members, j) == category(codes, members, i)]
        mass = sum(weights[j] for j in before)
        found[i] = [
            (sum(weights[j] * target[j] for j in before) + smoothing * earlier_mean(order, place, target, weights))
            / (mass + smoothing)
            for target in targets
        ]
    return found
