from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError


@pytest.fixture(scope="module")
def binary():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:200], y[:200]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return X[:200] * 20, (y[:200] - 150) / 80


def svc_primal(model, X, y, weight=1.0):
    """½‖w‖² + C Σ hinge, from what the model itself says of its coefficients and decisions."""
    vectors = model.support_vectors_
    K = np.exp(-model._gamma * ((vectors[:, None] - vectors[None]) ** 2).sum(-1))
    beta = model.dual_coef_[0]
    margins = np.where(y == model.classes_[1], 1, -1) * model.decision_function(X)
    return 0.5 * beta @ K @ beta + model.C * (weight * np.maximum(0, 1 - margins)).sum()


@pytest.mark.parametrize("library", [svm, gl])
def test_primal_is_that_of_the_model_as_it_predicts(library, binary):
    X, y = binary
    model = library.SVC(C=5, tol=1e-3).fit(X, y)
    certificate = gl.certify(model, X, y)
    assert_allclose(certificate.primal, svc_primal(model, X, y), rtol=1e-10)
    assert 0 <= certificate.relative_gap < 1e-2
    assert certificate.parts == ()


def test_a_wrong_intercept_is_seen(binary):
    X, y = binary
    model = svm.SVC().fit(X, y)
    honest = gl.certify(model, X, y)
    model.intercept_ = model.intercept_ + 0.5
    tampered = gl.certify(model, X, y)
    assert tampered.primal > honest.primal * 1.01
    assert tampered.dual == honest.dual


def test_dual_bound_holds_for_a_tight_optimum(binary):
    X, y = binary
    optimum = gl.solve(gl.Problem(X, y, kernel=gl.kernels.RBF(0.1), C=5), tol=1e-10).certificate.primal
    certificate = gl.certify(svm.SVC(C=5, gamma=0.1, tol=0.1).fit(X, y), X, y)
    assert certificate.dual <= optimum * (1 + 1e-9) <= certificate.primal * (1 + 1e-9)


MODELS = [
    ("SVC", {}), ("SVC", {"kernel": "linear", "C": 10}), ("SVC", {"kernel": "poly"}), ("NuSVC", {"nu": 0.3}),
    ("SVC", {"class_weight": {0: 1, 1: 3, 2: 0.5}}), ("LinearSVC", {"max_iter": 100_000}), ("LinearSVC", {"loss": "hinge", "max_iter": 100_000}),
]  # fmt: skip


@pytest.mark.parametrize("library", [svm, gl], ids=["sklearn", "gapless"])
@pytest.mark.parametrize(("name", "options"), MODELS)
def test_classifiers_of_three_classes(library, name, options, iris):
    X, y = iris
    certificate = gl.certify(getattr(library, name)(tol=1e-6, **options).fit(X, y), X, y)
    assert len(certificate.parts) == 3
    assert certificate.relative_gap == max(part.relative_gap for part in certificate.parts)
    assert -1e-12 < certificate.relative_gap < 1e-3


@pytest.mark.parametrize("library", [svm, gl], ids=["sklearn", "gapless"])
@pytest.mark.parametrize(
    ("name", "options"),
    [("SVR", {}), ("NuSVR", {}), ("OneClassSVM", {}), ("LinearSVR", {"C": 0.01, "max_iter": 10_000})],
)
def test_single_models(library, name, options, numbers):
    X, y = numbers
    certificate = gl.certify(getattr(library, name)(tol=1e-6, **options).fit(X, y), X, y)
    assert -1e-12 < certificate.relative_gap < 1e-4


@pytest.mark.parametrize("library", [svm, gl], ids=["sklearn", "gapless"])
def test_weights_and_sparse_rows(library, binary):
    X, y = binary
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = library.SVC(tol=1e-5).fit(X, y, sample_weight=weight)
    certificate = gl.certify(model, X, y, sample_weight=weight)
    assert_allclose(certificate.primal, svc_primal(model, X, y, weight), rtol=1e-9)
    assert certificate.relative_gap < 1e-3
    sparse = library.SVC(tol=1e-5, gamma=0.05).fit(sp.csr_matrix(X), y)
    assert gl.certify(sparse, sp.csr_array(X), y).relative_gap < 1e-3


@pytest.mark.parametrize("library", [svm, gl])
def test_weights_of_zero_on_samples_of_which_many_are_equal(library):
    """scikit-learn's indices count the samples of positive weight, and counted among all samples they may name equal rows of other targets."""
    X = np.array([1.0, -1, 0, -1, 1, 0, 0, 1, 2, 1, 1, 1, 2])[:, None]
    y = np.array([-0.16, 0.07, -0.05, 0.02, -0.13, -0.07, 0.08, 0.0, -0.12, -0.16, -0.1, -0.09, 0.01])
    weight = np.array([1.0, 3, 2, 1, 0, 2, 1, 1, 0, 1, 3, 0, 3])
    model = library.SVR(C=0.06, gamma=0.4, tol=1e-6).fit(X, y, sample_weight=weight)
    assert gl.certify(model, X, y, sample_weight=weight).relative_gap < 1e-2


def test_gram_matrices(binary):
    X, y = binary
    K = X @ X.T
    given = gl.certify(svm.SVC(kernel="precomputed", tol=1e-6).fit(K, y), K, y)
    called = gl.certify(svm.SVC(kernel=lambda A, B: A @ B.T, tol=1e-6).fit(X, y), X, y)
    named = gl.certify(svm.SVC(kernel="linear", tol=1e-6).fit(X, y), X, y)
    assert_allclose([given.primal, called.primal], named.primal, rtol=1e-9)


def heavy_tails():
    """Eight features of scales from 0.01 to 1,000 with heavy tails: the terms of w cancel, and few digits of their sum are left."""
    rng = np.random.default_rng(0)
    Z = rng.standard_t(2, size=(400, 8))
    score = Z[:, 0] + Z[:, 3] - Z[:, 6] + rng.standard_t(2, size=400)
    return Z * np.logspace(-2, 3, 8), score


@pytest.mark.parametrize("form", ["SVC", "SVR"])
def test_a_linear_model_is_judged_as_well_as_its_fit(form):
    """What summing w may have been rounded by was counted as a gap of 1e-3 and more, whatever the gap of the model was."""
    X, score = heavy_tails()
    y = (score > 0).astype(int) if form == "SVC" else score
    model = getattr(gl, form)(kernel="linear", C=100.0).fit(X, y)
    certificate, plain = gl.certify(model, X, y), gl.certify(model, X, y, independent=True)
    assert certificate.relative_gap <= 2.0 * model.certificate_.relative_gap + 1e-9
    assert certificate.rounding <= 1e-10 * certificate.primal
    assert_allclose([certificate.primal, certificate.dual], [plain.primal, plain.dual], rtol=1e-6)
    assert gl.certify(model, sp.csr_array(X), y).primal == pytest.approx(certificate.primal, rel=1e-12)
    model.intercept_ = model.intercept_ + 1.0
    tampered = gl.certify(model, X, y)
    assert tampered.primal > 1.001 * certificate.primal and tampered.dual == certificate.dual


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("library", [svm, gl], ids=["sklearn", "gapless"])
def test_the_value_of_a_linear_model_is_the_exact_one(library):
    """P of the coefficients and the intercept in rational arithmetic is not above the bound, nor further below it than twice the digits tell."""
    X, score = heavy_tails()
    y = (score > 0).astype(int)
    model = library.SVC(kernel="linear", C=100.0, max_iter=10_000).fit(X, y)
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    beta = list(map(Fraction, model.dual_coef_[0].tolist()))
    w = [sum(b * rows[i][j] for b, i in zip(beta, model.support_, strict=True)) for j in range(8)]
    f = [sum(v * x for v, x in zip(w, row, strict=True)) + Fraction(float(model.intercept_[0])) for row in rows]
    losses = (max(Fraction(0), 1 - (v if label else -v)) for v, label in zip(f, y, strict=True))
    value = sum(v * v for v in w) / 2 + 100 * sum(losses)
    primal = Fraction(gl.certify(model, X, y).primal)
    assert value <= primal <= value * (1 + Fraction(1, 10**10))


def libsvm_text(model, labels):
    """scikit-learn's fitted SVC as LIBSVM would write it."""
    dual, vectors = model._dual_coef_, model.support_vectors_
    lines = [
        "svm_type c_svc", "kernel_type rbf", f"gamma {model._gamma!r}", f"nr_class {len(labels)}", f"total_sv {len(vectors)}",
        "rho " + " ".join(repr(float(-b)) for b in model._intercept_), "label " + " ".join(map(str, labels)),
        "nr_sv " + " ".join(map(str, model.n_support_)), "SV",
    ]  # fmt: skip
    for column, vector in zip(dual.T, vectors, strict=True):
        entries = " ".join(f"{j + 1}:{value:.8g}" for j, value in enumerate(vector) if value)
        lines.append(" ".join(f"{c:.17g}" for c in column) + " " + entries)
    return "\n".join(lines) + "\n"


def test_libsvm_model_file(tmp_path, iris):
    X, y = iris
    model = svm.SVC(C=3, gamma=0.25).fit(X, y)
    path = tmp_path / "model"
    path.write_text(libsvm_text(model, [0, 1, 2]))
    theirs, read = gl.certify(model, X, y), gl.certify(path, X, y, C=3)
    assert len(read.parts) == 3
    assert_allclose([p.primal for p in read.parts], [p.primal for p in theirs.parts], rtol=1e-6)
    assert_allclose([p.dual for p in read.parts], [p.dual for p in theirs.parts], rtol=1e-6)
    with pytest.raises(InvalidInputError, match=r"does not store C; give it: certify\(model, X, y, C=…\)\.$"):
        gl.certify(path, X, y)
    with pytest.raises(
        InvalidInputError, match=r"^support vector 1 of the LIBSVM model is not a row of X \(of its class\)"
    ):
        gl.certify(path, X + 1, y, C=3)
    with pytest.raises(InvalidInputError, match=r"^y has labels that the model was not trained on\.$"):
        gl.certify(path, X, y + 7, C=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a LIBSVM model: it lacks a line svm_type or a line SV."),
        ("svm_type c_svc\nkernel_type rbf\n", "is not a LIBSVM model: it lacks a line svm_type or a line SV."),
        (
            "svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 1\nrho 0\nlabel 0 1\nnr_sv 1 0\nSV\n1.0 1:x\n",
            "line 10 of .* is not a support vector",
        ),
        ("svm_type c_svc\nkernel_type odd\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1.0 1:1\n", "has the kernel odd"),
    ],
)  # fmt: skip
def test_libsvm_files_that_are_none(tmp_path, text, message):
    path = tmp_path / "model"
    path.write_text(text)
    with pytest.raises((InvalidInputError, UnsupportedError), match=message):
        gl.certify(path, np.eye(2), [0, 1], C=1)
    with pytest.raises(InvalidInputError, match="cannot be read"):
        gl.certify(tmp_path / "absent", np.eye(2), [0, 1], C=1)


def test_libsvm_package(iris):
    svmutil = pytest.importorskip("libsvm.svmutil", reason="LIBSVM's Python package is not installed")
    X, y = iris
    for options, tolerance in (
        ("-s 0 -c 3 -q", 1e-2),
        ("-s 1 -n 0.3 -q", 1e-2),
        ("-s 2 -n 0.2 -q", 1e-3),
        ("-s 3 -c 10 -q", 1e-2),
        ("-s 4 -c 10 -q", 1e-2),
    ):
        model = svmutil.svm_train(y.tolist(), X.tolist(), options)
        assert -1e-12 < gl.certify(model, X, y).relative_gap < tolerance


def test_libsvm_class_weights_are_asked_for(binary):
    """A model keeps the number of its class weights and not the weights: it was certified as if it had none."""
    svmutil = pytest.importorskip("libsvm.svmutil", reason="LIBSVM's Python package is not installed")
    X, y = binary
    labels = np.where(np.asarray(y) == np.unique(y)[1], 1, -1)
    model = svmutil.svm_train(labels.tolist(), X.tolist(), "-s 0 -t 0 -c 1 -w1 5 -e 1e-6 -q")
    with pytest.raises(InvalidInputError, match=r"^the LIBSVM model was trained with class weights \(-wi\)"):
        gl.certify(model, X, labels)
    weight = np.where(labels > 0, 5.0, 1.0)
    assert gl.certify(model, X, labels, sample_weight=weight).relative_gap < 1e-5


def test_libsvm_model_that_was_loaded_does_not_know_its_parameters(tmp_path, binary):
    """LIBSVM leaves C unset when it loads a model: it was taken for the C of the training."""
    svmutil = pytest.importorskip("libsvm.svmutil", reason="LIBSVM's Python package is not installed")
    X, y = binary
    labels = np.where(np.asarray(y) == np.unique(y)[1], 1, -1)
    svmutil.svm_save_model(
        str(tmp_path / "model"), svmutil.svm_train(labels.tolist(), X.tolist(), "-s 0 -t 0 -c 3 -e 1e-6 -q")
    )
    loaded = svmutil.svm_load_model(str(tmp_path / "model"))
    with pytest.raises(InvalidInputError, match=r"does not store C; give it"):
        gl.certify(loaded, X, labels)
    assert gl.certify(loaded, X, labels, C=3).relative_gap < 1e-5


def test_intel_extension(iris):
    sklearnex = pytest.importorskip("sklearnex.svm", reason="scikit-learn-intelex is not installed")
    X, y = iris
    for model in (sklearnex.SVC(C=3), sklearnex.NuSVC(nu=0.3), sklearnex.SVR(C=10)):
        assert -1e-12 < gl.certify(model.fit(X, y), X, y).relative_gap < 1e-2


def test_refusals(binary):
    X, y = binary
    with pytest.raises(
        UnsupportedError,
        match=r"^certify reads problems with points, LIBSVM models, and fitted SVC, .*; got LogisticRegression\.$",
    ):
        gl.certify(LogisticRegression(), X, y)
    with pytest.raises(InvalidInputError, match=r"^certify needs a fitted model; this SVC is not fitted yet\.$"):
        gl.certify(svm.SVC(), X, y)
    model = svm.SVC().fit(X, y)
    with pytest.raises(
        InvalidInputError, match=r"^certify\(model, X, y\) needs the labels or targets that the model was trained on\.$"
    ):
        gl.certify(model, X)
    with pytest.raises(InvalidInputError, match=r"^C is the model's own; give it for a LIBSVM model file alone\.$"):
        gl.certify(model, X, y, C=1)
    with pytest.raises(
        InvalidInputError,
        match=r"^the model's support vectors are not rows of X: the model was trained on other data\.$",
    ):
        gl.certify(model, X + 1, y)
    with pytest.raises(
        InvalidInputError, match=r"^certify\(problem, point\) takes a Result or a Point after the problem\.$"
    ):
        gl.certify(gl.Problem(X, y), X, y)
    with pytest.raises(
        InvalidInputError,
        match=r"^C, sample_weight is the problem's own; certify\(problem, point\) does not take it\.$",
    ):
        gl.certify(gl.Problem(X, y), gl.Point(beta=np.zeros(len(y))), C=1, sample_weight=np.ones(len(y)))
    with pytest.raises(UnsupportedError, match=r"^certify reads LinearSVC with penalty='l2' and multi_class='ovr'"):
        gl.certify(svm.LinearSVC(penalty="l1", dual=False).fit(X, y), X, y)


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(1.0)], ids=str)
def test_points_of_another_size_are_refused(kernel, independent):
    """Compiled loops trusted the lengths: a short expansion was read beyond its end, and certified."""
    X, y = np.random.default_rng(0).normal(size=(8, 3)), np.arange(8) % 2
    problem = gl.Problem(X, y, kernel=kernel)
    for point, message in [
        (gl.Point(beta=np.zeros(3)), "beta must have the shape (8,); got (3,)."),
        (gl.Point(beta=np.zeros((8, 2))), "beta must have the shape (8,); got (8, 2)."),
        (gl.Point(expansion=np.zeros(2)), "expansion must have the shape (8,); got (2,)."),
        (gl.Point(w=np.zeros(7)), "w must have the shape (3,); got (7,)."),
        (gl.Point(beta=np.zeros(8), offsets=np.zeros(2)), "offsets must have the shape (1,); got (2,)."),
        (gl.Point(beta=["a"] * 8), "beta must hold numbers; could not convert string to float: np.str_('a')."),
        (gl.solve(gl.Problem(X[:5], y[:5], kernel=kernel)), "beta must have the shape (8,); got (5,)."),
    ]:  # fmt: skip
        with pytest.raises(gl.errors.InvalidInputError) as caught:
            gl.certify(problem, point, independent=independent)
        assert str(caught.value) == message


def test_points_may_be_lists_and_of_other_types():
    problem = gl.Problem([[-1.0], [1.0]], [-1, 1], C=10.0)
    expected = gl.certify(problem, gl.Point(beta=np.array([-0.5, 0.5])))
    for beta in ([-0.5, 0.5], np.array([-0.5, 0.5], dtype=np.float32), np.repeat([-0.5, 0.5], 2)[::2]):
        assert gl.certify(problem, gl.Point(beta=beta)) == expected
