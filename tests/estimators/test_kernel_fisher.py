"""KernelFisherDiscriminant: scikit-learn's discriminant analysis where the kernel is linear, and Fisher's quotient elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless import KernelFisherDiscriminant
from gapless.errors import InvalidInputError
from gapless.kernels import RBF
from tests.estimators.data import cancer, iris


def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("priors", [None, "equal"])
@pytest.mark.parametrize("data", [cancer, iris, wine])
def test_with_the_linear_kernel_and_no_regularisation_it_is_scikit_learns(data, priors):
    X, y = data()
    k = len(np.unique(y))
    priors = None if priors is None else np.full(k, 1.0 / k)
    ours = KernelFisherDiscriminant(kernel="linear", alpha=0.0, priors=priors).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen" if priors is None else "svd", priors=priors).fit(X, y)
    if priors is None:
        f, g = (model.decision_function(X) for model in (ours, theirs))
        if k > 2:  # scores are known up to a number that all classes share
            f, g = f - f[:, :1], g - g[:, :1]
        np.testing.assert_allclose(f, g, rtol=1e-8, atol=1e-9 * np.abs(g).max())
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(
            ours.explained_variance_ratio_, theirs.explained_variance_ratio_[: k - 1], atol=1e-10
        )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("data", [cancer, iris, wine])
def test_the_axes_are_scikit_learns_up_to_sign_and_scale(data):
    X, y = data()
    ours = KernelFisherDiscriminant(kernel="linear", alpha=0.0).fit(X, y).transform(X)
    theirs = LinearDiscriminantAnalysis(solver="svd").fit(X, y).transform(X)
    assert ours.shape == theirs.shape
    ours, theirs = (Z / Z.std(axis=0) * np.sign(Z[0]) for Z in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_the_classes_have_unit_covariance_on_the_axes_where_nothing_is_added():
    X, y = iris()
    Z = KernelFisherDiscriminant(kernel="linear", alpha=0.0).fit(X, y).transform(X)
    inner = Z - np.stack([Z[y == c].mean(axis=0) for c in range(3)])[y]
    np.testing.assert_allclose(inner.T @ inner / 150, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-3, 0.1])
def test_no_other_direction_has_a_larger_quotient(alpha):
    """⟨w, S_b w⟩ / ⟨w, (S_w + α) w⟩ of w = Σ aᵢφ(xᵢ), written out with K alone."""
    X, y = iris()
    kernel = RBF(gamma=0.3)
    K = kernel(X)
    model = KernelFisherDiscriminant(kernel=kernel, alpha=alpha).fit(X, y)
    member = np.eye(3)[y]
    means = K @ member / member.sum(axis=0)  # column c: ⟨φ(xᵢ), mean of class c⟩

    def quotient(a: np.ndarray) -> float:
        centred = a @ (means - means @ model.priors_[:, None])
        inner = a @ K - (a @ means)[y]
        return float(model.priors_ @ centred**2 / ((inner**2).mean() + alpha * a @ K @ a))

    best = np.zeros(150)
    best[model.support_] = model.dual_coef_[0]
    rng = np.random.default_rng(0)
    top = quotient(best)
    assert all(quotient(best + 0.1 * np.abs(best).max() * rng.normal(size=150)) < top for _ in range(50))
    assert quotient(best * 7.0) == pytest.approx(top)


def test_rings_are_two_heaps_on_the_axis():
    X, y = make_circles(200, noise=0.08, factor=0.4, random_state=0)
    model = KernelFisherDiscriminant(gamma=1.0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert KernelFisherDiscriminant(kernel="linear").fit(X, y).score(X, y) < 0.7
    z = model.transform(X).ravel()
    assert max(z[y == 0].min(), z[y == 1].min()) > min(z[y == 0].max(), z[y == 1].max())


def test_fewer_axes_and_their_names():
    X, y = iris()
    model = KernelFisherDiscriminant(n_components=1).fit(X, y)
    assert model.transform(X).shape == (150, 1)
    assert model.get_feature_names_out().tolist() == ["kernelfisherdiscriminant0"]
    np.testing.assert_array_equal(model.predict(X), KernelFisherDiscriminant().fit(X, y).predict(X))


def test_classes_without_a_width_need_a_regularisation():
    X, y = iris()
    with pytest.raises(
        InvalidInputError, match=r"alpha must be larger: with alpha=0 the classes have no width in some of"
    ):
        KernelFisherDiscriminant(alpha=0.0, gamma=1.0).fit(X, y)


def test_precomputed_and_functions_are_the_same_model():
    X, y = iris()
    kernel = RBF(gamma=0.3)
    expected = KernelFisherDiscriminant(kernel=kernel).fit(X, y).decision_function(X)
    given = KernelFisherDiscriminant(kernel="precomputed").fit(kernel(X), y)
    np.testing.assert_allclose(given.decision_function(kernel(X)), expected, rtol=1e-6)
    function = KernelFisherDiscriminant(kernel=lambda A, B: kernel(A, B)).fit(X, y)
    np.testing.assert_allclose(function.decision_function(X), expected, rtol=1e-6)
    assert gl.KernelFisherDiscriminant(kernel="precomputed").__sklearn_tags__().input_tags.pairwise
