"""Packages that people use with estimators; the extras ``test`` and ``packages`` install them."""

from __future__ import annotations

import importlib
import warnings
from functools import cache
from types import ModuleType
from typing import Any

import matplotlib
import pytest


class Package:
    """A module that is imported when a test first uses it, so that nobody who collects the tests waits for it.

    Where it is not installed, that test is skipped and says what to install.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # asked by those who collect tests
            raise AttributeError(attribute)
        return getattr(_imported(self._name), attribute)


@cache
def _imported(name: str) -> ModuleType:
    """What a package warns of while it is imported is its own affair, and the style of its figures is to stay so."""
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"{name} cannot be imported ({error}); pip install 'gapless[test,packages]'")
