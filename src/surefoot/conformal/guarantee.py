"""What conformal prediction guarantees, as a number and in words."""

from math import floor


def guaranteed_coverage(level: float, n_rows: int, n_folds: int) -> float:
    """The guaranteed fraction of new rows that are covered.

    For a single model it is the level, 1 - alpha. For models of folds (CV+) it is 1 - 2 alpha, less a term for folds of
    several rows (Barber et al. 2021, theorem 4).
    """
    if n_folds == 1:
        return level
    of_large_folds = 2 * (1 - 1 / n_folds) / (n_rows // n_folds + 1)
    of_many_folds = (1 - n_folds / n_rows) / (n_folds + 1) if n_rows else 1.0
    return max(2 * level - 1 - min(of_large_folds, of_many_folds), 0.0)


def in_percent(fraction: float) -> str:
    """A guaranteed fraction in whole percent, never rounded up."""
    return f"{floor(100 * fraction + 1e-9)}%"


def guarantee_in_words(
    level: float, guaranteed: float | None, *, of_labels: bool, by_group: bool, is_weighted: bool
) -> str:
    """The guarantee, and what it assumes; ``guaranteed`` is None if nothing is proved."""
    what, usual = "label sets" if of_labels else "intervals", f"{100 * level:g}%"
    if guaranteed is None:
        return (
            f"About {usual} of deployment rows have their target in these {what}. Nothing is guaranteed: there is no "
            "such theorem for models of several folds with weights. With cv='split' there is."
        )
    which = "rows of each group" if by_group else "deployment rows" if is_weighted else "new rows"
    assumed = "the calibration rows and the new ones are a random sample of the same population"
    if is_weighted:
        assumed = "the target depends on the columns as in the training data, and the estimated weights are right"
    within = " within each group" if by_group else ""
    part, about = in_percent(guaranteed), f" About {usual} are usual." if guaranteed < level else ""
    return (
        f"At least {part} of {which} have their target in these {what}, on average over calibration rows and new rows, "
        f"if {assumed}{within}.{about} It does not say that {part} hold for every kind of row."
    )
