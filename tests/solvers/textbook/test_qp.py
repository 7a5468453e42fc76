from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.errors import InvalidInputError, MissingDependencyError, TooLargeError, UnsupportedError
from gapless.solvers import QP
from tests.sample_problems import CATALOGUE

QUADRATIC = [entry for entry in CATALOGUE.values() if entry.easy and QP().unsupported(entry.problem()) is None]


@pytest.mark.parametrize("entry", QUADRATIC, ids=lambda entry: entry.name)
def test_both_forms_reach_the_optimum(entry):
    results = [gl.solve(entry.problem(), QP(form=form)) for form in ("dual", "primal")]
    assert all(result.status is gl.Status.CONVERGED for result in results)
    assert results[0].certificate.primal == pytest.approx(results[1].certificate.primal, rel=2e-6)


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_scale_of_the_data_does_not_matter(form, scale):
    """X · s with C/s² is the same problem in other units: P goes with 1/s²."""
    entry = CATALOGUE["hinge_free_C"]
    result = gl.solve(gl.Problem(scale * entry.X, entry.y, C=scale**-2), QP(form=form))
    assert result.certificate.relative_gap <= 1e-8
    expected = gl.solve(entry.problem(), "smo", tol=1e-9).certificate.primal
    assert result.certificate.primal * scale**2 == pytest.approx(expected, rel=1e-7)


LOSSES = ["hinge", "squared_hinge", "smoothed_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]


def clusters(n, d, loss="hinge"):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + 0.5 * rng.normal(size=n)
    return X, y if "epsilon" in loss else np.where(y > 0, 1, -1)


def handed_over(problem, monkeypatch, solver="qp"):
    """The result, and the number of variables of the program that the library was given."""
    import qpsolvers

    sizes, solve_problem = [], qpsolvers.solve_problem
    monkeypatch.setattr(
        qpsolvers, "solve_problem", lambda task, **options: sizes.append(len(task.q)) or solve_problem(task, **options)
    )
    result = gl.solve(problem, solver)
    assert len(sizes) == 1
    return result, sizes[0]


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("shape", "form"), [((80, 4), "primal"), ((20, 90), "dual")])
def test_the_library_gets_the_form_that_suits_the_sizes(shape, form, loss, intercept, monkeypatch):
    problem = gl.Problem(*clusters(*shape, loss), loss=loss, intercept=intercept)
    result, size = handed_over(problem, monkeypatch)
    assert size == handed_over(problem, monkeypatch, QP(form=form))[1]
    assert (size > shape[0] * 2) == (form == "primal")
    assert result.status is gl.Status.CONVERGED and result.certificate.relative_gap <= 1e-6
    assert result.w.shape == (shape[1],) and result.beta.shape == (shape[0],) and isinstance(result.b, float)


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "kernel", [gl.kernels.Linear(), gl.kernels.FeatureMapKernel(lambda X: X[:, :3])], ids=["linear", "map"]
)
def test_a_kernel_with_features_at_hand_has_a_primal_form_of_few_variables(kernel, storage, intercept, monkeypatch):
    X, y = clusters(60, 4)
    problem = gl.Problem(storage(X), y, kernel=kernel, intercept=intercept)
    result, size = handed_over(problem, monkeypatch)
    features = 4 if isinstance(kernel, gl.kernels.Linear) else 3
    assert size == features + (intercept != "none") + 3 * 60  # w, b, and three slacks a sample
    assert result.status is gl.Status.CONVERGED
    rows = storage(X)[:, :features]
    linear = gl.solve(gl.Problem(rows, y, intercept=intercept), "smo", tol=1e-8)
    assert result.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-6)
    assert result.decision_function(storage(X)) == pytest.approx(linear.decision_function(rows), abs=1e-4)


def test_no_n_by_n_matrix_is_needed_where_features_are_few(monkeypatch):
    monkeypatch.setattr("gapless.data.memory.available_bytes", lambda: 10 * 2**20)
    X, y = clusters(3000, 5)  # a kernel matrix takes 69 MB
    assert gl.solve(gl.Problem(X, y, intercept="none"), "qp").certificate.relative_gap <= 1e-6
    with pytest.raises(TooLargeError, match=r"^qp holds and factors the 15,000 entries of the features, which needs "):
        monkeypatch.setattr("gapless.data.memory.available_bytes", lambda: 2**19)
        gl.solve(gl.Problem(X, y, intercept="none"), "qp")


def test_variables_at_a_bound_are_on_it():
    result = gl.solve(CATALOGUE["hinge_free_C"].problem(), "qp")
    alpha = result.alpha()
    assert (alpha == 0).any() and (alpha == 1).any()
    assert ((alpha == 0) | (alpha == 1) | ((alpha > 1e-7) & (alpha < 1 - 1e-7))).all()


def test_an_early_end_of_the_library_is_told_by_the_certificate_alone():
    result = gl.solve(CATALOGUE["huge_C_rbf"].problem(), "qp")  # a warning would be an error here
    assert result.status is gl.Status.STALLED
    assert result.certificate.gap > 0


def test_what_it_refuses(monkeypatch):
    with pytest.raises(InvalidInputError, match=r"^form must be one of auto, dual, primal; got 'both'\.$"):
        QP(form="both")
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(CATALOGUE["logistic_free"].problem(), "qp")
    assert (
        str(caught.value)
        == "qp needs a quadratic objective, which the logistic loss is not; use solver='smo' or 'sdca'."
    )
    monkeypatch.setitem(sys.modules, "qpsolvers", None)
    with pytest.raises(MissingDependencyError) as caught:
        gl.solve(CATALOGUE["hinge_free_C"].problem(), "qp")
    assert str(caught.value) == "solver='qp' needs qpsolvers and clarabel; install gapless[qp]."


@pytest.mark.parametrize(
    ("form", "loss", "size"),
    [("dual", "hinge", "3.73"), ("dual", "epsilon_insensitive", "14.90"), ("primal", "hinge", "3.73")],
)
def test_it_refuses_a_kernel_matrix_that_does_not_fit(form, loss, size, monkeypatch):
    monkeypatch.setattr("gapless.data.memory.available_bytes", lambda: 2**30)
    problem = gl.Problem(np.ones((10_000, 1)), np.arange(10_000) % 2, loss=loss, kernel=gl.kernels.RBF())
    with pytest.raises(TooLargeError) as caught:
        gl.solve(problem, QP(form=form))
    assert str(caught.value) == (
        f"qp holds and factors the whole kernel matrix: 10,000 x 10,000 in float64, which needs {size} GiB, "
        "but only 1.00 GiB of memory is available."
    )
