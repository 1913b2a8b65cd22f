"""scikit-learn's own checks of an estimator; those that cannot pass are listed, and must fail."""

import functools

import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract.registry import SUBJECTS
from surefoot import ConformalClassifier, ConformalRegressor, StableClassifier, StableSelector
from surefoot.selection import LassoSelector

SAMPLES_ROWS = "rows are drawn or divided at random: k copies of a row fall apart, a row of weight k stays whole"
PURE_LEAVES = (
    "a leaf that holds a single class votes for it however little the class weighs: scikit-learn's own AdaBoost, given "
    "these weights, answers alike (trees pass the check by min_weight_fraction_leaf, which boosting has no use for)"
)
OF_THE_VOTE = {
    "AdaBoostClassifier": {"check_class_weight_classifiers": PURE_LEAVES},
    "BaggedBoostClassifier": {
        "check_class_weight_classifiers": PURE_LEAVES,
        "check_sample_weight_equivalence_on_dense_data": SAMPLES_ROWS,
    },
    "BestBoostClassifier": {"check_class_weight_classifiers": PURE_LEAVES},
    "LarsenRitzertClassifier": {
        "check_class_weight_classifiers": PURE_LEAVES,
        "check_sample_weight_equivalence_on_dense_data": SAMPLES_ROWS,
    },
    "MajorityBoostClassifier": {
        "check_class_weight_classifiers": PURE_LEAVES,
        "check_sample_weight_equivalence_on_dense_data": SAMPLES_ROWS,
    },
}
LIKELIEST_CLASS = (
    "the check wants the likeliest class to be the one that wins the vote: calibrated probabilities may say otherwise, "
    "as those of scikit-learn's SVC do (without calibration the check passes, see below)"
)
HELD_OUT = "rows are held out to calibrate: k copies of a row fall apart, a row of weight k stays whole"
OF_PROBABILITIES = {
    "AdaBoostClassifier": {
        "check_classifiers_train": LIKELIEST_CLASS,
        "check_sample_weight_equivalence_on_dense_data": HELD_OUT,
    },
    "BestBoostClassifier": {  # it is one of the others
        "check_classifiers_train": LIKELIEST_CLASS,
        "check_sample_weight_equivalence_on_dense_data": HELD_OUT,
    },
    "MajorityBoostClassifier": {"check_classifiers_train": LIKELIEST_CLASS},
}


WEIGHTS_AND_COPIES = "check_sample_weight_equivalence_on_dense_data"
COPIES_OF_SPARSE_ROWS = "check_sample_weight_equivalence_on_sparse_data"
DRAWS_ROWS = "rows are drawn for every tree: k copies of a row fall apart, a row of weight k stays whole"
COUNTS_ROWS = "min_samples_leaf counts rows: k copies of a row are k, a row of weight k is one"


def expected_failures(estimator):
    """The checks that must fail, and why: rows of a sparse table are drawn like those of an array."""
    failures = failures_of_arrays(estimator)
    if WEIGHTS_AND_COPIES in failures and get_tags(estimator).input_tags.sparse:
        return {**failures, COPIES_OF_SPARSE_ROWS: failures[WEIGHTS_AND_COPIES]}
    return failures


def failures_of_arrays(estimator):
    """The checks of arrays that must fail, and why.

    Gradient boosters learn from all rows once trials have told the number of trees, which here is always the most
    allowed: so weights are copies where rows are held out, too.
    """
    name = type(estimator).__name__
    if name in OF_THE_VOTE:
        return OF_THE_VOTE[name] | (OF_PROBABILITIES.get(name, {}) if estimator.calibrate else {})
    if getattr(estimator, "method", None) == "sgb":
        return {WEIGHTS_AND_COPIES: DRAWS_ROWS}
    if name.startswith("VMatrix") and estimator.min_samples_leaf > 1:
        return {WEIGHTS_AND_COPIES: COUNTS_ROWS}
    return {}


def checked():
    """Every estimator as it comes, and with the settings under which other checks must hold."""
    for subject in SUBJECTS:
        if subject.ignores_weight_scale:
            yield from (subject.make(), subject.make(calibrate=False))
        elif "max_leaf_nodes" in subject.settings:
            yield subject.make(n_estimators=6)
            wanted = {"n_estimators": 6, "min_samples_leaf": 1}
            yield from (subject.make(early_stopping=stops, **wanted) for stops in ("auto", False))
        elif subject.settings.get("method") == "sgb":
            yield subject.make(early_stopping=False, n_estimators=16)
        elif subject.takes_validation and "langevin" not in subject.settings:
            yield from (
                subject.make(n_estimators=8, **given) for given in ({"learning_rate": 0.1}, {"early_stopping": False})
            )
    yield StableSelector(LassoSelector(alpha=0.1), n_bags=20, bag_size=0.5, epsilon=0.5, random_state=0)
    yield StableClassifier(DecisionTreeClassifier(max_depth=2), n_bags=5, epsilon=1.0, random_state=0)
    for cv in ("split", 3):
        yield ConformalClassifier(DecisionTreeClassifier(), cv=cv, random_state=0)
        yield ConformalRegressor(DecisionTreeRegressor(), cv=cv, random_state=0)


def name_of(check):
    return check.func.__name__ if isinstance(check, functools.partial) else check.__name__


@pytest.mark.fault(number=1)
@pytest.mark.filterwarnings("ignore::surefoot.InfiniteIntervalWarning")  # tables of a few rows
@pytest.mark.filterwarnings("ignore::surefoot.UndecidedWarning")  # random tables, few bags
@parametrize_with_checks(list(checked()))
def test_scikit_learn_check(estimator, check):
    if name_of(check) in expected_failures(estimator):
        with pytest.raises(AssertionError):  # a listed check that passes fails here
            check(estimator)
    else:
        check(estimator)
