"""KernelRidge and KernelPCA are scikit-learn's, with our kernels: the naive formulas, scikit-learn's own, and its checks."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.kernel_ridge
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF as GaussianProcessRBF
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.kernels import RBF, FunctionKernel, Laplacian, Linear, Polynomial, Sigmoid

_rng = np.random.default_rng(0)
X = _rng.normal(size=(60, 3)) * [1.0, 2.0, 0.5] + 0.3
Z = _rng.normal(size=(9, 3))
y = np.sin(X[:, 0]) + 0.1 * _rng.normal(size=60)
COMPOSED = 0.5 * RBF(gamma=0.3) + Polynomial(degree=2, gamma=0.1) * Linear()
KERNELS = [RBF(gamma=0.3), Laplacian(gamma=0.4), COMPOSED]
SCALE = 1.0 / (3 * X.var())
RIDGE, PCA = sklearn.kernel_ridge.KernelRidge, sklearn.decomposition.KernelPCA


@parametrize_with_checks(
    [
        gl.KernelRidge(),
        gl.KernelRidge(kernel="linear"),
        gl.KernelRidge(kernel=RBF(gamma=0.3)),
        gl.KernelPCA(),
        gl.KernelPCA(n_components=2, kernel=RBF(gamma=0.3)),
    ]
)
def test_checks(estimator, check):
    check(estimator)


def gram(kernel, A, B):
    """The naive double loop."""
    return np.array([[kernel(a, b) for b in B] for a in A])


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_ridge_solves_the_naive_system(kernel, container):
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 60)
    K = gram(kernel, X, X)
    model = gl.KernelRidge(alpha=0.7, kernel=kernel).fit(container(X), y)
    assert_allclose(model.dual_coef_, np.linalg.solve(K + 0.7 * np.eye(60), y), rtol=1e-9, atol=1e-12)
    assert_allclose(model.predict(container(Z)), gram(kernel, Z, X) @ model.dual_coef_, rtol=1e-9, atol=1e-12)
    weighted = gl.KernelRidge(alpha=0.7, kernel=kernel).fit(container(X), y, weight)
    assert_allclose(weighted.dual_coef_, np.linalg.solve(K + np.diag(0.7 / weight), y), rtol=1e-8, atol=1e-12)


def test_ridge_minimises_what_the_docstring_says():
    rng = np.random.default_rng(2)
    weight, targets = rng.uniform(0.5, 2.0, 60), np.column_stack([y, y**2])
    model = gl.KernelRidge(alpha=[0.1, 3.0], kernel=COMPOSED).fit(X, targets, weight)
    K = COMPOSED(X)
    for column, alpha in enumerate([0.1, 3.0]):

        def objective(a, column=column, alpha=alpha):
            return weight @ (targets[:, column] - K @ a) ** 2 + alpha * a @ K @ a

        best = objective(model.dual_coef_[:, column])
        for _ in range(20):
            assert objective(model.dual_coef_[:, column] + 1e-3 * rng.normal(size=60)) > best


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("eigen_solver", ["dense", "arpack"])
def test_pca_is_the_naive_one(kernel, container, eigen_solver):
    K, centring = gram(kernel, X, X), np.eye(60) - 1 / 60
    values, vectors = np.linalg.eigh(centring @ K @ centring)
    values, vectors = values[:-4:-1], vectors[:, :-4:-1]
    model = gl.KernelPCA(3, kernel=kernel, eigen_solver=eigen_solver, random_state=0).fit(container(X))
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    signs = np.sign((model.eigenvectors_ * vectors).sum(axis=0))
    assert_allclose(model.eigenvectors_ * signs, vectors, atol=1e-8)
    # New samples: the inner products of their centred features with the axes.
    B = gram(kernel, Z, X)
    centred = B - B.mean(axis=1)[:, None] - K.mean(axis=0) + K.mean()
    assert_allclose(model.transform(container(Z)) * signs, centred @ vectors / np.sqrt(values), rtol=1e-7, atol=1e-8)
    assert_allclose(model.transform(container(X)), model.fit_transform(container(X)), atol=1e-8)


def pairwise(name, gamma, a, b):
    options = {} if name == "laplacian" else {"degree": 2, "coef0": 0.5}
    return pairwise_kernels([a], [b], metric=name, gamma=gamma, **options).item()


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "polynomial"])
@pytest.mark.parametrize(("gamma", "number"), [("scale", SCALE), ("auto", 1 / 3), (None, 1 / 3), (0.2, 0.2)])
@pytest.mark.filterwarnings("ignore:Singular matrix in solving dual problem")
def test_names_mean_what_they_mean_in_scikit_learn(name, gamma, number):
    options = {"kernel": name, "degree": 2, "coef0": 0.5}
    ours = gl.KernelRidge(alpha=5.0, gamma=gamma, **options).fit(X, y)
    theirs = RIDGE(alpha=5.0, gamma=number, **options).fit(X, y)
    assert ours.gamma_ == pytest.approx(number, rel=1e-12)
    assert_allclose(ours.predict(Z), theirs.predict(Z), rtol=1e-7, atol=1e-9)
    theirs = PCA(2, gamma=number, **options)
    if name in ("laplacian", "polynomial"):  # names of scikit-learn's that its own KernelPCA does not take
        theirs.set_params(kernel=partial(pairwise, name, number))
    ours = gl.KernelPCA(2, gamma=gamma, **options).fit(X)
    theirs.fit(X)
    assert ours.gamma_ == pytest.approx(number, rel=1e-12)
    assert_allclose(ours.transform(Z), theirs.transform(Z), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("gamma", ["scale", 0.2])
def test_the_pre_images_are_scikit_learns(gamma):
    number = SCALE if gamma == "scale" else gamma
    ours = gl.KernelPCA(2, gamma=gamma, fit_inverse_transform=True, alpha=0.1)
    theirs = PCA(2, kernel="rbf", gamma=number, fit_inverse_transform=True, alpha=0.1)
    there, here = theirs.fit_transform(X), ours.fit_transform(X)
    assert_allclose(here, there, atol=1e-10)
    assert_allclose(ours.inverse_transform(here.tolist()), theirs.inverse_transform(there), atol=1e-8)


def test_the_defaults_are_those_of_the_family():
    support = gl.SVR().get_params()
    for model in (gl.KernelRidge(), gl.KernelPCA()):
        own = model.get_params()
        assert {name: own[name] for name in ("kernel", "gamma", "degree", "coef0")} == {
            name: support[name] for name in ("kernel", "gamma", "degree", "coef0")
        }
    for cls, parent in ((gl.KernelRidge, RIDGE), (gl.KernelPCA, PCA)):
        assert issubclass(cls, parent)
        own, theirs = cls().get_params(), parent().get_params()
        assert {name for name in theirs if own[name] != theirs[name]} == {"kernel", "gamma", "coef0"}
        assert own.keys() == theirs.keys()


def test_weight_two_is_the_row_twice_gamma_included():
    weight = np.arange(60) % 3
    model = gl.KernelRidge(alpha=0.3).fit(X, y, weight)
    twice = gl.KernelRidge(alpha=0.3).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert model.gamma_ == pytest.approx(twice.gamma_, rel=1e-12)
    assert_allclose(model.predict(Z), twice.predict(Z), rtol=1e-8)


def test_all_ways_to_say_rbf_are_one_model():
    def of_pairs(a, b):
        return np.exp(-0.3 * ((a - b) ** 2).sum())

    expected = gl.KernelRidge(gamma=0.3).fit(X, y).predict(Z)
    for kernel in (
        RBF(gamma=0.3),
        GaussianProcessRBF(length_scale=np.sqrt(1 / 0.6)),
        of_pairs,
        FunctionKernel(of_pairs),
    ):
        assert_allclose(gl.KernelRidge(kernel=kernel).fit(X, y).predict(Z), expected, rtol=1e-9)
    k = RBF(gamma=0.3)
    assert_allclose(gl.KernelRidge(kernel="precomputed").fit(k(X), y).predict(k(Z, X)), expected, rtol=1e-9)
    assert_allclose(
        abs(gl.KernelPCA(2, kernel="precomputed").fit(k(X)).transform(k(Z, X))),
        abs(gl.KernelPCA(2, gamma=0.3).fit(X).transform(Z)),
        atol=1e-9,
    )


def shifted(a, b, shift):
    return float(a @ b) + shift


def test_arguments_of_a_function():
    model = gl.KernelRidge(kernel=shifted, kernel_params={"shift": 2.0}).fit(X, y)
    assert_allclose(model.predict(Z), gl.KernelRidge(kernel=Linear() + 2.0).fit(X, y).predict(Z), rtol=1e-8)


@pytest.mark.parametrize(
    "model", [gl.KernelRidge(kernel=COMPOSED), gl.KernelPCA(2, kernel=COMPOSED)], ids=lambda m: type(m).__name__
)
def test_a_second_life(model):
    model = clone(model)
    predict = "predict" if hasattr(model, "predict") else "transform"
    expected = getattr(model.fit(X, y), predict)(Z)
    assert_array_equal(getattr(pickle.loads(pickle.dumps(model)), predict)(Z), expected)
    # A fitted model keeps the kernel that it was fitted with, and a clone the one that it is to be fitted with.
    model.set_params(kernel__left__kernel__gamma=9.0)
    assert_array_equal(getattr(model, predict)(Z), expected)
    assert model.kernel_ == COMPOSED != model.kernel
    again = clone(model)
    assert again.kernel == model.kernel and again.kernel is not model.kernel and not hasattr(again, "kernel_")
    assert not np.allclose(getattr(again.fit(X, y), predict)(Z), expected)


def test_a_grid_search_reaches_the_kernel_through_a_pipeline():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), gl.KernelPCA(5, kernel=RBF(gamma=1.0)), gl.KernelRidge(kernel=RBF(gamma=1.0))),
        {
            "kernelpca__kernel__gamma": [0.01, 0.1],
            "kernelridge__kernel__gamma": [0.01, 1.0],
            "kernelridge__alpha": [0.01],
        },
        cv=3,
    ).fit(X, y)
    best = search.best_estimator_
    assert best[-1].kernel_.gamma == search.best_params_["kernelridge__kernel__gamma"]
    assert best[1].kernel_.gamma == search.best_params_["kernelpca__kernel__gamma"]
    assert search.score(X, y) > 0.5


def test_float32_stays_where_scikit_learns_stays():
    small = X.astype(np.float32)
    for kernel in ("rbf", RBF(gamma=0.3)):
        model = gl.KernelPCA(2, kernel=kernel).fit(small)
        assert model.fit_transform(small).dtype == model.transform(small).dtype == np.float32
        assert_allclose(abs(model.transform(small)), abs(gl.KernelPCA(2, kernel=kernel).fit_transform(X)), atol=1e-4)


def test_names_of_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc"))
    model = gl.KernelPCA(2).set_output(transform="pandas").fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert list(model.transform(frame).columns) == ["kernelpca0", "kernelpca1"]
    with pytest.raises(ValueError, match="feature names should match"):
        gl.KernelRidge().fit(frame, y).predict(frame[["c", "b", "a"]])


_EXPECTED_KERNEL = (
    "a kernel of gapless.kernels, a function of two samples, or one of 'linear', 'poly', 'rbf', 'sigmoid', 'precomputed' "
    "and scikit-learn's further names"
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "gauss"}, f"The 'kernel' parameter of KernelRidge must be {_EXPECTED_KERNEL}; got 'gauss'."),
        ({"kernel": 3}, f"The 'kernel' parameter of KernelRidge must be {_EXPECTED_KERNEL}; got 3."),
        (
            {"gamma": "large"},
            "The 'gamma' parameter of KernelRidge must be 'scale', 'auto', None or a number of at least 0; got 'large'.",
        ),
        (
            {"degree": 1.5},
            "The 'degree' parameter of KernelRidge must be a whole number of at least 0 and at most 2,147,483,647; got 1.5.",
        ),
        ({"coef0": np.inf}, "The 'coef0' parameter of KernelRidge must be a finite number; got inf."),
    ],
)
def test_errors_name_the_parameter(options, message):
    with pytest.raises(InvalidInputError) as caught:
        gl.KernelRidge(**options).fit(X, y)
    assert str(caught.value) == message


def test_refusals_of_data():
    with pytest.raises(InvalidInputError, match=r"sample_weight must not be negative; got -1."):
        gl.KernelRidge().fit(X, y, np.r_[-1.0, np.ones(59)])
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(5,\), expected \(60,\)"):
        gl.KernelRidge().fit(X, y, np.ones(5))
    with pytest.raises(InvalidInputError, match=r"The kernel's values are not finite"):
        gl.KernelRidge(kernel=Polynomial(degree=5)).fit(1e70 * X, y)


@pytest.mark.parametrize(
    "estimator", [gl.KernelRidge(kernel="precomputed"), gl.KernelPCA(kernel="precomputed")], ids=str
)
def test_a_sparse_gram_matrix_is_refused_as_by_the_family(estimator):
    with pytest.raises(TypeError, match=r"Sparse precomputed kernels are not supported."):
        estimator.fit(sp.csr_array(RBF()(X)), y)


def test_a_kernel_that_is_no_inner_product():
    indefinite = Sigmoid(gamma=1.0, coef0=-1.0)
    K = indefinite(X)
    assert np.linalg.eigvalsh(K).min() < -1
    model = gl.KernelRidge(alpha=0.5, kernel=indefinite)
    with pytest.warns(Warning, match="Singular matrix in solving dual problem"):
        model.fit(X, y)
    assert_allclose((K + 0.5 * np.eye(60)) @ model.dual_coef_, y, atol=1e-8)
    with pytest.raises(ValueError, match="negative eigenvalues"):
        gl.KernelPCA(kernel=indefinite).fit(X)


@pytest.mark.parametrize("estimator", [gl.KernelRidge(gamma=1.0), gl.KernelPCA(gamma=1.0)], ids=str)
def test_a_kernel_matrix_that_does_not_fit_is_refused_with_its_size(estimator, monkeypatch):
    import gapless.data.memory

    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 1000)
    with pytest.raises(gl.errors.TooLargeError, match=r"holds the kernel's matrix: 60 x 60 in float64, which needs"):
        estimator.fit(X, y)
