"""scikit-learn's own checks of the estimators that tune themselves, with nothing expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gapless import SVCCV, SVRCV, LinearSVCCV, LinearSVRCV

# Weighted and repeated samples are the same problem, but not the same iterates: at these tolerances checks of seven digits see the problem alone.
# One check asks for a model that class weights of 1000 and 0.0001 overrule; a search for the most accurate model avoids it where it may.
FIRST = [
    SVCCV(Cs=[0.1, 1.0], gammas=2, widen=1, cv=2, tol=1e-10),
    LinearSVRCV(Cs=[0.1], cv=2, tol=1e-12, max_iter=10_000),
]
OTHERS = [
    SVCCV(kernel="precomputed", Cs=[0.1, 1.0], cv=2, tol=1e-10),
    SVRCV(Cs=[0.1, 1.0], gammas=2, epsilons=1, widen=1, cv=2, tol=1e-10),
    LinearSVCCV(Cs=2, widen=0, cv=2, tol=1e-12, max_iter=10_000),
]
# Some checks bound max_iter by themselves, or bring data that no tolerance of this kind is for; and a class of some checks has a single sample.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
]


@parametrize_with_checks(FIRST)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS)
def test_checks_of_the_others(estimator, check):
    check(estimator)
