"""Categories of columns and pairs, numbered densely."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from surefoot._exceptions import DataError
from surefoot.data.category_groups import CategoryGroups

PAIRS = np.array([[0, 1], [2, 0]])


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 12))
    return draw(arrays(np.int32, (3, n_rows), elements=st.integers(-1, 3)))


@settings(deadline=None)
@given(fitted=tables(), new=tables())
def test_equal_places_mean_equal_categories(fitted, new):
    groups = CategoryGroups.fit(fitted, PAIRS)
    assert groups.sources == ((0,), (1,), (2,), (0, 1), (2, 0))
    for group, source in enumerate(groups.sources):
        known = [tuple(fitted[list(source), i]) for i in range(fitted.shape[1])]
        numbered = dict(zip(known, groups.places(fitted, group).tolist(), strict=True))
        assert sorted(numbered.values()) == list(range(len(set(known))))
        expected = [numbered.get(tuple(new[list(source), i]), -1) for i in range(new.shape[1])]
        assert groups.places(new, group).tolist() == expected


def test_codes_beyond_those_seen_are_no_other_pair():
    # as one number, (0, 2) would read like (1, 0) if the second column's span were not looked at
    fitted = np.array([[0, 1], [0, 0]], dtype=np.int32)
    groups = CategoryGroups.fit(fitted, np.array([[0, 1]]))
    new = np.array([[0, 0, 1, 5], [1, 2, 0, 0]], dtype=np.int32)
    assert groups.places(new, 2).tolist() == [-1, -1, 1, -1]


def test_many_categories_do_not_overflow():
    most = np.iinfo(np.int32).max
    codes = np.array([[most, 0, most], [most, most, 0]], dtype=np.int32)
    groups = CategoryGroups.fit(codes, np.array([[0, 1]]))
    assert sorted(groups.places(codes, 2).tolist()) == [0, 1, 2]
    assert (groups.keys > 0).all()


def test_only_the_given_rows_count():
    codes = np.array([[0, 1, 2]], dtype=np.int32)
    groups = CategoryGroups.fit(codes, np.empty((0, 2)), np.array([0, 1]))
    assert groups.places(codes, 0).tolist() == [0, 1, -1]


@pytest.mark.parametrize("codes", [np.zeros((1, 2)), np.zeros(3, dtype=int), np.array([[-2, 0]])])
def test_other_than_codes_are_refused(codes):
    with pytest.raises(DataError, match="codes"):
        CategoryGroups.fit(codes, np.empty((0, 2)))


def test_another_number_of_columns_is_refused():
    groups = CategoryGroups.fit(np.zeros((2, 3), dtype=np.int32), np.empty((0, 2)))
    with pytest.raises(DataError, match="codes has 1 columns; fit had 2"):
        groups.check(np.zeros((1, 3), dtype=np.int32))
