"""The kinds of samples, labels and weights that people give to support vector machines, and what they are told of a mistake."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler

from tests.estimators.data import cancer, diabetes, iris
from tests.workflows.agreement import assert_close_values, assert_same_form, assert_same_labels, other

X, Y = cancer()
COLUMNS = [f"f{j}" for j in range(X.shape[1])]


def test_set_output_on_the_steps(svm: ModuleType) -> None:
    """Steps hand frames to each other, and the machine learns the names of their columns."""
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    model = make_pipeline(StandardScaler(), svm.LinearSVC(C=0.1)).set_output(transform="pandas").fit(frame, Y)
    assert list(model[-1].feature_names_in_) == ["a", "b", "c"]
    assert isinstance(model[:-1].transform(frame), pd.DataFrame)
    assert type(model.predict(frame)) is np.ndarray
    with config_context(transform_output="polars"):
        polars = make_pipeline(StandardScaler(), svm.LinearSVC(C=0.1)).fit(frame, Y)
        assert list(polars[-1].feature_names_in_) == ["a", "b", "c"]
        np.testing.assert_allclose(polars.decision_function(frame), model.decision_function(frame), atol=1e-12)


def test_names_of_features(svm: ModuleType) -> None:
    frame = pd.DataFrame(X, columns=COLUMNS)
    for machine in (svm.SVC(), svm.LinearSVC(C=0.1)):
        model = machine.fit(frame, pd.Series(Y, index=frame.index))
        assert model.feature_names_in_.dtype == object and model.n_features_in_ == 30
        with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
            model.predict(frame[COLUMNS[::-1]])
        with pytest.raises(ValueError, match=r"Feature names seen at fit time, yet now missing:\n- f3"):
            model.predict(frame.drop(columns="f3"))
        with pytest.raises(ValueError, match=r"Feature names unseen at fit time:\n- g"):
            model.predict(frame.rename(columns={"f3": "g"}))
        with pytest.warns(
            UserWarning, match="X does not have valid feature names, but .* was fitted with feature names"
        ):
            values = model.decision_function(X)
        np.testing.assert_allclose(values, model.decision_function(frame), atol=1e-12)
        assert not hasattr(model.fit(X, Y), "feature_names_in_")
        with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without feature names"):
            model.predict(frame)


def test_frames_of_polars(svm: ModuleType) -> None:
    frame = pl.DataFrame(X, schema=COLUMNS)
    labels = pl.Series("diagnosis", np.array(["malignant", "benign"])[Y])
    model, twin = (make_pipeline(StandardScaler(), each.SVC()).fit(frame, labels) for each in (svm, other(svm)))
    assert list(model[0].feature_names_in_) == COLUMNS and list(model.classes_) == ["benign", "malignant"]
    assert_same_labels(model, twin, frame)
    direct = svm.SVC().fit(frame, labels)
    np.testing.assert_array_equal(
        direct.decision_function(frame), svm.SVC().fit(X, labels.to_numpy()).decision_function(X)
    )


def test_columns_of_every_pandas_type(svm: ModuleType) -> None:
    frame = pd.DataFrame(
        {
            "float": pd.array(X[:, 0], dtype="Float64"),
            "int": pd.array((X[:, 1] * 10).astype(int), dtype="Int64"),
            "bool": X[:, 2] > 0,
            "small": X[:, 3].astype(np.float32),
        }
    )
    model, twin = (each.SVC().fit(frame, pd.Series(Y, dtype="Int64")) for each in (svm, other(svm)))
    assert_same_labels(model, twin, frame)
    assert model.score(frame, Y) > 0.85


def test_frame_cut_and_shuffled_before_the_fit(svm: ModuleType) -> None:
    """What is left of a table has an index with gaps, out of order; rows and labels belong together by their places."""
    frame = pd.DataFrame(X[:, :5], columns=list("abcde")).assign(label=Y).sample(frac=0.7, random_state=0)
    weights = pd.Series(np.linspace(1, 2, len(frame)), index=frame.index)
    features, labels = frame.drop(columns="label"), frame["label"]
    model = svm.SVC().fit(features, labels, sample_weight=weights)
    plain = svm.SVC().fit(features.to_numpy(), labels.to_numpy(), sample_weight=weights.to_numpy())
    np.testing.assert_allclose(
        model.decision_function(features), plain.decision_function(features.to_numpy()), atol=1e-12
    )
    found = pd.Series(model.predict(features), index=features.index)
    assert (found == labels).mean() > 0.85


@pytest.mark.parametrize("storage", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "lil_matrix", "dok_array"])
def test_sparse_samples(svm: ModuleType, storage: str) -> None:
    Z = np.where(np.abs(X) > 0.5, X, 0.0)
    given = getattr(sp, storage)(Z)
    for machine, twin in (
        (svm.SVC(kernel="linear", C=0.1), other(svm).SVC(kernel="linear", C=0.1)),
        (svm.LinearSVC(), other(svm).LinearSVC()),
    ):
        model = machine.fit(given, Y)
        twin.fit(given, Y)
        assert_same_labels(model, twin, sp.csr_matrix(given))
        assert type(model.coef_) is type(twin.coef_) and model.coef_.shape == twin.coef_.shape
        if isinstance(model, svm.SVC):
            assert type(model.dual_coef_) is type(twin.dual_coef_)
            assert type(model.support_vectors_) is type(twin.support_vectors_)
        np.testing.assert_allclose(
            model.decision_function(given), model.decision_function(sp.csr_matrix(Z)), atol=1e-12
        )


def test_sparse_arrays_by_configuration(svm: ModuleType) -> None:
    """scikit-learn 1.9 lets its users choose between sparse matrices and sparse arrays; attributes follow."""
    try:
        context = config_context(sparse_interface="sparray")
    except TypeError:
        pytest.skip("this scikit-learn has no sparse_interface")
    with context:
        model, twin = (each.SVC(kernel="linear").fit(sp.csr_array(X), Y) for each in (svm, other(svm)))
        assert type(model.coef_) is type(twin.coef_)
        for name in ("dual_coef_", "support_vectors_"):
            assert type(getattr(model, name)) is type(getattr(twin, name))


LABELS: dict[str, Any] = {
    "strings": np.array(["ill", "well"]),
    "objects": np.array(["ill", "well"], dtype=object),
    "bool": np.array([False, True]),
    "signs": np.array([-1, 1]),
    "floats": np.array([1.0, 2.0]),
    "bytes": np.array([0, 255], dtype=np.uint8),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels(svm: ModuleType, kind: str) -> None:
    labels = LABELS[kind][Y]
    for machine, twin in ((svm.SVC(), other(svm).SVC()), (svm.LinearSVC(C=0.1), other(svm).LinearSVC(C=0.1))):
        model = machine.fit(X, labels)
        twin.fit(X, labels)
        assert_same_form(model.classes_, twin.classes_)
        assert_same_labels(model, twin, X)
        as_list = type(machine)(**machine.get_params()).fit(X.tolist(), labels.tolist())
        assert (as_list.predict(X[:20].tolist()) == model.predict(X[:20])).all()


def test_labels_of_pandas(svm: ModuleType) -> None:
    names = pd.Series(np.array(["ill", "well"], dtype=object)[Y])
    for labels in (names, names.astype("category"), names.astype("string")):
        model, twin = (each.SVC().fit(X, labels) for each in (svm, other(svm)))
        assert_same_form(model.classes_, twin.classes_)
        assert model.predict(X[:5]).tolist() == twin.predict(X[:5]).tolist()
    codes = LabelEncoder().fit(names)
    assert set(codes.inverse_transform(svm.SVC().fit(X, codes.transform(names)).predict(X))) == {"ill", "well"}


def test_class_weights(svm: ModuleType) -> None:
    names = np.array(["setosa", "versicolor", "virginica"])
    A, b = iris()
    A, labels = A[30:], names[b[30:]]
    for weight in ("balanced", {"setosa": 5, "virginica": 0.5}, {name: 2.0 for name in names}):
        model, twin = (each.SVC(class_weight=weight, tol=1e-6).fit(A, labels) for each in (svm, other(svm)))
        assert_same_form(model.class_weight_, twin.class_weight_)
        np.testing.assert_allclose(model.class_weight_, twin.class_weight_)
        np.testing.assert_array_equal(model.predict(A), twin.predict(A))
        linear, expected = (
            each.LinearSVC(class_weight=weight, tol=1e-6, max_iter=10**6).fit(A, labels) for each in (svm, other(svm))
        )
        np.testing.assert_allclose(linear.coef_, expected.coef_, atol=2e-2)
    with pytest.raises(ValueError, match=r"are not in class_weight"):
        svm.SVC(class_weight={"lily": 2}).fit(A, labels)


def test_single_precision(svm: ModuleType) -> None:
    small = X.astype(np.float32)
    for name in ("SVC", "LinearSVC", "OneClassSVM"):
        model, twin = (getattr(each, name)().fit(small, Y) for each in (svm, other(svm)))
        assert_close_values(model.decision_function(small), twin.decision_function(small), share=0.03)
    model = svm.SVC(kernel="linear", C=0.1).fit(small, Y)
    np.testing.assert_array_equal(model.support_vectors_, small[model.support_])
    assert model.coef_.dtype == model.dual_coef_.dtype == model.decision_function(small).dtype == np.float64
    targets = diabetes()[1].astype(np.float32)
    model, twin = (each.SVR().fit(small, targets) for each in (svm, other(svm)))
    assert_close_values(model.predict(small), twin.predict(small))


def test_file_mapped_into_memory(svm: ModuleType, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    mapped, labels = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))
    model = make_pipeline(StandardScaler(), svm.SVC()).fit(mapped, labels)
    np.testing.assert_array_equal(
        svm.SVC().fit(mapped, labels).decision_function(mapped), svm.SVC().fit(X, Y).decision_function(X)
    )
    assert model.score(mapped, labels) > 0.95
    for order in (X[::-1][::-1], np.asfortranarray(X), X[:, ::2]):
        frozen = order.copy(order="K")
        frozen.flags.writeable = False
        np.testing.assert_allclose(
            svm.LinearSVC(C=0.1).fit(frozen, Y).coef_,
            svm.LinearSVC(C=0.1).fit(np.ascontiguousarray(order), Y).coef_,
            atol=1e-12,
        )


def test_file_in_libsvms_format(svm: ModuleType, tmp_path: Path) -> None:
    dump_svmlight_file(X, Y, str(tmp_path / "cancer.txt"))
    given, labels = load_svmlight_file(str(tmp_path / "cancer.txt"))
    given = given.toarray()  # its indices may have 64 bits, which scikit-learn's machines refuse
    model, twin = (each.SVC(C=10).fit(given, labels) for each in (svm, other(svm)))
    assert model.classes_.dtype == np.float64
    assert_same_labels(model, twin, given)


def test_dictionaries_and_lists(svm: ModuleType) -> None:
    rows = [
        {"colour": "red", "size": 1.0},
        {"colour": "blue", "size": 2.0},
        {"colour": "red", "size": 3.0},
        {"colour": "blue", "size": 4.0},
    ]
    model = make_pipeline(DictVectorizer(sparse=False), svm.SVC(kernel="linear")).fit(rows, ["s", "s", "l", "l"])
    assert model.predict([{"colour": "green", "size": 0.5}, {"colour": "red", "size": 9.0}]).tolist() == ["s", "l"]
    assert svm.SVC(kernel="linear").fit([[0, 0], [1, 1]], [0, 1]).predict([[2.0, 2.0]]).tolist() == [1]
    assert svm.SVR().fit([[0, 0], [2, 2]], [0.5, 2.5]).predict([[1, 1]]) == pytest.approx([1.5])


def test_a_column_of_labels(svm: ModuleType) -> None:
    """A frame of one column, or an array of shape (n, 1): flattened, with a warning."""
    for machine in (svm.SVC(), svm.LinearSVC(C=0.1), svm.NuSVC(nu=0.2)):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
            model = machine.fit(X, pd.DataFrame({"label": Y}))
        np.testing.assert_array_equal(model.classes_, [0, 1])
    features, targets = diabetes()
    for machine in (svm.SVR(), svm.NuSVR(), svm.LinearSVR(C=0.1, max_iter=10**5)):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            model = machine.fit(features, targets[:, None])
        assert model.predict(features).shape == (200,)


def test_what_a_mistake_is_told(svm: ModuleType) -> None:
    model = svm.SVC().fit(X, Y)
    holes = X.copy()
    holes[3, 2] = np.nan
    mistakes: list[tuple[type[Exception], str, Any]] = [
        (NotFittedError, "This SVC instance is not fitted yet", lambda: svm.SVC().predict(X)),
        (ValueError, "Input X contains NaN", lambda: svm.SVC().fit(holes, Y)),
        (ValueError, "Input X contains NaN", lambda: model.predict(holes)),
        (ValueError, "Expected 2D array, got 1D array instead", lambda: model.predict(X[0])),
        (ValueError, "X has 2 features, but SVC is expecting 30 features", lambda: model.predict(X[:, :2])),
        (ValueError, "inconsistent numbers of samples: .200, 10.", lambda: svm.SVC().fit(X, Y[:10])),
        (ValueError, "requires y to be passed, but the target y is None", lambda: svm.SVC().fit(X, None)),
        (ValueError, "requires y to be passed, but the target y is None", lambda: svm.LinearSVR().fit(X, None)),
        (ValueError, "Unknown label type: continuous", lambda: svm.SVC().fit(X, Y + 0.5)),
        (ValueError, "y should be a 1d array", lambda: svm.SVC().fit(X, np.column_stack([Y, Y]))),
        (ValueError, "The 'C' parameter of SVC must be", lambda: svm.SVC(C=-1).fit(X, Y)),
        (ValueError, "The 'kernel' parameter of SVC must be", lambda: svm.SVC(kernel="rbff").fit(X, Y)),
        (ValueError, "The 'nu' parameter of NuSVC must be", lambda: svm.NuSVC(nu=2.0).fit(X, Y)),
        (ValueError, "Invalid parameter 'gama' for estimator SVC", lambda: svm.SVC().set_params(gama=1)),
        (ValueError, "could not convert string to float", lambda: svm.SVC().fit([["a"], ["b"]], [0, 1])),
        (ValueError, "sample_weight and X have incompatible shapes", lambda: svm.SVC().fit(X, Y, sample_weight=[1.0])),
        (ValueError, "Precomputed matrix must be a square matrix", lambda: svm.SVC(kernel="precomputed").fit(X, Y)),
        (ValueError, "break_ties must be False", lambda: svm.SVC(break_ties=True, decision_function_shape="ovo").fit(X, Y).predict(X)),
        (AttributeError, "coef_ is only available when using a linear kernel", lambda: model.coef_),
        (AttributeError, "has no .*predict_proba", lambda: model.predict_proba(X)),
        (TypeError, "takes 1 positional argument", lambda: svm.SVC(1.0)),
    ]  # fmt: skip
    for kind, words, mistake in mistakes:
        with pytest.raises(kind, match=words):
            mistake()


def test_categories_encoded_beside_numbers_kept(svm: ModuleType) -> None:
    frame = pd.DataFrame({"colour": np.where(Y == 1, "red", "blue"), "size": X[:, 0], "unused": "x"})
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), ("passthrough", ["size"]), remainder="drop")
    model = make_pipeline(columns, svm.SVC(kernel="linear")).fit(frame, Y)
    names = model[:-1].get_feature_names_out()
    weights = dict(zip(names, model[-1].coef_[0], strict=True))
    assert (
        weights["onehotencoder__colour_red"] > 0 > weights["onehotencoder__colour_blue"]
        and model.score(frame, Y) == 1.0
    )
