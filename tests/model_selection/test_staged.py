"""Tuned classes on many samples: the whole grid on a part of the samples, ever fewer candidates on more, and what was left out is said."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1, make_friedman2
from sklearn.model_selection import KFold, StratifiedKFold

import gapless as gl
from gapless import SVCCV, SVR, SVRCV, LinearSVCCV, LinearSVRCV
from gapless.model_selection import GridSearchCV, tuned_linear

N = 2000
X, Y = make_classification(N, 8, flip_y=0.1, random_state=0)
T = make_friedman1(N, n_features=5, noise=1.0, random_state=0)
TUNED = [
    (SVCCV(Cs=3, gammas=3, widen=1, cv=3), X, Y),
    (SVRCV(Cs=3, gammas=3, epsilons=2, widen=0, cv=3), *T),
    (LinearSVCCV(cv=3), X, Y),
    (LinearSVRCV(epsilons=2, widen=0, cv=3), *T),
]
IDS = [type(each).__name__ for each, _, _ in TUNED]


@pytest.fixture(autouse=True)
def first_stages_of_few_entries(monkeypatch):
    """Linear machines are searched in stages from as few samples on as others."""
    monkeypatch.setattr(tuned_linear, "_FIRST_ENTRIES", 0.0)


def keys_by_stage(model):
    """The candidates of each stage, by the values of their parameters."""
    results = model.cv_results_
    return [
        {tuple(params.values()) for params, of in zip(results["params"], results["stage"], strict=True) if of == stage}
        for stage in range(results["stage"].max() + 1)
    ]


@pytest.mark.parametrize("tuned, X, y", TUNED, ids=IDS)
def test_few_candidates_are_fitted_on_all_samples_and_the_others_are_said_to_be_left_out(tuned, X, y):
    model = tuned.fit(X, y)
    results = model.cv_results_
    first, last = keys_by_stage(model)
    assert last < first
    assert np.array_equal(results["n_rows"], np.where(results["stage"] == 1, N, results["n_rows"].min()))
    assert 1000 <= results["n_rows"].min() < 1020
    # The chosen one is the best of those on all samples, whose scores are in scores_; all others are NaN there.
    own = results["stage"] == 1
    assert model.best_score_ == results["mean_test_score"][own].max()
    assert own[model.best_index_] and results["rank_test_score"][model.best_index_] == 1
    assert results["rank_test_score"][own].max() < results["rank_test_score"][~own].min()
    assert np.isfinite(model.scores_).all(axis=0).sum() == len(last)
    assert np.nanmax(model.scores_.mean(axis=0)) == pytest.approx(model.best_score_)
    # What is proven is of those alone, and the sentence says so.
    assert model.selection_.left_out == len(first) - len(last) and model.selection_.index == model.best_index_
    assert all(own[k] for k in model.selection_.tied)
    assert f"{model.selection_.left_out} candidates were left out" in str(model.selection_)


@pytest.mark.parametrize("tuned, X, y", TUNED, ids=IDS)
def test_scores_on_all_samples_are_those_of_a_search_over_all_of_them(tuned, X, y):
    model = tuned.set_params(refit=False).fit(X, y)
    splitter = KFold if hasattr(model, "epsilon_") else StratifiedKFold
    folds = splitter(model.scores_.shape[0])
    search = GridSearchCV(model._candidate(), {name: [value] for name, value in model.best_params_.items()}, cv=folds)
    search.fit(X, y)
    for fold in range(model.scores_.shape[0]):
        key = f"split{fold}_test_score"
        assert model.cv_results_[key][model.best_index_] == pytest.approx(search.cv_results_[key][0], rel=1e-3)


@pytest.mark.parametrize("tuned, X, y", TUNED[:1] + TUNED[2:], ids=IDS[:1] + IDS[2:])
def test_the_choice_is_as_good_as_that_of_the_whole_grid_within_the_spread_of_folds(tuned, X, y):
    staged, whole = (tuned.set_params(staged=staged, refit=False).fit(X, y) for staged in (True, False))
    tuned.set_params(staged=True)
    best = [whole.cv_results_[f"split{fold}_test_score"][whole.best_index_] for fold in range(whole.scores_.shape[0])]
    assert staged.best_score_ >= whole.best_score_ - np.std(best, ddof=1)


def test_the_whole_grid_is_fitted_on_all_samples_where_that_is_asked_for_or_they_are_few():
    for model in (LinearSVCCV(staged=False, cv=3).fit(X, Y), LinearSVCCV(cv=3).fit(X[:1400], Y[:1400])):
        assert (model.cv_results_["stage"] == 0).all() and len(set(model.cv_results_["n_rows"])) == 1
        assert np.isfinite(model.scores_).all() and model.selection_.left_out == 0
        assert "left out" not in str(model.selection_)


def test_the_same_data_give_the_same_search():
    one, other = (SVCCV(Cs=3, gammas=2, cv=3, refit=False).fit(X, Y) for _ in range(2))
    assert one.cv_results_["params"] == other.cv_results_["params"]
    np.testing.assert_array_equal(one.scores_, other.scores_)


def noisy(function):
    """A scorer: a function of log10 C and of the number of test rows, with a spread between folds that is wider than what separates neighbours."""

    def score(estimator, X, y):
        return function(np.log10(estimator.C), len(y)) + 0.1 * np.sin(1e3 * float(X[0, 0]))

    return score


LONG = make_classification(
    9000, 4, random_state=0
)  # stages of 1,000, 4,000 and 9,000 samples; a test fold has 200, 800 and 1,800


def test_a_best_that_moves_with_the_number_of_samples_is_followed():
    def score(C, rows):
        return -0.01 * abs(C - (-1.0 if rows < 500 else 1.0))

    model = LinearSVCCV(Cs=np.logspace(-4, 4, 9), scoring=noisy(score), refit=False).fit(*LONG)
    assert pytest.approx(10.0) == model.C_
    first, second, last = ({round(np.log10(C)) for (C,) in keys} for keys in keys_by_stage(model))
    assert first == set(range(-4, 5)) and {-1, 0, 1, 2} <= second and last <= second < first


@pytest.mark.parametrize("gain", [0.0, 1e-4])
def test_a_larger_C_is_not_fitted_on_all_samples_where_a_smaller_one_scores_as_well_or_hardly_worse(gain):
    model = LinearSVCCV(Cs=np.logspace(-3, 3, 7), scoring=noisy(lambda C, rows: gain * C), refit=False).fit(*LONG)
    first, second, last = keys_by_stage(model)
    assert len(first) == 7 and len(second) <= 2 and len(last) == 1
    assert pytest.approx(1e-3) == model.C_


def test_what_takes_long_is_no_part_of_the_last_stage_unless_it_is_worth_it():
    """C = 1e4 takes a hundred times as long as C = 1 where labels are noise, and scores less."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 2))
    y = (X[:, 0] + rng.normal(size=1600) > 0).astype(int)
    model = SVCCV(Cs=[1e-2, 1.0, 1e2, 1e4], gammas=[0.1, 1.0, 10.0], cv=3, refit=False).fit(X, y)
    first, last = keys_by_stage(model)
    assert len(first) == 12 and max(C for C, _ in last) < 1e4 and model.C_ < 1e4


def test_beyond_an_end_of_a_grid_few_samples_are_tried_first():
    def score(C, rows):  # on few samples the end is the best, and on many what is beyond it
        return -0.01 * abs(C - 3.0) if rows < 500 else 0.01 * C

    model = LinearSVCCV(Cs=4, scoring=noisy(score), refit=False, widen=6).fit(*LONG)
    stages = keys_by_stage(model)
    assert all(
        more <= less for less, more in itertools.pairwise(stages)
    )  # nothing on many samples that was not seen on fewer
    assert len(model.Cs_) > 4 and model.Cs_[3] < model.C_


def test_a_matrix_of_kernel_entries_is_cut_in_both_directions():
    few = slice(0, 1600)
    given = SVCCV(kernel="precomputed", Cs=3, cv=2, widen=0).fit(X[few] @ X[few].T, Y[few])
    linear = SVCCV(kernel="linear", Cs=3, cv=2, widen=0).fit(X[few], Y[few])
    assert keys_by_stage(given)[1] and given.best_index_ == linear.best_index_
    np.testing.assert_allclose(given.scores_, linear.scores_)
    assert gl.certify(given, X[few] @ X[few].T, Y[few]).relative_gap < 1e-2


def test_weights_count_on_every_stage_and_a_weight_of_zero_is_a_sample_less():
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=N)
    weight[::10] = 0.0
    model = LinearSVCCV(cv=3, tol=1e-9, max_iter=10_000).fit(X, Y, sample_weight=weight)
    assert set(model.cv_results_["n_rows"]) == {model.cv_results_["n_rows"].min(), int((weight > 0).sum())}
    again = LinearSVCCV(cv=3, tol=1e-9, max_iter=10_000).fit(
        X[weight > 0], Y[weight > 0], sample_weight=weight[weight > 0]
    )
    assert model.best_params_ == pytest.approx(again.best_params_)


def test_verbose_tells_of_the_stages(capsys):
    model = LinearSVCCV(verbose=1, cv=3, widen=0, refit=False).fit(X, Y)
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Stage")]
    assert said[0] == f"Stage 1 of 2, on {model.cv_results_['n_rows'][0]:,} of 2,000 samples:"
    assert said[-1] == "Stage 2 of 2, on 2,000 of 2,000 samples:"


def test_racing_makes_the_same_choice():
    model, raced = (
        SVCCV(Cs=3, gammas=3, cv=3, widen=0, refit=False, racing=racing).fit(X, Y) for racing in (False, True)
    )
    assert raced.best_params_ == model.best_params_ and raced.best_score_ == model.best_score_


def test_a_saved_model_tells_how_many_were_left_out(tmp_path):
    model = LinearSVCCV(cv=3).fit(X, Y)
    model.save(tmp_path / "model")
    assert gl.load(tmp_path / "model").selection_ == model.selection_


def test_a_regression_of_many_samples_ends():
    """Few of many candidates are fitted on all samples, and the choice is as good as one by hand."""
    model = SVRCV(Cs=4, gammas=4, epsilons=2, refit=False, widen=0, cv=3).fit(*T)
    by_hand = GridSearchCV(SVR(), {"C": [1, 10], "gamma": [0.1, 1.0]}, cv=3).fit(*T)
    assert model.best_score_ > by_hand.best_score_ - 0.01
    assert len(keys_by_stage(model)[1]) <= 12


def test_the_whole_proof_is_of_the_last_stage():
    model = LinearSVCCV(cv=3, widen=0, prove="full", refit=False).fit(X, Y)
    low, high = (model.cv_results_[f"mean_test_score_{end}"] for end in ("low", "high"))
    last = model.cv_results_["stage"] == 1
    assert (low[last] == high[last]).all() and model.selection_.proven


def test_what_the_last_stage_takes_is_bounded_by_its_first_candidate():
    """A larger C takes ten times as many pairs, and one or two candidates are what the budget of pairs allows."""
    X, y = make_friedman1(1600, n_features=5, noise=0.1, random_state=0)
    model = SVRCV(Cs=[1.0, 10.0, 100.0, 1e3, 1e4], gammas=4, epsilons=[0.01, 0.1], cv=3, refit=False).fit(X, y)
    results, last = model.cv_results_, np.flatnonzero(model.cv_results_["stage"] == 1)
    folds = list(KFold(3).split(X))

    def pairs(row):
        return sum(SVR(**results["params"][row]).fit(X[train], y[train]).n_iter_ for train, _ in folds)

    first, *others = (pairs(row) for row in last if np.isfinite(results["mean_test_score"][row]))
    assert sum(others) <= 2.5 * first
    assert model.selection_.left_out == 40 - 1 - len(others)


def test_beyond_the_ends_of_a_grid_no_fit_takes_more_than_the_longest_before_and_what_is_stopped_is_left_out():
    """Features of sizes from 1 to 1,000 as they are: ever larger C's are ever better, and ever longer."""
    X, y = make_friedman2(150, noise=100.0, random_state=0)
    model = SVRCV(refit=False, cv=3).fit(X, y)
    stopped = np.isnan(model.scores_).all(axis=0)
    assert stopped.sum() == model.selection_.left_out > 0
    assert not stopped[..., :7].any()  # nothing of the first grid, whose C's are the smallest ones
    assert np.isfinite(model.best_score_) and model.best_score_ == np.nanmax(model.scores_.mean(axis=0))
    assert str(model.selection_).endswith("left out, by scores on fewer samples or by work.")


def test_stages_of_linear_machines_begin_where_fits_are_long(monkeypatch):
    monkeypatch.undo()
    assert len(keys_by_stage(LinearSVCCV(cv=3, refit=False).fit(X, Y))) == 1
    wide, labels = make_classification(N, 500, random_state=0)
    assert len(keys_by_stage(LinearSVCCV(cv=3, refit=False).fit(wide, labels))) == 2
