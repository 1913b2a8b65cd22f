"""Coverage of predicted intervals on simulated targets of every distribution."""

import json

import numpy as np

from surefoot import BoostingEnsembleRegressor, GradientBoostingRegressor
from surefoot.metrics import rejection_curve

FAMILIES = ("normal", "lognormal", "laplace", "student_t", "poisson", "gamma")
SIZES, LEVELS = (300, 1000, 5000), (0.5, 0.8, 0.9, 0.95)
NEW_ROWS, COLUMNS = 4000, 6
MODELS = {"single": {}, "sglb": {"method": "sglb"}, "sgb": {"method": "sgb"}}


def simulate(family, is_even, n_rows, generator):
    """Simulate a target with a smooth mean; its noise is even, or three times as large on one side."""
    X = generator.normal(size=(n_rows, COLUMNS))
    mean = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] * (X[:, 2] > 0) + 0.3 * X[:, 3]
    scale = np.full(n_rows, 0.4) if is_even else np.where(X[:, 4] > 0, 0.6, 0.2)
    draw = {
        "normal": lambda: mean + scale * generator.normal(size=n_rows),
        "lognormal": lambda: np.exp(mean + scale * generator.normal(size=n_rows)),
        "laplace": lambda: mean + scale * generator.laplace(size=n_rows),
        "student_t": lambda: mean + scale * generator.standard_t(5, size=n_rows),
        "poisson": lambda: generator.poisson(np.exp(1.0 + mean)).astype(float),
        "gamma": lambda: generator.gamma(1 / scale**2, np.exp(mean) * scale**2),
    }
    return X, draw[family]()


def integral_transform(distribution, y, generator):
    """The probability of at most ``y``, drawn uniformly within the jump of a count."""
    upper = distribution.cdf(y)
    if not distribution.is_discrete:
        return upper
    lower = np.where(y > 0, distribution.cdf(y - 1), 0.0)
    return lower + generator.random(len(y)) * (upper - lower)


def claimed_rejection_ratio(distribution):
    """The rejection ratio of the predicted variance if targets followed the predicted distributions."""
    mean, uncertainty = distribution.mean, distribution.var
    draws = distribution.sample(20, np.random.RandomState(0))
    return float(np.mean([rejection_curve(y, mean, uncertainty, loss="squared_error").ratio for y in draws]))


def simulate_once(family, is_even, n_rows, model, seed):
    generator = np.random.default_rng([seed, n_rows, FAMILIES.index(family), is_even])
    X, y = simulate(family, is_even, n_rows, generator)
    X_new, y_new = simulate(family, is_even, NEW_ROWS, generator)
    kind = GradientBoostingRegressor if model == "single" else BoostingEnsembleRegressor
    fitted = kind(distribution=family, random_state=seed, n_jobs=2, **MODELS[model]).fit(X, y)
    distribution = fitted.predict_distribution(X_new)
    p = integral_transform(distribution, y_new, generator)
    line = {"NLL": float(-distribution.logpdf(y_new).mean())}
    for level in LEVELS:
        tail = (1 - level) / 2
        line[f"below {level}"], line[f"above {level}"] = float(np.mean(p < tail)), float(np.mean(p > 1 - tail))
    if is_even and family in ("normal", "laplace", "student_t"):
        line["claimed"] = claimed_rejection_ratio(distribution)
        line["true"] = rejection_curve(y_new, distribution.mean, distribution.var, loss="squared_error").ratio
    return line


def run_coverage(options):
    lines = options.results.read_text().splitlines() if options.results.exists() else []
    keys = ("family", "even", "rows", "model", "seed")
    done = {tuple(line[key] for key in keys) for line in map(json.loads, lines) if "family" in line}
    for seed in range(options.seeds):
        for family in FAMILIES:
            for even in (True, False) if family != "poisson" else (True,):
                for rows in SIZES:
                    for model in MODELS:
                        key = (family, even, rows, model, seed)
                        if key in done:
                            continue
                        line = dict(zip(keys, key, strict=True)) | simulate_once(family, even, rows, model, seed)
                        with options.results.open("a") as file:
                            file.write(json.dumps(line) + "\n")


def print_coverage(lines):
    import pandas as pd

    frame = pd.DataFrame([line for line in lines if "family" in line])
    print("\npercent inside intervals of 50, 80, 90, 95%; in brackets, beyond the ends of the 90% interval")
    print("\n| family | noise | rows | " + " | ".join(MODELS) + " |\n|" + " --- |" * (3 + len(MODELS)))
    for (family, even, rows), group in frame.groupby(["family", "even", "rows"], sort=False):
        cells = []
        for model in MODELS:
            mean = group[group["model"] == model].mean(numeric_only=True)
            inside = [100 * (1 - mean[f"below {level}"] - mean[f"above {level}"]) for level in LEVELS]
            tails = f"({100 * mean['below 0.9']:.1f}, {100 * mean['above 0.9']:.1f})"
            cells.append(" ".join(f"{value:.0f}" for value in inside) + " " + tails)
        noise = "own" if family == "poisson" else ("even" if even else "uneven")
        print(f"| {family} | {noise} | {rows:,} | " + " | ".join(cells) + " |")
    means = frame.groupby(["family", "even", "rows", "model"]).mean(numeric_only=True)
    off = {level: (1 - means[f"below {level}"] - means[f"above {level}"] - level).abs().max() for level in LEVELS}
    print("\nlargest difference from the level:", {level: f"{100 * value:.1f} points" for level, value in off.items()})
    even = frame.dropna(subset=["claimed"])
    print("\nclaimed rejection ratio with even noise, mean (and the true one):")
    for (rows, model), group in even.groupby(["rows", "model"]):
        print(f"  {rows:,} rows, {model}: {group['claimed'].mean():.2f} ({group['true'].mean():.2f})")
