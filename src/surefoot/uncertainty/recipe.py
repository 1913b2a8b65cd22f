"""How a model is trained."""

from dataclasses import dataclass

from surefoot.trees.gradient_grower import GrowthRules


@dataclass(frozen=True)
class Recipe:
    """How a model is trained; the same for all members of an ensemble."""

    n_estimators: int
    learning_rate: float
    rules: GrowthRules
    subsample: float = 1.0
    langevin: bool = False
    temperature: float | None = None  # None: one over the number of rows, as in the paper
    patience: int | None = None  # rounds without a better held-out likelihood before it stops; None: never
    runs_its_length: bool = True  # whatever held-out rows say

    @property
    def differs_by_seed(self) -> bool:
        """Whether models of other seeds shall differ; one that is alone is the same for all of them."""
        return self.langevin or self.subsample < 1.0
