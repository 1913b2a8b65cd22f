"""The instability, accuracy and set size of a kind of selection rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot.selection.guarantee import MAX_EPSILON, check_epsilon
from surefoot.selection.leave_one_out import compare_with_full
from surefoot.selection.rules import Argmax, InflatedArgmax, SelectionRule, TopK, unseen_would_enter

N_EPSILONS = 24
SIZES_OF_TOP_K = (2, 3, 4, 5, 6)
HALVINGS = 40
JUST_BELOW = 0.98  # of the epsilon at which all models enter at once: the curve below it is more informative


@dataclass(frozen=True)
class RuleCurve:
    """The results of a kind of rule over trials, at one value of its parameter (a setting) or at several.

    Parameters
    ----------
    label : str
        The kind of rule, such as "top-k".
    instabilities : array of shape (n_trials,)
        The instability in each trial, at the setting of the first panel.
    worst : array of shape (n_settings,)
        The largest instability over the trials, at each setting.
    accuracy : array of shape (n_settings,) or None
        The utility-weighted accuracy; None if the truth is not known.
    set_size : array of shape (n_settings,) or None
        The median number of selected models.
    setting : str or None
        The setting of the first panel, such as "k = 2".
    epsilons : array of shape (n_settings,) or None
        The settings of the inflated argmax. For a single trial, the first panel shows the instability against them.
    promised : array of shape (n_settings,) or None
        The guaranteed upper bounds of the instability.

    Examples
    --------
    >>> from surefoot.plots.rule_curve import RuleCurve
    >>> RuleCurve("top-k", [0.0, 0.1, 0.3], worst=[0.3, 0.1], set_size=[2, 3], setting="k = 2").worst
    array([0.3, 0.1])
    """

    label: str
    instabilities: Any
    worst: Any
    accuracy: Any = None
    set_size: Any = None
    setting: str | None = None
    epsilons: Any = None
    promised: Any = None

    def __post_init__(self) -> None:
        for name in ("instabilities", "worst", "accuracy", "set_size", "epsilons", "promised"):
            if getattr(self, name) is not None:
                values = np.asarray(getattr(self, name), dtype=np.float64)
                object.__setattr__(self, name, values)
                _check_values(self.label, name, values, values.size if name == "instabilities" else np.size(self.worst))


def _check_values(label: str, name: str, values: np.ndarray, length: int) -> None:
    if values.ndim != 1 or len(values) == 0 or len(values) != length:
        raise DataError(
            f"{name} of {label!r} must be one-dimensional, with a value for each "
            f"{'trial' if name == 'instabilities' else 'setting, like worst'}; got shape {values.shape}."
        )
    if name in ("instabilities", "worst", "accuracy") and not ((values >= 0) & (values <= 1)).all():
        raise DataError(f"{name} of {label!r} must be fractions, between 0 and 1.")


def curves_of(estimator: Any, epsilons: Sequence[float] | None, method: str) -> list[RuleCurve]:
    """Argmax, top-k and the inflated argmax on the bags of one fitted `StableSelector`."""
    weights = np.array(list(estimator.weights_.values()))
    inflations = _default_epsilons(estimator, weights) if epsilons is None else _checked(epsilons)
    rules = [Argmax(), *map(TopK, SIZES_OF_TOP_K), *map(InflatedArgmax, inflations.tolist())]
    worst = _instabilities(estimator, rules, method)
    sizes = np.array([_set_size(rule, weights) for rule in rules])
    tops, inflated = slice(1, 1 + len(SIZES_OF_TOP_K)), slice(1 + len(SIZES_OF_TOP_K), None)
    promised = [estimator.promised_delta(epsilon) for epsilon in inflations.tolist()]
    sweep: dict[str, Any] = {
        "worst": worst[inflated],
        "set_size": sizes[inflated],
        "epsilons": inflations,
        "promised": promised,
    }
    return [
        RuleCurve("inflated argmax", worst[-1:], **sweep),
        RuleCurve("top-k", worst[1:2], worst=worst[tops], set_size=sizes[tops], setting=f"k = {SIZES_OF_TOP_K[0]}"),
        RuleCurve("argmax", worst[:1], worst=worst[:1], set_size=sizes[:1]),
    ]


def _checked(epsilons: Sequence[float]) -> np.ndarray:
    if len(epsilons) == 0:
        raise ParameterError("epsilons is empty: give at least one, or None.")
    return np.sort([check_epsilon(epsilon, "epsilons") for epsilon in epsilons])


def _default_epsilons(estimator: Any, weights: np.ndarray) -> np.ndarray:
    """Evenly spaced up to the largest without unseen models among the selected, and the estimator's own epsilon."""
    low, high = 0.0, MAX_EPSILON
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if unseen_would_enter(weights, middle) else (middle, high)
    low *= JUST_BELOW
    grid = np.linspace(low / N_EPSILONS, low, N_EPSILONS)
    return np.unique([*grid, estimator.epsilon_]) if estimator.epsilon_ < low else grid  # false if it is NaN


def _set_size(rule: SelectionRule, weights: np.ndarray) -> float:
    """The number of selected models; NaN if models that no bag chose would be selected too."""
    if isinstance(rule, InflatedArgmax) and unseen_would_enter(weights, rule.epsilon):
        return float("nan")
    return float(rule.choose_many(weights[np.newaxis])[0].sum())


def _instabilities(estimator: Any, rules: Sequence[SelectionRule], method: str) -> np.ndarray:
    """The fraction of rows without which none of the selected models would be selected, for each rule."""
    disjoint, n_rows = np.zeros(len(rules)), 0
    for weights in estimator.left_out_weights(method):
        disjoint += [compare_with_full(rule, weights)[0].sum() for rule in rules]
        n_rows += len(weights.left_out)
    return disjoint / n_rows
