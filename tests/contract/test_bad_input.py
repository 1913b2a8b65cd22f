"""Whatever is passed to a public function, the result is right or a single error of surefoot names the argument.

Every argument of ``public_calls`` and ``public_pages`` is replaced in turn by every value of ``bad_values``. The usual
run takes a few of these pairs, ``make faults`` all of them.
"""

import importlib
import sys
import warnings

import numpy as np
import pytest
from fault_sizes import usual_or_long
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError

from contract import public_calls, public_pages
from contract.bad_values import LONG_FLOAT, bad_parameters, bad_tables, bad_values
from surefoot import AdaBoostClassifier, DataError, ParameterError, SurefootError, SurefootWarning, load
from surefoot.metrics import nll

GROUPS = {
    function.__name__: function
    for function in (
        public_calls.fits, public_calls.parameters, public_calls.predictions, public_calls.distributions,
        public_calls.measures, public_calls.selections, public_calls.shifts, public_pages.audits, public_pages.files,
    )
}  # fmt: skip
STEP = usual_or_long(73, 1)  # of all pairs of an argument and a value, every one at this distance is tried
USUAL = ("X has feature names", "X does not have valid feature names")  # warnings of scikit-learn about names


def values_of(kind, good):
    """The values that must be refused, and the odd ones, for an argument of this kind."""
    refused, odd = bad_parameters()
    if kind == "parameter":
        return refused, odd
    X, y, labels = (getattr(public_calls.example(), name) for name in ("X", "y", "labels"))
    if "table" in kind:
        refused, more = bad_tables(X)
    else:
        refused, more = bad_values(labels if kind == "labels" else np.abs(y), refuses_text=kind == "numbers")
    if kind.startswith("free"):
        refused, more = {}, refused | more
    if good is None:  # the argument may be left out
        more = {name: value for name, value in more.items() if value is not None}
    return refused, more


def pairs(calls):
    """All arguments with all values: (call, argument, name of the value, value, whether it must be refused)."""
    for name, call in calls.items():
        for argument, good in call.good.items():
            for is_refused, values in zip((True, False), values_of(call.kind(argument), good), strict=True):
                for kind, value in values.items():
                    yield name, call, argument, kind, value, is_refused


def reason(call, argument, value, is_refused):
    """What is wrong with the outcome; None if it is as promised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for category in (SurefootWarning, DataConversionWarning):
                warnings.simplefilter("ignore", category)
            for message in USUAL:
                warnings.filterwarnings("ignore", message)
            call.function(**{**call.good, argument: value})
    except SurefootError as error:
        known = [getattr(error, "argument", None), *(one for one in call.good if one in str(error))]
        return None if set(known) & set(call.good) else f"names no argument: {error}"
    except (NotFittedError, FileNotFoundError):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")
    return "accepted" if is_refused else None


@pytest.mark.fault(number=5)
@pytest.mark.filterwarnings("ignore::surefoot.SurefootWarning")  # small examples
@pytest.mark.parametrize("group", GROUPS)
def test_bad_input_is_refused_by_name(group):
    found = {}
    for place, (name, call, argument, kind, value, is_refused) in enumerate(pairs(GROUPS[group]())):
        if place % STEP == len(group) % STEP and (why := reason(call, argument, value, is_refused)):
            found[f"{name}({argument}: {kind})"] = why[:200]
    assert found == {}


@pytest.mark.fault(number=5)
def test_the_check_of_outcomes_can_fail():
    def takes(X, n_members):
        if isinstance(X, str):
            raise KeyError(X)
        if n_members is None:
            raise SurefootError("something is wrong")

    call = public_calls.of(takes, X=np.ones(3), n_members=3)
    assert reason(call, "X", "table", True) == "KeyError: 'table'"
    assert reason(call, "X", None, True) == "accepted"
    assert reason(call, "n_members", None, False) == "names no argument: something is wrong"


RECORDS = {  # what functions return, and names that other tests attack
    "Audit", "AuditComparison", "ColumnShift", "FamilyCheck", "FamilyReport", "LeaveOneOut", "RejectionCurve",
    "RoundReport", "RuleCurve", "ShapValues", "ShiftReport", "Uncertainty", "__version__",
}  # fmt: skip
OF_OWN_TESTS = {"SINDySelector", "SearchSelector", "ensemble_coefficients"}


@pytest.mark.fault(number=5)
@pytest.mark.filterwarnings("ignore::surefoot.SurefootWarning")
def test_every_public_name_is_tried():
    tried = {name.split(".")[0].split(" ")[0] for group in GROUPS.values() for name in group()}
    estimators = {subject.estimator.__name__ for subject in public_calls.SUBJECTS}
    for module in ("", ".selection", ".metrics", ".conformal", ".shift", ".uncertainty"):
        public = importlib.import_module(f"surefoot{module}")
        names = {name for name in public.__all__ if not name.endswith(("Error", "Warning"))}
        assert names - tried - estimators - RECORDS - OF_OWN_TESTS == set()


X = np.random.default_rng(0).normal(size=(40, 3))
LABELS = np.arange(40) % 2
MASK = np.arange(40) == 3
KNOWN = {  # in every run, because each was accepted, or gave another library's error
    "masked labels": ("y", lambda: AdaBoostClassifier().fit(X, np.ma.masked_array(LABELS, MASK))),
    "masked weights": (
        "sample_weight",
        lambda: AdaBoostClassifier().fit(X, LABELS, np.ma.masked_array(np.ones(40), MASK)),
    ),
    "sparse labels": ("y", lambda: AdaBoostClassifier().fit(X, sparse.csr_array(LABELS[:, np.newaxis]))),
    "text as weights": ("sample_weight", lambda: AdaBoostClassifier().fit(X, LABELS, ["heavy"] * 40)),
    "a ragged table": ("X", lambda: AdaBoostClassifier().fit([[1.0, 2.0], [1.0]] * 20, LABELS)),
    "long integers": ("X", lambda: AdaBoostClassifier().fit([[10**400]] * 40, LABELS)),
    "a long float": ("X", lambda: AdaBoostClassifier().fit(np.full((40, 1), LONG_FLOAT), LABELS)),
    "a duration of trees": ("n_estimators", lambda: AdaBoostClassifier(n_estimators=np.timedelta64(3)).fit(X, LABELS)),
    "text as verbose": ("verbose", lambda: AdaBoostClassifier(verbose="1").fit(X, LABELS)),
    "text as a seed": ("random_state", lambda: AdaBoostClassifier(random_state="seed").fit(X, LABELS)),
    "text as n_jobs": ("n_jobs", lambda: AdaBoostClassifier(n_jobs="all").fit(X, LABELS)),
    "an open file as a path": ("path", lambda: load(0)),
    "masked metric": ("y_true", lambda: nll(np.ma.masked_array(LABELS, MASK), np.full((40, 2), 0.5))),
}


@pytest.mark.fault(number=5)
@pytest.mark.parametrize("kind", KNOWN)
def test_known_mistakes_name_their_argument(kind):
    argument, call = KNOWN[kind]
    with pytest.raises((DataError, ParameterError)) as raised:
        call()
    assert raised.value.argument == argument
    assert argument in str(raised.value)
