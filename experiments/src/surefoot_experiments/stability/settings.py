"""The sizes of a run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StabilitySettings:
    """The sizes of the paper's experiment, or of a quick run.

    ``fewer_bags`` are the further numbers of bags in figures 12 and 13. ``penalty_step`` is the step between the
    penalties of figure 11, which go up to 500. ``tree_left_out_bags`` is the number of bags for the weights without a
    row; it is smaller than ``tree_bags`` because trees are slow. The other parts use as many bags as with all rows.
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
        """The sizes of the experiment, or of a run that takes a minute or two."""
        if not quick:
            return cls()
        return cls(
            quick=True,
            regression_trials=6,
            regression_bags=500,
            larger_draws=2,
            larger_bags=500,
            dynamics_trials=4,
            dynamics_bags=300,
            fewer_bags=(10, 100),
            graph_bags=300,
            penalty_step=25,
            tree_draws=2,
            tree_bags=200,
            tree_left_out_bags=50,
        )
