"""One against the rest: problems on the same samples share what depends on the samples, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from gapless import LinearSVC
from gapless.problems.other_labels import OtherLabels
from gapless.problems.problem import Problem

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("options", [{}, {"loss": "hinge"}, {"intercept": "free"}, {"fit_intercept": False, "C": 30.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_class_against_the_rest_is_the_binary_fit(storage, options, weighted):
    weight = np.random.default_rng(0).exponential(size=len(y)) if weighted else None
    model = LinearSVC(**options).fit(storage(X), y, weight)
    for k in range(3):
        alone = LinearSVC(**options).fit(storage(X), y == k, weight)
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
        assert model.certificates_[k].primal == alone.certificate_.primal
        assert model.certificates_[k].dual == alone.certificate_.dual


def test_class_weights_have_their_own_choice_of_a_solver():
    same = OtherLabels()
    first = same.join(Problem(X, y == 0, loss="hinge"))
    second = same.join(Problem(X, y == 1, loss="hinge", sample_weight=np.where(y == 1, 1e4, 1.0)))
    assert second.magnitudes is first.magnitudes
    assert vars(second).get("_choices") is None
    np.testing.assert_array_equal(second.cost, np.where(y == 1, 1e4, 1.0))
    np.testing.assert_array_equal(second.dual.upper, np.where(y == 1, 1e4, 0.0))
