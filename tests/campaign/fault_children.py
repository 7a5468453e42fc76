"""Functions that run in a process which a fault will hit: ``python -m tests.campaign.fault_children NAME ARGUMENTS``. Each prints "ready" first."""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np

import gapless as gl
from gapless.data.store import convert
from tests.campaign.cases import make_case
from tests.campaign.judge import make_problem
from tests.campaign.specs import draw


def models() -> tuple[gl.SVC, gl.SVC]:
    """Two models: a file may hold the first or the second, never parts of both."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 20)), rng.random(300) < 0.5
    return gl.SVC(C=1.0).fit(X, y), gl.SVC(C=2.0).fit(X, y)


def digest(result: gl.Result) -> str:
    """A hash of the bits of a result, as a short text."""
    parts = (result.w, result.offsets, result.beta, result.expansion)
    stored = b"".join(b"-" if part is None else np.ascontiguousarray(part).tobytes() for part in parts)
    return hashlib.sha256(stored + repr((result.certificate.primal, result.certificate.dual)).encode()).hexdigest()[:16]


def problems(number: int, seed: int = 5) -> Iterator[gl.Problem]:
    """One large linear problem, one large kernel problem, and ``number`` problems of the campaign whose fits end soon and without ``max_time``."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1500, 20))
    y = X[:, 0] + rng.normal(size=1500) > 0
    yield gl.Problem(X, y, C=1.0)
    yield gl.Problem(X[:800], y[:800], kernel=gl.kernels.RBF(0.1))
    for index in count():
        if number <= 0:
            return
        spec = draw(seed, index)
        tame = spec["scaling"] == "none" and "offset" not in spec and 1e-3 < spec.get("value", 0) < 1e3
        if (
            spec["form"] == "problem"
            and tame
            and spec["kernel"][0] not in ("precomputed", "exp", "series", "power", "product")
        ):
            number -= 1
            yield make_problem(spec, make_case(spec))


def solve_all(number: int) -> list[str]:
    """The digests of some fits, which are bounded by iterations and not by time, so that they can be repeated."""
    return [digest(gl.solve(problem, tol=1e-6, max_iter=2000)) for problem in problems(number)]


def tell(line: str) -> None:
    print(line, flush=True)


def save_for_ever(path: str) -> None:
    """Save one model after the other to one path."""
    both = models()
    both[0].save(path)
    tell("ready")
    for k in count():
        both[k % 2].save(path)


def convert_for_ever(source: str, target: str) -> None:
    """Convert a file again and again, each time replacing the former store."""
    convert(source, target)
    tell("ready")
    while True:
        convert(source, target)


def save_on_a_full_disk(path: str, size: str) -> None:
    """Save a model where no file may be longer than ``size`` bytes, and print how the save ended."""
    model = models()[1]
    _no_file_longer_than(int(size))
    tell("ready")
    try:
        model.save(path)
        tell(json.dumps("saved"))
    except gl.errors.GaplessError as error:
        tell(json.dumps(f"sentence: {error}"))


def convert_on_a_full_disk(source: str, target: str, size: str) -> None:
    """Convert a file where no file may be longer than ``size`` bytes, and print how the conversion ended."""
    _no_file_longer_than(int(size))
    tell("ready")
    try:
        convert(source, target)
        tell(json.dumps("saved"))
    except gl.errors.GaplessError as error:
        tell(json.dumps(f"sentence: {error}"))


def _no_file_longer_than(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails with an error, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def interrupted_often(rounds: str) -> None:
    """Send SIGINT at random moments of a solve; the same solve without a signal must then give the same bits as before."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = random.Random(0)
    some = list(problems(4))
    expected = [digest(gl.solve(problem, tol=1e-6, max_iter=2000)) for problem in some]
    tell("ready")
    caught, wrong = 0, []
    for _ in range(int(rounds)):
        for k, problem in enumerate(some):
            # The signal is raised on the timer's thread, and so has arrived when the timer ends; sent to the process it might arrive in the next
            # solve.
            timer = threading.Timer(rng.uniform(0.0, 0.03), signal.raise_signal, (signal.SIGINT,))
            try:
                timer.start()
                gl.solve(problem, tol=1e-6, max_iter=2000)
                timer.join()
            except gl.Interrupted as interruption:
                caught += 1
                certificate = interruption.result.certificate
                if not certificate.gap >= 0:
                    wrong.append(f"interrupted with a negative gap: {certificate}")
            except KeyboardInterrupt:  # the signal came after the solve had returned
                caught += 1
            timer.join()
            if digest(gl.solve(problem, tol=1e-6, max_iter=2000)) != expected[k]:
                wrong.append(f"after an interruption problem {k} has another solution")
    tell(json.dumps({"caught": caught, "wrong": wrong}))


def digests(number: str) -> None:
    """Print the digests of some fits."""
    tell("ready")
    tell(json.dumps(solve_all(int(number))))


def forked(number: str) -> None:
    """Compare the digests of some fits in this process, whose threads have run, with those in a fork of it; print the exit code of the fork."""
    before = solve_all(int(number))
    tell("ready")
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if solve_all(int(number)) == before else 1)
    _, status = os.waitpid(child, 0)
    tell(json.dumps(os.waitstatus_to_exitcode(status)))


def in_parallel(backend: str, number: str) -> None:
    """Print whether some fits have the same digests one after the other and two at a time by joblib."""
    from joblib import Parallel, delayed

    before = solve_all(int(number))
    tell("ready")
    tell(
        json.dumps(
            Parallel(n_jobs=2, backend=backend)(delayed(solve_all)(int(number)) for _ in range(4)) == [before] * 4
        )
    )


def many_fits(fits: str) -> None:
    """Print the resident memory in MB after a third, two thirds and all of many fits."""
    rng = np.random.default_rng(0)
    tell("ready")
    grown = []
    for k in range(int(fits)):
        n = 20 + k % 30
        X = rng.normal(size=(n, 4))
        y = np.arange(n) % 2
        kernel = gl.kernels.RBF(0.5) if k % 2 else None
        gl.solve(gl.Problem(X, y, kernel=kernel, C=1.0), tol=1e-3)
        gl.SVC(C=1.0).fit(X, y).predict(X)
        if (k + 1) % (int(fits) // 3) == 0:
            grown.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6)
    tell(json.dumps(grown))


CHILDREN: tuple[Callable[..., None], ...] = (
    save_for_ever, convert_for_ever, save_on_a_full_disk, convert_on_a_full_disk, interrupted_often, digests, forked, in_parallel, many_fits,
)  # fmt: skip

if __name__ == "__main__":
    {child.__name__: child for child in CHILDREN}[sys.argv[1]](*sys.argv[2:])
