"""Question 2, does it know what it does not know? Probabilistic gradient boosting, ensembles and virtual ensembles."""

from surefoot.uncertainty.classifier import GradientBoostingClassifier
from surefoot.uncertainty.decomposition import Uncertainty
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.ensemble_classifier import BoostingEnsembleClassifier
from surefoot.uncertainty.ensemble_regressor import BoostingEnsembleRegressor
from surefoot.uncertainty.explanations.shap_values import ShapValues
from surefoot.uncertainty.families import (
    CustomFamily,
    CustomLocationScaleFamily,
    Gamma,
    Laplace,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    Quantile,
    StudentT,
    ZeroInflatedPoisson,
)
from surefoot.uncertainty.family_check import FamilyCheck, FamilyReport, check_family
from surefoot.uncertainty.fit_options import RoundReport
from surefoot.uncertainty.mixture import MixtureDistribution
from surefoot.uncertainty.quantiles import QuantileDistribution
from surefoot.uncertainty.regressor import GradientBoostingRegressor
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble

__all__ = [
    "BoostingEnsembleClassifier",
    "BoostingEnsembleRegressor",
    "CustomFamily",
    "CustomLocationScaleFamily",
    "Distribution",
    "FamilyCheck",
    "FamilyReport",
    "Gamma",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Laplace",
    "LogNormal",
    "MixtureDistribution",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "Quantile",
    "QuantileDistribution",
    "RoundReport",
    "ShapValues",
    "StudentT",
    "Uncertainty",
    "VirtualEnsemble",
    "ZeroInflatedPoisson",
    "check_family",
]
