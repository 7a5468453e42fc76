"""What the examples on the pages may use without importing it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import load_shared

# The settings of the site, which need what builds it, and what its build writes: no tests are in them.
collect_ignore = ["conf.py", "_ext", "_build", "api", "gallery"]


@pytest.fixture(autouse=True)
def loader(doctest_namespace: dict[str, Any]) -> None:
    """``shared_data("a9a")``: a page that asks for a data set is skipped where it is absent."""
    doctest_namespace["shared_data"] = load_shared
