"""Predict from the JSON of ``dump_model`` alone, one row at a time."""

import math


def predict(model, row):
    """The raw outputs of each member for a row, a dictionary from names of columns to values (None: missing)."""
    return [member_outputs(member, model, row) for member in model["members"]]


def member_outputs(member, model, row):
    known = {column["name"]: column.get("categories") for column in model["columns"]}
    outputs = list(member["start"])
    for tree in member["trees"]:
        node = tree[0]
        while "leaf" not in node:
            node = tree[node[side(node, member, known, row)]]
        outputs = [output + value for output, value in zip(outputs, node["leaf"], strict=True)]
    low, high = member["bounds"]
    outputs[-1] = max(outputs[-1], -math.inf if low is None else low)
    outputs[-1] = min(outputs[-1], math.inf if high is None else high)
    return outputs


def side(node, member, known, row):
    if "statistic" in node:
        value = statistic(member["statistics"][node["statistic"]], row)
    else:
        value = row[node["column"]]
        categories = known[node["column"]]
        if value is None or (categories is not None and value not in categories):
            return node["missing"]
    if "left_categories" in node:
        return "left" if value in node["left_categories"] else "right"
    return "left" if node["threshold"] is None or value <= node["threshold"] else "right"


def statistic(table, row):
    wanted = [row[column] for column in table["columns"]]
    if wanted in table["categories"]:
        return table["values"][table["categories"].index(wanted)]
    return table["other"]


def moments(model, outputs):
    """Mean and variance of the distribution that one member predicts."""
    family = model["distribution"]
    floor, cap = family["floor"], family["cap"]
    last = min(max(outputs[-1], floor), cap)
    if family["name"] == "poisson":
        mean = math.exp(family["log_mean"] + last)
        return mean, mean + family["dispersion"] * mean**2
    if family["name"] == "gamma":
        mean = math.exp(family["location"] + outputs[0])
        return mean, mean**2 / math.exp(last)
    location, scale = family["location"] + family["spread"] * outputs[0], family["spread"] * math.exp(last)
    if family["name"] == "lognormal":
        mean = math.exp(location + scale**2 / 2)
        return mean, mean**2 * math.expm1(scale**2)
    df = family.get("df", math.inf)
    factor = {"laplace": 2.0, "student_t": 1.0 if df == math.inf else df / (df - 2)}.get(family["name"], 1.0)
    return location, factor * scale**2


def probabilities(model, outputs):
    """Probabilities of the classes that one member predicts."""
    if model["distribution"]["name"] == "bernoulli":
        return [1 / (1 + math.exp(outputs[0])), 1 / (1 + math.exp(-outputs[0]))]
    top = max(outputs)
    exponentials = [math.exp(output - top) for output in outputs]
    return [each / sum(exponentials) for each in exponentials]
