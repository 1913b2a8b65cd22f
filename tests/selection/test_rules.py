"""Selection rules: by hand, against plain Python, and with many weightings at once."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from surefoot import ParameterError
from surefoot.selection.rules import Argmax, InclusionProbability, InflatedArgmax, TopK, inflated_argmax

# The paper's first example: six models with one of two and one of three variables, and three that few bags chose.
MEMBERS = np.array(
    [
        [1, 0, 1, 0, 0],
        [1, 0, 0, 1, 0],
        [1, 0, 0, 0, 1],
        [0, 1, 1, 0, 0],
        [0, 1, 0, 1, 0],
        [0, 1, 0, 0, 1],
        [1, 1, 1, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0],
    ],
    dtype=bool,
)
WEIGHTS = np.array([16, 15, 15, 17, 14, 13, 6, 4, 0]) / 100


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Argmax(), [3]),
        (TopK(1), [3]),
        (TopK(2), [3, 0]),
        (TopK(3), [3, 0, 1, 2]),
        (TopK(4), [3, 0, 1, 2]),
        (TopK(5), [3, 0, 1, 2, 4]),
        (TopK(8), [3, 0, 1, 2, 4, 5, 6, 7]),
        (TopK(9), [3, 0, 1, 2, 4, 5, 6, 7]),
        (TopK(100), [3, 0, 1, 2, 4, 5, 6, 7]),
        (InflatedArgmax(0.2), [3, 0, 1, 2, 4, 5]),
    ],
)
def test_the_papers_example(rule, expected):
    assert rule.choose(WEIGHTS, MEMBERS).tolist() == expected
    assert rule.choose(WEIGHTS, None).tolist() == expected
    np.testing.assert_array_equal(rule.chosen_items(WEIGHTS, MEMBERS), MEMBERS[expected])
    assert np.flatnonzero(rule.choose_many(WEIGHTS[np.newaxis])[0]).tolist() == sorted(expected)


@pytest.mark.parametrize(
    ("tau", "expected"),
    [
        (0.001, [1, 1, 1, 1, 1]),
        (0.28, [1, 1, 1, 1, 1]),  # 0.28 is the last item's fraction
        (0.2801, [1, 1, 1, 1, 0]),
        (0.3, [1, 1, 1, 0, 0]),
        (0.5, [1, 1, 0, 0, 0]),
        (0.51, [1, 0, 0, 0, 0]),
        (0.53, [0, 0, 0, 0, 0]),
    ],
)
def test_inclusion_probability_may_return_a_model_that_no_bag_chose(tau, expected):
    # The fractions: 16 + 15 + 15 + 6 = 52, 17 + 14 + 13 + 6 = 50, 16 + 17 + 6 = 39, 15 + 14 = 29, 15 + 13 = 28.
    items = InclusionProbability(tau).chosen_items(WEIGHTS, MEMBERS)
    assert items.dtype == bool
    assert items.tolist() == [[bool(item) for item in expected]]


@pytest.mark.parametrize("n_bags", [3, 7, 10, 49, 10_000])
def test_a_fraction_that_equals_tau_up_to_rounding_is_enough(n_bags):
    # One model per bag, each with the item in the first k of n_bags: adding k times 1 / n_bags is not k / n_bags.
    for k in {1, n_bags // 3, n_bags // 2, n_bags - 1, n_bags}:
        members = (np.arange(n_bags) < k)[:, np.newaxis]
        weights = np.full(n_bags, 1 / n_bags)
        assert InclusionProbability(k / n_bags).chosen_items(weights, members).item()
        assert (
            not InclusionProbability(min(1, (k + 0.001) / n_bags)).chosen_items(weights, members).item() or k == n_bags
        )


def test_inclusion_probability_is_only_for_sets_of_items():
    for call in (
        lambda: InclusionProbability(0.5).choose(WEIGHTS, None),
        lambda: InclusionProbability(0.5).choose(WEIGHTS, MEMBERS),
        lambda: InclusionProbability(0.5).choose_many(WEIGHTS[np.newaxis]),
    ):
        with pytest.raises(ParameterError, match="only for models that are sets of items"):
            call()


def plainly(rule, weights):
    """The chosen models by sorting, one weighting at a time."""
    ranked = sorted(range(len(weights)), key=lambda model: (-weights[model], model))
    if isinstance(rule, InflatedArgmax):
        return inflated_argmax(weights, rule.epsilon).tolist()
    least = weights[ranked[min(getattr(rule, "k", 1), len(weights)) - 1]]
    return [model for model in ranked if weights[model] >= least and weights[model] > 0]


some_rules = st.one_of(st.just(Argmax()), st.integers(1, 9).map(TopK), st.floats(0.001, 1.414).map(InflatedArgmax))


@settings(deadline=None)
@given(
    rule=some_rules,
    counts=st.integers(1, 7).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=1, max_size=5)
    ),
)
def test_many_weightings_against_plain_python(rule, counts):
    counts = np.array(counts)
    assume((counts.sum(axis=1) > 0).all())
    weights = counts / counts.sum(axis=1, keepdims=True)
    chosen = rule.choose_many(weights)
    assert chosen.dtype == bool
    assert chosen.shape == weights.shape
    for row, one in enumerate(weights):
        assert rule.choose(one).tolist() == plainly(rule, one)
        assert np.flatnonzero(chosen[row]).tolist() == sorted(plainly(rule, one))


def test_more_cells_than_fit_in_one_block():
    generator = np.random.default_rng(0)
    weights = generator.multinomial(2000, generator.dirichlet(np.full(4000, 0.05)), size=400) / 2000
    for rule in (Argmax(), TopK(3), TopK(500), InflatedArgmax(0.01)):
        chosen = rule.choose_many(weights)
        for row in range(0, 400, 37):
            assert np.flatnonzero(chosen[row]).tolist() == sorted(plainly(rule, weights[row]))


def test_if_models_without_weight_could_win_all_of_them_are_chosen():
    weights = np.append(np.full(50, 0.02), [0.0, 0.0])
    assert InflatedArgmax(0.5).choose(weights).tolist() == list(range(52))
    assert TopK(51).choose(weights).tolist() == list(range(50))


def test_weights_are_not_changed():
    weights = WEIGHTS.copy()
    weights.setflags(write=False)
    for rule in (Argmax(), TopK(2), InflatedArgmax(0.1)):
        rule.choose(weights)
        rule.choose_many(weights[np.newaxis])
    InclusionProbability(0.5).chosen_items(weights, MEMBERS)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TopK(0), "k must be 1 or more"),
        (lambda: TopK(2.0), "k must be a whole number"),
        (lambda: InclusionProbability(0), "tau must be above 0"),
        (lambda: InclusionProbability(1.01), "tau must be above 0 and at most 1"),
        (lambda: InclusionProbability("half"), "tau must be a finite number"),
        (lambda: InflatedArgmax(0), "epsilon must"),
        (lambda: InflatedArgmax(1.5), "no model could ever win"),
        (lambda: InflatedArgmax(None), "epsilon must"),
    ],
)
def test_invalid_parameters_are_refused(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


def test_rules_are_values():
    for rule in (Argmax(), TopK(2), InclusionProbability(0.5), InflatedArgmax(0.1)):
        assert deepcopy(rule) == rule
        assert hash(deepcopy(rule)) == hash(rule)
        assert eval(repr(rule)) == rule
    with pytest.raises(AttributeError):
        TopK(2).k = 3
