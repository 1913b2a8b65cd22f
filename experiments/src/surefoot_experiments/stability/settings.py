"""How much of everything a run does."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StabilitySettings:
    """The experiment as the paper has it, or a quick look at it.

    ``fewer_bags`` are the numbers of bags of figures 12 and 13, apart from the experiment's own. ``penalty_step`` is
    that of figure 11, which tries penalties up to 500. Trees are slow: ``tree_left_out_bags`` are the bags behind the
    weights without a row, where the other parts take as many as behind the weights by all rows.
    """

    quick: bool = False
    regression_trials: int = 200
    regression_bags: int = 10_000
    larger_draws: int = 20
    larger_bags: int = 10_000
    dynamics_trials: int = 100
    dynamics_bags: int = 7_000
    fewer_bags: tuple[int, ...] = (10, 100, 1000)
    graph_bags: int = 10_000
    penalty_step: int = 1
    tree_draws: int = 20
    tree_bags: int = 10_000
    tree_left_out_bags: int = 5_000

    @classmethod
    def make(cls, quick: bool) -> "StabilitySettings":
        """Those of the experiment, or of a run that takes a minute or two."""
        if not quick:
            return cls()
        return cls(
            quick=True, regression_trials=6, regression_bags=500, larger_draws=2, larger_bags=500, dynamics_trials=4,
            dynamics_bags=300, fewer_bags=(10, 100), graph_bags=300, penalty_step=25, tree_draws=2, tree_bags=200,
            tree_left_out_bags=50,
        )  # fmt: skip
