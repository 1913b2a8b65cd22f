"""Fitted models of other libraries as sequences of trees, through the public predictions of these libraries.

No library is imported here: the library of a model is already imported.
"""

from typing import Any

from surefoot.uncertainty.adapters.base import TreeSequence, refusal

__all__ = ["adapter_for"]


def adapter_for(model: Any) -> TreeSequence:
    """The adapter for a model, by the library that its class or one of its base classes is from."""
    packages = {base.__module__.split(".")[0] for base in type(model).__mro__}
    if not hasattr(model, "predict"):  # a table of one of these libraries, for example
        raise refusal(model, "has no predict")
    if "surefoot" in packages:
        raise refusal(model, "does not grow one sequence of trees", "Pass surefoot's GradientBoosting models instead")
    if "lightgbm" in packages:
        from surefoot.uncertainty.adapters.lightgbm import LightGBMModel

        return LightGBMModel(model)
    if "xgboost" in packages:
        from surefoot.uncertainty.adapters.xgboost import XGBoostModel

        return XGBoostModel(model)
    if "catboost" in packages:
        from surefoot.uncertainty.adapters.catboost import CatBoostModel

        return CatBoostModel(model)
    if "sklearn" in packages:  # last: the models above are scikit-learn estimators too
        from surefoot.uncertainty.adapters.scikit_learn import scikit_learn_sequence

        return scikit_learn_sequence(model)
    raise refusal(model, "is not a tree model that surefoot supports")
