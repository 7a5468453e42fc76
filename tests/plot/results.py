"""Small ``cv_results_`` for the tests of displays, with and without certified intervals."""

from __future__ import annotations

from itertools import product

import numpy as np


def grid(**values):
    """All candidates of a grid, in the order of scikit-learn's ParameterGrid for sorted names."""
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


def cv_results(params, mean, low=None, high=None, *, metric="score", folds=3, train=None):
    """The keys of ``cv_results_``; scores of nan are of dropped candidates. Each fold deviates from the mean by 0.01."""
    mean = np.asarray(mean, dtype=float)
    results = {
        "params": list(params),
        f"mean_test_{metric}": mean,
        f"std_test_{metric}": np.where(np.isnan(mean), np.nan, 0.01),
    }
    results |= {f"split{fold}_test_{metric}": mean for fold in range(folds)}
    if low is not None:
        results |= {
            f"mean_test_{metric}_low": np.asarray(low, float),
            f"mean_test_{metric}_high": np.asarray(high, float),
        }
        results |= {f"split{fold}_test_{metric}_low": np.asarray(low, float) for fold in range(folds)}
    if train is not None:
        results |= {f"mean_train_{metric}": np.asarray(train, float), f"std_train_{metric}": np.full(len(mean), 0.002)}
    return results
