"""Malicious JSON is refused by the right check, before anything large is allocated."""

import re

import pytest
from crafting import pack, parts_of, read, refusal

from surefoot.model_io.models import VERSION

STATES = [
    ("stumps", ["version"], VERSION + 1, f"written by a newer surefoot \\(format {VERSION + 1}\\): upgrade surefoot"),
    ("stumps", ["version"], 10**30, "written by a newer surefoot"),
    ("stumps", ["version"], 0, "does not say which version"),
    ("stumps", ["version"], True, "does not say which version"),
    ("stumps", ["version"], "1", "does not say which version"),
    ("stumps", ["format"], "catboost", "not a model file of surefoot"),
    ("stumps", ["class"], "os.system", "an unknown class: 'os.system'"),
    ("stumps", ["class"], "StableSelector", "an unknown class"),
    ("stumps", ["class"], ["AdaBoostClassifier"], "an unknown class"),
    ("stumps", ["class"], "GradientBoostingClassifier", "has no parameters \\['estimator'"),
    ("stumps", ["more"], 1, "does not have the expected parts"),
    ("stumps", ["model", "more"], 1, "model does not have the expected fields"),
    ("stumps", ["model", "columns"], None, "model.columns does not have the expected fields"),
    ("stumps", ["model", "columns", "n_columns"], 10**9, "n_columns must be at most"),
    ("stumps", ["model", "columns", "n_columns"], 3, "names and columns differ in number"),
    ("stumps", ["model", "columns", "n_columns"], 4.0, "n_columns must be of type int"),
    ("stumps", ["model", "columns", "n_columns"], True, "n_columns must be of type int"),
    ("stumps", ["model", "columns", "names"], ["a", "b", "c", 4], "names.3 must be of type str"),
    ("stumps", ["model", "columns", "listed"], [0], "a listed column has no categories"),
    ("stumps", ["model", "columns", "ranges"], [[0.0, 1.0]], "ranges must be an array"),
    ("stumps", ["model", "columns", "dates"], [2], "a column of dates does not exist, or has categories"),
    ("stumps", ["model", "columns", "dates"], [4], "a column of dates does not exist, or has categories"),
    ("stumps", ["model", "columns", "categories", 1, "position"], 4, "categories of a column that does not exist"),
    ("stumps", ["model", "columns", "categories", 1, "position"], 2, "categories are not in order"),
    ("stumps", ["model", "columns", "categories", 1, "labels"], [[1]], "must be text, a number or a boolean"),
    ("stumps", ["model", "columns", "categories"], [], "splits by category on numeric columns"),
    ("stumps", ["model", "committees"], [], "it must have one vote"),
    ("stumps", ["model", "committees", 0, "n_classes"], 3, "votes and classes differ in number"),
    ("stumps", ["model", "committees", 0, "forest", "features"], "features", "features must be an array"),
    ("stumps", ["model", "committees", 0, "forest", "features"], [[0]], "features must be an array"),
    ("stumps", ["model", "best"], {"name": "bagged", "scores": []}, "the best booster is not one of the candidates"),
    ("stumps", ["model", "best"], {"name": "bagged", "scores": [{"name": "bagged", "score": 1.0}]}, "only a BestBoost"),
    ("best", ["model", "best"], None, "only a BestBoost"),
    ("best", ["model", "best", "name"], "catboost", "the best booster is not one of the candidates"),
    ("stumps", ["parameters", "learning_rate"], -1.0, "learning_rate must be above 0"),
    ("stumps", ["parameters", "max_depth"], "1", "max_depth must be a whole number"),
    ("stumps", ["parameters", "estimator"], "DecisionTreeClassifier", "estimator must be a scikit-learn classifier"),
    ("stumps", ["parameters", "n_jobs"], 10**6, "has no parameters \\['n_jobs'\\]"),
    ("stumps", ["parameters", "class_weight"], {"dict": [[[1], 2]]}, "class_weight is not a valid dict"),
    ("stumps", ["parameters", "class_weight"], {"object": 1}, "class_weight is not a parameter"),
    ("stumps", ["parameters", "class_weight"], {"tuple": [], "dict": []}, "class_weight is not a parameter"),
    ("stumps", ["parameters", "class_weight"], {"array": ["|V1000000000", [1]]}, "class_weight is not a valid array"),
    ("stumps", ["parameters", "class_weight"], {"array": ["<i8", [10**300]]}, "class_weight is not a valid array"),
    ("settings", ["parameters", "distribution"], {"family class": "Popen"}, "distribution is not a valid family class"),
    ("settings", ["parameters", "interaction_cst"], [{"set": [[0]]}], "interaction_cst is not a valid set"),
    ("settings", ["parameters", "interaction_cst"], {"frozenset": 0}, "interaction_cst is not a valid frozenset"),
    ("settings", ["parameters", "interaction_cst"], [{"set": []}], "interaction_cst must be 'pairwise'"),
    ("settings", ["parameters", "max_leaf_nodes"], 31, "max_leaf_nodes is for grow_policy='leafwise'"),
    ("settings", ["parameters", "max_features"], 0.0, "max_features must be above 0"),
    ("settings", ["parameters", "split_noise"], "none", "split_noise must be 'auto' or a number"),
    ("settings", ["parameters", "distribution", "family", "df"], 1.0, "df must be above 2"),
    ("majority", ["parameters", "voting"], "loud", "voting is unknown"),
    ("normal", ["model", "family", "name"], "poisson", "model.family does not have the expected fields"),
    ("normal", ["model", "family", "name"], "laplace", None),
    ("normal", ["model", "family", "spread"], 0.0, "spread or bounds are invalid"),
    ("normal", ["model", "family", "floor"], 100.0, "spread or bounds are invalid"),
    ("normal", ["model", "family"], {"name": "bernoulli"}, "family and classes are not those of such a model"),
    ("normal", ["model", "family", "cap"], 1e300, "spread or bounds are invalid"),
    ("normal", ["model", "family", "dispersion"], 1e300, "dispersion"),
    ("poisson", ["model", "family", "log_mean"], 1e300, "its mean is invalid"),
    ("poisson", ["model", "family", "cap"], 1000.0, "its mean is invalid"),
    ("sets", ["model", "family", "n_classes"], 4, "family and classes are not those of such a model"),
    ("sets", ["model", "family", "n_classes"], 10**6, "n_classes must be at most 500"),
    ("sets", ["model", "classes"], ["0", "1"], "family and classes are not those of such a model"),
    ("sets", ["model", "classes"], ["0", 1, "2"], "at least two labels, in increasing order"),
    ("normal", ["model", "columns", "n_columns"], 3, "bins are not those of the columns"),
    ("normal", ["model", "members"], [], "the number of members is not that of such a model"),
    ("normal", ["model", "members", 0, "shrink"], 0.0, "shrink must be at least 0.5"),
    ("normal", ["model", "members", 0, "forest", "symmetric"], False, "nodes are not those of perfect trees"),
    ("normal", ["model", "encodings", "many"], [0], "statistics and columns with many categories do not match"),
    ("statistics", ["model", "encodings", "many"], [9], "columns with many categories are not in order"),
    ("statistics", ["model", "encodings", "many"], [0], "is both numeric and categorical"),
    ("statistics", ["model", "encodings", "own", 0, "statistics", 0, "columns"], [2], "column that has no categories"),
    ("statistics", ["model", "encodings", "own", 0, "statistics", 0, "columns"], [], "columns and factors differ"),
    ("statistics", ["model", "encodings", "combinations", "statistics", 0, "columns"], [0, 2], "has no categories"),
    ("statistics", ["model", "encodings", "combinations", "statistics", 0, "factors"], [2**40, 2**40], "a key can"),
    ("ensemble", ["model", "encodings", "own"], [], "statistics and columns with many categories do not match"),
    ("vmatrix_classes", ["model", "boosted"], [], "there is not one sequence of trees for each class"),
    ("vmatrix_classes", ["model", "classes"], None, "classes are not those of such a model"),
    ("vmatrix", ["model", "columns", "n_columns"], 10**7, "names and columns differ in number"),
    ("vmatrix", ["model", "coverage"], -0.5, "coverage must be at least 0"),
]  # fmt: skip


@pytest.mark.fault(number=24)
@pytest.mark.parametrize(("name", "place", "value", "message"), STATES)
def test_json(name, place, value, message):
    state, arrays = parts_of(name)
    part = state
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    if message is None:  # a valid file
        assert read(pack(state, arrays)).family_.name == value
        return
    assert re.search(message, refusal(pack(state, arrays)))


@pytest.mark.fault(number=24)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "JSON cannot be read"),
        ("nothing", "JSON cannot be read"),
        ("[1, 2", "JSON cannot be read"),
        ('{"format": "surefoot model"} more', "JSON cannot be read"),
        (b'"\xff"', "JSON cannot be read"),
        (b"\xef\xbb\xbf{}", "JSON cannot be read"),
        ("[" * 100_000 + "]" * 100_000, "nested more than 20 deep"),
        ('{"a":' * 100_000, "nested more than 20 deep"),
        ('"' + "\\" + '"' + "[" * 100_000, "nested|cannot be read"),
        ("[" + "[]," * 2_000_000 + "0]", "more parts than any model"),
        ("[" + "1," * 5_000_000 + "0]", "more parts than any model"),
        ("[NaN]", "the constant NaN"),
        ("[Infinity]", "the constant Infinity"),
        ("[-Infinity]", "the constant -Infinity"),
        ("[1e999]", "a number that is too large"),
        ("[" + "9" * 400 + "]", "a number that is too large"),
        ("[" + "9" * 315 + "]", "a number that is too large"),
        ('{"a": 1, "a": 2}', "repeats a key"),
        ("[]", "not a model file of surefoot"),
        ("{}", "not a model file of surefoot"),
        ("null", "not a model file of surefoot"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_texts_that_are_not_a_state(text, message):
    assert re.search(message, refusal(pack(text, {})))


@pytest.mark.fault(number=24)
def test_brackets_in_strings_are_not_nesting():
    state, arrays = parts_of("stumps")
    state["model"]["columns"]["names"][0] = '\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\'
    assert read(pack(state, arrays)).feature_names_in_[0] == state["model"]["columns"]["names"][0]


@pytest.mark.fault(number=24)
def test_a_number_of_columns_that_is_too_large():
    state, arrays = parts_of("vmatrix")
    state["model"]["columns"] |= {"n_columns": 1 << 24, "names": None}
    assert "bins and columns differ in number" in refusal(pack(state, arrays))


@pytest.mark.fault(number=24)
def test_more_members_and_columns_than_any_model_has(monkeypatch):
    monkeypatch.setattr("surefoot.model_io.encoding.MAX_READ", 7)  # two members of four columns read eight
    assert "more members and columns than any model has" in refusal(pack(*parts_of("ensemble")))
