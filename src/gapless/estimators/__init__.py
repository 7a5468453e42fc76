"""scikit-learn's SVM estimators, with proof, and their kernelised relatives."""

from gapless.estimators.classify import SVC, NuSVC
from gapless.estimators.kernel_fisher import KernelFisherDiscriminant
from gapless.estimators.kernel_logistic import KernelLogisticRegression
from gapless.estimators.kernel_perceptron import KernelPerceptron
from gapless.estimators.linear import LinearSVC, LinearSVR
from gapless.estimators.one_class import OneClassSVM
from gapless.estimators.regress import SVR, NuSVR
from gapless.estimators.relatives import KernelPCA, KernelRidge

__all__ = [
    "SVC",
    "SVR",
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
]
