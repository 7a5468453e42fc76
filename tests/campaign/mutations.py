"""Mutations of model files and of text inputs: each ends in a sentence of ours or in success, soon and in little memory.

    python -m tests.campaign.mutations --kind model --count 50000 --seed 0

A child process takes many mutations, under a limit of its address space; what it was given last is known when it dies. Model files are those of
``save``, the same sealed anew (so that damage gets past the checksum), LIBSVM's models, and stores; text inputs are LIBSVM-format and CSV files,
and .npz files beside them.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

SECONDS, ROOM = (
    2.0,
    300 * 2**20,
)  # what a mutation may take, of time and of memory beyond what the process has when it begins
_SHARE = 500  # mutations that a child process takes

_HUGE = [
    b"1e308",
    b"-1e309",
    b"99999999999999999999",
    b"4294967296",
    b"2147483648",
    b"-1",
    b"nan",
    b"1e-320",
    b"0",
    b"9" * 5000,
]


@dataclass(frozen=True)
class Seed:
    """A sound file: its name for a report, its bytes, and who reads it (a function of a path)."""

    name: str
    content: bytes
    read: Callable[[Path], Any]


# --- mutations of bytes


def mutate(content: bytes, rng: random.Random) -> bytes:
    """One to three changes, of which any may undo another."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        content = rng.choice(_CHANGES)(content, rng)
    return content


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _flip(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _insert(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.randbytes(rng.choice([1, 2, 8, 200])) + content[at:]


def _delete(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[at + rng.choice([1, 2, 8, 100]) :]


def _numbers(content: bytes) -> list[tuple[int, int]]:
    found, begin = [], None
    for at, byte in enumerate(content + b" "):
        if 48 <= byte <= 57:
            begin = at if begin is None else begin
        elif begin is not None:
            found.append((begin, at))
            begin = None
    return found


def _swap_numbers(content: bytes, rng: random.Random) -> bytes:
    numbers = _numbers(content)
    if len(numbers) < 2:
        return content
    (a, b), (c, d) = sorted(rng.sample(numbers, 2))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _huge_number(content: bytes, rng: random.Random) -> bytes:
    numbers = _numbers(content)
    if not numbers:
        return content
    begin, end = rng.choice(numbers)
    return content[:begin] + rng.choice(_HUGE) + content[end:]


def _repeat_line(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines[: rng.choice([1, len(lines)])]))
    return b"\n".join(lines)


def _drop_line(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return b"\n".join(lines)


def _odd_text(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    odd = [
        "\0",
        '"',
        ",,,,",
        ";",
        "\t",
        ":",
        "#",
        "\r",
        "\ufeff",
        "٣",
        "\u2028",
        "qid:1",
        " 7:7 ",
        "x" * 200_000,
        "(" * 3000,
        "[" * 3000,
    ]
    return content[:at] + rng.choice(odd).encode() + content[at:]


_CHANGES = [
    _cut,
    _flip,
    _flip,
    _insert,
    _delete,
    _swap_numbers,
    _swap_numbers,
    _huge_number,
    _huge_number,
    _repeat_line,
    _drop_line,
    _odd_text,
]


# --- files


def _sealed(content: bytes) -> bytes:
    """A model file whose length and checksum are those of its header and content, whatever they are; as it is where it has no header."""
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length]
    begin = header.find(b'"checksum":"')
    if begin < 0:
        return content
    begin += 8 + len(b'"checksum":"')
    blank = content[:begin] + b"0" * 64 + content[begin + 64 :]
    return blank[:begin] + hashlib.sha256(blank).hexdigest().encode() + blank[begin + 64 :]


def mutate_sealed(content: bytes, rng: random.Random) -> bytes:
    """A change of the header, of the description in it, or of the arrays, that the checksum covers."""
    length = int.from_bytes(content[:8], "little")
    header, arrays = content[8 : 8 + length], content[8 + length :]
    kind = rng.randrange(4)
    if kind == 0:
        arrays = mutate(arrays, rng)
    elif kind == 1:
        header = mutate(header, rng)
    else:
        parsed = json.loads(header)
        description = json.loads(parsed["__metadata__"]["model"])
        if kind == 2:
            _change_tree(description, rng)
            parsed["__metadata__"]["model"] = json.dumps(description)
        else:
            parsed["__metadata__"]["model"] = mutate(parsed["__metadata__"]["model"].encode(), rng).decode(
                errors="replace"
            )
        header = json.dumps(parsed, separators=(",", ":")).encode()
        header += b" " * (-len(header) % 8)
    return _sealed(len(header).to_bytes(8, "little") + header + arrays)


def _change_tree(tree: Any, rng: random.Random) -> None:
    """Replace, remove or exchange one of the values of nested lists and dicts."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in items:
            places.append((node, key))
            walk(value)

    walk(tree)
    (node, key), (other, name) = rng.choice(places), rng.choice(places)
    odd = [
        None,
        -1,
        0,
        2**31,
        2**40,
        2**63,
        1e308,
        True,
        "",
        "x",
        "<U99999",
        "nan",
        [],
        {},
        [[]],
        ["a"] * 5000,
        {"tuple": 3},
        {"float": "x"},
        {"same": "coef_"},
    ]
    change = rng.randrange(3)
    if change == 0:
        node[key] = rng.choice(odd)
    elif change == 1:
        node[key] = json.loads(json.dumps(other[name]))
    else:
        del node[key]


def seeds(kind: str, folder: Path) -> list[tuple[Seed, Callable[[bytes, random.Random], bytes]]]:
    """Sound files of a kind, each with how it is mutated."""
    return _model_seeds(folder) if kind == "model" else _text_seeds()


def _data(n: int = 12, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.round(np.where(rng.random((n, d)) < 0.3, 0.0, rng.normal(size=(n, d))), 3)
    return X, np.where(X[:, 0] + X[:, 1] > 0, 1, -1)


_LIBSVM_MODEL = b"""svm_type c_svc
kernel_type rbf
gamma 0.25
nr_class 2
total_sv 4
rho 0.25
label 1 -1
nr_sv 2 2
SV
0.5 1:0.1 2:0.5
1 2:1.5 4:-2
-1 1:-0.25 3:1e-3
-0.5 4:1
"""


def _model_seeds(folder: Path) -> list[tuple[Seed, Callable[[bytes, random.Random], bytes]]]:
    import gapless as gl
    from gapless.verify.libsvm_models import read_libsvm_model

    X, y = _data()
    texts = np.where(y > 0, "yes", "no")
    three = np.arange(len(y)) % 3
    models = {
        "SVC": gl.SVC(kernel=0.5 * gl.kernels.RBF(0.3) + gl.kernels.Polynomial(2)).fit(X, texts),
        "SVC3": gl.SVC().fit(sp.csr_array(X), three),
        "LinearSVC": gl.LinearSVC(tol=1e-2).fit(X, three),
        "NuSVR": gl.NuSVR().fit(X, X[:, 0]),
        "OneClassSVM": gl.OneClassSVM().fit(X),
        "precomputed": gl.SVC(kernel="precomputed").fit(X @ X.T, y),
        "KernelPerceptron": gl.KernelPerceptron(form="averaged").fit(X, three),
        "KernelLogisticRegression": gl.KernelLogisticRegression().fit(X, y),
        "KernelFisherDiscriminant": gl.KernelFisherDiscriminant().fit(X, y),
    }
    found: list[tuple[Seed, Callable[[bytes, random.Random], bytes]]] = []
    for name, model in models.items():
        model.save(folder / "model")
        seed = Seed(name, (folder / "model").read_bytes(), gl.load)
        found += [(seed, mutate), *[(seed, mutate_sealed)] * 3]
    found += [(Seed("libsvm", _LIBSVM_MODEL, read_libsvm_model), mutate)] * 12
    for form in ("csr", "dense"):
        content = _packed_store(folder, X, y, form)
        found += [(Seed(f"store-{form}", content, _read_store), mutate)] * 6
    return found


def _packed_store(folder: Path, X: np.ndarray, y: np.ndarray, form: str) -> bytes:
    """The files of a store in one text: a line of JSON with names and lengths, then their bytes; the head comes first."""
    from sklearn.datasets import dump_svmlight_file

    from gapless.data.store import convert

    source = folder / ("a.svm" if form == "csr" else "a.npz")
    if form == "csr":
        dump_svmlight_file(X, y, str(source))
    else:
        np.savez(source, X=X, y=y)
    store = convert(source, folder / "store")
    parts = {file.name: file.read_bytes() for file in sorted(store.iterdir(), key=lambda f: f.suffix != ".json")}
    return json.dumps({name: len(part) for name, part in parts.items()}).encode() + b"\n" + b"".join(parts.values())


def _read_store(path: Path) -> Any:
    """Unpack, open and train on a store; its layout line is the test's own, and what is left of it after a mutation is used."""
    import gapless as gl
    from gapless.data.store import open_store

    line, _, rest = path.read_bytes().partition(b"\n")
    try:
        layout = json.loads(line)
        sizes = [
            (str(name), int(size)) for name, size in layout.items() if "/" not in str(name) and "\0" not in str(name)
        ]
    except (ValueError, AttributeError, TypeError, RecursionError, OverflowError):
        sizes = [("store.json", len(rest))]
    folder = path.with_name("unpacked")
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, size in sizes:
        try:
            (folder / name).write_bytes(rest[: max(0, size)])
        except OSError:
            continue
        rest = rest[max(0, size) :]
    samples = open_store(folder)
    return gl.Problem(samples.X, samples.y)


def _text_seeds() -> list[tuple[Seed, Callable[[bytes, random.Random], bytes]]]:
    from sklearn.datasets import dump_svmlight_file

    X, y = _data()
    text = io.BytesIO()
    dump_svmlight_file(X, y, text)
    rows = [
        ",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), np.where(y > 0, "yes", "no"), strict=True)
    ]
    table = "\n".join(["height,width,depth,age,kind", *rows]).encode()
    sparse = sp.csr_array(X)
    dense, parts, packed = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(dense, X=X, y=y)
    np.savez(parts, data=sparse.data, indices=sparse.indices, indptr=sparse.indptr, shape=np.array(X.shape), y=y)
    np.savez_compressed(packed, X=X, y=y)
    found = [
        *[Seed("libsvm", text.getvalue(), _reader("a.svm"))] * 6,
        *[Seed("csv", table, _reader("a.csv"))] * 6,
        *[Seed("unnamed", table.replace(b",", b";"), _reader("a"))] * 2,
        *[Seed("unnamed-libsvm", text.getvalue(), _reader("a"))] * 2,
        Seed("npz", dense.getvalue(), _reader("a.npz")),
        Seed("npz-csr", parts.getvalue(), _reader("a.npz")),
        Seed("npz-packed", packed.getvalue(), _reader("a.npz")),
    ]
    return [(seed, mutate) for seed in found]


def _reader(name: str) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        from gapless.data import check_matrix
        from gapless.data.files import read_samples

        named = path.with_name(name)
        path.rename(named)
        try:
            return check_matrix(read_samples(named).X)
        finally:
            named.unlink()

    return read


# --- the campaign


@dataclass(frozen=True)
class Failure:
    """A mutation that ended otherwise: its number tells how to make it again."""

    number: int
    seed: str
    what: str
    content: bytes


def run(kind: str, count: int, seed: int = 0, *, first: int = 0) -> tuple[Counter[str], list[Failure]]:
    """(how many ended how, failures) of ``count`` mutations, in child processes."""
    outcomes: Counter[str] = Counter()
    failures: list[Failure] = []
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = seeds(kind, folder)
        at, end = first, first + count
        while at < end:
            stop = min(end, at + _SHARE)
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=_work, args=(files, folder, seed, at, stop, sender))
            child.start()
            sender.close()
            at = _collect(receiver, child, at, stop, files, seed, outcomes, failures)
    return outcomes, failures


def _collect(
    receiver: Any,
    child: Any,
    at: int,
    stop: int,
    files: Any,
    seed: int,
    outcomes: Counter[str],
    failures: list[Failure],
) -> int:
    """Take a child's outcomes; the mutation at which it died or hung is a failure, and the next child goes on behind it."""
    while at < stop:
        alive = receiver.poll(10 * SECONDS)
        try:
            outcome, what = receiver.recv() if alive else ("hang", f"no answer in {10 * SECONDS:g} s")
        except EOFError:
            child.join()
            outcome, what = "crash", f"the process ended with {child.exitcode}"
        outcomes[outcome] += 1
        if outcome not in ("sentence", "loaded"):
            file, content = _mutant(files, seed, at)
            failures.append(Failure(at, file.name, f"{outcome}: {what}", content))
        at += 1
        if outcome in ("hang", "crash"):
            child.kill()
            break
    child.join()
    return at


def _mutant(files: Any, seed: int, number: int) -> tuple[Seed, bytes]:
    rng = random.Random(f"{seed}-{number}")
    file, change = rng.choice(files)
    return file, change(file.content, rng)


def _work(files: Any, folder: Path, seed: int, first: int, stop: int, sender: Any) -> None:
    from gapless.errors import GaplessError

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    path = folder / f"mutant-{os.getpid()}"
    for number in range(first, stop):
        file, content = _mutant(files, seed, number)
        path.write_bytes(content)
        begin = time.perf_counter()
        try:
            file.read(path)
            outcome, what = "loaded", ""
        except GaplessError as error:
            outcome, what = "sentence", str(error)
            if not what.strip():
                outcome, what = "silence", repr(error)
            elif (
                "MemoryError" in what or "nable to allocate" in what
            ):  # the limit was met, if by something that took it well
                outcome = "memory"
        except Exception:  # whatever else there is: that is what is looked for
            outcome, what = "traceback", traceback.format_exc()
        took = time.perf_counter() - begin
        if took > SECONDS:
            outcome, what = "slow", f"{took:.1f} s; {what}"
        sender.send((outcome, what))
    sender.close()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=["model", "text"], required=True)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutation, to make one again")
    options = parser.parse_args()
    begin = time.perf_counter()
    outcomes, failures = run(options.kind, options.count, options.seed, first=options.first)
    shown: set[str] = set()
    for failure in failures:
        last = failure.what.strip().splitlines()
        key = f"{failure.seed} {last[-1]} {last[-3] if len(last) > 2 else ''}"
        if key not in shown:
            shown.add(key)
            print(f"--- {failure.number} ({failure.seed}): {failure.what}")
    print(
        f"{options.kind}: {sum(outcomes.values()):,} mutations in {time.perf_counter() - begin:.0f} s: {dict(outcomes)}"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
