"""The inflated argmax against its definition: a projection, solved by scipy and by bisection."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.projection import distance_by_levels, distances, one_model_at_a_time, winning_weights
from scipy.optimize import brentq, minimize

from surefoot import DataError, ParameterError
from surefoot.selection.rules import inflated_argmax, inflated_argmax_many, unseen_would_enter

EPSILONS = (0.005, 0.02, 0.1, 0.3, 0.6, 0.9, 1.2, 1.4)


def random_weights(generator, n_sets, n_models):
    """Weights from few and from many bags: the former have ties and zeros."""
    n_bags = generator.choice([2, 5, 12, 50, 1000, 10**6], size=n_sets)
    concentration = generator.choice([0.1, 1, 10, 1000], size=n_sets)
    return np.array(
        [
            generator.multinomial(n, generator.dirichlet(np.full(n_models, a))) / n
            for n, a in zip(n_bags, concentration, strict=True)
        ]
    )


def distance_by_scipy(weights, model, epsilon):
    """The distance to the region of the model, by sequential least squares, from the corner of the region."""
    margin, others = epsilon / np.sqrt(2), np.delete(np.arange(len(weights)), model)
    corner = np.zeros(len(weights))
    corner[model] = 1
    result = minimize(
        lambda q: ((q - weights) ** 2).sum(),
        corner,
        jac=lambda q: 2 * (q - weights),
        bounds=[(0, 1)] * len(weights),
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1, "jac": lambda q: np.ones(len(q))},
            {
                "type": "ineq",
                "fun": lambda q: q[model] - q[others] - margin,
                "jac": lambda q: np.eye(len(q))[model] - np.eye(len(q))[others],
            },
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 200},
    )
    assert result.success or "directional derivative" in result.message  # no better point nearby
    return np.sqrt(result.fun)


def test_the_bisection_agrees_with_scipy():
    generator = np.random.default_rng(0)
    n_compared = 0
    for n_models in (2, 3, 5, 7):
        epsilons = np.repeat(EPSILONS, 3)
        weights = random_weights(generator, len(epsilons), n_models)
        away = distances(weights, epsilons)
        for row, model in np.ndindex(away.shape):
            assert distance_by_scipy(weights[row], model, epsilons[row]) == pytest.approx(away[row, model], abs=1e-6)
            n_compared += 1
    assert n_compared > 300


@pytest.mark.parametrize("n_models", [2, 3, 4, 6, 9])
def test_it_equals_the_definition(n_models):
    generator = np.random.default_rng(1)
    epsilons = np.repeat(EPSILONS, 100)
    weights = random_weights(generator, len(epsilons), n_models)
    away = distances(weights, epsilons)
    certain = np.abs(away - epsilons[:, np.newaxis]) > 1e-10
    assert (~certain).mean() < 0.01
    n_chosen = set()
    for row, epsilon in enumerate(epsilons):
        chosen = np.isin(np.arange(n_models), inflated_argmax(weights[row], epsilon))
        np.testing.assert_array_equal(chosen[certain[row]], (away[row] < epsilon)[certain[row]])
        n_chosen.add(chosen.sum())
    assert n_chosen == set(range(1, n_models + 1))


def test_the_nearest_weights_are_never_negative():
    generator = np.random.default_rng(2)
    epsilons = np.repeat(EPSILONS, 50)
    for n_models in (2, 4, 8):
        weights = random_weights(generator, len(epsilons), n_models)
        models = generator.integers(n_models, size=len(epsilons))
        nearest = winning_weights(weights, models, epsilons / np.sqrt(2))
        moved = nearest - weights
        moved[np.arange(len(models)), models] = 0
        assert moved.max() < 1e-11  # no other model gains: the shift is 0, and the bound of 0 is not active
        np.testing.assert_allclose(nearest.sum(axis=1), 1, atol=1e-11)


@settings(deadline=None)
@given(counts=st.lists(st.integers(0, 6), min_size=1, max_size=40), epsilon=st.floats(1e-6, 1.414))
def test_against_plain_loops(counts, epsilon):
    assume(sum(counts) > 0)
    weights = np.array(counts) / sum(counts)
    plain = one_model_at_a_time(weights, epsilon)
    assume(
        plain
        == one_model_at_a_time(weights, epsilon * (1 - 1e-9))
        == one_model_at_a_time(weights, epsilon * (1 + 1e-9))
    )
    assert inflated_argmax(weights, epsilon).tolist() == plain


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), n_models=st.integers(2, 12))
def test_a_model_enters_at_the_epsilon_at_which_it_is_epsilon_away(seed, n_models):
    generator = np.random.default_rng(seed)
    weights = np.sort(generator.dirichlet(np.full(n_models, generator.choice([0.5, 2, 100]))))[::-1]
    model = generator.integers(1, n_models)
    assume(weights[0] - weights[model] > 1e-4)
    enters = brentq(lambda epsilon: distance_by_levels(weights, model, epsilon) - epsilon, 1e-6, np.sqrt(2), xtol=1e-15)
    assume(enters < 1.4)
    assert model not in inflated_argmax(weights, enters * (1 - 1e-9))
    assert model in inflated_argmax(weights, enters * (1 + 1e-9))


def test_hundreds_of_models_against_plain_loops():
    generator = np.random.default_rng(3)
    n_returned = set()
    for epsilon in (1e-4, 0.003, 0.01, 0.03):
        for concentration in (0.02, 0.3, 3):
            weights = generator.multinomial(10_000, generator.dirichlet(np.full(300, concentration))) / 10_000
            plain = one_model_at_a_time(weights, epsilon)
            assert inflated_argmax(weights, epsilon).tolist() == plain
            n_returned.add(len(plain))
    assert len(n_returned) > 4


def test_one_heavy_model_and_very_many_light_ones():
    # The level is slightly below 100,000 light weights: sums of the weights themselves would cancel.
    n_light, heavy = 100_000, 0.3
    light = (1 - heavy) / n_light

    def distance(margin):
        """For a light model: it is raised, the heavy one is lowered, the other light ones stay or are lowered too."""
        level = (heavy + light - margin) / 2
        if level < light:
            level = (heavy + n_light * light - margin) / (n_light + 1)
        others = max(light - level, 0) * np.sqrt(n_light - 1)
        return np.linalg.norm([level + margin - light, heavy - level, others])

    critical = brentq(lambda margin: distance(margin) - margin * np.sqrt(2), 0.01, 0.9, xtol=1e-15)
    weights = np.append(heavy, np.full(n_light, light))
    assert len(inflated_argmax(weights, critical * (1 + 1e-10) * np.sqrt(2))) == n_light + 1
    assert len(inflated_argmax(weights, critical * (1 - 1e-10) * np.sqrt(2))) == 1


@pytest.mark.parametrize("margin", [0.2, 0.3, 0.7, 1 / 3, 0.001])
def test_the_second_of_two_models_is_returned_if_the_gap_is_below_the_margin(margin):
    for gap, expected in ((margin * (1 - 1e-9), [0, 1]), (margin, [0]), (margin * (1 + 1e-9), [0])):
        for rest in (0, 0.01):  # a model so light that it is not lowered has no effect
            weights = [(1 - rest + gap) / 2, (1 - rest - gap) / 2, rest]
            assert inflated_argmax(weights, margin * np.sqrt(2)).tolist() == expected


@pytest.mark.parametrize("n_models", [1, 2, 3, 10, 1000])
def test_models_of_equal_weight_are_returned_together(n_models):
    for epsilon in (1e-9, 0.1, np.sqrt(2)):
        chosen = inflated_argmax(np.full(n_models, 1 / n_models), epsilon)
        assert chosen.tolist() == list(range(n_models))


def test_n_equal_models_and_a_lighter_one():
    # In margins, the n models are lowered by t, and the model of gap g is raised by n t = g + 1 - t. The squares are
    # 2 where (n t)^2 + n t^2 = 2, so the model is returned where g < sqrt(2 (n + 1) / n) - 1.
    margin = 0.01
    for n in (1, 2, 5, 40):
        limit = np.sqrt(2 * (n + 1) / n) - 1
        for factor, n_expected in ((1 - 1e-9, n + 1), (1 + 1e-9, n)):
            gap = factor * limit * margin
            light = (1 - n * gap) / (n + 1)
            weights = np.append(np.full(n, light + gap), light)
            assert len(inflated_argmax(weights, margin * np.sqrt(2))) == n_expected


def test_the_figure_of_the_paper():
    assert inflated_argmax([1 / 9, 4 / 9, 4 / 9], 0.3).tolist() == [1, 2]
    assert inflated_argmax([1 / 9, 1 / 9, 7 / 9], 0.3).tolist() == [2]


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), n_models=st.integers(2, 30), epsilon=st.floats(0.001, 1.41), share=st.floats(0.9, 1))
def test_weights_less_than_epsilon_apart_share_a_model(seed, n_models, epsilon, share):
    generator = np.random.default_rng(seed)
    weights, other = generator.dirichlet(np.full(n_models, 0.3), size=2)
    away = np.linalg.norm(weights - other)
    near = weights + (other - weights) * min(1, share * (1 - 1e-9) * epsilon / away)
    assert np.intersect1d(inflated_argmax(weights, epsilon), inflated_argmax(near, epsilon)).size > 0


def test_swapping_the_two_heaviest_models_shows_that_the_bound_is_tight():
    # Weights at a distance of epsilon may have no model in common: the guarantee is tight.
    epsilon = 0.1
    gap = epsilon / np.sqrt(2) + 1e-9
    first = np.array([(1 + gap) / 2, (1 - gap) / 2])
    assert np.linalg.norm(first - first[::-1]) == pytest.approx(epsilon, rel=1e-6)
    assert set(inflated_argmax(first, epsilon)) & set(inflated_argmax(first[::-1], epsilon)) == set()


@settings(deadline=None)
@given(counts=st.lists(st.integers(0, 9), min_size=1, max_size=12), epsilon=st.floats(1e-9, 1.414), data=st.data())
def test_order_and_zeros_do_not_matter(counts, epsilon, data):
    assume(sum(counts) > 0)
    weights = np.array(counts) / sum(counts)
    chosen = inflated_argmax(weights, epsilon)
    assert np.argmax(weights) == chosen[0]
    assert (np.diff(weights[chosen]) <= 0).all()
    assert set(weights[chosen]) & set(np.delete(weights, chosen)) == set()
    order = np.array(data.draw(st.permutations(range(len(weights)))))
    assert set(order[inflated_argmax(weights[order], epsilon)]) == set(chosen)
    more = inflated_argmax(np.append(weights, np.zeros(3)), epsilon)
    assert set(more) - set(range(len(weights), len(weights) + 3)) == set(chosen)
    assert unseen_would_enter(weights, epsilon) == (len(weights) in more)


def test_at_the_largest_epsilon_all_models_are_returned_unless_one_has_all_the_weight():
    assert inflated_argmax([0.9, 0.1, 0.0], np.sqrt(2)).tolist() == [0, 1, 2]
    assert inflated_argmax([1.0, 0.0, 0.0], np.sqrt(2)).tolist() == [0]
    assert inflated_argmax([1.0], np.sqrt(2)).tolist() == [0]
    assert unseen_would_enter(np.array([0.9, 0.1]), np.sqrt(2))
    assert not unseen_would_enter(np.array([1.0]), np.sqrt(2))


def test_models_that_no_bag_chose():
    assert not unseen_would_enter(np.array([1.0]), 1.4)
    assert not unseen_would_enter(np.array([0.5, 0.5]), 0.1)
    assert unseen_would_enter(np.full(1000, 0.001), 0.1)
    epsilons = np.repeat(EPSILONS, 20)
    weights = random_weights(np.random.default_rng(5), len(epsilons), 4)
    away = distances(np.column_stack([weights, np.zeros(len(weights))]), epsilons)[:, -1]
    answers = set()
    for row in np.flatnonzero(np.abs(away - epsilons) > 1e-10):
        answers.add(unseen_would_enter(weights[row], epsilons[row]))
        assert unseen_would_enter(weights[row], epsilons[row]) == (away[row] < epsilons[row])
    assert answers == {True, False}


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-17, 1e-12])
def test_the_smallest_epsilon_is_the_plain_argmax(epsilon):
    assert inflated_argmax([0.25, 0.375, 0.375, 0.0], epsilon).tolist() == [1, 2]
    assert inflated_argmax([0.25, 0.75 - 1e-9, 1e-9], epsilon).tolist() == [1]


def test_many_sets_equal_one_at_a_time():
    generator = np.random.default_rng(6)
    weights = random_weights(generator, 300, 3000)  # more cells than fit in one block
    for epsilon in (0.01, 0.7):
        chosen = inflated_argmax_many(weights, epsilon)
        for row in range(0, 300, 7):
            assert set(inflated_argmax(weights[row], epsilon)) == set(np.flatnonzero(chosen[row]))


def test_weights_of_many_types_are_accepted_and_not_changed():
    weights = np.array([0.25, 0.5, 0.25])
    weights.setflags(write=False)
    expected = [1, 0, 2]
    series = pd.Series(weights, index=["a", "b", "c"])
    for kind in (weights, weights.tolist(), weights.astype(np.float32), series, np.repeat(weights, 2)[::2]):
        assert inflated_argmax(kind, 0.6).tolist() == expected
    assert inflated_argmax([0, 1, 0], 0.1).tolist() == [1]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([], "one-dimensional"),
        ([[0.5, 0.5]], "one-dimensional"),
        (1.0, "one-dimensional"),
        ([0.5, 0.6], "sum 1"),
        ([0.0, 0.0], "sum 1"),
        ([1e308, 1e308], "sum 1"),
        ([1.1, -0.1], "0 or more"),
        ([np.nan, 1.0], "finite"),
        ([np.inf, 0.0], "finite"),
        (["0.5", "0.5"], "numbers"),
        ([1 + 0j], "numbers"),
    ],
)
def test_invalid_weights_are_refused(weights, words):
    with pytest.raises(DataError, match=f"weights must.*{words}"):
        inflated_argmax(weights, 0.1)


@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, "0.1", None, True])
def test_invalid_epsilons_are_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        inflated_argmax([0.5, 0.5], epsilon)


def test_above_the_square_root_of_2_no_model_could_win():
    with pytest.raises(ParameterError, match=r"epsilon.*square root of 2.*no model could ever win"):
        inflated_argmax([0.5, 0.5], 1.4143)
    assert len(inflated_argmax([0.5, 0.5], 2**0.5)) == 2
