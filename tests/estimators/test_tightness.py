"""At an equal tol a model of ours is never looser than LIBSVM's, by LIBSVM's own criterion and by the certified gap."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm

import gapless as gl

# (data set, rows, C): features divided by their largest absolute value, class 1 or the larger half of the labels against the rest.
CASES = [
    ("a9a", 2000, 1.0), ("australian_scale", 690, 10.0), ("cod_rna", 2000, 10.0), ("german_numer", 1000, 1.0), ("heart_scale", 270, 100.0),
    ("ijcnn1", 2000, 10.0), ("magic_gamma", 2000, 1.0), ("mushrooms", 2000, 1.0), ("phishing", 2000, 10.0), ("splice", 1000, 1.0),
    ("svmguide1", 2000, 100.0), ("w8a", 2000, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rows", "C"), CASES)
def test_never_looser_than_libsvm(name, rows, C, shared_data, capsys):
    X, y, *_ = shared_data(name)
    chosen = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:rows])
    X, y = X[chosen], y[chosen] == y.max()
    scale = abs(X).max(axis=0)
    scale = np.asarray(scale.todense()).ravel() if sp.issparse(scale) else scale
    scale = np.where(scale > 0, scale, 1.0)
    X = sp.csr_matrix(X @ sp.diags(1.0 / scale)) if sp.issparse(X) else X / scale
    ours = gl.certify(gl.SVC(C=C, tol=1e-3).fit(X, y), X, y)
    theirs = gl.certify(svm.SVC(C=C, tol=1e-3).fit(X, y), X, y)
    with capsys.disabled():
        print(
            f"\n  {name}: KKT violation {ours.kkt_violation:.1e} (LIBSVM {theirs.kkt_violation:.1e}), "
            f"relative gap {ours.relative_gap:.1e} (LIBSVM {theirs.relative_gap:.1e})"
        )
    assert ours.kkt_violation <= theirs.kkt_violation
    assert ours.relative_gap <= theirs.relative_gap
