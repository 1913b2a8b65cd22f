"""Question 2, does it know what it does not know? Probabilistic gradient boosting, ensembles and virtual ensembles."""

from surefoot.uncertainty.classifier import GradientBoostingClassifier
from surefoot.uncertainty.decomposition import Uncertainty
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.ensembles import BoostingEnsembleClassifier, BoostingEnsembleRegressor
from surefoot.uncertainty.families import Gamma, Laplace, LogNormal, Normal, Poisson, StudentT
from surefoot.uncertainty.mixture import MixtureDistribution
from surefoot.uncertainty.regressor import GradientBoostingRegressor
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
