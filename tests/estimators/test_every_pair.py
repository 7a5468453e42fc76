"""One-vs-one in one go: the models and the proofs are those of pairs that are solved one by one, and every other fit is left to that way."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

import gapless as gl
from gapless import _native
from gapless.errors import Interrupted, InvalidInputError
from gapless.estimators import base, every_pair, kernel_spec, one_vs_one
from gapless.estimators.every_pair import EveryPair
from gapless.estimators.multiclass import pairs
from gapless.proof.certificate import Point, evaluate
from gapless.proof.zero import vanishes
from gapless.result import Status
from tests.estimators.data import iris, many

WEIGHTS = np.random.default_rng(1).integers(0, 4, size=48).astype(float)  # a quarter of them zero
X, Y = many()
CASES = {
    "rbf": (gl.SVC(), X, Y, None),
    "linear": (gl.SVC(kernel="linear"), X, Y, None),
    "poly": (gl.SVC(kernel="poly", coef0=1.0), X, Y, None),
    "tiny C": (gl.SVC(C=1e-6), X, Y, None),
    "large C": (gl.SVC(C=1e4), X, Y, None),
    "large C, apart": (gl.SVC(kernel="linear", C=1e4), *many(apart=4.0), None),
    "tight": (gl.SVC(tol=1e-8), X, Y, None),
    "class weights": (gl.SVC(class_weight={0: 0.5, 3: 7.0}), X, Y, None),
    "balanced": (gl.SVC(class_weight="balanced"), X, Y, WEIGHTS),
    "weights": (gl.SVC(), X, Y, WEIGHTS),
    "sparse": (gl.SVC(kernel="linear"), sp.csr_array(np.round(X)), Y, None),
    "precomputed": (gl.SVC(kernel="precomputed"), rbf_kernel(X, gamma=0.2), Y, WEIGHTS),
    "function": (gl.SVC(kernel=lambda A, B: A @ B.T + 1.0), X, Y, None),
    "iris": (gl.SVC(), *iris(), None),
    "nu": (gl.NuSVC(nu=0.3), X, Y, None),
    "nu weights": (gl.NuSVC(nu=0.2, class_weight={0: 0.5, 3: 2.0}), X, Y, np.where(WEIGHTS == 0, 0.3, WEIGHTS)),
    "nu iris": (gl.NuSVC(nu=0.2, kernel="poly"), *iris(), None),
}  # fmt: skip


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


def one_by_one(model, *data):
    """The model fitted without the attempt on all pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_vs_one, "every_pair", lambda *_: None)
        return clone(model).fit(*data)


def in_one_go(model, *data):
    """The model fitted with an error where a pair is solved by itself."""

    def solve_one(self, problem, **options):
        raise AssertionError("a pair was left over")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gl.SVC, "_solve_one", solve_one)
        patch.setattr(gl.NuSVC, "_solve_one", solve_one)
        return clone(model).fit(*data)


def problems_of(model, X, y, weight):
    """The problem of each pair of classes, stated by the public functions."""
    gram = None
    if model.kernel == "precomputed":
        gram = X
    elif callable(model.kernel):
        gram = model.kernel(X, X)
    weight = np.ones(len(y)) if weight is None else weight
    by_class = dict(zip(model.classes_, model.class_weight_, strict=True))
    box = np.array([by_class[label] for label in y])
    for i, j in pairs(len(model.classes_)):
        rows = np.concatenate([np.flatnonzero((y == model.classes_[c]) & (weight > 0)) for c in (i, j)])
        kernel, samples = model._kernel_object, X
        if gram is not None:
            kernel, samples = gl.kernels.Precomputed(np.asarray(gram)), np.arange(len(y), dtype=float)[:, None]
        positive = y[rows] == model.classes_[j]
        if isinstance(model, gl.NuSVC):
            yield gl.nu.nu_classification(
                samples[rows], positive, nu=model.nu, kernel=kernel, sample_weight=weight[rows], box_weight=box[rows]
            )
        else:
            yield gl.Problem(samples[rows], positive, kernel=kernel, C=model.C, sample_weight=weight[rows] * box[rows])


def has_features(model):
    """Whether the kernel is one of features, and not given as a matrix."""
    return not callable(model.kernel) and model.kernel != "precomputed"


# --- the same models


def test_all_is_as_one_by_one(case):
    model, *data = case
    fast, slow = in_one_go(model, *data), one_by_one(model, *data)
    assert len(fast.certificates_) == len(slow.certificates_) == len(pairs(len(fast.classes_)))
    for one, other in zip(fast._solved, slow._solved, strict=True):
        assert one.proven and one.status is other.status and one.solver == other.solver
        ours, theirs = one.certificate, other.certificate
        assert ours.relative_gap <= model.tol and ours.kkt_violation <= model.tol / 4
        assert max(ours.dual, theirs.dual) <= min(ours.primal, theirs.primal)  # both hold the optimum
        # Models within √gap of the optimum each are within the sum of each other.
        assert one.reach.distance == ours.distance_bound and one.reach.offsets.shape == other.reach.offsets.shape
        assert (one.reach.offsets[:, 0] <= other.reach.offsets[:, 1]).all()
        assert (one.reach.offsets[:, 1] >= other.reach.offsets[:, 0]).all()
    if has_features(model):
        (low, high), (least, most) = fast.decision_interval(data[0]), slow.decision_interval(data[0])
        assert (np.maximum(low, least) <= np.minimum(high, most)).all()
    assert vars(fast).keys() == vars(slow).keys()
    for name in ("support_", "dual_coef_", "intercept_", "n_iter_", "_n_support", "_scales", "alpha_"):
        one, other = getattr(fast, name), getattr(slow, name)
        assert type(one) is type(other) and one.dtype == other.dtype, name


@pytest.mark.parametrize("case", [case for case in CASES.values() if has_features(case[0])], ids=repr)
def test_without_a_matrix_for_all_every_pair_has_its_own(case, monkeypatch):
    model, *data = case
    whole = in_one_go(model, *data)
    monkeypatch.setattr(base, "small_gram", lambda *_: None)
    apart = in_one_go(model, *data)
    for one, other in zip(apart._solved, whole._solved, strict=True):
        assert one.proven and one.status is other.status
        assert one.certificate.relative_gap <= model.tol and one.certificate.kkt_violation <= model.tol / 4
        assert max(one.certificate.dual, other.certificate.dual) <= min(
            one.certificate.primal, other.certificate.primal
        )
    (low, high), (least, most) = apart.decision_interval(data[0]), whole.decision_interval(data[0])
    assert (np.maximum(low, least) <= np.minimum(high, most)).all()


@pytest.mark.parametrize("C", [0.1, 100.0])
@pytest.mark.parametrize("apart", [0.3, 1.5, 6.0], ids=lambda apart: f"apart {apart}")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_large_pairs_are_solved_on_the_samples_that_count(kernel, apart, C, monkeypatch):
    """Whether few samples suffice, many, or all: the bounds are those of the problem of all samples."""
    monkeypatch.setattr(base, "small_gram", lambda *_: None)
    X, y = many(classes=3, each=300, apart=apart)
    model = gl.SVC(kernel=kernel, C=C)
    fast, slow = clone(model).fit(X, y), one_by_one(model, X, y)
    for one, other in zip(fast._solved, slow._solved, strict=True):
        assert (
            one.proven and one.certificate.relative_gap <= model.tol and one.certificate.kkt_violation <= model.tol / 4
        )
        assert max(one.certificate.dual, other.certificate.dual) <= min(
            one.certificate.primal, other.certificate.primal
        )
    for problem, one in zip(problems_of(fast, X, y, None), fast._solved, strict=True):
        whole = gl.certify(problem, Point(beta=one.beta))  # from scratch
        assert whole.relative_gap <= model.tol * (1 + 1e-6)
        assert max(whole.dual, one.certificate.dual) <= min(whole.primal, one.certificate.primal)
    (low, high), (least, most) = fast.decision_interval(X), slow.decision_interval(X)
    assert (np.maximum(low, least) <= np.minimum(high, most)).all()


@pytest.mark.parametrize("data", [(X, Y), many(classes=3, each=300, apart=1.5)], ids=["small", "large"])
def test_threads_change_nothing_where_every_pair_has_its_own_matrix(data, monkeypatch):
    monkeypatch.setattr(base, "small_gram", lambda *_: None)
    found = []
    for threads in (1, 2):
        before = _native.limit_threads_here(threads)
        try:
            found.append(in_one_go(gl.SVC(), *data))
        finally:
            _native.limit_threads_here(before)
    assert_array_equal(found[0].dual_coef_, found[1].dual_coef_)
    assert_array_equal(found[0].intercept_, found[1].intercept_)


def test_clusters_apart_leave_no_pair_to_the_usual_way():
    in_one_go(
        gl.SVC(cache_size=40), *many(classes=3, each=900, apart=4.0)
    )  # the matrix of all samples would take 55 MB


def test_samples_of_huge_numbers_are_left_to_the_usual_way(monkeypatch):
    monkeypatch.setattr(base, "small_gram", lambda *_: None)
    with pytest.raises(InvalidInputError):
        gl.SVC(kernel="poly", gamma=1.0).fit(1e120 * X, Y)


def test_each_proof_holds_for_the_stated_problem(case):
    """The bounds that the native call proves are those that ``evaluate`` proves for the model, and within those of a solve of the problem."""
    model, X, y, weight = case
    fitted = in_one_go(model, X, y, weight)
    for problem, solved in zip(problems_of(fitted, X, y, weight), fitted._solved, strict=True):
        proof = solved.certificate
        primal, _ = evaluate(problem, Point(beta=solved.beta, offsets=solved.offsets))
        assert_allclose(primal.value, proof.primal, rtol=1e-9)
        result = gl.solve(problem, tol=1e-9)
        assert result.certificate.dual <= proof.primal and proof.dual <= result.certificate.primal
        apart = solved.beta - result.certified.beta
        distance = np.sqrt(max(0.0, float(apart @ problem.expand(apart))))
        # β of the solve is that of its dual point, which is as near to the optimum as √(2 gap).
        assert distance <= proof.distance_bound + np.sqrt(2.0 * result.certificate.gap) + 1e-9


@pytest.mark.parametrize("options", [
    {}, {"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}, {"C": 1e4}, {"C": 1e-3}, {"kernel": "precomputed"}, {"class_weight": "balanced"}
], ids=str)  # fmt: skip
@pytest.mark.parametrize("weight", [None, np.maximum(WEIGHTS, 0.5)], ids=["plain", "weights"])
def test_labels_and_decisions_are_scikit_learns(options, weight):
    data = rbf_kernel(X, gamma=0.2) if options.get("kernel") == "precomputed" else X
    if weight is not None and "class_weight" in options:
        weight = None  # scikit-learn counts every sample once there
    options = {"gamma": 0.2, "tol": 1e-6, "decision_function_shape": "ovo", **options}
    ours, theirs = gl.SVC(**options).fit(data, Y, weight), svm.SVC(**options).fit(data, Y, weight)
    decisions = theirs.decision_function(data)
    assert_allclose(ours.decision_function(data), decisions, atol=5e-3 * np.abs(decisions).max())
    assert (ours.predict(data) == theirs.predict(data)).mean() >= 0.97


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_changes_nothing(threads):
    before = _native.limit_threads_here(threads)
    try:
        model = gl.SVC().fit(X, Y)
    finally:
        _native.limit_threads_here(before)
    other = gl.SVC().fit(X, Y)
    assert_array_equal(model.dual_coef_, other.dual_coef_)
    assert model.certificates_ == other.certificates_


# --- the proofs, in exact arithmetic


def exact(values) -> list[Fraction]:
    return [Fraction(float(v)) for v in np.ravel(values)]


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("apart", [0.5, 3.0])
def test_both_bounds_in_fractions(apart, C, scale):
    """P of each model, and D of the best multiple of its β, by fractions, on a Gram matrix whose entries are exact as they are given."""
    X, y = many(5, 4, 3, apart)
    gram = scale * rbf_kernel(X, gamma=0.3)
    weight = np.random.default_rng(3).choice([0.1, 1.0, 3.0], size=len(y))
    model = in_one_go(gl.SVC(kernel="precomputed", C=C, tol=1e-6), gram, y, weight)
    stretched = 0
    for k, (i, j) in enumerate(pairs(5)):
        rows, solved = model._members[k], model._solved[k]
        assert_array_equal(np.sort(y[rows]), np.repeat([i, j], 4))
        cost, beta, (b,) = exact(C * weight[rows]), exact(solved.beta), exact(solved.offsets)
        signs = [Fraction(1 if label == j else -1) for label in y[rows]]
        K = [exact(gram[row, rows]) for row in rows]
        f = [sum(v * c for v, c in zip(line, beta, strict=True)) for line in K]
        square = sum(v * c for v, c in zip(f, beta, strict=True))
        losses = [c * max(Fraction(0), 1 - s * (v + b)) for c, s, v in zip(cost, signs, f, strict=True)]
        assert square / 2 + sum(losses) <= Fraction(solved.certificate.primal)
        assert float(square / 2 + sum(losses)) >= solved.certificate.primal - 2 * solved.certificate.rounding
        # The heavier side, scaled down exactly, makes Σβ = 0; D(tβ) = t Σ|β| − ½ t² βᵀKβ, and tβ must stay in its box.
        up, down = sum(v for v in beta if v > 0), -sum(v for v in beta if v < 0)
        less = min(up, down)
        beta = [v * (less / up if v > 0 else less / down) for v in beta]
        assert all(s * v >= 0 for s, v in zip(signs, beta, strict=True))
        f = [sum(v * c for v, c in zip(line, beta, strict=True)) for line in K]
        square = sum(v * c for v, c in zip(f, beta, strict=True))
        most = min(c / abs(v) for c, v in zip(cost, beta, strict=True) if v)
        t = min(2 * less / square, most)
        assert Fraction(solved.certificate.dual) <= (t * 2 * less - t * t * square / 2) * (1 + Fraction(1, 10**12))
        stretched += not solved.certificate.own_weights
    assert stretched > 0 or C * scale < 1e4 or apart < 1  # where C does not bind, models are stretched to their margins


def test_a_bound_that_is_too_tight_is_noticed():
    """The referee above can fail: the P of a model with one coefficient changed is above the bound that was proven."""
    model = in_one_go(gl.SVC(tol=1e-6), X, Y)
    (problem, *_), solved = problems_of(model, X, Y, None), model._solved[0]
    beta = solved.beta.copy()
    beta[np.abs(beta).argmax()] *= 1.05
    primal, _ = evaluate(problem, Point(beta=beta, offsets=solved.offsets))
    assert primal.value - primal.rounding > solved.certificate.primal


# --- what is left to the other way


def test_pairs_that_take_long_go_on_one_by_one(monkeypatch):
    """Wine as it is has features of scales that differ by a factor of a thousand."""
    monkeypatch.setattr(every_pair, "_TURNS", 0.5)
    X, y = load_wine(return_X_y=True)
    model = gl.SVC(kernel="linear").fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3 and (model.n_iter_ > 107).any()
    assert model.certificate_ in model.certificates_ and len(model.certificates_) == 3
    after = np.array([solved.trace.iterations[-1] for solved in model._solved])
    assert (after < model.n_iter_).all()  # n_iter_ counts what came before, too


def test_a_nu_svc_whose_optimum_is_zero_is_told_so():
    X, y = many(3, 100, 2, 0.0)
    with pytest.warns(UserWarning, match="is zero in 3 of 3 pairs of classes"):
        model = gl.NuSVC(nu=0.1).fit(X, y)
    with pytest.warns(UserWarning, match="is zero in 3 of 3 pairs of classes"):
        slow = one_by_one(model, X, y)
    for one, other, problem in zip(model._solved, slow._solved, problems_of(model, X, y, None), strict=True):
        assert one.status is other.status is Status.ZERO
        assert vanishes(problem, one.certificate, model.tol)


def test_some_pairs_in_one_go_and_some_one_by_one(monkeypatch):
    monkeypatch.setattr(every_pair, "_TURNS", 1.0)
    X, y = many(4, 10, 4)
    X[y == 3] *= 1e4
    model = gl.SVC(kernel="linear", C=10.0)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        original = gl.SVC._solve_one
        patch.setattr(gl.SVC, "_solve_one", lambda self, *a, **b: (seen.append(1), original(self, *a, **b))[1])
        model.fit(X, y)
    slow = one_by_one(model, X, y)
    assert 0 < len(seen) < 6
    for one, other in zip(model.certificates_, slow.certificates_, strict=True):
        assert one.relative_gap <= 1e-3 and max(one.dual, other.dual) <= min(one.primal, other.primal)
    assert_array_equal(model.predict(X), slow.predict(X))
    gaps = [one.relative_gap for one in model.certificates_]
    assert model.certificate_ is model.certificates_[int(np.argmax(gaps))]


@pytest.mark.parametrize("options", [
    {"solver": "smo"}, {"C": np.inf, "kernel": "linear"}, {"callback": lambda progress: None}, {"kernel": "sigmoid"},
    {"cache_size": 1e-4}, {"approximation": gl.features.Nystroem(10)},
], ids=lambda options: "_".join(options))  # fmt: skip
def test_what_is_out_of_the_ordinary_is_left_alone(options, monkeypatch):
    ran = []
    monkeypatch.setattr(EveryPair, "run", lambda *_, **__: ran.append(1))
    model = gl.SVC(**options).fit(*many(3, 6, 8, 6.0))
    assert not ran and len(model.certificates_) == 3


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_places_in_a_users_own_matrix_are_checked(monkeypatch, storage):
    """A kernel object that is a matrix, where no other matrix is made of it: the native loops trust every place."""
    monkeypatch.setattr(kernel_spec, "_SMALL_GRAM", 0.0)
    monkeypatch.setattr(kernel_spec, "_SMALL", 0)
    kernel, places = gl.kernels.Precomputed(rbf_kernel(X, gamma=0.2)), np.arange(48.0)[:, None]
    model = in_one_go(gl.SVC(kernel=kernel, cache_size=0.01), storage(places), Y)
    assert model.certificates_ == gl.SVC(kernel="precomputed").fit(kernel.gram, Y).certificates_
    places[3] = 48.0
    with pytest.raises(InvalidInputError, match=r"indices, whole numbers from 0 to 47; got 48\."):
        gl.SVC(kernel=kernel, cache_size=0.01).fit(storage(places), Y)


def test_two_classes_are_left_alone(monkeypatch):
    monkeypatch.setattr(EveryPair, "run", lambda *_, **__: pytest.fail("there is one pair"))
    assert len(gl.SVC().fit(*many(2)).certificates_) == 1


def test_a_warm_start_goes_on_from_pairs_that_were_solved_in_one_go():
    model = gl.SVC(warm_start=True).fit(X, Y)
    first = model.certificates_
    again = model.set_params(tol=1e-9).fit(X, Y)
    assert again.certificate_.relative_gap <= 1e-9 and len(again.trace_) > 0
    assert all(new.primal <= old.primal * (1 + 1e-12) for new, old in zip(again.certificates_, first, strict=True))


def test_nu_that_is_infeasible_and_classes_that_are_full():
    with pytest.raises(InvalidInputError, match="specified nu is infeasible"):
        gl.NuSVC(nu=0.9).fit(X[2:], np.where(Y[2:] > 2, 2, Y[2:]))
    # Where ν asks for all samples of the classes, all β are at their bounds.
    full, slow = gl.NuSVC(nu=1.0).fit(X, Y), one_by_one(gl.NuSVC(nu=1.0), X, Y)
    assert_array_equal(full.dual_coef_, slow.dual_coef_)
    assert_array_equal(full.intercept_, slow.intercept_)


@pytest.mark.parametrize("weight", [0.0, 1e300, 1e-300])
@pytest.mark.parametrize("C", [1.0, 1e300])
def test_costs_that_are_refused_are_refused_in_the_same_words(C, weight):
    model = gl.SVC(C=C, class_weight={0: weight})
    with pytest.raises(InvalidInputError) as expected:
        one_by_one(model, X, Y)
    with pytest.raises(InvalidInputError) as caught:
        model.fit(X, Y)
    assert str(caught.value) == str(expected.value)


# --- bounds


def test_max_iter_bounds_each_pair():
    with pytest.warns(ConvergenceWarning, match=r"in \d+ of 28 subproblems"):
        model = gl.SVC(max_iter=5, tol=1e-6).fit(X, Y)
    assert model.n_iter_.max() <= 5 and model.fit_status_ == 1
    assert {solved.status for solved in model._solved} <= {Status.MAX_ITER, Status.CONVERGED}
    free = gl.SVC(max_iter=100_000).fit(X, Y)
    assert free.fit_status_ == 0 and free.certificates_ == gl.SVC().fit(X, Y).certificates_


def test_max_time_that_is_over_before_it_begins():
    with pytest.warns(ConvergenceWarning, match=r"Stopped at max_time .* in 28 of 28 subproblems"):
        model = gl.SVC(max_time=1e-9).fit(X, Y)
    assert all(np.isfinite(each.gap) for each in model.certificates_) and model.predict(X).shape == Y.shape


def test_max_time_that_is_enough():
    assert gl.SVC(max_time=600.0).fit(X, Y).certificates_ == gl.SVC().fit(X, Y).certificates_


# --- interruptions


@pytest.mark.parametrize("done", [0, 10, 28])
def test_an_interruption_keeps_the_pairs_that_were_done(monkeypatch, done):
    original = EveryPair.run

    def run(self, **options):
        original(self, **options)
        self._native.done[done:] = 0
        raise KeyboardInterrupt

    monkeypatch.setattr(EveryPair, "run", run)
    model = gl.SVC()
    with pytest.raises(Interrupted) as caught:
        model.fit(X, Y)
    status = [solved.status for solved in model._solved]
    kept = min(done, 27)
    assert status[:kept] == [Status.CONVERGED] * kept and status[kept:] == [Status.INTERRUPTED] * (28 - kept)
    assert caught.value.result.status is Status.INTERRUPTED
    assert caught.value.result.certificate.relative_gap >= model.certificate_.relative_gap * (1 - 1e-12)
    assert model.predict(X).shape == Y.shape and len(model.certificates_) == 28


def test_an_interruption_before_the_first_pair(monkeypatch):
    def run(self, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(EveryPair, "run", run)
    model = gl.SVC()
    with pytest.raises(Interrupted):
        model.fit(X, Y)
    assert {solved.status for solved in model._solved} == {Status.INTERRUPTED}


# --- what a fit has


def test_alpha_is_in_its_box_and_balanced():
    model = gl.SVC(C=2.0).fit(X, Y, WEIGHTS)
    alpha = model.alpha_
    assert (alpha >= 0).all() and (alpha <= 2.0 * WEIGHTS[:, None] * (1 + 1e-12)).all()
    for k, (i, j) in enumerate(pairs(8)):
        assert_allclose(alpha[i == Y, k].sum(), alpha[j == Y, k].sum(), rtol=1e-9)
        assert not alpha[(i != Y) & (j != Y), k].any()


def test_digits_are_all_done():
    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel, C in itertools.product(("linear", "rbf"), (1e-2, 1e4)):
            model = in_one_go(gl.SVC(kernel=kernel, C=C), X[:600], y[:600])
            assert max(each.relative_gap for each in model.certificates_) <= 1e-3
