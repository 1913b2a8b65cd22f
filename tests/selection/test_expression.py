"""Sets of models as expressions: by hand, and products expanded and compared with the set."""

import re
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import DataError
from surefoot.selection.chosen_models import expression_of


def outside_brackets(expression, word):
    """The parts of an expression that a word joins, not counting words in brackets."""
    parts = re.split(rf" {word} (?![^(]*\))", expression)
    return [part[1:-1] if part.startswith("(") else part for part in parts]


def factors_of(expression):
    """The choices that an expression joins by "and"; None if it is a list of models."""
    if len(outside_brackets(expression, "or")) > 1:
        return None if "(" in expression else [expression.split(" or ")]
    return [factor.split(" or ") for factor in outside_brackets(expression, "and")]


def expanded(expression):
    """The models of an expression, read from its text."""
    factors = factors_of(expression)
    if factors is None:
        return [frozenset(model.split(" and ")) - {"nothing"} for model in outside_brackets(expression, "or")]
    return [frozenset(choice) - {"nothing"} for choice in product(*factors)]


def is_a_product(models):
    """Whether any partition of the variables into choices gives exactly these models."""
    names = sorted(frozenset().union(*models))
    return any(
        {frozenset(chain(*choice)) for choice in product(*factors)} == models
        for parts in partitions(names)
        for factors in product(*([[{name} for name in part] + more for more in ([], [set()])] for part in parts))
    )


def partitions(names):
    if not names:
        yield []
        return
    first, rest = names[0], names[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            for parts in partitions([name for name in rest if name not in others]):
                yield [[first, *others], *parts]


PAPER = [("x2", "x3"), ("x1", "x3"), ("x2", "x4"), ("x1", "x5"), ("x2", "x5"), ("x1", "x4")]


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (PAPER, "(x1 or x2) and (x3 or x4 or x5)"),
        ([(*model, "x7") for model in PAPER], "x7 and (x1 or x2) and (x3 or x4 or x5)"),
        ([("x7", "x1"), ("x2", "x7")], "x7 and (x1 or x2)"),
        (PAPER + [(*model, "x9") for model in PAPER], "(x1 or x2) and (x3 or x4 or x5) and (x9 or nothing)"),
        ([("x1",), ("x2",), ()], "x1 or x2 or nothing"),
        ([(), ("a",), ("b",), ("b", "a")], "(a or nothing) and (b or nothing)"),
        ([("x1", "x3"), ("x2",)], "(x1 and x3) or x2"),
        ([("a", "b"), ()], "(a and b) or nothing"),
        ([()], "nothing"),
        ([("x2",)], "x2"),
        ([("x10", "x2")], "x2 and x10"),
        (PAPER[:5], "(x2 and x3) or (x1 and x3) or (x2 and x4) or (x1 and x5) or (x2 and x5)"),
        ([("a", "b"), ("b", "c"), ("a", "c")], "(a and b) or (b and c) or (a and c)"),
        ([("a",), ("b",), ("a",)], "a or b"),
        ([("a", "c"), ("b", "c"), ("c", "a")], "c and (a or b)"),
    ],
)
def test_by_hand(models, expected):
    assert expression_of(models) == expected


def test_at_most_ten_models_are_written_out():
    models = [(f"x{k}", f"x{k + 1}") for k in range(15)]
    ten = " or ".join(f"(x{k} and x{k + 1})" for k in range(10))
    assert expression_of(models[:10]) == ten
    assert expression_of(models[:11]) == f"{ten} and 1 more"
    assert expression_of(models) == f"{ten} and 5 more"


def test_names_come_in_the_given_order_or_by_their_numbers():
    models = [("x10", "b"), ("x9", "b"), ("x9", "a"), ("x10", "a")]
    assert expression_of(models) == "(a or b) and (x9 or x10)"
    assert expression_of(models, order=("x10", "b", "unused", "a", "x9")) == "(x10 or x9) and (b or a)"
    assert expression_of(models, order=np.array(["x10"])) == "(x10 or x9) and (a or b)"
    assert expression_of([("9", "a1b"), ("x", "9a")]) == "(9 and a1b) or (9a and x)"


small_models = st.sets(st.frozensets(st.sampled_from("abcd")), min_size=1, max_size=10)


@settings(deadline=None, max_examples=300)
@given(models=small_models)
def test_it_represents_the_models_and_is_a_product_exactly_if_there_is_one(models):
    expression = expression_of([tuple(model) for model in models])
    written = expanded(expression)
    assert set(written) == models
    assert len(written) == len(models)
    assert (factors_of(expression) is not None) == is_a_product(models)


@settings(deadline=None)
@given(
    sizes=st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=5),
    data=st.data(),
)
def test_products_are_found_and_one_model_less_is_still_exact(sizes, data):
    names = iter(f"v{k}" for k in range(100))
    factors = [[next(names) for _ in range(size)] + ["nothing"] * optional for size, optional in sizes]
    models = [tuple(set(choice) - {"nothing"}) for choice in product(*factors)]
    shuffled = data.draw(st.permutations(models)) if len(models) < 200 else models[::-1]
    expression = expression_of(shuffled)
    assert factors_of(expression) is not None
    assert set(expanded(expression)) == {frozenset(model) for model in models}
    assert sorted(factors_of(expression)) == sorted(factors)
    if len(models) > 1:
        fewer = expression_of(shuffled[1:])
        if factors_of(fewer) is not None:
            assert set(expanded(fewer)) == {frozenset(model) for model in shuffled[1:]}


def test_thousands_of_models_with_tens_of_variables():
    factors = [
        [f"a{k}" for k in range(8)],
        [f"b{k}" for k in range(8)],
        ["c", "nothing"],
        *([f"always{k}"] for k in range(40)),
    ]
    factors += [[f"d{k}", "nothing"] for k in range(5)]
    models = [tuple(set(choice) - {"nothing"}) for choice in product(*factors)]
    assert len(models) == 4096
    expression = expression_of(models)
    assert set(expanded(expression)) == {frozenset(model) for model in models}
    assert expression_of(models[1:]).endswith("and 4085 more")


def test_very_many_possible_models_are_not_enumerated():
    optional = [f"x{k}" for k in range(100)]
    models = [(), tuple(optional), *((name,) for name in optional)]
    assert expression_of(models).endswith("and 92 more")


def test_no_models_are_refused():
    with pytest.raises(DataError, match="models is empty"):
        expression_of([])
