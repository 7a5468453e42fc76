"""What the kernel estimators share: from input to samples and kernel, scikit-learn's attributes, and prediction."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length

from gapless import _native
from gapless.data.labels import check_objects
from gapless.data.namespace import NamespaceMixin
from gapless.data.products import row_products
from gapless.data.rows import as_rows, kept_matrix
from gapless.data.structure import check_kind, check_structure
from gapless.data.validate import as_weights
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.estimators.every_pair import EveryPair
from gapless.estimators.kernel_fold import KernelFold
from gapless.estimators.kernel_spec import (
    KernelSpec,
    call_kernel,
    dense_if_small,
    gram_samples,
    in_storage_of,
    resolve_kernel,
    small_gram,
    sparse_as_configured,
    stored_like,
    takes_anything,
)
from gapless.estimators.parameters import KERNEL, Rule, check_parameters
from gapless.estimators.report import NOT_FINITE, whose_words
from gapless.estimators.solved import Solved
from gapless.estimators.solving import SolvingMixin
from gapless.estimators.training_data import require_targets, take_features, take_training_data
from gapless.kernels import Kernel, Linear, Panels
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.result import Status
from gapless.solvers.smo.samples import FEW

_MANY = 2**21  # a prediction of at least so many kernel entries (some milliseconds) is tried in float32 first; by hand


class KernelEstimator(NamespaceMixin, SolvingMixin, BaseEstimator):
    """Base of SVC, NuSVC, SVR, NuSVR and OneClassSVM."""

    _rules: ClassVar[dict[str, Rule]] = KERNEL
    _in_samples: ClassVar[bool] = True
    _given: EveryPair | None = None  # what a search has solved of this fit already; set for one fit
    _fold: KernelFold | None = (
        None  # the rows of this fit, where a search has taken them for several fits; set for one fit
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _reads_arrays(self) -> bool:
        return not takes_anything(self.kernel)

    def _take(self, X: Any, y: Any) -> tuple[Any, Any]:
        """(X, y), checked; where the kernel is a function that may take anything, X is left as it was given."""
        check_parameters(self, self._rules)
        if self._fold is not None:
            return self._fold.training_data(self)
        if sp.issparse(X) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        if takes_anything(self.kernel):
            check_structure(X)
            require_targets(self, y)
            if y is not None:
                check_kind(y, "y")
                check_objects(y, "y")
                check_consistent_length(X, y)
            self.shape_fit_ = X.shape if hasattr(X, "shape") else (len(X),)
        else:
            X, y = take_training_data(self, X, y)
            self.shape_fit_ = X.shape
        self._sparse = sp.issparse(X)
        return X, y

    def _weights(self, sample_weight: Any) -> np.ndarray:
        """The sample weights; negative ones become zero, and samples of weight zero count as absent, as in LIBSVM."""
        n = self.shape_fit_[0]
        if sample_weight is None:
            return np.ones(n)
        weight = as_weights(sample_weight)
        if weight.shape != (n,):
            raise InvalidInputError(
                f"sample_weight and X have incompatible shapes: {weight.shape} vs {self.shape_fit_}."
            )
        weight = np.maximum(weight, 0.0)
        if not weight.any():
            raise InvalidInputError("Invalid input - all samples have zero or negative weights.")
        return weight

    def _samples(self, X: Any, weight: np.ndarray, codes: np.ndarray | None = None) -> tuple[Any, KernelSpec]:
        """The samples as the problem sees them, and the kernel on them.

        A small problem is solved on its Gram matrix, which is computed once for all subproblems; so is a problem whose kernel is a function. A hard
        margin keeps the features where it can, since the test for separability is sharper on features, and a solver that was named gets the problem
        as it is. With ``codes``, the classes of the samples, the samples of one class stand side by side in the matrix, so that a subproblem of two
        classes reads little of it.
        """
        resolved = partial(self._resolved, X, weight, codes)
        if self._chain is not None:
            spec, samples, own = self._chain.samples(resolved)
        else:
            spec, samples, own = resolved() if self._fold is None else self._fold.samples(self, resolved)
        self._gamma = spec.gamma
        self._kernel_object = spec.kernel
        self._X_fit = X if spec.pairwise and callable(self.kernel) else None
        return samples, own

    def _resolved(self, X: Any, weight: np.ndarray, codes: np.ndarray | None) -> tuple[KernelSpec, Any, KernelSpec]:
        """(the kernel that the parameters name, the samples as the problem sees them, the kernel on those)."""
        spec = resolve_kernel(self, X, weight)
        if spec.pairwise:
            samples, kernel = gram_samples(
                call_kernel(self.kernel, X, X) if callable(self.kernel) else X, self.shape_fit_[0]
            )
            return spec, samples, KernelSpec(kernel, 0.0, True)
        X = dense_if_small(X)
        if self.solver != "auto" or getattr(self, "C", 1.0) == math.inf or self._given is not None:
            return spec, X, spec
        order = None if codes is None else np.argsort(codes, kind="stable")
        table = None if spec.kernel is None else small_gram(spec.kernel, X, order, lambda: self._room_for(codes))
        if table is None:
            return spec, X, spec
        places = np.arange(X.shape[0], dtype=np.float64)
        if order is not None:
            places[order] = places.copy()
        return spec, places[:, None], KernelSpec(table, spec.gamma, False)

    def _start_of(self, start: Solved | None, problem: Problem) -> Point | None:
        if self._fold is None or self.warm_start:
            return super()._start_of(start, problem)
        return self._fold.start(problem)

    def _features(self, X: Any) -> Any:
        """The rows of a prediction, checked, unless a search has checked them."""
        return X if self._fold is not None and X is self._fold.test else take_features(self, X, reset=False)

    def _room_for(self, codes: np.ndarray | None) -> float:
        """The bytes that a Gram matrix may take where computing it is not quick: where all pairs of classes are small, their own Gram matrices would
        have twice as many entries together, so that the one matrix for all pairs saves time.
        """
        # Samples of weight zero have no class: their code is −1.
        if codes is None or np.sort(np.bincount(codes[codes >= 0]))[-2:].sum() > FEW:
            return 0.0
        return float(getattr(self, "cache_size", 0.0)) * 2**20

    def _keep_support(self, X: Any, support: np.ndarray, spec: KernelSpec) -> None:
        self.support_ = support
        self.support_vectors_ = np.empty((0, 0)) if spec.pairwise else sparse_as_configured(X[support])

    def _kernel_values(self, X: Any, coefficients: np.ndarray) -> np.ndarray:
        """Σ over support vectors v of k(x, v) · coefficients, in float64; each column of coefficients is a model."""
        if self._kernel_object is None:
            K = call_kernel(self.kernel, stored_like(self._X_fit, X), self._X_fit) if callable(self.kernel) else X
            return row_products(self._gram_rows(K), coefficients)
        return _expand(self._kernel_object, *self._against_support(X, coefficients), coefficients)

    def _signs(self, X: Any, coefficients: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """``_kernel_values`` plus offsets where only signs matter: in float32, except for the values whose error might cross zero."""
        if self._kernel_object is None:
            return self._kernel_values(X, coefficients) + offsets
        X, vectors = self._against_support(X, coefficients)
        slow = X.shape[0] * vectors.shape[0] >= _MANY and not _has_weights(self._kernel_object, coefficients)
        fast = Panels(self._kernel_object, vectors) if slow else None
        if fast is None or not fast.has_bounds:
            return _expand(self._kernel_object, X, vectors, coefficients) + offsets
        values, bounds = np.empty((2, X.shape[0], coefficients.shape[1]))
        for part, rows in in_storage_of(vectors, X):
            values[part], bounds[part] = fast.apply_bounded(rows, coefficients)
        values += offsets
        # A value that float32 cannot hold is NaN or infinite, and decides nothing either.
        close = np.flatnonzero(~((np.abs(values) > bounds) & np.isfinite(values)).all(axis=1))
        if len(close):
            values[close] = _expand(self._kernel_object, X[close], vectors, coefficients) + offsets
        return values

    def _against_support(self, X: Any, coefficients: np.ndarray) -> tuple[Any, Any]:
        """(X, support vectors); the support vectors are dense where they are small, whatever X is."""
        vectors = dense_if_small(kept_matrix(self.support_vectors_, "support_vectors_"))
        X = self._features(X)
        if vectors.shape[0] != coefficients.shape[0]:
            raise InvalidInputError(f"The internal representation of {type(self).__name__} was altered")
        if vectors.shape[1] != X.shape[1]:
            raise InvalidInputError(
                f"support_vectors_ was altered: it must have {X.shape[1]} columns, one for each feature; got {vectors.shape[1]}."
            )
        return X, vectors

    def _squares(self, X: Any) -> np.ndarray:
        """k(x, x) for each row x of X."""
        if self._kernel_object is not None:
            X = self._features(X)
            squares = np.empty(X.shape[0])
            with np.errstate(over="ignore", invalid="ignore"):  # an infinite interval is a valid interval
                for part, rows in in_storage_of(
                    dense_if_small(kept_matrix(self.support_vectors_, "support_vectors_")), X
                ):
                    squares[part] = self._kernel_object.diag(rows)
            return squares
        if not callable(self.kernel):
            raise UnsupportedError(
                "decision_interval needs k(x, x), which the columns of a precomputed kernel do not hold."
            )
        X = stored_like(self._X_fit, X)
        return call_kernel(self.kernel, X, X).diagonal()

    def _gram_rows(self, X: Any) -> np.ndarray:
        """The columns of the support vectors, from a Gram matrix with a column for each training sample or for each support vector alone."""
        check_kind(X, "X")
        X = check_array(X, dtype=np.float64)
        if X.shape[1] == self.shape_fit_[0]:
            return X[:, self.support_]
        if X.shape[1] == len(self.support_):
            return X
        raise InvalidInputError(
            f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.shape_fit_[0]} features as input: a kernel value for each"
            f" training sample (or for each of the {len(self.support_)} support vectors alone)."
        )

    @property
    def coef_(self) -> Any:
        """Weights of the features where ``kernel="linear"``."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = self._get_coef()
        (coef.data if sp.issparse(coef) else coef).flags.writeable = False
        return coef

    def _get_coef(self) -> Any:
        coef = kept_matrix(self.dual_coef_, "dual_coef_") @ kept_matrix(self.support_vectors_, "support_vectors_")
        return type(self.dual_coef_)(coef) if sp.issparse(coef) else coef

    def _store_model(self, dual_coef: np.ndarray, intercept: np.ndarray, proven: bool) -> None:
        """Keep the coefficients and intercepts that predictions are made from, with LIBSVM's signs; ``proven`` says that all subproblems are."""
        if not (np.isfinite(dual_coef).all() and np.isfinite(intercept).all()):
            raise InvalidInputError(NOT_FINITE)
        self._dual_coef_, self._intercept_ = self._store_dual(dual_coef), intercept
        self.fit_status_ = int(not proven)

    def _store_dual(self, dual_coef: np.ndarray) -> Any:
        """The dual coefficients, sparse where the input is sparse, which is scikit-learn's convention."""
        dual_coef = dual_coef + 0.0  # adding 0 turns −0 into 0
        return (
            sparse_as_configured(sp.csr_array(dual_coef))
            if self._sparse and self._kernel_object is not None
            else dual_coef
        )

    @property
    def _kkt_tol(self) -> float:
        """The bound on the KKT violation. LIBSVM ends somewhere below ``tol``; a quarter of ``tol`` is as good or better."""
        return self.tol / 4

    @property
    def _max_iter(self) -> float | None:
        return None if self.max_iter == -1 else self.max_iter

    def _opening(self, status: Status) -> str:
        bound = f" (max_iter={self.max_iter})" if status is Status.MAX_ITER and self.max_iter != -1 else ""
        return (
            f"Solver terminated early{bound}.  Consider pre-processing your data with StandardScaler or MinMaxScaler. "
            f"({whose_words(self)})"
        )

    def _dense_dual(self) -> np.ndarray:
        dual = kept_matrix(self._dual_coef_, "dual_coef_")
        return dual.toarray() if sp.issparse(dual) else dual

    @property
    def n_support_(self) -> np.ndarray:
        """The number of support vectors of each class; of a regression or a one-class machine an array with one number."""
        if not hasattr(self, "_n_support"):
            raise AttributeError("n_support_ is known after fit")
        return self._n_support


def _expand(kernel: Kernel, X: Any, vectors: Any, coefficients: np.ndarray) -> np.ndarray:
    """Σ over the vectors v of k(x, v) · coefficients, with the same bits for a sample alone and for a sample of a batch."""
    out = np.zeros((X.shape[0], coefficients.shape[1]))
    if len(coefficients) and _has_weights(kernel, coefficients):
        w = np.empty((vectors.shape[1], 1))
        _native.rmatvec(as_rows(vectors), vectors.shape[1], np.ascontiguousarray(coefficients), w)
        for part, rows in in_storage_of(vectors, X):
            out[part] = row_products(rows, w)
    elif len(coefficients):
        panels = Panels(kernel, vectors, np.float64, repeatable="apply")
        for part, rows in in_storage_of(vectors, X):
            out[part] = panels.apply(rows, coefficients)
    return out


def _has_weights(kernel: Kernel, coefficients: np.ndarray) -> bool:
    """Whether f is computed as ⟨w, x⟩: of one model with a linear kernel, whose w takes no longer than the kernel values of a single sample."""
    return isinstance(kernel, Linear) and coefficients.shape[1] == 1
