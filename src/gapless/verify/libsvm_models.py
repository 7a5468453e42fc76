"""LIBSVM's models: the ``svm_model`` of its Python package and its text files."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.data import check_matrix, check_weights
from gapless.data.regular import odd_kind
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.estimators.multiclass import pairs, unpack
from gapless.kernels import RBF, Constant, Kernel, Linear, Polynomial, Sigmoid
from gapless.losses import EpsilonInsensitive
from gapless.problems import nu as nu_forms
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.verify.tube_of_model import nu_regression_point

_MOST_FEATURES = 2**32 - 1  # the largest index that is read; larger ones are taken for damage
_TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")


@dataclass(frozen=True)
class LibsvmModel:
    """The content of a LIBSVM model file."""

    svm_type: str
    kernel: Kernel
    labels: list[int]
    n_support: list[int]
    rho: list[float]
    coefficients: np.ndarray  # (classes − 1, n_SV), LIBSVM's layout
    vectors: sp.csr_array


def is_libsvm_model(subject: Any) -> bool:
    """Whether this is an ``svm_model`` of LIBSVM's Python package."""
    return type(subject).__name__ == "svm_model" and hasattr(subject, "param")


def parts_of_libsvm(
    subject: Any, X: Any, y: Any, sample_weight: Any = None, *, C: Any = None, nu: Any = None, epsilon: Any = None
) -> list[tuple[Problem, Point]]:
    """One (problem, point) for each subproblem of a LIBSVM model."""
    if is_libsvm_model(subject):
        from libsvm.svmutil import svm_save_model

        param = subject.param
        # LIBSVM sets the parameters of the training in a model that it has trained, and leaves them unset in one that it has loaded (free_sv).
        if not subject.free_sv:
            C, nu, epsilon = (
                own if given is None else given for own, given in ((param.C, C), (param.nu, nu), (param.p, epsilon))
            )
            # The array of class weights belongs to the parameter object of the training, which may be gone: only their number can be read.
            if param.nr_weight and sample_weight is None:
                raise InvalidInputError(
                    "the LIBSVM model was trained with class weights (-wi), which it does not keep; give sample_weight, one for each row of X."
                )
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            svm_save_model(path, subject)
            model = read_libsvm_model(path)
    else:
        model = read_libsvm_model(subject)
    needed = {
        "c_svc": ("C",),
        "nu_svc": ("nu",),
        "one_class": ("nu",),
        "epsilon_svr": ("C", "epsilon"),
        "nu_svr": ("C", "nu"),
    }
    given = {"C": C, "nu": nu, "epsilon": epsilon}
    missing = [name for name in needed[model.svm_type] if given[name] is None]
    if missing:
        raise InvalidInputError(
            f"a LIBSVM model file does not store {' or '.join(missing)}; give it: certify(model, X, y, {missing[0]}=…)."
        )
    X = check_matrix(X)
    weight = check_weights(sample_weight, X.shape[0])
    if model.vectors.shape[1] > X.shape[1]:
        raise InvalidInputError(
            f"X must have at least the model's {model.vectors.shape[1]} features; got {X.shape[1]}."
        )
    if model.svm_type in ("c_svc", "nu_svc"):
        return _classifier_parts(model, X, np.asarray(y), weight, C, nu)
    rows = _match(model.vectors, X, np.zeros(X.shape[0]), np.zeros(model.vectors.shape[0]))
    beta = np.zeros(X.shape[0])
    np.add.at(beta, rows, model.coefficients[0])
    offsets = np.array([-model.rho[0]])
    if model.svm_type == "one_class":
        problem = nu_forms.one_class(X, nu=nu, kernel=model.kernel, sample_weight=weight)
        return [(problem, Point(beta=beta, offsets=offsets))]
    if model.svm_type == "nu_svr":
        problem = nu_forms.nu_regression(X, y, nu=nu, C=C, kernel=model.kernel, sample_weight=weight)
        return [(problem, nu_regression_point(problem, beta, float(offsets[0])))]
    loss = EpsilonInsensitive(epsilon=epsilon)
    problem = Problem(X, y, loss=loss, kernel=model.kernel, C=C, sample_weight=weight)
    return [(problem, Point(beta=beta, offsets=offsets))]


def _classifier_parts(
    model: LibsvmModel, X: Any, y: np.ndarray, weight: np.ndarray, C: Any, nu: Any
) -> list[tuple[Problem, Point]]:
    labels = np.asarray(model.labels)
    if not np.isin(y, labels).all():
        raise InvalidInputError("y has labels that the model was not trained on.")
    codes = np.array([int(np.flatnonzero(labels == label)[0]) for label in y])
    of_vector = np.repeat(np.arange(len(labels)), model.n_support)
    rows = _match(model.vectors, X, codes, of_vector)
    coefficients = unpack(model.coefficients, np.asarray(model.n_support))
    parts = []
    for k, (i, j) in enumerate(pairs(len(labels))):
        member = np.flatnonzero((codes == i) | (codes == j))
        beta = np.zeros(len(codes))
        np.add.at(beta, rows, coefficients[:, k])
        positive = codes[member] == i
        if model.svm_type == "nu_svc":
            problem = nu_forms.nu_classification(
                X[member], positive, nu=nu, kernel=model.kernel, sample_weight=weight[member]
            )
            scale = float(problem.totals[0]) / max(0.5 * float(np.abs(beta[member]).sum()), 1e-300)
            b = -scale * model.rho[k]
            parts.append((problem, Point(beta=scale * beta[member], offsets=np.array([b - scale, b + scale]))))
        else:
            problem = Problem(X[member], positive, kernel=model.kernel, C=C, sample_weight=weight[member])
            parts.append((problem, Point(beta=beta[member], offsets=np.array([-model.rho[k]]))))
    return parts


def _match(vectors: sp.csr_array, X: Any, groups: np.ndarray, vector_groups: np.ndarray) -> np.ndarray:
    """The row of X that each support vector is, among the rows of its own class; values are compared to eight digits, to which files may round."""

    def key(matrix: Any, row: int, group: float) -> tuple[Any, ...]:
        entries = sp.coo_array(matrix[[row]])
        return (
            int(group),
            *((int(c), f"{v:.8g}") for c, v in sorted(zip(entries.col, entries.data, strict=True)) if v != 0),
        )

    places: dict[tuple[Any, ...], list[int]] = {}
    for row in range(X.shape[0]):
        places.setdefault(key(X, row, groups[row]), []).append(row)
    matched = []
    for row in range(vectors.shape[0]):
        found = places.get(key(vectors, row, vector_groups[row]))
        if not found:
            raise InvalidInputError(
                f"support vector {row + 1} of the LIBSVM model is not a row of X (of its class): the model was trained on other data."
            )
        matched.append(found.pop(0) if len(found) > 1 else found[0])
    return np.array(matched, dtype=np.int64)


def read_libsvm_model(path: str | PathLike[str]) -> LibsvmModel:
    """Read a model file in LIBSVM's text format; the error for another file names the line that is wrong."""
    odd = odd_kind(path)
    if odd is not None:
        raise InvalidInputError(f"the LIBSVM model {path} cannot be read: it is {odd}, not a file.")
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"the LIBSVM model {path} cannot be read: {error}.") from error
    header: dict[str, list[str]] = {}
    start = None
    for number, line in enumerate(lines):
        name, *words = line.split() or [""]
        if name == "SV":
            start = number + 1
            break
        header[name] = words
    if start is None or header.get("svm_type", [""])[:1] not in [[each] for each in _TYPES]:
        raise InvalidInputError(f"{path} is not a LIBSVM model: it lacks a line svm_type or a line SV.")
    svm_type, kernel = header["svm_type"][0], _kernel(header, str(path))
    is_classifier = svm_type in ("c_svc", "nu_svc")
    (classes,), (total,) = (_numbers(header, name, str(path), int, 1) for name in ("nr_class", "total_sv"))
    # Each class has its label in the header, which bounds the number of classes by the file's own words.
    if not 2 <= classes <= 2 + len(header.get("label", [])) or (not is_classifier and classes != 2):
        raise InvalidInputError(f"{path} is not a LIBSVM model: its nr_class is {classes}.")
    labels = _numbers(header, "label", str(path), int, classes) if is_classifier else []
    n_support = _numbers(header, "nr_sv", str(path), int, classes) if is_classifier else [total]
    rho = _numbers(header, "rho", str(path), float, classes * (classes - 1) // 2 if is_classifier else 1)
    vectors, coefficients = _support_vectors(lines[start:], start + 1, classes - 1, str(path))
    if total != vectors.shape[0] or min(n_support) < 0 or sum(n_support) != total:
        raise InvalidInputError(
            f"{path} is not a LIBSVM model: it has {vectors.shape[0]} support vectors, but says total_sv {total} and nr_sv {n_support}."
        )
    return LibsvmModel(
        svm_type=svm_type,
        kernel=kernel,
        labels=labels,
        n_support=n_support,
        rho=rho,
        coefficients=coefficients.T,
        vectors=vectors,
    )


def _support_vectors(lines: list[str], first: int, width: int, path: str) -> tuple[sp.csr_array, np.ndarray]:
    """(vectors, coefficients), with a row for each support vector; each line of the file begins with ``width`` coefficients."""
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    coefficients: list[list[float]] = []
    for number, line in enumerate(lines, start=first):
        words = line.split()
        try:
            coefficients.append([_finite(word) for word in words[:width]])
            if len(coefficients[-1]) != width:
                raise ValueError(f"it has {len(words)} words, and {width} coefficients were expected")
            for word in words[width:]:
                index, _, value = word.partition(":")
                column = _whole(index) - 1
                if not 0 <= column < _MOST_FEATURES:
                    raise ValueError(f"its index {index} is not between 1 and {_MOST_FEATURES:,}")
                rows.append(len(coefficients) - 1)
                columns.append(column)
                values.append(_finite(value))
        except ValueError as error:
            raise InvalidInputError(f"line {number} of {path} is not a support vector: {error}.") from error
    shape = (len(coefficients), max(columns, default=0) + 1)
    vectors = sp.csr_array((np.array(values, dtype=np.float64), (rows, columns)), shape=shape)
    return vectors, np.array(coefficients, dtype=np.float64).reshape(len(coefficients), width)


def _whole(text: str) -> int:
    if len(text) > 18:
        raise ValueError(f"{text[:20]}… is too large a number")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not finite")
    return value


def _numbers(header: dict[str, list[str]], name: str, path: str, kind: type, count: int) -> list[Any]:
    """The numbers of a line of the header, which must be ``count``."""
    words = header.get(name, [])
    try:
        values = [_whole(word) if kind is int else _finite(word) for word in words]
    except ValueError as error:
        raise InvalidInputError(f"{path} is not a LIBSVM model: its line {name} cannot be read: {error}.") from error
    if len(values) != count:
        raise InvalidInputError(
            f"{path} is not a LIBSVM model: its line {name} must have {count} numbers; it has {len(values)}."
        )
    return values


def _kernel(header: dict[str, list[str]], path: str) -> Kernel:
    def number(name: str, default: float) -> float:
        return _numbers(header, name, path, float, 1)[0] if name in header else default

    kind = " ".join(header.get("kernel_type", []))
    match kind:
        case "linear":
            return Linear()
        case "rbf":
            return RBF(gamma=number("gamma", 1.0))
        case "polynomial":
            (degree,) = _numbers(header, "degree", path, int, 1) if "degree" in header else (3,)
            return (
                Polynomial(degree=degree, gamma=number("gamma", 1.0), coef0=number("coef0", 0.0))
                if degree
                else Constant(1.0)
            )
        case "sigmoid":
            return Sigmoid(gamma=number("gamma", 1.0), coef0=number("coef0", 0.0))
    raise UnsupportedError(
        f"{path} has the kernel {kind or 'of no name'}; certify reads linear, polynomial, rbf and sigmoid."
    )
