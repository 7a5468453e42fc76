"""The parameters and attributes that the estimators share, each explained once; a decorator writes them into the docstring of each class."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import TypeVar

_Class = TypeVar("_Class", bound=type)
_WIDTH = 130  # of the lines that are written, which stand indented in a docstring

_PARAMETERS = {
    "C": (
        "float",
        "The cost of errors against the regulariser: the larger, the closer the model follows the samples. ``inf`` allows no errors, and is refused "
        "where no such model exists (samples that no hard margin separates).",
    ),
    "kernel": (
        "str, Kernel or callable",
        "``'linear'``, ``'poly'``, ``'rbf'`` or ``'sigmoid'``; a kernel of :mod:`gapless.kernels`, which may be composed of others; "
        "``'precomputed'``, where X is a Gram matrix; or a function of two matrices that returns their Gram matrix.",
    ),
    "degree": ("int", "The degree of ``kernel='poly'``; other kernels do not use it."),
    "gamma": (
        "{'scale', 'auto'} or float",
        "γ of ``'rbf'``, ``'poly'`` and ``'sigmoid'``: ``'scale'`` is 1 / (n_features · var X), where sample weights count, ``'auto'`` is "
        "1 / n_features.",
    ),
    "coef0": ("float", "The constant term of ``'poly'`` and ``'sigmoid'``."),
    "shrinking": (
        "bool",
        "Accepted as scikit-learn's parameter, and without effect: the solver for kernels always works on an active set of samples.",
    ),
    "tol": (
        "float",
        "The relative duality gap (primal − dual) / |primal| at which the fit stops; the largest KKT violation, which is LIBSVM's criterion, is "
        "brought below it as well.",
    ),
    "cache_size": ("float", "The most memory for kernel entries that are kept, in megabytes."),
    "class_weight": (
        "dict or 'balanced'",
        "Multiplies the cost of the samples of each class: weights by label, or ``'balanced'`` for weights that make all classes cost the same; "
        "None is one for all.",
    ),
    "verbose": ("bool or int", "Whether a terminal shows a line with the gap and the rate while the model is fitted."),
    "max_iter": (
        "int",
        "The most iterations for each subproblem, in the unit of its solver (pairs of samples for ``smo``, epochs for most others); −1 is the "
        "solver's own generous cap.",
    ),
    "decision_function_shape": (
        "{'ovr', 'ovo'}",
        "The shape of ``decision_function`` for more than two classes: a column for each class, or for each pair of classes. Pairs are trained "
        "either way.",
    ),
    "break_ties": (
        "bool",
        "Whether ``predict`` decides between classes with equal votes by the decision values; otherwise the first of them is taken.",
    ),
    "random_state": (
        "int or RandomState",
        "The seed of the solvers that draw samples; None is a fixed seed, so that the same data gives the same model.",
    ),
    "solver": (
        "str or Solver",
        "The algorithm by its name, one of :data:`gapless.solvers.SOLVERS`, or a solver object with its options; ``'auto'`` chooses by the "
        "problem. A solver that does not cover the problem says why.",
    ),
    "max_time": (
        "float",
        "The most seconds for the whole fit, its subproblems and certificates included; None sets no bound. A fit that stops early keeps its best "
        "model with its certificate, and warns.",
    ),
    "warm_start": ("bool", "Whether a further ``fit`` starts from the solution of the last one, where the shapes agree."),
    "n_jobs": (
        "int",
        "How many subproblems (pairs of classes, or classes) are solved at the same time, on threads; None is 1, and −1 is the number of cores.",
    ),
    "callback": (
        "callable",
        "Called with a :class:`~gapless.trace.Progress` after each check of a subproblem; returning True stops that subproblem.",
    ),
    "probability": (
        "bool",
        "Whether ``predict_proba`` and ``predict_log_proba`` are offered, by a sigmoid of held-out decision values for each pair of classes, which "
        "takes a cross-validation of five folds. The most probable label is that of ``predict``. scikit-learn has deprecated the parameter: "
        "setting it warns.",
    ),
    "nu": ("float", "ν, above 0 and at most 1: an upper bound on the share of margin errors, a lower bound on the share of support vectors."),
    "epsilon": ("float", "ε, at least 0: errors up to ε cost nothing."),
    "fit_intercept": ("bool", "Whether the model has an intercept b; without it b = 0."),
    "intercept": (
        "{'regularized', 'free'}",
        "Whether b counts in the regulariser, as LIBLINEAR has it, or is left out of it, as in :class:`SVC`.",
    ),
    "intercept_scaling": ("float", "s in the regulariser of b, b²/s²: the larger, the less a regularised b is held near zero."),
    "dual": (
        "bool or 'auto'",
        "Accepted as scikit-learn's parameter, and without effect: the proof needs the primal and the dual problem alike.",
    ),
}  # fmt: skip

_ATTRIBUTES = {
    "classes_": ("array of shape (n_classes,)", "The labels."),
    "class_weight_": ("array of shape (n_classes,)", "The weight of each class."),
    "support_": ("array of shape (n_SV,)", "The indices of the support vectors."),
    "support_vectors_": (
        "array or sparse matrix of shape (n_SV, n_features)",
        "The support vectors; empty for ``kernel='precomputed'`` and for a function.",
    ),
    "n_support_": ("array", "The number of support vectors of each class; of all where there are no classes."),
    "dual_coef_": ("array", "The coefficients of the support vectors, in scikit-learn's layout."),
    "intercept_": ("array", "b, for each decision function."),
    "coef_": ("array of shape (n_functions, n_features)", "w, where ``kernel='linear'``."),
    "probA_, probB_": (
        "array of shape (n_pairs,)",
        "A and B of the sigmoid 1 / (1 + exp(A f + B)) of each pair of classes; empty without ``probability=True``.",
    ),
    "n_iter_": ("int or array", "The iterations, of each subproblem where there are several."),
    "fit_status_": ("int", "0 where every certificate is within ``tol``, 1 otherwise."),
    "shape_fit_": ("tuple of int", "The shape of the training samples."),
    "n_features_in_": ("int", "The number of features."),
    "feature_names_in_": ("array of str", "The names of the features, where X had names."),
    "certificate_": (
        "Certificate",
        "The proof of how close the model is to the optimum: primal value, dual value and gap; of several subproblems that with the widest gap.",
    ),
    "certificates_": ("list of Certificate", "The proof of each subproblem."),
    "trace_, traces_": ("Trace, list of Trace", "The history of the subproblem with the widest gap, and of each."),
    "alpha_": ("array", "α of every training sample; a column for each subproblem where there are several."),
}  # fmt: skip

PROOF = "certificate_ certificates_ trace_,traces_ alpha_"
"""The attributes of every estimator with a proof."""
FEATURES = "n_features_in_ feature_names_in_"
"""The attributes that tell of the features, for every estimator."""
KERNEL_MODEL = f"support_ support_vectors_ n_support_ dual_coef_ intercept_ coef_ n_iter_ fit_status_ shape_fit_ {FEATURES} {PROOF}"
"""The attributes of every estimator with support vectors."""
LINEAR_MODEL = f"coef_ intercept_ n_iter_ support_ n_support_ dual_coef_ {FEATURES} {PROOF}"
"""The attributes of the estimators that keep w."""

LINEAR = {
    "tol": (
        "float",
        "The relative duality gap (primal − dual) / |primal| at which the fit stops. Below 1e-10 the largest KKT violation is brought below it too.",
    ),
    "max_iter": ("int", "The most iterations for each subproblem, in the unit of its solver (epochs, Newton steps)."),
    "n_iter_": ("int", "The iterations; of several subproblems the most."),
    "coef_": ("array of shape (n_functions, n_features)", "w; of a regression one row, as a vector."),
    "intercept_": ("array or float", "b, for each row of ``coef_``; 0.0 without an intercept."),
    "dual_coef_": ("array", "The coefficients of the support vectors, a row for each row of ``coef_``."),
}  # fmt: skip
"""Parameters and attributes that mean something else, or have another shape, in the estimators that keep w."""


def documented(attributes: str, **own: tuple[str, str]) -> Callable[[_Class], _Class]:
    """Class decorator that writes the sections Parameters and Attributes into the docstring, before its Examples.

    Each parameter of the constructor is explained with its default. ``own`` has (type, explanation) of the parameters and attributes that are
    particular to the class; the others are explained as for all classes. ``attributes`` are the names of the fitted attributes, in order, where a
    comma joins names that are explained together.

    >>> @documented("n_iter_", width=("float", "How wide the model is."))
    ... class Model:
    ...     '''A model.
    ...
    ...     Examples
    ...     --------
    ...     '''
    ...     def __init__(self, *, width: float = 1.0, degree: int = 3): ...
    >>> print(Model.__doc__)
    A model.
    <BLANKLINE>
    Parameters
    ----------
    width : float, default 1.0
        How wide the model is.
    degree : int, default 3
        The degree of ``kernel='poly'``; other kernels do not use it.
    <BLANKLINE>
    Attributes
    ----------
    n_iter_ : int or array
        The iterations, of each subproblem where there are several.
    <BLANKLINE>
    Examples
    --------
    """
    explained = {**_PARAMETERS, **_ATTRIBUTES, **own}

    def entry(name: str, default: str = "") -> str:
        kind, text = explained[name]
        return f"{name} : {kind}{default}\n{_indented(text)}"

    def decorate(cls: _Class) -> _Class:
        if cls.__doc__ is None:  # python -OO
            return cls
        lines = ["Parameters", "----------"]
        for name, parameter in inspect.signature(cls).parameters.items():
            lines.append(entry(name, f", default {parameter.default!r}"))
        lines += ["", "Attributes", "----------"]
        for name in attributes.split():
            lines.append(entry(name.replace(",", ", ")))
        head, examples, tail = inspect.cleandoc(cls.__doc__).partition("Examples\n--------")
        cls.__doc__ = head + "\n".join([*lines, "", examples]) + tail
        return cls

    return decorate


@cache
def _indented(text: str) -> str:
    """The text in indented lines. textwrap takes milliseconds for all estimators together, which an import would have to wait for."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else f"    {word}"
    return "\n".join(lines)
