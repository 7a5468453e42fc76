"""The file that ``resume`` names: the fits of a search, each appended as soon as it is done, so that another run goes on from there.

The file is text, a JSON object on each line, which ends with a CRC-32 of the line. The first line tells of which search the fits are: checksums of
the data and the folds, the parameters of the estimator, the scorer. Each further line is a fit: the parameters of the candidate, the fold, the scores
and the times. A line is written by one call of the system, so that a process that is killed leaves at most a part of its last line; such a part, and
what may stand behind it, is cut off when the file is opened again. Nothing in the file is ever executed.
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Self

from gapless.data.regular import odd_kind
from gapless.errors import InvalidInputError
from gapless.model_selection import fingerprint
from gapless.model_selection.fold import Candidate
from gapless.model_selection.outcomes import Outcome
from gapless.store import register
from gapless.store.values import Reader, Writer

try:
    import fcntl
except ImportError:  # on Windows nothing keeps two processes from writing to one file
    fcntl = None  # type: ignore[assignment]

FORMAT = 1  # the version of the format that this version of Gapless writes
_FIRST = b'{"gapless_search": '  # how each such file begins
_CHECK = re.compile(rb', "crc32": "([0-9a-f]{8})"\}')
_FLUSHED = 1.0  # seconds between two flushes to the disk: what a failure of the power may lose; a process that is killed loses nothing of it

register(Outcome)


def search_facts(search: Any, X: Any, y: Any, fit_params: dict[str, Any], folds: list[Any]) -> dict[str, Any]:
    """What two searches must have in common for the fits of one to be those of the other, as JSON."""
    return {
        "X": fingerprint.checksum(X, "X"),
        "y": fingerprint.checksum(y, "y"),
        "folds": fingerprint.checksum(_sizes_and_rows(folds), "cv"),
        "fit_params": {name: fingerprint.described(value, name) for name, value in sorted(fit_params.items())},
        "class": fingerprint.class_name(type(search.estimator)),
        "parameters": fingerprint.parameters(search.estimator),
        "scoring": fingerprint.described(search.scoring, "scoring"),
        "return_train_score": search.return_train_score,
        "error_score": fingerprint.described(search.error_score, "error_score"),
        "racing": getattr(search, "racing", False),
        "prove": getattr(search, "prove", "bounded"),
    }


class Journal:
    """The fits of a search in a file, which is open, and locked, until ``close``.

    ``facts`` are those of :func:`search_facts`; a file with other facts is refused in a sentence that names the differences.
    """

    def __init__(self, path: str | os.PathLike[str], facts: dict[str, Any]) -> None:
        self._path = path
        odd = odd_kind(path)
        if odd is not None:
            raise InvalidInputError(f"resume={str(path)!r} must be a file; it is {odd}.")
        try:
            # An object, and not a number: wherever Ctrl-C comes, the file is closed, and no longer locked, when nobody has the object any more.
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 (it stays open until the search ends)
        except OSError as error:
            raise InvalidInputError(
                f"resume={str(path)!r} must be a file that can be written: {error.strerror}."
            ) from None
        try:
            self._lock()
            self._fits = dict(self._read(facts))
        except BaseException:
            self._file.close()
            raise
        self._flushed = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            os.fsync(self._file)

    def found(self, candidates: list[Candidate], n_folds: int) -> Iterator[tuple[tuple[int, int], Outcome]]:
        """((candidate, fold), outcome) of each fit of these candidates that the file has."""
        for k, candidate in enumerate(candidates):
            form = _described(candidate)
            for fold in range(n_folds):
                outcome = self._fits.get(_key(form, fold))
                if outcome is not None:
                    yield (k, fold), outcome

    def append(self, candidate: Candidate, fold: int, outcome: Outcome) -> None:
        """Write the outcome of a fit. A fit that failed is not written: it is tried again when the search is resumed."""
        if outcome.fit_error is not None:
            return
        writer = Writer()
        form = writer.encode(outcome, "outcome")
        assert not writer.arrays  # an outcome has numbers and texts alone
        self._write({"candidate": _described(candidate), "fold": fold, "outcome": form})
        if time.monotonic() - self._flushed > _FLUSHED:
            os.fsync(self._file)
            self._flushed = time.monotonic()

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidInputError(
                f"resume={str(self._path)!r} is in use by another search that runs now; each search needs a file of its own."
            ) from None

    def _write(self, content: dict[str, Any]) -> None:
        line = _with_check(json.dumps(content, allow_nan=False).encode())
        while (
            line
        ):  # the system writes less than all of it only where the disk is full, and then says so at the next call
            line = line[os.write(self._file.fileno(), line) :]

    def _read(self, facts: dict[str, Any]) -> Iterator[tuple[str, Outcome]]:
        """Check the first line, yield all fits, and leave the file open at its end, after the last whole line."""
        self._file.seek(0)
        content = self._file.readall()
        lines, end = _whole_lines(content)
        if not lines:
            if not (_FIRST.startswith(content[: len(_FIRST)]) and b"\n" not in content):
                raise InvalidInputError(
                    f"resume={str(self._path)!r} must be a file that a search has written, or a new one; this file is something else."
                )
            end = 0
        self._file.truncate(end)
        if not lines:
            self._write({"gapless_search": FORMAT, "gapless": version("gapless"), "facts": facts})
            return
        first, *fits = lines
        try:
            yield from self._checked(first, fits, facts)
        except InvalidInputError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError) as error:
            raise InvalidInputError(
                f"resume={str(self._path)!r} was not written by a search: its checksums hold, but its content is not that of fits "
                f"({type(error).__name__}: {error})."
            ) from None

    def _checked(
        self, first: dict[str, Any], fits: list[dict[str, Any]], facts: dict[str, Any]
    ) -> Iterator[tuple[str, Outcome]]:
        """The fits of the lines, where the first line says that they are of the same search."""
        if first.get("gapless_search") != FORMAT:
            raise InvalidInputError(
                f"resume={str(self._path)!r} has the format version {first.get('gapless_search')!r}, and this version of Gapless reads {FORMAT}."
            )
        different = list(_differences(first["facts"], json.loads(json.dumps(facts))))
        if different:
            raise InvalidInputError(
                f"resume={str(self._path)!r} has the fits of another search: {'; '.join(different)}. "
                "Name another file, or delete this one to begin anew."
            )
        known: list[list[str]] | None = None
        for fit in fits:
            outcome = Reader({}).decode(fit["outcome"])
            _check(fit["fold"], outcome)
            has_train = outcome.train_scores is not None
            _require(facts["return_train_score"] is not (not has_train), "train_scores", outcome.train_scores)
            metrics = [sorted(outcome.test_scores)] if isinstance(outcome.test_scores, dict) else []
            known = metrics if known is None else known
            one = facts["scoring"] is None or isinstance(facts["scoring"], str)
            _require(metrics == known and not (one and metrics), "test_scores", outcome.test_scores)
            yield _key(fit["candidate"], fit["fold"]), outcome


def _sizes_and_rows(folds: list[Any]) -> list[Any]:
    return [[fingerprint.checksum(part, "cv") for part in rows] for rows in folds]


def _described(candidate: Candidate) -> Any:
    return {name: fingerprint.described(value, name) for name, value in candidate.items()}


def _key(form: Any, fold: int) -> str:
    """What tells a fit from others, of the JSON form of its candidate."""
    return json.dumps([form, fold], sort_keys=True)


def _check(fold: Any, outcome: Any) -> None:
    """Refuse, by an error of any kind, an outcome that no search has written."""
    _require(_is_whole(fold), "fold", fold)
    _require(isinstance(outcome, Outcome), "outcome", outcome)
    for name in ("fit_time", "score_time"):
        _require(_is_number(getattr(outcome, name)), name, getattr(outcome, name))
    _require(_is_whole(outcome.n_test_samples), "n_test_samples", outcome.n_test_samples)
    _require(outcome.fit_error is None, "fit_error", outcome.fit_error)
    for name, scores in (("test_scores", outcome.test_scores), ("train_scores", outcome.train_scores)):
        each = scores.values() if isinstance(scores, dict) else [scores]
        _require(all(map(_is_number, each)) or (name == "train_scores" and scores is None), name, scores)
    pairs = outcome.intervals.values() if isinstance(outcome.intervals, dict) else [None]
    _require(
        all(isinstance(pair, tuple) and len(pair) == 2 and all(map(_is_number, pair)) for pair in pairs),
        "intervals",
        outcome.intervals,
    )


def _require(holds: bool, name: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"{name} is {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _with_check(body: bytes) -> bytes:
    """A JSON object as a line that ends with its checksum."""
    return body[:-1] + b', "crc32": "%08x"}\n' % zlib.crc32(body)


def _whole_lines(content: bytes) -> tuple[list[dict[str, Any]], int]:
    """The objects on the lines up to the first one that is not whole, and where the last whole line ends."""
    found, end = [], 0
    while (stop := content.find(b"\n", end)) >= 0:
        line = content[end:stop]
        check = _CHECK.fullmatch(line, max(0, len(line) - 22))
        if check is None or int(check[1], 16) != zlib.crc32(line[: check.start()] + b"}"):
            break
        try:
            form = json.loads(line)
        except (ValueError, RecursionError):
            form = None
        if not isinstance(form, dict):
            break
        found.append(form)
        end = stop + 1
    return found, end


def _differences(then: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Words on what differs between the facts of the file and those of the search."""
    for name in ("fit_params", "parameters"):
        _require(isinstance(then[name], dict), name, then[name])
    for name, words in (("X", "X has other values"), ("y", "y has other values")):
        if then[name] != now[name]:
            yield words
    if then["folds"] != now["folds"]:
        yield "its folds are others (a splitter that shuffles needs a random_state that is a number)"
    for name in sorted({*then["fit_params"], *now["fit_params"]}):
        if then["fit_params"].get(name) != now["fit_params"].get(name):
            yield f"{name} of fit is another"
    if then["class"] != now["class"]:
        yield f"its estimator is {then['class']}, and here it is {now['class']}"
        return
    yield from _of_parameters(then["parameters"], now["parameters"])
    for name in ("scoring", "return_train_score", "error_score", "racing", "prove"):
        if then.get(name) != now.get(name):
            yield _both(name, then.get(name), now.get(name))


def _of_parameters(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Words on each parameter that differs: of ``kernel__gamma`` and ``kernel`` the inner one, unless the kernels are of different kinds."""
    names = [name for name in sorted({*then} & {*now}) if then[name] != now[name]]
    # A kernel that is another because of a number inside is told by that number, and a pipeline's list of steps by the steps.
    told = [
        name
        for name in names
        if isinstance(now[name], str) or not any(other.startswith(f"{name}__") for other in names)
    ]
    inner = [name for name in told if name.rpartition("__")[2] != "steps"]
    return [_both(f"the estimator's {name}", then[name], now[name]) for name in inner or told]


def _both(name: str, then: Any, now: Any) -> str:
    simple = all(value is None or isinstance(value, bool | str | int | float) for value in (then, now))
    return f"{name} is {then!r} there, and {now!r} here" if simple else f"{name} is another"
