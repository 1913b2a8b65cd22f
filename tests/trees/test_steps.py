"""A sum of stumps as step functions equals the stumps one by one."""

import numpy as np
import pandas as pd
import pytest

from surefoot import AdaBoostClassifier


@pytest.mark.parametrize("n_classes", [2, 4])
def test_step_functions_add_up_to_the_stumps(n_classes):
    rng = np.random.default_rng(0)
    n = 2000
    kinds = rng.integers(0, 12, size=n)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "kind": pd.Categorical([f"k{k}" for k in kinds]),
        }
    )
    score = frame["a"] + np.nan_to_num(frame["b"]) + (kinds % 3) + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    model = AdaBoostClassifier(n_estimators=80).fit(frame, y)
    features = {int(tree.feature[0]) for tree in model.estimators_}
    assert features == {0, 1, 2}  # numbers, missing values and categories are all used
    *_, last = model.staged_predict(frame)  # walks the trees one by one
    np.testing.assert_array_equal(model.predict(frame), last)
    values = model._columns(frame).block(0, n)
    votes = np.zeros((n, n_classes))
    model._committee.forest.add_votes(values, model.estimator_weights_, votes)
    fractions = votes / model.estimator_weights_.sum()
    expected = fractions[:, 1] - fractions[:, 0] if n_classes == 2 else fractions.T
    np.testing.assert_allclose(model._tally(model._columns(frame)).squeeze(), expected, atol=1e-12)
