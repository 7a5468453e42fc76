"""check_valid: is a kernel positive semi-definite on given data?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapless.data import check_matrix
from gapless.kernels.base import Kernel
from gapless.kernels.parameters import check_natural, check_nonnegative


@dataclass(frozen=True)
class ValidityReport:
    """What ``check_valid`` saw.

    Attributes
    ----------
    valid : bool
        Whether the Gram matrix is symmetric and positive semi-definite, within the tolerance.
    smallest_eigenvalue, largest_eigenvalue : float
        The extreme eigenvalues of the Gram matrix; NaN where the matrix is not finite.
    asymmetry : float
        The largest |Kᵢⱼ − Kⱼᵢ|.
    message : str
        The finding as a sentence.

    Examples
    --------
    >>> from gapless.kernels import ValidityReport
    >>> ValidityReport(True, 0.0, 2.0, 0.0, "Fine.").smallest_eigenvalue
    0.0
    """

    valid: bool
    smallest_eigenvalue: float
    largest_eigenvalue: float
    asymmetry: float
    message: str


def check_valid(kernel: Kernel, X: Any, tol: float = 1e-10, max_rows: int = 500, seed: int = 0) -> ValidityReport:
    r"""Test on data that a kernel is symmetric and positive semi-definite, to rounding.

    The Gram matrix K must satisfy
    :math:`\max_{ij}\lvert K_{ij} - K_{ji}\rvert \le \mathrm{tol}\cdot\max_{ij}\lvert K_{ij}\rvert` and
    :math:`\lambda_{\min} \ge -\mathrm{tol}\cdot\max_i\lvert\lambda_i\rvert`. Passing is no proof; failing is a refutation.

    Parameters
    ----------
    kernel : Kernel
        The kernel to test.
    X : array or sparse matrix of shape (n_samples, n_features)
        The samples to test it on.
    tol : float, default 1e-10
        The tolerance in the two conditions above.
    max_rows : int, default 500
        Where X has more rows, so many of them are drawn.
    seed : int, default 0
        The seed of that draw.

    Returns
    -------
    ValidityReport
        The verdict, the figures behind it, and a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.kernels import RBF, Sigmoid, check_valid
    >>> X = np.arange(10.0).reshape(5, 2)
    >>> check_valid(RBF(gamma=0.1), X).valid
    True
    >>> check_valid(Sigmoid(gamma=1.0, coef0=-20.0), X).message
    'The kernel is not positive semi-definite on 5 rows: the Gram matrix has eigenvalues from -2 to 4.37.'
    """
    check_nonnegative("tol", tol)
    check_natural("max_rows", max_rows)
    X = check_matrix(X)
    n = X.shape[0]
    rows = f"{n} rows"
    if n > max_rows:
        chosen = np.sort(np.random.default_rng(seed).choice(n, max_rows, replace=False))
        X = X[chosen]
        rows = f"{max_rows} of {n} rows"
    K = kernel.block(X, X)
    if not np.isfinite(K).all():
        nan = float("nan")
        return ValidityReport(False, nan, nan, nan, f"The kernel is not finite on {rows}.")
    asymmetry = float(np.abs(K - K.T).max())
    eigenvalues = np.linalg.eigvalsh((K + K.T) / 2)
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    spectrum = f"the Gram matrix has eigenvalues from {smallest:.3g} to {largest:.3g}"
    valid = False
    if asymmetry > tol * float(np.abs(K).max()):
        message = f"The kernel is not symmetric on {rows}: k(x, z) and k(z, x) differ by up to {asymmetry:.3g}."
    elif smallest < -tol * max(-smallest, largest):
        message = f"The kernel is not positive semi-definite on {rows}: {spectrum}."
    else:
        valid = True
        message = f"The kernel is positive semi-definite on {rows}, to rounding: {spectrum}."
    return ValidityReport(valid, smallest, largest, asymmetry, message)
