"""When held-out rows no longer gain: from all parameters together, and then from the mean alone."""

from dataclasses import dataclass, field

SCALE_PATIENCE = 50  # rounds without a better held-out likelihood before the scale stops learning
LEAST_GAIN = 1e-3  # of the mean's loss, while patience lasts: less is not worth the time
NEGLIGIBLE = 1e-2  # part of the first round's loss of classes: what is left of it then is nothing to learn
LEAST_NLL_GAIN = 2e-4  # the same for classes and counts, whose loss is mostly noise that nothing could explain


@dataclass
class Stopping:
    """Held-out losses of every round, and what follows from them.

    The likelihood tells how long the scale of a distribution should learn. The mean gains for longer: it goes on, with
    the scale frozen, while its own loss falls (the deviance at one scale for all rows: of a Normal distribution the
    squared error).

    Parameters
    ----------
    patience : int or None
        Rounds without a gain before training ends; None: it never ends.
    has_scale : bool
        Whether the family of distributions has a scale.
    freezes_scale : bool
        Whether the scale is to be frozen before training ends.
    """

    patience: int | None
    has_scale: bool
    freezes_scale: bool
    nll: list[float] = field(default_factory=list)
    mean_loss: list[float] = field(default_factory=list)
    best_nll: int = 0  # the round with the best likelihood, while the scale learned
    best_mean: int = 0
    last_gain: int = 0  # the last round in which the mean (without a scale: the likelihood) had gained enough
    frozen_in: int | None = None  # the round in which it was noticed that the scale should learn no more

    def note(self, nll: float, mean_loss: float) -> bool:
        """Note the losses after one more round; return whether one of them is the least so far."""
        better_mean = self.best_mean == 0 or mean_loss < self.mean_loss[self.best_mean - 1]
        better_nll = self.frozen_in is None and (self.best_nll == 0 or nll < self.nll[self.best_nll - 1])
        self.nll.append(nll)
        self.mean_loss.append(mean_loss)
        self.best_nll = len(self.nll) if better_nll else self.best_nll
        self.best_mean = len(self.nll) if better_mean else self.best_mean
        least_gain = LEAST_GAIN if self.has_scale else LEAST_NLL_GAIN
        if self.last_gain == 0 or mean_loss < (1.0 - least_gain) * self.mean_loss[self.last_gain - 1]:
            self.last_gain = len(self.nll)
        return better_nll or (better_mean and self.freezes_scale)

    @property
    def n_rounds(self) -> int:
        return len(self.nll)

    @property
    def is_time_to_freeze(self) -> bool:
        waited = self.n_rounds - self.best_nll
        return self.freezes_scale and self.frozen_in is None and waited >= (self.patience or SCALE_PATIENCE)

    @property
    def n_trees(self) -> int:
        """The number of trees to keep."""
        return max(self.best_nll, self.best_mean) if self.freezes_scale else self.best_nll

    @property
    def is_at_end(self) -> bool:
        if self.patience is None or (self.freezes_scale and self.frozen_in is None):
            return False
        if not self.has_scale and self.mean_loss and 0 <= self.mean_loss[-1] < NEGLIGIBLE * self.mean_loss[0]:
            return True  # classes that columns separate: the loss would fall for ever
        last = self.last_gain if not self.has_scale else self.best_nll
        if self.freezes_scale:
            last = max(self.best_nll, self.last_gain)
        return self.n_rounds - last >= self.patience
