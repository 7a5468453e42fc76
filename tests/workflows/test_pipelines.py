"""Pipelines that end in a support vector machine, or have one on their way."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_moons
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics import classification_report
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from tests.workflows.agreement import assert_close_values, assert_same_form, assert_same_labels, other

SPORTS = "the team won the match", "a late goal in the cup", "the striker scored a goal", "players train for the match"
COOKING = "bake the cake with butter", "a soup with onions", "fry the onions in butter", "salt the soup and stir"
DOCUMENTS = [*SPORTS, *COOKING] * 3
TOPICS = np.array((["sports"] * 4 + ["cooking"] * 4) * 3)


def cancer() -> tuple[Any, ...]:
    X, y = load_breast_cancer(return_X_y=True)
    return train_test_split(X, y, random_state=0)


def test_scaler_and_svc_on_held_out_samples(svm: ModuleType) -> None:
    X, X_test, y, y_test = cancer()
    model = make_pipeline(StandardScaler(), svm.SVC()).fit(X, y)
    twin = make_pipeline(StandardScaler(), other(svm).SVC()).fit(X, y)
    assert model.score(X_test, y_test) > 0.95
    assert_same_labels(model, twin, X_test)
    report = classification_report(y_test, model.predict(X_test), output_dict=True)
    assert set(report) == {"0", "1", "accuracy", "macro avg", "weighted avg"}
    assert report["accuracy"] == pytest.approx(model.score(X_test, y_test))


def passengers() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(1, 80, 240),
            "fare": rng.lognormal(3, 1, 240),
            "sex": rng.choice(["female", "male"], 240),
            "deck": rng.choice(["A", "B", "C"], 240),
        },
        index=np.arange(1000, 1240),
    )
    survived = (frame["sex"].eq("female") & frame["deck"].ne("C")) | (frame["age"] < 12)
    frame.loc[frame.index[::17], "age"] = np.nan
    return frame, survived.map({True: "yes", False: "no"})


def test_columns_of_a_frame(svm: ModuleType) -> None:
    frame, survived = passengers()

    def built(svm: ModuleType) -> Pipeline:
        columns = ColumnTransformer(
            [
                ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["age", "fare"]),
                ("names", OneHotEncoder(), ["sex", "deck"]),
            ]
        )
        return Pipeline([("columns", columns), ("svc", svm.SVC(class_weight="balanced"))]).fit(frame, survived)

    model = built(svm)
    assert model.score(frame, survived) > 0.9
    assert list(model.classes_) == ["no", "yes"] and model["svc"].n_features_in_ == 7
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    assert_same_labels(model, built(other(svm)), frame)


def test_union_of_features(svm: ModuleType) -> None:
    X, X_test, y, _ = cancer()

    def built(svm: ModuleType) -> Pipeline:
        union = FeatureUnion([("components", PCA(2)), ("best", SelectKBest(k=3))])
        return make_pipeline(StandardScaler(), union, svm.SVC(kernel="linear")).fit(X, y)

    model = built(svm)
    assert model[-1].coef_.shape == (1, 5)
    assert_same_labels(model, built(other(svm)), X_test)


@pytest.mark.filterwarnings("ignore:Persisting input arguments took:UserWarning")  # joblib's word where a disk is slow
def test_cached_steps(svm: ModuleType, tmp_path: Path) -> None:
    X, X_test, y, _ = cancer()
    steps = [("scale", StandardScaler()), ("reduce", PCA(5)), ("svc", svm.SVC())]
    cached = Pipeline(steps, memory=str(tmp_path)).fit(X, y)
    assert any(tmp_path.rglob("output.pkl"))
    again = clone(cached).set_params(svc__C=10.0).fit(X, y)  # the first two steps are read from the folder
    plain = clone(again).set_params(memory=None).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X_test), plain.decision_function(X_test))
    assert not np.array_equal(again.decision_function(X_test), cached.decision_function(X_test))


@pytest.mark.parametrize("approximation", [RBFSampler(gamma=2.0, random_state=0), Nystroem(gamma=2.0, random_state=0)])
def test_kernel_approximation_before_a_linear_machine(svm: ModuleType, approximation: Any) -> None:
    X, y = make_moons(300, noise=0.15, random_state=0)
    model = make_pipeline(clone(approximation), svm.LinearSVC(C=10, max_iter=10_000)).fit(X, y)
    twin = make_pipeline(clone(approximation), other(svm).LinearSVC(C=10, max_iter=10_000)).fit(X, y)
    assert model.score(X, y) > 0.95 > svm.LinearSVC().fit(X, y).score(X, y)
    assert_same_labels(model, twin, X)


def test_documents_to_topics(svm: ModuleType) -> None:
    model = make_pipeline(TfidfVectorizer(stop_words="english"), svm.LinearSVC()).fit(DOCUMENTS, TOPICS)
    twin = make_pipeline(TfidfVectorizer(stop_words="english"), other(svm).LinearSVC()).fit(DOCUMENTS, TOPICS)
    assert model.predict(["butter in the soup", "a goal in the match"]).tolist() == ["cooking", "sports"]
    assert_same_labels(model, twin, DOCUMENTS)
    words = model[0].get_feature_names_out()
    order, expected = (np.argsort(each[-1].coef_[0]) for each in (model, twin))
    np.testing.assert_array_equal(words[order][[0, -1]], words[expected][[0, -1]])


def test_counts_weighted_and_given_to_a_kernel_machine(svm: ModuleType) -> None:
    """The samples are sparse from the second step on, and so are the attributes of the machine."""

    def built(svm: ModuleType) -> Pipeline:
        steps = [("count", CountVectorizer()), ("weigh", TfidfTransformer()), ("svc", svm.SVC(kernel="linear", C=10))]
        return Pipeline(steps).fit(DOCUMENTS, TOPICS)

    model, twin = built(svm), built(other(svm))
    assert_same_labels(model, twin, DOCUMENTS)
    assert_same_form(model["svc"].coef_, twin["svc"].coef_)
    np.testing.assert_allclose(model["svc"].coef_.toarray(), twin["svc"].coef_.toarray(), atol=0.01)


def test_target_transformed_before_a_regression(svm: ModuleType) -> None:
    X, y = load_diabetes(return_X_y=True)

    def built(machine: Any) -> TransformedTargetRegressor:
        scaled = make_pipeline(StandardScaler(), machine)
        return TransformedTargetRegressor(scaled, func=np.log, inverse_func=np.exp).fit(X, y)

    for name, parameters in (("SVR", {}), ("NuSVR", {"nu": 0.4}), ("LinearSVR", {"epsilon": 0.1, "max_iter": 10**6})):
        model, twin = (built(getattr(each, name)(**parameters)) for each in (svm, other(svm)))
        assert model.score(X, y) > 0.35 and model.predict(X).min() > 0
        assert_close_values(model.predict(X), twin.predict(X))


def test_parameters_set_through_the_steps(svm: ModuleType) -> None:
    X, _, y, _ = cancer()
    inner = Pipeline([("scale", MinMaxScaler()), ("svc", svm.SVC())])
    outer = Pipeline([("clean", SimpleImputer()), ("model", inner)])
    outer.set_params(model__svc__kernel="poly", model__svc__degree=2, model__svc__coef0=1.0, clean__strategy="median")
    assert inner["svc"].get_params()["kernel"] == "poly" and outer.get_params()["model__svc__degree"] == 2
    poly = outer.fit(X, y).score(X, y)
    outer.set_params(model__svc=svm.LinearSVC(C=0.01))
    linear = outer.fit(X, y).score(X, y)
    assert poly > linear > 0.9
    with pytest.raises(ValueError, match=r"Invalid parameter 'missing' for estimator LinearSVC"):
        outer.set_params(model__svc__missing=1)


def test_eigenfaces(svm: ModuleType) -> None:
    """Whitened principal components, balanced class weights: the recipe for pictures of faces, here of digits."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]

    def built(svm: ModuleType) -> Pipeline:
        return make_pipeline(
            PCA(n_components=25, svd_solver="randomized", whiten=True, random_state=42),
            svm.SVC(kernel="rbf", class_weight="balanced", C=10, gamma=0.01),
        )

    scores = cross_val_score(built(svm), X, y, cv=3)
    assert scores.mean() > 0.9
    np.testing.assert_allclose(scores, cross_val_score(built(other(svm)), X, y, cv=3), atol=2.1 / len(y) * 3)


def test_a_part_of_a_pipeline(svm: ModuleType) -> None:
    """Slices, steps by name and the length: what notebooks do to look inside."""
    X, _, y, _ = cancer()
    model = make_pipeline(StandardScaler(), svm.SVC(kernel="linear", C=0.1)).fit(X, y)
    svc = model.named_steps["svc"]
    assert model.named_steps.svc is svc and model[-1] is svc and len(model) == 2
    scaled = model[:-1].transform(X)
    np.testing.assert_array_equal(svc.decision_function(scaled), model.decision_function(X))
    np.testing.assert_array_equal(scaled[svc.support_], svc.support_vectors_)
