"""Polar coordinates of two columns: rings around the origin become separable by a line."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gapless.data.namespace import NamespaceMixin
from gapless.errors import InvalidInputError
from gapless.features.checks import check_input, input_names


class Polar(NamespaceMixin, TransformerMixin, BaseEstimator):
    r"""Replaces two columns (x, y) by (radius, angle); all other columns pass through unchanged.

        radius = √(x² + y²),    angle = the full-circle angle of (x, y) in (−π, π],    (0, 0) ↦ (0, 0).

    The angle is arctan2(y, x), as arctan(y/x) alone is the same for opposite points. The sign of a zero plays no part.

    Parameters
    ----------
    columns : pair of int, default (0, 1)
        The numbers of the columns x and y.

    Attributes
    ----------
    columns_ : tuple of int
        The pair that ``fit`` checked.
    n_features_in_, feature_names_in_
        Width and column names (where it has them) of the data seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.features import Polar
    >>> polar = Polar().fit([[3.0, 4.0]])
    >>> polar.transform([[0.0, 2.0], [-3.0, 0.0], [0.0, 0.0]])
    array([[2.        , 1.57079633],
           [3.        , 3.14159265],
           [0.        , 0.        ]])
    >>> polar.get_feature_names_out().tolist()
    ['radius(x0, x1)', 'angle(x0, x1)']
    """

    def __init__(self, columns: tuple[int, int] = (0, 1)) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that X has the two columns; nothing is learnt from its values."""
        columns = self.columns
        if (
            not isinstance(columns, Sequence | np.ndarray)
            or len(columns) != 2
            or not all(isinstance(j, Integral) and not isinstance(j, bool) and j >= 0 for j in columns)
            or columns[0] == columns[1]
        ):
            raise InvalidInputError(f"columns must be two different column numbers such as (0, 1); got {columns!r}.")
        pair = (int(columns[0]), int(columns[1]))
        X = check_input(self, X, reset=True, sparse=False)
        if max(pair) >= X.shape[1]:
            raise InvalidInputError(f"columns must be columns of X; got {pair}, but X has {X.shape[1]} feature(s).")
        self.columns_ = pair
        return self

    def transform(self, X: Any) -> np.ndarray:
        """A copy of X with the two columns in polar coordinates, in X's precision."""
        check_is_fitted(self)
        Z = check_input(self, X, reset=False, sparse=False).copy()
        first, second = self.columns_
        x, y = Z[:, first] + 0.0, Z[:, second] + 0.0  # −0 becomes 0: arctan2 would tell the two apart
        Z[:, first], Z[:, second] = np.hypot(x, y), np.arctan2(y, x)
        return Z

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The input's names, with ``radius(x, y)`` and ``angle(x, y)`` for the two columns x and y."""
        check_is_fitted(self)
        names = input_names(self, input_features)
        first, second = self.columns_
        pair = f"({names[first]}, {names[second]})"
        result = names.copy()
        result[first], result[second] = "radius" + pair, "angle" + pair
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
