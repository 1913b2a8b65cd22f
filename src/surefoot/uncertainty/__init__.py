"""Question 2, does it know what it does not know? Probabilistic gradient boosting, ensembles and virtual ensembles."""

from surefoot.uncertainty.decomposition import Uncertainty
from surefoot.uncertainty.distribution import Distribution, MixtureDistribution
from surefoot.uncertainty.ensembles import BoostingEnsembleClassifier, BoostingEnsembleRegressor
from surefoot.uncertainty.families import Gamma, Laplace, LogNormal, Normal, Poisson, StudentT
from surefoot.uncertainty.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble

__all__ = [
    "BoostingEnsembleClassifier",
    "BoostingEnsembleRegressor",
    "Distribution",
    "Gamma",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Laplace",
    "LogNormal",
    "MixtureDistribution",
    "Normal",
    "Poisson",
    "StudentT",
    "Uncertainty",
    "VirtualEnsemble",
]
