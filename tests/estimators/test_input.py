"""What may come in: frames, sparse matrices with long indices, single precision, read-only memory, any labels; and what is refused, in words."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.errors import InvalidInputError
from tests.estimators.data import cancer, diabetes, iris, large

NAMES = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"]


def small(name):
    X, y = diabetes() if name in ("SVR", "NuSVR", "LinearSVR") else cancer()
    return X[:60, :4].copy(), y[:60].copy()


def scores(model, X):
    return (getattr(model, "decision_function", None) or model.predict)(X)


def make(name, **parameters):
    extra = {"nu": 0.3} if "Nu" in name else {"C": 0.1} if name == "LinearSVR" else {}
    return getattr(gl, name)(**extra, **parameters)


@pytest.mark.parametrize("name", NAMES)
def test_frames_bring_feature_names(name):
    polars = pytest.importorskip("polars")
    X, y = small(name)
    columns = ["a", "b", "c", "d"]
    plain = scores(make(name).fit(X, y), X)
    for frame in (pd.DataFrame(X, columns=columns), polars.DataFrame(X, schema=columns)):
        model = make(name).fit(frame, y)
        np.testing.assert_array_equal(model.feature_names_in_, columns)
        assert model.n_features_in_ == 4
        np.testing.assert_allclose(scores(model, frame), plain)
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            model.predict(X)
        with pytest.raises(ValueError, match="The feature names should match"):
            model.predict(pd.DataFrame(X, columns=columns[::-1]))


@pytest.mark.parametrize("name", NAMES)
def test_sparse_with_long_indices(name):
    X, y = small(name)
    X[np.abs(X) < 0.3] = 0.0
    S = sp.csr_array(X)
    long = sp.csr_array((S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)), shape=S.shape)
    expected = scores(make(name).fit(X, y), X)
    for matrix in (S, long, sp.csr_matrix(X), sp.coo_array(X), sp.csc_array(X)):
        model = make(name).fit(matrix, y)
        np.testing.assert_allclose(scores(model, matrix), expected, atol=1e-10)
        np.testing.assert_allclose(scores(model, X), expected, atol=1e-10)


def test_large_sparse_data_is_kept_sparse():
    X, y = large()
    narrow = np.where(np.abs(X) > 1.2, X, 0.0)
    wide = sp.hstack([sp.csr_array(narrow), sp.csr_array((1500, 2000))], format="csr")
    model = gl.SVC(C=0.01, kernel="linear", tol=1e-4).fit(wide, y)
    assert sp.issparse(model.support_vectors_) and model.certificate_.relative_gap <= 1e-4
    dense = gl.SVC(C=0.01, kernel="linear", tol=1e-4).fit(narrow, y)
    np.testing.assert_allclose(model.decision_function(wide[:50]), dense.decision_function(narrow[:50]), atol=2e-3)
    np.testing.assert_allclose(
        model.decision_function(wide[:50]), model.decision_function(wide[:50].toarray()), atol=1e-10
    )


OUTPUTS = ("predict", "decision_function", "decision_interval", "predict_proba")


@pytest.mark.parametrize("fitted_on", [np.asarray, sp.csr_array], ids=["dense fit", "sparse fit"])
@pytest.mark.parametrize("name", [*NAMES, "KernelLogisticRegression", "KernelFisherDiscriminant"])
def test_a_model_takes_samples_in_either_storage_whatever_it_was_fitted_on(name, fitted_on):
    X, y = small(name)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    model = make(name).fit(fitted_on(X), y)
    for output in (each for each in OUTPUTS if hasattr(model, each)):
        dense = getattr(model, output)(X)
        for storage in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
            np.testing.assert_allclose(getattr(model, output)(storage(X)), dense, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", ["averaged", "voted"])
def test_a_perceptron_takes_samples_in_either_storage(form):
    X, y = small("SVC")
    model = gl.KernelPerceptron(form=form).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(sp.csr_array(X)), model.decision_function(X))


@pytest.mark.parametrize("fitted_on", [np.asarray, sp.csr_array], ids=["dense fit", "sparse fit"])
def test_a_kernel_that_is_a_function_meets_the_storage_of_the_fit_alone(fitted_on):
    X, y = small("SVC")
    fitted = fitted_on(X)

    def kernel(a, b):
        assert type(a) is type(fitted) and type(b) is type(fitted)
        return (a @ b.T + 1.0) ** 2 if isinstance(a, np.ndarray) else (a @ b.T).toarray()

    model = gl.SVC(kernel=kernel).fit(fitted, y)
    for output in ("predict", "decision_function", "decision_interval"):
        sparse, dense = getattr(model, output)(sp.csr_array(X)), getattr(model, output)(X)
        np.testing.assert_allclose(sparse, dense, rtol=1e-12, atol=1e-12)


def test_sparse_samples_of_a_dense_fit_are_unpacked_in_parts():
    """A batch of 4000 x 20000 takes 640 MB unpacked; it is read in parts of 8 MB."""
    X, y = small("SVC")
    X = np.hstack([X, np.zeros((len(X), 20_000 - X.shape[1]))])
    model = gl.SVC(kernel="linear").fit(X, y)
    batch = sp.csr_array(sp.random(4000, 20_000, density=1e-4, format="csr", random_state=0))
    tracemalloc.start()
    f = model.decision_function(batch)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e8
    np.testing.assert_allclose(f, batch @ model.coef_[0] + model.intercept_, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_and_read_only_memory(name, tmp_path):
    X, y = small(name)
    single = X.astype(np.float32)
    np.save(tmp_path / "X.npy", single)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    y.setflags(write=False)
    a, b = make(name).fit(single.astype(np.float64), y), make(name).fit(mapped, y)
    np.testing.assert_allclose(scores(a, single), scores(b, mapped), atol=1e-3)


@pytest.mark.parametrize("cls", [gl.SVC, gl.NuSVC, gl.LinearSVC])
def test_any_labels(cls):
    X, y = iris()
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    codes = cls().fit(X, y).predict(X)
    for labels in (words, words.astype(object), words.tolist(), pd.Series(words)):
        model = cls().fit(X, labels)
        np.testing.assert_array_equal(model.predict(X), np.array(["setosa", "versicolor", "virginica"])[codes])
    with pytest.warns(Warning, match="A column-vector y was passed"):
        cls().fit(X, y[:, None])


def test_a_column_of_targets_is_a_vector():
    X, y = diabetes()
    for cls in (gl.SVR, gl.NuSVR, gl.LinearSVR):
        with pytest.warns(Warning, match="A column-vector y was passed"):
            cls(C=0.1).fit(X, y[:, None])


@pytest.mark.parametrize(
    "estimator, message",
    [
        (gl.SVC(C=0.0), "The 'C' parameter of SVC must be a positive number; got 0.0."),
        (gl.SVC(C="1"), "The 'C' parameter of SVC must be a positive number; got '1'."),
        (
            gl.SVC(kernel="cubic"),
            "The 'kernel' parameter of SVC must be 'linear', 'poly', 'rbf', 'sigmoid', 'precomputed', a kernel",
        ),
        (
            gl.SVC(gamma="big"),
            "The 'gamma' parameter of SVC must be 'scale', 'auto' or a number of at least 0; got 'big'.",
        ),
        (
            gl.SVC(max_iter=0),
            "The 'max_iter' parameter of SVC must be a positive whole number, or -1 for the solver's own cap; got 0.",
        ),
        (gl.SVC(tol=0.0), "The 'tol' parameter of SVC must be a positive number; got 0.0."),
        (
            gl.SVC(class_weight="heavy"),
            "The 'class_weight' parameter of SVC must be None, 'balanced' or a dict of weights; got 'heavy'.",
        ),
        (gl.SVC(solver="magic"), "The 'solver' parameter of SVC must be a Solver or one of 'auto', 'subgradient'"),
        (gl.SVC(n_jobs=0), "The 'n_jobs' parameter of SVC must be None or a whole number other than 0; got 0."),
        (gl.SVC(max_time=-1), "The 'max_time' parameter of SVC must be None or a positive number of seconds; got -1."),
        (gl.SVC(callback=3), "The 'callback' parameter of SVC must be None or a function of a Progress; got 3."),
        (gl.NuSVC(nu=1.5), "The 'nu' parameter of NuSVC must be a number above 0 and at most 1; got 1.5."),
        (gl.SVR(epsilon=-1), "The 'epsilon' parameter of SVR must be a number of at least 0; got -1."),
        (gl.LinearSVC(max_iter=0), "The 'max_iter' parameter of LinearSVC must be a positive whole number; got 0."),
        (
            gl.LinearSVC(intercept="none"),
            "The 'intercept' parameter of LinearSVC must be one of 'regularized', 'free'; got 'none'.",
        ),
        (gl.LinearSVC(penalty="l3"), "The 'penalty' parameter of LinearSVC must be one of 'l1', 'l2'; got 'l3'."),
        (
            gl.LinearSVC(penalty="l1", loss="hinge"),
            "Unsupported set of arguments: penalty='l1' needs loss='squared_hinge'; got penalty='l1', loss='hinge', dual='auto'.",
        ),
    ],
    ids=str,
)
def test_parameters_are_refused_in_words(estimator, message):
    X, y = cancer()
    with pytest.raises(InvalidInputError) as caught:
        estimator.fit(X, y)
    assert str(caught.value).startswith(message)


def test_one_class_is_no_classification():
    X, _ = cancer()
    for cls in (gl.SVC, gl.NuSVC, gl.LinearSVC):
        with pytest.raises(InvalidInputError, match="The number of classes has to be greater than one; got 1 class"):
            cls().fit(X, np.zeros(len(X)))


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_numbers_that_overflow(kernel):
    X = np.finfo(np.float64).max * np.random.default_rng(0).uniform(size=(10, 2))
    with pytest.raises(
        InvalidInputError,
        match=r"The dual coefficients or intercepts are not finite. The input data may contain large values",
    ):
        gl.SVC(kernel=kernel).fit(X, np.arange(10) % 2)


def test_break_ties_needs_ovr():
    X, y = iris()
    model = gl.SVC(break_ties=True, decision_function_shape="ovo").fit(X, y)
    with pytest.raises(InvalidInputError, match="break_ties must be False when decision_function_shape is 'ovo'"):
        model.predict(X)


def test_attributes_that_are_not_there():
    X, y = cancer()
    assert not hasattr(gl.SVC(), "n_support_")
    with pytest.raises(AttributeError, match="n_support_ is known after fit"):
        _ = gl.SVC().n_support_
    with pytest.raises(AttributeError, match="coef_ is only available when using a linear kernel"):
        _ = gl.SVC().fit(X, y).coef_


def test_coefficients_are_read_only():
    X, y = cancer()
    for data in (X, sp.csr_array(X)):
        coef = gl.SVC(kernel="linear").fit(data, y).coef_
        with pytest.raises(ValueError, match="read-only"):
            (coef.data if sp.issparse(coef) else coef)[:1] = 0.0


def test_a_tampered_model_is_refused():
    X, y = cancer()
    model = gl.SVC().fit(X, y)
    model._n_support[0] += 1
    with pytest.raises(InvalidInputError, match="The internal representation of SVC was altered"):
        model.predict(X)
    model = gl.SVR().fit(*diabetes())
    model.support_vectors_ = model.support_vectors_[1:]
    with pytest.raises(InvalidInputError, match="The internal representation of SVR was altered"):
        model.predict(diabetes()[0])


def test_gamma_zero_degree_zero_and_constant_features():
    X, y = cancer()
    for estimator in (gl.SVC(gamma=0.0), gl.SVC(kernel="poly", degree=0, gamma=1.0)):
        assert len(set(estimator.fit(X, y).predict(X))) == 1  # all samples are alike
    assert gl.SVC().fit(np.ones((6, 2)), [0, 1] * 3)._gamma == 1.0
