"""Faults: files, results and memory after SIGINT, kill -9, a full disk, a fork, under several threads and processes, and after many fits.

Each function returns sentences that tell what went wrong; an empty list is a pass.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import gapless as gl
from gapless.data.store import convert, open_store
from tests.campaign.children import ROOT, ask, libsvm_file, start
from tests.campaign.signal_faults import (
    changed_arrays,
    interrupted_cli,
    interrupted_predict,
    interrupted_search,
    killed_at_each_rename,
    terminated_cli,
)

GROWTH = 10.0  # MB by which resident memory may grow from one third of many fits to the next


def kill_after(child: subprocess.Popen[str], seconds: float) -> None:
    """Kill a child by SIGKILL after so many seconds."""
    time.sleep(seconds)
    child.kill()
    child.communicate()


def killed_while_saving(rounds: int, folder: Path) -> list[str]:
    """After a kill during a save the model file holds the first or the second model, whole."""
    rng, wrong, path = random.Random(0), [], folder / "model.safetensors"
    for _ in range(rounds):
        kill_after(start("save_for_ever", path), rng.uniform(0.0, 0.1))
        try:
            if gl.load(path).C not in (1.0, 2.0):
                wrong.append("the file holds a model that nobody saved")
        except gl.errors.GaplessError as error:
            wrong.append(f"the file cannot be read after kill -9: {error}")
    return wrong


def killed_while_converting(rounds: int, folder: Path) -> list[str]:
    """After a kill during a conversion the store is whole, and another conversion succeeds and leaves no further files."""
    rng, wrong = random.Random(0), []
    source, target = libsvm_file(folder, 3000), folder / "store"
    for _ in range(rounds):
        kill_after(start("convert_for_ever", source, target), rng.uniform(0.0, 0.1))
        try:
            if open_store(target).X.shape[0] != 3000:
                wrong.append("the store has lost samples")
        except gl.errors.GaplessError as error:
            wrong.append(f"the store cannot be read after kill -9: {error}")
        convert(source, target)
        left = sorted(p.name for p in folder.iterdir() if p not in (source, target))
        if left or open_store(target).X.shape[0] != 3000:
            wrong.append(f"a second conversion leaves {left}")
    return wrong


def killed_while_training(rounds: int, folder: Path) -> list[str]:
    """After ``gapless train`` is killed at a random moment the former model file, or the new one, can be read."""
    rng, wrong, path = random.Random(0), [], folder / "model.safetensors"
    source = libsvm_file(folder, 500)
    train = [sys.executable, "-c", "from gapless.cli import app; app()", "train", str(source), "--out", str(path)]
    subprocess.run(train, cwd=ROOT, check=True, capture_output=True)
    for _ in range(rounds):
        child = subprocess.Popen(train, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        kill_after(child, rng.uniform(0.5, 3.0))
        try:
            gl.load(path)
        except gl.errors.GaplessError as error:
            wrong.append(f"the model file cannot be read after kill -9: {error}")
    return wrong


def full_disk(rounds: int, folder: Path) -> list[str]:
    """A save or a conversion without room on the disk ends with a sentence, leaves the old file as it was, and leaves no other file."""
    rng, wrong = random.Random(0), []
    path, source, target = folder / "model.safetensors", libsvm_file(folder, 3000), folder / "store"
    ask("save_on_a_full_disk", path, 10**9)
    before = path.read_bytes()
    for _ in range(rounds):
        size = rng.randrange(1, len(before))
        for told in (
            ask("save_on_a_full_disk", path, size),
            ask("convert_on_a_full_disk", source, target, rng.randrange(1, 10_000)),
        ):
            if not told.startswith("sentence:"):
                wrong.append(f"no room, and no sentence: {told}")
        if path.read_bytes() != before:
            wrong.append("the old model is lost")
        left = sorted(p.name for p in folder.iterdir() if p not in (path, source))
        if left:
            wrong.append(f"files are left: {left}")
    return wrong


def interrupted(rounds: int, folder: Path) -> list[str]:
    """A solve that SIGINT interrupts at a random moment has a certificate, and the next solve gives the same bits as before."""
    told = ask("interrupted_often", rounds)
    if not isinstance(told, dict):
        return [str(told)]
    return told["wrong"] if told["caught"] else ["no interruption was caught"]


def forked(rounds: int, folder: Path) -> list[str]:
    """A fork of a process whose threads have run computes the same bits."""
    told = ask("forked", rounds)
    return [] if told == 0 else [f"the fork ended with {told}"]


def loky(rounds: int, folder: Path) -> list[str]:
    """Two processes of joblib compute the same bits as one."""
    told = ask("in_parallel", "loky", rounds)
    return [] if told is True else [f"in processes: {told}"]


def threads(rounds: int, folder: Path) -> list[str]:
    """Two threads that solve at the same time compute the same bits as one."""
    told = ask("in_parallel", "threading", rounds)
    return [] if told is True else [f"in threads: {told}"]


def one_or_two_threads(rounds: int, folder: Path) -> list[str]:
    """One thread and two threads of the core compute the same bits."""
    one, two = (ask("digests", rounds, GAPLESS_NUM_THREADS=number, OMP_NUM_THREADS="1") for number in ("1", "2"))
    return [] if one == two and isinstance(one, list) else [f"one thread {one}, two threads {two}"]


def memory(rounds: int, folder: Path) -> list[str]:
    """The resident memory does not grow with the number of fits."""
    told = ask("many_fits", 300 * rounds)
    if not isinstance(told, list):
        return [str(told)]
    growth = [later - earlier for earlier, later in pairwise(told)]
    return [f"the resident memory grew by {growth} MB from {told[0]:.0f} MB"] if max(growth) > GROWTH else []


FAULTS: tuple[Callable[[int, Path], list[str]], ...] = (
    killed_while_saving, killed_while_converting, killed_while_training, full_disk, interrupted, forked, loky, threads, one_or_two_threads, memory,
    interrupted_search, interrupted_predict, interrupted_cli, terminated_cli, killed_at_each_rename, changed_arrays,
)  # fmt: skip
