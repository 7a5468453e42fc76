"""LIBSVM's format, ``label index:value …``: read by scikit-learn's parser; a mistake in the text is named with its line."""

from __future__ import annotations

import io
import re

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from gapless.data.samples import Samples, as_integers, is_finite_text
from gapless.data.structure import check_structure
from gapless.errors import InvalidInputError

_LARGEST_INDEX = 2**32 - 1  # the compiled core stores indices in 32 bits (data/rows.py)


def read_svmlight(name: str, content: bytes, zero_based: bool | str = "auto", first_line: int = 1) -> Samples:
    """The samples of a text that is known to be UTF-8; with ``zero_based="auto"`` indices among which there is no zero count from one.

    ``first_line`` is the number in its file of the text's first line, for messages.
    """
    try:
        X, y = load_svmlight_file(io.BytesIO(content), zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        _raise_first_mistake(name, content, first_line)
        raise InvalidInputError(f"{name} is not in LIBSVM format: {error}.") from error
    if X.shape[1] > _LARGEST_INDEX or not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        _raise_first_mistake(name, content, first_line)
    check_structure(X, name)
    return Samples(sp.csr_array(X), as_integers(y))


def _raise_first_mistake(name: str, content: bytes, first_line: int) -> None:
    for number, line in enumerate(content.decode(errors="replace").splitlines(), start=first_line):
        mistake = _mistake(line.split("#")[0].split())
        if mistake:
            raise InvalidInputError(f"{name}, line {number}: {mistake}")


def _mistake(tokens: list[str]) -> str | None:
    """A sentence about the first mistake in a line; None where there is none."""
    if not tokens:
        return None
    label, *pairs = tokens
    if not is_finite_text(label):
        return f"the label must be a finite number; got {label!r}."
    last = -1
    for pair in pairs[pairs[:1] != [] and pairs[0].startswith("qid:") :]:
        index, colon, value = pair.partition(":")
        if not colon:
            return f"expected index:value after the label; got {pair!r}."
        if not re.fullmatch(r"[0-9]+", index):
            return f"an index must be a whole number of at least 0; got {index!r} in {pair!r}."
        if len(index) > 18 or int(index) > _LARGEST_INDEX:
            return f"an index must be at most {_LARGEST_INDEX:,}; got {index}."
        if not is_finite_text(value):
            return f"the value of index {index} must be a finite number; got {value!r}."
        if int(index) <= last:
            return f"indices must rise along a line; {index} comes after {last}."
        last = int(index)
    return None
