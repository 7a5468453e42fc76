"""Leave-one-out bounds against the n refits."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless import kernels
from gapless.errors import UnsupportedError

KERNELS = {"linear": None, "rbf": kernels.RBF(gamma=0.5)}


def data(seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.6 * rng.normal(size=n) > 0, 1, -1)
    y[:4] = -1, -1, 1, 1
    return X, y


def refitted_margins(X, y, keep=None, **options) -> np.ndarray:
    """yᵢ f(xᵢ) of the machine trained without sample i, for each i."""
    n, weight = len(y), options.pop("sample_weight", None)
    margins = np.empty(n)
    for i in range(n):
        rest = np.arange(n) != i
        part = {} if weight is None else {"sample_weight": weight[rest]}
        result = gl.solve(gl.Problem(X[rest], y[rest], **options, **part), tol=1e-9)
        margins[i] = y[i] * result.decision_function(X[i : i + 1])[0]
    return margins


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "smoothed_hinge", "logistic"])
def test_refits_agree_with_what_is_proven(loss, kernel, intercept, C):
    for seed in range(2):
        X, y = data(seed)
        options = {"loss": loss, "kernel": KERNELS[kernel], "intercept": intercept, "C": C}
        margins = refitted_margins(X, y, **options)
        for tol in (1e-2, 1e-8):
            bounds = gl.leave_one_out_bounds(gl.solve(gl.Problem(X, y, **options), tol=tol))
            assert not (bounds.errors & bounds.correct).any()
            assert (margins[bounds.errors] < 0).all()
            assert (margins[bounds.correct] > 0).all()
            assert bounds.low <= (margins < 0).mean() and (margins <= 0).mean() <= bounds.high
            assert bounds.n == len(y)


def test_more_precise_models_decide_more():
    X, y = data(0, n=80)
    problem = gl.Problem(X, y, kernel=KERNELS["rbf"], intercept="none", C=0.3)
    undecided = [len(gl.leave_one_out_bounds(gl.solve(problem, tol=tol)).undecided) for tol in (1e-1, 1e-3, 1e-9)]
    assert undecided == sorted(undecided, reverse=True) and undecided[-1] < 20


def test_refits_of_the_undecided_give_the_exact_error():
    X, y = data(1, n=60)
    options = {"kernel": KERNELS["rbf"], "C": 2.0}
    bounds = gl.leave_one_out_bounds(gl.solve(gl.Problem(X, y, **options), tol=1e-8))
    margins = refitted_margins(X, y, **options)
    exact = bounds.low + (margins[bounds.undecided] < 0).sum() / bounds.n
    assert exact == pytest.approx((margins < 0).mean())
    assert 0 < len(bounds.undecided) < 60


def test_a_small_alpha_decides_what_a_count_of_support_vectors_leaves_open():
    """x = ±1, twice each, without intercept and with C = 0.1: all are support vectors, and none of them can be misclassified without itself."""
    problem = gl.Problem([[-1.0], [-1.0], [1.0], [1.0]], [0, 0, 1, 1], C=0.1, intercept="none")
    result = gl.solve(problem, tol=1e-9)
    assert len(result.support) == 4
    bounds = gl.leave_one_out_bounds(result)
    assert bounds.high == 0.0 and bounds.correct.all()


def test_samples_of_weight_zero_are_not_counted():
    X, y = data(2)
    weight = np.where(np.arange(len(y)) % 5 == 4, 0.0, 1.0)
    options = {"kernel": KERNELS["rbf"], "intercept": "regularized", "sample_weight": weight}
    bounds = gl.leave_one_out_bounds(gl.solve(gl.Problem(X, y, **options), tol=1e-8))
    used = weight > 0
    assert bounds.n == used.sum() and not bounds.errors[~used].any() and not bounds.correct[~used].any()
    error = (refitted_margins(X, y, **options)[used] < 0).mean()
    assert bounds.low <= error <= bounds.high


def test_lam_sum_is_c_by_another_name():
    X, y = data(3)
    one, two = (
        gl.leave_one_out_bounds(gl.solve(gl.Problem(X, y, intercept="none", **stated), tol=1e-9))
        for stated in ({"C": 0.5}, {"lam_sum": 2.0})
    )
    assert (one.low, one.high) == (two.low, two.high)


def test_a_hard_margin_has_bounds_too():
    X = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]])
    y = np.sign(X[:, 0]).astype(int)
    bounds = gl.leave_one_out_bounds(gl.solve(gl.Problem(X, y, C=np.inf), tol=1e-9))
    assert bounds.correct.tolist() == [True, True, False, False, True, True]


def test_without_a_proof_nothing_is_decided():
    X, y = data(4)
    bounds = gl.leave_one_out_bounds(gl.solve(gl.Problem(X, y, kernel=kernels.Sigmoid(0.5, -1.0)), max_iter=5))
    assert (bounds.low, bounds.high) == (0.0, 1.0)


@pytest.mark.parametrize("stated", [{"lam_mean": 0.1}, {"C_mean": 1.0}, {"lam_mean_full": 0.1}])
def test_averaged_losses_are_refused(stated):
    X, y = data(0)
    with pytest.raises(
        UnsupportedError, match="the losses are averaged, so that leaving a sample out changes the cost"
    ):
        gl.leave_one_out_bounds(gl.solve(gl.Problem(X, y, **stated)))


def test_what_is_no_classification_of_two_classes_is_refused():
    X, y = data(0)
    for problem in (gl.Problem(X, X[:, 0], loss="epsilon_insensitive"), gl.nu.nu_classification(X, y, nu=0.3)):
        with pytest.raises(UnsupportedError, match="takes a classification by two classes"):
            gl.leave_one_out_bounds(gl.solve(problem))


def test_a_class_of_one_sample_is_refused():
    with pytest.raises(UnsupportedError, match="needs two samples of each class"):
        gl.leave_one_out_bounds(gl.solve(gl.Problem([[0.0], [1.0], [2.0]], [0, 1, 1])))
