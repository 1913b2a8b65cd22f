"""What ensembles of gradient boosters share: the members, and their uncertainty."""

from collections.abc import Sequence
from typing import Any, ClassVar

from surefoot._exceptions import ParameterError
from surefoot._parameters import check_choice, check_integer, check_number
from surefoot.uncertainty.base import GradientBooster, SingleBooster
from surefoot.uncertainty.decomposition import Uncertainty, row_index
from surefoot.uncertainty.eval_sets import mean_losses
from surefoot.uncertainty.explanations.explained import ExplainedEnsemble
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import Member, members_uncertainty
from surefoot.uncertainty.offsets import GivenOffsets, new_offset


class EnsembleBooster(GradientBooster, ExplainedEnsemble):
    """Several models on one table that differ by Langevin noise or by the rows drawn for each tree."""

    method: str
    n_members: int
    _member_class: ClassVar[type[Any]]

    @property
    def _uses_langevin(self) -> bool:
        return self.method == "sglb"

    @property
    def _row_fraction(self) -> float:
        if self.subsample is None:
            return 1.0 if self.method == "sglb" else 0.5
        return float(self.subsample)

    def _check_parameters(self) -> None:
        check_choice("method", self.method, ("sglb", "sgb"))
        check_integer("n_members", self.n_members, 1)
        if self.subsample is not None:
            check_number("subsample", self.subsample, 0, 1, include_boundaries="right")
        super()._check_parameters()
        if self.method == "sgb" and not self._differs_by_seed:
            message = "subsample or max_features must be below 1 with method='sgb': otherwise all members are the same."
            raise ParameterError(message, argument="subsample")

    @property
    def _n_members(self) -> int:
        return int(self.n_members)

    def _new_member(self) -> SingleBooster:
        """An unfitted model with the parameters of one member."""
        member = self._member_class()
        parameters = {**self.get_params(deep=False), "warm_start": False}
        parameters |= {"subsample": self._row_fraction, "langevin": self._uses_langevin}
        return member.set_params(**{name: parameters[name] for name in member.get_params(deep=False)})

    def _uncertainty(self, X: Any, given: GivenOffsets) -> Uncertainty:
        columns = self._columns(X)  # first, because it checks that the model is fitted
        offset = new_offset(self.family_, given, columns.n_rows)
        return members_uncertainty(self._members, self.family_, columns, self.n_jobs, index=row_index(X), offset=offset)

    def _adopt(self, family: RegressionFamily | ClassificationFamily, members: Sequence[Member]) -> None:
        self.family_ = family
        self._members = list(members)
        self.validation_losses_ = mean_losses(members)
        self.estimators_ = []
        for member in members:
            estimator = self._new_member()
            for name in ("n_features_in_", "feature_names_in_", "_schema", "classes_"):
                if hasattr(self, name):
                    setattr(estimator, name, getattr(self, name))
            estimator._adopt(family, [member])
            self.estimators_.append(estimator)
