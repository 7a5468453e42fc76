"""Ctrl-C during any solve: control comes back, with the best iterate and its certificate, and the solve can go on from there."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import gapless as gl
from gapless.solvers import SOLVERS
from tests.sample_problems import CATALOGUE

# Runs in a process of its own: says "running" once the loop runs, waits for Ctrl-C, and tells as JSON what it caught.
SCRIPT = """
import json, signal, sys, time
import numpy as np
import gapless as gl

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs deaf to it
solver, n, d, kernel, intercept, C = json.loads(sys.argv[1])
rng = np.random.default_rng(0)

def problem(n):
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 3 * rng.normal(size=n) > 0
    return gl.Problem(X, y, kernel=gl.kernels.RBF(gamma=0.1) if kernel else None, C=C or np.inf, intercept=intercept)

def make():
    return gl.solvers.QP(form="primal") if solver == "qp primal" else solver

task, told = problem(n), []

def tell(progress):
    if not told:
        print("running", flush=True)
    told.append(progress.iterations)

try:
    result = gl.solve(task, make(), tol=0, max_iter=10**9, callback=tell)
    print(json.dumps({"caught": None, "status": result.status.name}))
except gl.Interrupted as interruption:
    caught = time.monotonic()
    result = interruption.result
    again = gl.solve(task, "smo", start=result, max_iter=5)
    print(json.dumps({
        "caught": caught,
        "message": str(interruption),
        "status": result.status.name,
        "primal": result.certificate.primal,
        "dual": result.certificate.dual,
        "again": [again.certificate.primal, again.certificate.dual],
    }), flush=True)
"""

HANG = 60.0  # seconds after which no machine is slow any more; the figure printed is the measurement

# (solver, n, d, kernel, intercept, C; 0 is the hard margin): large enough to last for seconds.
CASES = {
    "subgradient": ("subgradient", 20_000, 50, False, "free", 1.0),
    "sgd": ("sgd", 20_000, 50, False, "free", 1.0),
    "pegasos": ("pegasos", 20_000, 50, False, "none", 1.0),
    "sdca": ("sdca", 20_000, 50, False, "regularized", 1.0),
    "smo": ("smo", 20_000, 50, False, "free", 1.0),
    "smo_kernel": ("smo", 20_000, 50, True, "free", 1.0),
    "projected_gradient": ("projected_gradient", 20_000, 50, False, "none", 1.0),
    "projected_gradient_kernel": ("projected_gradient", 5_000, 50, True, "none", 1.0),
    "coordinate_ascent": ("coordinate_ascent", 5_000, 50, False, "none", 1.0),
    "coordinate_ascent_kernel": ("coordinate_ascent", 5_000, 50, True, "none", 1.0),
    "qp": ("qp", 1_500, 50, True, "free", 1.0),
    "qp_primal": ("qp primal", 1_500, 50, True, "free", 1.0),
}


# These end by themselves, at rounding level, before a signal would reach them.
QUICK = {"interior_point", "newton", "smoothed_newton"}


def case_of(name: str) -> tuple[str, int, int, bool, str, float]:
    """The case of a solver that none above names: the first kind of problem that the solver covers."""
    data = np.array([[0.0], [1.0], [3.0]]), [0, 1, 1]
    kinds = [(kernel, intercept) for kernel in (False, True) for intercept in ("free", "regularized", "none")]
    for kernel, intercept in kinds:
        problem = gl.Problem(*data, kernel=gl.kernels.RBF() if kernel else None, intercept=intercept)
        if SOLVERS[name]().unsupported(problem) is None:
            return name, 5_000, 50, kernel, intercept, 1.0
    raise AssertionError(f"{name} covers no problem with the hinge loss: write a case for it")


CASES |= {name: case_of(name) for name in SOLVERS if name not in QUICK and name not in CASES}


def test_a_solver_without_a_case_of_its_own_gets_one():
    assert case_of("sdca") == ("sdca", 5_000, 50, False, "free", 1.0)
    assert case_of("pegasos") == ("pegasos", 5_000, 50, False, "regularized", 1.0)
    assert {case[0].split()[0] for case in CASES.values()} == set(SOLVERS) - QUICK


def interrupted(
    script: str, arguments: Any, seconds: float, case: str, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """What a child tells that is sent SIGINT in the midst of its work, some seconds after it says "running"."""
    child = subprocess.Popen(
        [sys.executable, "-c", script, json.dumps(arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "running\n", child.stderr.read()
        time.sleep(seconds)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        told = json.loads(child.stdout.readline() or json.dumps({"caught": None, "error": child.stderr.read()}))
    finally:
        child.kill()
        child.communicate()
    assert told["caught"] is not None, told
    latency = told["caught"] - sent
    with capsys.disabled():
        print(f"\n  {case}: control came back after {1000 * latency:.0f} ms")
    assert latency < HANG
    return told


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("case", list(CASES))
def test_control_comes_back(case: str, capsys: pytest.CaptureFixture[str]):
    told = interrupted(SCRIPT, CASES[case], 0.3, case, capsys)
    assert told["status"] == "INTERRUPTED"
    assert (
        told["message"]
        == "Interrupted; the best iterate and its certificate are kept, and solve(start=result) goes on from it."
    )
    assert -math.inf < told["dual"] <= told["primal"] < math.inf
    primal, dual = told["again"]
    assert primal <= told["primal"] * (1 + 1e-12) and dual >= told["dual"] - 1e-12 * abs(told["dual"])


@pytest.mark.parametrize("name", list(SOLVERS))
def test_the_best_bounds_so_far_are_carried(name: str):
    problem = next(
        problem
        for problem in (
            CATALOGUE[entry].problem() for entry in ("hinge_none_C_mean", "hinge_free_C", "squared_hinge_free_lam_sum")
        )
        if SOLVERS[name]().unsupported(problem) is None
    )
    checks = []

    def interrupt(progress: gl.Progress) -> None:
        checks.append(progress.certificate)
        if len(checks) == (4 if SOLVERS[name].unit != "calls" else 1):
            raise KeyboardInterrupt

    with pytest.raises(gl.Interrupted) as caught:
        gl.solve(problem, name, tol=0, callback=interrupt, check_every=1)
    result = caught.value.result
    assert isinstance(caught.value, KeyboardInterrupt)
    assert result.status is gl.Status.INTERRUPTED
    assert result.certificate == checks[-1]
    assert result.certificate.primal == result.trace.best_primal[-1]
    again = gl.certify(problem, result)
    assert again.primal == pytest.approx(result.certificate.primal, rel=1e-12)
    assert again.dual == pytest.approx(result.certificate.dual, rel=1e-12)
    further = gl.solve(problem, name, start=result, max_iter=1000)
    assert further.certificate.gap <= result.certificate.gap


def test_an_interruption_before_the_first_step_leaves_the_zero_point(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SOLVERS["smo"], "init", interrupted)
    with pytest.raises(gl.Interrupted) as caught:
        gl.solve(CATALOGUE["rbf_free"].problem(), "smo")
    result = caught.value.result
    assert not result.beta.any()
    assert result.certificate.dual == 0.0 and np.isfinite(result.certificate.primal)


# Says "running" where told to, waits for Ctrl-C during a fit, and tells what is left of the model.
ESTIMATOR_SCRIPT = """
import json, signal, sys, time
import numpy as np
import gapless as gl

signal.signal(signal.SIGINT, signal.default_int_handler)
n, classes, at, hang = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
X, y = rng.normal(size=(n, 20)), rng.integers(classes, size=n)
told = []

def tell(progress=None):
    if not told:
        print("running", flush=True)
    told.append(1)

model = gl.KernelLogisticRegression(C=1000.0, tol=1e-14, callback=tell if at == "steps" else None)
if at == "set-up":
    blocks = gl.estimators.kernel_logistic.blocks
    def watched(*arguments, **options):
        for part in blocks(*arguments, **options):
            tell()
            time.sleep(2 * hang)  # a Gram matrix that no machine completes before the signal
            yield part
    gl.estimators.kernel_logistic.blocks = watched
if at == "factor":
    kernel_newton = sys.modules["gapless.solvers.newton.kernel_newton"]
    kernel_newton._PATIENCE, kernel_newton._SAMPLES_A_PRODUCT = 0, 10**9
    cholesky = kernel_newton.la.cholesky
    def slow(*arguments, **options):
        tell()
        time.sleep(2 * hang)  # LAPACK at work on a large matrix, as deaf to signals as this thread
        return cholesky(*arguments, **options)
    kernel_newton.la.cholesky = slow
try:
    model.fit(X, y)
    print(json.dumps({"caught": None, "status": model._solved[0].status.name}))
except gl.Interrupted as interruption:
    caught = time.monotonic()
    print(json.dumps({
        "caught": caught,
        "status": model._solved[0].status.name,
        "primal": model.certificate_.primal,
        "dual": model.certificate_.dual,
        "shape": model.predict_proba(X[:5]).shape,
        "sums": model.predict_proba(X[:5]).sum(axis=1).tolist(),
    }), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("at", ["set-up", "steps", "factor"])
@pytest.mark.parametrize("classes", [2, 4])
def test_kernel_logistic_regression_is_fitted_after_ctrl_c(at: str, classes: int, capsys: pytest.CaptureFixture[str]):
    """It was left unfitted where the signal came while the Gram matrix was computed, and heard none during a factorisation."""
    told = interrupted(ESTIMATOR_SCRIPT, [3000, classes, at, HANG], 0.1, f"logistic, {classes} classes, {at}", capsys)
    assert told["status"] == "INTERRUPTED"
    assert -math.inf < told["dual"] <= told["primal"] < math.inf
    assert told["shape"] == [5, classes] and told["sums"] == pytest.approx([1.0] * 5)
