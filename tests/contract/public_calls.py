"""Public functions and methods with arguments that work, so that each argument in turn can be replaced by a bad one."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import stats

import surefoot
from contract.registry import SUBJECTS
from surefoot import conformal, metrics, selection, uncertainty
from surefoot.selection import LassoSelector

TABLES = ("X", "X_target", "X_val", "X_new", "X_test", "X_ood", "X_train", "background")
NUMBERS = (
    "y", "y_true", "y_val", "y_pred", "y_test", "y_prob", "losses", "sample_weight", "sample_weight_val",
    "in_domain_weight", "out_of_domain_weight", "offset", "exposure",
)  # fmt: skip
FREE = ("in_domain", "out_of_domain", "uncertainty", "groups")  # infinite, of any number, or of any type


@dataclass(frozen=True)
class Call:
    """A function and arguments that work; ``kinds`` are those of arguments whose names say something else."""

    function: Callable[..., Any]
    good: Mapping[str, Any]
    has_labels: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)

    def kind(self, argument):
        if argument in self.kinds:
            return self.kinds[argument]
        if argument in TABLES:
            return "table"
        if argument in FREE:
            return "free numbers"
        if self.has_labels and argument in ("y", "y_true", "y_val", "y_test", "y_pred"):
            return "labels"
        return "numbers" if argument in NUMBERS else "parameter"


@cache
def example():
    """Small tables and models; nothing changes them."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 4))
    y = 3.0 * X[:, 0] + generator.normal(size=40)
    labels = (y > 0).astype(int)
    trees = {"n_estimators": 8, "max_depth": 2, "random_state": 0}
    selector = {"n_bags": 60, "epsilon": 0.3, "random_state": 0}
    made = {
        "regressor": surefoot.GradientBoostingRegressor(langevin=True, **trees).fit(X, y),
        "classifier": surefoot.GradientBoostingClassifier(langevin=True, **trees).fit(X, labels),
        "ensemble": surefoot.BoostingEnsembleRegressor(n_members=2, **trees).fit(X, y),
        "booster": surefoot.AdaBoostClassifier(n_estimators=5).fit(X, labels),
        "selector": surefoot.StableSelector(LassoSelector(alpha=0.2), **selector).fit(X, y),
        "graphs": surefoot.StableSelector(selection.GraphicalLassoSelector(alpha=0.2), **selector).fit(X),
    }
    parts = {
        "distribution": made["regressor"].predict_distribution(X),
        "mixture": made["ensemble"].predict_distribution(X),
    }
    parts |= {
        "probabilities": made["classifier"].predict_proba(X),
        "uncertainty": made["ensemble"].predict_uncertainty(X),
    }
    return SimpleNamespace(X=X, y=y, labels=labels, **made, **parts)


def of(function, has_labels=False, /, **good):
    return Call(function, good, has_labels)


def fits():
    """``fit`` of every estimator."""
    calls = {}
    for subject in SUBJECTS:
        X, y = subject.problem(40)
        settings = {name: own_model(subject) for name in ("model", "estimator") if name in subject.settings}
        good = {"X": X, "y": y} | ({"sample_weight": None} if subject.weights != "refused" else {})
        if subject.takes_validation:
            good |= {"X_val": X, "y_val": y, "sample_weight_val": None}

        def fit(subject=subject, settings=settings, **given):
            subject.make(**settings).fit(**given)

        calls[f"{subject.name}.fit"] = Call(fit, good, subject.is_classifier)
    return calls | fits_with_offsets() | fits_of_conformal()


def own_model(subject):
    """A model of surefoot: errors of other libraries' models are theirs."""
    kind = surefoot.GradientBoostingClassifier if subject.is_classifier else surefoot.GradientBoostingRegressor
    return kind(n_estimators=2, max_depth=1, early_stopping=False)


def fits_with_offsets():
    one = example()
    counts = surefoot.GradientBoostingRegressor(n_estimators=2, distribution="poisson")
    matrix = surefoot.VMatrixBoostingRegressor(n_estimators=2)
    return {
        "fit with offsets": of(counts.fit, X=one.X, y=np.abs(one.y).round(), offset=None, exposure=None),
        "VMatrixBoosting.fit with a target": of(matrix.fit, X=one.X, y=one.y, X_target=one.X),
        "VMatrixBoosting.fit with V": of(matrix.fit, X=one.X, y=one.y, V=np.eye(40)),
    }


def fits_of_conformal():
    one = example()
    return {
        "ConformalRegressor": of(
            conformal.ConformalRegressor(one.regressor, cv="prefit").fit, X=one.X, y=one.y, groups=None, X_target=None
        ),
        "ConformalClassifier": of(
            conformal.ConformalClassifier(one.classifier, cv="prefit").fit, True, X=one.X, y=one.labels, X_target=None
        ),
    }


def parameters():
    """The parameters of every estimator, which ``fit`` checks."""
    calls = {}
    for subject in SUBJECTS:
        X, y = subject.problem(40)

        def fit(subject=subject, X=X, y=y, **given):
            subject.make(**given).fit(X, y)

        wanted = subject.make().get_params(deep=False)
        for name in ("model", "estimator", "selector", "max_target"):  # objects of the user, and an old name
            wanted.pop(name, None)
        calls[f"{subject.name}'s parameters"] = Call(fit, wanted)
    return calls


def predictions():
    """Methods of fitted models."""
    one = example()
    X = one.X
    virtual = surefoot.VirtualEnsemble(one.regressor, 3)
    cut = surefoot.VirtualEnsemble(one.regressor, 3, method="truncation")
    intervals = surefoot.ConformalRegressor(one.regressor, cv="prefit").fit(X, one.y, np.repeat(["a", "b"], 20))
    sets = surefoot.ConformalClassifier(one.classifier, cv="prefit").fit(X, one.labels)
    return {
        "GradientBoostingRegressor.predict": of(one.regressor.predict, X=X, return_std=False, offset=None),
        "GradientBoostingRegressor.shap_values": of(one.regressor.shap_values, X=X, parameter=None, background=None),
        "GradientBoostingRegressor.staged_predict": of(lambda X: list(one.regressor.staged_predict(X)), X=X),
        "GradientBoostingClassifier.predict_proba": of(one.classifier.predict_proba, X=X, offset=None),
        "BoostingEnsembleRegressor.predict_uncertainty": of(one.ensemble.predict_uncertainty, X=X, offset=None),
        "BoostingEnsembleRegressor.shap_knowledge": of(one.ensemble.shap_knowledge, X=X, background=None),
        "AdaBoostClassifier.margins": of(one.booster.margins, True, X=X, y=one.labels),
        "VirtualEnsemble": of(surefoot.VirtualEnsemble, model=one.regressor, n_members=3, method="auto", X_train=None),
        "VirtualEnsemble.predict_members": of(virtual.predict_members, X=X),
        "VirtualEnsemble.predict_uncertainty": of(virtual.predict_uncertainty, X=X),
        "VirtualEnsemble.shap_knowledge": of(cut.shap_knowledge, X=X, background=None),
        "StableSelector.get_support": of(one.selector.get_support, indices=False, how="union"),
        "StableSelector.get_feature_names_out": of(one.selector.get_feature_names_out, input_features=None),
        "StableSelector.promised_delta": of(one.selector.promised_delta, epsilon=0.1),
        "StableSelector.leave_one_out": of(one.selector.leave_one_out, method="pool"),
        "ConformalRegressor.predict_interval": of(
            intervals.predict_interval, X=X, groups=np.repeat(["a", "b"], 20), confidence_level=0.9
        ),
        "ConformalClassifier.predict_set": of(sets.predict_set, X=X, confidence_level=0.9),
    }


def distributions():
    one = example()
    calls = {}
    for name, predicted in (("Distribution", one.distribution), ("MixtureDistribution", one.mixture)):
        for method in ("cdf", "pdf", "logpdf"):
            calls[f"{name}.{method}"] = Call(getattr(predicted, method), {"y": one.y}, kinds={"y": "free numbers"})
        calls[f"{name}.sample"] = of(predicted.sample, n=2, random_state=0)
        calls[f"{name}.interval"] = of(predicted.interval, level=0.9)
        calls[f"{name}.quantile"] = of(predicted.quantile, q=0.5)
    normal = partial(surefoot.Distribution, "normal", stats.norm)
    families = {name: getattr(uncertainty, name) for name in FAMILIES}
    calls |= {name: of(family, **parameters_of(family)) for name, family in families.items()}
    return calls | {
        "Distribution": of(lambda loc, scale: normal(loc=loc, scale=scale), loc=0.0, scale=1.0),
        "MixtureDistribution": of(uncertainty.MixtureDistribution, components=[one.distribution] * 2),
        "QuantileDistribution": of(uncertainty.QuantileDistribution, levels=(0.5,), values=one.y[np.newaxis]),
        "check_family": Call(
            uncertainty.check_family,
            {"family": "normal", "y": one.y, "information_tolerance": 0.5, "raises": True},
            kinds={"y": "free numbers"},
        ),
    }


FAMILIES = (
    "CustomFamily", "CustomLocationScaleFamily", "Gamma", "Laplace", "LogNormal", "NegativeBinomial", "Normal",
    "Poisson", "Quantile", "StudentT", "ZeroInflatedPoisson",
)  # fmt: skip
FITTED = ("location", "spread", "floor", "cap", "log_mean", "dispersion")  # fields of families that training fills


def parameters_of(family):
    return {name: one.default for name, one in inspect.signature(family).parameters.items() if name not in FITTED}


def measures():
    """Metrics."""
    one = example()
    y, near, size = one.y, one.y + np.linspace(0, 1, 40), np.abs(one.y)
    ranked = {"y_true": y, "y_pred": near, "uncertainty": size, "loss": "squared_error", "sample_weight": None}
    return {
        "nll": of(metrics.nll, y_true=y, prediction=one.distribution, labels=None, sample_weight=None),
        "nll of classes": of(metrics.nll, True, y_true=one.labels, prediction=one.probabilities, labels=[0, 1]),
        "crps": of(metrics.crps, y_true=y, distribution=one.mixture, sample_weight=None),
        "coverage": of(metrics.coverage, y_true=y, prediction=one.distribution, level=0.9, sample_weight=None),
        "ood_auc": of(metrics.ood_auc, in_domain=y, out_of_domain=y, in_domain_weight=None, out_of_domain_weight=None),
        "prediction_rejection_ratio": of(metrics.prediction_rejection_ratio, **ranked),
        "rejection_curve": of(metrics.rejection_curve, **ranked),
        "instability": of(metrics.instability, selected={"a"}, left_out=[{"a"}, {"b"}]),
        "utility_weighted_accuracy": of(metrics.utility_weighted_accuracy, truth="a", selected_sets=[{"a"}]),
        "mean_set_size": of(metrics.mean_set_size, sets=[{"a"}]),
        "voting_margins": of(metrics.voting_margins, tally=np.full((1, 40), 0.5), codes=one.labels),
    }


def selections():
    weights, members = np.array([0.5, 0.3, 0.2]), np.eye(3, dtype=bool)
    sizes = {"n_samples": 100, "bag_size": 0.5, "n_bags": None, "n_models": 5, "replace": False}
    calls = {
        "inflated_argmax": of(surefoot.inflated_argmax, weights=weights, epsilon=0.1),
        "stability_delta": of(surefoot.stability_delta, epsilon=0.1, **sizes),
        "stability_epsilon": of(surefoot.stability_epsilon, delta=0.5, **sizes),
        "solve_graphical_lasso": of(selection.solve_graphical_lasso, covariance=np.eye(3), alpha=0.1),
        "TopK": of(selection.TopK, k=1),
        "InclusionProbability": of(selection.InclusionProbability, tau=0.5),
        "InflatedArgmax": of(selection.InflatedArgmax, epsilon=0.1),
        "InclusionProbability.chosen_items": of(
            selection.InclusionProbability(0.5).chosen_items, weights=weights, members=members
        ),
        "ModelWeights": of(selection.ModelWeights, models=["a", "b"], weights=[0.5, 0.5]),
        "tree_text": of(selection.tree_text, model=("a", 0, 1)),
    }
    for rule in (selection.Argmax(), selection.TopK(1), selection.InflatedArgmax(0.1)):
        name = type(rule).__name__
        calls[f"{name}.choose"] = of(rule.choose, weights=weights)
        calls[f"{name}.choose_many"] = of(rule.choose_many, weights=weights[np.newaxis])
        calls[f"{name}.chosen_items"] = of(rule.chosen_items, weights=weights, members=members)
    return calls | selectors()


def selectors():
    """What a selector gets is checked when it is fitted."""
    one = example()

    def fitted(selector, y):
        def fit(**given):
            return surefoot.StableSelector(selector(**given), n_bags=20, epsilon=0.5, random_state=0).fit(one.X, y)

        return fit

    common = {"standardize": True, "missing": "error"}
    return {
        "LassoSelector": of(fitted(LassoSelector, one.y), alpha=0.2, **common),
        "LogisticLassoSelector": of(fitted(selection.LogisticLassoSelector, one.labels), C=0.2, **common),
        "GraphicalLassoSelector": of(fitted(selection.GraphicalLassoSelector, None), alpha=0.2, standardize=True),
        "ClusterCountSelector": of(
            fitted(selection.ClusterCountSelector, None), candidates=range(2, 4), n_init=1, standardize=True
        ),
        "FunctionSelector": of(fitted(selection.FunctionSelector, one.y)),
        "TreeSelector": of(fitted(selection.TreeSelector, one.y), missing="error", max_depth=2),
    }


def shifts():
    one = example()
    V = surefoot.VMatrix.from_target(one.X, one.X)
    order = {"kind": "mean", "orientation": "lower"}
    return {
        "shift_report": of(
            surefoot.shift_report, X=one.X, X_target=one.X, categorical_features=None, groups=None, max_rows=100,
            random_state=0, n_jobs=1,
        ),
        "VMatrix": of(surefoot.VMatrix, gram=V.gram),
        "VMatrix.from_target": of(surefoot.VMatrix.from_target, X=one.X, X_target=one.X, **order),
        "VMatrix.from_distributions": of(
            surefoot.VMatrix.from_distributions, X=one.X, distributions=[stats.norm()] * 4, orientation="lower"
        ),
        "VMatrix.from_dense": of(surefoot.VMatrix.from_dense, V=np.eye(40)),
        "VMatrix.quadratic": of(V.quadratic, losses=one.y),
        "vmatrix_error": of(surefoot.vmatrix_error, losses=one.y, n_target=10, one_feature=False, confidence=0.9),
        "vmatrix_target_size": of(surefoot.vmatrix_target_size, error=1.0, losses=one.y, confidence=0.9),
    }  # fmt: skip
