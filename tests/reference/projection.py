"""The distance from weights to those that let a model win by a margin, straight from the definition, and the sets."""

import numpy as np

HALVINGS = 46


def winning_weights(weights, models, margin):
    """The nearest weights that let ``models[i]`` win ``weights[i]`` by ``margin[i]``, for all i at once.

    They are nonnegative, sum to 1, and the model is heavier than every other by at least the margin. At the nearest,
    for some shift and level (the multipliers of the sum and of the margin), every other model has its weight plus the
    shift, cut at 0 and at the level, and the model is one margin above the level. Both are found by bisection: the
    level for every shift, and the shift for which the sum is 1. For margins below 1.
    """
    rows = np.arange(len(weights))
    own = weights[rows, models]
    others = weights.copy()
    others[rows, models] = -np.inf  # lighter than any level: never cut

    def level_at(shift):
        low, high = np.full(len(rows), -3.0), np.full(len(rows), 3.0)
        for _ in range(HALVINGS):
            level = (low + high) / 2
            cut = np.maximum(others + (shift - level)[:, None], 0).sum(axis=1)
            too_high = level + margin > own + shift + cut
            low, high = np.where(too_high, low, level), np.where(too_high, level, high)
        return np.maximum(low, 0)

    def weights_at(shift):
        level = level_at(shift)
        moved = np.clip(others + shift[:, None], 0, level[:, None])
        moved[rows, models] = level + margin
        return moved

    low, high = np.full(len(rows), -1.5), np.full(len(rows), 1.5)
    for _ in range(HALVINGS):
        shift = (low + high) / 2
        too_high = weights_at(shift).sum(axis=1) > 1
        low, high = np.where(too_high, low, shift), np.where(too_high, shift, high)
    return weights_at(low)


def distances(weights, epsilon):
    """How far each model of each weighting (n_sets, n_models) is from winning; ``epsilon`` is one for each of them."""
    n_sets, n_models = weights.shape
    copies = np.repeat(weights, n_models, axis=0)
    margins = np.repeat(epsilon, n_models) / np.sqrt(2)
    nearest = winning_weights(copies, np.tile(np.arange(n_models), n_sets), margins)
    return np.linalg.norm(nearest - copies, axis=1).reshape(n_sets, n_models)


def distance_by_levels(weights, model, epsilon):
    """The same for one model by plain loops: its level is searched for among the others, one after the other."""
    margin = epsilon / np.sqrt(2)
    others = sorted((weight for place, weight in enumerate(weights) if place != model), reverse=True)
    total = weights[model]
    for n_lowered, weight in enumerate([*others, -np.inf]):
        level = (total - margin) / (n_lowered + 1)
        if weight < level:
            break
        total += weight
    lowered = [weight - level for weight in others[:n_lowered]]
    return np.linalg.norm([level + margin - weights[model], *lowered])


def one_model_at_a_time(weights, epsilon):
    """The inflated argmax by plain loops: models by falling weight, until one is too far from winning."""
    chosen = []
    for model in sorted(range(len(weights)), key=lambda place: (-weights[place], place)):
        if distance_by_levels(weights, model, epsilon) >= epsilon:
            break
        chosen.append(model)
    return chosen
