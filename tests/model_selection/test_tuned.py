"""SVCCV and its relatives: what they choose is what a search over the same grid chooses, and then they are that model."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless import SVC, SVCCV, SVR, SVRCV, LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV
from gapless.errors import InvalidInputError
from gapless.kernels import RBF, Chi2, Laplacian, Linear, Polynomial
from gapless.model_selection import GridSearchCV
from tests.estimators.data import cancer, diabetes, iris
from tests.estimators.test_documented import listed

X, Y = iris()
X, Y = X[::2], Y[::2]
T = X[:, 0] ** 2 + 3 * X[:, 3]
NAMES = {"Cs_": "C", "gammas_": "gamma", "epsilons_": "epsilon"}

QUICK = {"Cs": 3, "widen": 0, "cv": 3}
TUNED = [
    (SVCCV(gammas=3, **QUICK), SVC(), Y),
    (SVRCV(gammas=2, epsilons=2, **QUICK), SVR(), T),
    (LinearSVCCV(**QUICK), LinearSVC(), Y),
    (LinearSVCCV(penalty="l1", **QUICK), LinearSVC(penalty="l1"), Y),
    (LinearSVRCV(epsilons=2, **QUICK), LinearSVR(), T),
    (LinearSVRCV(loss="squared_epsilon_insensitive", epsilons=[0.0], **QUICK), LinearSVR(loss="squared_epsilon_insensitive"), T),
]  # fmt: skip
IDS = [str(each) for each, _, _ in TUNED]
EACH = pytest.mark.parametrize("tuned, base, y", TUNED, ids=IDS)
EACH_FITTED = pytest.mark.parametrize("k", range(len(TUNED)), ids=IDS)


@cache
def fitted(k):
    """The estimator at this place of TUNED, fitted to its data; tests that change nothing share it."""
    tuned, _, y = TUNED[k]
    return clone(tuned).fit(X, y)


def grid_of(model):
    return {NAMES[name]: getattr(model, name) for name in NAMES if hasattr(model, name)}


@EACH_FITTED
def test_it_is_the_model_that_a_search_over_the_same_grid_finds(k):
    model, (_, base, y) = fitted(k), TUNED[k]
    search = GridSearchCV(base, grid_of(model), cv=3).fit(X, y)
    assert model.best_params_ == search.best_params_ and model.best_index_ == search.best_index_
    assert model.best_score_ == search.best_score_
    assert model.cv_results_["params"] == search.cv_results_["params"]
    for fold in range(3):
        key = f"split{fold}_test_score"
        np.testing.assert_array_equal(model.cv_results_[key], search.cv_results_[key])
    assert {name: getattr(model, f"{name}_") for name in model.best_params_} == model.best_params_
    np.testing.assert_array_equal(model.predict(X), search.best_estimator_.predict(X))
    assert model.certificate_ == search.best_estimator_.certificate_
    if hasattr(model, "decision_function"):
        np.testing.assert_array_equal(model.decision_function(X), search.best_estimator_.decision_function(X))
    for mine, theirs in zip(model.decision_interval(X), search.best_estimator_.decision_interval(X), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@EACH_FITTED
def test_scores_have_an_axis_for_each_parameter_and_C_last(k):
    model = fitted(k)
    names = [name for name in ("epsilons_", "gammas_", "Cs_") if hasattr(model, name)]
    assert model.scores_.shape == (3, *(len(getattr(model, name)) for name in names))
    best = tuple(np.flatnonzero(getattr(model, name) == getattr(model, f"{NAMES[name]}_"))[0] for name in names)
    assert model.scores_[(slice(None), *best)].mean() == pytest.approx(model.best_score_)
    assert np.nanmax(model.scores_.mean(axis=0)) == pytest.approx(model.best_score_)


# The same optimum is reached by other iterates where rounding differs: its decision values are within √gap of each other.
TIGHT, CLOSE = 1e-9, 3e-4


@EACH
def test_scaling_X_changes_nothing(tuned, base, y):
    model, scaled = clone(tuned).set_params(tol=TIGHT), clone(tuned).set_params(tol=TIGHT)
    if hasattr(tuned, "intercept_scaling"):
        scaled.set_params(intercept_scaling=1000.0)  # an intercept that is regularised scales with X
    model.fit(X, y), scaled.fit(1000 * X, y)
    np.testing.assert_allclose(scaled.scores_, model.scores_, rtol=CLOSE)
    np.testing.assert_allclose(scaled.predict(1000 * X), model.predict(X), rtol=CLOSE)


def test_scaling_y_changes_nothing():
    model, scaled = (SVRCV(gammas=2, epsilons=2, tol=TIGHT, **QUICK).fit(X, scale * T) for scale in (1.0, 50.0))
    np.testing.assert_allclose(scaled.scores_, model.scores_, rtol=CLOSE)
    assert pytest.approx(50 * model.C_) == scaled.C_ and scaled.epsilon_ == pytest.approx(50 * model.epsilon_)


def test_the_order_of_the_samples_changes_the_folds_but_not_the_grids():
    order = np.random.default_rng(0).permutation(len(X))
    model, shuffled = (SVCCV(gammas=3, **QUICK).fit(X[rows], Y[rows]) for rows in (slice(None), order))
    np.testing.assert_allclose(shuffled.Cs_, model.Cs_, rtol=1e-12)
    np.testing.assert_allclose(shuffled.gammas_, model.gammas_, rtol=1e-12)


@EACH
def test_a_sample_of_weight_zero_is_a_sample_removed(tuned, base, y):
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X))
    weight[::5] = 0.0
    kept = weight > 0
    with_zeros = clone(tuned).set_params(tol=TIGHT).fit(X, y, sample_weight=weight)
    without = clone(tuned).set_params(tol=TIGHT).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert with_zeros.best_index_ == without.best_index_
    assert with_zeros.best_params_ == pytest.approx(without.best_params_)
    np.testing.assert_allclose(with_zeros.scores_, without.scores_, rtol=CLOSE)
    np.testing.assert_allclose(with_zeros.predict(X), without.predict(X), rtol=CLOSE)


def test_scores_count_the_weights():
    weight = np.where(Y == 0, 50.0, 1.0)
    fold = StratifiedKFold(3)
    for scoring in (None, "accuracy", make_scorer(accuracy_score)):
        model = SVCCV(Cs=[1e-4], gammas=[1.0], cv=fold, scoring=scoring).fit(X, Y, sample_weight=weight)
        for k, (train, test) in enumerate(fold.split(X, Y)):
            by_hand = SVC(C=1e-4, gamma=1.0).fit(X[train], Y[train], sample_weight=weight[train])
            assert model.scores_[k, 0, 0] == by_hand.score(X[test], Y[test], sample_weight=weight[test])


def test_a_scorer_of_the_users_keeps_its_word_on_weights():
    weight = np.where(Y == 0, 50.0, 1.0)

    def plain(estimator, X, y):
        return float((estimator.predict(X) == y).mean())

    model = SVCCV(Cs=[1e-4], gammas=[1.0], cv=3, scoring=plain).fit(X, Y, sample_weight=weight)
    train, test = next(iter(StratifiedKFold(3).split(X, Y)))
    by_hand = SVC(C=1e-4, gamma=1.0).fit(X[train], Y[train], sample_weight=weight[train])
    assert model.scores_[0, 0, 0] == plain(by_hand, X[test], Y[test])


@EACH_FITTED
def test_the_choice_has_its_proof_and_racing_leaves_it_as_it_is(k, tmp_path):
    model, (tuned, _, y) = fitted(k), TUNED[k]
    raced = clone(tuned).set_params(racing=True).fit(X, y)
    assert model.selection_.index == model.best_index_ == raced.best_index_
    assert model.selection_.score[0] <= model.best_score_ <= model.selection_.score[1]
    np.testing.assert_array_equal(raced.predict(X), model.predict(X))
    where = ~np.isnan(raced.scores_)
    if hasattr(model, "classes_"):  # labels that are decided are the same ones
        np.testing.assert_array_equal(raced.scores_[where], model.scores_[where])
    model.save(tmp_path / "model")
    assert gl.load(tmp_path / "model").selection_ == model.selection_


def test_groups_stay_together():
    groups = np.arange(len(X)) % 5
    model = LinearSVCCV(Cs=[1.0], cv=GroupKFold(5)).fit(X, Y, groups=groups)
    search = GridSearchCV(LinearSVC(), {"C": [1.0]}, cv=GroupKFold(5)).fit(X, Y, groups=groups)
    assert model.best_score_ == search.best_score_


@pytest.mark.parametrize("sizes, folds", [((30, 30), 5), ((30, 3), 3), ((30, 2), 2)])
def test_a_small_class_has_as_many_folds_as_samples(sizes, folds):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], sizes)
    model = LinearSVCCV(Cs=[1.0]).fit(rng.normal(size=(len(y), 2)) + y[:, None], y)
    assert model.scores_.shape == (folds, 1)


@pytest.mark.parametrize(
    "kernel, searched",
    [
        ("linear", False), ("rbf", True), ("poly", True), (RBF(), True), (Laplacian(), True), (Chi2(), True), (Polynomial(2), True),
        (RBF(0.1) + 0.1 * Linear(), False), (Linear(), False),
    ],
    ids=str,
)  # fmt: skip
def test_gamma_is_chosen_where_the_kernel_has_one(kernel, searched, tmp_path):
    model = SVCCV(kernel=kernel, coef0=1.0, Cs=2, gammas=2, widen=0, cv=2, tol=1e-6).fit(X, Y)
    assert (model.gamma_ is not None) == (model.gammas_ is not None) == searched
    assert model.scores_.shape == ((2, 2, 2) if searched else (2, 2))
    assert model.score(X, Y) > 0.9
    if searched:
        assert model.gamma_ in model.gammas_
        assert model._kernel_object.gamma == model.gamma_
    assert model.kernel is kernel and type(model.kernel_) is type(kernel)
    proof = gl.certify(model, X, Y)  # the problem of the chosen kernel, and not of the one that was given
    assert proof.relative_gap < 1e-5
    model.save(tmp_path / "model")
    again = gl.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert gl.certify(again, X, Y).relative_gap < 1e-5


def test_matrices_and_functions_and_lists_of_anything():
    gram = X @ X.T
    given = SVCCV(kernel="precomputed", Cs=3, cv=2, widen=0).fit(gram, Y)
    linear = SVCCV(kernel="linear", Cs=3, cv=2, widen=0).fit(X, Y)
    np.testing.assert_allclose(given.Cs_, linear.Cs_)
    np.testing.assert_array_equal(given.predict(gram), linear.predict(X))
    function = SVCCV(kernel=lambda A, B: A @ B.T, Cs=3, cv=2, widen=0).fit(X, Y)
    np.testing.assert_array_equal(function.predict(X), linear.predict(X))
    words = ["a", "aa", "aaa", "b", "bb", "bbb"] * 3

    def common(A, B):
        return np.array([[float(a[0] == b[0]) + 0.1 * (a == b) for b in B] for a in A])

    model = SVCCV(kernel=common, Cs=2, cv=2).fit(words, [word[0] for word in words])
    assert model.predict(["aaaa", "bbbb"]).tolist() == ["a", "b"]


def test_saved_models_predict_the_same_in_a_new_process_and_pickled(tmp_path):
    models = [fitted(k) for k in range(len(TUNED))]
    for k, model in enumerate(models):
        model.save(tmp_path / f"{k}")
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.cv_results_["params"] == model.cv_results_["params"]
    np.save(tmp_path / "X.npy", X)
    code = (
        "import gapless, numpy, os, sys; folder = sys.argv[1]; X = numpy.load(os.path.join(folder, 'X.npy'))\n"
        f"models = [gapless.load(os.path.join(folder, str(k))) for k in range({len(models)})]\n"
        "assert all(isinstance(model, getattr(gapless, type(model).__name__)) for model in models)\n"
        "print([(model.C_, model.C, model.predict(X).tolist()) for model in models])"
    )
    said = subprocess.run([sys.executable, "-W", "error", "-c", code, tmp_path], capture_output=True, text=True)
    assert said.stdout.strip() == str([(model.C_, model.C_, model.predict(X).tolist()) for model in models]), (
        said.stderr
    )


def test_in_a_pipeline_on_sparse_data_and_as_onnx():
    pipeline = make_pipeline(StandardScaler(), SVCCV(gammas=2, **QUICK)).fit(X, Y)
    assert pipeline.score(X, Y) > 0.9
    dense, sparse = (SVCCV(gammas=2, **QUICK).fit(kind(X), Y) for kind in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(sparse.gammas_, dense.gammas_)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), dense.predict(X))
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(dense.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(["label"], {"X": X})[0], dense.predict(X))


def test_without_refit_there_is_a_choice_and_no_model():
    model = SVCCV(gammas=2, **QUICK).fit(X, Y)
    chosen = model.C_, model.gamma_
    model.set_params(refit=False).fit(X, Y)
    assert (model.C_, model.gamma_) == chosen
    for use in (lambda: model.predict(X), lambda: model.certificate_, lambda: model.save("nowhere")):
        with pytest.raises((NotFittedError, AttributeError)):
            use()


def test_what_scores_and_class_weights_decide():
    X, y = cancer()
    rare = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:12]])
    X, y = X[rare], y[rare]
    model = LinearSVCCV(class_weight="balanced", scoring="balanced_accuracy", cv=KFold(3, shuffle=True, random_state=0))
    search = GridSearchCV(
        LinearSVC(class_weight="balanced"), {"C": model.fit(X, y).Cs_}, scoring="balanced_accuracy", cv=model.cv
    )
    assert model.best_score_ == search.fit(X, y).best_score_


def test_a_regression_is_as_good_as_the_best_by_hand():
    X, y = (part[:100] for part in diabetes())
    model = SVRCV(Cs=4, gammas=3, epsilons=2, cv=3).fit(X, y)
    by_hand = GridSearchCV(SVR(), {"C": [0.1, 1, 10], "gamma": [0.001, 0.01, 0.1], "epsilon": [0.1, 0.5]}, cv=3).fit(
        X, y
    )
    assert model.best_score_ > by_hand.best_score_ - 0.01


@pytest.mark.parametrize(
    "model, message",
    [
        (SVCCV(Cs=0), "The 'Cs' parameter of SVCCV must be a positive whole number, or an array of positive numbers; got 0."),
        (SVCCV(Cs=[1.0, 0.0]), "The 'Cs' parameter of SVCCV must be a positive whole number, or an array of positive numbers; got [1.0, 0.0]."),
        (SVCCV(gammas=[]), "The 'gammas' parameter of SVCCV must be a positive whole number, or an array of numbers of at least 0; got []."),
        (SVCCV(widen=-1), "The 'widen' parameter of SVCCV must be a whole number of at least 0; got -1."),
        (SVCCV(scoring=["accuracy"]), "The 'scoring' parameter of SVCCV must be None, a name or a function; got ['accuracy']."),
        (LinearSVCCV(refit="yes"), "The 'refit' parameter of LinearSVCCV must be True or False; got 'yes'."),
        (LinearSVCCV(staged=2), "The 'staged' parameter of LinearSVCCV must be True or False; got 2."),
        (LinearSVRCV(prove="all"), "The 'prove' parameter of LinearSVRCV must be 'bounded' or 'full'; got 'all'."),
        (SVCCV(kernel=Polynomial(300), gammas=[1e3]), "The kernel of SVCCV must be finite on X; it overflows; scale the features."),
    ],
    ids=str,
)  # fmt: skip
def test_errors_name_the_parameter(model, message):
    with pytest.raises(InvalidInputError) as caught:
        model.fit(X, Y)
    assert str(caught.value) == message


@pytest.mark.filterwarnings("ignore:Attribute `prob:FutureWarning")
@EACH
def test_the_docstring_lists_what_there_is(tuned, base, y):
    model = clone(tuned)
    if hasattr(model, "kernel"):
        model.set_params(kernel="linear")
    model.fit(X, y)
    names = set(listed(type(model), "Attributes"))
    assert {name for name in vars(model) if name.endswith("_") and not name.startswith("_")} <= names
    assert all(hasattr(model, name) for name in names - {"feature_names_in_"})
    parameters = set(type(base)().get_params()) - {"C", "gamma", "epsilon", "probability"}
    assert parameters <= set(listed(type(model), "Parameters")) == set(model.get_params())
