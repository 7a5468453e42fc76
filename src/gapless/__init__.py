"""Gapless trains support vector machines and proves, with a duality gap, how close each model is to the optimum."""

from importlib.metadata import version

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
    KernelPerceptron,
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
from gapless.steps import Step, steps
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
    "KernelPerceptron",
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
    "Step",
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
    "solve",
    "solvers",
    "steps",
]
