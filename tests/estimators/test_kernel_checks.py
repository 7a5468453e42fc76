"""scikit-learn's own checks of the kernelised relatives, with nothing expected to fail; and what all of them share."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.kernels import RBF, Linear, Polynomial, Sigmoid
from tests.estimators.data import cancer, iris

ESTIMATORS = [
    gl.KernelLogisticRegression(tol=1e-10),
    gl.KernelLogisticRegression(kernel="linear", tol=1e-10),
    *(gl.KernelPerceptron(form=form) for form in ("plain", "averaged", "voted")),
    gl.KernelPerceptron(form="averaged", budget=30),
    gl.KernelFisherDiscriminant(),
    gl.KernelFisherDiscriminant(kernel="linear", alpha=0.1),
]
COMPOSED = 0.5 * RBF(gamma=0.3) + Polynomial(degree=2, gamma=0.1) * Linear()
MODELS = [
    gl.KernelLogisticRegression(),
    gl.KernelFisherDiscriminant(),
    *(gl.KernelPerceptron(form=form, random_state=0, max_iter=30) for form in ("plain", "averaged", "voted")),
]


# A perceptron says so where the checks' classes overlap.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_checks(estimator, check):
    check(estimator)


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    return clone(request.param)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("data", [cancer, iris])
def test_composed_kernels_and_sparse_input_and_a_second_life(model, data, tmp_path):
    X, y = data()
    model.set_params(kernel=COMPOSED).fit(X, y)
    assert model.score(X, y) > 0.9
    scores = model.decision_function(X)
    of_sparse = clone(model).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(of_sparse.decision_function(sp.csr_array(X)), scores, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), scores)
    model.save(tmp_path / "model.safetensors")
    again = gl.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.decision_function(X), scores)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_parameters_of_the_kernel_are_parameters_of_the_model(model):
    model.set_params(kernel=RBF(gamma=0.1) + Linear()).set_params(kernel__left__gamma=0.7)
    assert model.kernel.left == RBF(gamma=0.7)
    X, y = iris()
    assert model.fit(X, y).score(X, y) > 0.8


def test_large_sparse_data_stays_sparse(model):
    rng = np.random.default_rng(0)
    X = sp.random(60, 40_000, density=0.001, format="csr", random_state=0) + sp.csr_matrix(
        (rng.normal(size=60), (np.arange(60), np.zeros(60, dtype=int))), shape=(60, 40_000)
    )
    y = np.asarray(X[:, 0].todense()).ravel() > 0
    model.set_params(kernel="linear").fit(X, y)
    assert sp.issparse(model.support_vectors_)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("estimator", [gl.KernelLogisticRegression(), gl.KernelFisherDiscriminant()], ids=str)
def test_a_kernel_that_is_no_inner_product_is_refused(estimator):
    with pytest.raises(ValueError, match=r"positive semi-definite.*got Sigmoid\(gamma=1.0, coef0=1.0\)"):
        estimator.set_params(kernel=Sigmoid()).fit(*iris())


@pytest.mark.parametrize(
    "estimator, message",
    [
        (
            gl.KernelPerceptron(form="mean"),
            "The 'form' parameter of KernelPerceptron must be one of 'plain', 'averaged', 'voted'; got 'mean'.",
        ),
        (
            gl.KernelPerceptron(form="voted", budget=3),
            "budget must be None for form='voted', which replays every mistake.",
        ),
        (
            gl.KernelLogisticRegression(C=np.inf),
            "The 'C' parameter of KernelLogisticRegression must be a positive number; got inf.",
        ),
        (
            gl.KernelFisherDiscriminant(alpha=-1),
            "The 'alpha' parameter of KernelFisherDiscriminant must be a number of at least 0; got -1.",
        ),
        (
            gl.KernelFisherDiscriminant(n_components=3),
            "n_components must be at most 2, one less than the number of classes; got 3.",
        ),
        (
            gl.KernelFisherDiscriminant(priors=[0.5, 0.5]),
            "priors must be 3 probabilities, one for each class, that sum to 1; got [0.5, 0.5].",
        ),
    ],
)
def test_errors_name_the_parameter(estimator, message):
    with pytest.raises(InvalidInputError) as caught:
        estimator.fit(*iris())
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "estimator", [gl.KernelLogisticRegression(gamma=1.0), gl.KernelFisherDiscriminant(gamma=1.0)], ids=str
)
def test_a_kernel_matrix_that_does_not_fit_is_refused_with_its_size(estimator, monkeypatch):
    import gapless.data.memory

    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 1000)
    with pytest.raises(gl.errors.TooLargeError, match=r"150 x 150 in float64, which needs"):
        estimator.fit(*iris())


def test_a_plain_perceptron_says_where_it_has_not_separated():
    X = np.array([[0.0], [0.0], [1.0]])
    with pytest.warns(ConvergenceWarning, match=r"still made mistakes in its last epoch \(max_iter=5\)"):
        gl.KernelPerceptron(kernel="linear", max_iter=5).fit(X, [0, 1, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("data", [cancer, iris])
@pytest.mark.parametrize(
    "estimator", [gl.KernelLogisticRegression(), gl.KernelPerceptron(form="averaged", max_iter=5)], ids=str
)
def test_onnx_runs_the_same_model(estimator, data):
    runtime = pytest.importorskip("onnxruntime")
    X, y = data()
    model = clone(estimator).set_params(kernel=COMPOSED).fit(X, y)
    session = runtime.InferenceSession(model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    label, decision = session.run(["label", "decision"], {"X": X.astype(np.float64)})
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(decision, model.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "estimator, message",
    [
        (
            gl.KernelPerceptron(form="voted"),
            "to_onnx needs one function for each class, which form='voted' does not have; use form='averaged'.",
        ),
        (
            gl.KernelFisherDiscriminant(),
            "to_onnx is for models with one kernel expansion for each class; KernelFisherDiscriminant projects on axes first.",
        ),
    ],
)
def test_what_onnx_cannot_express_is_refused_in_words(estimator, message):
    with pytest.raises(gl.errors.UnsupportedError) as caught:
        estimator.fit(*iris()).to_onnx()
    assert str(caught.value) == message
