"""Families of distributions that boosted trees can predict, one in each file."""

from surefoot.uncertainty.families.base import RATIO_MAX, Z_MAX, RegressionFamily
from surefoot.uncertainty.families.bernoulli import Bernoulli
from surefoot.uncertainty.families.categorical import Categorical
from surefoot.uncertainty.families.classification import ClassificationFamily
from surefoot.uncertainty.families.custom import CustomFamily, CustomLocationScaleFamily
from surefoot.uncertainty.families.gamma import Gamma
from surefoot.uncertainty.families.laplace import Laplace
from surefoot.uncertainty.families.lognormal import LogNormal
from surefoot.uncertainty.families.negative_binomial import NegativeBinomial
from surefoot.uncertainty.families.normal import Normal
from surefoot.uncertainty.families.poisson import Poisson
from surefoot.uncertainty.families.quantile import Quantile
from surefoot.uncertainty.families.student_t import StudentT
from surefoot.uncertainty.families.zero_inflated_poisson import ZeroInflatedPoisson

__all__ = [
    "DISPERSED",
    "RATIO_MAX",
    "REGRESSION_FAMILIES",
    "Z_MAX",
    "Bernoulli",
    "Categorical",
    "ClassificationFamily",
    "CustomFamily",
    "CustomLocationScaleFamily",
    "Gamma",
    "Laplace",
    "LogNormal",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "Quantile",
    "RegressionFamily",
    "StudentT",
    "ZeroInflatedPoisson",
]

REGRESSION_FAMILIES: dict[str, type[RegressionFamily]] = {
    family.name: family
    for family in (
        Normal,
        LogNormal,
        Laplace,
        StudentT,
        Poisson,
        Gamma,
        NegativeBinomial,
        ZeroInflatedPoisson,
        Quantile,
    )
}

DISPERSED = (Normal, Poisson)  # families with a dispersion that is fitted to held-out rows
