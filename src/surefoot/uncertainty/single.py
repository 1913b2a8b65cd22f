"""What a single gradient booster can do, whatever its target."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._parameters import check_boolean, check_number
from surefoot.uncertainty.base import GradientBooster
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_spec import FitSpec
from surefoot.uncertainty.member import Member, raw_outputs
from surefoot.uncertainty.shap_trees import shap_models
from surefoot.uncertainty.training import SingleRun, begin_runs, check_runs, resume_runs, train_members
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble


class ResumableBooster(GradientBooster):
    """Training that ``warm_start`` resumes from the trees of the last fit."""

    warm_start: bool

    def _check_parameters(self) -> None:
        check_boolean("warm_start", self.warm_start)
        super()._check_parameters()

    def _run(self, spec: FitSpec) -> list[Member]:
        """Train; with ``warm_start``, resume from the trees of the last fit, and keep the state to do so again.

        Without it, trial models find the number of trees, and the model is trained on all rows.
        """
        if not self.warm_start:
            self.__dict__.pop("_run_so_far", None)
            return train_members(spec, self._n_members)
        runs: list[SingleRun] = getattr(self, "_run_so_far", [])
        if runs and all(run.whole for run in runs):
            check_runs(runs, spec, self._n_members)
        else:
            runs = begin_runs(spec, self._n_members)
        members = resume_runs(runs, spec)
        self._run_so_far = runs
        return members


class SingleBooster(ResumableBooster):
    """One model: it can be cut short, monitored stage by stage, and taken for an ensemble."""

    langevin: bool

    @property
    def _uses_langevin(self) -> bool:
        return bool(self.langevin)

    @property
    def _row_share(self) -> float:
        return 1.0 if self.subsample is None else float(self.subsample)

    def _check_parameters(self) -> None:
        check_boolean("langevin", self.langevin)
        check_number("subsample", self.subsample, 0, 1, most_included=True)
        super()._check_parameters()

    @property
    def _n_members(self) -> int:
        return 1

    def _adopt(self, family: RegressionFamily | ClassificationFamily, members: Sequence[Member]) -> None:
        self.family_ = family
        self._members = list(members)
        self.n_trees_ = members[0].trees.forest.n_trees
        self.validation_nll_ = members[0].trees.held_out_nll

    def _member_raw(self, X: Any, cuts: Sequence[int]) -> np.ndarray:
        """Raw outputs of the model cut short after each number of trees, (cuts, outputs, rows)."""
        columns = self._columns(X)
        return raw_outputs(self._members, columns, self.n_jobs, cuts)

    def virtual_ensemble(self, n_members: int = 10) -> VirtualEnsemble:
        """Return an ensemble cut out of this model, without training.

        Parameters
        ----------
        n_members : int, default=10
            Number of members, at least 2; the model needs twice as many trees.

        Returns
        -------
        VirtualEnsemble
            Its ``predict_uncertainty`` gives total, data and knowledge uncertainty.
        """
        check_is_fitted(self)
        return VirtualEnsemble(self, n_members)

    def to_shap(self) -> dict[Hashable, dict[str, Any]]:
        """The trees in the form that ``shap.TreeExplainer`` takes, for each parameter of the distribution.

        SHAP values and the expected value add up to the parameter as the trees see it: of a normal distribution, ``mu``
        is in units of ``family_.spread`` from ``family_.location``. The last parameter is the sum of the trees before
        the bound that keeps the scale of a row from being much smaller than that of the others. Pass X as numbers,
        missing values as NaN. Models that split on categories are refused.

        Returns
        -------
        dict
            From each name in ``family_.parameters`` to a model; of three or more classes, from each label.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from surefoot import GradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> models = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y).to_shap()
        >>> list(models), len(models["mu"]["trees"])
        (['mu', 'log_sigma'], 20)
        >>> # shap.TreeExplainer(models["log_sigma"]).shap_values(X): what makes a prediction uncertain
        """
        check_is_fitted(self)
        labels = getattr(self, "classes_", np.empty(0)).tolist()
        outputs = labels if len(labels) > 2 else self.family_.parameters
        return shap_models(self._members[0], self._schema, outputs, getattr(self, "feature_names_in_", None))

    def _stages(self, X: Any) -> Iterator[np.ndarray]:
        """Raw outputs after one tree, after two, and so on."""
        columns = self._columns(X)
        member = self._members[0]
        codes = member.encoding.codes(columns, 0, columns.n_rows)
        partial = np.repeat(member.trees.start[:, np.newaxis], columns.n_rows, axis=1)
        for tree in range(self.n_trees_):
            member.trees.forest.add(codes, tree, tree + 1, partial)
            raw = partial * member.trees.shrink ** (tree + 1 - self.n_trees_)
            np.clip(raw[-1], *member.trees.bounds[tree], out=raw[-1])
            yield raw
