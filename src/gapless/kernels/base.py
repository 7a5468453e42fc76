"""The base class Kernel: what every kernel offers, and the conventions that all kernels share (parameters, equality, repr, scikit-learn)."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as GaussianProcessKernel

from gapless.data import check_matrix
from gapless.errors import InvalidInputError
from gapless.kernels.pairwise import Matrix
from gapless.kernels.parameters import is_number
from gapless.kernels.refuted import FEW, ROUNDED, refutation


class Validity(Enum):
    r"""Why a kernel is, or is not, known to be valid: :math:`\sum_{ij} c_i c_j k(x_i, x_j) \ge 0` for all points and all c.

    >>> from gapless.kernels import RBF, Sigmoid
    >>> RBF().validity
    <Validity.BY_CONSTRUCTION: 'positive semi-definite by construction'>
    >>> (RBF() + Sigmoid()).validity.value
    'not positive semi-definite in general'
    """

    BY_CONSTRUCTION = "positive semi-definite by construction"
    ASSUMED = "positive semi-definite by assumption"
    NOT_VALID = "not positive semi-definite in general"

    @staticmethod
    def worst(*parts: Validity) -> Validity:
        """The weakest validity of the parts, which is all that is known of a kernel composed of them."""
        return max(parts, key=list(Validity).index)


class Kernel(ABC):
    r"""A kernel :math:`k(x, z) = \langle\varphi(x), \varphi(z)\rangle`: an inner product of features that need not be known.

    A subclass defines ``block`` and ``diag``, and ``validity`` where that is not ``ASSUMED``. Its constructor
    checks each argument and stores it untouched under its own name.

    Kernels are closed under ``+``, ``*``, non-negative multiples, natural powers, ``exp`` and ``polynomial``. Two kernels
    are equal when their types and parameters are. Like scikit-learn's estimators, kernels have ``get_params`` and
    ``set_params``, and ``clone`` copies them. ``k(X, Z)`` is an array, so that a kernel can be given as ``kernel=`` to
    scikit-learn's ``KernelRidge``, ``KernelPCA``, ``SVC`` and ``Nystroem`` too.

    Examples
    --------
    >>> from gapless.kernels import RBF, Linear, Polynomial
    >>> k = 0.5 * RBF(gamma=0.1) + Polynomial(degree=2) * Linear()
    >>> k([[1.0, 0.0], [0.0, 2.0]])
    array([[  4.5       ,   0.30326533],
           [  0.30326533, 100.5       ]])
    >>> k([1.0, 0.0], [1.0, 0.0])
    4.5
    >>> k.set_params(left__gamma=0.2)
    0.5 * RBF(gamma=0.2) + Polynomial(degree=2, gamma=1.0, coef0=1.0) * Linear()
    """

    # NumPy scalars and arrays leave arithmetic with a kernel to the kernel: np.float64(2) * k is Scaled, not an array.
    __array_ufunc__ = None
    # How tightly the outermost operation of the repr binds, for parentheses: a sum 1, a product 2, a power 3, a call 4.
    _precedence: ClassVar[int] = 4

    @abstractmethod
    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        """k(xᵢ, zⱼ) for all rows of X and Z, which are already checked: a new C-contiguous float64 array, which the caller may overwrite."""

    @abstractmethod
    def diag(self, X: Matrix) -> np.ndarray:
        """k(xᵢ, xᵢ) for every row of X: a new float64 array, computed without the Gram matrix."""

    def formula(self, X: Matrix) -> tuple[Kernel, Matrix]:
        """(kernel, samples) whose entries these are: this kernel and X, unless this kernel is a table of the entries of another one."""
        return self, X

    @property
    def validity(self) -> Validity:
        """Whether the kernel is positive semi-definite by construction, by assumption, or not."""
        return Validity.ASSUMED

    @property
    def entry_rounding(self) -> float:
        """How far entries may be from those of a valid kernel by rounding alone, relative to the largest entry (kernels/refuted.py)."""
        return ROUNDED

    def refutation(self, X: Matrix) -> str:
        """Of a kernel that is assumed to be valid: a sentence that tells why its entries on X refute this; empty where a few entries do not."""
        if self.validity is not Validity.ASSUMED:
            return ""
        some = np.unique(np.linspace(0, X.shape[0] - 1, min(FEW, X.shape[0])).astype(np.int64))
        with np.errstate(over="ignore", invalid="ignore"):
            block = self.block(X[some], X[some])
        return refutation(block) if np.isfinite(block).all() else ""  # an overflow is refused elsewhere, in words

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray | float:
        """The matrix of k(xᵢ, zⱼ), with Z = X by default; a number when X and Z are two vectors. X and Z are checked."""
        same = Z is None or Z is X
        if Z is not None and _is_vector(X) and _is_vector(Z):
            return float(self([X], [Z])[0, 0])  # type: ignore[index]
        X = check_matrix(X)
        Z = X if same else check_matrix(Z, "Z")
        if X.shape[1] != Z.shape[1]:
            raise InvalidInputError(f"Z must have as many columns as X, {X.shape[1]}; got {Z.shape[1]}.")
        return self.block(X, Z)

    # Parameters, in scikit-learn's way.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments by name; when deep, also the arguments of the kernels that this one is made of, as ``left__gamma``."""
        params = {name: getattr(self, name) for name in _parameter_names(type(self))}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Kernel):
                    params.update({f"{name}__{inner}": each for inner, each in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place, also those of the kernels that this one is made of (``left__gamma=…``), and return the kernel."""
        known = self.get_params(deep=False)
        own = {name: value for name, value in params.items() if "__" not in name}
        within: dict[str, dict[str, Any]] = {}
        for path in params.keys() - own.keys():
            name, _, inner = path.partition("__")
            within.setdefault(name, {})[inner] = params[path]
        for name in [*own, *within]:
            if name not in known:
                expected = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
                raise InvalidInputError(f"{type(self).__name__} has no parameter {name!r}; {expected}.")
        if own:
            type(self)(**{**known, **own})  # the constructor checks, before anything changes
        for name, value in own.items():
            setattr(self, name, value)
        for name, inner_params in within.items():
            inner_kernel = getattr(self, name)
            if not isinstance(inner_kernel, Kernel):
                raise InvalidInputError(
                    f"{name}__{next(iter(inner_params))} needs a kernel in {name!r} of {type(self).__name__}; "
                    f"it holds {inner_kernel!r}."
                )
            inner_kernel.set_params(**inner_params)
        return self

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = other.get_params(deep=False)
        return all(_same(value, theirs[name]) for name, value in self.get_params(deep=False).items())

    def __hash__(self) -> int:
        return hash((type(self), *(_hashable(value) for value in self.get_params(deep=False).values())))

    def __repr__(self) -> str:
        arguments = (f"{name}={literal(value)}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _operand(self, precedence: int) -> str:
        """The repr as an operand of another kernel's, in parentheses unless it binds at least as tightly as ``precedence``."""
        return repr(self) if self._precedence >= precedence else f"({self!r})"

    # The algebra's classes are subclasses of this one: their module imports this module, so that they are imported inside the methods.

    def __add__(self, other: Any) -> Kernel:
        from gapless.kernels.algebra import Constant, Sum

        other = Constant(other) if is_number(other) else other
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        from gapless.kernels.algebra import Constant, Sum

        return Sum(Constant(other), self) if is_number(other) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from gapless.kernels.algebra import Product, Scaled

        if is_number(other):
            return Scaled(other, self)
        return Product(self, other) if isinstance(other, Kernel) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        from gapless.kernels.algebra import Scaled

        return Scaled(other, self) if is_number(other) else NotImplemented

    def __pow__(self, exponent: Any) -> Kernel:
        from gapless.kernels.algebra import Power

        return Power(self, exponent) if is_number(exponent) else NotImplemented

    # These are the attributes that scikit-learn's Gaussian processes ask of a kernel; with no dimensions they leave its parameters alone.
    requires_vector_input: ClassVar[bool] = True
    n_dims: ClassVar[int] = 0
    theta: np.ndarray = np.empty(0)


# scikit-learn's pairwise_kernels (KernelRidge, KernelPCA, Nystroem) hands whole matrices to its own kernels, but single
# pairs of rows to any other callable: n² calls of Python. Registered, a kernel gets whole matrices too.
GaussianProcessKernel.register(Kernel)


@cache  # a signature is slow to read, and a search asks for the parameters of many kernels
def _parameter_names(cls: type[Kernel]) -> tuple[str, ...]:
    return tuple(inspect.signature(cls).parameters)


def _is_vector(X: Any) -> bool:
    first = X if isinstance(X, np.ndarray) else next(iter(X), None) if isinstance(X, list | tuple) else None
    return X.ndim == 1 if isinstance(X, np.ndarray) else np.isscalar(first)


def literal(value: Any) -> str:
    """A parameter as source text that evaluates to an equal value, where the value has such a text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def _is_array_like(value: Any) -> bool:
    return isinstance(value, np.ndarray | list | tuple)


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    return np.array_equal(a, b) if _is_array_like(a) and _is_array_like(b) else bool(a == b)


def _hashable(value: Any) -> Hashable:
    # Equal arrays have equal shapes, and a hash must be cheap: the entries of a Gram matrix stay out of it.
    if _is_array_like(value):
        return np.shape(value)
    return hash(value) if isinstance(value, Hashable) else 0
