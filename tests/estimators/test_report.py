"""What the user is told: which bound stopped a fit, how close it came, and why it is slow."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

import gapless as gl
from gapless.estimators import watch
from gapless.estimators.report import slow_causes
from gapless.solvers import SMO
from tests.estimators.data import cancer, diabetes, iris, large


def test_an_early_stop_states_gap_bound_and_remedy():
    X, y = cancer()
    with pytest.warns(ConvergenceWarning) as caught:
        model = gl.SVC(max_iter=5).fit(X, y)
    assert str(caught[0].message) == (
        "Solver terminated early (max_iter=5).  Consider pre-processing your data with StandardScaler or MinMaxScaler. "
        "(These words are scikit-learn's, kept for filters of warnings; the solver was SVC's own, of Gapless.) "
        "Stopped at max_iter before tol was reached; the certificate tells how close the best iterate is. "
        f"The certified relative duality gap is {model.certificate_.relative_gap:.2g} and "
        f"the largest KKT violation is {model.certificate_.kkt_violation:.2g} (tol is 0.001), after 5 pairs of smo. "
        "A larger max_iter, or another fit with warm_start=True, goes on from here."
    )
    assert caught[0].filename == __file__ and len(caught) == 1


def test_an_l1_penalty_names_the_gap_that_it_asks_for():
    """It said that tol was the square of what the user had given."""
    X, y = cancer()
    with pytest.warns(ConvergenceWarning) as caught:
        model = gl.LinearSVC(penalty="l1", tol=1e-3, max_iter=1).fit(X, y)
    assert (
        f"The certified relative duality gap is {model.certificate_.relative_gap:.2g} "
        "(tol is 0.001, for which an l1 penalty asks for a gap of at most 1e-06), after 1 epochs of l1_coordinate_descent."
    ) in str(caught[0].message)


def test_one_warning_for_all_subproblems():
    X, y = iris()
    with pytest.warns(ConvergenceWarning, match="in 3 of 3 subproblems") as caught:
        gl.SVC(max_iter=1).fit(X, y)
    assert len(caught) == 1


def test_max_time_and_stalls_have_their_own_words():
    X, y = large()
    with pytest.warns(ConvergenceWarning) as caught:
        gl.LinearSVC(max_time=1e-9, tol=1e-9).fit(X, y)
    text = str(caught[0].message)
    assert (
        text.startswith("LinearSVC terminated early. Stopped at max_time")
        and "A larger max_time, or another fit" in text
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))  # free support vectors: their conditions hold to rounding, and no better
    with pytest.warns(ConvergenceWarning) as caught:
        gl.SVC(tol=1e-300).fit(X, X[:, 0] + rng.normal(size=40) > 0)
    text = str(caught[0].message)
    assert text.startswith("Solver terminated early.  Consider")
    assert text.endswith("A larger tol, or features of a similar scale, are within reach of floating point.")


def test_the_cause_stands_in_the_warning():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(
        ConvergenceWarning, match=r"Likely causes: features whose scales differ by a factor of 2e\+05 \(scale them"
    ):
        gl.LinearSVC(max_iter=5).fit(X, y)


def test_a_slow_fit_is_told_why_while_it_runs(monkeypatch):
    monkeypatch.setattr(watch, "_SLOW_ENTRIES", 5e5)
    monkeypatch.setattr(watch, "_SLOW_PAIRS", 1)
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(
        UserWarning,
        match=r"SVC is slow to converge: after [\d,]+ pairs the relative duality gap is .*features whose scales",
    ) as caught:
        gl.SVC(kernel="linear", C=0.01, tol=0.05, solver=SMO(pairs="maximal_violation")).fit(X, y)
    assert len(caught) == 1 and caught[0].filename == __file__


def test_ordinary_fits_are_silent(monkeypatch):
    monkeypatch.setattr(watch, "_SLOW_ENTRIES", 1e4)
    monkeypatch.setattr(watch, "_SLOW_PAIRS", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for estimator, data in (
            (gl.SVC(C=10), cancer),
            (gl.SVC(), iris),
            (gl.SVR(C=10), diabetes),
            (gl.NuSVR(), diabetes),
        ):
            estimator.fit(*data())


def test_causes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2

    def causes(X, **options):
        return " ".join(slow_causes(gl.Problem(X, y, **options), X))

    assert causes(X) == ""
    assert "features whose scales differ by a factor of 1e+05 (scale them, e.g. by StandardScaler)" in causes(
        X * [1, 1, 1e5]
    )
    spread = X * np.where(np.arange(100) < 60, 1e-3, 1.0)[:, None]
    assert "the kernel's diagonal spreads by a factor of" in causes(
        spread
    ) and "(scale the samples, e.g. by Normalizer)" in causes(spread)
    assert "an enormous C: C times the typical squared norm of a sample is" in causes(X, C=1e9)
    assert causes(X[np.arange(100) % 10]) == (
        "repeated samples: 100% occur more than once (give each once, with sample_weight as its number)"
    )
    assert slow_causes(gl.Problem(X, y), ["samples", "of another kind"]) == []


def test_samples_that_are_mostly_zero_do_not_overflow():
    """The median of the diagonal was zero, and the spread of the norms over it a leaked RuntimeWarning."""
    X = np.zeros((8, 1))
    X[:3, 0] = 1e8, 1.0, 1.0
    (cause,) = slow_causes(gl.Problem(X, np.arange(8) % 2, C=1e-12), ["samples of another kind"])
    assert "spreads by a factor of 1e+16" in cause
