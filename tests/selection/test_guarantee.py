"""Epsilon and delta: the numbers of the paper, its theorem on all bags of a few rows, and errors."""

from itertools import combinations, product

import numpy as np
import pytest

from surefoot import DataError, ParameterError
from surefoot.selection.guarantee import bag_rows, guarantee_in_words, stability_delta, stability_epsilon
from surefoot.selection.rules import inflated_argmax

WORDS = (
    "at most a share {} of the rows, removing that row would give a set of models that shares none with this one. "
    "It does not say that any of them is right."
)


def test_the_numbers_of_the_paper():
    # Section C.3: n = 300, K = 25, delta = 0.05, neither the Monte-Carlo term nor the number of models.
    assert round(stability_epsilon(0.05, n_samples=300, bag_size=25), 3) == 0.078
    assert round(stability_epsilon(0.05, n_samples=300, bag_size=25, n_models=2**200), 3) == 0.078
    assert round(stability_epsilon(0.05, n_samples=300, bag_size=25, n_bags=10_000), 3) == 0.492


@pytest.mark.parametrize(
    ("epsilon", "n_samples", "bag_size"), [(0.02, 759, 700), (0.09, 21, 15), (0.03, 50, 45), (0.04, 50, 45)]
)
def test_the_epsilons_of_the_papers_tables_carry_no_guarantee(epsilon, n_samples, bag_size):
    delta = stability_delta(epsilon, n_samples=n_samples, bag_size=bag_size)
    assert delta > 1
    assert guarantee_in_words(delta) == "This epsilon carries no guarantee."


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("n_bags", [None, 5000])
@pytest.mark.parametrize("n_models", [None, 2, 17])
@pytest.mark.parametrize(("n_samples", "bag_size"), [(3, 1), (30, 25), (300, 25), (759, 700)])
def test_theorem_4_2(n_samples, bag_size, n_models, n_bags, replace):
    setting = {"n_samples": n_samples, "bag_size": bag_size, "n_bags": n_bags, "n_models": n_models, "replace": replace}
    rho = 1 - (1 - 1 / n_samples) ** bag_size if replace else bag_size / n_samples
    monte_carlo = 0 if n_bags is None else 16 * np.e**2 / n_bags
    factor = 1 if n_models is None else 1 - 1 / n_models
    expected = factor * (rho / (1 - rho) / (n_samples - 1) + monte_carlo) / 0.7**2
    assert stability_delta(0.7, **setting) == pytest.approx(expected, rel=1e-12)
    if expected < 1:
        assert stability_epsilon(expected, **setting) == pytest.approx(0.7, rel=1e-12)


def mean_weights(models_of_bags, bags, n_models):
    """The weights if all these bags are drawn."""
    return np.bincount([models_of_bags[bag] for bag in bags], minlength=n_models) / len(bags)


@pytest.mark.parametrize(
    ("n_rows", "size", "replace"), [(5, 2, False), (5, 3, False), (6, 5, False), (5, 2, True), (5, 3, True)]
)
def test_the_guarantee_holds_for_all_bags_of_a_few_rows(n_rows, size, replace):
    # For any selector: here, a random model, and a model that depends only on the first row.
    generator = np.random.default_rng(0)
    every_bag = list(product(range(n_rows), repeat=size) if replace else combinations(range(n_rows), size))
    selectors = [(2, {bag: int(0 in bag) for bag in every_bag})]
    selectors += [(n, {bag: generator.integers(n) for bag in every_bag}) for n in (2, 3, 10) for _ in range(30)]
    n_overturned = 0
    for n_models, models in selectors:
        full = mean_weights(models, every_bag, n_models)
        without = [
            mean_weights(models, [bag for bag in every_bag if row not in bag], n_models) for row in range(n_rows)
        ]
        setting = {"n_samples": n_rows, "bag_size": size, "n_models": n_models, "replace": replace}
        moved = np.mean([((full - weights) ** 2).sum() for weights in without])
        assert moved <= stability_delta(1.0, **setting) * (1 + 1e-12)
        for epsilon in (0.1, 0.3, 0.6):
            selected = set(inflated_argmax(full, epsilon))
            share = np.mean([selected.isdisjoint(inflated_argmax(weights, epsilon)) for weights in without])
            assert share <= stability_delta(epsilon, **setting)
            n_overturned += share > 0
    assert n_overturned > 0


def test_an_impossible_delta_is_refused_and_the_smallest_is_named():
    with pytest.raises(
        ParameterError, match=r"delta=0\.05 .*smallest possible delta is 0\.0863.*smaller bags, more rows\.$"
    ):
        stability_epsilon(0.05, n_samples=30, bag_size=25)
    assert stability_epsilon(0.0863, n_samples=30, bag_size=25) == pytest.approx(np.sqrt(2), rel=1e-3)
    with pytest.raises(ParameterError, match=r"smallest possible delta is 0\.0863"):
        stability_epsilon(0.0862, n_samples=30, bag_size=25)
    with pytest.raises(ParameterError, match=r"smallest possible delta.*more bags, or leave the randomness"):
        stability_epsilon(0.05, n_samples=300, bag_size=25, n_bags=1000)


def test_the_smallest_possible_delta_is_possible():
    for n_samples in range(3, 200):
        least = stability_delta(np.sqrt(2), n_samples=n_samples, bag_size=1)
        assert stability_epsilon(least, n_samples=n_samples, bag_size=1) == pytest.approx(np.sqrt(2), rel=1e-12)
        assert stability_epsilon(least, n_samples=n_samples, bag_size=1) <= np.sqrt(2)


@pytest.mark.parametrize("setting", [{"n_bags": 10}, {"bag_size": 10**7, "replace": True}])
def test_the_error_if_no_delta_is_possible(setting):
    with pytest.raises(ParameterError, match=r"delta=0\.9 cannot be guaranteed, nor can any other"):
        stability_epsilon(0.9, **{"n_samples": 30, "bag_size": 10, **setting})


def test_extremes_give_numbers():
    assert stability_delta(1e-200, n_samples=30, bag_size=10) == np.inf
    assert stability_delta(1.0, n_samples=30, bag_size=10**7, replace=True) == np.inf
    assert 0 < stability_delta(1.0, n_samples=10**9, bag_size=1, replace=True) < 1.01e-18
    assert stability_delta(1.0, n_samples=30, bag_size=10, n_models=10**400) == stability_delta(
        1.0, n_samples=30, bag_size=10
    )


@pytest.mark.parametrize("delta", [0, 1, 1.5, -0.1, np.nan, "0.05", None, True])
def test_invalid_deltas_are_refused(delta):
    with pytest.raises(ParameterError, match="delta must"):
        stability_epsilon(delta, n_samples=300, bag_size=25)


@pytest.mark.parametrize("epsilon", [0, 1.5, np.nan, None])
def test_invalid_epsilons_are_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon must"):
        stability_delta(epsilon, n_samples=300, bag_size=25)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"n_samples": 2}, "n_samples must be 3 or more"),
        ({"n_samples": 30.0}, "n_samples must be a whole number"),
        ({"bag_size": 0}, "bag_size must be 1 or more"),
        ({"bag_size": 300}, "bag_size=300 makes bags of 300 of 300 rows.*leave a row out"),
        ({"bag_size": 25.0}, r"bag_size must be a fraction .* or a number of rows, got 25\.0"),
        ({"n_bags": 0}, "n_bags must be 1 or more"),
        ({"n_models": 1}, "n_models must be 2 or more"),
    ],
)
def test_other_invalid_parameters_are_refused(setting, words):
    for function in (stability_epsilon, stability_delta):
        with pytest.raises(ParameterError, match=words):
            function(0.5, **{"n_samples": 300, "bag_size": 25, **setting})


@pytest.mark.parametrize(
    ("bag_size", "n_samples", "replace", "expected"),
    [
        (25, 300, False, 25), (np.int64(25), 300, False, 25), (0.5, 300, False, 150), (0.5, 7, False, 4),
        (0.01, 7, False, 1), (np.float32(0.25), 8, False, 2), (0.24, 10, False, 2), (0.26, 10, False, 3),
        (400, 300, True, 400), (300, 300, True, 300), (0.99, 10, True, 10), (2, 3, False, 2),
    ],
)  # fmt: skip
def test_bag_sizes_are_fractions_or_counts(bag_size, n_samples, replace, expected):
    assert bag_rows(bag_size, n_samples, replace) == expected
    assert type(bag_rows(bag_size, n_samples, replace)) is int


@pytest.mark.parametrize("bag_size", [0, -3, 0.0, 1.0, 1.5, -0.5, np.nan, "half", None, True, 10, 0.99])
def test_invalid_bag_sizes_are_refused(bag_size):
    with pytest.raises(ParameterError, match="bag_size"):
        bag_rows(bag_size, 10, replace=False)


@pytest.mark.parametrize("n_samples", [0, 1, 2])
def test_too_few_rows_are_refused(n_samples):
    with pytest.raises(DataError, match=f"n_samples={n_samples}, but at least 3 rows"):
        bag_rows(0.5, n_samples, replace=True)


@pytest.mark.parametrize(
    ("delta", "number"),
    [
        (0.05, "0.05"), (0.1 * 0.5 * (1 + 4e-16), "0.05"), (0.0421, "0.0421"), (0.04211, "0.0422"), (0, "0"),
        (1e-7, "1e-07"), (0.999, "0.999"), (np.float64(1 / 3), "0.334"),
    ],
)  # fmt: skip
def test_the_guarantee_in_words(delta, number):
    assert guarantee_in_words(delta) == "For " + WORDS.format(number)


@pytest.mark.parametrize("delta", [1, 1.0, 39.1, np.inf])
def test_no_guarantee_in_words(delta):
    assert guarantee_in_words(delta) == "This epsilon carries no guarantee."


@pytest.mark.parametrize("delta", [-0.1, np.nan])
def test_invalid_deltas_have_no_words(delta):
    with pytest.raises(ParameterError, match="delta"):
        guarantee_in_words(delta)


def test_epsilon_and_back_gives_the_same_delta_in_words():
    for delta in (0.01, 0.05, 0.1, 0.3):
        setting = {"n_samples": 1000, "bag_size": 0.5, "n_bags": 10**6}
        back = stability_delta(stability_epsilon(delta, **setting), **setting)
        assert guarantee_in_words(back) == guarantee_in_words(delta)
