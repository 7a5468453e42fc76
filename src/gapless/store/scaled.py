"""A StandardScaler in front of a model: what a file keeps of the scaler, and the pipeline that such a file is loaded as."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapless.errors import InvalidInputError
from gapless.store.values import Reader, Writer

# The class that a file of a scaler and a model names. Versions of Gapless that do not know it refuse the file, rather than leave the scaler out.
PIPELINE = "Pipeline"
_FITTED = ("mean_", "var_", "scale_", "n_samples_seen_", "n_features_in_", "feature_names_in_")
_NUMBERS = ("mean_", "var_", "scale_")


def split(model: Any) -> tuple[Any, Any]:
    """(scaler, estimator) of a pipeline of the two; (None, model) of anything else.

    >>> import gapless
    >>> from gapless.store.scaled import split
    >>> split(gapless.SVC())
    (None, SVC())
    """
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    if isinstance(model, Pipeline) and len(model.steps) == 2 and type(model[0]) is StandardScaler:
        return model[0], model[1]
    return None, model


def joined(scaler: Any, estimator: Any) -> Any:
    """The pipeline of a scaler and an estimator, both fitted; the estimator itself where there is no scaler."""
    from sklearn.pipeline import make_pipeline

    if scaler is None:
        return estimator
    if scaler.n_features_in_ != estimator.n_features_in_:
        raise InvalidInputError(
            f"its scaler has {scaler.n_features_in_!r} features, and its model {estimator.n_features_in_!r}"
        )
    return make_pipeline(scaler, estimator)


def scaler_forms(scaler: Any, writer: Writer) -> dict[str, Any]:
    """The JSON form of a fitted scaler, whose arrays the writer collects."""
    state = {name: getattr(scaler, name) for name in _FITTED if hasattr(scaler, name)}
    return {
        "parameters": {key: writer.encode(value, f"scaler.{key}") for key, value in scaler.get_params().items()},
        "fitted": {name: writer.encode(value, f"scaler.{name}") for name, value in state.items()},
    }


def restored_scaler(forms: dict[str, Any], reader: Reader) -> Any:
    """The scaler of a JSON form; an error where its numbers are not such as a fit sets."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(**{key: reader.decode(form) for key, form in forms["parameters"].items()})
    for name, form in forms["fitted"].items():
        if name not in _FITTED:
            raise InvalidInputError(f"a StandardScaler has no attribute {name!r}")
        setattr(scaler, name, reader.decode(form))
    for name in _NUMBERS:
        _check_numbers(name, getattr(scaler, name), scaler.n_features_in_)
    used = (scaler.with_mean, scaler.mean_), (scaler.with_std, scaler.scale_)
    if any(wanted and numbers is None for wanted, numbers in used):
        raise InvalidInputError("its scaler lacks the numbers to scale by")
    if scaler.scale_ is not None and not (scaler.scale_ > 0).all():
        raise InvalidInputError("its scaler divides by numbers that are not positive")
    return scaler


def _check_numbers(name: str, numbers: Any, width: Any) -> None:
    if numbers is None:
        return
    if not isinstance(numbers, np.ndarray) or numbers.shape != (width,) or numbers.dtype.kind != "f":
        raise InvalidInputError(f"its scaler's {name} does not have a number for each feature")
    if not np.isfinite(numbers).all():
        raise InvalidInputError(f"its scaler's {name} is not finite")
