"""Arrays that change after they were checked: compiled code reads nothing outside of them, whoever writes to them, and when.

Each case runs in a process of its own, which would die of a wrong read. A process ends well by a model or by a sentence of Gapless or NumPy.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.data import check_matrix
from gapless.data.rows import as_rows, sealed
from gapless.errors import InvalidInputError

BEGIN = """
import warnings
import numpy as np, scipy.sparse as sp, gapless as gl
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
HUGE = 2**30

def data(n=60, d=40, density=0.2, dtype=np.float64, index=np.int32):
    S = sp.random_array((n, d), density=density, format="csr", rng=0, dtype=dtype)
    return sp.csr_array((S.data, S.indices.astype(index), S.indptr.astype(index)), shape=S.shape)

def spoil(S):
    for part in (S.indices, S.indptr):
        for each in (part, part.base):
            try:
                each.setflags(write=True)
                each[:] = HUGE
            except (ValueError, AttributeError):
                pass

def refused(call, *args):
    try:
        return call(*args)
    except (gl.errors.GaplessError, ValueError, IndexError) as error:  # NumPy's own refusals, too
        print("refused:", error)

def many(d=20_000):
    return sp.csr_array(sp.random_array((300, d), density=0.01, format="csr", rng=0))

S, y = data(), np.where(np.arange(60) % 2, 1, -1)
"""

CASES = {
    "indices and indptr before every solver": """
from gapless.solvers import SOLVERS
for index in (np.int32, np.int64):
    for kernel in (None, gl.kernels.RBF(0.1), gl.kernels.Laplacian(0.1), gl.kernels.Cosine()):
        for name in SOLVERS:
            S = data(index=index)
            p = gl.Problem(S, y, kernel=kernel, intercept="none")
            spoil(S)
            spoil(p.X)
            result = refused(lambda: gl.solve(p, name, max_iter=50))
            if result is not None:
                refused(gl.certify, p, result)
""",
    "inside a callback": """
p = gl.Problem(S, y, kernel=gl.kernels.RBF(0.1), C=100.0)
gl.solve(p, "smo", tol=1e-10, callback=lambda progress: spoil(S))
S = data()
p = gl.Problem(S, y, loss="squared_hinge", intercept="regularized")
gl.solve(p, "sdca", tol=1e-10, callback=lambda progress: spoil(S))
""",
    "all the while, by another thread": """
import threading
S = many()
y = rng.choice([-1, 1], 300)
stop = threading.Event()
def spoiler():
    good = S.indices.copy()
    while not stop.is_set():
        S.indices[:] = HUGE
        S.indices[:] = good
thread = threading.Thread(target=spoiler)
thread.start()
try:
    for _ in range(20):
        refused(lambda: gl.SVC(kernel="rbf", max_iter=100).fit(S, y))
        refused(lambda: gl.LinearSVC(max_iter=20).fit(S, y))
finally:
    stop.set()
    thread.join()
""",
    "support vectors before predict": """
for make in (lambda: gl.SVC(), lambda: gl.SVC(kernel="linear"), lambda: gl.NuSVC(), lambda: gl.SVR(), lambda: gl.OneClassSVM(),
             lambda: gl.KernelLogisticRegression(), lambda: gl.KernelPerceptron(), lambda: gl.KernelFisherDiscriminant()):
    for n, d in ((60, 40), (300, 20_000)):
        S = data(n, d, 8 / d + 0.01)
        y = np.where(np.arange(n) % 2, 1, -1)
        for spoiled in ("indices", "indptr"):
            model = make().fit(S, y)
            if sp.issparse(model.support_vectors_):
                getattr(model.support_vectors_, spoiled)[:] = HUGE
            for ask in ("predict", "decision_function", "decision_interval"):
                if hasattr(model, ask):
                    refused(getattr(model, ask), S)
            refused(lambda: getattr(model, "coef_", None))
            if sp.issparse(getattr(model, "dual_coef_", None)):
                model.dual_coef_.indices[:] = HUGE
                refused(lambda: getattr(model, "coef_", None))
                refused(model.predict, S)
""",
    "fitted attributes of other shapes": """
X = rng.normal(size=(60, 4))
others = np.ones((3, 4)), np.ones((60, 9)), np.ones(5), np.ones((0, 0)), None, "text", np.ones((60, 4), int), [[1.0]], sp.csr_array(np.ones((3, 9)))
kept = "support_vectors_ dual_coef_ _dual_coef_ intercept_ _intercept_ _n_support support_ _gamma coef_ classes_"
for replaced in others:
    for name in kept.split():
        for make in (gl.SVC, gl.SVR, gl.KernelLogisticRegression, gl.LinearSVC, gl.KernelPerceptron):
            model = make().fit(X, y)
            try:
                setattr(model, name, replaced)
                model.predict(X)
            except (gl.errors.GaplessError, ValueError, TypeError, AttributeError, IndexError):
                pass
""",
    "the shape of dense samples": """
X = rng.normal(size=(60, 4))
for kernel in (None, gl.kernels.RBF(0.1)):
    for name in ("smo", "sdca", "newton", "subgradient", "pegasos", "qp", "interior_point"):
        p = gl.Problem(X.copy(), y, kernel=kernel, intercept="none")
        p.X.shape = (6, 40)
        refused(lambda: gl.solve(p, name, max_iter=20))
frozen = X.copy()
frozen.setflags(write=False)
p = gl.Problem(frozen, y)
frozen.shape = (4, 60)
assert p.X.shape == (60, 4) and gl.solve(p).certificate.relative_gap <= 1e-6
""",
    "places in a Gram matrix": """
G = np.eye(60)
for problem in (lambda X: gl.Problem(X, y, kernel=gl.kernels.Precomputed(G)),
                lambda X: gl.Problem(X, y, kernel=gl.kernels.Precomputed(G) + gl.kernels.Precomputed(G), loss="logistic"),
                lambda X: gl.nu.nu_classification(X, y, nu=0.5, kernel=gl.kernels.Precomputed(G))):
    for wrong in (1e9, -5.0, np.nan):
        X = np.arange(60.0)[:, None]
        p = problem(X)
        X[:] = wrong
        refused(gl.solve, p)
        X = np.arange(60.0)[:, None]
        p = problem(X)
        def change(progress):
            X[:] = wrong
        result = refused(lambda: gl.solve(p, tol=1e-12, callback=change))
        if result is not None:
            refused(gl.certify, p, result)
X = np.arange(60.0)[:, None]
k = gl.kernels.Precomputed(G)
p = gl.Problem(X, y, kernel=k)
k.gram = np.ones((60, 2))
refused(gl.solve, p)
k.gram = np.ones((2, 2))
refused(gl.solve, p)
""",
    "groups and classes by number": """
X = rng.normal(size=(60, 4))
p = gl.nu.nu_classification(X, y, nu=0.5)
for each in (p.groups, p.groups.base, gl.Problem(X, y).groups.base):
    try:
        each.setflags(write=True)
        each[:] = 2**40
        print("written")
    except (ValueError, AttributeError):
        pass
gl.solve(p)
gl.solve(gl.Problem(X, y))
""",
    "samples to predict, and landmarks": """
S = data(300, 20_000, 0.01)
y = np.where(np.arange(300) % 2, 1, -1)
model = gl.SVC().fit(S, y)
for spoiled in ("indices", "indptr"):
    T = data(300, 20_000, 0.01)
    getattr(T, spoiled)[:] = HUGE
    refused(model.predict, T)
    for features in (gl.features.Nystroem(n_components=20), gl.features.Polynomial(degree=2)):
        X = data(60, 40)
        fitted = features.fit(X)
        getattr(X, spoiled)[:] = HUGE
        refused(fitted.transform, X)
        fitted.transform(data(60, 40))
""",
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_change_makes_compiled_code_read_outside(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", BEGIN + CASES[case]], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "written" not in done.stdout


def test_the_model_is_that_of_the_structure_that_was_given() -> None:
    S = sp.random_array((80, 30), density=0.3, format="csr", rng=1)
    y = np.where(np.arange(80) % 2, 1, -1)
    kept, changed = gl.Problem(S.copy(), y), gl.Problem(S, y)
    S.indices[:], S.indptr[:] = 0, 0
    np.testing.assert_array_equal(gl.solve(changed).w, gl.solve(kept).w)


def test_support_vectors_that_were_spoiled_are_named() -> None:
    S = sp.random_array((80, 30), density=0.3, format="csr", rng=1)
    model = gl.SVC().fit(S, np.where(np.arange(80) % 2, 1, -1))
    model.support_vectors_.indices[:] = 2**30
    with pytest.raises(
        InvalidInputError,
        match=r"^support_vectors_ is CSR whose indices must lie between 0 and 29; got 1073741824\.$",
    ):
        model.predict(S)
    model.support_vectors_ = np.ones((len(model.support_), 7))
    with pytest.raises(InvalidInputError, match=r"^support_vectors_ was altered: it must have 30 columns"):
        model.predict(S)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_the_structure_of_a_matrix_is_checked_in_one_pass(index: type) -> None:
    """What the core calls canonical is what SciPy does, at the ends of its pieces of 8,192 indices as well."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 4, 20_000)
    ends = np.concatenate([[0], lengths.cumsum()]).astype(index)
    sorted_rows = np.concatenate([np.sort(rng.choice(9, k, replace=False)) for k in lengths]).astype(index)
    starts = set(ends.tolist())
    for k in [None, *(k for k in (1, 2, 8191, 8192, 8193, 16384, len(sorted_rows) - 1) if k not in starts)]:
        indices = sorted_rows.copy()
        if k is not None:
            indices[k] = indices[k - 1]
        X = sp.csr_array((np.ones(len(indices)), indices, ends), shape=(20_000, 9))
        assert as_rows(X).structure.is_canonical == X.has_canonical_format == (k is None)


def test_values_are_shared_and_the_structure_is_copied_once() -> None:
    S = sp.random_array((80, 30), density=0.3, format="csr", rng=1)
    X = check_matrix(S)
    assert np.shares_memory(X.data, S.data) and not np.shares_memory(X.indices, S.indices)
    assert as_rows(X).structure is as_rows(X).structure is as_rows(check_matrix(X)).structure
    with pytest.raises(ValueError, match="read-only"):
        X.indices[:] = 0
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        X.indices.base.setflags(write=True)
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        sealed(np.arange(3)).setflags(write=True)
