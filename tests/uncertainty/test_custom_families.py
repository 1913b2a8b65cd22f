"""Families of the user's own: trained as the built-in ones are, and checked against scipy by ``check_family``."""

import pickle

import numpy as np
import pytest
from scipy import stats

import surefoot
from surefoot import BoostingEnsembleRegressor, DataError, GradientBoostingRegressor, ParameterError, metrics
from surefoot._exceptions import ModelFileError
from surefoot.uncertainty import CustomFamily, CustomLocationScaleFamily, Normal, StudentT, check_family
from surefoot.uncertainty.families import REGRESSION_FAMILIES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(800, 3))
SMALL = {"n_estimators": 30, "max_depth": 3, "random_state": 0}


@pytest.fixture(autouse=True)
def same_numbers_in_any_order(monkeypatch):
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(7))


class Gumbel(CustomLocationScaleFamily):
    name = "gumbel"

    def start(self, y, weights=None):
        return self.search_start(y, weights, [-0.45, np.log(0.78)])

    def gradient(self, raw, y):
        z = (y - raw[0]) / np.exp(raw[1])
        pull = 1 - np.exp(-z)
        return np.stack([pull / np.exp(raw[1]), z * pull - 1])

    def information(self, raw):
        return np.stack([np.exp(-2 * raw[1]), np.full(raw.shape[1], np.pi**2 / 6 + (1 - np.euler_gamma) ** 2)])

    def scipy_distribution(self, raw):
        return stats.gumbel_r(loc=raw[0], scale=np.exp(raw[1]))

    def nll(self, raw, y):
        raw = self.bounded(raw)
        z = (y - raw[0]) / np.exp(raw[1])
        return raw[1] + z + np.exp(-z)


class Exponential(CustomFamily):
    name, parameters, takes_exposure = "exponential", ("log_mean",), True

    def start(self, y, weights=None):
        return np.log(np.average(y, weights=weights))[np.newaxis]

    def gradient(self, raw, y):
        return y * np.exp(-raw) - 1

    def information(self, raw):
        return np.ones_like(raw)

    def scipy_distribution(self, raw):
        return stats.expon(scale=np.exp(raw[0]))


class OwnNormal(CustomLocationScaleFamily):
    """The normal distribution, written again, with its shape parameters given by position."""

    name = "own_normal"

    def start(self, y, weights=None):
        mean = np.average(y, weights=weights)
        return np.array([mean, 0.5 * np.log(np.average((y - mean) ** 2, weights=weights))])

    def gradient(self, raw, y):
        z = (y - raw[0]) * np.exp(-raw[1])
        return np.stack([z * np.exp(-raw[1]), z * z - 1])

    def information(self, raw):
        return np.stack([np.exp(-2 * raw[1]), np.full(raw.shape[1], 2.0)])

    def scipy_distribution(self, raw):
        return stats.norm(raw[0], np.exp(raw[1]))


class Geometric(CustomFamily):
    """Counts: the number of failures before a success."""

    name, parameters = "geometric", ("log_mean",)

    def start(self, y, weights=None):
        return np.log(np.average(y, weights=weights))[np.newaxis]

    def gradient(self, raw, y):
        return (y - np.exp(raw)) / (1 + np.exp(raw))

    def information(self, raw):
        return np.exp(raw) / (1 + np.exp(raw))

    def scipy_distribution(self, raw):
        return stats.nbinom(1, 1 / (1 + np.exp(raw[0])))


# --- check_family --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [Gumbel, Exponential, OwnNormal, Geometric])
def test_correct_families_pass(family):
    report = check_family(family())
    assert report.passed
    assert "FAIL" not in str(report)
    assert report.family == family.name


@pytest.mark.parametrize("name", sorted(set(REGRESSION_FAMILIES) - {"quantile"}))
def test_built_in_families_pass(name):
    tolerance = 1.0 if name in ("negative_binomial", "zero_inflated_poisson") else 0.05
    assert check_family(name, information_tolerance=tolerance).passed


class WrongSign(Exponential):
    def gradient(self, raw, y):
        return 1 - y * np.exp(-raw)


class WrongFactor(Gumbel):
    def gradient(self, raw, y):
        return super().gradient(raw, y) * np.array([[1.0], [1.05]])


class WrongInformation(Gumbel):
    def information(self, raw):
        return super().information(raw) * np.array([[1.0], [1.1]])


class WrongStart(Exponential):
    def start(self, y, weights=None):
        return np.log(np.median(y))[np.newaxis]


class WrongLikelihood(Exponential):
    def nll(self, raw, y):
        return raw[0] + y * np.exp(-raw[0]) + 0.1


class WrongDistribution(Exponential):
    def nll(self, raw, y):
        return raw[0] + y * np.exp(-raw[0])

    def scipy_distribution(self, raw):
        return stats.expon(scale=1.2 * np.exp(raw[0]))


class HalfDensity(stats.rv_continuous):
    def _pdf(self, x):
        return 0.5 * np.exp(-x)

    def _cdf(self, x):
        return -np.expm1(-x)

    def _ppf(self, q):
        return -np.log1p(-q)


half_density = HalfDensity(a=0.0, name="half_density")


class WrongDensity(Exponential):
    def scipy_distribution(self, raw):
        return half_density(scale=np.exp(raw[0]))


@pytest.mark.parametrize(
    ("family", "failed"),
    [
        (WrongSign, "gradients are derivatives of the likelihood"),
        (WrongFactor, "gradients are derivatives of the likelihood"),
        (WrongInformation, "information"),
        (WrongStart, "start"),
        (WrongLikelihood, "nll is minus the log of the density"),
        (WrongDistribution, "expected gradients are 0"),
        (WrongDensity, "the density adds up to the distribution function"),
    ],
)
def test_mistakes_are_found(family, failed):
    report = check_family(family(), raises=False)
    assert failed in {check.name for check in report.checks if not check.passed}
    with pytest.raises(ParameterError, match=f"FAIL {failed}"):
        check_family(family())


def test_a_class_that_cannot_be_pickled_is_reported():
    class Local(Exponential):
        pass

    report = check_family(Local(), raises=False)
    assert report.passed
    assert len(report.notes) == 1
    assert "note its models cannot be pickled" in str(report)
    assert check_family(Exponential()).notes == ()


def test_a_target_of_the_users_own_is_used():
    y = np.random.default_rng(1).exponential(50.0, 300)
    assert check_family(Exponential(), y).passed
    with pytest.raises(DataError, match="impossible under distribution='exponential'"):
        check_family(Exponential(), -y)


def test_a_start_of_the_wrong_shape_is_refused():
    class TwoStarts(Exponential):
        def start(self, y, weights=None):
            return np.zeros(2)

    with pytest.raises(ParameterError, match=r"1 parameters, but its start has shape \(2,\)"):
        GradientBoostingRegressor(distribution=TwoStarts(), **SMALL).fit(X, np.ones(len(X)))


def test_classes_without_their_methods_are_refused():
    with pytest.raises(ParameterError, match="distribution must be one of"):
        GradientBoostingRegressor(distribution=CustomFamily).fit(X, X[:, 0])


# --- training ------------------------------------------------------------------------------------------------------


def test_a_normal_distribution_written_again_is_that_of_the_library():
    y = 50 + 10 * X[:, 0] + 3 * np.exp(0.4 * X[:, 1]) * RNG.normal(size=len(X))
    own = GradientBoostingRegressor(distribution=OwnNormal(), **SMALL).fit(X, y)
    theirs = GradientBoostingRegressor(distribution="normal", **SMALL).fit(X, y)
    np.testing.assert_allclose(own.validation_loss_[:20], theirs.validation_loss_[:20], rtol=2e-3)
    assert np.abs(own.predict(X) - theirs.predict(X)).mean() < 0.02 * y.std()
    np.testing.assert_allclose(own.predict_distribution(X).std, theirs.predict_distribution(X).std, rtol=0.15)


def test_steps_of_the_normal_distribution_agree():
    y = 50 + 10 * X[:, 0]
    own, theirs = OwnNormal().fitted_to(y), Normal().fitted_to(y)
    raw = np.random.default_rng(3).normal(scale=0.5, size=(2, len(y)))
    stretch = 1 + RNG.random(len(y))
    found = []
    for family in (own, theirs):
        steps, scores = np.empty_like(raw), np.empty_like(raw)
        family.gradients(raw, family.internal(y), stretch, (0, len(y)), steps, scores)
        found.append((steps, scores))
    inside = (np.abs(found[0][1]) < 7.9).all(axis=0) & (raw[1] > own.floor)
    assert inside.mean() > 0.7
    np.testing.assert_allclose(found[0][0][:, inside], found[1][0][:, inside], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[0][1][:, inside], found[1][1][:, inside], rtol=1e-9, atol=1e-12)


def test_a_gumbel_model_is_nearly_as_likely_as_the_truth():
    table = np.random.default_rng(4).normal(size=(2500, 2))
    location, scale = 5 + 3 * table[:, 0], np.full(2500, 2.0)
    y = stats.gumbel_r.rvs(location, scale, random_state=1)
    train, new = slice(0, 1500), slice(1500, None)
    settings = {"random_state": 0, "max_depth": 3, "n_estimators": 100}
    model = GradientBoostingRegressor(distribution=Gumbel(), **settings).fit(table[train], y[train])
    predicted = model.predict_distribution(table[new])
    truth = -stats.gumbel_r.logpdf(y[new], location[new], scale[new]).mean()
    assert metrics.nll(y[new], predicted) < truth + 0.1
    normal = GradientBoostingRegressor(**settings).fit(table[train], y[train]).predict_distribution(table[new])
    assert metrics.nll(y[new], predicted) < metrics.nll(y[new], normal)
    low, high = predicted.interval(0.9)
    assert 0.82 < np.mean((low < y[new]) & (y[new] < high)) < 0.97
    expected = stats.gumbel_r(predicted.parameters["loc"], predicted.parameters["scale"])
    np.testing.assert_allclose(predicted.mean, expected.mean(), rtol=1e-9)
    np.testing.assert_allclose(predicted.quantile(0.3), expected.ppf(0.3), rtol=1e-9)


def test_exposures_multiply_the_mean_of_a_custom_family():
    exposure = RNG.gamma(1.0, 1.0, len(X)) + 0.1
    y = RNG.exponential(exposure * np.exp(X[:, 0]))
    one = GradientBoostingRegressor(distribution=Exponential(), **SMALL).fit(X, y, exposure=exposure)
    other = GradientBoostingRegressor(distribution=Exponential(), **SMALL).fit(X, y, exposure=4 * exposure)
    np.testing.assert_allclose(4 * other.predict(X), one.predict(X), rtol=1e-5)
    np.testing.assert_allclose(one.predict(X, exposure=exposure), one.predict(X) * exposure, rtol=1e-9)
    assert np.corrcoef(np.log(one.predict(X)), X[:, 0])[0, 1] > 0.9
    constant = GradientBoostingRegressor(distribution=Exponential(), early_stopping=False, n_estimators=1)
    constant.fit(np.zeros((len(X), 1)), y, exposure=exposure)
    start = constant._members[0].trees.start[0]
    assert np.exp(start) == pytest.approx(np.mean(y / exposure), rel=1e-5)  # the most likely constant


def test_counts_of_a_custom_family():
    y = RNG.geometric(1 / (1 + np.exp(0.5 + X[:, 0]))) - 1.0
    model = GradientBoostingRegressor(distribution=Geometric(), **SMALL).fit(X, y)
    assert model.predict_distribution(X).is_discrete
    assert np.corrcoef(np.log(model.predict(X)), X[:, 0])[0, 1] > 0.9


def test_the_log_of_a_density_may_be_above_0():
    """Early stopping must end training where losses are below 0."""
    y = 1e-6 * RNG.exponential(np.exp(0.3 * X[:, 0]))
    model = GradientBoostingRegressor(distribution=Exponential(), random_state=0, n_estimators=2000).fit(X, y)
    assert (model.validation_loss_ < 0).all()
    assert len(model.validation_loss_) < 400


@pytest.mark.parametrize("settings", [{"langevin": True}, {"subsample": 0.6}, {"early_stopping": False}])
def test_families_train_under_all_settings(settings):
    y = 5 + 3 * X[:, 0] + RNG.gumbel(size=len(X))
    for family in (Gumbel(), Exponential()):
        target = y if family.name == "gumbel" else np.exp(y / 4)
        model = GradientBoostingRegressor(distribution=family, **(SMALL | settings)).fit(X, target)
        assert np.corrcoef(model.predict(X), target)[0, 1] > 0.7


def test_ensembles_and_weights():
    y, weights = 5 + 3 * X[:, 0] + RNG.gumbel(size=len(X)), RNG.integers(0, 3, len(X)).astype(float)
    model = BoostingEnsembleRegressor(distribution=Gumbel(), n_members=2, **SMALL).fit(X, y, weights)
    uncertainty = model.predict_uncertainty(X)
    assert (uncertainty.knowledge > 0).all()
    assert uncertainty.data.mean() == pytest.approx(np.pi**2 / 6, rel=0.4)


def test_the_model_does_not_depend_on_threads():
    y = 5 + 3 * X[:, 0] + RNG.gumbel(size=len(X))
    one, two = (GradientBoostingRegressor(distribution=Gumbel(), n_jobs=k, **SMALL).fit(X, y) for k in (1, 2))
    assert (one.predict(X) == two.predict(X)).all()


def test_models_with_custom_families_are_pickled_but_not_saved(tmp_path):
    y = 5 + 3 * X[:, 0] + RNG.gumbel(size=len(X))
    model = GradientBoostingRegressor(distribution=Gumbel(), **SMALL).fit(X, y)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()
    with pytest.raises(ModelFileError, match="its distribution Gumbel is not one of"):
        surefoot.save(model, tmp_path / "m.surefoot")
    assert list(model.to_shap()) == ["mu", "log_sigma"]


def test_tolerances_are_checked():
    with pytest.raises(ParameterError, match="information_tolerance"):
        check_family(StudentT(), information_tolerance=0.0)
