"""Tables for audits: small, so that an audit takes seconds."""

import numpy as np
import pandas as pd


def two_classes(n=160, seed=0):
    """Two columns that matter, one that does not, a category and gaps; labels are text."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.normal(size=n), "age": rng.normal(50, 10, n), "noise": rng.normal(size=n)})
    X["colour"] = rng.choice(["red", "green", "blue"], n)
    score = 2 * X["size"] + 0.1 * (X["age"] - 50) + (X["colour"] == "red") + 0.7 * rng.normal(size=n)
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    return X, pd.Series(np.where(score > 0.3, "sick", "well"), name="state")


def numbers(n=160, seed=0):
    """A line with noise, and a column that does not matter."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    return X, pd.Series(3 * X["x"] + rng.normal(size=n), name="height")


def nothing(n=200, seed=0):
    """Columns that say nothing about the target."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd")), pd.Series(rng.random(n) < 0.5, name="coin")


def rare_class(n_rows=3600, seed=0):
    """One row in twenty-five is of the second class, and two columns tell something about which."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["size", "age", "noise"])
    chance = 1 / (1 + np.exp(4.4 - 1.5 * X["size"] - 0.8 * np.abs(X["age"])))
    return X, np.where(rng.random(n_rows) < chance, "fraud", "fine")
