"""Samples written as LIBSVM or CSV text, Parquet or .npz, a block of rows at a time, and every number such that it is read back to the last bit."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from gapless.data.files import CSV_SUFFIXES, SVMLIGHT_SUFFIXES
from gapless.data.pieces import row_blocks
from gapless.data.samples import Samples, is_number_text
from gapless.errors import InvalidInputError, MissingDependencyError

STORE = "store"
SUFFIXES: dict[str, tuple[str, ...]] = {
    "svmlight": SVMLIGHT_SUFFIXES,
    "csv": CSV_SUFFIXES,
    "parquet": (".parquet",),
    "npz": (".npz",),
}
_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
_TEXTS = ("svmlight", "csv")

Tell = Callable[[int], Any]


def format_of(target: Path) -> str:
    """The format that the suffix of a name asks for, where .gz and .bz2 are left out; a name without a suffix asks for a store.

    >>> [format_of(Path(name)) for name in ("a.svm.gz", "a.csv", "a.parquet", "a.npz", "a-store")]
    ['svmlight', 'csv', 'parquet', 'npz', 'store']
    """
    plain = target.with_suffix("") if target.suffix in _COMPRESSED else target
    for name, suffixes in SUFFIXES.items():
        if plain.suffix in suffixes and (plain is target or name in _TEXTS):
            return name
    if plain is target and not plain.suffix:
        return STORE
    known = ", ".join(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    raise InvalidInputError(
        f"the target must end in one of {known} (text also in .gz or .bz2), or in nothing for a store; got {target.name!r}."
    )


def check_writable(samples: Samples, form: str) -> None:
    """Refuse, before anything is written, samples that a format cannot hold."""
    if form == "svmlight" and samples.y.dtype.kind == "U":
        raise InvalidInputError(
            f"LIBSVM format has numbers as labels; got texts, such as {str(samples.y[0])!r}. CSV, Parquet, .npz and stores take them."
        )
    if form == "parquet":
        _arrow()


def write_samples(stream: BinaryIO, samples: Samples, form: str, name: str, tell: Tell = lambda rows: None) -> None:
    r"""Write samples to a stream; the suffix of ``name`` tells whether a text is compressed, and the delimiter of CSV.

    LIBSVM text counts its indices from one and leaves out zeros. CSV has a first line of names where the samples have names and none of them is a
    number. In CSV and Parquet the label is the last column. ``tell`` is called with the number of rows written so far.

    >>> stream = io.BytesIO()
    >>> write_samples(stream, Samples(np.array([[0.5, 0.0], [0.0, 0.1]]), np.array([1, -1])), "svmlight", "a.svm")
    >>> stream.getvalue()
    b'1 1:0.5\n-1 2:0.1\n'
    """
    suffix = Path(name).suffix
    packed = _COMPRESSED[suffix](stream, "wb") if suffix in _COMPRESSED else nullcontext(stream)
    with packed as out:
        _WRITERS[form](out, samples, name, tell)


def _write_svmlight(stream: BinaryIO, samples: Samples, name: str, tell: Tell) -> None:
    done = 0
    for block in row_blocks(samples):
        X: Any = sp.csr_array(block.X)
        values, indices, ends = X.data.tolist(), (X.indices + 1).tolist(), X.indptr.tolist()
        lines = [
            f"{label!r} " + " ".join(f"{indices[k]}:{values[k]!r}" for k in range(begin, end) if values[k] != 0)
            for label, begin, end in zip(block.y.tolist(), ends[:-1], ends[1:], strict=True)
        ]
        stream.write("".join(f"{line.rstrip()}\n" for line in lines).encode())
        done += len(lines)
        tell(done)


def _write_csv(stream: BinaryIO, samples: Samples, name: str, tell: Tell) -> None:
    text = io.StringIO()
    # Texts are quoted, so that a comma or a tab within a name is not taken for the delimiter.
    delimiter = "\t" if ".tsv" in Path(name).suffixes else ","
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    names = samples.feature_names
    if names is not None and not any(is_number_text(each) for each in names):
        writer.writerow([*names, _label_name(samples)])
    done = 0
    for block in row_blocks(samples, dense=True):
        X: Any = block.X
        writer.writerows([*row, label] for row, label in zip(X.tolist(), block.y.tolist(), strict=True))
        stream.write(text.getvalue().encode())
        text.seek(0)
        text.truncate()
        done += len(X)
        tell(done)


def _write_parquet(stream: BinaryIO, samples: Samples, name: str, tell: Tell) -> None:
    pa, parquet = _arrow()
    d = samples.X.shape[1]
    names = samples.feature_names or tuple(f"x{j}" for j in range(d))
    labels = pa.string() if samples.y.dtype.kind == "U" else pa.from_numpy_dtype(samples.y.dtype)
    numbers = pa.from_numpy_dtype(samples.X.dtype)
    schema = pa.schema([*((each, numbers) for each in names), (_label_name(samples), labels)])
    done = 0
    with parquet.ParquetWriter(stream, schema) as writer:
        for block in row_blocks(samples, dense=True):
            X: Any = block.X
            columns = [pa.array(np.ascontiguousarray(X[:, j])) for j in range(d)]
            writer.write_batch(pa.record_batch([*columns, pa.array(block.y.tolist(), labels)], schema=schema))
            done += len(X)
            tell(done)


def _write_npz(stream: BinaryIO, samples: Samples, name: str, tell: Tell) -> None:
    X: Any = samples.X
    if sp.issparse(X):
        np.savez(stream, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=samples.y)
    else:
        np.savez(stream, X=X, y=samples.y)
    tell(X.shape[0])


_WRITERS: dict[str, Callable[[Any, Samples, str, Tell], None]] = {
    "svmlight": _write_svmlight,
    "csv": _write_csv,
    "parquet": _write_parquet,
    "npz": _write_npz,
}


def _label_name(samples: Samples) -> str:
    """The name of the label's column, with underscores added until no feature has it."""
    name = samples.label_name or "label"
    while samples.feature_names is not None and name in samples.feature_names:
        name += "_"
    return name


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError("to write a Parquet file takes pyarrow: pip install pyarrow.") from error
    return pyarrow, parquet
