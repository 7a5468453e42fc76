"""That the workflows are as many as is promised, and that each is run with both namespaces."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

from tests.workflows.agreement import NAMESPACES

LEAST = 47


def test_enough_workflows_take_both_namespaces() -> None:
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    workflows = {
        f"{file.stem}::{name}"
        for file in files
        for name, function in inspect.getmembers(
            importlib.import_module(f"tests.workflows.{file.stem}"), inspect.isfunction
        )
        if name.startswith("test_") and "svm" in inspect.signature(function).parameters
    }
    assert list(NAMESPACES) == ["sklearn", "gapless"]
    assert len(workflows) >= LEAST, sorted(workflows)
