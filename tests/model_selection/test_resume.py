"""Searches that keep their fits in a file: what another run finds there, what it refuses, and what a killed process leaves."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.model_selection import GridSearchCV, RandomizedSearchCV
from gapless.model_selection.fingerprint import checksum, described
from gapless.model_selection.journal import Journal
from gapless.model_selection.outcomes import Outcome
from gapless.model_selection.shared import SharedFits

X, Y = load_iris(return_X_y=True)
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
FITS = []


class Counted(gl.SVC):
    """Counts its fits."""

    def fit(self, X, y, sample_weight=None):
        FITS.append(self.C)
        return super().fit(X, y, sample_weight)


@pytest.fixture(autouse=True)
def _no_fits():
    FITS.clear()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.jsonl"


def accuracy(model, X, y, sample_weight=None):
    """A score without intervals, so that each candidate is fitted once a fold."""
    return model.score(X, y, sample_weight)


def searched(path, estimator=None, grid=GRID, y=Y, params=None, **options):
    options = {"cv": 3, "refit": False, "scoring": accuracy, **options}
    return GridSearchCV(estimator or Counted(), grid, resume=path, **options).fit(X, y, **(params or {}))


def assert_same_results(found, expected):
    """Scores and times, to the last bit."""
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert found[key] == values if key == "params" else np.array_equal(found[key], values), key


def test_a_second_run_fits_nothing_and_finds_the_same(path):
    first = searched(path)
    assert len(FITS) == 18
    again = searched(path)
    assert len(FITS) == 18
    assert_same_results(again.cv_results_, first.cv_results_)
    assert again.best_params_ == first.best_params_


def test_intervals_and_the_proof_are_found_again(path):
    first = searched(path, gl.SVC(), scoring="accuracy")
    again = searched(path, gl.SVC(), scoring="accuracy")
    assert "mean_test_score_low" in first.cv_results_ and first.selection_ is not None
    assert_same_results(again.cv_results_, first.cv_results_)
    assert again.selection_ == first.selection_


def test_shared_work_is_not_done_for_fits_that_are_known(path, monkeypatch):
    solved = []
    original = SharedFits._fit_kernel

    def fit_kernel(self, stage, tables, kernel, fits):
        solved.append((kernel.gamma, sorted({(fit.C, fit.fold) for fit in fits})))
        return original(self, stage, tables, kernel, fits)

    monkeypatch.setattr(SharedFits, "_fit_kernel", fit_kernel)
    searched(path, gl.SVC(), {"C": [1.0], "gamma": [0.1, 1.0]})
    assert [gamma for gamma, _ in solved] == [0.1, 1.0]
    solved.clear()
    searched(path, gl.SVC(), {"C": [1.0, 10.0], "gamma": [0.1, 1.0]})
    assert solved == [(gamma, [(10.0, fold) for fold in range(3)]) for gamma in (0.1, 1.0)]


def test_the_fits_of_a_kernel_are_in_the_file_before_the_next_kernel_is_solved(path, monkeypatch):
    lines = []
    original = SharedFits._fit_kernel

    def fit_kernel(self, *arguments):
        lines.append(path.read_bytes().count(b"\n"))
        return original(self, *arguments)

    monkeypatch.setattr(SharedFits, "_fit_kernel", fit_kernel)
    searched(path, gl.SVC())
    assert lines == [1, 1 + 9]


@pytest.mark.parametrize("racing", [False, True])
def test_a_race_and_a_regression_are_found_again(path, racing):
    options = {"scoring": "neg_mean_squared_error", "racing": racing, "y": X[:, 0]}
    first = searched(path, gl.SVR(tol=1e-6), {"C": [1e-3, 1.0, 10.0]}, **options)
    again = searched(path, gl.SVR(tol=1e-6), {"C": [1e-3, 1.0, 10.0]}, **options)
    assert again.best_params_ == first.best_params_
    if not racing:
        assert again.cv_results_["mean_test_score"] == pytest.approx(first.cv_results_["mean_test_score"], rel=1e-6)


@given(lines=st.integers(1, 19), torn=st.binary(max_size=30))
@settings(max_examples=12, deadline=None)
def test_whatever_is_left_of_the_file_the_results_are_the_same(lines, torn, tmp_path_factory):
    """A process may be killed between any two bytes; what it leaves behind its last whole line is cut off."""
    path = tmp_path_factory.mktemp("killed") / "search.jsonl"
    expected = searched(path).cv_results_
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:lines]) + torn.replace(b"\n", b""))
    FITS.clear()
    found = searched(path).cv_results_
    assert len(FITS) == 19 - lines
    assert all(np.array_equal(found[key], expected[key]) for key in expected if "score" in key and "time" not in key)
    assert [line[:40] for line in sorted(path.read_bytes().splitlines())] == [
        line[:40] for line in sorted(b"".join(whole).splitlines())
    ]


def test_a_damaged_line_is_fitted_again(path):
    searched(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[7] = lines[7].replace(b'"fold": ', b'"fold": 1', 1)
    path.write_bytes(b"".join(lines))
    FITS.clear()
    searched(path)
    assert len(FITS) == 12  # the damaged line and those behind it


def test_a_grid_may_grow_and_shrink(path):
    searched(path, grid={"C": [1.0]})
    searched(path, grid={"C": [1.0, 10.0]})
    assert FITS == [1.0] * 3 + [10.0] * 3
    expected = GridSearchCV(gl.SVC(), {"C": [10.0]}, cv=3).fit(X, Y)
    FITS.clear()
    assert searched(path, grid={"C": [10.0]}).best_score_ == expected.best_score_ and not FITS


def test_scikit_learns_estimators_may_be_resumed_as_well(path):
    options = {"cv": 3, "refit": False, "resume": path}
    first = GridSearchCV(RidgeClassifier(), {"alpha": [1.0, 10.0]}, **options).fit(X, Y)
    assert_same_results(
        GridSearchCV(RidgeClassifier(), {"alpha": [1.0, 10.0]}, **options).fit(X, Y).cv_results_, first.cv_results_
    )


def test_random_draws_with_a_seed(path):
    def run():
        return RandomizedSearchCV(
            Counted(), GRID, n_iter=4, random_state=0, cv=3, resume=str(path), refit=False, scoring=accuracy
        ).fit(X, Y)

    assert_same_results(run().cv_results_, run().cv_results_)
    assert len(FITS) == 12


@pytest.mark.parametrize("scoring", [["accuracy", "f1_macro"], lambda model, X, y: {"a": model.score(X, y), "b": 1}])
def test_several_metrics_and_training_scores(path, scoring):
    options = {"scoring": scoring, "return_train_score": True}
    first = searched(path, **options)
    made = len(FITS)
    assert_same_results(searched(path, **options).cv_results_, first.cv_results_)
    assert made == len(FITS)


def test_a_fit_that_failed_is_tried_again(path):
    grid = {"C": [1.0, -1.0]}
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitFailedWarning)
            warnings.filterwarnings("ignore", "One or more of the test scores are non-finite", UserWarning)
            results = searched(path, grid=grid).cv_results_
        assert np.isnan(results["mean_test_score"]).tolist() == [False, True]
    assert FITS == [1.0, -1.0] * 3 + [-1.0] * 3


def worse(y_true, y_pred):
    return accuracy_score(y_true, y_pred) / 2


def test_another_search_is_refused_in_words(path):
    searched(path)
    begin = f"resume={str(path)!r} has the fits of another search: "
    end = ". Name another file, or delete this one to begin anew."
    others = {
        "y has other values": {"y": Y[::-1].copy()},
        "its folds are others (a splitter that shuffles needs a random_state that is a number)": {"cv": 4},
        "sample_weight of fit is another": {"params": {"sample_weight": np.ones(150)}},
        "the estimator's tol is 0.001 there, and 1e-06 here": {"estimator": Counted(tol=1e-6)},
        "the estimator's kernel is another": {"estimator": Counted(kernel=gl.kernels.RBF(gamma=0.5))},
        "its estimator is test_resume.Counted, and here it is gapless.estimators.classify.SVC": {"estimator": gl.SVC()},
        "scoring is another": {"scoring": make_scorer(worse)},
        "return_train_score is False there, and True here": {"return_train_score": True},
        "error_score is another": {"error_score": 0.0},
    }
    for words, change in others.items():
        with pytest.raises(InvalidInputError) as refused:
            searched(path, **change)
        told = str(refused.value).replace(f"{__name__}.Counted", "test_resume.Counted")
        assert told == begin + words + end
    with pytest.raises(InvalidInputError, match="X has other values; y has other values; its folds are others"):
        GridSearchCV(Counted(), GRID, cv=3, resume=path, scoring=accuracy).fit(X[:90], Y[:90])
    searched(
        path, estimator=Counted(verbose=True, n_jobs=2, cache_size=10), n_jobs=2, refit=True
    )  # which do not matter
    assert len(FITS) == 18 + 1


def test_the_innermost_parameter_is_named(path):
    pipeline = make_pipeline(StandardScaler(), gl.SVC(kernel=gl.kernels.RBF(gamma=0.5)))
    searched(path, pipeline, {"svc__C": [1.0]}, scoring="f1_macro")
    with pytest.raises(InvalidInputError, match=r": scoring is 'f1_macro' there, and None here\. "):
        searched(path, pipeline, {"svc__C": [1.0]}, scoring=None)
    longer = make_pipeline(StandardScaler(), StandardScaler(), pipeline[-1])
    with pytest.raises(InvalidInputError, match=r": the estimator's steps is another\. "):
        searched(path, longer, {"svc__C": [1.0]}, scoring="f1_macro")
    pipeline.set_params(svc__kernel__gamma=0.25)
    with pytest.raises(
        InvalidInputError, match=r": the estimator's svc__kernel__gamma is 0\.5 there, and 0\.25 here\. "
    ):
        searched(path, pipeline, {"svc__C": [1.0]}, scoring="f1_macro")


def test_shuffled_folds(path):
    searched(path, cv=StratifiedKFold(3, shuffle=True, random_state=0))
    searched(path, cv=StratifiedKFold(3, shuffle=True, random_state=0))
    assert len(FITS) == 18
    with pytest.raises(InvalidInputError, match="its folds are others"):
        searched(path, cv=KFold(3, shuffle=True, random_state=1))


def test_what_is_no_file_of_a_search_is_refused(path, tmp_path):
    path.write_text("C,gamma\n1,2\n")
    with pytest.raises(
        InvalidInputError,
        match=r"must be a file that a search has written, or a new one; this file is something else\.$",
    ):
        searched(path)
    assert path.read_text() == "C,gamma\n1,2\n"
    with pytest.raises(InvalidInputError, match=r"must be a file that can be written: No such file or directory\.$"):
        searched(tmp_path / "nowhere" / "file")
    path.write_bytes(b'{"gapless_sea')  # killed while the first line was written
    assert len(searched(path).cv_results_["params"]) == 6
    with pytest.raises(ValueError, match="The 'resume' parameter of GridSearchCV must be"):
        searched(3)


def test_a_newer_format_is_refused(path):
    import zlib

    body = b'{"gapless_search": 99}'
    path.write_bytes(body[:-1] + b', "crc32": "%08x"}\n' % zlib.crc32(body))
    with pytest.raises(InvalidInputError, match=r"has the format version 99, and this version of Gapless reads 1\.$"):
        searched(path)


def test_a_second_ctrl_c_while_the_file_is_closed_leaves_it_unlocked(path, monkeypatch):
    """The next search in the same process said that another one was using the file."""

    def interrupted(file):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            searched(path)
    searched(path)
    assert len(FITS) == 18


@pytest.mark.skipif(os.name != "posix", reason="locks files")
def test_two_searches_do_not_share_a_file(path):
    class Meanwhile(Counted):
        def fit(self, X, y, sample_weight=None):
            with pytest.raises(InvalidInputError, match="is in use by another search that runs now"):
                searched(path)
            return super().fit(X, y, sample_weight)

    assert searched(path, Meanwhile(), {"C": [1.0]}).best_index_ == 0


def test_what_cannot_be_compared_is_refused(path):
    with pytest.raises(
        UnsupportedError, match=r"has to know random_state again in another process, which it cannot for RandomState"
    ):
        searched(path, gl.LinearSVC(random_state=np.random.RandomState(0)), {"C": [1.0]})


def test_callbacks_are_refused(path):
    callback = pytest.importorskip("sklearn.callback")
    search = GridSearchCV(gl.SVC(), GRID, resume=path).set_callbacks(callback.ProgressBar())
    with pytest.raises(InvalidInputError, match="does not go with callbacks"):
        search.fit(X, Y)


def test_verbose_says_how_many_fits_are_known(path, capsys):
    searched(path, grid={"C": [1.0]})
    searched(path, grid={"C": [1.0, 2.0]}, verbose=1)
    assert f"3 of 6 fits are in the file {str(path)!r} already.\n" in capsys.readouterr().out


def test_data_is_told_by_its_values():
    same = [X, np.asfortranarray(X), X[::-1][::-1], X.astype(">f8"), X.tolist()]
    assert len({checksum(each, "X") for each in same}) == 1
    changed = X.copy()
    changed[3, 2] += 1e-12
    frame = pd.DataFrame(X, columns=list("abcd"))
    others = [
        X,
        changed,
        X[:, :3],
        X.T,
        X.astype(np.float32),
        sp.csr_array(X),
        frame,
        frame.rename(columns={"a": "e"}),
        None,
        Y,
    ]
    assert len({checksum(each, "X") for each in others}) == len(others)
    assert checksum(frame, "X") == checksum(frame.copy(), "X")
    texts = [
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        np.array(["a", None], dtype=object),
        [["a"], ["b", "c"]],
    ]
    assert len({checksum(each, "y") for each in texts}) == 4


def test_functions_are_told_by_their_code():
    def scorers(factor):
        return lambda y, f: factor * accuracy_score(y, f), lambda y, f: factor + accuracy_score(y, f)

    one, plus = scorers(1.0)
    two, _ = scorers(2.0)
    again, _ = scorers(1.0)
    forms = [described(each, "scoring") for each in (one, plus, two)]
    assert described(again, "scoring") == forms[0] and forms[0] != forms[1] and forms[0] != forms[2]
    assert described(accuracy_score, "scoring") == {"function": "sklearn.metrics._classification.accuracy_score"}


scores = st.floats(allow_nan=True, allow_infinity=True)


def outcome(test, train):
    return Outcome(test, train, 0.5, 0.25, 7, intervals={"score": (-1.0, test)})


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(0, 1)), st.tuples(scores, st.one_of(st.none(), scores)), max_size=6
    )
)
@settings(max_examples=50, deadline=None)
def test_a_file_gives_back_the_outcomes_that_it_was_given(tmp_path_factory, told):
    path = tmp_path_factory.mktemp("journal") / "fits"
    facts = {
        name: ""
        for name in ("X", "y", "folds", "class", "scoring", "return_train_score", "error_score", "racing", "prove")
    }
    facts |= {"fit_params": {}, "parameters": {}}
    candidates = [{"C": 1.0}, {"C": float("inf")}, {"kernel": gl.kernels.RBF(gamma=0.5)}]
    with Journal(path, facts) as journal:
        for (k, j), (test, train) in told.items():
            journal.append(candidates[k], j, outcome(test, train))
    with Journal(path, facts) as journal:
        found = dict(journal.found(candidates, 2))
    expected = {place: outcome(*scores) for place, scores in told.items()}
    assert repr(sorted(found.items())) == repr(sorted(expected.items()))


# Kills itself, as kill -9 does, in the middle of its seventh fit.
KILLED = """
import os, signal, sys
import gapless as gl
from gapless.model_selection import GridSearchCV
from sklearn.datasets import load_iris

fits = []

class Dying(gl.SVC):
    def fit(self, X, y, sample_weight=None):
        fits.append(1)
        if len(fits) == 7 and sys.argv[2] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)

def score(model, X, y):
    return model.score(X, y)

search = GridSearchCV(Dying(), {"C": [0.1, 1.0, 10.0]}, cv=4, resume=sys.argv[1], scoring=score).fit(*load_iris(return_X_y=True))
print(len(fits), search.cv_results_["mean_test_score"].tolist())
"""


@pytest.mark.skipif(os.name != "posix", reason="kills with a signal")
def test_a_killed_search_goes_on(path):
    def run(word):
        return subprocess.run(
            [sys.executable, "-c", KILLED, str(path), word], capture_output=True, text=True, timeout=60
        )

    assert run("die").returncode == -9
    assert len(path.read_bytes().splitlines()) == 1 + 6
    done = run("live")
    scores = GridSearchCV(gl.SVC(), {"C": [0.1, 1.0, 10.0]}, cv=4).fit(X, Y).cv_results_["mean_test_score"].tolist()
    assert done.stdout == f"{12 - 6 + 1} {scores}\n", done.stderr  # and the last fit, on all of the data
