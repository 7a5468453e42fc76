"""The machines with evaluations of their own against exact arithmetic, on data of all scales: no bound is beyond an exact value, by any digit."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from flint import arb, arb_mat, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gapless as gl
from gapless.kernels import RBF, Polynomial, Precomputed
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.problems.l1 import L1Problem
from gapless.problems.multinomial import MultinomialProblem
from gapless.proof.certificate import Point, evaluate
from gapless.proof.circulation import balancing_factors
from gapless.proof.multinomial import _evaluate
from gapless.proof.outward import sum_above, sum_below
from gapless.proof.twofold import twofold_values
from tests.campaign.exact_kernels import gram_table

BITS = 400
SCALINGS = ("none", "features", "offset")
every_example = given(
    seed=st.integers(0, 2**32 - 1),
    scaling=st.sampled_from(SCALINGS),
    wide=st.booleans(),
    intercept=st.booleans(),
    iterations=st.sampled_from([0, 3, 30]),
    C=st.sampled_from([1e-3, 1.0, 1e3]),
)


def exact(values) -> list[Fraction]:
    return [Fraction(float(v)) for v in np.ravel(values)]


def draw(
    seed: int, scaling: str, wide: bool, classes: int
) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray]:
    """(generator, X, codes, weights): features of scales from 1e-8 to 1e8, or offsets up to 1e6; weights over twelve decades."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(classes + 1, 12)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if scaling == "features":
        X *= 10.0 ** rng.uniform(-8, 8, size=d)
    if scaling == "offset":
        X += 10.0 ** rng.uniform(0, 6)
    weight = 10.0 ** rng.uniform(-6, 6, size=n) if wide else np.ones(n)
    return rng, X, np.arange(n) % classes, weight


def quietly_solved(problem, iterations: int):
    if iterations == 0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gl.solve(problem, tol=1e-12, max_iter=iterations, max_time=0.1).certified


def products(X: np.ndarray, w: list[Fraction], b: Fraction) -> list[Fraction]:
    d = X.shape[1]
    entries = exact(X)
    return [sum((entries[i * d + j] * w[j] for j in range(d)), b) for i in range(len(X))]


# --- ℓ₁


def l1_value(problem: L1Problem, X: np.ndarray, w: np.ndarray, b: float) -> Fraction:
    weights, offset = exact(w), Fraction(float(b))
    total = sum(map(abs, weights), abs(offset) / Fraction(problem.intercept_scale))
    for c, y, f in zip(exact(problem.cost), exact(problem.y), products(X, weights, offset), strict=True):
        total += c * max(Fraction(0), 1 - y * f) ** 2
    return total


@settings(max_examples=60)
@every_example
def test_l1(seed, scaling, wide, intercept, iterations, C):
    rng, X, codes, weight = draw(seed, scaling, wide, 2)
    options = {"intercept": "regularized" if intercept else "none", "intercept_scale": 0.7, "sample_weight": weight}
    problem = L1Problem(sp.csr_array(X) if seed % 2 else X, codes, C=C, **options)
    result = quietly_solved(problem, iterations)
    w, b = (rng.normal(size=X.shape[1]) / np.abs(X).max(), float(intercept)) if result is None else (result.w, result.b)
    beta = problem.y * 10.0 ** rng.uniform(-6, 3, size=len(X)) if result is None else result.beta
    primal, dual = evaluate(problem, Point(w=w, b=b, beta=beta))
    own = l1_value(problem, X, w, b)
    assert Fraction(primal.value) >= own
    assert primal.value - primal.rounding <= float(own) * (1 + 1e-9)
    values = [own, l1_value(problem, X, np.zeros_like(w), 0.0), l1_value(problem, X, 0.5 * w, 0.5 * b)]
    assert Fraction(dual.value) <= min(values)
    assert dual.rounding >= 0 and dual.value <= primal.value
    if result is not None:
        assert Fraction(result.certificate.primal) >= own and Fraction(result.certificate.dual) <= min(values)


# --- Crammer and Singer


def crammer_singer_value(problem: CrammerSingerProblem, X: np.ndarray, W: np.ndarray, b: np.ndarray) -> Fraction:
    offsets = exact(b)
    total = sum((v * v for v in exact(W)), Fraction(0)) / 2
    total += sum((v * v for v in offsets), Fraction(0)) / (2 * Fraction(problem.intercept_scale) ** 2)
    scores = [products(X, exact(W[:, m]), offsets[m]) for m in range(problem.n_classes)]
    for i, (c, y) in enumerate(zip(exact(problem.cost), problem.y, strict=True)):
        total += c * max((m != y) + f[i] - scores[y][i] for m, f in enumerate(scores))
    return total


@settings(max_examples=60)
@every_example
def test_crammer_singer(seed, scaling, wide, intercept, iterations, C):
    rng, X, codes, weight = draw(seed, scaling, wide, 3)
    options = {"intercept": "regularized" if intercept else "none", "intercept_scale": 0.7, "sample_weight": weight}
    problem = CrammerSingerProblem(sp.csr_array(X) if seed % 2 else X, codes, 3, C=C, **options)
    result = quietly_solved(problem, iterations)
    W = rng.normal(size=(X.shape[1], 3)) / np.abs(X).max() if result is None else result.w
    b = (rng.normal(size=3) if intercept else np.zeros(3)) if result is None else result.b
    beta = C * rng.normal(size=(len(X), 3)) if result is None else result.beta
    stands, dual = evaluate(problem, Point(w=W, offsets=b, beta=beta))
    own = crammer_singer_value(problem, X, W, b)
    assert Fraction(stands.value) >= own
    assert stands.value - stands.rounding <= float(own) * (1 + 1e-9)
    primal, _ = evaluate(problem, Point(beta=beta))
    values = [own, crammer_singer_value(problem, X, primal.w, primal.offsets)]
    values.append(crammer_singer_value(problem, X, np.zeros_like(W), np.zeros(3)))
    assert Fraction(primal.value) >= values[1]
    assert Fraction(dual.value) <= min(values)
    assert dual.rounding >= 0 and dual.value <= min(primal.value, stands.value)
    if result is not None:
        assert Fraction(result.certificate.primal) >= own and Fraction(result.certificate.dual) <= min(values)


# --- multinomial regression


def multinomial_value(problem: MultinomialProblem, K: arb_mat, A: np.ndarray, b: np.ndarray) -> arb:
    expansion = arb_mat(*A.shape, A.ravel().tolist())
    F = K * expansion
    total = sum((e * f for e, f in zip(expansion.entries(), F.entries(), strict=True)), arb(0)) / 2
    for c, y, row in zip(problem.cost.tolist(), problem.y, F.tolist(), strict=True):
        scores = [f + arb(float(offset)) for f, offset in zip(row, b, strict=True)]
        total += arb(c) * sum(((f - scores[y]).exp() for f in scores), arb(0)).log()
    return total


@settings(max_examples=20)
@every_example
@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", "precomputed"])
@pytest.mark.parametrize("fine", [False, True])
@example(seed=284241473, scaling="offset", wide=True, intercept=True, iterations=30, C=1e3)
@example(seed=839699342, scaling="features", wide=False, intercept=False, iterations=30, C=1e3)
def test_multinomial(kernel, fine, seed, scaling, wide, intercept, iterations, C):
    rng, X, codes, weight = draw(seed, scaling, wide, 3)
    stated = {"linear": ["linear"], "rbf": ["rbf", 0.3], "polynomial": ["polynomial", 0.5, 2, 1.0]}.get(kernel)
    kernels = {"linear": None, "rbf": RBF(0.3), "polynomial": Polynomial(degree=2, gamma=0.5, coef0=1.0)}
    gram = None
    if kernel == "precomputed":
        root = rng.integers(-9, 9, size=(len(X), 3)) * 2.0 ** rng.integers(-20, 20)
        gram, X, stated = root @ root.T, np.arange(len(X))[:, None], ["precomputed"]
        kernels["precomputed"] = Precomputed(gram)
    kind = "free" if intercept else "none"
    problem = MultinomialProblem(X, codes, 3, kernel=kernels[kernel], C=C, intercept=kind, sample_weight=weight)
    result = quietly_solved(problem, iterations)
    size = 1.0 / np.sqrt(problem.diagonal.max() + 1e-300)
    A = size * rng.normal(size=(len(X), 3)) if result is None else result.expansion
    b = (rng.normal(size=3) if intercept else np.zeros(3)) if result is None else result.offsets
    beta = C * rng.normal(size=(len(X), 3)) if result is None else result.beta
    stands, dual = _evaluate(problem, Point(expansion=A, offsets=b, beta=beta), fine)
    primal, _ = _evaluate(problem, Point(beta=beta), fine)
    with ctx.workprec(BITS):
        K = arb_mat(gram_table(stated, X, gram))
        own, other = (
            multinomial_value(problem, K, A, b),
            multinomial_value(problem, K, primal.expansion, primal.offsets),
        )
        zero = multinomial_value(problem, K, np.zeros_like(A), np.zeros(3))
        assert not arb(stands.value) < own
        assert not arb(primal.value) < other
        for value in (own, other, zero):
            assert not arb(dual.value) > value
        if result is not None:
            assert not arb(result.certificate.primal) < own and not arb(result.certificate.dual) > own
    assert dual.rounding >= 0 and dual.value <= min(primal.value, stands.value)


def test_the_bounds_of_multinomial_regression_are_tight_on_data_of_ordinary_scale():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 3)), np.arange(60) % 3
    for intercept in ("free", "none"):
        problem = MultinomialProblem(X, codes, kernel=RBF(0.5), intercept=intercept)
        certificate = gl.solve(problem, tol=1e-12).certificate
        assert certificate.relative_gap <= 1e-12 and certificate.rounding <= 1e-12 * certificate.primal


def test_classes_of_a_trillionth_of_the_weight_keep_their_proof():
    """The columns of a light class balance to its own costs: an error of 1e-13 of all costs would be a tenth of them."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 3)), np.arange(60) % 3
    weight = np.where(codes == 2, 1e-12, 1.0)
    result = gl.solve(MultinomialProblem(X, codes, kernel=RBF(0.5), sample_weight=weight), tol=1e-10).certified
    assert result.status is gl.Status.CONVERGED


# --- the parts


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 6))
def test_balancing_factors_are_as_good_as_they_say(seed, k):
    rng = np.random.default_rng(seed)
    rates = 10.0 ** rng.uniform(-8, 8, size=(k, k))
    np.fill_diagonal(rates, 0.0)
    x, error = balancing_factors(rates, 0.0)
    with ctx.workprec(BITS):
        # x[0] = 1 and the balance of all classes but the first have one solution.
        out = [sum(map(arb, row), arb(0)) for row in rates.tolist()]
        balance = [[arb(rates[m, j]) - (out[j] if m == j else 0) for m in range(k)] for j in range(1, k)]
        rest = arb_mat([row[1:] for row in balance]).solve(arb_mat([[-row[0]] for row in balance]))
        truth = [arb(1), *rest.entries()]
        top = truth[int(x.argmax())]
        for mine, theirs in zip(x.tolist(), truth, strict=True):
            assert abs(arb(mine) * top / theirs - 1) < arb(error)


@given(st.lists(st.floats(-1e300, 1e300), max_size=20))
def test_sums_are_on_their_side(values):
    total = sum(map(Fraction, values), Fraction(0))
    above, below = sum_above(np.array(values)), sum_below(np.array(values))
    assert below == -np.inf or Fraction(below) < total
    assert above == np.inf or Fraction(above) > total


def test_what_is_not_finite_bounds_nothing():
    for values in ([np.nan], [np.inf, 1.0], [-np.inf], [1.7e308, 1.7e308]):
        assert sum_above(np.array(values)) == np.inf and sum_below(np.array(values)) == -np.inf


@given(seed=st.integers(0, 2**32 - 1))
def test_twice_the_digits_round_once(seed):
    rng = np.random.default_rng(seed)
    gram = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-8, 8, size=(6, 6))
    gram = gram + gram.T
    problem = MultinomialProblem(np.arange(6)[:, None], np.arange(6) % 3, 3, kernel=Precomputed(gram))
    A = rng.normal(size=(6, 3)) * 10.0 ** rng.uniform(-8, 8, size=(6, 3))
    for a in A.T:
        f, error = twofold_values(problem, np.ascontiguousarray(a))
        for i in range(6):
            value = sum((Fraction(gram[i, j]) * Fraction(a[j]) for j in range(6)), Fraction(0))
            assert abs(Fraction(f[i]) - value) <= Fraction(error[i])
            assert error[i] <= 3e-16 * abs(f[i]) + 1e-20 * np.abs(gram).max() * np.abs(a).sum()
