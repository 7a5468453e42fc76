"""KernelPerceptron: learn from mistakes alone; plain, averaged and voted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gapless import _native
from gapless.blas import one_blas_thread
from gapless.data.rows import kept_matrix
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.estimators.base import KernelEstimator
from gapless.estimators.callbacks import FitHooks, with_callbacks
from gapless.estimators.kernel_spec import in_storage_of, resolve_kernel
from gapless.estimators.multiclass import encode_labels
from gapless.estimators.parameters import BOOLEAN, KERNEL, POSITIVE_FINITE, POSITIVE_WHOLE, Rule, one_of
from gapless.estimators.report import users_level
from gapless.estimators.training_data import take_features, take_samples
from gapless.kernels import Kernel, Panels
from gapless.kernels.gram import RowCache, blocks
from gapless.store import register

_MIB = 2**20
_VOTED = 2**22  # the kernel entries that a vote holds at a time: 32 MiB


@register
@dataclass
class Lessons:
    """What the perceptron has learnt from its mistakes: for each function a coefficient of every stored sample, and the mistakes themselves.

    ``delayed`` holds Σ t·Δβ, from which the average of β over the ``seen`` samples follows. ``sample``, ``function``, ``sign`` and ``time`` describe
    each mistake, in order; the voted form replays them.
    """

    beta: np.ndarray
    delayed: np.ndarray
    seen: int
    sample: np.ndarray
    function: np.ndarray
    sign: np.ndarray
    time: np.ndarray

    @classmethod
    def none(cls, functions: int) -> Lessons:
        """The state before the first sample."""
        empty = np.empty(0, dtype=np.int64)
        nothing = np.zeros((0, functions))
        return cls(nothing, nothing, 0, empty, empty, np.empty(0), empty)


class Span:
    """The samples that are stored, as many as a budget allows, and the projection of any other sample on their span."""

    def __init__(self, kernel: Kernel, pool: Any, first: int, budget: int | None) -> None:
        self._kernel, self._pool, self._first, self._budget = kernel, pool, first, budget
        self._stored = list(range(first))
        self.admitted = np.full(pool.shape[0], budget is None)
        self.admitted[:first] = True
        self._rows: np.ndarray | None = None

    def admits(self, i: int) -> bool:
        """Whether sample i of the pool is stored; where the budget has room, the sample is stored now."""
        if not self.admitted[i] and self._budget is not None and len(self._stored) < self._budget:
            self._stored.append(i)
            self.admitted[i] = True
        return bool(self.admitted[i])

    def project(self, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(stored samples, coefficients of the projection of sample i of the batch on them, kernel values of the projection with the batch)."""
        if self._rows is None:
            basis = self._pool[self._stored]
            self._rows = self._kernel.block(basis, self._pool[self._first :])
            self._inverse = la.pinvh(self._kernel.block(basis, basis))
        share = self._inverse @ self._rows[:, i]
        return np.array(self._stored), share, share @ self._rows


@register
class KernelPerceptron(ClassifierMixin, KernelEstimator):
    r"""The perceptron in the features of a kernel: :math:`β_i ← β_i + y_i` whenever :math:`y_i f(x_i) ≤ 0`, with :math:`f(x) = \sum_i β_i k(x, x_i)`.

    Rosenblatt's rule w ← w + yᵢφ(xᵢ) never leaves the span of the samples, and needs inner products alone. Where the classes have a margin γ in a
    ball of radius R, the perceptron makes at most (R/γ)² mistakes, in whatever order the samples come. More than two classes are trained one against
    the rest.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As in :class:`SVC`: a kernel of :mod:`gapless.kernels` or the name of one.
    form : {"plain", "averaged", "voted"}, default "plain"
        Which model is kept: f after the last mistake; the mean of f over all samples seen; or the vote of all f on the way, each weighted by the
        number of samples that it survived (Freund & Schapire 1999), which makes a prediction cost a product for each mistake.
    fit_intercept : bool, default True
        Whether to learn in the features (φ(x), 1), whose kernel is k + 1.
    max_iter : int, default 100
        The most epochs; an epoch without mistakes ends the training before.
    shuffle : bool, default True
        Whether the samples are taken in a new order in each epoch.
    budget : int, default None
        The most samples to store, so that memory and the time of a prediction stay bounded: once they are stored, a mistake adds the projection of
        its sample on their span (Orabona, Keshet & Caputo 2009). None sets no bound. Not for the voted form, which replays every mistake.
    cache_size : float, default 200
        The memory for rows of the kernel matrix, in MiB.
    random_state : int, RandomState or None, default None
        The seed of the orders.

    Attributes
    ----------
    classes_, support_vectors_, dual_coef_
        The model: the stored samples, and a row of coefficients for each function (one where there are two classes).
    n_mistakes_ : array
        The number of mistakes of each function.
    n_iter_ : int
        The number of epochs.
    separated_ : bool
        Whether the last epoch was without a mistake.

    Examples
    --------
    >>> from gapless import KernelPerceptron
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(100, noise=0.05, factor=0.4, random_state=0)
    >>> model = KernelPerceptron(gamma=1.0, random_state=0).fit(X, y)
    >>> model.score(X, y), model.separated_
    (1.0, True)
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **{name: KERNEL[name] for name in ("degree", "gamma", "coef0")},
        "kernel": Rule(
            lambda value: isinstance(value, Kernel) or value in ("linear", "poly", "rbf", "sigmoid"),
            "'linear', 'poly', 'rbf', 'sigmoid' or a kernel of gapless.kernels",
        ),
        "form": one_of("plain", "averaged", "voted"),
        "fit_intercept": BOOLEAN,
        "max_iter": POSITIVE_WHOLE,
        "shuffle": BOOLEAN,
        "budget": Rule(lambda value: value is None or POSITIVE_WHOLE.holds(value), "None or a positive whole number"),
        "cache_size": POSITIVE_FINITE,
    }
    _stored = (*KernelEstimator._stored, "n_mistakes_", "separated_", "_lessons")
    _certified = False
    solver: ClassVar[str] = "auto"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        form: str = "plain",
        fit_intercept: bool = True,
        max_iter: int = 100,
        shuffle: bool = True,
        budget: int | None = None,
        cache_size: float = 200,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.form = form
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.budget = budget
        self.cache_size = cache_size
        self.random_state = random_state

    @with_callbacks
    @one_blas_thread()
    def fit(self, X: Any, y: Any) -> Any:
        """Go through the samples until an epoch makes no mistake, but at most ``max_iter`` times."""
        X, y = self._take(X, y)
        self._check_budget()
        hooks = FitHooks(self, 1, (X, y, None))
        self.classes_, codes = encode_labels(y, np.ones(X.shape[0]), "")
        self._begin(X)
        rng = check_random_state(self.random_state)
        self._learn(X, codes, self.max_iter, rng)
        if not self.separated_ and self.form == "plain":
            warnings.warn(
                f"KernelPerceptron still made mistakes in its last epoch (max_iter={self.max_iter}), so that the plain form is whatever the last one "
                "left. Give a larger max_iter, or form='averaged', which needs no separation.",
                ConvergenceWarning,
                stacklevel=users_level(),
            )
        hooks.end()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Make one pass over further samples. The first call needs all ``classes``, and its X determines γ where ``gamma="scale"``."""
        first = _check_partial_fit_first_call(self, classes)
        if first:
            X, y = self._take(X, y)
            self._check_budget()
        else:
            X, y = take_samples(self, X, y, reset=False)
        check_classification_targets(y)
        codes = np.searchsorted(self.classes_, y)
        if (codes == len(self.classes_)).any() or (self.classes_[codes % len(self.classes_)] != y).any():
            raise InvalidInputError(f"y must hold labels of classes={self.classes_.tolist()} alone.")
        if first:
            self._begin(X)
            self.n_iter_ = 0
        self._learn(X, codes, 1, check_random_state(self.random_state))
        return self

    def _check_budget(self) -> None:
        if self.budget is not None and self.form == "voted":
            raise InvalidInputError("budget must be None for form='voted', which replays every mistake.")

    def _begin(self, X: Any) -> None:
        spec = resolve_kernel(self, X, np.ones(X.shape[0]))
        assert spec.kernel is not None
        self._gamma = spec.gamma
        self._kernel_object = spec.kernel + 1.0 if self.fit_intercept else spec.kernel
        functions = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.support_vectors_ = X[:0]
        self._lessons = Lessons.none(functions)
        self.n_mistakes_ = np.zeros(functions, dtype=np.int64)
        self.n_iter_ = 0

    def _learn(self, X: Any, codes: np.ndarray, epochs: int, rng: np.random.RandomState) -> None:
        """Make epochs over a batch, starting from the samples and coefficients that are stored already."""
        kernel, X, n = self._features_kernel, self._as_stored(X), X.shape[0]
        old = kept_matrix(self.support_vectors_, "support_vectors_")
        pool: Any = X
        if old.shape[0]:
            pool = sp.vstack([old, X], format="csr") if self._sparse else np.vstack([old, X])
        lessons, first, functions = self._lessons, old.shape[0], self._lessons.beta.shape[1]
        positive = np.arange(functions)[:, None] if functions > 1 else np.array([[1]])
        signs = np.where(positive == codes, 1.0, -1.0)
        beta, delayed = np.zeros((2, functions, first + n))
        beta[:, :first], delayed[:, :first] = lessons.beta.T, lessons.delayed.T
        F = np.zeros((functions, n))
        if first:
            for part, block in blocks(kernel, X, old):
                F[:, part] = (block @ lessons.beta).T
        cache = RowCache(kernel, pool, max(int(self.cache_size * _MIB), 16 * pool.shape[0]))
        span = Span(kernel, pool, first, self.budget)
        mistakes: list[tuple[int, int, float, int]] = []
        seen = lessons.seen
        for _ in range(epochs):
            order = rng.permutation(n) if self.shuffle else np.arange(n)
            made, position = len(mistakes), 0
            while True:
                position, seen, more = _native.walk_perceptron(
                    order, position, signs, first, cache.rows, cache.slot_of, span.admitted, seen, beta, delayed, F
                )
                mistakes += more
                if position == n:
                    break
                i = int(order[position])
                if span.admits(first + i):
                    cache.fetch(np.array([first + i]))
                    continue
                where, share, row = span.project(i)
                for m in np.flatnonzero(signs[:, i] * F[:, i] <= 0):
                    beta[m, where] += signs[m, i] * share
                    delayed[m, where] += signs[m, i] * share * seen
                    F[m] += signs[m, i] * row
                    mistakes.append((first + i, int(m), float(signs[m, i]), seen))
                position, seen = position + 1, seen + 1
            self.n_iter_ += 1
            self.separated_ = len(mistakes) == made
            if self.separated_:
                break
        self._settle_lessons(pool, np.ascontiguousarray(beta.T), np.ascontiguousarray(delayed.T), seen, mistakes)

    @property
    def _features_kernel(self) -> Kernel:
        assert self._kernel_object is not None  # the rules allow kernels by name and kernel objects alone
        return self._kernel_object

    def _as_stored(self, X: Any) -> Any:
        """X, sparse or dense as the first samples were."""
        if sp.issparse(X) == self._sparse:
            return X
        return sp.csr_array(X) if self._sparse else X.toarray()

    def _settle_lessons(
        self,
        pool: Any,
        beta: np.ndarray,
        delayed: np.ndarray,
        seen: int,
        mistakes: list[tuple[int, int, float, int]],
    ) -> None:
        """Keep the samples with a coefficient or a mistake, and the model in the chosen form."""
        former = self._lessons
        new = np.array(mistakes).reshape(-1, 4).T
        sample, function, sign, time = (
            np.concatenate([before, after.astype(before.dtype)])
            for before, after in zip((former.sample, former.function, former.sign, former.time), new, strict=True)
        )
        if self.form != "voted":
            sample, function, sign, time = sample[:0], function[:0], sign[:0], time[:0]
        counts = (beta != 0) | (delayed != 0) if self.form == "averaged" else beta != 0
        kept = np.union1d(np.flatnonzero(counts.any(axis=1)), sample)
        place = np.zeros(len(beta), dtype=np.int64)
        place[kept] = np.arange(len(kept))
        self.support_vectors_ = pool[kept]
        self._lessons = Lessons(beta[kept], delayed[kept], seen, place[sample], function, sign, time)
        self.n_mistakes_ = self.n_mistakes_ + np.bincount([m for _, m, _, _ in mistakes], minlength=beta.shape[1])
        dual = beta[kept] - delayed[kept] / max(1, seen) if self.form == "averaged" else beta[kept]
        self.dual_coef_ = np.ascontiguousarray(dual.T) + 0.0
        self.intercept_ = np.zeros(beta.shape[1])  # the intercept is part of the kernel k + 1

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x), positive for ``classes_[1]``; for more than two classes a column for each. The voted form gives the mean of the votes, in [−1, 1]."""
        check_is_fitted(self)
        X = take_features(self, X, reset=False)
        vectors = kept_matrix(self.support_vectors_, "support_vectors_")
        out = np.zeros((X.shape[0], len(self.dual_coef_)))
        if vectors.shape[0]:
            voted = self.form == "voted"
            panels = Panels(self._features_kernel, vectors, np.float64, repeatable="cross" if voted else "apply")
            for part, rows in in_storage_of(vectors, X):
                out[part] = self._votes_of(panels, rows) if voted else panels.apply(rows, self.dual_coef_.T)
        return out.ravel() if len(self.classes_) == 2 else out

    def _votes_of(self, panels: Panels, X: Any) -> np.ndarray:
        """The votes on each sample; the kernel values of some samples at a time are held in memory."""
        step = max(1, _VOTED // self.support_vectors_.shape[0])
        return np.vstack([self._votes(panels.cross(X[begin : begin + step])) for begin in range(0, X.shape[0], step)])

    def _votes(self, K: np.ndarray) -> np.ndarray:
        """The mean over time of the sign of f, which is constant from one mistake to the next."""
        lessons = self._lessons
        votes = np.zeros((len(K), lessons.beta.shape[1]))
        for m in range(votes.shape[1]):
            mine = lessons.function == m
            f = np.cumsum(K[:, lessons.sample[mine]] * lessons.sign[mine], axis=1)
            lasted = np.diff(np.append(lessons.time[mine], lessons.seen))
            votes[:, m] = np.sign(f) @ lasted / max(1, lessons.seen)
        return votes

    def to_onnx(self) -> Any:
        """The fitted model as an ``onnx.ModelProto``, as that of :class:`SVC`; the voted form, which is not a single function, is refused."""
        check_is_fitted(self)
        if self.form == "voted":
            raise UnsupportedError(
                "to_onnx needs one function for each class, which form='voted' does not have; use form='averaged'."
            )
        return super().to_onnx()

    def predict(self, X: Any) -> np.ndarray:
        """The labels of the samples."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]
