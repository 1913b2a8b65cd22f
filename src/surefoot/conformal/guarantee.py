"""What conformal prediction guarantees, in words."""


def guarantee_in_words(level: float, *, of_labels: bool, n_folds: int, by_group: bool, is_weighted: bool) -> str:
    """The guarantee, and what it assumes.

    With several folds, intervals of level 1 - alpha are guaranteed to contain 1 - 2 alpha (Barber et al. 2021).
    """
    what = "label sets" if of_labels else "intervals"
    guaranteed = level if n_folds == 1 else max(2 * level - 1, 0.0)
    which = "rows of each group" if by_group else "deployment rows" if is_weighted else "new rows"
    usual = "" if n_folds == 1 else f" About {100 * level:g}% are usual, but only {100 * guaranteed:g}% are guaranteed."
    if is_weighted:
        assumed = (
            "the target depends on the columns as in the training data, and the estimated weights are the true density "
            "ratio"
        )
    else:
        assumed = "the calibration rows and the new ones are a random sample of the same population"
        assumed += " within each group" if by_group else ""
    part = f"{100 * guaranteed:g}%"
    return (
        f"At least {part} of {which} have their target in these {what}, on average over calibration "
        f"rows and new rows, if {assumed}.{usual} It does not say that {part} hold for every kind of row."
    )
