"""The state of an estimator for pickle and skops, with the types of Gapless as text and arrays: a reader then trusts the estimator's class alone."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from gapless.kernels import Kernel
from gapless.store.kernel_text import kernel_text
from gapless.store.values import RECORDS, NotData, Reader, Writer

_PROOF = "_as_text"  # the key of a state under which the attributes are that were turned into text and arrays


def to_plain(state: dict[str, Any], fitted: Iterable[str]) -> dict[str, Any]:
    """A state whose proofs, traces and kernels, among the ``fitted`` attributes, are compressed text and arrays.

    The state comes back unchanged where it has no such attribute, or one that text and arrays cannot hold.
    """
    ours = {key: state[key] for key in fitted if key in state and _is_ours(state[key])}
    writer = Writer()
    try:
        form = writer.encode(ours, "")
    except NotData:
        return state
    if not ours:
        return state
    others = {key: value for key, value in state.items() if key not in ours}
    text = zlib.compress(json.dumps(form).encode())  # the proofs of many subproblems repeat the same words
    return {**others, _PROOF: {"text": np.frombuffer(text, dtype=np.uint8), "arrays": writer.arrays}}


def from_plain(state: dict[str, Any]) -> dict[str, Any]:
    """The state that ``to_plain`` was given."""
    if _PROOF not in state:
        return state
    plain = state[_PROOF]
    ours = Reader(plain["arrays"]).decode(json.loads(zlib.decompress(plain["text"].tobytes())))
    return {**{key: value for key, value in state.items() if key != _PROOF}, **ours}


def _is_ours(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_ours, value))
    if isinstance(value, Kernel):
        return kernel_text(value) is not None
    return RECORDS.get(type(value).__name__) is type(value)
