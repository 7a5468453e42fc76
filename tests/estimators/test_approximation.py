"""SVC(approximation=…): cheap models whose gap is that of the exact problem, and polishing to the exact one."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.features import Nystroem, RandomFourier
from gapless.kernels import RBF, Linear
from tests.estimators.data import cancer, iris, large

MAPS = [
    Nystroem(60),
    Nystroem(60, method="kmeans"),
    Nystroem(60, method="cholesky", random_state=3),
    RandomFourier(100, random_state=0),
]


@pytest.mark.parametrize("phi", MAPS, ids=str)
def test_the_certificate_is_that_of_the_exact_problem(phi):
    X, y = large()
    kernel = RBF(gamma=0.02)
    model = gl.SVC(kernel=kernel, C=2.0, approximation=phi).fit(X, y)
    exact = gl.Problem(X, y, kernel=kernel, C=2.0)
    coefficients = np.zeros(len(X))
    coefficients[model.support_] = model.dual_coef_[0]
    f = model.decision_function(X)
    signs = np.where(y == "yes", 1, -1)
    value = 0.5 * coefficients @ kernel(X) @ coefficients + 2.0 * np.maximum(0, 1 - signs * f).sum()
    assert model.certificate_.primal == pytest.approx(value, rel=1e-9)
    optimum = gl.solve(exact, tol=1e-6).certificate
    assert model.certificate_.dual <= optimum.primal and optimum.dual <= model.certificate_.primal
    assert 1e-3 < model.certificate_.relative_gap < np.inf  # an approximation, and it says so
    assert model.fit_status_ == 0


def test_the_model_on_landmarks_is_a_model_of_the_exact_kernel():
    X, y = large()
    kernel = RBF(gamma=0.02)
    model = gl.SVC(kernel=kernel, C=2.0, approximation=Nystroem(60)).fit(X, y)
    phi = Nystroem(60, kernel=kernel, random_state=0).fit(X.astype(np.float32))
    assert set(model.support_) <= set(phi.indices_.tolist())
    linear = gl.solve(gl.Problem(phi.transform(X.astype(np.float32)), y, C=2.0), "auto", tol=1e-3)
    assert model.certificate_.primal == pytest.approx(linear.certificate.primal, rel=1e-3)


def test_features_are_never_trained_in_pairs(monkeypatch):
    import gapless.estimators.approximation as module

    X, y = large()
    solvers = []
    genuine = module.solve
    monkeypatch.setattr(
        module, "solve", lambda *given, **options: solvers.append(genuine(*given, **options)) or solvers[-1]
    )
    model = gl.SVC(gamma=0.02, approximation=Nystroem(400)).fit(X, y)
    assert solvers[0].solver in ("sdca", "smoothed_newton")
    other = gl.SVC(gamma=0.02).fit(X, y)
    assert model.certificate_.dual <= other.certificate_.primal <= model.certificate_.primal
    assert model.certificate_.primal <= solvers[0].certificate.primal * (1 + 1e-3)
    by_pairs = genuine(gl.Problem(solvers[0].problem.X, y, C=1.0), "smo", tol=1e-4)
    assert solvers[0].certificate.primal == pytest.approx(by_pairs.certificate.primal, rel=2e-3)


def test_more_landmarks_close_the_gap():
    X, y = cancer()
    gaps = [
        gl.SVC(C=1.0, approximation=Nystroem(m, method="cholesky"), tol=1e-6).fit(X, y).certificate_.relative_gap
        for m in (5, 40, 200)
    ]
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 1e-3


@pytest.mark.parametrize("data", [cancer, iris])
def test_polished_is_the_exact_model(data):
    X, y = data()
    cold = gl.SVC(C=5.0, tol=1e-8).fit(X, y)
    polished = gl.SVC(C=5.0, tol=1e-8, approximation=Nystroem(50), polish=True).fit(X, y)
    assert polished.certificate_.relative_gap <= 1e-8
    np.testing.assert_allclose(polished.decision_function(X), cold.decision_function(X), atol=1e-3)
    assert len(polished.certificates_) == len(cold.certificates_)


def test_polishing_starts_where_the_approximation_ends():
    X, y = large()
    options = {"C": 1.0, "gamma": 0.02, "tol": 1e-3, "solver": "smo"}
    cold = gl.SVC(**options).fit(X, y)
    polished = gl.SVC(approximation=Nystroem(600), polish=True, **options).fit(X, y)
    assert polished.n_iter_[0] < cold.n_iter_[0]
    assert polished.trace_.relative_gap[0] < 0.1 * cold.trace_.relative_gap[0]


def test_polishing_begins_afresh_where_the_approximation_proves_little():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    y = np.sin(9 * X[:, 0]) + rng.normal(size=len(X)) > 0
    options = {"C": 10.0, "gamma": 30.0}
    cold = gl.SVC(**options).fit(X, y)
    polished = gl.SVC(approximation=Nystroem(20), polish=True, **options).fit(X, y)
    assert polished.n_iter_[0] == cold.n_iter_[0]
    assert polished.certificate_ == cold.certificate_
    approximate = gl.SVC(approximation=Nystroem(20), **options).fit(X, y).certificate_
    assert approximate.dual <= cold.certificate_.primal and cold.certificate_.dual <= approximate.primal


def test_every_pair_of_classes_is_approximated():
    X, y = iris()
    model = gl.SVC(approximation=Nystroem(20)).fit(X, y)
    assert model.score(X, y) > 0.93 and all(np.isfinite(each.gap) for each in model.certificates_)
    low, high = model.decision_interval(X)
    assert (low <= high).all()


@pytest.mark.parametrize("kernel", ["precomputed", "function"])
def test_matrices_and_functions_are_approximated_as_well(kernel):
    X, y = cancer()
    k = RBF(gamma=0.03)
    model = gl.SVC(
        kernel="precomputed" if kernel == "precomputed" else lambda A, B: k(A, B), approximation=Nystroem(80)
    )
    rows = k(X) if kernel == "precomputed" else X
    assert model.fit(rows, y).score(rows, y) > 0.95
    assert np.isfinite(model.certificate_.gap)


def test_weights_count():
    X, y = cancer()
    weight = np.where(np.arange(len(y)) < 150, 1.0, 0.0)
    options = {"kernel": RBF(gamma=0.03), "approximation": Nystroem(500), "tol": 1e-8}
    weighted = gl.SVC(**options).fit(X, y, sample_weight=weight)
    fewer = gl.SVC(**options).fit(X[:150], y[:150])
    assert weighted.certificate_.primal == pytest.approx(fewer.certificate_.primal, rel=1e-4)


@pytest.mark.parametrize(
    "phi, message",
    [
        (
            Nystroem(5, kernel=Linear()),
            "approximation must leave its kernel to SVC, which has RBF(gamma=0.1); got Linear().",
        ),
        (
            "nystroem",
            "The 'approximation' parameter of SVC must be None or a feature map of a kernel, such as gapless.features.Nystroem(500); "
            "got 'nystroem'.",
        ),
        (
            gl.features.Polar(),
            "The 'approximation' parameter of SVC must be None or a feature map of a kernel, such as gapless.features.Nystroem(500); "
            "got Polar().",
        ),
    ],
)
def test_errors_name_the_parameter(phi, message):
    with pytest.raises(InvalidInputError) as caught:
        gl.SVC(kernel=RBF(gamma=0.1), approximation=phi).fit(*cancer())
    assert str(caught.value) == message


def test_a_hard_margin_is_refused():
    with pytest.raises(InvalidInputError, match="approximation needs a finite C"):
        gl.SVC(C=np.inf, approximation=Nystroem(5)).fit(*cancer())


def test_parameters_of_the_map_are_parameters_of_the_model():
    model = gl.SVC(approximation=Nystroem(50)).set_params(approximation__n_components=7)
    assert model.approximation.n_components == 7
    before = model.approximation.get_params()
    model.fit(*cancer())
    assert model.approximation.get_params() == before and not hasattr(model.approximation, "landmarks_")


def test_ctrl_c_within_the_approximation_leaves_a_certified_model(monkeypatch):
    import gapless.estimators.approximation as module

    X, y = large()
    genuine = module.solve
    calls = []

    def pressed(problem, solver="auto", **options):
        if solver == "auto":
            calls.append(problem)
            result = genuine(problem, solver, **{**options, "max_iter": 50})
            raise gl.Interrupted(result)
        return genuine(problem, solver, **options)

    monkeypatch.setattr(module, "solve", pressed)
    model = gl.SVC(approximation=Nystroem(60))
    with pytest.raises(gl.Interrupted):
        model.fit(X, y)
    assert len(calls) == 1 and np.isfinite(model.certificate_.gap) and model.predict(X).shape == y.shape


def test_saving_says_what_to_leave_out(tmp_path):
    model = gl.SVC(approximation=Nystroem(20)).fit(*cancer())
    with pytest.raises(UnsupportedError, match=r"set_params\(approximation=None\)"):
        model.save(tmp_path / "model")
    model.set_params(approximation=None).save(tmp_path / "model")
    X = cancer()[0]
    np.testing.assert_array_equal(gl.load(tmp_path / "model").predict(X), model.predict(X))
