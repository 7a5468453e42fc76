"""scikit-learn's SVM estimators, with proof."""

from gapless.estimators.classify import SVC, NuSVC
from gapless.estimators.kernel_fisher import KernelFisherDiscriminant
from gapless.estimators.kernel_logistic import KernelLogisticRegression
from gapless.estimators.kernel_perceptron import KernelPerceptron
from gapless.estimators.linear import LinearSVC, LinearSVR
from gapless.estimators.one_class import OneClassSVM
from gapless.estimators.regress import SVR, NuSVR

__all__ = [
    "SVC",
    "SVR",
    "KernelFisherDiscriminant",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
]
