"""The record of one conclusion, from the choices of its bags."""

from typing import Any

from surefoot._formatting import rounded_up
from surefoot.report.sections.sentences import listed
from surefoot.report.sections.stability.bags import MAX_INSTABILITY, MIN_LEAD, Bagged, SmallestSum, upper_limit
from surefoot.report.sections.stability.findings import StableSet
from surefoot.selection.chosen_models import expression_of

WINNER, LEADING = "winner", "leading column"
NO_COLUMN = "no column"
SHOWN_MODELS = 8
SMALL_BAGS = 0.25  # fraction of the rows: smaller bags show much less than all rows do
NO_RETRAINING = (
    "This is about dropping a {unit} from the comparison. It is not about training without that {unit}: the models "
    "that predicted the other {unit}s were trained on it."
)


def stable_set(name: str, bagged: Bagged, remarks: tuple[str, ...] = ()) -> StableSet:
    """The choice from all units, and the stable set of the choices from bags."""
    order = sorted(range(len(bagged.models)), key=lambda position: -bagged.weights[position])
    n_disjoint, n_left_out = bagged.n_disjoint, bagged.n_left_out
    limit, (n_changed, n_dropped) = upper_limit(n_disjoint, n_left_out), bagged.changes
    stays = max(limit, upper_limit(n_changed, n_dropped) if n_dropped else 0.0) < MAX_INSTABILITY
    lead = bagged.prepared.lead if isinstance(bagged.prepared, SmallestSum) else None
    is_clear = lead is None or lead >= MIN_LEAD
    holds = not bagged.undecided and bagged.selected == [bagged.single] and stays and is_clear
    return StableSet(
        selector=name,
        single=in_words(bagged.single),
        single_weight=bagged.weight_of(bagged.single),
        stable=_expression(bagged),
        n_models=len(bagged.selected),
        models=tuple((in_words(bagged.models[k]), float(bagged.weights[k])) for k in order[:SHOWN_MODELS]),
        inclusion=_inclusion(bagged),
        undecided=bagged.undecided,
        claim_inside=bagged.single in bagged.selected,
        holds=holds,
        lead=lead,
        guarantee=_guarantee(name, bagged),
        delta=bagged.delta,
        instability=n_disjoint / n_left_out,
        instability_limit=limit,
        n_left_out=n_left_out,
        single_changed=n_changed,
        n_dropped=n_dropped,
        n_units=len(bagged.units),
        unit=bagged.units.name,
        n_bags=bagged.n_bags,
        bag_size=bagged.units.bag_size,
        remarks=(*remarks, *_size_remark(bagged)),
    )


def _size_remark(bagged: Bagged) -> tuple[str, ...]:
    size, n_units, unit = bagged.units.bag_size, len(bagged.units), bagged.units.name
    if size >= SMALL_BAGS * n_units:
        return ()
    return (f"Bags contain {size:,} of {n_units:,} {unit}s: effects that need more are not in the stable set.",)


def in_words(model: Any) -> str:
    """A set of columns, or of models, as a list of names."""
    return listed([str(name) for name in model]) if model else NO_COLUMN


def _expression(bagged: Bagged) -> str:
    if bagged.undecided:
        return "none: the bags make too many different choices"
    items = None if bagged.prepared.items is None else [str(item) for item in bagged.prepared.items]
    return expression_of(bagged.selected, items).replace("nothing", NO_COLUMN)


def _inclusion(bagged: Bagged) -> tuple[tuple[str, float], ...]:
    """Each item, and the fraction of the bags whose choice contains it."""
    fractions: dict[str, float] = {}
    for model, weight in zip(bagged.models, bagged.weights, strict=True):
        for item in model:
            fractions[str(item)] = fractions.get(str(item), 0.0) + float(weight)
    return tuple(sorted(fractions.items(), key=lambda pair: -pair[1]))


def _guarantee(name: str, bagged: Bagged) -> str:
    """The guarantee of theorem 4.2 for the set, and its limits."""
    unit, n_units = bagged.units.name, len(bagged.units)
    if bagged.undecided:
        return "There is no guarantee, because the bags do not decide between the choices."
    if bagged.delta * n_units < 1:
        promise = f"There is no {unit} without which the set would share no choice with this one."
    else:
        fraction = f"{100 * float(rounded_up(bagged.delta)):.3g}%"
        promise = f"For at most {fraction} of the {unit}s, the set without that {unit} shares no choice with this one."
    is_comparison = name in (WINNER, LEADING)
    scope = NO_RETRAINING.format(unit=unit) if is_comparison else "It does not say that any of them is right."
    return f"{promise} {scope}"
