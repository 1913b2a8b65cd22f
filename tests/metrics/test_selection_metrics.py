"""Metrics of sets of models: by hand, against scikit-learn, and cases from the paper."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from surefoot import DataError
from surefoot.metrics.selection import instability, mean_set_size, utility_weighted_accuracy

A, B, C = frozenset({"x1", "x3"}), frozenset({"x2", "x3"}), frozenset()


def test_instability_by_hand():
    assert instability([A], [[A], [A, B], [B], [C]]) == 0.5
    assert instability([A, B], [[A], [A, B], [B], [C]]) == 0.25
    assert instability([A, B, C], [[A], [A, B], [B], [C]]) == 0
    assert instability([A], [[B], [C], [B, C]]) == 1
    assert instability({A}, [{A}]) == 0


def test_the_row_counts_of_the_paper():
    # Table 2: 0.453 of 759 cells, 0.112, 0.013 and 0.008, are 344, 85, 10 and 6 cells.
    for n_disjoint, expected in ((344, 0.453), (85, 0.112), (10, 0.013), (6, 0.008)):
        left_out = [[B]] * n_disjoint + [[A]] * (759 - n_disjoint)
        assert round(instability([A], left_out), 3) == expected


def test_for_single_models_instability_is_the_fraction_that_differs():
    generator = np.random.default_rng(0)
    models = generator.integers(4, size=200).tolist()
    left_out = [[model] for model in models]
    assert instability([2], left_out) == pytest.approx(1 - accuracy_score(models, [2] * 200))
    assert utility_weighted_accuracy(2, left_out) == pytest.approx(accuracy_score(models, [2] * 200))


def test_utility_weighted_accuracy_by_hand():
    assert utility_weighted_accuracy(A, [[A], [A, B], [B, C], [A, B, C]]) == pytest.approx((1 + 1 / 2 + 0 + 1 / 3) / 4)
    assert utility_weighted_accuracy(A, [[A]]) == 1
    assert utility_weighted_accuracy(A, [[B]]) == 0


def test_a_set_of_all_models_scores_like_a_guess():
    for n_models in (2, 5, 100):
        assert utility_weighted_accuracy(1, [range(n_models)] * 7) == pytest.approx(1 / n_models)


def test_mean_set_size_by_hand():
    assert mean_set_size([[A], [A, B], [B, C], [A, B, C]]) == 2
    assert mean_set_size([[A, A, B]]) == 2
    # Table 2: sets of 1.58 models on average, such as one model for 319 cells and two for 440.
    assert round(mean_set_size([[A]] * 319 + [[A, B]] * 440), 2) == 1.58


def test_models_are_any_hashable_objects_in_any_collection():
    selected = (("a", "b"), 3, "tree")
    assert instability(selected, [{("a", "b")}, frozenset({3}), ["tree"], np.array([3, 4]), iter(["x"])]) == 0.2
    assert utility_weighted_accuracy(("a", "b"), ({("a", "b"), 1}, [("b", "a")])) == 0.25


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: instability([], [[A]]), "selected is empty"),
        (lambda: instability([A], []), "left_out is empty"),
        (lambda: instability([A], [[A], []]), r"left_out\[1\] is empty"),
        (lambda: instability("abc", [[A]]), "selected must be a collection of models, got the string 'abc'"),
        (lambda: instability([A], ["abc"]), r"left_out\[0\] must be a collection of models"),
        (lambda: instability([["x1", "x3"]], [[A]]), "selected must be a collection of hashable models"),
        (lambda: instability(3, [[A]]), "selected must be a collection"),
        (lambda: utility_weighted_accuracy(["x1"], [[A]]), "truth must be hashable"),
        (lambda: utility_weighted_accuracy(A, []), "selected_sets is empty"),
        (lambda: utility_weighted_accuracy(A, [[]]), r"selected_sets\[0\] is empty"),
        (lambda: mean_set_size([]), "sets is empty"),
        (lambda: mean_set_size([[A], []]), r"sets\[1\] is empty"),
    ],
)
def test_invalid_sets_of_models_are_refused(call, words):
    with pytest.raises(DataError, match=words):
        call()
