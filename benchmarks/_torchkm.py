"""The problems of TorchKM's table (arXiv 2606.06742): its data, its folds and its values of λ, and TorchKM's own run on them.

    python benchmarks/_torchkm.py data problem.npz n p n_lambda        # make a problem, by functions of TorchKM
    python benchmarks/_torchkm.py tune problem.npz answer.json         # solve it by TorchKM, on the CPU

Both are run as processes of their own: PyTorch's threads and memory are then no part of anybody else's measurement, and a run can be ended.

TorchKM minimises λ‖w‖² + (1/n) Σ ξ over all n samples, and for a fold over the same 1/n with the fold's samples left out. Times 1/(2λ) that is our
½‖w‖² + C Σ ξ with C = 1/(2nλ), in which n counts all samples, those of the fold too. Its kernel is exp(−2σ‖x − z‖²), so that γ = 2σ.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

SEED, FOLDS, CLUSTERS, SHIFT, DEVIATION = 42, 10, 5, 2.0, 3
"""The seed, the folds and the arguments of ``data_gen`` in the example of ``torchkm.cvksvm``."""
LARGEST, SMALLEST = 3, -3
"""The exponents of the first and the last λ, to the base of ten."""


def costs(lam: np.ndarray, n: int) -> np.ndarray:
    """C of each λ, for n samples in all; λ falls, so that C grows."""
    return 1.0 / (2.0 * n * lam)


def folds_of(fold: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(training rows, test rows) of each fold, from the number of the fold of each sample."""
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]


def data(path: str, n: str, p: str, n_lambda: str) -> None:
    """Make a problem by the calls of TorchKM's own example, in its order, since they all draw from one generator."""
    import torch
    from torchkm import data_gen, sigest, standardize

    rows, features = int(n), int(p)
    half = features // 2
    torch.manual_seed(SEED)
    lam = torch.logspace(LARGEST, SMALLEST, steps=int(n_lambda))
    X, y, _ = data_gen(rows, CLUSTERS, features, half, half, SHIFT, DEVIATION, SEED)
    data_gen(rows // 10, CLUSTERS, features, half, half, SHIFT, DEVIATION, SEED)  # the example's test part
    X = standardize(X)
    sigma = sigest(X)
    torch.manual_seed(SEED)
    fold = torch.randperm(rows) % FOLDS + 1
    np.savez(path, X=X.numpy(), y=y.numpy(), sigma=sigma, lam=lam.double().numpy(), fold=fold.numpy())


def tune(path: str, answer: str) -> None:
    """Train and tune by TorchKM with the settings of its example; the answer has its seconds, its choice, and the errors at each λ."""
    import torch
    from torchkm import rbf_kernel
    from torchkm.cvksvm import cvksvm

    # Its decomposition of the kernel matrix may take more memory than there is: this process should then be the one that is ended.
    Path("/proc/self/oom_score_adj").write_text("1000")
    with np.load(path) as problem:
        X, y, lam, fold = (torch.from_numpy(problem[name]) for name in ("X", "y", "lam", "fold"))
        sigma = float(problem["sigma"])
    began = time.perf_counter()
    model = cvksvm(
        Kmat=rbf_kernel(X, sigma), y=y, nlam=len(lam), ulam=lam, foldid=fold, nfolds=FOLDS, eps=1e-5, maxit=100_000, gamma=1e-8, is_exact=0,
        device="cpu",
    )  # fmt: skip
    model.fit()
    errors = model.cv(model.pred, y)
    index = int(errors.argmin())
    found = {
        "seconds": time.perf_counter() - began,
        "index": index,
        "wrong": [round(float(each) * len(y)) for each in errors],
        "converged": int(model.converged.sum()),
    }
    Path(answer).write_text(json.dumps(found))


if __name__ == "__main__":
    {"data": data, "tune": tune}[sys.argv[1]](*sys.argv[2:])
