"""The parameters and attributes of the searches, each explained once for both classes."""

from __future__ import annotations

PARAMETERS = {
    "estimator": (
        "estimator",
        "What is tuned. The candidates of an estimator of Gapless, alone or as the last step of a Pipeline, are handed to one engine a fold; any "
        "other estimator is tuned by scikit-learn itself.",
    ),
    "scoring": (
        "str, callable, list, tuple or dict",
        "The metric, by name or as a function of (estimator, X, y); several metrics by a list of names, a dict of functions, or a function that "
        "returns a dict. None is the estimator's own ``score``.",
    ),
    "n_jobs": (
        "int",
        "How many folds are worked on side by side, in threads; −1 is all processors. None is one fold after the other, where fits are short; of "
        "2,000 samples and more, as many fits as one of them would use threads.",
    ),
    "refit": (
        "bool, str or callable",
        "Whether the best candidate is fitted on all of the data at the end. With several metrics: the name of the one that decides, or a function "
        "that takes ``cv_results_`` and returns the index of the best candidate.",
    ),
    "cv": (
        "int, splitter or iterable",
        "The folds: how many (stratified for classifiers), a splitter of scikit-learn's, or pairs of training and test rows. None is five folds.",
    ),
    "verbose": (
        "int",
        "What is printed: from 1 on how many fits there are and what they share, from 2 on a line for each fit, from 3 on its scores, from 10 on its "
        "beginning. From 1 on a terminal also shows a line with the fits that are done, the best score and the time left.",
    ),
    "pre_dispatch": (
        "int or str",
        "For estimators that are not of Gapless, whose search is scikit-learn's; our engines do not look at it.",
    ),
    "error_score": ("'raise' or float", "The score of a candidate whose fit fails; ``'raise'`` ends the search."),
    "return_train_score": ("bool", "Whether candidates are scored on their training rows, too."),
    "resume": (
        "str or path",
        "A file that each fit is written to as soon as it is done. A search that finds such a file does not repeat the fits in it: it goes on where "
        "the last one was interrupted or killed, or adds candidates to a grid. Data, folds, estimator and scorer have to be the same, which is "
        "checked. None keeps no file.",
    ),
    "racing": (
        "bool",
        "Whether a candidate is dropped as soon as another one is proven to be better, whatever the folds that it has not run on would give. A "
        "choice that is proven stays the same; elsewhere another of the candidates in ``selection_.tied`` may be chosen. Dropped candidates have NaN "
        "as the score of folds that were not run. It needs a metric with intervals.",
    ),
    "prove": (
        "'bounded' or 'full'",
        "How far the choice is proven. ``'bounded'``: all candidates are fitted to their ``tol``; then the fits that the choice depends on go on, "
        "the best candidates first, for a fifth of the work that all fits have taken, and ``selection_`` says what stays open. Work is counted, not "
        "timed, so that the result is the same on every machine. ``'full'``: every score of a classifier is decided, and regressions go on until "
        "they are separated from the best one, as far as floating point reaches; this may take many times as long as the fits.",
    ),
}
"""(type, explanation) of each parameter that both searches have."""

ATTRIBUTES = {
    "cv_results_": (
        "dict",
        "Scores, ranks, times and parameters of all candidates, in arrays of one entry a candidate: the keys and types are scikit-learn's. Where "
        "the metric has intervals, ``split0_test_score_low``, ``split0_test_score_high`` (and so on for each fold, and ``mean_test_score_low`` and "
        "``…_high`` for the mean) bound what the exact optimum scores.",
    ),
    "selection_": (
        "Selection or None",
        "What is proven about the choice: ``index``, ``proven``, ``tied`` and ``score``; it prints as a sentence. None where the metric has no "
        "intervals, or where ``refit`` is a function, or ``False`` with several metrics.",
    ),
    "best_index_": ("int", "The place of the best candidate in ``cv_results_``."),
    "best_params_": ("dict", "The parameters of the best candidate."),
    "best_score_": (
        "float",
        "The mean score of the best candidate over the folds; not there where ``refit`` is a function.",
    ),
    "best_estimator_": ("estimator", "The best candidate, fitted on all of the data; not there where ``refit=False``."),
    "refit_time_": ("float", "Seconds that this last fit took."),
    "scorer_": ("callable or dict", "The scorer, or the scorers by name."),
    "multimetric_": ("bool", "Whether there are several metrics."),
    "n_splits_": ("int", "The number of folds."),
    "classes_": ("ndarray of shape (n_classes,)", "The labels of the best estimator's classes."),
    "feature_names_in_": ("ndarray of shape (n_features,)", "The names of the columns of X, where it has names."),
}
"""(type, explanation) of each fitted attribute, in the order in which a docstring lists them."""
