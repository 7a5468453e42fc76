"""The one problem that every solver solves and every certificate speaks of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from gapless.data import Rows, check_labels, check_matrix, check_targets, check_weights
from gapless.data.distinct import distinct_samples
from gapless.data.products import matvec, rmatvec
from gapless.data.rows import as_rows, frozen, row_entries, sealed, squared_norms
from gapless.data.scale import LARGEST, check_cost, check_width
from gapless.errors import InvalidInputError
from gapless.kernels import Kernel, Linear, Panels, Validity
from gapless.kernels.rounding import Magnitudes, linear_magnitudes, magnitudes
from gapless.losses import DualTerms, Loss, as_loss
from gapless.problems.conventions import Convention, one_of, unit_cost
from gapless.problems.stated import StatedValues

Intercept = Literal["free", "regularized", "none"]
_INTERCEPTS = get_args(Intercept)


_NO_PRICE = frozen(np.zeros(1))  # the totals of one group whose offset costs nothing


@lru_cache(maxsize=16)
def _one_group(n: int) -> np.ndarray:
    """The groups of n samples that share one offset."""
    return sealed(np.zeros(n, dtype=np.int64))


# Kernel entries up to which Kβ is computed the simplest way, in float64: so many take a few milliseconds either way. Above, the symmetry of K saves
# a tenth, and float32 with proven bounds, where β is zero, 20 to 40 % (measured on 4,500 and 9,000 samples of 8 and 54 features).
_MANY = 2**22
# The work of the kernel's function beside its inner product, in stored entries of X: the exponential of a Gaussian kernel's entry takes the panels as
# long as 10 stored entries do (measured: 10 of sparse and of dense rows in float32, 10 and 15 in float64).
_FUNCTION_WORK = 10.0
_SUMS = "sums"  # the name by which a chain keeps (β, Kβ) of the last proof
_SAME = 1e-12  # a vector is a multiple of another one where no more than this share of its largest entry is left over


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Problem(StatedValues):
    r"""A support vector machine on given data, stated once.

    .. math::

        \min_{w, b} \; P = ½‖w‖² + \sum_i c_i \, ℓ(y_i, f(x_i)), \qquad f(x) = ⟨w, φ(x)⟩ + b

        \max_{β} \; D = p^⊤β - ε‖β‖_1 - ½ \sum_i d_i β_i² - ½ β^⊤ K β, \qquad \mathrm{lower}_i ≤ β_i ≤ \mathrm{upper}_i, \quad w = \sum_i β_i φ(x_i)

    β is signed (βᵢ = yᵢαᵢ in classification). With ``intercept="free"`` b is unregularised and the dual has Σβᵢ = 0; with ``"regularized"``
    the samples are augmented, x̃ = (x, s) with s = ``intercept_scale``, so that ½ b²/s² joins P and s² joins K; with ``"none"`` b = 0.

    Exactly one regularisation is given, by its name; ``C=1`` when none is:

    ================== =========================== ==========
    name               objective                   cᵢ
    ================== =========================== ==========
    ``C``              ½‖w‖² + C Σξ                C
    ``C_mean``         ½‖w‖² + (C/n) Σξ            C/n
    ``lam_mean``       (λ/2)‖w‖² + (1/n) Σξ        1/(λn)
    ``lam_mean_full``  λ‖w‖² + (1/n) Σξ            1/(2λn)
    ``lam_sum``        (λ/2)‖w‖² + Σξ              1/λ
    ================== =========================== ==========

    The ν-forms (:mod:`gapless.nu`) generalise the free intercept: samples fall into ``groups``, each with an offset b_g of its own that costs
    ``totals[g]`` · b_g in P, so that the dual has Σβᵢ = totals[g] over each group. Everywhere else there is one group, of total zero.

    ``sample_weight`` multiplies cᵢ, and n is the sum of the weights, so that weight 2 equals the row twice and weight 0 the row removed.
    ``C=inf`` is the hard margin.

    Parameters
    ----------
    X
        Samples: an array or a CSR matrix, float32 or float64. Kept, not copied, where it already is contiguous;
        of a CSR matrix the indices are copied, unless they are those of a store.
    y
        Two labels of any type for a margin loss (the larger is +1), numbers for a regression loss.
    loss
        A :class:`~gapless.losses.Loss` or its name.
    kernel
        A :class:`~gapless.kernels.Kernel`; None is linear.
    C, C_mean, lam_mean, lam_mean_full, lam_sum
        The regularisation, by one of its names: a positive number, of the meaning that the table above gives.
    intercept
        ``"free"``, ``"regularized"`` or ``"none"``.
    intercept_scale
        The s of the regularised intercept: the larger, the less b is held back.
    sample_weight
        A weight a sample, zero or positive; None is weight 1 for each.

    Examples
    --------
    >>> problem = Problem([[0.0], [1.0], [2.0]], ["no", "no", "yes"], lam_mean=0.1)
    >>> problem
    Problem(3 x 1 dense, hinge, linear, lam_mean=0.1, intercept='free')
    >>> problem.cost.round(4)
    array([3.3333, 3.3333, 3.3333])
    """

    X: np.ndarray | sp.csr_array
    rows: Rows
    y: np.ndarray
    cost: np.ndarray
    loss: Loss
    kernel: Kernel | None
    intercept: Intercept
    intercept_scale: float
    convention: Convention
    regularization: float
    total_weight: float
    classes: np.ndarray | None
    groups: np.ndarray
    totals: np.ndarray

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        loss: str | Loss = "hinge",
        kernel: Kernel | None = None,
        C: float | None = None,
        C_mean: float | None = None,
        lam_mean: float | None = None,
        lam_mean_full: float | None = None,
        lam_sum: float | None = None,
        intercept: Intercept = "free",
        intercept_scale: float = 1.0,
        sample_weight: Any = None,
    ) -> None:
        convention, regularization = one_of(
            C=C, C_mean=C_mean, lam_mean=lam_mean, lam_mean_full=lam_mean_full, lam_sum=lam_sum
        )
        loss = as_loss(loss)
        if kernel is not None and not isinstance(kernel, Kernel):
            raise InvalidInputError(f"kernel must be a kernel of gapless.kernels or None for linear; got {kernel!r}.")
        if intercept not in _INTERCEPTS:
            raise InvalidInputError(f"intercept must be one of {', '.join(_INTERCEPTS)}; got {intercept!r}.")
        if not (isinstance(intercept_scale, (int, float, np.number)) and 0 < intercept_scale < math.inf):
            raise InvalidInputError(f"intercept_scale must be a positive number; got {intercept_scale!r}.")
        X = check_matrix(X)
        n = X.shape[0]
        classes = None
        if loss.task == "classification":
            y, classes = check_labels(y, n)
        else:
            y = check_targets(y, n)
        weight, total = None, float(n)
        if sample_weight is not None:
            weight = check_weights(sample_weight, n)
            total = float(weight.sum())
            if classes is not None and not _has_both(y, weight):
                raise InvalidInputError(
                    "sample_weight leaves one class: all samples with a positive weight belong to the same class."
                )
        unit = unit_cost(convention, regularization, total)
        if unit == math.inf and not loss.has_hard_limit:
            raise InvalidInputError(
                f"{convention}={regularization} with the {loss.name} loss has no solution; give a finite value."
            )
        cost = np.full(n, unit)
        if weight is not None:
            cost = unit * weight if unit < math.inf else np.where(weight > 0, unit, 0.0)
        self._set(
            X=X,
            y=y,
            cost=cost,
            loss=loss,
            kernel=kernel,
            intercept=intercept,
            intercept_scale=float(intercept_scale),
            convention=convention,
            regularization=float(regularization),
            total_weight=total,
            classes=None if classes is None else frozen(classes),
            is_hard=unit == math.inf,
            is_nu=False,
            is_checked=weight is None and 1 / LARGEST <= unit <= LARGEST,
        )

    def _set(self, *, X: Any, y: np.ndarray, cost: np.ndarray, kernel: Kernel | None, **others: Any) -> None:
        """Store fields that are checked already: the last step of the constructor of every kind of problem.

        Without ``groups`` and ``totals`` there is one group of total zero; only the ν-forms have others (see ``nu.py``). ``is_checked`` says that the
        costs have passed ``check_cost``. A cached property whose value is known beforehand (``is_hard``, ``is_nu``) may be given too.
        """
        if not others.pop("is_checked", False):
            check_cost(cost)
        check_width(X)
        X = frozen(X) if isinstance(X, np.ndarray) else X
        groups, totals = others.pop("groups", None), others.pop("totals", None)
        # One update of the dictionary, past the frozen class: one-vs-one makes a problem for each pair of classes, and a setter a field is slow.
        self.__dict__.update(
            X=X,
            rows=as_rows(X),
            y=frozen(y),
            cost=frozen(cost),
            kernel=None if isinstance(kernel, Linear) else kernel,
            groups=_one_group(X.shape[0]) if groups is None else sealed(groups),
            totals=_NO_PRICE if totals is None else frozen(totals),
            **others,
        )

    # --- sizes and kinds

    @property
    def n_samples(self) -> int:
        """n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """d, the columns of X."""
        return int(self.X.shape[1])

    @property
    def is_linear(self) -> bool:
        """Whether φ(x) = x, so that w is a vector of n_features numbers."""
        return self.kernel is None

    @cached_property
    def is_hard(self) -> bool:
        """Whether the costs are infinite: a hard margin (or a hard tube)."""
        return bool(self.cost.max() == np.inf)

    @cached_property
    def is_nu(self) -> bool:
        """Whether the free offsets have a price (ν-SVC, ν-SVR, one-class)."""
        return bool(self.totals.any())

    @property
    def validity(self) -> Validity:
        """Whether K is positive semi-definite by construction, by assumption, or not: weak duality needs it to be."""
        if self.kernel is None:
            return Validity.BY_CONSTRUCTION
        return Validity.NOT_VALID if self.refutation else self.kernel.validity

    @cached_property
    def refutation(self) -> str:
        """A sentence that tells what refutes a kernel that was assumed to be valid; empty where nothing has."""
        return "" if self.kernel is None else self.kernel.refutation(self.X)

    def refute(self, sentence: str) -> None:
        """Keep what refutes the kernel, where a proof has found it: from then on no dual value counts."""
        self.__dict__["refutation"] = sentence

    @property
    def left(self) -> dict[str, Any] | None:
        """What solvers have made of the samples and left for problems that differ in C alone; None where no such problem follows."""
        found: dict[str, Any] | None = self.__dict__.get("_left")
        return found

    @property
    def shift(self) -> float:
        """What the regularised intercept adds to each entry of K: s², otherwise 0."""
        return self.intercept_scale**2 if self.intercept == "regularized" else 0.0

    @cached_property
    def dual(self) -> DualTerms:
        """The separable part of the dual, as read-only vectors."""
        terms = self.loss.dual_box(np.asarray(self.y), np.asarray(self.cost))
        return type(terms)(*map(frozen, terms))

    @cached_property
    def _squared_norms(self) -> np.ndarray:
        return frozen(squared_norms(self.rows, self.n_samples))

    @cached_property
    def diagonal(self) -> np.ndarray:
        """Kᵢᵢ (plus s²) in float64."""
        if self.kernel is None:
            return frozen(self._squared_norms + self.shift)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused below, in words
            diagonal = self.kernel.diag(self.X) + self.shift
        if not diagonal.max() <= LARGEST**2:
            raise InvalidInputError(
                f"kernel must have values of at most {LARGEST**2:g} on X; k(x, x) is {diagonal.max():g}. Rescale X or the kernel's parameters."
            )
        return frozen(diagonal)

    @cached_property
    def magnitudes(self) -> Magnitudes:
        """(g, r) of each sample: bounds on the size of its kernel entries, and on their error in float64 (kernels/rounding.py)."""
        if self.kernel is None:
            return linear_magnitudes(self.X, self._squared_norms)
        return magnitudes(self.kernel, self.X)

    @cached_property
    def largest(self) -> float:
        """A number that no √k(xᵢ, xᵢ) is above."""
        g, _ = self.magnitudes
        return float(g.max())

    @property
    def formula(self) -> tuple[Kernel | None, Any]:
        """(kernel, X) as they were stated. Where a table of kernel entries stands for a kernel, this is the kernel and the samples of the table."""
        kernel = self.kernel
        return (kernel, self.X) if kernel is None else kernel.formula(self.X)

    @cached_property
    def entry_work(self) -> float:
        """The work of one kernel entry, in stored entries of X: the unit in which solvers count their work."""
        return row_entries(self.rows) + (0.0 if self.is_linear else _FUNCTION_WORK)

    # --- from β and w to decision values, in float64

    def weights(self, beta: np.ndarray) -> np.ndarray:
        """w = Σ βᵢ xᵢ of a linear problem."""
        return rmatvec(self.X, beta) if beta.any() else np.zeros(self.n_features)

    def expand(self, beta: np.ndarray, X: Any = None) -> np.ndarray:
        """Σⱼ βⱼ k(xᵢ, xⱼ) for each row of X (the training samples if None), never more than a block of K at a time."""
        rows = self.n_samples if X is None else X.shape[0]
        if X is None and self.kernel is not None and rows * rows <= _MANY:
            return self.panels.expand_all(beta)
        (support,) = beta.nonzero()
        if not len(support):
            return np.zeros(rows)
        if self.kernel is None:
            return matvec(self.X if X is None else X, self.weights(beta))
        if len(support) * rows < _MANY:
            vectors = Panels(self.kernel, self.X, np.float64, support)
            return vectors.apply(self.X if X is None else X, beta[support])
        first, which = self.distinct
        beta = np.bincount(which, weights=beta, minlength=len(first))
        support = np.flatnonzero(beta)
        if not len(support):  # the coefficients of equal samples cancel
            return np.zeros(rows)
        vectors = Panels(self.kernel, self.X, np.float64, first[support])
        if X is not None:
            return vectors.apply(X, beta[support])
        if 4 * len(support) < len(first):
            return vectors.apply(self.X if len(first) == rows else self.X[first], beta[support])[which]
        f, others = np.empty(len(first)), np.flatnonzero(beta == 0)
        f[support] = vectors.own(beta[support])  # by the symmetry of K half of the entries are enough
        f[others] = vectors.apply(self.X[first[others]], beta[support])
        return f[which]

    def expand_bounded(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """(f, error): ``expand`` of the training samples, in float64 where βᵢ ≠ 0, elsewhere in float32 with a proven bound on the error of float32.

        ``error`` is None, and f in float64 throughout, where float32 would save little or where the kernel has no such bound.
        """
        found = self._expand_bounded(beta)
        if self.left is not None:
            self.left[_SUMS] = beta.copy(), found[0]
        return found

    def _expand_bounded(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        n = self.n_samples
        moved = int(np.count_nonzero(beta)) if n * n > _MANY else 0
        if self.kernel is None or moved * (n - moved) < _MANY:
            return self.expand(beta), None
        first, which = self.distinct
        merged = np.bincount(which, weights=beta, minlength=len(first))
        support, others = np.flatnonzero(merged), np.flatnonzero(merged == 0)
        if not len(support):
            return self.expand(beta), None
        fast = Panels(self.kernel, self.X, rows=first[support])
        if not fast.has_bounds:
            return self.expand(beta), None
        f, error = np.empty(len(first)), np.zeros(len(first))
        f[support] = Panels(self.kernel, self.X, np.float64, first[support]).own(merged[support])
        values, bounds = fast.apply_bounded(self.X, merged[support, None], first[others])
        f[others], error[others] = values[:, 0], bounds[:, 0]
        return f[which], error[which]

    def known_sums(self, beta: np.ndarray) -> np.ndarray | None:
        """Kβ, where the last proof has computed the sums of a multiple of this β: in float64 at least where its error matters to P. None elsewhere.

        It is for solvers, which begin where a proof has been. No proof asks for it.
        """
        before, f = (self.left or {}).get(_SUMS, (None, None))
        if before is None:
            return None
        multiple = float(before @ beta) / max(float(before @ before), np.finfo(float).tiny)
        error = float(np.abs(beta - multiple * before).max())
        return multiple * f if error <= _SAME * float(np.abs(beta).max()) else None

    @cached_property
    def panels(self) -> Panels:
        """The kernel entries of all samples in float64, kept: a short problem's solver and proof read them many times."""
        return Panels(Linear() if self.kernel is None else self.kernel, self.X, np.float64)

    @cached_property
    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """(first, which): the first sample of each kind of equal rows, and for each sample the place of its kind in ``first``."""
        n = self.n_samples
        return distinct_samples(self.rows, np.zeros(n), np.zeros(n, dtype=np.int64))

    def expand_weights(self, w: np.ndarray) -> np.ndarray:
        """⟨w, xᵢ⟩ of a linear problem."""
        return matvec(self.X, w)

    @property
    def _size(self) -> str:
        """The shape and the storage of X, as every problem's ``repr`` begins."""
        return f"{self.n_samples} x {self.n_features} {'CSR' if sp.issparse(self.X) else 'dense'}"

    def __repr__(self) -> str:
        kernel = "linear" if self.kernel is None else repr(self.kernel)
        return (
            f"Problem({self._size}, {self.loss.name}, {kernel}, "
            f"{self.convention}={self.regularization:g}, intercept={self.intercept!r})"
        )


def _has_both(signs: np.ndarray, weight: np.ndarray) -> bool:
    """Whether both classes have a positive weight."""
    signed = signs * weight
    return signed.min() < 0 < signed.max()
