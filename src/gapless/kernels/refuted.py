"""Numbers that a positive semi-definite kernel cannot have: what refutes a kernel that is valid by assumption alone.

Nothing here proves that a kernel is valid. What is looked at costs next to nothing: each 2 × 2 minor of a matrix that is in memory, one
factorisation of a few samples, and the squares βᵀKβ that a proof computes anyway.

Entries may be rounded: a matrix E of rounding errors, of which none is above τ·max|K|, makes an eigenvalue that is zero a little negative. Nothing is
refuted that such errors may explain.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

_TERMS = (
    2.0**16
)  # τ is so many roundings: those of an inner product of 65,536 terms, or of a function that is a little off
_UNITS = {True: 2.0**-24, False: 2.0**-53}  # the relative error of one operation in float32, and in float64
ROUNDED = _TERMS * _UNITS[False]
"""τ where nothing tells of float32."""
FEW = 48
"""So many samples, spread over all, are factorised: a tenth of a millisecond."""
_ASYMMETRY = 1e-8  # how far entries may be from their mirror images, relative to the largest: the _SYMMETRY_TOLERANCE of custom.py
_CHECK_ENTRIES = 2**16  # entries that are compared at a time: half a megabyte, which stays in the cache

NOT_VALID = "The kernel is not positive semi-definite, so that no dual value bounds the optimum"
NOT_SYMMETRIC = "The kernel is not symmetric, so that no dual value bounds the optimum"


def entry_rounding(gram: np.ndarray) -> float:
    """τ: how far entries may be from those of a positive semi-definite matrix by rounding alone, relative to the largest entry.

    Numbers that float32 holds, and that are not whole, are taken for results of float32.

    >>> import numpy as np
    >>> entry_rounding(np.array([[1.0, 0.1], [0.1, 1.0]])) < 1e-11 < entry_rounding(np.array([[1.0, 0.1], [0.1, 1.0]], dtype=np.float32))
    True
    """
    some = np.concatenate([gram.diagonal(), gram[0]])
    with np.errstate(over="ignore"):
        single = bool((some.astype(np.float32) == some).all()) and not bool((some == np.rint(some)).all())
    return _TERMS * _UNITS[single]


def refutation(gram: np.ndarray) -> str:
    """A sentence that tells why no positive semi-definite matrix rounds to this symmetric one; empty where nothing tells so.

    >>> import numpy as np
    >>> refutation(np.array([[4.0, 2.0], [2.0, 1.0]]))
    ''
    >>> refutation(np.array([[0.4, 0.5], [0.5, 0.6]]))
    'The kernel is not positive semi-definite, so that no dual value bounds the optimum: k(x, z)² = 0.25 is above k(x, x) k(z, z) = 0.24.'
    """
    diagonal = gram.diagonal().astype(np.float64)
    error = entry_rounding(gram) * max(
        float(diagonal.max()), 0.0
    )  # no entry of a valid matrix is larger than the largest of its diagonal
    least = int(diagonal.argmin())
    if diagonal[least] < -error:
        return f"{NOT_VALID}: k(x, x) = {diagonal[least]:g} is negative."
    # With entries off by at most `error` |k(x, z)| ≤ √(k(x, x) + error) √(k(z, z) + error) + error, and 4 · error in the roots covers the last term.
    roots = np.sqrt(np.maximum(diagonal, 0.0) + 4.0 * error) + 1e-300
    step, inverse = max(1, _CHECK_ENTRIES // len(gram)), 1.0 / roots
    for begin in range(0, len(gram), step):
        part = slice(begin, begin + step)
        cosines = gram[part, begin:] * inverse[begin:]  # the other entries are the mirror images of these
        far = np.maximum(cosines.max(axis=1), -cosines.min(axis=1)) > roots[part] * (1.0 + 1e-12)
        if far.any():
            i = begin + int(far.argmax())
            j = begin + int(np.abs(gram[i, begin:] * inverse[begin:]).argmax())
            square, product = float(gram[i, j]) ** 2, float(diagonal[i] * diagonal[j])
            return f"{NOT_VALID}: k(x, z)² = {square:g} is above k(x, x) k(z, z) = {product:g}."
    some = np.unique(np.linspace(0, len(gram) - 1, min(FEW, len(gram))).astype(np.int64))
    block = gram[np.ix_(some, some)].astype(np.float64)
    apart = np.abs(block - block.T)
    if float(apart.max()) > max(2.0 * error, _ASYMMETRY * float(np.abs(block).max())):
        i, j = divmod(int(apart.argmax()), len(some))
        return f"{NOT_SYMMETRIC}: k(x, z) = {block[i, j]:g} where k(z, x) = {block[j, i]:g}."
    block = 0.5 * (block + block.T)
    # K + E has no eigenvalue below −m · error, and the factorisation's own rounding is far below that.
    block[np.diag_indices_from(block)] += 2.0 * len(some) * error
    if error > 0:
        try:
            la.cholesky(block, check_finite=False)
        except la.LinAlgError:
            return f"{NOT_VALID}: its matrix of {len(some)} of the samples has a negative eigenvalue."
    return ""
