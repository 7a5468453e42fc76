"""Kernels of every kind: functions of anything, kernel objects that a grid search reaches into, Gaussian processes' kernels, Gram matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF as GaussianProcessRBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.estimators.kernel_spec import dense_if_small, small_gram, stored_by_zeros
from gapless.estimators.stages import begins_with_pairs
from tests.estimators.data import cancer, diabetes, iris, large


def letters(A, B):
    """Shared letters of words."""
    return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)


def test_samples_may_be_anything():
    words, y = ["aa", "ab", "bb", "cd", "cc", "de"], [0, 0, 0, 1, 1, 1]
    model = gl.SVC(kernel=letters, C=10).fit(words, y)
    np.testing.assert_array_equal(model.predict(words), y)
    np.testing.assert_array_equal(model.predict(["ba", "dc"]), [0, 1])
    low, high = model.decision_interval(["ba", "dc"])
    assert (low <= model.decision_function(["ba", "dc"])).all() and (
        model.decision_function(["ba", "dc"]) <= high
    ).all()
    assert gl.SVR(kernel=letters).fit(words, y).predict(["ba"]).shape == (1,)
    assert gl.OneClassSVM(kernel=letters).fit(words).predict(["zz"]) == [-1]


def test_all_ways_to_say_rbf_are_one_model():
    X, y = iris()
    expected = gl.SVC(gamma=0.5, tol=1e-8).fit(X, y).decision_function(X)
    ways = [
        (gl.kernels.RBF(gamma=0.5), X),
        (GaussianProcessRBF(length_scale=1.0), X),
        (lambda A, B: rbf_kernel(A, B, gamma=0.5), X),
        ("precomputed", rbf_kernel(X, gamma=0.5)),
    ]
    for kernel, samples in ways:
        model = gl.SVC(kernel=kernel, tol=1e-8).fit(samples, y)
        np.testing.assert_allclose(model.decision_function(samples), expected, atol=1e-6)
        assert hasattr(model, "n_features_in_") == (
            not callable(kernel) or isinstance(kernel, type(ways[0][0]) | GaussianProcessRBF)
        )


def test_precomputed_takes_all_columns_or_those_of_the_support_vectors():
    X, y = cancer()
    K = rbf_kernel(X, gamma=0.03)
    model = gl.SVC(kernel="precomputed").fit(K, y)
    assert 2 < len(model.support_) < len(y)
    np.testing.assert_array_equal(model.decision_function(K), model.decision_function(K[:, model.support_]))
    with pytest.raises(InvalidInputError) as caught:
        model.predict(K[:, :3])
    assert str(caught.value) == (
        f"X has 3 features, but SVC is expecting 200 features as input: a kernel value for each training sample "
        f"(or for each of the {len(model.support_)} support vectors alone)."
    )
    with pytest.raises(
        ValueError, match=r"decision_interval needs k\(x, x\), which the columns of a precomputed kernel do not hold."
    ):
        model.decision_interval(K)
    with pytest.raises(
        InvalidInputError,
        match=r"Precomputed matrix must be a square matrix, 200x200 for 200 samples. Input is a 200x3 matrix.",
    ):
        model.fit(K[:, :3], y)
    with pytest.raises(TypeError, match=r"Sparse precomputed kernels are not supported."):
        model.fit(sp.csr_array(K), y)


def test_a_function_of_the_wrong_shape_is_refused_at_once():
    with pytest.raises(InvalidInputError, match=r"must be a square matrix, 2x2 for 2 samples. Input is a 1x1 matrix."):
        gl.SVR(kernel=lambda A, B: np.ones((1, 1))).fit([[0.0], [1.0]], [0.0, 0.5])


def test_grid_search_reaches_into_a_kernel():
    X, y = cancer()
    kernel = gl.kernels.RBF(gamma=1.0) + 0.1 * gl.kernels.Linear()
    grid = GridSearchCV(gl.SVC(kernel=kernel), {"kernel__left__gamma": [1e-4, 0.03, 10.0], "C": [1.0, 10.0]}, cv=3).fit(
        X, y
    )
    assert grid.best_params_["kernel__left__gamma"] == grid.best_estimator_.kernel.left.gamma != 10.0
    assert kernel.left.gamma == 1.0  # clones were changed, the original was not
    assert grid.best_score_ > 0.9


def test_kernel_objects_take_sparse_data():
    X, y = cancer()
    X = np.where(np.abs(X) > 1, X, 0.0)
    kernel = gl.kernels.Polynomial(degree=2, gamma=0.1) + gl.kernels.Linear()
    dense, sparse = gl.SVC(kernel=kernel).fit(X, y), gl.SVC(kernel=kernel).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.decision_function(X), sparse.decision_function(sp.csr_array(X)))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_small_sparse_data_gives_the_dense_model_to_the_last_bit(kernel):
    X, y = iris()
    dense, sparse = gl.SVC(kernel=kernel).fit(X, y), gl.SVC(kernel=kernel).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.dual_coef_, sparse.dual_coef_.toarray())
    np.testing.assert_array_equal(dense.intercept_, sparse.intercept_)
    np.testing.assert_array_equal(dense.decision_function(X), sparse.decision_function(X))


def test_what_is_small():
    X, _ = large()
    assert small_gram(gl.kernels.RBF(0.1), X) is None
    table = small_gram(gl.kernels.Sigmoid(0.1), X[:100])
    assert table.validity is gl.kernels.Validity.NOT_VALID
    # The same entries by tiles and by NumPy: sums of a few terms of size one, in another order.
    np.testing.assert_allclose(table.gram, gl.kernels.Sigmoid(0.1)(X[:100]), rtol=0, atol=4 * np.finfo(float).eps)
    assert sp.issparse(dense_if_small(sp.csr_array((1500, 2000)))) and not sp.issparse(
        dense_if_small(sp.csr_array((15, 20)))
    )


def test_an_indefinite_kernel_ends_where_the_conditions_hold():
    X, y = cancer()
    model = gl.SVC(kernel="sigmoid", coef0=-1.0).fit(X, y)
    assert model.fit_status_ == 0 and model.certificate_.kkt_violation <= 1e-3 and model.certificate_.dual == -np.inf


def test_a_named_solver_gets_the_problem_as_it_is():
    X, y = cancer()
    model = gl.SVC(kernel="linear", C=0.1, solver="subgradient", max_iter=30).fit
    with pytest.warns(Warning, match="after 30 epochs of subgradient"):
        linear = model(X, y)
    # The coefficients are the model's, so the certificate speaks of them and not of the sub-gradient method's own w.
    problem = gl.Problem(X, y, C=0.1)
    beta = np.zeros(len(y))
    beta[linear.support_] = linear.dual_coef_[0]
    assert np.isclose(gl.certify(problem, gl.Point(beta=beta)).primal, linear.certificate_.primal)


def test_hard_margin():
    X, y = iris()
    two = y < 2
    model = gl.SVC(kernel="linear", C=np.inf, tol=1e-8).fit(X[two], y[two])
    margins = np.where(y[two] == 1, 1, -1) * model.decision_function(X[two])
    assert np.isclose(margins.min(), 1.0, atol=1e-6)
    soft = gl.SVC(kernel="linear", C=1e6, tol=1e-8).fit(X[two], y[two])
    np.testing.assert_allclose(model.coef_, soft.coef_, atol=1e-4)
    with pytest.raises(
        ValueError, match=r"C=inf asks for a hard margin. The data is not separable, so that no hard margin exists"
    ):
        gl.SVC(kernel="linear", C=np.inf).fit(X[:, :1], y > 0)
    X, y = diabetes()
    tube = gl.SVR(C=np.inf, epsilon=0.5, gamma=1.0).fit(X[:40], y[:40])
    assert np.abs(tube.predict(X[:40]) - y[:40]).max() <= 0.5 + 1e-6


def test_many_samples_have_no_table_of_their_own():
    X = np.random.default_rng(0).integers(0, 3, size=(1300, 4)).astype(float)
    assert small_gram(gl.kernels.RBF(0.1), X[:1000]) is not None
    assert small_gram(gl.kernels.RBF(0.1), X) is None
    assert small_gram(gl.kernels.RBF(0.1), X, room=lambda: 1e9) is not None


def test_a_linear_kernel_on_few_features_is_a_linear_machine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 8))
    y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
    assert not begins_with_pairs(gl.Problem(X, y, C=100.0), 1e-3)
    assert begins_with_pairs(gl.Problem(X[:1000], y[:1000], C=100.0), 1e-3)
    model = gl.SVC(kernel="linear", C=100.0).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3
    # The certificate is that of the coefficients: w = Σ βᵢxᵢ.
    np.testing.assert_allclose(model.coef_, model.dual_coef_ @ model.support_vectors_, rtol=1e-9)


@pytest.mark.parametrize("model", [gl.SVC(), gl.NuSVC(nu=0.3), gl.SVR(), gl.NuSVR(), gl.OneClassSVM(nu=0.2)], ids=repr)
def test_a_linear_kernel_predicts_by_its_weights(model, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8)) + 1.0
    y = X[:, 0] + 0.3 * rng.normal(size=200) > 1.0
    model = clone(model).set_params(kernel="linear").fit(X, y)
    expected = X @ model.coef_.ravel() + model.intercept_
    predict = model.decision_function if hasattr(model, "decision_function") else model.predict
    monkeypatch.setattr("gapless.estimators.base.Panels", None)  # no kernel value is computed
    for samples in (X, sp.csr_array(X), X.astype(np.float32).astype(np.float64)):
        np.testing.assert_allclose(predict(samples), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(predict(X), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("density", [0.05, 0.3])
@pytest.mark.parametrize(
    "model", [gl.LinearSVC(loss="hinge"), gl.LinearSVC(C=10.0), gl.LinearSVR(epsilon=0.1)], ids=repr
)
def test_linear_machines_do_not_see_how_small_data_are_stored(model, density):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 80)) * (rng.random((200, 80)) < density)
    y = (X @ rng.normal(size=80) > 0).astype(int)
    n, d = X.shape
    with_zeros = sp.csr_matrix((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=X.shape)
    half = sp.csr_array(X / 2)
    twice = sp.csr_array((half.data.repeat(2), half.indices.repeat(2), 2 * half.indptr), shape=X.shape)
    models = [
        clone(model).fit(given, y)
        for given in (X, np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X), with_zeros, twice)
    ]
    for other in models[1:]:
        np.testing.assert_array_equal(other.coef_, models[0].coef_)
        np.testing.assert_array_equal(other.intercept_, models[0].intercept_)
    assert sp.issparse(stored_by_zeros(X)) == sp.issparse(stored_by_zeros(sp.csr_array(X))) == (density < 0.1)


def test_a_small_fit_computes_few_certificates():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 10)) + 1.2 * (2 * y - 1)[:, None] * (np.arange(10) < 4)
    seen = []
    alone = gl.LinearSVC(loss="hinge", C=100.0, solver="sdca").fit(X, y)
    watched = gl.LinearSVC(loss="hinge", C=100.0, solver="sdca", callback=seen.append).fit(X, y)
    assert len(alone.trace_) <= 3 < len(watched.trace_) and len(seen) >= 2
    assert max(alone.certificate_.relative_gap, watched.certificate_.relative_gap) <= 1e-4
