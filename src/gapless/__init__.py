"""Gapless trains support vector machines and proves, with a duality gap, how close each model is to the optimum."""

from importlib.metadata import version

from gapless import errors, features, kernels, losses, solvers
from gapless.certificate import Certificate, Point, certify
from gapless.compare import compare
from gapless.errors import Interrupted
from gapless.kkt import KKT
from gapless.problem import Problem
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.trace import Progress, Trace

__version__ = version("gapless")

__all__ = [
    "KKT",
    "Certificate",
    "Interrupted",
    "Point",
    "Problem",
    "Progress",
    "Result",
    "Status",
    "Trace",
    "certify",
    "compare",
    "errors",
    "features",
    "kernels",
    "losses",
    "solve",
    "solvers",
]
