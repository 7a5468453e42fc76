"""The ν-forms and the one-class machine, as problems that every free-intercept solver and the certificate understand.

A ν-form has its margin ρ (or the width ε of its tube) as one more variable, with a price. In LIBSVM's scaling, with n the sum of the weights:

- one-class: ½‖w‖² + Σ wᵢ max(0, ρ − f(xᵢ)) − νnρ. One group, b = −ρ, Σβ = νn.
- ν-SVC: ½‖w‖² + Σ wᵢ max(0, ρ − yᵢ(f(xᵢ) + b)) − νnρ. Two groups with offsets b ∓ ρ, Σβ = ±νn/2.
- ν-SVR: ½‖w‖² + C Σ wᵢ max(0, |yᵢ − f(xᵢ) − b| − ε) + Cνnε. Each sample twice, groups with offsets b ± ε, Σβ = ±Cνn/2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.data import check_labels, check_matrix, check_targets, check_weights
from gapless.data.rows import frozen
from gapless.data.scale import check_cost
from gapless.errors import InvalidInputError
from gapless.kernels import Kernel, Linear, Panels
from gapless.kernels.rounding import UNIT
from gapless.losses import Shortfall
from gapless.problems.problem import Problem

_OF_SAMPLES = ("diagonal", "magnitudes", "distinct", "panels", "mean_square")  # what does not depend on ν and C
_SOME = 256  # the samples that tell a mean over all of them, evenly spaced


class NuProblem(Problem):
    """A problem with the loss :class:`~gapless.losses.Shortfall`, whose samples fall into groups, each with an offset and its price (``totals``)."""

    def __init__(
        self,
        X: Any,
        signs: np.ndarray,
        target: np.ndarray,
        cost: np.ndarray,
        kernel: Kernel | None,
        groups: np.ndarray,
        totals: list[float],
        nu: float,
        classes: np.ndarray | None = None,
    ) -> None:
        check_cost(cost)  # here already, since the sum of the costs is taken below
        self._set(
            X=X,
            y=signs,
            cost=cost,
            loss=Shortfall(target),
            kernel=kernel,
            intercept="free",
            intercept_scale=1.0,
            convention="C",
            regularization=nu,
            total_weight=float(cost.sum()),
            classes=None if classes is None else frozen(classes),
            groups=groups,
            totals=np.array(totals, dtype=np.float64),
        )

    def share(self, other: NuProblem) -> None:
        """Take over what is known of the samples from a problem that has the same ones, with the same kernel and weights, and another ν or C."""
        self.__dict__.update({name: other.__dict__[name] for name in _OF_SAMPLES if name in other.__dict__})

    def expand_bounded(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """As of any problem; the sums are kept, too, for ``known_sums``."""
        found = super().expand_bounded(beta)
        self.__dict__["_known"] = beta.copy(), found[0]
        return found

    def known_sums(self, beta: np.ndarray) -> np.ndarray | None:
        before, f = self.__dict__.get("_known", (None, None))
        return f if before is not None and np.array_equal(before, beta) else None

    @cached_property
    def mean_square(self) -> float:
        """The mean squared length of the samples; their distance from their mean where several offsets make up for where the origin is.

        It is that of 256 samples that have a cost.
        """
        (used,) = np.nonzero(self.cost > 0)
        some = used[np.arange(min(_SOME, len(used))) * len(used) // min(_SOME, len(used))]
        square = float(self.diagonal[some].mean())
        return square if len(self.totals) == 1 else max(0.0, square - self._mean_entry(some))

    def _mean_entry(self, some: np.ndarray) -> float:
        """The mean of the kernel's entries among some samples: the squared length of their mean."""
        given = None if self.kernel is None else self.panels.given
        if given is not None:
            gram, places = given
            return float(gram[np.ix_(places[some], places[some])].mean())
        panels = Panels(self.kernel or Linear(), self.X, np.float64, some)
        return float(panels.own(np.ones(len(some))).mean()) / len(some)


def one_class(X: Any, *, nu: float = 0.5, kernel: Kernel | None = None, sample_weight: Any = None) -> Problem:
    r"""Separate the samples from the origin: :math:`\min ½‖w‖² + \sum_i w_i \max(0, ρ - f(x_i)) - νnρ`.

    >>> import gapless as gl
    >>> result = gl.solve(gl.nu.one_class([[1.0], [2.0], [3.0], [4.0]], nu=0.5))
    >>> float(result.beta.sum()), round(-result.b, 4)
    (2.0, 7.5)
    """
    nu = _check_nu(nu)
    X = check_matrix(X)
    weight = check_weights(sample_weight, X.shape[0])
    y = np.ones(X.shape[0])
    total = _reachable(nu * float(weight.sum()), weight)
    return NuProblem(X, y, np.zeros_like(y), weight, kernel, np.zeros(len(y), dtype=np.int64), [total], nu)


def nu_classification(
    X: Any, y: Any, *, nu: float = 0.5, kernel: Kernel | None = None, sample_weight: Any = None, box_weight: Any = None
) -> Problem:
    r"""ν-SVC: :math:`\min ½‖w‖² + \sum_i w_i v_i \max(0, ρ - y_i(f(x_i) + b)) - ν'nρ`. ρ is half the difference of the two offsets.

    ``sample_weight`` w counts samples: n is its sum, and a weight of 2 equals the row twice. ``box_weight`` v (class weights, of which the largest
    counts as one) scales the bound of βᵢ and leaves n as it is: whether ν is feasible is judged without v. ν' is ν, except where the bounds of a
    class that v weighs down sum to less than νn/2: then ν'n/2 is that sum.

    >>> import gapless as gl
    >>> result = gl.solve(gl.nu.nu_classification([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1], nu=0.5))
    >>> rho = 0.5 * float(result.offsets[1] - result.offsets[0])
    >>> float(result.beta[2:].sum()), round(rho, 4), (result.w / rho).round(4)
    (1.0, 3.0, array([0.6667]))
    """
    nu = _check_nu(nu)
    X = check_matrix(X)
    signs, classes = check_labels(y, X.shape[0])
    weight = check_weights(sample_weight, X.shape[0])
    share = check_weights(box_weight, X.shape[0])
    box = weight * share / share.max()
    positive = signs > 0
    half = 0.5 * nu * float(weight.sum())
    if half > min(float(weight[positive].sum()), float(weight[~positive].sum())) * (1 + 1e-12):
        raise InvalidInputError(
            f"specified nu is infeasible: nu={nu:g} asks for {half:g} weighted support vectors a class, and the smaller class has fewer."
        )
    half = min(_reachable(half, box[positive]), _reachable(half, box[~positive]))
    groups = (~positive).astype(np.int64)
    return NuProblem(X, signs, np.zeros_like(signs), box, kernel, groups, [half, -half], nu, classes)


def largest_nu(positive: np.ndarray, weight: np.ndarray | None) -> float:
    """The largest ν that ν-SVC takes for these classes: 2 min(n₊, n₋)/n, where n counts weights; None is weight one.

    >>> import numpy as np
    >>> largest_nu(np.array([True, False, False]), None), largest_nu(np.array([True, False, False]), np.array([2.0, 1.0, 1.0]))
    (0.6666666666666666, 1.0)
    """
    share = float(positive.mean()) if weight is None else float(weight[positive].sum()) / float(weight.sum())
    return 2.0 * min(share, 1.0 - share)


def nu_regression(
    X: Any, y: Any, *, nu: float = 0.5, C: float = 1.0, kernel: Kernel | None = None, sample_weight: Any = None
) -> Problem:
    r"""ν-SVR: :math:`\min ½‖w‖² + C \sum_i w_i \max(0, |y_i - f(x_i) - b| - ε) + Cνnε`, on the samples written twice.

    The first half of β is α (errors above the tube), the second half −α*; their sum is the coefficient of a sample.
    """
    nu = _check_nu(nu)
    X = check_matrix(X)
    n = X.shape[0]
    target = check_targets(y, n)
    weight = check_weights(sample_weight, n)
    half = 0.5 * C * nu * float(weight.sum())
    twice = sp.vstack([X, X], format="csr") if sp.issparse(X) else np.vstack([X, X])
    signs = np.repeat([1.0, -1.0], n)
    groups = np.repeat(np.array([0, 1]), n)
    return NuProblem(twice, signs, np.tile(target, 2), C * np.tile(weight, 2), kernel, groups, [half, -half], nu)


def _reachable(total: float, box: np.ndarray) -> float:
    """``total``, or where Σ boxᵢ is less than it, a float64 that Σ boxᵢ reaches in exact arithmetic.

    Where no β with 0 ≤ βᵢ ≤ boxᵢ had the sum ``total``, the dual would have no feasible point.

    >>> import numpy as np
    >>> box = np.full(10, 0.1)  # as numbers of float64, a tenth is a little more than 1/10, and 0.1 + 0.1 + ... = 1 + 5.6e-17
    >>> _reachable(1.0, box), _reachable(2.0, box), _reachable(0.5, box)
    (1.0, 1.0, 0.5)
    """
    most = math.fsum(box.tolist())  # the exact sum, rounded once: within a factor of 1 ± UNIT of it
    if total <= most * (1.0 - 4.0 * UNIT):
        return total
    total, exact = min(total, most), sum(map(Fraction, box.tolist()), Fraction(0))
    return total if Fraction(total) <= exact else math.nextafter(total, 0.0)


def _check_nu(nu: float) -> float:
    if not (isinstance(nu, Real) and 0 < nu <= 1):
        raise InvalidInputError(f"nu must be a number above 0 and at most 1; got {nu!r}.")
    return float(nu)
