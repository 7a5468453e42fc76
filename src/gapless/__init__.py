"""Gapless trains support vector machines and proves, with a duality gap, how close each model is to the optimum."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

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
from gapless.path import C_path, CPath, PathModel
from gapless.problems import nu
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate, Point
from gapless.proof.kkt import KKT, kkt
from gapless.proof.leave_one_out import LeaveOneOut, leave_one_out_bounds
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.steps import Step, steps
from gapless.store import load, register_later
from gapless.trace import Progress, Trace
from gapless.verify import certify

if TYPE_CHECKING:
    from gapless import model_selection as model_selection
    from gapless import plot as plot
    from gapless.estimators.relatives import KernelPCA, KernelRidge
    from gapless.model_selection import SVCCV, SVRCV, LinearSVCCV, LinearSVRCV

__version__ = version("gapless")

__all__ = [
    "KKT",
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "CPath",
    "C_path",
    "Certificate",
    "Interrupted",
    "KernelFisherDiscriminant",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "LeaveOneOut",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LinearSVRCV",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PathModel",
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
    "kkt",
    "l1_min_c",
    "leave_one_out_bounds",
    "load",
    "losses",
    "model_selection",
    "nu",
    "plot",
    "solve",
    "solvers",
    "steps",
]

_TUNED = dict.fromkeys(("LinearSVCCV", "LinearSVRCV", "SVCCV", "SVRCV"), "gapless.model_selection")
for _name, _module in _TUNED.items():
    register_later(_name, _module)

# These names are imported when they are first asked for: who only trains a support vector machine does not wait for scikit-learn's decompositions
# and searches, or for the modules that draw figures.
_LATER = {
    **_TUNED,
    "KernelPCA": "gapless.estimators.relatives",
    "KernelRidge": "gapless.estimators.relatives",
    "model_selection": "gapless.model_selection",
    "plot": "gapless.plot",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name])
    value = globals()[name] = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
