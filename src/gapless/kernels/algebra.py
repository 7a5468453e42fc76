"""New valid kernels from valid ones: sums, products, multiples, powers, polynomials and exponentials.

Each composition overwrites the block of its left (or only) part with its own result, so that a sum or a product of kernels
holds two blocks in memory at a time, however many kernels it joins.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from gapless.errors import InvalidInputError
from gapless.kernels.base import Kernel, Validity, literal
from gapless.kernels.pairwise import Matrix
from gapless.kernels.parameters import MOST_POWER, check_natural, check_nonnegative


def natural_power(K: np.ndarray, n: int) -> np.ndarray:
    """Kⁿ entry by entry through repeated squaring, which is far faster than the power of floats; K is overwritten."""
    squarings = f"{n:b}"[1:]
    result = K.copy() if "1" in squarings else K
    for bit in squarings:
        result *= result
        if bit == "1":
            result *= K
    return result


class Constant(Kernel):
    r""":math:`k(x, z) = c` with :math:`c \ge 0`: the feature map is the single number :math:`\sqrt{c}`; ``k + 1.0`` adds a constant to k.

    Parameters
    ----------
    value : float, default 1.0
        c, at least 0.

    Examples
    --------
    >>> from gapless.kernels import Linear
    >>> Linear() + 1.0
    Linear() + Constant(value=1.0)
    """

    validity = Validity.BY_CONSTRUCTION

    def __init__(self, value: float = 1.0) -> None:
        check_nonnegative("value", value)
        self.value = value

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        return np.full((X.shape[0], Z.shape[0]), self.value, dtype=np.float64)

    def diag(self, X: Matrix) -> np.ndarray:
        return np.full(X.shape[0], self.value, dtype=np.float64)


class _Pair(Kernel):
    """Two kernels joined entry by entry by a ufunc."""

    _operation: ClassVar[Callable[..., Any]]

    def __init__(self, left: Kernel, right: Kernel) -> None:
        _check_kernel("left", left)
        _check_kernel("right", right)
        self.left = left
        self.right = right

    @property
    def validity(self) -> Validity:
        return Validity.worst(self.left.validity, self.right.validity)

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        K = self.left.block(X, Z)
        return self._operation(K, self.right.block(X, Z), out=K)

    def diag(self, X: Matrix) -> np.ndarray:
        return self._operation(self.left.diag(X), self.right.diag(X))


class Sum(_Pair):
    r""":math:`k(x, z) = k_1(x, z) + k_2(x, z)`, written ``k1 + k2``: its features are those of both kernels, side by side.

    Parameters
    ----------
    left, right : Kernel
        The two kernels; a grid search reaches their parameters as ``left__gamma`` and the like.

    Examples
    --------
    >>> from gapless.kernels import RBF, Linear
    >>> k = Linear() + RBF(gamma=0.5)
    >>> k, k([1.0, 2.0], [1.0, 2.0])
    (Linear() + RBF(gamma=0.5), 6.0)
    """

    _operation = np.add
    _precedence = 1

    def __repr__(self) -> str:
        return f"{self.left._operand(1)} + {self.right._operand(2)}"


class Product(_Pair):
    r""":math:`k(x, z) = k_1(x, z)\,k_2(x, z)`, written ``k1 * k2``: its features are the products of a feature of one kernel and one of the other.

    Parameters
    ----------
    left, right : Kernel
        The two kernels; a grid search reaches their parameters as ``left__gamma`` and the like.

    Examples
    --------
    >>> from gapless.kernels import RBF, Linear
    >>> k = (Linear() + 1.0) * RBF(gamma=0.5)
    >>> k, k([1.0, 2.0], [1.0, 2.0])
    ((Linear() + Constant(value=1.0)) * RBF(gamma=0.5), 6.0)
    """

    _operation = np.multiply
    _precedence = 2

    def __repr__(self) -> str:
        return f"{self.left._operand(2)} * {self.right._operand(3)}"


class _Function(Kernel):
    """A function of one kernel's value, entry by entry."""

    kernel: Kernel

    @property
    def validity(self) -> Validity:
        return self.kernel.validity

    @abstractmethod
    def _apply(self, K: np.ndarray) -> np.ndarray:
        """The function of every entry; K may be overwritten."""

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        return self._apply(self.kernel.block(X, Z))

    def diag(self, X: Matrix) -> np.ndarray:
        return self._apply(self.kernel.diag(X))

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place and return the kernel; a name that this kernel does not have is looked for in the kernel within.

        >>> from gapless.kernels import RBF, Linear
        >>> (0.5 * RBF() + Linear()).set_params(left__gamma=0.1, left__scale=2.0)
        2.0 * RBF(gamma=0.1) + Linear()
        """
        passed = {path: value for path, value in params.items() if not self._has(path) and self._reaches(path)}
        super().set_params(**{path: value for path, value in params.items() if path not in passed})
        if passed:
            self.kernel.set_params(**passed)
        return self

    def _has(self, path: str) -> bool:
        return path.partition("__")[0] in self.get_params(deep=False)

    def _reaches(self, path: str) -> bool:
        """Whether the kernel within has the parameter, or a kernel further within."""
        inner = self.kernel
        if path.partition("__")[0] in inner.get_params(deep=False):
            return True
        return isinstance(inner, _Function) and inner._reaches(path)


class Scaled(_Function):
    r""":math:`k(x, z) = s\,k_1(x, z)` with :math:`s \ge 0`, written ``s * k1``: its features are those of :math:`k_1` times :math:`\sqrt{s}`.

    Parameters
    ----------
    scale : float
        s, at least 0.
    kernel : Kernel
        The kernel that is scaled.

    Examples
    --------
    >>> from gapless.kernels import Linear
    >>> k = 0.5 * Linear()
    >>> k, k([1.0, 2.0], [1.0, 2.0])
    (0.5 * Linear(), 2.5)
    """

    _precedence = 2

    def __init__(self, scale: float, kernel: Kernel) -> None:
        check_nonnegative("scale", scale)
        _check_kernel("kernel", kernel)
        self.scale = scale
        self.kernel = kernel

    def _apply(self, K: np.ndarray) -> np.ndarray:
        K *= self.scale
        return K

    def __repr__(self) -> str:
        return f"{literal(self.scale)} * {self.kernel._operand(3)}"


class Power(_Function):
    r""":math:`k(x, z) = k_1(x, z)^n` with a natural n, written ``k1**n``: a product of n equal kernels.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is raised to the power.
    exponent : int
        n, at least 1.

    Examples
    --------
    >>> from gapless.kernels import Linear
    >>> k = (Linear() + 1.0) ** 2
    >>> k, k([1.0, 2.0], [1.0, 2.0])
    ((Linear() + Constant(value=1.0))**2, 36.0)
    """

    _precedence = 3

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        _check_kernel("kernel", kernel)
        check_natural("exponent", exponent, MOST_POWER)
        self.kernel = kernel
        self.exponent = exponent

    def _apply(self, K: np.ndarray) -> np.ndarray:
        return natural_power(K, self.exponent)

    def __repr__(self) -> str:
        return f"{self.kernel._operand(4)}**{literal(self.exponent)}"


class Exp(_Function):
    r""":math:`k(x, z) = e^{k_1(x, z)}`, the limit of polynomials with non-negative coefficients; written ``exp(k1)``.

    Parameters
    ----------
    kernel : Kernel
        The kernel in the exponent.

    Examples
    --------
    >>> from gapless.kernels import Exp, Linear, exp
    >>> Exp(Linear()) == exp(Linear())
    True
    """

    def __init__(self, kernel: Kernel) -> None:
        _check_kernel("kernel", kernel)
        self.kernel = kernel

    def _apply(self, K: np.ndarray) -> np.ndarray:
        return np.exp(K, out=K)

    def __repr__(self) -> str:
        return f"exp({self.kernel!r})"


class KernelPolynomial(_Function):
    r""":math:`k(x, z) = \sum_m a_m\,k_1(x, z)^m` with all :math:`a_m \ge 0`; written ``polynomial(k1, (a0, a1, …))``.

    Parameters
    ----------
    kernel : Kernel
        The kernel whose powers are summed.
    coefficients : sequence of float
        :math:`a_0, a_1, …`, the constant first, each at least 0.

    Examples
    --------
    >>> from gapless.kernels import KernelPolynomial, Linear, polynomial
    >>> KernelPolynomial(Linear(), (1.0, 2.0)) == polynomial(Linear(), (1.0, 2.0))
    True
    """

    def __init__(self, kernel: Kernel, coefficients: Sequence[float]) -> None:
        _check_kernel("kernel", kernel)
        if (
            not isinstance(coefficients, list | tuple | np.ndarray)
            or getattr(coefficients, "ndim", 1) != 1
            or not len(coefficients)
        ):
            raise InvalidInputError(
                f"coefficients must be a sequence of at least one number, the constant first; got {coefficients!r}."
            )
        for m, coefficient in enumerate(coefficients):
            check_nonnegative(f"coefficients[{m}]", coefficient)
        self.kernel = kernel
        self.coefficients = coefficients

    def _apply(self, K: np.ndarray) -> np.ndarray:
        result = np.full_like(K, self.coefficients[-1])
        for coefficient in self.coefficients[-2::-1]:
            result *= K
            result += coefficient
        return result

    def __repr__(self) -> str:
        return f"polynomial({self.kernel!r}, {tuple(float(each) for each in self.coefficients)!r})"


def exp(kernel: Kernel) -> Exp:
    r"""The kernel :math:`e^{k(x, z)}`, valid when k is.

    Parameters
    ----------
    kernel : Kernel
        k.

    Returns
    -------
    Exp
        The composed kernel.

    Examples
    --------
    >>> from gapless.kernels import Linear, exp
    >>> k = exp(0.5 * Linear())
    >>> k, round(k([1.0, 1.0], [1.0, 1.0]), 6)
    (exp(0.5 * Linear()), 2.718282)
    """
    return Exp(kernel)


def polynomial(kernel: Kernel, coefficients: Sequence[float]) -> KernelPolynomial:
    r"""The kernel :math:`a_0 + a_1 k(x, z) + a_2 k(x, z)^2 + \dots` with coefficients :math:`a_m \ge 0`, valid when k is.

    Parameters
    ----------
    kernel : Kernel
        k.
    coefficients : sequence of float
        :math:`a_0, a_1, …`, the constant first, each at least 0.

    Returns
    -------
    KernelPolynomial
        The composed kernel.

    Examples
    --------
    >>> from gapless.kernels import Linear, polynomial
    >>> k = polynomial(Linear(), (1.0, 1.0, 1.0))
    >>> k, k([1.0, 2.0], [1.0, 2.0])
    (polynomial(Linear(), (1.0, 1.0, 1.0)), 31.0)
    """
    return KernelPolynomial(kernel, coefficients)


def _check_kernel(name: str, kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        hint = " (a constant is Constant(value))" if isinstance(kernel, Real) else ""
        raise InvalidInputError(f"{name} must be a kernel{hint}; got {kernel!r}.")
