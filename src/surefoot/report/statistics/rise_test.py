"""Is a mean larger on new rows than on others? A permutation test of rows, groups or runs of rows."""

import numpy as np

from surefoot.report.statistics.standard_errors import MIN_GROUPS

N_PERMUTATIONS, FIRST_PERMUTATIONS = 9999, 999
ENOUGH = 100  # first permutations with a larger rise: the p-value cannot become small
MAX_UNITS = 400  # of the new rows: those of larger tables are permuted in random blocks
MAX_CELLS = 1_000_000  # that are permuted at once
ROUNDING = 1e-9
MAX_RATIO = 20  # other units for each new one: more of them hardly make the test more powerful


def rise_p_value(
    others: np.ndarray,
    new: np.ndarray,
    other_units: np.ndarray | None = None,
    new_units: np.ndarray | None = None,
    seed: int = 0,
) -> float:
    """The p-value of the mean of ``new`` minus that of ``others``, one-sided; NaN with fewer than four units of either.

    Whole units are permuted. The difference is divided by its standard error over units (Janssen 1997): the test is
    exact if the units are exchangeable, and otherwise right for many units, also if these are of different sizes.
    """
    generator = np.random.default_rng(seed)
    block = max(1, -(-len(new) // MAX_UNITS))
    first, second = _sums(others, other_units, block, generator), _sums(new, new_units, block, generator)
    first = first[generator.permutation(len(first))[: MAX_RATIO * len(second)]]
    if min(len(first), len(second)) < MIN_GROUPS:
        return float("nan")
    units, n_new = _products(np.concatenate([second, first])), len(second)
    observed = float(_statistics(units[:n_new].sum(axis=0), units.sum(axis=0), n_new, len(units)))
    n_drawn = n_larger = 0
    for n_wanted in (FIRST_PERMUTATIONS, N_PERMUTATIONS):
        while n_drawn < n_wanted:
            drawn = _permuted(units, n_new, n_wanted - n_drawn, generator)
            n_drawn, n_larger = n_drawn + len(drawn), n_larger + int((drawn >= observed - ROUNDING).sum())
        if n_larger >= ENOUGH:
            break
    return (1 + n_larger) / (1 + n_drawn)


def _sums(values: np.ndarray, units: np.ndarray | None, block: int, generator: np.random.Generator) -> np.ndarray:
    """For each unit the sum of its values and its number of rows; without units, for random blocks of rows."""
    values = np.asarray(values, dtype=np.float64)
    if units is None:
        codes = generator.permutation(len(values)) // block
    else:
        codes = np.unique(units, return_inverse=True)[1].ravel()
    return np.column_stack([np.bincount(codes, weights=values), np.bincount(codes)])


def _products(sums: np.ndarray) -> np.ndarray:
    """Of each unit, what means and their errors are computed from: sum, number, and their products."""
    total, number = sums.T
    total = total - number * total.sum() / number.sum()  # so that the products lose no digits
    return np.column_stack([total, number, total**2, total * number, number**2])


def _permuted(units: np.ndarray, n_new: int, n_wanted: int, generator: np.random.Generator) -> np.ndarray:
    """Statistics of random sets of new units; a permutation is cut into several disjoint sets."""
    n_sets = len(units) // n_new
    n_rounds = max(1, min(-(-n_wanted // n_sets), MAX_CELLS // len(units)))
    order = np.argsort(generator.random((n_rounds, len(units))), axis=1)[:, : n_sets * n_new]
    sets = units[order.reshape(n_rounds * n_sets, n_new)].sum(axis=1)
    return _statistics(sets, units.sum(axis=0), n_new, len(units))


def _statistics(new: np.ndarray, every: np.ndarray, n_new: int, n_units: int) -> np.ndarray:
    """The studentized differences of means, from sums over the new units and over all units."""
    means, variances = [], []
    for side, size in ((new, n_new), (every - new, n_units - n_new)):
        total, number, square, product, number_square = np.moveaxis(side, -1, 0)
        means.append(total / number)
        deviations = square - 2 * means[-1] * product + means[-1] ** 2 * number_square
        variances.append(np.maximum(deviations, 0.0) / number**2 * size / (size - 1))
    rise, error = means[0] - means[1], np.sqrt(variances[0] + variances[1])
    smallest = np.abs(every[0]) + np.sqrt(every[2]) + 1e-300
    return np.asarray(rise / np.maximum(error, 1e-9 * smallest / every[1]))
