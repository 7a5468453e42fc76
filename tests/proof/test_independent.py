"""The second opinion: it agrees with the proof, calls nothing compiled of ours, and holds little of K at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_iris

import gapless as gl
from gapless import _native, kernels, verify
from gapless.problems import nu
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.problems.l1 import L1Problem
from gapless.problems.multinomial import MultinomialProblem
from gapless.proof.certificate import Certificate
from gapless.proof.independent import evaluate_independently
from tests.sample_problems import CATALOGUE, STORAGES

every_entry = pytest.mark.parametrize("name", CATALOGUE)


@pytest.fixture
def nothing_compiled(monkeypatch):
    """Every function and class of the compiled core raises."""

    def refuse(*_arguments, **_options):
        raise AssertionError("compiled code was called")

    for name in dir(_native):
        if not name.startswith("__"):
            monkeypatch.setattr(_native, name, refuse)


def same(found: Certificate, expected: Certificate, size: float) -> None:
    """Equal to 1e-9 of P (of ``size`` where P itself is near zero), infinities included."""
    for side in ("primal", "dual"):
        ours, theirs = getattr(found, side), getattr(expected, side)
        slack = (
            1e-9 * max(abs(expected.primal), size) + expected.rounding
        )  # the proof of a fit rounds its values outwards
        assert ours == theirs or abs(ours - theirs) <= slack, side
    assert found.n_support == expected.n_support
    assert found.box_violation == pytest.approx(expected.box_violation, rel=1e-9, abs=1e-12)


def offers(problem: gl.Problem, rng: np.random.Generator) -> list[gl.Point]:
    """Points near and far: zero, inside the box, outside of it, a w, an expansion, a model as it stands."""
    n, d = problem.X.shape
    reach = np.minimum(np.where(np.isfinite(problem.cost), problem.cost, 1.0), 1e3)
    wild = gl.Point(beta=reach * rng.normal(size=n))
    inside = gl.Point(beta=np.clip(0.3 * wild.beta, problem.dual.lower, problem.dual.upper))
    more = [gl.Point(beta=inside.beta, expansion=0.5 * inside.beta)]
    if problem.is_linear:
        more = [gl.Point(w=rng.normal(size=d) / (1.0 + np.abs(problem.X).max()), b=0.25)]
    return [gl.Point(), wild, inside, gl.Point(beta=inside.beta, offsets=np.full(len(problem.totals), 0.25)), *more]


@every_entry
def test_both_opinions_agree(name):
    problem = CATALOGUE[name].problem()
    rng = np.random.default_rng(0)
    for point in offers(problem, rng):
        expected, found = gl.certify(problem, point), gl.certify(problem, point, independent=True)
        finite = np.isfinite(expected.dual) and expected.dual > 0
        same(found, expected, float(expected.dual) if finite else 0.0)
        assert found.own_weights == expected.own_weights
        assert np.isnan(expected.kkt_violation) or found.kkt_violation == pytest.approx(
            expected.kkt_violation, rel=1e-7, abs=1e-9 * max(1.0, abs(expected.kkt_violation))
        )


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", ["hinge_free_C", "rbf_free", "tube_regularized_lam_sum", "composite_free"])
def test_both_opinions_agree_on_every_storage(name, storage):
    problem = CATALOGUE[name].problem(storage)
    for point in offers(problem, np.random.default_rng(1)):
        same(gl.certify(problem, point, independent=True), gl.certify(problem, point), 0.0)


@pytest.mark.parametrize("loss", gl.losses.LOSSES)
def test_offsets_agree(loss):
    entry = next(e for e in CATALOGUE.values() if "_free" in e.name and e.loss == loss)
    problem = entry.problem()
    result = gl.solve(problem, tol=1e-8)
    for point in (result, gl.Point(beta=result.beta)):
        found, expected = gl.certify(problem, point, independent=True), gl.certify(problem, point)
        np.testing.assert_allclose(found.b_interval, expected.b_interval, rtol=1e-7, atol=1e-7)
        assert found.relative_gap == pytest.approx(expected.relative_gap, abs=1e-12)


def test_the_nu_forms_agree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y, signs = X[:, 0] + rng.normal(size=40), X[:, 1] > 0
    rbf = kernels.RBF(0.3)
    problems = [nu.one_class(X, nu=0.3, kernel=rbf), nu.one_class(X + 3, nu=1.0), nu.nu_classification(X, signs, nu=0.4),
                nu.nu_regression(X, y, nu=0.5, C=2.0, kernel=rbf)]  # fmt: skip
    for problem in problems:
        for point in (gl.Point(), gl.Point(beta=rng.normal(size=problem.n_samples)), gl.solve(problem, tol=1e-7)):
            found, expected = gl.certify(problem, point, independent=True), gl.certify(problem, point)
            same(found, expected, float(np.abs(problem.totals).sum()))


def test_special_kinds_of_problems_agree(nothing_compiled_later):
    rng = np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    weights = rng.normal(size=(4, 3))
    special = [
        (L1Problem(X[:100], y[:100], C=1.0), gl.Point(w=weights[:, 0], b=0.5)),
        (CrammerSingerProblem(X, y, C=1.0), gl.Point(w=weights)),
        (
            MultinomialProblem(X, y, C=1.0, kernel=kernels.RBF(0.1)),
            gl.Point(expansion=0.01 * rng.normal(size=(150, 3))),
        ),
    ]
    expected = [gl.certify(problem, point) for problem, point in special]
    nothing_compiled_later()
    for (problem, point), other in zip(special, expected, strict=True):
        found = gl.certify(problem, point, independent=True)
        assert (found.primal, found.dual) == pytest.approx((other.primal, other.dual), rel=1e-9)


@pytest.fixture
def nothing_compiled_later(request):
    """Turns the compiled core off when called."""
    return lambda: request.getfixturevalue("nothing_compiled")


@every_entry
def test_it_calls_nothing_compiled(name, nothing_compiled):
    problem = CATALOGUE[name].problem()
    for point in offers(problem, np.random.default_rng(0)):
        certificate = gl.certify(problem, point, independent=True)
        assert not math.isnan(certificate.primal) and not math.isnan(certificate.dual)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", ["hinge_free_C", "rbf_free"])
def test_on_a_stated_problem_it_calls_nothing_compiled(name, storage, nothing_compiled_later):
    """Stating a problem of sparse samples checks and copies their indices, in the core; the evaluation does without it."""
    problem = CATALOGUE[name].problem(storage)
    nothing_compiled_later()
    for point in offers(problem, np.random.default_rng(0)):
        assert not math.isnan(gl.certify(problem, point, independent=True).primal)


def test_the_compiled_proof_does(nothing_compiled):
    """The fixture works: the proof that fits carry runs into it."""
    problem = CATALOGUE["hinge_free_C"].problem()
    with pytest.raises(AssertionError, match="compiled code was called"):
        gl.certify(problem, gl.Point())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_model_of_another_library_is_certified_without_ours(kernel, storage, monkeypatch, nothing_compiled_later):
    X, y = load_iris(return_X_y=True)
    model = svm.SVC(kernel=kernel, tol=1e-6).fit(storage(X), y)
    read = verify.parts_of_estimator

    def then_nothing_compiled(*arguments):
        parts = read(*arguments)  # where indices of sparse samples are checked and copied, in the core
        nothing_compiled_later()
        return parts

    if storage is np.asarray:
        nothing_compiled_later()
    else:
        monkeypatch.setattr(verify, "parts_of_estimator", then_nothing_compiled)
    certificate = gl.certify(model, storage(X), y, independent=True)
    assert certificate.relative_gap < 1e-4 and len(certificate.parts) == 3


def test_blocks_of_the_kernel_stay_small():
    shapes = []

    class Watched(kernels.RBF):
        def block(self, X, Z):
            shapes.append((X.shape[0], Z.shape[0]))
            return super().block(X, Z)

    n = 6000
    X = np.random.default_rng(0).normal(size=(n, 2))
    problem = gl.Problem(X, X[:, 0] > 0, kernel=Watched(0.5))
    evaluate_independently(problem, gl.Point(beta=np.where(X[:, 0] > 0, 0.5, -0.5)))
    assert sum(rows for rows, _ in shapes) == n and max(rows * columns for rows, columns in shapes) <= 2**22


def test_a_hard_margin_of_many_samples_is_proven_in_float64():
    """Its smallest margin counts, whichever sample has it: none of its values may be float32's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    X[:, 0] += np.where(X[:, 0] > 0, 0.5, -0.5)
    problem = gl.Problem(X, X[:, 0] > 0, kernel=kernels.RBF(0.5), C=math.inf)
    result = gl.solve(problem, tol=1e-3)
    few = np.where(np.abs(result.beta) > 0.1 * np.abs(result.beta).max(), result.beta, 0.0)
    for beta in (result.beta, few):
        point = gl.Point(beta=beta)
        found, expected = gl.certify(problem, point), gl.certify(problem, point, independent=True)
        assert found.primal == pytest.approx(expected.primal, rel=1e-9)
        assert found.dual == pytest.approx(expected.dual, rel=1e-9)


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_many_samples_whose_values_begin_in_float32_agree(loss, intercept):
    """Values of samples outside of the margin may be float32's with a bound on their error: what is proven is the same."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 3))
    problem = gl.Problem(X, X[:, 0] > 0, kernel=kernels.RBF(0.5), C=1.0, loss=loss, intercept=intercept)
    beta = np.where(np.abs(X[:, 0]) < 0.2, 0.3 * np.sign(X[:, 0]), 0.0)
    assert loss == "logistic" or problem.expand_bounded(beta)[1] is not None
    point = gl.Point(beta=beta)
    same(gl.certify(problem, point, independent=True), gl.certify(problem, point), 0.0)
