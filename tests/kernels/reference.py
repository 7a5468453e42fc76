"""Kernels as naive double loops over pairs of rows, from their formulas alone."""

from __future__ import annotations

import math

import numpy as np

from gapless import kernels as k


def gram(kernel: k.Kernel, X: np.ndarray, Z: np.ndarray | None = None) -> np.ndarray:
    Z = X if Z is None else Z
    return np.array([[value(kernel, x, z) for z in Z] for x in X])


def knows(kernel: k.Kernel, x: np.ndarray) -> bool:
    """Whether the kernel's formula stands here; a function or a feature map is its own."""
    try:
        value(kernel, x, x)
    except NotImplementedError:
        return False
    return True


def value(kernel: k.Kernel, x: np.ndarray, z: np.ndarray) -> float:
    match kernel:
        case k.Sum():
            return value(kernel.left, x, z) + value(kernel.right, x, z)
        case k.Product():
            return value(kernel.left, x, z) * value(kernel.right, x, z)
        case k.Scaled():
            return kernel.scale * value(kernel.kernel, x, z)
        case k.Power():
            return value(kernel.kernel, x, z) ** kernel.exponent
        case k.Exp():
            return math.exp(value(kernel.kernel, x, z))
        case k.KernelPolynomial():
            return sum(a * value(kernel.kernel, x, z) ** m for m, a in enumerate(kernel.coefficients))
        case k.Constant():
            return kernel.value
        case k.Linear():
            return dot(x, z)
        case k.Polynomial():
            return (kernel.gamma * dot(x, z) + kernel.coef0) ** kernel.degree
        case k.Sigmoid():
            return math.tanh(kernel.gamma * dot(x, z) + kernel.coef0)
        case k.Cosine():
            return dot(x, z) / math.sqrt(dot(x, x) * dot(z, z)) if dot(x, x) and dot(z, z) else 0.0
        case k.Chi2():
            terms = ((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)
            return math.exp(-kernel.gamma * sum(terms))
        case k.RBF():
            return math.exp(-kernel.gamma * distance(x, z) ** 2)
        case k.Laplacian():
            return math.exp(-kernel.gamma * sum(abs(a - b) for a, b in zip(x, z, strict=True)))
        case k.Matern():
            return matern(distance(x, z) / kernel.length_scale, kernel.nu)
        case k.Precomputed():
            return kernel.gram[int(x[0]), int(z[0])]
    raise NotImplementedError(type(kernel).__name__)


def dot(x: np.ndarray, z: np.ndarray) -> float:
    return sum(float(a) * float(b) for a, b in zip(x, z, strict=True))


def distance(x: np.ndarray, z: np.ndarray) -> float:
    return math.sqrt(sum((float(a) - float(b)) ** 2 for a, b in zip(x, z, strict=True)))


def matern(r: float, nu: float) -> float:
    if nu == 0.5:
        return math.exp(-r)
    if nu == 1.5:
        return (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r)
    if nu == 2.5:
        return (1 + math.sqrt(5) * r + 5 * r**2 / 3) * math.exp(-math.sqrt(5) * r)
    return math.exp(-(r**2) / 2)
