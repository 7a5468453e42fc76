"""The ν-forms as problems: class weights in the box, and optima that leave a choice or vanish."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.estimators.special import favour_other_class, vanishes
from tests.estimators.data import cancer


def test_box_weights_scale_the_box_by_their_ratio():
    X, y = cancer()
    v = np.where(y == 1, 6.0, 3.0)
    problem = gl.nu.nu_classification(X, y, nu=0.2, box_weight=v, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(problem.cost, np.where(y == 1, 2.0, 1.0))
    np.testing.assert_allclose(problem.totals, [0.2 * len(y), -0.2 * len(y)])


def test_a_class_that_cannot_carry_its_share_carries_all_it_can():
    X, y = cancer()
    v = np.where(y == 1, 1e-2, 1.0)
    problem = gl.nu.nu_classification(X, y, nu=0.5, box_weight=v, kernel=gl.kernels.RBF(0.03))
    np.testing.assert_allclose(problem.totals[0], 1e-2 * (y == 1).sum())
    result = gl.solve(problem, tol=1e-9)
    assert result.status.proven
    chosen = favour_other_class(result)
    assert chosen.offsets[0] < result.offsets[0] and chosen.offsets[1] == result.offsets[1]
    f = problem.expand(result.expansion)
    assert np.isclose(f[y == 1].max() + chosen.offsets.mean(), 0.0)
    # The primal value does not change: the certificate stands.
    shortfall = problem.loss.value(problem.y, f + chosen.offsets[problem.groups])
    value = 0.5 * result.expansion @ f + problem.cost @ shortfall + problem.totals @ chosen.offsets
    np.testing.assert_allclose(value, result.certificate.primal, rtol=1e-9)
    assert chosen.certificate.offset_intervals[0] == (chosen.offsets[0], chosen.offsets[0])


def test_nothing_to_choose_where_no_class_or_each_class_is_full():
    X, y = cancer()
    y = np.repeat([0, 1], 100)
    for nu in (0.5, 1.0):
        result = gl.solve(gl.nu.nu_classification(X, y, nu=nu, kernel=gl.kernels.RBF(0.1)), tol=1e-4)
        assert favour_other_class(result) is result


def test_feasibility_is_judged_without_box_weights():
    with pytest.raises(
        InvalidInputError, match=r"specified nu is infeasible: nu=0.9 asks for 1.8 weighted support vectors a class"
    ):
        gl.nu.nu_classification([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1], nu=0.9, box_weight=[100.0, 1, 1, 1])


@pytest.mark.parametrize("cls, y", [(gl.OneClassSVM, None), (gl.NuSVC, np.tile([0, 1], 50))])
def test_an_optimum_of_zero_is_reached_and_not_warned_of(cls, y):
    """The origin within the data, and classes that coincide: w* = 0, where no relative gap says anything."""
    half = np.random.default_rng(0).normal(size=(50, 2))
    X = np.vstack([half, -half]) if y is None else np.repeat(half, 2, axis=0)
    model = cls(kernel="linear", nu=0.5).fit(X, y)
    assert model.fit_status_ == 0
    assert np.linalg.norm(model.coef_ * (model._scales[0] if y is not None else 1.0)) < 0.1
    assert np.isfinite(model.decision_function(X)).all()


def test_vanishing_is_of_nu_forms_alone():
    X, y = cancer()
    problem = gl.Problem(X, y, C=1e-9)
    assert not vanishes(problem, gl.solve(problem).certificate, 1e-3)
