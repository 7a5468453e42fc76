"""dask-ml: predictions block by block, and training block by block where an estimator has ``partial_fit``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import gapless as gl
from tests.packages.installed import Package

wrappers = Package("dask_ml.wrappers")
arrays = Package("dask.array")

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("model", [gl.SVC(), gl.LinearSVC(), gl.SVR()], ids=repr)
def test_predictions_of_blocks_are_those_of_the_whole(model: Any) -> None:
    wrapped = wrappers.ParallelPostFit(model).fit(X, Y)
    predicted = wrapped.predict(arrays.from_array(X, chunks=(40, 4)))
    assert isinstance(predicted, arrays.Array)
    np.testing.assert_array_equal(predicted.compute(), wrapped.estimator.predict(X))


def test_a_perceptron_learns_block_by_block() -> None:
    shuffled = np.random.default_rng(0).permutation(len(X))
    blocks = [arrays.from_array(each[shuffled], chunks=(50, *each.shape[1:])) for each in (X, Y)]
    model = wrappers.Incremental(gl.KernelPerceptron(form="averaged", random_state=0), shuffle_blocks=False)
    model.fit(*blocks, classes=[0, 1, 2])
    alone = gl.KernelPerceptron(form="averaged", random_state=0)
    for begin in (0, 50, 100):
        part = shuffled[begin : begin + 50]
        alone.partial_fit(X[part], Y[part], classes=[0, 1, 2])
    np.testing.assert_array_equal(model.estimator_.decision_function(X), alone.decision_function(X))
