"""scikit-learn's own checks of an estimator, with nothing expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gapless import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

# Weighted and repeated samples are the same problem, but not the same iterates: at these tolerances checks of seven digits see the problem alone.
ESTIMATORS = [
    *(cls(tol=1e-10) for cls in (SVC, SVR, NuSVR)),
    NuSVC(nu=0.2, tol=1e-10, max_iter=5_000),  # the checks' smallest class is too small for half of all samples
    OneClassSVM(tol=1e-13),
    SVC(kernel="precomputed", tol=1e-10),
    *(cls(tol=1e-12, max_iter=10_000) for cls in (LinearSVC, LinearSVR)),
]


# Some checks bound max_iter by themselves, or bring data that no tolerance of this kind is for.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings(
    "ignore:The optimum of NuSVC with nu=0.2 is zero:UserWarning"
)  # of labels that were drawn at random
@parametrize_with_checks(ESTIMATORS)
def test_checks(estimator, check):
    check(estimator)
