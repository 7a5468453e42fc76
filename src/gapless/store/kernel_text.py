"""A kernel as text and a text as a kernel; the parser knows kernels and numbers, and nothing else."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from gapless import kernels
from gapless.errors import InvalidInputError
from gapless.kernels import Kernel


def _constructors() -> dict[str, Callable[..., Kernel]]:
    """The names that a text may call: the kernels whose parameters are numbers and kernels alone, ``exp`` and ``polynomial``."""
    carriers = (kernels.FunctionKernel, kernels.FeatureMapKernel, kernels.Precomputed)
    found: dict[str, Callable[..., Kernel]] = {"exp": kernels.exp, "polynomial": kernels.polynomial}
    for name in kernels.__all__:
        value = getattr(kernels, name)
        concrete = inspect.isclass(value) and issubclass(value, Kernel) and not inspect.isabstract(value)
        if concrete and value not in carriers:
            found[name] = value
    return found


_CONSTRUCTORS = _constructors()
_NOT_FINITE = ("inf", "-inf", "nan")


def parse_kernel(text: str) -> Kernel:
    """The kernel that an expression such as ``repr(kernel)`` states. No code is run: only kernels, numbers, +, * and ** are understood.

    Parameters
    ----------
    text : str
        The expression.

    Returns
    -------
    Kernel
        The kernel; an expression that is not understood is an :class:`~gapless.errors.InvalidInputError`.

    Examples
    --------
    >>> from gapless.store import parse_kernel
    >>> parse_kernel("0.5 * RBF(gamma=0.1) + Linear() ** 2")
    0.5 * RBF(gamma=0.1) + Linear()**2
    >>> parse_kernel("__import__('os').getcwd()")
    Traceback (most recent call last):
    ...
    gapless.errors.InvalidInputError: The kernel expression "__import__('os').getcwd()" is not understood: it may hold kernels of gapless.kernels,
    numbers, +, * and ** only.
    """
    try:
        kernel = _value(ast.parse(text, mode="eval").body)
    except InvalidInputError as error:
        raise InvalidInputError(f"The kernel expression {text!r} is refused: {error}") from None
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        kernel = None
    if not isinstance(kernel, Kernel):
        raise InvalidInputError(
            f"The kernel expression {text!r} is not understood: it may hold kernels of gapless.kernels, numbers, +, * and ** only."
        )
    return kernel


def kernel_text(kernel: Kernel) -> str | None:
    """The expression that ``parse_kernel`` turns into an equal kernel; None where code or a matrix is part of the kernel."""
    text = repr(kernel)
    try:
        return text if parse_kernel(text) == kernel else None
    except InvalidInputError:
        return None


def _value(node: ast.expr) -> Any:
    """The kernel, the number or the tuple of numbers that a node of the syntax tree states; ValueError for every other node."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Tuple(elts=elements):
            return tuple(_value(element) for element in elements)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=word)], keywords=[]) if word in _NOT_FINITE:
            return float(word)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in _CONSTRUCTORS:
            options = {str(keyword.arg): _value(keyword.value) for keyword in keywords}
            return _CONSTRUCTORS[name](*map(_value, args), **options)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.Pow() as operation, right=right):
            return _join(_value(left), operation, _value(right))
    raise ValueError("neither a kernel nor a number")


def _join(left: Any, operation: ast.operator, right: Any) -> Kernel:
    """The sum, product or power of kernels; arithmetic between two numbers is refused."""
    if not (isinstance(left, Kernel) or isinstance(right, Kernel)):
        raise ValueError("no kernel")
    if isinstance(operation, ast.Add):
        return left + right
    return left * right if isinstance(operation, ast.Mult) else left**right
