"""Parameters and fitted attributes as JSON and arrays, and back. A value that is made of neither numbers nor text is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.kernels import Kernel
from gapless.proof.certificate import Certificate
from gapless.result import Status
from gapless.store.kernel_text import kernel_text, parse_kernel
from gapless.store.kinds import check_fields
from gapless.trace import Trace

# The dataclasses that a model may hold, by name.
RECORDS: dict[str, type] = {cls.__name__: cls for cls in (Certificate, Trace)}
_TEXT_TYPE = re.compile(r"[<>]U\d{1,5}|\|O")
# The most bytes that all arrays of text of a file may take, 64 MiB: a few letters in a file can name a text type of any width, so that a small file
# could ask for all memory.
_TEXT_BYTES = 2**26
_SPARSE = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}


def _is_default(default: Any, value: Any) -> bool:
    """Whether a field of a record has its default value and need not be written."""
    return (
        type(value) is type(default)
        and isinstance(value, (type(None), bool, int, float, str, tuple))
        and value == default
    )


class NotData(Exception):
    """A value that a file of numbers and text cannot hold."""


class Writer:
    """``encode`` gives the JSON form of a value and collects its arrays; a value that JSON has no form for becomes an object with a tag.

    An array or a record that occurs several times is written once: later forms refer to the first by name, and are the same object when read.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}

    def encode(self, value: Any, name: str) -> Any:
        """The form of ``value``, whose arrays are stored under ``name``; NotData for a value that has no form."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, list):
            return [self.encode(each, f"{name}.{k}") for k, each in enumerate(value)]
        if isinstance(value, tuple):
            return {"tuple": self.encode(list(value), name)}
        if isinstance(value, dict):
            return {
                "dict": [[self.encode(key, name), self.encode(each, f"{name}.{key}")] for key, each in value.items()]
            }
        if isinstance(value, Status):
            return {"status": value.name}
        if isinstance(value, Kernel) and (text := kernel_text(value)) is not None:
            return {"kernel": text}
        if id(value) in self._names:
            return {"same": self._names[id(value)]}
        self._names[id(value)] = name
        return {**self._encode_once(value, name), "name": name}

    def _encode_once(self, value: Any, name: str) -> dict[str, Any]:
        kind = type(value)
        if kind is np.ndarray:
            return self._encode_array(value, name)
        if _SPARSE.get(kind.__name__) is kind:
            parts = {
                part: self.encode(getattr(value, part), f"{name}.{part}") for part in ("data", "indices", "indptr")
            }
            return {"csr": parts, "shape": list(value.shape), "kind": kind.__name__}
        if RECORDS.get(kind.__name__) is kind:
            content = {
                each.name: self.encode(getattr(value, each.name), f"{name}.{each.name}")
                for each in fields(kind)
                if not _is_default(each.default, getattr(value, each.name))
            }
            return {"record": kind.__name__, "fields": content}
        raise NotData

    def _encode_array(self, value: np.ndarray, name: str) -> dict[str, Any]:
        if value.dtype.kind in "UO" and value.ndim == 1:
            return {"texts": self.encode(value.tolist(), name), "type": value.dtype.str}
        if value.dtype.kind not in "fiub" or value.dtype.itemsize > 8:
            raise NotData
        # The memory order is kept, since a product of matrices in another order may round differently.
        order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        self.arrays[name] = np.array(value.T if order == "F" else value, dtype=value.dtype.newbyteorder("="), order="C")
        return {"order": order}


class Reader:
    """``decode`` gives back the value that ``Writer.encode`` was given. A form that no writer writes is an error of any kind."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays = arrays
        self._made: dict[str, Any] = {}
        self._text_room = _TEXT_BYTES

    def decode(self, form: Any) -> Any:
        """The value of a form."""
        match form:
            case None | bool() | str() | int() | float():
                return form
            case list():
                return [self.decode(each) for each in form]
            case {"float": text}:
                return float(text)
            case {"tuple": items}:
                return tuple(self.decode(items))
            case {"dict": pairs}:
                return {self.decode(key): self.decode(each) for key, each in pairs}
            case {"status": name}:
                return Status[name]
            case {"kernel": text}:
                return parse_kernel(text)
            case {"same": name}:
                return self._made[name]
            case {"name": name}:
                self._made[name] = self._decode_once(form, name)
                return self._made[name]
        raise ValueError("unknown form")

    def _decode_once(self, form: dict[str, Any], name: str) -> Any:
        match form:
            case {"order": order}:
                return self._arrays[name].T if order == "F" else self._arrays[name]
            case {"texts": texts, "type": kind} if _TEXT_TYPE.fullmatch(kind):
                texts = self.decode(texts)
                self._text_room -= len(texts) * np.dtype(kind).itemsize
                if self._text_room < 0:
                    raise ValueError(f"its texts of the type {kind} take more than {_TEXT_BYTES:,} bytes")
                return np.array(texts, dtype=kind)
            case {"csr": parts, "shape": shape, "kind": kind}:
                triple = tuple(self.decode(parts[part]) for part in ("data", "indices", "indptr"))
                matrix = _SPARSE[kind](triple, shape=tuple(shape))
                matrix.check_format(full_check=True)  # SciPy's loops trust the indices, and a file may hold any
                return matrix
            case {"record": kind, "fields": content}:
                record = RECORDS[kind](**{key: self.decode(each) for key, each in content.items()})
                check_fields(record)
                return record
        raise ValueError("unknown form")
