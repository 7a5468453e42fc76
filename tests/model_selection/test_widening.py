"""A grid whose best is at its end is widened there: what is known is kept, and only what is new is fitted."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold

from gapless import SVC, SVCCV, LinearSVC, LinearSVCCV
from gapless.model_selection import GridSearchCV
from gapless.model_selection.widening import Axis, WideningSearch


def test_an_axis_widens_at_either_end_and_only_there():
    axis = Axis("C", np.array([1.0, 2.0, 4.0]), grows=True)
    assert not axis.widen(2.0)
    assert axis.widen(1.0) and axis.values.tolist() == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert axis.widen(4.0) and axis.values.tolist() == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert not Axis("C", np.array([1.0, 2.0]), grows=False).widen(1.0)
    assert not Axis("C", np.array([1.0]), grows=True).widen(1.0)
    coarse = Axis("C", np.array([1.0, 1e6]), grows=True)
    assert coarse.widen(1e6) and coarse.values.tolist() == [1.0, 1e6, 1e7, 1e8]


def by_candidate(results):
    """{the values of a candidate, sorted by name: its score on each fold}."""
    scores = np.array([results[key] for key in sorted(results) if key.startswith("split") and key.endswith("_score")])
    return {tuple(value for _, value in sorted(each.items())): scores[:, k] for k, each in enumerate(results["params"])}


def hidden(n=120):
    """Classes that differ in a feature a thousand times smaller than the noise beside it: only a large C sees it."""
    rng = np.random.default_rng(0)
    x, noise = rng.uniform(-1, 1, size=n), rng.normal(size=(n, 2))
    return np.column_stack([noise, 1e-3 * x]), x > 0


def test_a_best_beyond_the_grid_is_found_by_widening_and_what_is_known_is_kept():
    X, y = hidden()
    narrow = LinearSVCCV(widen=0, cv=3).fit(X, y)
    assert narrow.Cs_[-1] == narrow.C_
    model = LinearSVCCV(widen=3, cv=3).fit(X, y)
    assert model.C_ > narrow.C_ and model.best_score_ > narrow.best_score_
    assert len(model.Cs_) > len(narrow.Cs_) and model.Cs_[-1] > model.C_
    np.testing.assert_allclose(np.diff(np.log10(model.Cs_)), 1.0)
    tried = [each["C"] for each in model.cv_results_["params"]]
    assert len(tried) == len(set(tried)) == len(model.Cs_)  # nothing is fitted twice
    search = GridSearchCV(LinearSVC(), {"C": model.Cs_}, cv=3).fit(X, y)
    mine, theirs = by_candidate(model.cv_results_), by_candidate(search.cv_results_)
    assert mine.keys() == theirs.keys()
    for candidate, scores in theirs.items():
        np.testing.assert_array_equal(mine[candidate], scores)
    assert model.best_score_ == search.best_score_


def test_widening_is_bounded_and_leaves_given_values_alone():
    X, y = hidden()
    assert len(LinearSVCCV(widen=1, cv=3).fit(X, y).Cs_) == 9
    given = LinearSVCCV(Cs=[1e-2, 1e-3], widen=3, cv=3).fit(X, y)
    assert given.Cs_.tolist() == [1e-3, 1e-2]


def test_gamma_widens_too():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(250, 1))
    y = np.sin(2 * np.pi * 60 * x[:, 0]) > 0  # far finer than the distances of most samples
    first, model = (SVCCV(Cs=[10.0], gammas=3, widen=widen, cv=3).fit(x, y) for widen in (0, 3))
    assert model.gamma_ > first.gammas_[-1] and model.best_score_ > first.best_score_
    assert model.scores_.shape == (3, len(model.gammas_), 1) and not np.isnan(model.scores_).any()
    np.testing.assert_array_equal(model.scores_[:, :3], first.scores_)


def searched(score, rounds, **values):
    """The axes of a widening search whose score is a function of the parameters alone, and the candidates of each round."""
    asked = []
    axes = [Axis(name, np.array(each), grows=True) for name, each in values.items()]
    search = WideningSearch(SVC(), {}).along(axes, rounds)

    def evaluate(candidates):
        asked.append(candidates)
        tried = [each for some in asked for each in some]
        scores = np.array([score(**each) for each in tried])
        return {"params": tried, "mean_test_score": scores, "rank_test_score": (-scores).argsort().argsort() + 1}

    search._run_search(evaluate)
    return {axis.name: axis.values.tolist() for axis in axes}, asked


def test_both_axes_widen_from_a_corner_and_no_candidate_is_asked_for_twice():
    axes, asked = searched(
        lambda C, gamma: -(np.log10(C / 1e3) ** 2) - np.log10(gamma / 1e-3) ** 2,
        5,
        C=[1.0, 10.0],
        gamma=[0.1, 1.0, 10.0],
    )
    np.testing.assert_allclose(axes["C"], np.logspace(0, 5, 6))
    np.testing.assert_allclose(axes["gamma"], np.logspace(-5, 1, 7))
    assert [len(each) for each in asked] == [6, 4 * 5 - 6, 6 * 7 - 4 * 5]
    tried = [tuple(each.values()) for some in asked for each in some]
    assert len(set(tried)) == len(tried) == 42


def test_a_score_that_levels_off_is_not_followed_for_ever():
    axes, asked = searched(lambda C: 1 - 1 / C, 10, C=[1.0, 10.0, 100.0])
    assert len(asked) == 3 and axes["C"][-1] == 1e6
    axes, asked = searched(lambda C: 0.5, 10, C=[1.0, 10.0, 100.0])
    assert len(asked) == 1
    axes, asked = searched(lambda C: np.log10(C), 4, C=[1.0, 10.0, 100.0])
    assert len(asked) == 5  # the first, and as many rounds as are allowed


def test_random_folds_are_drawn_once_for_all_candidates():
    X, y = hidden()
    splitter = StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(0))
    model = LinearSVCCV(cv=splitter, widen=2).fit(X, y)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(0)).split(X, y))
    again = GridSearchCV(LinearSVC(), {"C": model.Cs_}, cv=folds).fit(X, y)
    np.testing.assert_array_equal(
        model.scores_, np.array([again.cv_results_[f"split{k}_test_score"] for k in range(3)])
    )


def test_verbose_tells_of_each_round(capsys):
    X, y = hidden()
    LinearSVCCV(verbose=1, cv=3, widen=1).fit(X, y)
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Fitting")]
    assert [line.split(",")[0] for line in said] == [
        "Fitting 3 folds for each of 7 candidates",
        "Fitting 3 folds for each of 2 candidates",
    ]
