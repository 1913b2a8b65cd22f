"""Simulated tables with a known truth, for `audit_honesty.py`, and their wrong answers.

The names of the scenarios are seeds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "unknown"


@dataclass
class Case:
    """Arguments of an audit, and the answers to each question that would be wrong."""

    X: Any
    y: Any
    wrong: dict[str, tuple[str, ...]]
    options: dict[str, Any] = field(default_factory=dict)
    fresh: Callable[[np.random.Generator, int], tuple[Any, Any]] | None = None  # more rows of the same distribution
    must_note: str | None = None  # a check or a column that must be reported
    must_not_note: str | None = None  # the beginning of names of columns that must not be reported
    rule: Callable[[Any], np.ndarray] | None = None  # the mean of fresh rows, where their noise has heavy tails
    noise: float = 0.0  # and the variance of that noise
    deployment: Callable[[np.random.Generator, int], tuple[Any, Any]] | None = None  # more deployment rows


SCENARIOS: dict[str, Callable[[np.random.Generator, int], Case]] = {}


def scenario(function: Callable[[np.random.Generator, int], Case]) -> Callable[[np.random.Generator, int], Case]:
    SCENARIOS[function.__name__] = function
    return function


def table(generator: np.random.Generator, n: int, d: int = 8) -> pd.DataFrame:
    return pd.DataFrame(generator.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])


def probability_of(score: Any) -> Any:
    return 1 / (1 + np.exp(-score))


# ---- question 1: tables with and without signal


@scenario
def noise_numbers(generator: np.random.Generator, n: int) -> Case:
    return Case(table(generator, n), generator.normal(size=n), {"accuracy": (YES, PARTLY)})


@scenario
def noise_heavy_tails(generator: np.random.Generator, n: int) -> Case:
    return Case(table(generator, n), generator.standard_t(3, size=n), {"accuracy": (YES, PARTLY)})


@scenario
def noise_classes(generator: np.random.Generator, n: int) -> Case:
    return Case(table(generator, n), generator.integers(2, size=n), {"accuracy": (YES, PARTLY)})


@scenario
def copies_of_noise(generator: np.random.Generator, n: int) -> Case:
    X, y = table(generator, n // 2), generator.integers(2, size=n // 2)
    order = generator.permutation(2 * len(X)) % len(X)
    return Case(X.iloc[order].reset_index(drop=True), y[order], {"accuracy": (YES, PARTLY)}, must_note="copies")


@scenario
def upsampled_rare_noise(generator: np.random.Generator, n: int) -> Case:
    X, y = table(generator, n), (np.arange(n) < n // 20).astype(int)
    order = generator.permutation(np.concatenate([np.arange(n), np.repeat(np.arange(n // 20), 10)]))
    return Case(X.iloc[order].reset_index(drop=True), y[order], {"accuracy": (YES, PARTLY)}, must_note="copies")


@scenario
def near_copies_of_noise(generator: np.random.Generator, n: int) -> Case:
    X, y = table(generator, n // 2), generator.integers(2, size=n // 2)
    order = generator.permutation(2 * len(X)) % len(X)
    near = X.iloc[order].reset_index(drop=True)
    near = near + 1e-4 * generator.normal(size=near.shape)
    return Case(near, y[order], {"accuracy": (YES, PARTLY)}, must_note="near copies")


@scenario
def linear_numbers(generator: np.random.Generator, n: int) -> Case:
    def fresh(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
        X = table(generator, n)
        return X, X["x0"].to_numpy() * 2 + X["x1"].to_numpy() + generator.normal(size=n)

    return Case(*fresh(generator, n), {"accuracy": (NO,), "stability": (NO,)}, fresh=fresh)


@scenario
def linear_heavy_tails(generator: np.random.Generator, n: int) -> Case:
    def fresh(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
        X = table(generator, n)
        return X, rule(X) + generator.standard_t(3, size=n)

    def rule(X: Any) -> np.ndarray:
        return np.asarray(X["x0"] * 2 + X["x1"])

    return Case(*fresh(generator, n), {"accuracy": (NO,)}, fresh=fresh, rule=rule, noise=3.0)


@scenario
def curved_classes(generator: np.random.Generator, n: int) -> Case:
    def fresh(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
        X = table(generator, n)
        score = 1.5 * np.sin(2 * X["x0"]) + X["x1"] * X["x2"]
        return X, (generator.random(n) < probability_of(score)).astype(int)

    return Case(*fresh(generator, n), {"accuracy": (NO,), "uncertainty": (NO,)}, fresh=fresh)


@scenario
def rare_class(generator: np.random.Generator, n: int) -> Case:
    """1.5% of the rows are positive, and easy to rank."""
    n = max(n, 2000)
    X = table(generator, n)
    score = 2.2 * X["x0"] + 2.2 * X["x1"] - 7.9
    return Case(X, (generator.random(n) < probability_of(score)).astype(int), {"accuracy": (NO,)})


@scenario
def small_counts(generator: np.random.Generator, n: int) -> Case:
    X = table(generator, n)
    y = generator.poisson(np.exp(0.5 * X["x0"] - 0.2))
    return Case(X, y, {"accuracy": (NO,), "uncertainty": (NO,)})


@scenario
def no_time(generator: np.random.Generator, n: int) -> Case:
    """Candidates are left out, and might have been better."""
    X, classes = table(generator, 2 * n), 12
    y = (X["x0"].rank(pct=True).to_numpy() * classes).astype(int).clip(0, classes - 1)
    return Case(X, pd.Series(y).map(lambda k: chr(97 + k)), {"accuracy": (YES,)}, {"time_limit": 3.0})


# ---- rows that belong together


@scenario
def groups_of_noise(generator: np.random.Generator, n: int) -> Case:
    """Rows of a group are alike, and so are their targets, but new groups cannot be predicted."""
    n_groups = 40
    group = np.arange(n) % n_groups
    centres, levels = generator.normal(size=(n_groups, 8)), generator.normal(size=n_groups)
    X = pd.DataFrame(centres[group] + 0.1 * generator.normal(size=(n, 8)), columns=[f"x{j}" for j in range(8)])
    X["group"] = [f"g{k}" for k in group]
    return Case(X, levels[group] + 0.3 * generator.normal(size=n), {"accuracy": (YES, PARTLY)}, {"groups": "group"})


def _autoregressive(generator: np.random.Generator, n: int, memory: float) -> np.ndarray:
    steps, values = generator.normal(size=n), np.zeros(n)
    for i in range(1, n):
        values[i] = memory * values[i - 1] + steps[i]
    return values


@scenario
def series_of_noise(generator: np.random.Generator, n: int) -> Case:
    """Autocorrelated columns and an independent autocorrelated target."""
    X = pd.DataFrame({f"x{j}": _autoregressive(generator, n, 0.98) for j in range(4)})
    X["day"] = np.arange(n)
    return Case(X, _autoregressive(generator, n, 0.98), {"accuracy": (YES, PARTLY)}, {"time": "day"})


@scenario
def stationary_series(generator: np.random.Generator, n: int) -> Case:
    """A constant rule, with autocorrelated errors."""
    X = table(generator, n, 4)
    noise = _autoregressive(generator, n, 0.8)
    X["day"] = np.arange(n)
    return Case(X, 3 * X["x0"].to_numpy() + noise, {"accuracy": (NO,), "shift": (NO,)}, {"time": "day"})


@scenario
def rule_turns_with_the_rows(generator: np.random.Generator, n: int) -> Case:
    """No time is named, but the rule changes along the rows."""
    X = table(generator, n, 5)
    slope = np.linspace(2.0, -2.0, n)
    y = (generator.random(n) < probability_of(slope * X["x0"].to_numpy() * 2)).astype(int)
    X["clock"] = np.arange(n) + generator.normal(size=n)
    return Case(X, y, {"accuracy": (YES,)}, must_note="row order")


@scenario
def rule_turns_with_a_date(generator: np.random.Generator, n: int) -> Case:
    """The rows are shuffled, but one column is their date, and the rule changes in time."""
    X = table(generator, n, 5)
    when = generator.permutation(n)
    y = (generator.random(n) < probability_of(np.linspace(2.0, -2.0, n)[when] * X["x0"].to_numpy() * 2)).astype(int)
    X["date"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(when, unit="D")
    return Case(X, y, {"accuracy": (YES,)}, must_note="column role")


@scenario
def groups_nobody_has_named(generator: np.random.Generator, n: int) -> Case:
    """Rows of a patient are alike, and new patients cannot be predicted."""
    case = groups_of_noise(generator, n)
    return Case(
        case.X.rename(columns={"group": "patient"}), case.y, {"accuracy": (YES, PARTLY)}, must_note="column role"
    )


@scenario
def groups_without_effect(generator: np.random.Generator, n: int) -> Case:
    """A column identifies groups, but the rule is the same for all of them."""
    X = table(generator, n, 5)
    X["patient"] = [f"p{k}" for k in generator.integers(40, size=n)]
    return Case(X, 2 * X["x0"].to_numpy() + X["x1"].to_numpy() + generator.normal(size=n), {"accuracy": (NO,)})


@scenario
def stationary_groups(generator: np.random.Generator, n: int) -> Case:
    """Groups with different levels, and the same rule in all of them."""
    X, y = _linear(generator, n)
    group = np.arange(n) % 40
    X["group"] = [f"g{k}" for k in group]
    return Case(X, y + generator.normal(size=40)[group], {"accuracy": (NO,)}, {"groups": "group"})


# ---- question 2: own models with and without calibration


class KnownProbabilities(ClassifierMixin, BaseEstimator):
    """The true probabilities, with log-odds multiplied by ``stretch``."""

    def __init__(self, stretch: float = 1.0) -> None:
        self.stretch = stretch

    def fit(self, X: Any, y: Any) -> "KnownProbabilities":
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        p = probability_of(self.stretch * 1.5 * X["x0"].to_numpy())
        return np.column_stack([1 - p, p])

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


class KnownSpread(RegressorMixin, BaseEstimator):
    """The true mean, and the true standard deviation multiplied by ``stretch``."""

    def __init__(self, stretch: float = 1.0) -> None:
        self.stretch = stretch

    def fit(self, X: Any, y: Any) -> "KnownSpread":
        self.fitted_ = True
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        mean, std = X["x0"].to_numpy(), self.stretch * np.exp(0.5 * X["x1"].to_numpy())
        return (mean, std) if return_std else mean


def _chances(generator: np.random.Generator, n: int, stretch: float, wrong: tuple[str, ...]) -> Case:
    X = table(generator, n)
    y = (generator.random(n) < probability_of(1.5 * X["x0"].to_numpy())).astype(int)
    return Case(X, y, {"uncertainty": wrong}, {"model": KnownProbabilities(stretch)})


def _spread(generator: np.random.Generator, n: int, stretch: float, wrong: tuple[str, ...]) -> Case:
    X = table(generator, n)
    y = X["x0"].to_numpy() + np.exp(0.5 * X["x1"].to_numpy()) * generator.normal(size=n)
    return Case(X, y, {"uncertainty": wrong}, {"model": KnownSpread(stretch)})


@scenario
def own_right_chances(generator: np.random.Generator, n: int) -> Case:
    return _chances(generator, n, 1.0, (NO, PARTLY))


@scenario
def own_extreme_chances(generator: np.random.Generator, n: int) -> Case:
    return _chances(generator, n, 2.0, (YES,))


@scenario
def own_timid_chances(generator: np.random.Generator, n: int) -> Case:
    return _chances(generator, n, 0.5, (YES,))


@scenario
def own_right_intervals(generator: np.random.Generator, n: int) -> Case:
    return _spread(generator, n, 1.0, (NO, PARTLY))


@scenario
def own_narrow_intervals(generator: np.random.Generator, n: int) -> Case:
    return _spread(generator, n, 0.8, (YES,))


@scenario
def very_few_rows(generator: np.random.Generator, n: int) -> Case:
    """32 rows show nothing with a tolerance of 5 points."""
    X = table(generator, 32, 3)
    y = X["x0"].to_numpy() + generator.normal(size=32)
    return Case(X, y, {"uncertainty": (YES,), "accuracy": (YES,)})


# ---- question 3


@scenario
def twin_columns(generator: np.random.Generator, n: int) -> Case:
    """Two nearly identical columns: which of them is chosen depends on a few rows."""
    X = table(generator, n)
    X["twin"] = X["x0"] + 0.01 * generator.normal(size=n)
    y = 2 * X["x0"].to_numpy() + generator.normal(size=n)
    return Case(X, y, {"stability": (YES,)})


@scenario
def ten_rows_decide(generator: np.random.Generator, n: int) -> Case:
    """The targets of 10 of 150 rows are so large that they decide which column is chosen."""
    X = table(generator, 150, 6)
    y = X["x0"].to_numpy() + 0.3 * generator.normal(size=150)
    y[:10] = 30 * X["x1"].to_numpy()[:10]
    return Case(X, y, {"stability": (YES,)})


@scenario
def equal_candidates(generator: np.random.Generator, n: int) -> Case:
    """Nothing to predict: no model is best, and no column leads."""
    return Case(table(generator, n), generator.normal(size=n), {"stability": (YES,)})


@scenario
def strong_columns(generator: np.random.Generator, n: int) -> Case:
    """One dominant column."""
    X = table(generator, n)
    return Case(X, 5 * X["x0"].to_numpy() + generator.normal(size=n), {"stability": (NO,)})


# ---- question 4


def _linear(generator: np.random.Generator, n: int, noise: float = 1.0, sign: float = 1.0) -> tuple[Any, np.ndarray]:
    X = table(generator, n, 5)
    return X, sign * 2 * X["x0"].to_numpy() + X["x1"].to_numpy() + noise * generator.normal(size=n)


@scenario
def no_targets_rule_flipped(generator: np.random.Generator, n: int) -> Case:
    X, y = _linear(generator, n)
    return Case(X, y, {"shift": (YES,)}, {"X_new": _linear(generator, 300, sign=-1)[0]})


@scenario
def no_targets_nothing_shifted(generator: np.random.Generator, n: int) -> Case:
    X, y = _linear(generator, n)
    return Case(X, y, {"shift": (YES, NO)}, {"X_new": _linear(generator, 300)[0]})


@scenario
def no_targets_outside_the_range(generator: np.random.Generator, n: int) -> Case:
    X, y = _linear(generator, n)
    return Case(X, y, {"shift": (YES, PARTLY, UNKNOWN)}, {"X_new": _linear(generator, 300)[0] + 10})


@scenario
def twelve_targets_larger_error(generator: np.random.Generator, n: int) -> Case:
    X, y = _linear(generator, n)
    X_new, y_new = _linear(generator, 12, noise=1.56)
    return Case(X, y, {"shift": (YES,)}, {"X_new": X_new, "y_new": y_new})


@scenario
def targets_nothing_shifted(generator: np.random.Generator, n: int) -> Case:
    X, y = _linear(generator, n)
    X_new, y_new = _linear(generator, 500)
    return Case(X, y, {"shift": (NO,)}, {"X_new": X_new, "y_new": y_new})


@scenario
def targets_larger_error(generator: np.random.Generator, n: int) -> Case:
    X, y = _linear(generator, n)
    X_new, y_new = _linear(generator, 500, noise=1.6)
    return Case(X, y, {"shift": (YES,)}, {"X_new": X_new, "y_new": y_new})


@scenario
def targets_biased(generator: np.random.Generator, n: int) -> Case:
    """The error hardly grows, but all predictions are too low."""
    X, y = _linear(generator, n)
    X_new, y_new = _linear(generator, 500)
    return Case(X, y, {"shift": (YES,)}, {"X_new": X_new, "y_new": y_new + 0.9})


@scenario
def new_groups_rule_flipped(generator: np.random.Generator, n: int) -> Case:
    """Later rows have new groups with the opposite rule."""
    X, y = _linear(generator, n)
    later = np.arange(n) >= 0.8 * n
    group = np.where(later & (generator.random(n) < 0.5), 30 + np.arange(n) % 10, np.arange(n) % 30)
    y = np.where(group >= 30, -y, y)
    X["group"], X["day"] = [f"g{k}" for k in group], np.arange(n)
    return Case(X, y, {"shift": (YES,)}, {"groups": "group", "time": "day"})


def _without_targets(generator: np.random.Generator, n: int, shift: Callable[[pd.DataFrame], pd.DataFrame]) -> Case:
    """Deployment rows with shifted columns and the same rule; the noise is larger where x1 is far from 0."""

    def rows(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
        X = shift(table(generator, n, 3))
        size = 0.5 + np.abs(X["x1"].to_numpy())
        return X, 2 * X["x0"].to_numpy() + size * generator.normal(size=n)

    X = table(generator, 3 * n, 3)
    y = 2 * X["x0"].to_numpy() + (0.5 + np.abs(X["x1"].to_numpy())) * generator.normal(size=len(X))
    return Case(X, y, {"shift": (YES,)}, {"X_new": rows(generator, 2 * n)[0]}, deployment=rows)


@scenario
def expected_error_no_shift(generator: np.random.Generator, n: int) -> Case:
    return _without_targets(generator, n, lambda X: X)


@scenario
def expected_error_mean_shifts(generator: np.random.Generator, n: int) -> Case:
    return _without_targets(generator, n, lambda X: X.assign(x1=X["x1"] + 0.5))


@scenario
def expected_error_spread_halves(generator: np.random.Generator, n: int) -> Case:
    return _without_targets(generator, n, lambda X: X.assign(x1=X["x1"] / 2))


@scenario
def expected_error_spread_doubles(generator: np.random.Generator, n: int) -> Case:
    return _without_targets(generator, n, lambda X: X.assign(x1=2 * X["x1"]))


@scenario
def expected_error_correlation_changes(generator: np.random.Generator, n: int) -> Case:
    return _without_targets(generator, n, lambda X: X.assign(x1=0.8 * X["x0"] + 0.6 * X["x1"]))


@scenario
def tiny_shifts(generator: np.random.Generator, n: int) -> Case:
    """All columns have shifted, by a distance of about 0.02."""
    X, y = _linear(generator, 5 * n)
    return Case(X, y, {"shift": (YES, NO)}, {"X_new": _linear(generator, 5 * n)[0] + 0.05})


# ---- leaks


@scenario
def leak_of_a_noisy_copy(generator: np.random.Generator, n: int) -> Case:
    X, y = _linear(generator, n)
    X["later"] = y + 0.5 * generator.normal(size=n)
    return Case(X, y, {}, must_note="later")


@scenario
def leak_of_flipped_labels(generator: np.random.Generator, n: int) -> Case:
    X, y = table(generator, n), generator.integers(2, size=n)
    X["later"] = np.where(generator.random(n) < 0.02, 1 - y, y)
    return Case(X, y, {}, must_note="later")


@scenario
def leak_of_a_score(generator: np.random.Generator, n: int) -> Case:
    """A column with an AUC of 0.97."""
    X, y = table(generator, n), generator.integers(2, size=n)
    X["later"] = 2.66 * y + generator.normal(size=n)
    return Case(X, y, {}, must_note="later")


@scenario
def no_leak(generator: np.random.Generator, n: int) -> Case:
    """A strong column that is not a leak (AUC 0.85), and must not be reported."""
    X = table(generator, n)
    y = (generator.random(n) < probability_of(2.5 * X["x0"].to_numpy())).astype(int)
    return Case(X, y, {}, must_not_note="x")


@scenario
def predictions_of_seen_rows(generator: np.random.Generator, n: int) -> Case:
    """Predictions of a forest for its own training rows."""
    from sklearn.ensemble import RandomForestRegressor

    X, y = _linear(generator, n)
    seen = RandomForestRegressor(50, n_jobs=1, random_state=0).fit(X, y).predict(X)
    return Case(X, y, {"accuracy": (YES,)}, {"predictions": seen}, must_note="predictions")


@scenario
def leak_of_a_sum(generator: np.random.Generator, n: int) -> Case:
    X, y = _linear(generator, n)
    part = 3 * generator.normal(size=n)
    X["part"], X["rest"] = part, y - part
    return Case(X, y, {}, must_note="rest")


@scenario
def leak_for_few_rows(generator: np.random.Generator, n: int) -> Case:
    X, y = table(generator, n), generator.integers(2, size=n)
    X["flag"] = ((y == 1) & (generator.random(n) < 0.1)).astype(float)
    return Case(X, y, {}, must_note="flag")
