"""Tables, models and runs of ONNX files for the tests of exports."""

import numpy as np
import onnxruntime
import pandas as pd

MISSING = 0.1


def numbers(n_rows=300, seed=0):
    """A matrix with missing values and repeated values, and a target of numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 3] = np.round(3 * X[:, 3])
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) * (1 + (X[:, 3] > 0))
    X[rng.random(X.shape) < MISSING] = np.nan
    return X, y


def categories(n_rows=1500, seed=0, unseen=False):
    """A frame with few and many categories, of text, numbers and truth values; pairs of them matter."""
    rng = np.random.default_rng(seed)
    city, shop, colour = (rng.integers(0, n, n_rows) for n in (70, 60, 4))
    floor, flag, size = rng.integers(0, 5, n_rows), rng.random(n_rows) < 0.5, rng.normal(size=n_rows)
    y = np.sin(city) + np.where(colour == 2, size, -size) + (floor == 3) + np.sin(7 * city + 3 * colour)
    names = np.array([f"city {code}" for code in city], dtype=object)
    colours = np.array(["red", "green", "blue", "1.0"], dtype=object)[colour]
    if unseen:
        names[::7], colours[::5] = "elsewhere", "violet"
    for text in (names, colours):
        text[rng.random(n_rows) < MISSING] = None
    size[rng.random(n_rows) < MISSING] = np.nan
    frame = {
        "size": size,
        "city": pd.Categorical(names),
        "colour": pd.Categorical(colours),
        "floor": pd.Categorical(floor * 10),
        "flag": pd.Categorical(flag),
        "shop": pd.Categorical([f"shop {code}" for code in shop]),
    }
    return pd.DataFrame(frame), y + 0.3 * rng.normal(size=n_rows) + 0.5 * np.cos(1.3 * shop)


def run_onnx(proto, X):
    """The outputs of a model by name; a frame is passed column by column if the model has an input for each."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if len(inputs) == 1 and inputs[0].name == "X":
        feeds = {"X": np.asarray(X)}
    else:
        feeds = {each.name: one_column(X[each.name], each.type) for each in inputs}
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds), strict=True))


def one_column(series, kind):
    if kind == "tensor(string)":
        return np.array([["" if pd.isna(value) else value] for value in series], dtype=object)
    dtype = np.float64 if kind == "tensor(double)" else np.float32
    return series.to_numpy(dtype=dtype)[:, np.newaxis]


def as_dictionaries(frame):
    """The rows of a frame as dictionaries of Python values, None where a value is missing."""
    return [
        {name: None if pd.isna(value) else getattr(value, "item", lambda value=value: value)() for name, value in row}
        for row in (row.items() for row in frame.astype(object).to_dict("records"))
    ]


def thresholds_of(model):
    """Every threshold of a model fitted to a matrix, by column."""
    return [edges.thresholds for edges in model._members[0].encoding.edges]
