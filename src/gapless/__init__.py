"""Gapless trains support vector machines and proves, with a duality gap, how close each model is to the optimum."""

from importlib import import_module
from importlib.metadata import version
from types import ModuleType

from sklearn.svm import l1_min_c

from gapless import errors, features, kernels, losses, solvers
from gapless import machine as machine
from gapless.compare import compare
from gapless.errors import Interrupted
from gapless.estimators import (
    SVC,
    SVR,
    KernelFisherDiscriminant,
    KernelLogisticRegression,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
)
from gapless.problems import nu
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate, Point
from gapless.proof.kkt import KKT
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.store import load
from gapless.trace import Progress, Trace
from gapless.verify import certify

__version__ = version("gapless")

__all__ = [
    "KKT",
    "SVC",
    "SVR",
    "Certificate",
    "Interrupted",
    "KernelFisherDiscriminant",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
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
    "l1_min_c",
    "load",
    "losses",
    "nu",
    "plot",
    "solve",
    "solvers",
]


def __getattr__(name: str) -> ModuleType:
    """``gapless.plot`` is imported when it is first asked for."""
    if name == "plot":
        return import_module("gapless.plot")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "plot"})
