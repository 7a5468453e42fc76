"""Packages that people use with estimators; the extras ``test`` and ``packages`` install them."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

import pytest


def package(name: str) -> ModuleType:
    """A module, or a skip of the whole file that says what to install. What a package warns of while it is imported is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"{name} is not there ({error}); pip install 'gapless[test,packages]'", allow_module_level=True)
