"""Bins of one column, by plain loops."""

import math


def masses(values, weights=None):
    """The distinct values that have weight, in order, and the weight of each; NaN has no place among them."""
    mass = {}
    for i, value in enumerate(values):
        weight = 1.0 if weights is None else weights[i]
        if weight > 0 and not math.isnan(value):
            key = float(value) + 0.0
            mass[key] = mass.get(key, 0.0) + float(weight)
    return dict(sorted(mass.items()))


def code_of(value, thresholds, missing):
    """The first bin whose upper threshold is not below ``value``; the last bin has none."""
    if math.isnan(value):
        return missing
    for code, threshold in enumerate(thresholds):
        if value <= threshold:
            return code
    return len(thresholds)


def masses_by_bin(values, thresholds, weights=None):
    """For every bin, its distinct values and the weight of each."""
    bins = [{} for _ in range(len(thresholds) + 1)]
    for value, mass in masses(values, weights).items():
        bins[code_of(value, thresholds, None)][value] = mass
    return bins
