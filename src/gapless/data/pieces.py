"""Samples a part at a time: from a file whose format allows it, and from a matrix that is mapped from disk."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import scipy.sparse as sp

from gapless.data.files import (
    NPZ_MAGIC,
    PARQUET_MAGIC,
    Samples,
    Wanted,
    is_csv,
    parquet_pieces,
    read_samples,
    refuse_label_column,
)
from gapless.data.regular import odd_kind
from gapless.data.svmlight import read_svmlight
from gapless.errors import InvalidInputError

__all__ = ["PIECE", "Wanted", "file_pieces", "row_blocks"]

# Bytes of text, or of a table's cells in float64, that are in memory at a time: 16 MiB is little beside the interpreter and its libraries, and long
# enough that the work on a piece outweighs that of starting with it.
PIECE = 1 << 24
_STREAMS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}


def file_pieces(file: Path, wanted: Wanted) -> Iterator[tuple[Samples, bool]]:
    """(samples, raw) for each part of a file. LIBSVM text and Parquet come a part at a time, CSV and .npz at once.

    ``raw`` says that the indices are those of LIBSVM text, which count from 0 or from 1: only the whole file tells.
    """
    try:
        odd = odd_kind(file, pipes=True)
        if odd is not None:
            raise InvalidInputError(f"{file} is {odd}, not a file.")
        with _STREAMS.get(file.suffix, open)(file, "rb") as stream:
            begin = stream.read(4)
            if begin == PARQUET_MAGIC and file.suffix not in _STREAMS:
                rows = max(1, PIECE // (8 * _columns(file)))
                yield from ((piece, False) for piece in parquet_pieces(file.name, file, wanted, rows))
            elif begin in (NPZ_MAGIC, PARQUET_MAGIC) or _is_csv_stream(file.name, stream):
                yield read_samples(file, label_column=wanted.label_column, numeric_labels=wanted.numeric_labels), False
            else:
                refuse_label_column(file.name, wanted)
                yield from ((piece, True) for piece in _text_pieces(file.name, stream))
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInputError(f"{file} cannot be read: {error}.") from None


def row_blocks(samples: Samples, dense: bool = False) -> Iterator[Samples]:
    """Consecutive rows of samples, about ``PIECE`` bytes at a time; with ``dense`` sparse rows are made dense, and count with all their cells."""
    X: Any = samples.X
    n, d = X.shape
    width = X.nnz / n if sp.issparse(X) and not dense else d
    rows = max(1, int(PIECE / (8 * max(1.0, width))))
    for begin in range(0, n, rows):
        part = slice(begin, begin + rows)
        block = X[part]
        if dense and sp.issparse(block):
            block = block.toarray()
        yield Samples(block, samples.y[part], samples.feature_names, samples.label_name)


def _columns(file: Path) -> int:
    from pyarrow.parquet import read_schema  # type: ignore[import-untyped]

    return max(1, len(read_schema(file).names))


def _is_csv_stream(name: str, stream: BinaryIO) -> bool:
    """Whether a text is CSV, by its name or its first line; the stream is rewound."""
    stream.seek(0)
    lines = (line.decode("utf-8", errors="replace").lstrip("\ufeff") for line in stream)
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    stream.seek(0)
    return is_csv(name, first)


def _text_pieces(name: str, stream: BinaryIO) -> Iterator[Samples]:
    number = 1
    while lines := stream.readlines(PIECE):
        if any(line.strip() and not line.lstrip().startswith(b"#") for line in lines):
            yield read_svmlight(name, b"".join(lines), zero_based=True, first_line=number)
        number += len(lines)
