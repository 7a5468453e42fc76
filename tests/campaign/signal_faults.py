"""Faults by signals: SIGINT in searches, in predictions and in the command line, SIGTERM, and kill -9 at each rename; and arrays that change after
they were checked.

Each function returns sentences that tell what went wrong; an empty list is a pass. Searches and predictions run in children
(``signal_children``).
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import gapless as gl
from gapless.data.store import convert, open_store
from tests.campaign.children import ROOT, ask, libsvm_file
from tests.campaign.steps import steps

CLI = [sys.executable, "-c", "from gapless.cli import app; app()"]


def interrupted_search(rounds: int, folder: Path) -> list[str]:
    """A search that SIGINT interrupts at random moments keeps its fits, and goes on to the same scores."""
    told = ask("interrupted_searches", rounds, folder / "fits", module="signal_children")
    return told if isinstance(told, list) else [str(told)]


def interrupted_predict(rounds: int, folder: Path) -> list[str]:
    """After SIGINT in a prediction the next one gives the same bits."""
    told = ask("interrupted_predictions", rounds, module="signal_children")
    return told if isinstance(told, list) else [str(told)]


def changed_arrays(rounds: int, folder: Path) -> list[str]:
    """A thread that writes to arrays while fits and predictions use them kills no process."""
    told = ask("changed_arrays", rounds, module="signal_children")
    return [] if told is True else [f"arrays that change: {told}"]


def interrupted_cli(rounds: int, folder: Path) -> list[str]:
    """A command that SIGINT interrupts ends with 130, or with 0 where it was done, and without a traceback."""
    return _signalled_commands(rounds, folder, signal.SIGINT, {0, 130, -signal.SIGINT})


def terminated_cli(rounds: int, folder: Path) -> list[str]:
    """A command that SIGTERM ends leaves the former model or the new one."""
    return _signalled_commands(rounds, folder, signal.SIGTERM, {0, 143, -signal.SIGTERM})


def _signalled_commands(rounds: int, folder: Path, sent: signal.Signals, codes: set[int]) -> list[str]:
    rng, wrong, path = random.Random(0), [], folder / "model.safetensors"
    source, other = libsvm_file(folder, 2000), folder / "labels.txt"
    train = [*CLI, "train", str(source), "--out", str(path)]
    subprocess.run(train, cwd=ROOT, check=True, capture_output=True)
    commands = {
        "train": train,
        "predict": [*CLI, "predict", str(path), str(source)],
        "tune": [*CLI, "tune", str(source), "--linear", "-C", "1e-2:1e2:5", "--out", str(folder / "tuned.safetensors")],
        "convert": [*CLI, "convert", str(source), str(folder / "store")],
    }
    for _ in range(rounds):
        for name, command in commands.items():
            with open(other, "w") as out:
                child = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.PIPE, text=True)
                # Before the imports are done there is no handler yet: Python then ends by the signal itself, with a traceback of its own.
                time.sleep(rng.uniform(2.0, 5.0))
                child.send_signal(sent)
                told = child.communicate(timeout=120)[1]
            if child.returncode not in codes:
                wrong.append(f"{name} ended with {child.returncode} after {sent.name}: {told[-300:]}")
            if child.returncode == 130 and "Traceback" in told:
                wrong.append(f"{name} shows a traceback after {sent.name}: {told[-300:]}")
            try:
                gl.load(path)
            except gl.errors.GaplessError as error:
                wrong.append(f"the model file cannot be read after {sent.name} in {name}: {error}")
    return wrong


def killed_at_each_rename(rounds: int, folder: Path) -> list[str]:
    """After kill -9 at each step by which a store and a model file are published the former content or the new one is there."""
    wrong: list[str] = []
    first, second = (libsvm_file(folder, n).rename(folder / f"{n}.svm") for n in (20, 30))
    target, path = folder / "store", folder / "model.safetensors"
    X, y = [[0.0], [1.0]], [0, 1]
    former, later = gl.SVC(C=1.0).fit(X, y), gl.SVC(C=2.0).fit(X, y)

    def check_store() -> None:
        try:
            if len(open_store(target).y) not in (20, 30):
                wrong.append("the store has lost samples")
        except gl.errors.GaplessError as error:
            wrong.append(f"the store cannot be read: {error}")

    def check_model() -> None:
        try:
            if gl.load(path).C not in (1.0, 2.0):
                wrong.append("the file holds a model that nobody saved")
        except gl.errors.GaplessError as error:
            wrong.append(f"the model cannot be read: {error}")

    for moment in ("before", "after"):
        steps(lambda: convert(second, target), moment, lambda: convert(first, target), check_store)
        steps(lambda: later.save(path), moment, lambda: former.save(path), check_model)
    return wrong
