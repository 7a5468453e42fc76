"""Samples from a LIBSVM-format, CSV, Parquet or .npz file; a mistake in a text file is named with its line."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from gapless.data.npz import read_arrays
from gapless.data.regular import odd_kind
from gapless.data.samples import Samples, as_integers, is_finite_text, is_number_text
from gapless.data.svmlight import read_svmlight
from gapless.errors import InvalidInputError, MissingDependencyError

_OPENERS = {".gz": gzip.decompress, ".bz2": bz2.decompress}
_DELIMITERS = ",;\t"
CSV_SUFFIXES = (".csv", ".tsv")
SVMLIGHT_SUFFIXES = (".libsvm", ".svm", ".svmlight")
# The first four bytes of an .npz file (a ZIP archive) and of a Parquet file.
NPZ_MAGIC, PARQUET_MAGIC = b"PK\x03\x04", b"PAR1"
# Letters: NumPy stores all labels at the width of the longest, four bytes a letter, so that one damaged cell would take memory for every sample.
_LONGEST_LABEL = 1_000
_CSR_PARTS = ("data", "indices", "indptr", "shape")


@dataclass(frozen=True)
class Wanted:
    """What the caller expects of a file."""

    label_column: str | int | None
    numeric_labels: bool
    labelled: bool
    n_features: int | None

    def has_label(self, width: int) -> bool:
        """Whether a table of this many columns has one for the label."""
        if self.label_column is not None:
            return True
        return self.labelled if self.n_features is None else width != self.n_features


def read_samples(
    source: str | Path | BinaryIO,
    *,
    label_column: str | int | None = None,
    numeric_labels: bool = False,
    labelled: bool = True,
    n_features: int | None = None,
) -> Samples:
    r"""Read a LIBSVM-format (``label index:value …``), CSV, Parquet or .npz file, a text also compressed (.gz, .bz2).

    A text's format is taken from the suffix (.csv, .tsv, .svm, .libsvm, .svmlight) or else from the first line. In CSV the delimiter is a comma, a
    semicolon or a tab, and a first line without any number in its feature columns is a header. In CSV and Parquet the label is the last column unless
    ``label_column`` gives its name or its number (from 0; negative from the end); with ``labelled=False`` there is no label unless ``label_column``
    names one. A .npz file holds the arrays X and y, or y and the parts of a CSR matrix: data, indices, indptr, shape. Labels are numbers where all of
    them can be read as numbers, else strings; ``numeric_labels`` refuses strings.

    ``n_features`` is the number of features that a model expects: samples in LIBSVM format, which leaves out zeros, are padded with zeros, and a
    table of exactly that many columns has no labels.

    >>> import io
    >>> samples = read_samples(io.BytesIO(b"kind,height,width\nyes,1,2\nno,3,4\n"), label_column="kind")
    >>> samples.X.tolist(), samples.y.tolist(), samples.feature_names
    ([[1.0, 2.0], [3.0, 4.0]], ['yes', 'no'], ('height', 'width'))
    >>> read_samples(io.BytesIO(b"+1 1:0.5 3:2\n-1 2:1\n"), n_features=4).X.toarray().tolist()
    [[0.5, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    name, content = _content(source)
    wanted = Wanted(label_column, numeric_labels, labelled, n_features)
    if content.startswith(NPZ_MAGIC):
        samples = _read_npz(name, content, wanted)
    elif content.startswith(PARQUET_MAGIC):
        samples = _read_parquet(name, content, wanted)
    else:
        samples = _read_text(name, content, wanted)
    return samples if n_features is None else with_width(name, samples, n_features)


def with_width(name: str, samples: Samples, n_features: int) -> Samples:
    """The samples with as many features as a model has: a narrower sparse matrix is padded with zeros, every other width is refused."""
    X: Any = samples.X
    n, width = X.shape
    if width > n_features or (width < n_features and not sp.issparse(X)):
        raise InvalidInputError(f"{name} has {width} features, but the model was trained on {n_features}.")
    if width == n_features:
        return samples
    return Samples(sp.csr_array((X.data, X.indices, X.indptr), shape=(n, n_features)), samples.y)


def _read_text(name: str, content: bytes, wanted: Wanted) -> Samples:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(f"{name} is not a text file in UTF-8: line {line} cannot be read.") from None
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), None)
    if first is None:
        raise InvalidInputError(f"{name} holds no samples.")
    if is_csv(name, first):
        return _read_csv(name, text, _delimiter(first), wanted)
    refuse_label_column(name, wanted)
    return read_svmlight(name, content)


def refuse_label_column(name: str, wanted: Wanted) -> None:
    """Refuse a label column for LIBSVM's format, which has no columns to choose from."""
    if wanted.label_column is not None:
        raise InvalidInputError(
            f"label_column is for CSV and Parquet files; {name} is in LIBSVM format, where the label comes first."
        )


def _content(source: str | Path | BinaryIO) -> tuple[str, bytes]:
    if not isinstance(source, (str, Path)):
        return str(getattr(source, "name", "the input")), source.read()
    path = Path(source)
    odd = odd_kind(path, pipes=True)
    if odd is not None:
        raise InvalidInputError(f"{path} is {odd}, not a file.")
    try:
        content = path.read_bytes()
        return path.name, _OPENERS[path.suffix](content) if path.suffix in _OPENERS else content
    except FileNotFoundError:
        raise InvalidInputError(f"{path} does not exist.") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{path} is a folder, not a file.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}.") from None


def is_csv(name: str, first: str) -> bool:
    """Whether a text is CSV and not in LIBSVM format, by its name or else by its first line."""
    suffixes = Path(name).suffixes
    if any(suffix in suffixes for suffix in CSV_SUFFIXES):
        return True
    if any(suffix in suffixes for suffix in SVMLIGHT_SUFFIXES):
        return False
    tokens = first.split()
    return not (len(tokens) > 1 and ":" in tokens[1]) and any(mark in first for mark in _DELIMITERS)


# --- CSV


def _read_csv(name: str, text: str, delimiter: str, wanted: Wanted) -> Samples:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    try:
        rows = [
            (reader.line_num, [cell.strip() for cell in row]) for row in reader if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise InvalidInputError(f"{name}, line {reader.line_num}: it cannot be read as CSV: {error}.") from None
    if not rows:
        raise InvalidInputError(f"{name} holds no samples, only empty cells.")
    width = len(rows[0][1])
    if wanted.has_label(width) and width < 2:
        raise InvalidInputError(
            f"{name}, line {rows[0][0]}: a row needs a label and at least one feature; got one cell."
        )
    label = _label_position(name, rows[0][1], wanted)
    # One number makes the first line a line of data, since such a line may hold a typing error too.
    named = isinstance(wanted.label_column, str) and not _is_whole(wanted.label_column)
    is_header = named or not any(is_number_text(cell) for j, cell in enumerate(rows[0][1]) if j != label)
    header = rows[0][1] if is_header else None
    if header is not None:
        rows = rows[1:]
    if not rows:
        raise InvalidInputError(f"{name} holds no samples, only a header.")
    for number, row in rows:
        if len(row) != width:
            raise InvalidInputError(
                f"{name}, line {number}: expected {width} cells as in the first line; got {len(row)}."
            )
    numbers = [number for number, _ in rows]
    # Python's texts keep their own lengths; in an array of NumPy's text type one long cell would widen all others.
    cells = np.array([row for _, row in rows], dtype=object)
    columns = [j for j in range(width) if j != label]
    titles = [f"column {j}" if header is None else f"column {header[j]!r}" for j in range(width)]
    X = _as_numbers(cells[:, columns])
    if X is None:
        raise InvalidInputError(f"{name}, {_first_bad_cell(cells[:, columns], numbers, [titles[j] for j in columns])}")
    names = None if header is None else tuple(header[j] for j in columns)
    if label is None:
        return Samples(X, np.empty(0), names)
    y = _as_numbers(cells[:, label])
    if y is None and wanted.numeric_labels:
        raise InvalidInputError(f"{name}, {_first_bad_cell(cells[:, [label]], numbers, [titles[label]])}")
    missing = np.flatnonzero(cells[:, label] == "")
    if len(missing):
        raise InvalidInputError(f"{name}, line {numbers[missing[0]]}: the label in {titles[label]} is empty.")
    title = None if header is None else header[label]
    if y is not None:
        return Samples(X, as_integers(y), names, title)
    longest = max(range(len(rows)), key=lambda i: len(cells[i, label]))
    if len(cells[longest, label]) > _LONGEST_LABEL:
        raise InvalidInputError(
            f"{name}, line {numbers[longest]}: the label in {titles[label]} must have at most {_LONGEST_LABEL:,} letters; "
            f"it has {len(cells[longest, label]):,}."
        )
    return Samples(X, cells[:, label].astype(str), names, title)


def _label_position(name: str, titles: Sequence[str], wanted: Wanted) -> int | None:
    """The number of the label's column; None where the table has no labels. ``titles`` is the first line, or the columns' names."""
    width, column = len(titles), wanted.label_column
    if not wanted.has_label(width):
        return None
    if isinstance(column, str) and not _is_whole(column):
        if column not in titles:
            raise InvalidInputError(f"label_column {column!r} is not in the first line of {name}: {', '.join(titles)}.")
        return list(titles).index(column)
    position = -1 if column is None else int(column)
    if not -width <= position < width:
        raise InvalidInputError(f"label_column must be a column of {name}, 0 to {width - 1}; got {position}.")
    return position % width


def _delimiter(first: str) -> str:
    return max(_DELIMITERS, key=re.sub(r'"[^"]*"', "", first).count)


def _as_numbers(cells: np.ndarray) -> np.ndarray | None:
    try:
        values = cells.astype(np.float64)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _first_bad_cell(cells: np.ndarray, numbers: list[int], titles: list[str]) -> str:
    i, j = next((i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if not is_finite_text(cell))
    got = f"got {str(cells[i, j])!r}" if cells[i, j] else "the cell is empty"
    return f"line {numbers[i]}, {titles[j]}: expected a finite number; {got}."


# --- Parquet and .npz


def _read_parquet(name: str, content: bytes, wanted: Wanted) -> Samples:
    (samples,) = parquet_pieces(name, io.BytesIO(content), wanted)
    return samples


def parquet_pieces(name: str, source: Any, wanted: Wanted, rows: int | None = None) -> Iterator[Samples]:
    """The samples of a Parquet file, at most ``rows`` of them at a time; all at once if None."""
    try:
        import pandas  # type: ignore[import-untyped]  # noqa: F401
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingDependencyError(
            f"{name} is a Parquet file, and to read it takes pandas and pyarrow: pip install pandas pyarrow."
        ) from error
    try:
        file = ParquetFile(source)
        tables = [file.read()] if rows is None else file.iter_batches(batch_size=rows)
        for table in tables:
            yield _from_table(name, table.to_pandas(), wanted)
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{name} is a Parquet file that cannot be read: {_one_line(error)}.") from None


def _from_table(name: str, table: Any, wanted: Wanted) -> Samples:
    import pandas as pd

    titles = [str(title) for title in table.columns]
    label = _label_position(name, titles, wanted)
    columns = [j for j in range(len(titles)) if j != label]
    if not columns or not len(table):
        raise InvalidInputError(f"{name} holds no samples.")
    X = np.empty((len(table), len(columns)))
    for k, j in enumerate(columns):
        X[:, k] = _numeric_column(name, titles[j], table.iloc[:, j])
    names = tuple(titles[j] for j in columns)
    if label is None:
        return Samples(X, np.empty(0), names)
    y = table.iloc[:, label]
    if wanted.numeric_labels or pd.api.types.is_numeric_dtype(y.dtype):
        return Samples(X, as_integers(_numeric_column(name, titles[label], y)), names, titles[label])
    if y.isna().any():
        row = int(np.flatnonzero(y.isna())[0])
        raise InvalidInputError(f"{name}, row {row}: the label in column {titles[label]!r} is empty.")
    return Samples(X, y.to_numpy().astype(str), names, titles[label])


def _numeric_column(name: str, title: str, column: Any) -> np.ndarray:
    try:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name}, column {title!r}: expected numbers; it holds {column.dtype}.") from None
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InvalidInputError(
            f"{name}, row {bad[0]}, column {title!r}: expected a finite number; got {values[bad[0]]}."
        )
    return values


def _read_npz(name: str, content: bytes, wanted: Wanted) -> Samples:
    if wanted.label_column is not None:
        raise InvalidInputError(f"label_column is for CSV and Parquet files; in {name} the array y holds the labels.")
    try:
        arrays = read_arrays(content, ("X", "y", *_CSR_PARTS))
    except ValueError as error:
        raise InvalidInputError(f"{name} is a .npz file that cannot be read: {_one_line(error)}.") from None
    X = _npz_matrix(name, arrays)
    bad = np.flatnonzero(~np.isfinite(X.data if sp.issparse(X) else X))
    if len(bad):
        raise InvalidInputError(f"{name}: expected finite numbers; the features hold NaN or infinity.")
    y = arrays.get("y", np.empty(0))
    if y.shape != (X.shape[0],) and ("y" in arrays or (wanted.labelled and wanted.n_features is None)):
        got = f"its shape is {y.shape}" if "y" in arrays else "there is none"
        raise InvalidInputError(f"{name}: expected an array y with {X.shape[0]} labels, one a sample; {got}.")
    if y.dtype.kind in "US" and not wanted.numeric_labels:
        return Samples(X, y.astype(str))
    if y.dtype.kind not in "biuf" or not np.isfinite(y).all():
        raise InvalidInputError(
            f"{name}: the labels in y must be finite numbers{'' if wanted.numeric_labels else ' or text'}."
        )
    return Samples(X, as_integers(y.astype(np.float64)))


def _npz_matrix(name: str, arrays: dict[str, np.ndarray]) -> np.ndarray | sp.csr_array:
    if "X" not in arrays and not all(part in arrays for part in _CSR_PARTS):
        raise InvalidInputError(
            f"{name}: expected the arrays X and y, or {', '.join(_CSR_PARTS)} and y; got {', '.join(arrays) or 'none of them'}."
        )
    try:
        if "X" in arrays:
            X = arrays["X"].astype(np.float64)
        else:
            X = sp.csr_array(tuple(arrays[part] for part in _CSR_PARTS[:3]), shape=tuple(arrays["shape"]))
            X.check_format(full_check=True)
            X = X.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name}: its arrays make no matrix of numbers: {_one_line(error)}.") from None
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidInputError(f"{name}: X must be a matrix, a row a sample; its shape is {X.shape}.")
    return X


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


# --- text


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"-?\d+", text) is not None
