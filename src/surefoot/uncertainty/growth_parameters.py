"""The parameters of gradient boosters that decide how trees grow."""

from typing import Any

from surefoot._exceptions import ParameterError
from surefoot._parameters import check_choice, check_integer, check_number
from surefoot.data.binner import MAX_BINS
from surefoot.uncertainty.interactions import check_interactions

MAX_DEPTH = 10
MAX_LEAF_NODES = 31  # of leafwise trees, if it is not set
MAX_NOISE = 1e6  # in standard errors


class GrowthParameters:
    """Checks of these parameters, and what they mean together."""

    max_depth: int
    grow_policy: str
    min_samples_leaf: int
    l2_regularization: float
    max_bins: int
    interaction_cst: Any
    max_features: float
    max_leaf_nodes: int | None
    split_noise: Any

    @property
    def _uses_langevin(self) -> bool:
        raise NotImplementedError

    @property
    def _row_fraction(self) -> float:
        """Fraction of the rows that each tree is grown on."""
        raise NotImplementedError

    @property
    def _leaf_limit(self) -> int | None:
        """The maximum number of leaves of a tree; None: no maximum."""
        if self.grow_policy != "leafwise":
            return None
        return MAX_LEAF_NODES if self.max_leaf_nodes is None else int(self.max_leaf_nodes)

    @property
    def _noise_of_splits(self) -> float | None:
        """The noise in the choice of splits, in standard errors; None: the default."""
        return None if isinstance(self.split_noise, str) else float(self.split_noise)

    @property
    def _differs_by_seed(self) -> bool:
        """Whether trees are grown with noise that the seed decides."""
        draws = self._row_fraction < 1.0 or self.max_features < 1.0
        return self._uses_langevin or draws or bool(self._noise_of_splits)

    def _check_growth(self) -> None:
        check_integer("max_depth", self.max_depth, 1, MAX_DEPTH)
        check_choice("grow_policy", self.grow_policy, ("symmetric", "depthwise", "leafwise"))
        check_integer("min_samples_leaf", self.min_samples_leaf, 1)
        check_number("l2_regularization", self.l2_regularization, 0, 1e12, include_boundaries="both")
        check_integer("max_bins", self.max_bins, 2, MAX_BINS)
        check_interactions(self.interaction_cst)
        check_number("max_features", self.max_features, 0, 1, include_boundaries="right")
        if self.max_leaf_nodes is not None:
            check_integer("max_leaf_nodes", self.max_leaf_nodes, 2)
            if self.grow_policy != "leafwise":
                message = "max_leaf_nodes is for grow_policy='leafwise': leave it at None, and set max_depth."
                raise ParameterError(message, argument="max_leaf_nodes")
        self._check_split_noise()

    def _check_split_noise(self) -> None:
        name, noise = "split_noise", self.split_noise
        if noise is None or (isinstance(noise, str) and noise != "auto"):
            raise ParameterError(f"{name} must be 'auto' or a number, got {noise!r}.", argument=name)
        if not isinstance(noise, str):
            check_number(name, noise, 0, MAX_NOISE, include_boundaries="both")
