"""Probabilities: calibrated on held-out folds, never at odds with ``predict``, and offered as scikit-learn 1.9 offers them."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.errors import InvalidInputError, ModelFileError
from gapless.estimators import held_out
from gapless.estimators.platt import agreeing, coupled, fit_sigmoids
from tests.estimators.data import cancer, iris, many

CLASSES = [gl.SVC, gl.NuSVC]
quiet = pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")


def fitted(cls: Any, X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> Any:
    """A model with probabilities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return cls(probability=True, **parameters).fit(X, y, sample_weight=sample_weight)


def assert_consistent(model: Any, X: Any) -> np.ndarray:
    """The probabilities, which are distributions whose largest entry is the predicted label."""
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert (p > 0).all()
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.classes_[p.astype(np.float32).argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-12)
    return p


@pytest.mark.parametrize("data", [cancer, iris])
@pytest.mark.parametrize("cls", CLASSES)
def test_the_remedy_works(cls, data):
    X, y = data()
    model = CalibratedClassifierCV(cls(), ensemble=False).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (model.classes_[probabilities.argmax(axis=1)] == y).mean() > 0.9


@pytest.mark.parametrize("probability", [True, False])
@pytest.mark.parametrize("cls", CLASSES)
def test_the_parameter_warns(cls, probability):
    with pytest.warns(FutureWarning) as caught:
        cls(probability=probability).fit(*cancer())
    name = cls.__name__
    assert [str(each.message) for each in caught] == [
        "The `probability` parameter was deprecated in 1.9 of scikit-learn and will be removed in version 1.11. "
        f"Use `CalibratedClassifierCV({name}(), ensemble=False)` instead of `{name}(probability=True)`"
    ]
    assert caught[0].filename == __file__


def test_the_parameter_is_true_or_false():
    with pytest.raises(InvalidInputError, match="'probability' parameter of SVC must be True or False; got 'yes'"):
        gl.SVC(probability="yes").fit(*cancer())


@quiet
@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("cls", CLASSES)
def test_methods_are_there_where_asked_for(cls, method):
    assert hasattr(cls(probability=True), method) and hasattr(cls(probability=np.True_), method)
    assert not hasattr(cls(), method) and not hasattr(cls(probability=False), method)
    with pytest.raises(NotFittedError):
        getattr(cls(probability=True), method)(cancer()[0])
    model = cls().fit(*cancer())
    with pytest.raises(AttributeError, match=f"'{cls.__name__}' has no attribute '{method}'") as caught:
        getattr(model, method)
    assert "CalibratedClassifierCV" in str(caught.value.__cause__)
    model.probability = True
    with pytest.raises(NotFittedError, match="predict_proba is not available when fitted with probability=False"):
        getattr(model, method)(cancer()[0])
    model.fit(*cancer())
    model.probability = False
    model.fit(*cancer())
    assert not hasattr(model, "_probA")


@pytest.mark.parametrize("cls", [gl.SVR, gl.NuSVR, gl.OneClassSVM])
def test_others_have_none_of_it(cls):
    assert not any(hasattr(cls, name) for name in ("predict_proba", "predict_log_proba", "probA_", "probB_"))


@pytest.mark.parametrize("cls", CLASSES)
def test_sigmoids_are_attributes(cls):
    assert not hasattr(cls(), "probA_") and not hasattr(cls(), "probB_")
    X, y = iris()
    ours, theirs = fitted(cls, X, y), fitted(getattr(svm, cls.__name__), X, y, random_state=0)
    for name in ("probA_", "probB_"):
        with pytest.warns(FutureWarning, match=f"Attribute `{name}` was deprecated") as caught:
            values = getattr(ours, name)
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # from scikit-learn 1.9 on
            np.testing.assert_allclose(values, getattr(theirs, name), atol=0.8)
        with pytest.warns(FutureWarning):
            assert getattr(cls().fit(X, y), name).shape == (0,)
    p = 1 / (1 + np.exp(ours._probA * ours._pair_decisions(X) + ours._probB))
    two = y < 2
    model = fitted(cls, X[two], y[two])
    z = model._probA * -model.decision_function(X) + model._probB
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], np.clip(1 / (1 + np.exp(z)), 1e-7, 1 - 1e-7), atol=1e-5)
    assert p.shape == (150, 3)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**31 - 1),
    n_classes=st.integers(2, 4),
    n=st.integers(6, 40),
    apart=st.sampled_from([0.0, 0.3, 3.0]),
    kind=st.sampled_from(["rbf", "linear", "balanced", "ties", "nu", "weights"]),
)
def test_the_most_probable_label_is_the_predicted_one(seed, n_classes, n, apart, kind):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, size=n - n_classes)])
    X = rng.normal(size=(n, 2)) + apart * y[:, None]
    parameters: dict[str, Any] = {
        "rbf": {"C": 10.0},
        "linear": {"kernel": "linear"},
        "balanced": {"class_weight": "balanced"},
        "ties": {"break_ties": True},
        "nu": {"nu": 0.05},
        "weights": {},
    }[kind]
    weight = rng.integers(0, 3, size=n).astype(float) if kind == "weights" else None
    if weight is not None:
        weight[:n_classes] = 1.0
    model = fitted(gl.NuSVC if kind == "nu" else gl.SVC, X, y, weight, random_state=seed % 7, **parameters)
    assert_consistent(model, np.vstack([X, rng.normal(size=(200, 2)) * 3]))


@pytest.mark.parametrize("weights", [None, "balanced"])
def test_two_classes_keep_the_order_of_decisions(weights):
    X, y = make_classification(600, weights=[0.9], flip_y=0.05, random_state=0)
    model = fitted(gl.SVC, X, y, class_weight=weights)
    p, f = model.predict_proba(X)[:, 1], model.decision_function(X)
    order = np.argsort(f)
    assert (np.diff(p[order]) >= 0).all()
    assert abs(roc_auc_score(y, p) - roc_auc_score(y, f)) < 1e-3
    sigmoid = 1 / (1 + np.exp(-model._probA * f + model._probB))
    tied = (sigmoid > 0.5) == (f > 0)  # the sigmoid is that of the first class
    assert tied.any() and (np.abs(p[tied] - 0.5) < 2e-6).all()


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_the_log_loss_is_that_of_scikit_learn(name, load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    losses: dict[Any, list[float]] = {gl: [], svm: []}
    parameters = {"nu": 0.1} if name == "NuSVC" else {}
    for seed in range(4):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        for module, of_module in losses.items():
            model = fitted(getattr(module, name), X_train, y_train, random_state=seed, **parameters)
            of_module.append(log_loss(y_test, model.predict_proba(X_test)))
    assert np.mean(losses[gl]) < 1.02 * np.mean(losses[svm]) + 0.002


@pytest.mark.parametrize("cls", CLASSES)
def test_the_seed_decides(cls):
    X, y = iris()
    first, again, other = (fitted(cls, X, y, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    assert (first._probA != other._probA).any()
    np.testing.assert_array_equal(first.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(fitted(cls, X, y)._probA, fitted(cls, X, y)._probA)
    np.testing.assert_array_equal(fitted(cls, X, y, n_jobs=2, random_state=0)._probA, first._probA)


def test_one_go_and_one_by_one_agree(monkeypatch):
    X, y = many()
    model = fitted(gl.SVC, X, y, tol=1e-8)
    monkeypatch.setattr("gapless.estimators.one_vs_one.every_pair", lambda *_: None)
    one_by_one = fitted(gl.SVC, X, y, tol=1e-8)
    np.testing.assert_allclose(model._probA, one_by_one._probA, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), one_by_one.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("data", [cancer, iris])
def test_any_storage_and_any_kernel(cls, data):
    X, y = data()
    expected = fitted(cls, X, y, gamma=0.1, tol=1e-8).predict_proba(X)
    K = rbf_kernel(X, gamma=0.1)
    cases = [
        (fitted(cls, sp.csr_array(X), y, gamma=0.1, tol=1e-8), sp.csr_array(X)),
        (fitted(cls, K, y, kernel="precomputed", tol=1e-8), K),
        (fitted(cls, X, y, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.1), tol=1e-8), X),
        (fitted(cls, X, y, kernel=gl.kernels.RBF(0.1), tol=1e-8), X),
        (fitted(cls, X, y, gamma=0.1, tol=1e-8, solver="smo"), X),
    ]
    for model, samples in cases:
        np.testing.assert_allclose(model.predict_proba(samples), expected, atol=2e-4)


def test_an_approximation_is_calibrated_too():
    X, y = cancer()
    model = fitted(gl.SVC, X, y, approximation=gl.features.Nystroem(50))
    assert_consistent(model, X)
    assert log_loss(y, model.predict_proba(X)) < 0.2


def test_a_hard_margin_is_calibrated():
    X = np.arange(20.0)[:, None]
    model = fitted(gl.SVC, X, X.ravel() > 9, kernel="linear", C=np.inf)
    assert assert_consistent(model, X)[0, 0] > 0.9


@pytest.mark.parametrize("cls", CLASSES)
def test_weights_of_zero_leave_samples_out(cls):
    X, y = iris()
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(y)).astype(float)
    kept = weight > 0
    with_zeros = fitted(cls, X, y, weight, gamma=0.5, tol=1e-8)
    without = fitted(cls, X[kept], y[kept], weight[kept], gamma=0.5, tol=1e-8)
    np.testing.assert_allclose(with_zeros._probA, without._probA, rtol=1e-6)
    np.testing.assert_allclose(with_zeros.predict_proba(X), without.predict_proba(X), atol=1e-6)


def test_weights_count_in_the_calibration():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    y = (X.ravel() + rng.normal(size=300) > 0).astype(int)
    plain = fitted(gl.SVC, X, y, kernel="linear")
    weighted = fitted(gl.SVC, X, y, np.where(y == 1, 5.0, 1.0), kernel="linear")
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1
    # A weight that all samples share, balanced by C, changes nothing.
    scaled = fitted(gl.SVC, X, y, np.full(300, 1e-3), C=1e3, kernel="linear", tol=1e-8)
    np.testing.assert_allclose(scaled.predict_proba(X), fitted(gl.SVC, X, y, kernel="linear", tol=1e-8).predict_proba(X), atol=1e-4)  # fmt: skip


@pytest.mark.parametrize("counts", [(1, 1), (1, 30), (2, 3), (1, 1, 1), (1, 2, 30), (4, 1, 1, 12)])
def test_classes_that_a_fold_takes_away(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + 2.0 * y[:, None]
    assert_consistent(fitted(gl.SVC, X, y), X)
    assert_consistent(fitted(gl.NuSVC, X, y, nu=0.05), X)


def test_nu_that_a_fold_does_not_allow():
    X, y = cancer()
    largest = 2 * min(np.mean(y == 0), np.mean(y == 1))
    assert_consistent(fitted(gl.NuSVC, X, y, nu=largest), X)


def test_folds_are_even():
    codes = np.repeat([0, 1, 2, -1], [23, 7, 2, 5])
    fold_of = held_out.folds(codes, 3, 0)
    assert (fold_of[codes == -1] == -1).all()
    for c in range(3):
        sizes = np.bincount(fold_of[codes == c], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    sizes = np.bincount(fold_of[codes >= 0])
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_held_out_values_are_of_models_that_have_not_seen_them(n_classes, monkeypatch):
    X, y = iris()
    X, y = X[y < n_classes], y[y < n_classes]
    seen: list[Any] = []
    true = held_out.held_out_decisions

    def record(task, deadline, seed):
        seen.extend([task, seed, true(task, deadline, seed)])
        return seen[-1]

    monkeypatch.setattr("gapless.estimators.probability.held_out_decisions", record)
    fitted(gl.SVC, X, y, gamma=0.5, tol=1e-8)
    task, seed, f = seen
    fold_of = held_out.folds(task.codes, n_classes, seed)
    for k, member in enumerate(task.members):
        of_pair = f[task.members.starts[k] : task.members.starts[k + 1]]
        for fold in range(5):
            train, test = member[fold_of[member] != fold], fold_of[member] == fold
            reference = svm.SVC(gamma=0.5, tol=1e-8).fit(X[train], y[train])
            np.testing.assert_allclose(of_pair[test], -reference.decision_function(X[member[test]]), atol=1e-5)


@pytest.mark.parametrize("data", [cancer, iris])
@pytest.mark.parametrize("cls", CLASSES)
def test_models_keep_their_probabilities(cls, data, tmp_path):
    X, y = data()
    model = fitted(cls, X, y)
    expected = model.predict_proba(X)
    path = tmp_path / "model.safetensors"
    model.save(path)
    copies = [pickle.loads(pickle.dumps(model)), gl.load(path), pickle.loads(pickle.dumps(model.compact())), model]
    for each in copies:
        np.testing.assert_array_equal(each.predict_proba(X), expected)


def test_a_file_whose_sigmoids_do_not_fit_is_refused(tmp_path):
    model = fitted(gl.SVC, *iris())
    model._probA = model._probA[:2]
    with pytest.raises(InvalidInputError, match="internal representation of SVC was altered"):
        model.predict_proba(iris()[0])
    model.save(tmp_path / "model.safetensors")
    with pytest.raises(ModelFileError, match="its probA_ is not an array of 3 numbers"):
        gl.load(tmp_path / "model.safetensors")


@quiet
def test_model_selection_takes_them():
    X, y = iris()
    search = GridSearchCV(gl.SVC(probability=True), {"C": [0.01, 1.0]}, scoring="neg_log_loss", cv=3).fit(X, y)
    assert search.best_params_ == {"C": 1.0} and search.best_score_ > -0.2
    assert_consistent(search.best_estimator_, X)
    copy = clone(search.best_estimator_)
    assert copy.probability is True and not hasattr(copy, "classes_")


def test_ctrl_c_in_the_calibration_keeps_the_model(monkeypatch):
    X, y = cancer()

    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(held_out, "_fill", press)
    model = gl.SVC(probability=True)
    with pytest.warns(FutureWarning), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.score(X, y) > 0.9 and model.certificate_.relative_gap <= 1e-3
    with pytest.raises(NotFittedError):
        model.predict_proba(X)


def test_the_deadline_leaves_time_to_the_calibration():
    X, y = cancer()
    bounded, free = fitted(gl.SVC, X, y, max_time=1000), fitted(gl.SVC, X, y)
    np.testing.assert_array_equal(bounded.predict_proba(X), free.predict_proba(X))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_sigmoids_are_the_most_likely_ones(scale):
    rng = np.random.default_rng(0)
    f = rng.normal(size=400)
    positive = f + rng.normal(size=400) > 0.5
    weight = rng.uniform(0.5, 2.0, size=400)
    starts = np.array([0, 150, 400])
    A, B = fit_sigmoids(scale * f, positive, weight, starts)
    for k in range(2):
        part = slice(starts[k], starts[k + 1])
        w = weight[part] / weight[part].mean()
        plus, minus = (w * positive[part]).sum(), (w * ~positive[part]).sum()
        t = np.where(positive[part], (plus + 1) / (plus + 2), 1 / (minus + 2))
        twice = np.repeat(f[part], 2)[:, None], np.tile([1, 0], len(t)), np.column_stack([w * t, w * (1 - t)]).ravel()
        reference = LogisticRegression(C=np.inf, tol=1e-10).fit(*twice[:2], sample_weight=twice[2])
        np.testing.assert_allclose([-A[k] * scale, -B[k]], [reference.coef_[0, 0], reference.intercept_[0]], rtol=1e-4)


def test_a_sigmoid_never_falls():
    f = np.array([1.0, 2.0, 3.0, -1.0, -2.0, -3.0, -4.0])
    A, B = fit_sigmoids(f, f < 0, np.ones(7), np.array([0, 7]))
    assert A[0] == 0 and 0.5 < 1 / (1 + np.exp(B[0])) < 4 / 7 + 0.05


def test_the_coupling_is_the_minimum():
    rng = np.random.default_rng(0)
    r = rng.uniform(0.01, 0.99, size=(20, 6))
    p = coupled(r, 4)
    first, second = np.triu_indices(4, 1)

    def value(q):
        return ((((1 - r) * q[:, first]) - r * q[:, second]) ** 2).sum(axis=1)

    assert (p >= 0).all()
    for _ in range(50):
        q = np.abs(p + 0.01 * rng.normal(size=p.shape))
        assert (value(q / q.sum(axis=1, keepdims=True)) >= value(p) - 1e-12).all()


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=6), st.integers(0, 5))
def test_the_nearest_distribution_that_agrees(entries, label):
    p = np.array([entries]) / np.sum(entries)
    label %= len(entries)
    (q,) = agreeing(p, np.array([label]))
    assert q.argmax() == label and abs(q.sum() - 1) < 1e-12 and (q > 0).all()
    if p.argmax() == label and np.sort(p[0])[-2] < p.max() * (1 - 1e-5):
        np.testing.assert_array_equal(np.delete(q, label), np.delete(p[0], label))
    rng = np.random.default_rng(0)
    others = rng.dirichlet(np.ones(len(entries)), size=200)
    others = others[others.argmax(axis=1) == label]
    for distance in (lambda a: ((a - p) ** 2).sum(axis=-1), lambda a: (p * np.log(p / a)).sum(axis=-1)):
        assert (distance(others) >= distance(q) - 1e-5).all()
