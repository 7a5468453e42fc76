"""Other packages that take a support vector machine; tests/packages has what is special to Gapless's."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.estimators.data import cancer
from tests.packages.installed import Package
from tests.workflows.agreement import assert_same_labels, other

imblearn_pipeline = Package("imblearn.pipeline")
over_sampling = Package("imblearn.over_sampling")
imblearn_ensemble = Package("imblearn.ensemble")
mlxtend_evaluate = Package("mlxtend.evaluate")
mlxtend_selection = Package("mlxtend.feature_selection")
mlxtend_plotting = Package("mlxtend.plotting")
optuna = Package("optuna")
shap = Package("shap")
skops_io = Package("skops.io")
classifier = Package("yellowbrick.classifier")
dask_search = Package("dask_ml.model_selection")

RARE = make_classification(300, 5, weights=[0.85], class_sep=0.8, random_state=0)


def test_oversampling_before_the_machine(svm: ModuleType) -> None:
    """The samplers act in fits alone; a search reaches into both steps."""
    X, y = RARE

    def built(svm: ModuleType) -> Any:
        steps = [("scale", StandardScaler()), ("more", over_sampling.SMOTE(random_state=0)), ("svc", svm.SVC())]
        grid = {"more__k_neighbors": [3, 5], "svc__C": [0.1, 1]}
        return GridSearchCV(imblearn_pipeline.Pipeline(steps), grid, scoring="balanced_accuracy", cv=3).fit(X, y)

    search, twin = built(svm), built(other(svm))
    assert search.best_params_ == twin.best_params_
    assert_same_labels(search, twin, X)
    plain = svm.SVC().fit(X, y)
    assert balanced_accuracy_score(y, search.predict(X)) > balanced_accuracy_score(y, plain.predict(X))
    fitted = search.best_estimator_["svc"]
    assert fitted.shape_fit_[0] == 2 * Counter(y.tolist())[0]


def test_svmsmote_by_support_vectors(svm: ModuleType) -> None:
    X, y = RARE
    (Z, labels), (expected, _) = (
        over_sampling.SVMSMOTE(svm_estimator=each.SVC(kernel="linear", C=0.1, tol=1e-8), random_state=0).fit_resample(
            X, y
        )
        for each in (svm, other(svm))
    )
    np.testing.assert_allclose(Z, expected)
    assert set(Counter(labels.tolist()).values()) == {Counter(y.tolist())[0]}


def test_balanced_bagging(svm: ModuleType) -> None:
    X, y = RARE
    model, twin = (
        imblearn_ensemble.BalancedBaggingClassifier(each.SVC(), n_estimators=5, random_state=0).fit(X, y)
        for each in (svm, other(svm))
    )
    assert (model.predict(X) == twin.predict(X)).mean() > 0.98
    assert balanced_accuracy_score(y, model.predict(X)) > 0.8


def test_study_over_parameters(svm: ModuleType) -> None:
    """The sampler is seeded, so that equal scores mean equal trials from the first to the last."""
    X, y = cancer()
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def studied(svm: ModuleType) -> Any:
        def objective(trial: Any) -> float:
            kernel = trial.suggest_categorical("kernel", ["linear", "rbf"])
            C = trial.suggest_float("C", 1e-2, 1e1, log=True)
            return float(cross_val_score(svm.SVC(kernel=kernel, C=C, tol=1e-6), X, y, cv=3).mean())

        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
        study.optimize(objective, n_trials=6)
        return study

    study, twin = studied(svm), studied(other(svm))
    assert [trial.params for trial in study.trials] == [trial.params for trial in twin.trials]
    np.testing.assert_allclose(
        [trial.value for trial in study.trials], [trial.value for trial in twin.trials], atol=1 / 66
    )
    assert study.best_params == twin.best_params


def test_two_machines_by_mcnemar(svm: ModuleType) -> None:
    X, y = load_iris(return_X_y=True)
    table, expected = (
        mlxtend_evaluate.mcnemar_table(
            y_target=y,
            y_model1=each.SVC(tol=1e-6).fit(X[::2], y[::2]).predict(X),
            y_model2=each.SVC(kernel="linear", tol=1e-6).fit(X[::2], y[::2]).predict(X),
        )
        for each in (svm, other(svm))
    )
    np.testing.assert_array_equal(table, expected)
    assert table.sum() == 150


def test_features_one_by_one_with_mlxtend(svm: ModuleType) -> None:
    X, y = load_iris(return_X_y=True)
    chosen = [
        mlxtend_selection.SequentialFeatureSelector(
            make_pipeline(StandardScaler(), each.SVC(tol=1e-6)), k_features=2, cv=3
        ).fit(X, y)
        for each in (svm, other(svm))
    ]
    assert chosen[0].k_feature_idx_ == chosen[1].k_feature_idx_


def test_regions_of_decision(svm: ModuleType) -> None:
    X, y = load_iris(return_X_y=True)
    figure, ax = plt.subplots()
    mlxtend_plotting.plot_decision_regions(X[:, :2], y, clf=svm.SVC().fit(X[:, :2], y), ax=ax)
    figure.canvas.draw()
    drawn = sum(len(points.get_offsets()) for points in ax.collections if len(points.get_offsets()) > 1)
    plt.close(figure)
    assert drawn == len(X)


def test_contributions_of_features(svm: ModuleType) -> None:
    X, y = cancer()
    X = X[:, :4]
    model = svm.SVC().fit(X, y)
    explainer = shap.KernelExplainer(model.decision_function, X[:20])
    values = explainer.shap_values(X[:3], silent=True)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, model.decision_function(X[:3]), atol=1e-6)
    linear = svm.LinearSVC(C=0.1).fit(X, y)
    explainer = shap.LinearExplainer(linear, shap.maskers.Independent(X, max_samples=len(X)))
    np.testing.assert_allclose(explainer.shap_values(X), linear.coef_[0] * (X - X.mean(axis=0)), atol=1e-6)


def test_model_in_a_file_of_skops(svm: ModuleType) -> None:
    X, y = cancer()
    model = make_pipeline(StandardScaler(), svm.SVC(class_weight="balanced")).fit(X, y)
    stored = skops_io.dumps(model)
    again = skops_io.loads(stored, trusted=skops_io.get_untrusted_types(data=stored))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.filterwarnings("ignore::DeprecationWarning:yellowbrick")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning:yellowbrick")
def test_report_of_classes(svm: ModuleType) -> None:
    """yellowbrick 1.5 takes estimators of today's scikit-learn with ``force_model=True`` alone."""
    X, y = cancer()
    shown = classifier.ClassificationReport(svm.SVC(), classes=["ill", "well"], force_model=True)
    shown.fit(X[:150], y[:150])
    assert shown.score(X[150:], y[150:]) == pytest.approx(svm.SVC().fit(X[:150], y[:150]).score(X[150:], y[150:]))
    assert set(shown.scores_["f1"]) == {"ill", "well"}
    plt.close("all")


def test_search_of_dask(svm: ModuleType) -> None:
    X, y = cancer()
    search, plain = (
        found.fit(X, y)
        for found in (
            dask_search.GridSearchCV(svm.SVC(), {"C": [0.1, 1, 10]}, cv=3, scheduler="sync"),
            GridSearchCV(svm.SVC(), {"C": [0.1, 1, 10]}, cv=3),
        )
    )
    assert search.best_params_ == plain.best_params_
    for name in ("split0_test_score", "split2_test_score"):  # dask-ml weighs the folds of a mean by their sizes
        np.testing.assert_allclose(search.cv_results_[name], plain.cv_results_[name])
