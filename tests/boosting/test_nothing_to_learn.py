"""A fit that fails does not change the estimator."""

import numpy as np
import pytest
from reference.models import two_classes

from surefoot import AdaBoostClassifier

X, y = two_classes()


def test_a_failed_fit_keeps_the_earlier_model():
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    votes = model.decision_function(X)
    with pytest.raises(ValueError, match="chance"):
        model.fit(np.ones((60, 7)), np.arange(60) % 2)
    np.testing.assert_array_equal(model.decision_function(X), votes)
