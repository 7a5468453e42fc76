"""Kernels, their algebra, and ways to compute a Gram matrix in parts."""

from gapless.kernels.algebra import Constant, Exp, KernelPolynomial, Power, Product, Scaled, Sum, exp, polynomial
from gapless.kernels.base import Kernel, Validity
from gapless.kernels.custom import FeatureMapKernel, FunctionKernel, Precomputed
from gapless.kernels.dot import Chi2, Cosine, DotProduct, Linear, Polynomial, Sigmoid
from gapless.kernels.gram import RowCache, blocks
from gapless.kernels.panel import Panels
from gapless.kernels.stationary import RBF, Laplacian, Matern, Stationary
from gapless.kernels.validity import ValidityReport, check_valid

__all__ = [
    "RBF",
    "Chi2",
    "Constant",
    "Cosine",
    "DotProduct",
    "Exp",
    "FeatureMapKernel",
    "FunctionKernel",
    "Kernel",
    "KernelPolynomial",
    "Laplacian",
    "Linear",
    "Matern",
    "Panels",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RowCache",
    "Scaled",
    "Sigmoid",
    "Stationary",
    "Sum",
    "Validity",
    "ValidityReport",
    "blocks",
    "check_valid",
    "exp",
    "polynomial",
]
