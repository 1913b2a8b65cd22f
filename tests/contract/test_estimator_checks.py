"""scikit-learn's own checks of an estimator; those that cannot pass are listed, and must fail."""

import functools

import pytest
from fault_sizes import usual_or_long
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import surefoot
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


SOFT_VOTES = "the classes win by whole votes of the members, but probabilities are computed from their strengths"
TREES_FROM_HELD_OUT_ROWS = "held-out rows decide how many trees there are: k copies of a row fall apart"


def both(reason):
    """The checks of weights, for arrays and for sparse tables."""
    return {WEIGHTS_AND_COPIES: reason, COPIES_OF_SPARSE_ROWS: reason}


OF_MEMBERS = {"check_class_weight_classifiers": PURE_LEAVES, **both(SAMPLES_ROWS)}
HARD_AND_SOFT = {"check_decision_proba_consistency": SOFT_VOTES}
BY_DEFAULT = {
    "AdaBoostClassifier": {"check_class_weight_classifiers": PURE_LEAVES, **both(HELD_OUT)},
    "BestBoostClassifier": {"check_class_weight_classifiers": PURE_LEAVES, **both(HELD_OUT), **HARD_AND_SOFT},
    "BaggedBoostClassifier": OF_MEMBERS | HARD_AND_SOFT,
    "LarsenRitzertClassifier": OF_MEMBERS,
    "MajorityBoostClassifier": OF_MEMBERS,
    "GradientBoostingClassifier": both(TREES_FROM_HELD_OUT_ROWS),
    "GradientBoostingRegressor": both(TREES_FROM_HELD_OUT_ROWS),
    "BoostingEnsembleClassifier": both(TREES_FROM_HELD_OUT_ROWS),
    "BoostingEnsembleRegressor": both(TREES_FROM_HELD_OUT_ROWS),
    "VMatrixBoostingClassifier": {WEIGHTS_AND_COPIES: COUNTS_ROWS},
    "VMatrixBoostingRegressor": {WEIGHTS_AND_COPIES: COUNTS_ROWS},
    "StableSelector": {},
    "StableClassifier": {},
    "ConformalClassifier": {},
    "ConformalRegressor": {},
}
REQUIRED = {
    "StableSelector": LassoSelector(),
    "StableClassifier": DecisionTreeClassifier(),
    "ConformalClassifier": DecisionTreeClassifier(),
    "ConformalRegressor": DecisionTreeRegressor(),
}
QUICK = ("check_class_weight_classifiers", "check_decision_proba_consistency", "check_classifier_data_not_an_array")


def checks_of_defaults():
    """Every public estimator as it is without any setting but the seed; the usual run takes the quick checks."""
    for name in BY_DEFAULT:
        made = getattr(surefoot, name)(*(REQUIRED[name],) if name in REQUIRED else ())
        made.set_params(random_state=0)  # so that the same checks fail every time
        for estimator, check in estimator_checks_generator(made):
            is_quick = name in OF_THE_VOTE and name_of(check) in QUICK
            if usual_or_long(is_quick, True):
                yield pytest.param(estimator, check, id=f"{name}-{name_of(check)}")


@pytest.mark.fault(number=1)
@pytest.mark.filterwarnings("ignore::surefoot.InfiniteIntervalWarning")
@pytest.mark.filterwarnings("ignore::surefoot.UndecidedWarning")
@pytest.mark.filterwarnings("ignore::surefoot.ManyMembersWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks_of_defaults()))
def test_scikit_learn_check_of_defaults(estimator, check):
    if name_of(check) in BY_DEFAULT[type(estimator).__name__]:
        with pytest.raises(AssertionError):
            check(estimator)
    else:
        check(estimator)


def test_every_public_estimator_is_checked_by_default():
    public = {name for name in surefoot.__all__ if hasattr(getattr(surefoot, name), "fit")}
    assert set(BY_DEFAULT) == public
