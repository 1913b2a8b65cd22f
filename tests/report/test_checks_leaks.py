"""Columns that reveal the target are reported as questions; ordinary columns are not."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, rankdata
from sklearn.metrics import roc_auc_score

from surefoot.metrics.auc import auc_of_ranks
from surefoot.report.checks import find_leaks
from surefoot.report.checks.pair_leaks import MAX_TRIED, most_correlated
from surefoot.report.checks.single_leaks import aucs_of_column
from surefoot.report.inputs.target import Target

N = 1000


def make_table(seed, task):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(N, 5)), columns=[f"x{j}" for j in range(5)])
    X["word"] = pd.Categorical(rng.choice(list("abcde"), N))
    signal = (X.x0 + 0.7 * X.x1 - 0.5 * X.x2 * X.x3).to_numpy()
    y = (signal + rng.logistic(size=N) > 0).astype(int) if task == "classes" else signal + rng.normal(size=N)
    return rng, X, y


def leaks(X, y):
    return find_leaks(X, Target.read(y, len(y))[0])


def flagged(rng, y, fraction):
    return (y == 1) & (rng.random(N) < fraction)


CLASS_LEAKS = {
    "AUC .97": lambda rng, y: y * np.sqrt(2) * norm.ppf(0.97) + rng.normal(size=N),
    "2% flips": lambda rng, y: np.where(rng.random(N) < 0.02, 1 - y, y).astype(float),
    "in the middle": lambda rng, y: np.where(y == 1, 0.1 * rng.normal(size=N), rng.choice([-1, 1], N)),
    "levels": lambda rng, y: pd.Categorical([f"c{2 * i + k}" for i, k in zip(rng.integers(0, 9, N), y, strict=True)]),
    "missing": lambda rng, y: np.where(y == 1, np.nan, rng.normal(size=N)),
    "exact flag": lambda rng, y: flagged(rng, y, 0.3).astype(float),
    "exact level": lambda rng, y: pd.Categorical(np.where(flagged(rng, y, 0.2), "paid", rng.choice(list("pq"), N))),
    "exact missing": lambda rng, y: np.where(flagged(rng, y, 0.2), np.nan, rng.normal(size=N)),
    "exact range": lambda rng, y: np.where(flagged(rng, y, 0.2), 5 + rng.random(N), rng.normal(size=N)),
}
NUMBER_LEAKS = {
    "R2 .95": lambda rng, y: y + y.std() * np.sqrt(0.05 / 0.95) * rng.normal(size=N),
    "equal in a fifth": lambda rng, y: np.where(rng.random(N) < 0.2, y, rng.normal(size=N)),
    "a line in a fifth": lambda rng, y: np.where(rng.random(N) < 0.2, 2.5 * y + 7, 7 + 4 * rng.normal(size=N)),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("task", "name"), [("classes", k) for k in CLASS_LEAKS] + [("numbers", k) for k in NUMBER_LEAKS]
)
def test_leaks_are_reported_and_nothing_else(task, name, seed):
    rng, X, y = make_table(seed, task)
    X["leak"] = (CLASS_LEAKS if task == "classes" else NUMBER_LEAKS)[name](rng, y)
    result = leaks(X, y)
    assert [leak.columns for leak in result] == [("leak",)]
    assert "Is it known before the target?" in result[0].sentence
    assert (result[0].kind == "exact") == (name.startswith("exact") or "fifth" in name)


@pytest.mark.parametrize("seed", range(5))
def test_a_flag_of_20_of_400_rows_is_reported(seed):
    rng = np.random.default_rng(seed)
    X, y = pd.DataFrame(rng.normal(size=(400, 8)), columns=[f"x{j}" for j in range(8)]), np.arange(400) % 2
    assert not leaks(X, y)
    X["flag"] = (np.cumsum(y) <= 20) & (y == 1)
    X["flag"] = X["flag"].astype(float)
    assert [leak.columns for leak in leaks(X, y)] == [("flag",)]


@pytest.mark.parametrize("seed", range(5))
def test_sums_and_differences_of_two_columns_are_reported(seed):
    for task in ("classes", "numbers"):
        rng, X, y = make_table(seed, task)
        X["part"] = 3 * rng.normal(size=N)
        for sign, word in ((1, "plus"), (-1, "minus")):
            X["rest"] = sign * (2 * y - X["part"]) + 0.2 * rng.normal(size=N)
            (result,) = leaks(X, y)
            assert (result.kind, result.columns) == ("pair", ("part", "rest"))
            assert f"part {word} rest" in result.sentence


@pytest.mark.parametrize("seed", range(10))
def test_ordinary_columns_are_not_reported(seed):
    for task in ("classes", "numbers"):
        _, X, y = make_table(seed, task)
        assert leaks(X, y) == ()
    rng = np.random.default_rng(seed)
    noise = pd.DataFrame(rng.normal(size=(300, 60)), columns=[f"x{j}" for j in range(60)])
    assert leaks(noise, (np.arange(300) < 12).astype(int)) == ()
    tail = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))  # pure ends of a smooth relation
    assert leaks(tail, (2.2 * tail.a + rng.logistic(size=N) > 0).astype(int).to_numpy()) == ()


def test_a_leak_of_one_of_several_classes_is_reported():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, N)
    X = pd.DataFrame({"x": rng.normal(size=N), "leak": 4 * (y == 2) + rng.normal(size=N)})
    (result,) = leaks(X, y)
    assert result.columns == ("leak",)
    assert "class 2 from the others" in result.sentence


def test_aucs_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.3
    scores = np.round(positive + rng.normal(size=400), 1)
    assert auc_of_ranks(rankdata(scores), positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    expected = roc_auc_score(positive, scores)
    assert aucs_of_column(pd.Series(scores), [positive])[0] >= expected - 1e-12
    words = pd.Series(pd.Categorical(rng.choice(list("abcdefgh"), 400)))
    half = np.random.default_rng(0).permutation(400) % 2
    codes, predicted = words.cat.codes.to_numpy(), np.empty(400)
    for i in range(400):
        same = (half != half[i]) & (codes == codes[i])
        predicted[i] = (positive[same].sum() + 0.5 * positive.mean()) / (same.sum() + 0.5)
    assert aucs_of_column(words, [positive])[0] == pytest.approx(roc_auc_score(positive, predicted), abs=1e-12)


@pytest.mark.fault(number=5)
def test_pairs_of_a_wide_table_fit_in_memory():
    """All pairs of these columns at once take 600 MB; blocks of them find the same pair."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 4000))
    y = values[:, 17] - values[:, 3017]
    tracemalloc.start()
    try:
        found = most_correlated(values - values.mean(axis=0), y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found[0] == (17, 3017, -1)
    assert peak < 100e6


def test_blocks_of_pairs_are_all_pairs(monkeypatch):
    values = np.random.default_rng(1).normal(size=(60, 20))
    values -= values.mean(axis=0)
    y = values[:, 3] + 0.5 * values[:, 11] + values[:, 19]
    whole = most_correlated(values, y)
    monkeypatch.setattr("surefoot.report.checks.pair_leaks.COLUMNS_AT_ONCE", 3)
    assert most_correlated(values, y) == whole
    pairs = [(i, j, sign) for i in range(20) for j in range(i + 1, 20) for sign in (1, -1)]
    correlations = {(i, j, s): np.corrcoef(values[:, i] + s * values[:, j], y)[0, 1] ** 2 for i, j, s in pairs}
    assert set(whole) == set(sorted(pairs, key=lambda pair: -correlations[pair])[:MAX_TRIED])
