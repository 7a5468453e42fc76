"""The two namespaces that every workflow is run with."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.workflows.agreement import NAMESPACES


@pytest.fixture(params=list(NAMESPACES.values()), ids=list(NAMESPACES))
def svm(request: pytest.FixtureRequest) -> ModuleType:
    """What a script imports its support vector machines from: ``sklearn.svm`` or ``gapless``."""
    return request.param
