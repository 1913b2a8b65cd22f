"""What linear models read: imputed and scaled numbers, and a column of 0 and 1 for each category."""

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

MAX_COLUMNS_OF_A_CATEGORY = 30


def linear_input_of(numbers: list[Any], categories: list[Any]) -> ColumnTransformer:
    """Numbers imputed and scaled, with missing-value indicators; categories one-hot encoded, rare ones combined."""
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_COLUMNS_OF_A_CATEGORY, sparse_output=False
    )
    return ColumnTransformer(
        [("numbers", make_pipeline(impute, StandardScaler()), numbers), ("categories", one_hot, categories)]
    )
