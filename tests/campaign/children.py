"""The processes that faults hit, and the data that they work on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds after which a child that has not ended is a failure


def command(name: str, *arguments: object, module: str = "fault_children") -> list[str]:
    """The command line of a child."""
    return [sys.executable, "-m", f"tests.campaign.{module}", name, *map(str, arguments)]


def start(name: str, *arguments: object) -> subprocess.Popen[str]:
    """A child that has said "ready"."""
    child = subprocess.Popen(
        command(name, *arguments), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    if child.stdout.readline() != "ready\n":
        child.kill()
        raise RuntimeError(f"{name} did not start: {child.communicate()[1][-2000:]}")
    return child


def ask(name: str, *arguments: object, module: str = "fault_children", **environment: str) -> Any:
    """The JSON that a child prints in its last line; a sentence where the child fails."""
    try:
        done = subprocess.run(
            command(name, *arguments, module=module), cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=PATIENCE
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{name} did not end in {PATIENCE} s"
    if done.returncode:
        return f"{name} ended with {done.returncode}: {done.stderr[-1000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def libsvm_file(folder: Path, n: int) -> Path:
    """A LIBSVM file of n samples in a folder."""
    rng = np.random.default_rng(0)
    path = folder / "samples.svm"
    rows = rng.normal(size=(n, 8))
    path.write_text(
        "".join(
            f"{i % 2} " + " ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(row)) + "\n" for i, row in enumerate(rows)
        )
    )
    return path
