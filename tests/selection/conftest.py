"""The table of most tests of stable selection, and a selector fitted to it."""

import pytest
from reference.stable_selection import make_data, stable_lasso


@pytest.fixture(scope="module")
def data():
    X, y = make_data()
    X.flags.writeable = y.flags.writeable = False
    return X, y


@pytest.fixture(scope="module")
def fitted(data):
    return stable_lasso().fit(*data)
