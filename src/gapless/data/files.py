"""Samples from a LIBSVM-format or a CSV file; a mistake in the file is named with its line."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from gapless.errors import InvalidInputError

_OPENERS = {".gz": gzip.decompress, ".bz2": bz2.decompress}
_DELIMITERS = ",;\t"
_CSV_SUFFIXES = (".csv", ".tsv")
_SVMLIGHT_SUFFIXES = (".libsvm", ".svm", ".svmlight")


@dataclass(frozen=True)
class Samples:
    """What a file holds: X (CSR from LIBSVM format, an array from CSV), y, and where the file has them the columns' names."""

    X: np.ndarray | sp.csr_array
    y: np.ndarray
    feature_names: tuple[str, ...] | None = None


def read_samples(
    source: str | Path | BinaryIO, *, label_column: str | int | None = None, numeric_labels: bool = False
) -> Samples:
    r"""Read a LIBSVM-format (``label index:value …``) or a CSV file, plain or compressed (.gz, .bz2).

    The format is taken from the suffix (.csv, .tsv, .svm, .libsvm, .svmlight) or else from the first line. In CSV the delimiter is a comma, a
    semicolon or a tab, a first line without any number in its feature columns is a header, and the label is the last column unless
    ``label_column`` gives its name or its number (from 0; negative from the end). Labels are numbers where all of them are, else strings;
    ``numeric_labels`` refuses the latter.

    >>> import io
    >>> samples = read_samples(io.BytesIO(b"kind,height,width\nyes,1,2\nno,3,4\n"), label_column="kind")
    >>> samples.X.tolist(), samples.y.tolist(), samples.feature_names
    ([[1.0, 2.0], [3.0, 4.0]], ['yes', 'no'], ('height', 'width'))
    >>> read_samples(io.BytesIO(b"+1 1:0.5 3:2\n-1 2:1\n")).X.toarray().tolist()
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
    """
    name, content = _content(source)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(f"{name} is not a text file in UTF-8: line {line} cannot be read.") from None
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), None)
    if first is None:
        raise InvalidInputError(f"{name} holds no samples.")
    if _is_csv(name, first):
        return _read_csv(name, text, _delimiter(first), label_column, numeric_labels)
    if label_column is not None:
        raise InvalidInputError(
            f"label_column is for CSV files; {name} is in LIBSVM format, where the label comes first."
        )
    return _read_svmlight(name, content)


def _content(source: str | Path | BinaryIO) -> tuple[str, bytes]:
    if not isinstance(source, (str, Path)):
        return str(getattr(source, "name", "the input")), source.read()
    path = Path(source)
    try:
        content = path.read_bytes()
        return path.name, _OPENERS[path.suffix](content) if path.suffix in _OPENERS else content
    except FileNotFoundError:
        raise InvalidInputError(f"{path} does not exist.") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{path} is a folder, not a file.") from None
    except (OSError, EOFError) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}.") from None


def _is_csv(name: str, first: str) -> bool:
    suffixes = Path(name).suffixes
    if any(suffix in suffixes for suffix in _CSV_SUFFIXES):
        return True
    if any(suffix in suffixes for suffix in _SVMLIGHT_SUFFIXES):
        return False
    tokens = first.split()
    return not (len(tokens) > 1 and ":" in tokens[1]) and any(mark in first for mark in _DELIMITERS)


# --- LIBSVM format


def _read_svmlight(name: str, content: bytes) -> Samples:
    try:
        X, y = load_svmlight_file(io.BytesIO(content))
    except ValueError as error:
        _raise_first_mistake(name, content.decode())
        raise InvalidInputError(f"{name} is not in LIBSVM format: {error}.") from error
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        _raise_first_mistake(name, content.decode())
    return Samples(sp.csr_array(X), _as_integers(y))


def _raise_first_mistake(name: str, text: str) -> None:
    for number, line in enumerate(text.splitlines(), start=1):
        mistake = _svmlight_mistake(line.split("#")[0].split())
        if mistake:
            raise InvalidInputError(f"{name}, line {number}: {mistake}")


def _svmlight_mistake(tokens: list[str]) -> str | None:
    """What is wrong with a line, as a sentence; None if nothing is."""
    if not tokens:
        return None
    label, *pairs = tokens
    if not _is_finite(label):
        return f"the label must be a finite number; got {label!r}."
    last = -1
    for pair in pairs[pairs[:1] != [] and pairs[0].startswith("qid:") :]:
        index, colon, value = pair.partition(":")
        if not colon:
            return f"expected index:value after the label; got {pair!r}."
        if not re.fullmatch(r"\d+", index):
            return f"an index must be a whole number of at least 0; got {index!r} in {pair!r}."
        if not _is_finite(value):
            return f"the value of index {index} must be a finite number; got {value!r}."
        if int(index) <= last:
            return f"indices must rise along a line; {index} comes after {last}."
        last = int(index)
    return None


# --- CSV


def _read_csv(name: str, text: str, delimiter: str, label_column: str | int | None, numeric_labels: bool) -> Samples:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(cell.strip() for cell in row)]
    width = len(rows[0][1])
    if width < 2:
        raise InvalidInputError(
            f"{name}, line {rows[0][0]}: a row needs a label and at least one feature; got one cell."
        )
    label, header = _label_position(name, rows[0][1], label_column)
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
    cells = np.array([row for _, row in rows])
    columns = [j for j in range(width) if j != label]
    titles = [f"column {j}" if header is None else f"column {header[j]!r}" for j in range(width)]
    X = _as_numbers(cells[:, columns])
    if X is None:
        raise InvalidInputError(f"{name}, {_first_bad_cell(cells[:, columns], numbers, [titles[j] for j in columns])}")
    y = _as_numbers(cells[:, label])
    if y is None and numeric_labels:
        raise InvalidInputError(f"{name}, {_first_bad_cell(cells[:, [label]], numbers, [titles[label]])}")
    missing = np.flatnonzero(cells[:, label] == "")
    if len(missing):
        raise InvalidInputError(f"{name}, line {numbers[missing[0]]}: the label in {titles[label]} is empty.")
    names = None if header is None else tuple(header[j] for j in columns)
    return Samples(X, cells[:, label] if y is None else _as_integers(y), names)


def _label_position(name: str, first: list[str], label_column: str | int | None) -> tuple[int, list[str] | None]:
    """(number of the label's column, the header or None)."""
    width = len(first)
    if isinstance(label_column, str) and not re.fullmatch(r"-?\d+", label_column):
        if label_column not in first:
            raise InvalidInputError(
                f"label_column {label_column!r} is not in the first line of {name}: {', '.join(first)}."
            )
        return first.index(label_column), first
    position = -1 if label_column is None else int(label_column)
    if not -width <= position < width:
        raise InvalidInputError(f"label_column must be a column of {name}, 0 to {width - 1}; got {position}.")
    position %= width
    # A first data line may hold a typing error, so one number is enough to make it data.
    is_header = not any(_is_number(cell) for j, cell in enumerate(first) if j != position)
    return position, first if is_header else None


def _delimiter(first: str) -> str:
    return max(_DELIMITERS, key=re.sub(r'"[^"]*"', "", first).count)


def _as_numbers(cells: np.ndarray) -> np.ndarray | None:
    try:
        values = cells.astype(np.float64)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _first_bad_cell(cells: np.ndarray, numbers: list[int], titles: list[str]) -> str:
    i, j = next((i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if not _is_finite(cell))
    got = f"got {str(cells[i, j])!r}" if cells[i, j] else "the cell is empty"
    return f"line {numbers[i]}, {titles[j]}: expected a finite number; {got}."


# --- both


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_finite(text: str) -> bool:
    return _is_number(text) and bool(np.isfinite(float(text)))


def _as_integers(y: np.ndarray) -> np.ndarray:
    """Whole-numbered labels as integers, so that a class reads 1 and not 1.0."""
    return y.astype(np.int64) if (y == np.round(y)).all() and np.abs(y).max(initial=0.0) < 2**53 else y
