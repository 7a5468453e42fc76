"""Input at the edge of float64, of memory and of meaning: a sentence each, and no warning of NumPy's."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.data.scale import LARGEST
from gapless.errors import InvalidInputError, TooLargeError

ESTIMATORS = [
    *(gl.SVC, gl.NuSVC, gl.LinearSVC, gl.SVR, gl.NuSVR, gl.LinearSVR, gl.OneClassSVM),
    *(gl.KernelPerceptron, gl.KernelLogisticRegression, gl.KernelFisherDiscriminant),
]
SUPERVISED = [each for each in ESTIMATORS if each is not gl.OneClassSVM]
WEIGHTED = [each for each in ESTIMATORS if each not in (gl.KernelPerceptron, gl.KernelFisherDiscriminant)]
X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
supervised = pytest.mark.parametrize("estimator", SUPERVISED, ids=lambda cls: cls.__name__)
weighted = pytest.mark.parametrize("estimator", WEIGHTED, ids=lambda cls: cls.__name__)


@weighted
@pytest.mark.parametrize("weight", [1e308, 1e200])
def test_weights_that_overflow(estimator: Any, weight: float) -> None:
    """1e308 was a RecursionError, or an overflow that NumPy warned of."""
    with pytest.raises(InvalidInputError, match=r"^sample_weight must have entries of at most 1e\+75, since products"):
        estimator().fit(X, Y, sample_weight=np.full(40, weight))


@pytest.mark.parametrize(
    "estimator", [each for each in ESTIMATORS if hasattr(each(), "C")], ids=lambda cls: cls.__name__
)
@pytest.mark.parametrize(
    ("C", "words"), [(1e308, "at most 1e+75"), (1e100, "at most 1e+75"), (1e-308, "at least 1e-75")]
)
def test_a_C_that_overflows(estimator: Any, C: float, words: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        estimator(C=C).fit(X, Y)
    assert str(caught.value).startswith("C times sample_weight must be") and words in str(caught.value)


@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(1.0), gl.kernels.Polynomial(3)])
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("scale", [1e100, 1e155, 1e300])
def test_problems_of_enormous_entries(kernel: Any, C: float, scale: float) -> None:
    """With a hard margin these were a LinAlgError."""
    with pytest.raises(InvalidInputError, match=r"^X must have entries of at most 1e\+75"):
        gl.Problem(scale * X, Y, C=C, kernel=kernel)


@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(1.0)])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"C": 1e308}, "C times sample_weight must be at most 1e+75"),
        ({"lam_mean": 1e-308}, "C times sample_weight must be at most 1e+75"),
        ({"C": 1e-308}, "C times sample_weight must be zero or at least 1e-75"),
        ({"sample_weight": np.full(40, 1e308)}, "sample_weight must have entries of at most 1e+75"),
        ({"C": 1e40, "sample_weight": np.full(40, 1e40)}, "C times sample_weight must be at most 1e+75"),
    ],
)
def test_problems_of_enormous_costs(kernel: Any, given: dict[str, Any], message: str) -> None:
    """C=1e308 was a RecursionError."""
    with pytest.raises(InvalidInputError) as caught:
        gl.Problem(X, Y, kernel=kernel, **given)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_kernel_that_overflows(C: float) -> None:
    with pytest.raises(
        InvalidInputError, match=r"^kernel must have values of at most 1e\+150 on X; k\(x, x\) is (inf|nan)\. Rescale"
    ):
        gl.solve(gl.Problem(1e60 * X, Y, C=C, kernel=gl.kernels.Polynomial(5)))


@pytest.mark.parametrize("scale", [1e-200, 1e-60, 1e60, LARGEST / 10])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*is slow to converge:UserWarning")
@every
def test_entries_within_the_largest_end_in_a_model_or_a_sentence(estimator: Any, scale: float) -> None:
    try:
        model = (
            estimator(max_time=2.0).fit(scale * X, Y)
            if hasattr(estimator(), "max_time")
            else estimator().fit(scale * X, Y)
        )
    except InvalidInputError as error:
        assert str(error).endswith(".")
    else:
        assert model.predict(scale * X).shape == (40,)


@every
def test_more_features_than_memory_has_room_for(estimator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """2³¹ − 1 features had no answer in 20 s."""
    monkeypatch.setattr("gapless.data.memory.available_bytes", lambda: 2**34)
    wide = sp.csr_array((np.ones(4), ([0, 1, 2, 3], [0, 5, 2**31 - 2, 7])), shape=(4, 2**31 - 1))
    tracemalloc.start()
    try:
        with pytest.raises(
            TooLargeError, match=r"^training on 2,147,483,647 features, .* needs 128 GiB, but only 16\.00 GiB of memory"
        ):
            estimator().fit(wide, [0, 1, 0, 1])
        assert tracemalloc.get_traced_memory()[1] < 2**24  # a byte a feature would be 2 GiB, and seconds
    finally:
        tracemalloc.stop()


def test_a_problem_of_more_features_than_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gapless.data.memory.available_bytes", lambda: 2**34)
    wide = sp.csr_array((np.ones(4), ([0, 1, 2, 3], [0, 5, 2**31 - 2, 7])), shape=(4, 2**31 - 1))
    with pytest.raises(TooLargeError, match=r"^training on 2,147,483,647 features, .* needs 128 GiB"):
        gl.solve(gl.Problem(wide, [0, 1, 0, 1]))


LABELS = {
    "none": ([None] * 5 + [1] * 35, "y must have a label for every sample; entry 0 is None."),
    "missing among texts": (["a"] * 5 + [float("nan")] * 35, "y must have a label for every sample; entry 5 is nan."),
    "missing among objects": (np.array([*["a"] * 39, np.nan], dtype=object), "y must have a label for every sample; entry 39 is nan."),
    "mixed": (np.array([*["a"] * 5, *[1] * 35], dtype=object), "y must hold labels of one type; got numbers and text."),
    "mixed in a list": (["a"] * 5 + [1] * 35, "y must hold labels of one type; got numbers and text."),
    "dates": (np.array(["2020-01-01", "2020-01-02"] * 20, dtype="M8[D]"), "y must hold real numbers; got the type datetime64[D]."),
    "masked": (np.ma.array(Y, mask=Y > 0), "y must be a plain array; got a masked array, whose mask would be ignored"),
}  # fmt: skip


@supervised
@pytest.mark.parametrize("labels", LABELS)
def test_labels_that_are_none(estimator: Any, labels: str) -> None:
    y, message = LABELS[labels]
    with pytest.raises(InvalidInputError) as caught:
        estimator().fit(X, y)
    assert message in str(caught.value)


@pytest.mark.parametrize("labels", LABELS)
def test_problems_of_labels_that_are_none(labels: str) -> None:
    y, message = LABELS[labels]
    with pytest.raises(InvalidInputError) as caught:
        gl.Problem(X, y)
    assert message in str(caught.value)


def test_problems_of_features_that_are_no_numbers() -> None:
    dates = np.array(["2020-01-01"] * 40, dtype="M8[D]")[:, None]
    for wrong, message in [
        (np.ma.array(X, mask=X > 0), "X must be a plain array; got a masked array, whose mask would be ignored"),
        (dates, "X must hold real numbers; got the type datetime64[D]."),
        (dates - dates[0], "X must hold real numbers; got the type timedelta64[D]."),
    ]:
        with pytest.raises(InvalidInputError) as caught:
            gl.Problem(wrong, Y)
        assert str(caught.value).startswith(message)


@supervised
def test_labels_that_pandas_calls_missing(estimator: Any) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"y (must have a label for every sample; entry 0 is <NA>|contains NaN)\."):
        estimator().fit(X, pandas.Series([pandas.NA, *[0, 1] * 19, 1], dtype="Int64"))
    with pytest.raises(InvalidInputError, match=r"^y must have a label for every sample; entry 0 is None\.$"):
        estimator().fit(X, pandas.Series([None, *["a", "b"] * 19, "b"], dtype=object))
    with pytest.raises(InvalidInputError, match=r"^y must hold real numbers; got the type datetime64"):
        estimator().fit(X, pandas.Series(pandas.date_range("2020", periods=40, tz="UTC")))


@every
def test_features_that_are_no_numbers(estimator: Any) -> None:
    model = estimator().fit(X, Y)
    for wrong, message in [
        (X.astype("M8[D]"), "X must hold real numbers; got the type datetime64[D]."),
        (X.astype("m8[s]"), "X must hold real numbers; got the type timedelta64[s]."),
        (np.ma.array(X, mask=X > 1), "X must be a plain array; got a masked array, whose mask would be ignored"),
    ]:
        for call in (lambda wrong=wrong: estimator().fit(wrong, Y), lambda wrong=wrong: model.predict(wrong)):
            with pytest.raises(InvalidInputError) as caught:
                call()
            assert message in str(caught.value)


@every
def test_columns_of_dates(estimator: Any) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"when": pandas.date_range("2020", periods=40), "size": X[:, 0]})
    with pytest.raises(InvalidInputError, match=r"^X must hold real numbers; got the type datetime64"):
        estimator().fit(table, Y)


@weighted
def test_weights_that_are_no_numbers(estimator: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^sample_weight must be a plain array; got a masked array"):
        estimator().fit(X, Y, sample_weight=np.ma.array(np.ones(40), mask=Y > 0))
    with pytest.raises(InvalidInputError, match=r"^sample_weight must hold numbers; could not convert string"):
        estimator().fit(X, Y, sample_weight=["a"] * 40)


@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid", "rbf"])
@pytest.mark.parametrize("scale", [1e100, 1e155, 1e300])
def test_predictions_far_away_do_not_warn(kernel: str, scale: float) -> None:
    model = gl.SVC(kernel=kernel).fit(X, Y)
    assert set(model.predict(scale * X)) <= {0, 1}
    low, high = model.decision_interval(scale * X)
    assert not (low > high).any()
