"""The models of benchmarks/defaults.py: defaults of all libraries, with a common format of predictions."""

import warnings

import numpy as np
import pandas as pd
from scipy import stats

import surefoot
from surefoot.uncertainty.distribution import Distribution

MIN_SCALE = 1e-6  # relative to the standard deviation of the target: some models predict a variance of 0


def with_codes(frame):
    """The table with categories as codes, for models without categorical features."""
    coded = {c: frame[c].cat.codes.where(frame[c].cat.codes >= 0) for c in categories(frame)}
    return frame.assign(**coded).astype(np.float64)


def categories(frame):
    return [c for c in frame if isinstance(frame[c].dtype, pd.CategoricalDtype)]


def as_text(frame):
    return frame.assign(
        **{c: frame[c].astype(object).where(frame[c].notna(), "none").astype(str) for c in categories(frame)}
    )


def normal(mean, std, spread):
    return Distribution("normal", stats.norm, loc=mean, scale=np.maximum(std, MIN_SCALE * spread))


def make_surefoot(name, is_regression, seed, jobs):
    if name == "surefoot":
        kind = surefoot.GradientBoostingRegressor if is_regression else surefoot.GradientBoostingClassifier
    else:
        kind = surefoot.BoostingEnsembleRegressor if is_regression else surefoot.BoostingEnsembleClassifier
    options = {"method": "sgb"} if name.endswith("sgb") else {}
    return kind(random_state=seed, n_jobs=jobs, **options)


def predict_surefoot(name, train, y, test, is_regression, seed, jobs):
    model = make_surefoot(name, is_regression, seed, jobs).fit(train, y)
    return model.predict_distribution(test) if is_regression else model.predict_proba(test)


def predict_catboost(name, train, y, test, is_regression, seed, jobs):
    from catboost import CatBoostClassifier, CatBoostRegressor

    settings = {"random_seed": seed, "thread_count": jobs, "verbose": False, "allow_writing_files": False}
    settings["cat_features"] = categories(train)
    train, test = as_text(train), as_text(test)
    if not is_regression:
        return CatBoostClassifier(**settings).fit(train, y).predict_proba(test)
    if name == "CatBoost":
        return CatBoostRegressor(**settings).fit(train, y).predict(test)
    model = CatBoostRegressor(loss_function="RMSEWithUncertainty", **settings).fit(train, y)
    mean, variance = model.predict(test).T
    return normal(mean, np.sqrt(variance), y.std())


def predict_lightgbm(name, train, y, test, is_regression, seed, jobs):
    import lightgbm

    kind = lightgbm.LGBMRegressor if is_regression else lightgbm.LGBMClassifier
    names = {c: f"column {j}" for j, c in enumerate(train)}
    model = kind(random_state=seed, n_jobs=jobs, verbose=-1).fit(train.rename(columns=names), y)
    test = test.rename(columns=names)
    return model.predict(test) if is_regression else model.predict_proba(test)


def predict_hist(name, train, y, test, is_regression, seed, jobs):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if is_regression else HistGradientBoostingClassifier
    large = [c for c in categories(train) if len(train[c].cat.categories) > 255]
    train, test = (frame.assign(**with_codes(frame[large])) if large else frame for frame in (train, test))
    model = kind(random_state=seed).fit(train, y)
    return model.predict(test) if is_regression else model.predict_proba(test)


def predict_ngboost(name, train, y, test, is_regression, seed, jobs):
    from ngboost import NGBClassifier, NGBRegressor
    from ngboost.distns import k_categorical

    train, test = with_codes(train), with_codes(test)
    medians = train.median().fillna(0)
    train, test = train.fillna(medians).to_numpy(), test.fillna(medians).to_numpy()  # no support for missing values
    if is_regression:
        predicted = NGBRegressor(random_state=seed, verbose=False).fit(train, y).pred_dist(test)
        return normal(predicted.loc, predicted.scale, y.std())
    classes = np.unique(y)
    model = NGBClassifier(Dist=k_categorical(len(classes)), random_state=seed, verbose=False)
    return model.fit(train, np.searchsorted(classes, y)).predict_proba(test)


def predict_chimera(name, train, y, test, is_regression, seed, jobs):
    from chimeraboost import ChimeraBoostClassifier, ChimeraBoostRegressor

    kind = ChimeraBoostRegressor if is_regression else ChimeraBoostClassifier
    chosen = categories(train)
    model = kind(random_state=seed, thread_count=jobs, cat_features=chosen or None)
    model.fit(as_text(train), y)
    return model.predict(as_text(test)) if is_regression else model.predict_proba(as_text(test))


def predict_perpetual(name, train, y, test, is_regression, seed, jobs):
    from perpetual import PerpetualBooster

    n_classes = len(np.unique(y))
    train, test = with_codes(train), with_codes(test)
    model = PerpetualBooster(objective="SquaredLoss" if is_regression else "LogLoss", num_threads=jobs, seed=seed)
    codes = y if is_regression else np.searchsorted(np.unique(y), y)
    model.fit(train.to_numpy(), codes.astype(float))
    if is_regression:
        return model.predict(test.to_numpy())
    predicted = np.asarray(model.predict_proba(test.to_numpy()))
    predicted = np.stack([1 - predicted, predicted], axis=1) if predicted.ndim == 1 else predicted
    assert predicted.shape[1] == n_classes
    return predicted / predicted.sum(axis=1, keepdims=True)


MODELS = {
    "surefoot": predict_surefoot,
    "surefoot ensemble": predict_surefoot,
    "surefoot sgb": predict_surefoot,
    "CatBoost": predict_catboost,
    "CatBoost uncertainty": predict_catboost,
    "LightGBM": predict_lightgbm,
    "HistGradientBoosting": predict_hist,
    "NGBoost": predict_ngboost,
    "chimeraboost": predict_chimera,
    "perpetual": predict_perpetual,
}
REGRESSION_ONLY = ("CatBoost uncertainty",)


def predict(name, train, y, test, is_regression, seed, jobs):
    """Predict probabilities of classes, a distribution, or (some models) a number for each test row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name](name, train, y, test, is_regression, seed, jobs)
