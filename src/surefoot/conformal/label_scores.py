"""How little a label conforms to the predicted probabilities of a row."""

import numpy as np

LAC, APS = "lac", "aps"
SCORES = (LAC, APS)
DIGITS = 6  # of the probabilities from which a row's random number is made: further ones may depend on the machine
MULTIPLIER, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


def label_scores(probabilities: np.ndarray, score: str) -> np.ndarray:
    """The score of every label of every row: (n_rows, n_labels), like the probabilities.

    "lac" is 1 minus the probability of the label. "aps" is the probability of all labels that are more probable, and a
    random fraction of its own. Without this random number, or with one half, sets are about those of "lac".
    """
    if score == LAC:
        return 1.0 - probabilities
    order = np.argsort(-probabilities, axis=1, kind="stable")
    descending = np.take_along_axis(probabilities, order, axis=1)
    before = np.cumsum(descending, axis=1) - descending
    scores = np.empty_like(probabilities)
    np.put_along_axis(scores, order, before + row_numbers(probabilities)[:, np.newaxis] * descending, axis=1)
    return scores


def row_numbers(probabilities: np.ndarray) -> np.ndarray:
    """A number between 0 and 1 for each row, made from its probabilities.

    So a row has the same set whenever and with whatever other rows it is predicted. The guarantee needs no more than
    one rule for all rows.
    """
    words = np.round(np.asarray(probabilities) * 10.0**DIGITS).astype(np.uint64)
    mixed = np.zeros(len(words), dtype=np.uint64)
    for word in words.T:
        mixed = (mixed + word + np.uint64(1)) * MULTIPLIER
        mixed ^= mixed >> SHIFT
    return np.asarray((mixed * MULTIPLIER >> np.uint64(11)) * 2.0**-53)


def sets_of(conforms: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """The labels of each set: those that conform, and always the most probable one.

    A set without labels would be of no use, and one more label never makes a set miss the truth more often.
    """
    members = conforms.copy()
    members[np.arange(len(members)), probabilities.argmax(axis=1)] = True
    return members


def set_lists(members: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> list[tuple[object, ...]]:
    """The labels of each row as a tuple, the most probable first."""
    labels = classes.tolist()
    orders = np.argsort(-probabilities, axis=1, kind="stable")
    return [tuple(labels[j] for j in order if member[j]) for order, member in zip(orders, members, strict=True)]
