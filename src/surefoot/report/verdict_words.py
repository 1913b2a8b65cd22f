"""Pieces of the verdict's sentences: numbers with their ranges, names that a verb can follow."""

from textwrap import shorten

from surefoot.report.answers import Accuracy, Calibration, Estimate, ModelScore, Subject
from surefoot.report.contestants import YOUR_PREDICTIONS
from surefoot.report.scoring import ERROR_RATE, RATES

QUESTIONS = (
    "Is it as accurate as the data allows?",
    "Does it know what it does not know?",
    "Would the conclusion survive dropping a row?",
    "Does it hold where it will be used?",
)
NAMES = ("accuracy", "uncertainty", "stability", "shift")
NO_TIME = "There was no time to find out."
MOST_LETTERS = 200  # of a set of models
LEAST_SLOPE, MOST_SLOPE = 0.8, 1.25  # of calibration, that nobody minds


def chosen(accuracy: Accuracy) -> ModelScore:
    """The model that cross-validation chose."""
    return next(model for model in accuracy.models if model.chosen)


def judged(accuracy: Accuracy) -> ModelScore:
    """The user's own model, or the one that cross-validation chose."""
    return next((model for model in accuracy.models if model.yours), chosen(accuracy))


def unpaired_difference(first: Estimate, second: Estimate) -> Estimate:
    """Difference of two independent estimates, its interval made from theirs (MOVER, Zou and Donner 2008)."""
    value = first.value - second.value
    below = ((first.value - first.low) ** 2 + (second.high - second.value) ** 2) ** 0.5
    above = ((first.high - first.value) ** 2 + (second.value - second.low) ** 2) ** 0.5
    return Estimate(value, value - below, value + above)


def listed(names: list[str]) -> str:
    """Names, with an "and" before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def gain_in_words(best: ModelScore, constant: ModelScore, measure: str) -> str:
    """How much better than the constant a model is."""
    if measure == ERROR_RATE:
        always = f"always saying the most frequent class is wrong on {constant.loss.value:.1%}"
        return f"wrong on {with_range(best.loss, measure)} of the held-out rows, where {always}"
    gain = best.gain
    return f"it explains {gain.value:.0%} of the variance of the held-out rows ({gain.low:.0%} to {gain.high:.0%})"


def ranking_in_words(best: ModelScore, accuracy: Accuracy, subject: Subject) -> str:
    """What a ranking error means."""
    rare = subject.classes[min(range(2), key=lambda place: subject.shares[place])]
    errors, constant, told = best.error_rate, accuracy.models[0].error_rate, ""
    if errors is not None and constant is not None:
        told = (
            f"; {accuracy.n_rare:,} held-out rows are {rare}, and its labels are wrong on {errors.value:.1%} of all, "
            f"those of the constant on {constant.value:.1%}"
        )
    return (
        f"predicts {subject.target}: of the pairs of a row that is {rare} and one that is not, it puts "
        f"{best.loss.value:.1%} in the wrong order ({best.loss.low:.1%} to {best.loss.high:.1%}), where chance would "
        f"put 50%{told}"
    )


def with_range(loss: Estimate, measure: str) -> str:
    """A loss and its interval."""
    low, high = (written(Estimate(edge, edge, edge), measure) for edge in (loss.low, loss.high))
    return f"{written(loss, measure)} ({low} to {high})"


def written(loss: Estimate, measure: str) -> str:
    """A loss, rates in percent."""
    return f"{loss.value:.1%}" if measure in RATES else f"{loss.value:.4g}"


def points(change: float, measure: str) -> str:
    """A change of a loss."""
    return f"{100 * change:.1f} points" if measure in RATES else f"{change:.3g}"


def apart_in_words(accuracy: Accuracy) -> str:
    """By how much a user's model is behind."""
    assert accuracy.behind is not None
    edges = (accuracy.behind.value, accuracy.behind.low, accuracy.behind.high)
    value, low, high = (points(edge, accuracy.behind_measure) for edge in edges)
    return f"{value} ({low.removesuffix(' points')} to {high.removesuffix(' points')}) on the same rows"


def bent_in_words(calibration: Calibration) -> str:
    """Whether probabilities are clearly too extreme or too timid, by more than anybody minds; nothing if not."""
    slope, change = calibration.slope, calibration.change
    if slope is None or change is None or change <= calibration.room:
        return ""
    if slope.low <= MOST_SLOPE and slope.high >= LEAST_SLOPE:
        return ""
    way = "are too timid" if slope.value > 1 else "are too extreme" if slope.high > 0 else "point the wrong way"
    return (
        f" Probabilities {way} (calibration slope {slope.value:.2f}, {slope.low:.2f} to {slope.high:.2f}; 1 is right): "
        f"set right, they would move by {100 * change:.1f} points on average."
    )


def called(model: ModelScore) -> str:
    """A name that a verb can follow."""
    return "the model of your predictions" if model.name == YOUR_PREDICTIONS else model.name


def constant_chosen(others: list[str]) -> str:
    """What to say if nothing beats the constant in cross-validation, but something does on held-out rows."""
    verb = "was" if len(others) == 1 else "were"
    return f"Cross-validation chose the constant; on held-out rows {listed(others)} {verb} better, which may be chance."


def cut(text: str) -> str:
    """The beginning of what would fill the verdict; the page has all of it."""
    return shorten(text, MOST_LETTERS, placeholder=" ... (in full below)")


def capital(text: str) -> str:
    """With a capital letter at the start."""
    return text[:1].upper() + text[1:]
