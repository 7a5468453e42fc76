"""The API reference, written from what the modules export: a page a module, a page a name, and a build that fails where a name has none.

A module's public names are its ``__all__``, lazily loaded ones included; of a module without one, the classes and functions that it defines.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import Counter
from enum import Enum
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any

from sklearn.base import BaseEstimator
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

# Each module with the name that a user imports it by; gapless.nu, for one, is gapless.problems.nu to Python.
MODULES = (
    "gapless",
    "gapless.kernels",
    "gapless.features",
    "gapless.model_selection",
    "gapless.losses",
    "gapless.solvers",
    "gapless.nu",
    "gapless.plot",
    "gapless.data",
    "gapless.errors",
    "gapless.testing",
)
_SECTIONS = ("Estimators", "Functions", "Classes", "Tables")


def module_of(name: str) -> ModuleType:
    """The module that a user reaches by a dotted name."""
    owner, _, last = name.rpartition(".")
    if owner and name not in sys.modules:
        # autodoc imports by name, and so an alias such as gapless.nu is made known to Python.
        sys.modules[name] = getattr(importlib.import_module(owner), last, None) or importlib.import_module(name)
    return importlib.import_module(name)


def public_names(module: ModuleType) -> list[str]:
    """The names that a module exports, modules left out: they have pages of their own."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, value in vars(module).items() if _is_defined_in(module, name, value)]
    return [name for name in names if not inspect.ismodule(getattr(module, name))]


def described(module: str, name: str) -> str:
    """The full name that an exported object is described under: of several modules that export it, the first one's of ``MODULES``.

    Sphinx takes two descriptions of one class for a mistake, since both have the same canonical name.
    """
    value = getattr(module_of(module), name)
    if inspect.isclass(value) or inspect.isfunction(value):
        for other in MODULES:
            if name in public_names(module_of(other)) and getattr(module_of(other), name) is value:
                return f"{other}.{name}"
    return f"{module}.{name}"


def _is_defined_in(module: ModuleType, name: str, value: object) -> bool:
    if name.startswith("_") or not (inspect.isclass(value) or inspect.isfunction(value)):
        return False
    return value.__module__ == module.__name__


def section_of(value: object) -> str:
    """The heading that a name stands under."""
    if isinstance(value, UnionType):
        return "Classes"
    if not inspect.isclass(value):
        return "Functions" if callable(value) else "Tables"
    return "Estimators" if issubclass(value, BaseEstimator) else "Classes"


def _page(name: str) -> str:
    module = module_of(name)
    assert module.__doc__, f"{name} has no docstring to open its page with"
    lines = [name, "=" * len(name), "", _escaped(inspect.getdoc(module) or ""), ""]
    sections: dict[str, dict[str, list[str]]] = {}
    for each in sorted(public_names(module), key=str.lower):
        owner = described(name, each).rpartition(".")[0]
        sections.setdefault(section_of(getattr(module, each)), {}).setdefault(owner, []).append(each)
    for heading in _SECTIONS:
        if heading in sections:
            lines += [heading, "-" * len(heading), ""]
        # A table for each module that describes some of the names, since autosummary looks for all names of a table in one module.
        for owner, names in sorted(sections.get(heading, {}).items(), key=lambda item: item[0] != name):
            lines += [f".. currentmodule:: {owner}", ""]
            lines += [
                ".. autosummary::",
                "   :toctree: names",
                "   :nosignatures:",
                "",
                *(f"   {each}" for each in names),
                "",
            ]
    return "\n".join(lines)


_INDEX = """API reference
=============

Every public name, by the module that it is imported from. Estimators, problems, :func:`gapless.solve` and :func:`gapless.certify` are in ``gapless``.

.. toctree::
   :maxdepth: 1

"""


def write_pages(app: Sphinx, config: Config) -> None:
    """Write docs/api before the build lists its sources: an index, and a page a module. A file that would not change is left alone."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    pages = {name: _page(name) for name in MODULES}
    pages["index"] = _INDEX + "".join(f"   {name}\n" for name in MODULES)
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def name_files(app: Sphinx, config: Config) -> None:
    """Names that differ by capitals alone (KKT and kkt) get files that differ by more, since not every file system tells capitals apart."""
    names = [f"{module}.{name}" for module in MODULES for name in public_names(module_of(module))]
    counts = Counter(name.lower() for name in names)
    config.autosummary_filename_map = {
        name: f"{name}-function" for name in names if counts[name.lower()] > 1 and name.rpartition(".")[2].islower()
    }


def skip_foreign(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from Python's or scikit-learn's classes, and scikit-learn's methods of metadata routing.

    The fields of a named tuple are left out too: the signature names them, and Python's docstrings number them.
    """
    if what not in ("class", "exception"):
        return None
    if name.startswith("set_") and name.endswith("_request"):
        return True
    is_data = not callable(value) and not hasattr(value, "__get__")  # whose docstring is that of its type
    if is_data or re.match("Alias for field number", value.__doc__ or ""):
        return True
    function = inspect.unwrap(
        value.fget if isinstance(value, property) and value.fget else getattr(value, "__func__", value)
    )
    module = getattr(function, "__module__", None) or getattr(
        getattr(function, "__objclass__", None), "__module__", None
    )
    return True if module is not None and not module.startswith("gapless") else None


def _escaped(text: str) -> str:
    """Absolute values, such as |β|, with their bars escaped: reStructuredText would take them for substitutions. What is in backticks stays."""
    parts = re.split(r"(``.*?``|`[^`]*`)", text, flags=re.DOTALL)
    return "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)


def complete(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Say of unions and enumerations what they are made of. Where scikit-learn's docstrings refer to its own pages, the paragraph is left out."""
    if isinstance(value, UnionType):
        lines[:] = ["Any of " + ", ".join(f":class:`{each.__name__}`" for each in value.__args__) + ".", ""]
    elif inspect.isclass(value) and issubclass(value, Enum):
        lines.append("")
        for member in value:
            lines += [f"``{member.name}``", f"    {member.value}", ""]
    elif getattr(value, "__module__", "").startswith("sklearn."):
        paragraphs = "\n".join(lines).split("\n\n")
        lines[:] = "\n\n".join(each for each in paragraphs if ":ref:" not in each).split("\n")


def escape_bars(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape the bars of a docstring's prose; its examples are shown as they are."""
    blocks = "\n".join(lines).split("\n\n")
    lines[:] = "\n\n".join(block if block.lstrip().startswith(">>>") else _escaped(block) for block in blocks).split(
        "\n"
    )


def check_complete(app: Sphinx, error: Exception | None) -> None:
    """Fail where a public name is not documented by a page of the site."""
    if error is not None:
        return
    documented = app.env.get_domain("py").objects  # type: ignore[attr-defined]
    names = [described(module, name) for module in MODULES for name in public_names(module_of(module))]
    missing = sorted(name for name in names if name not in documented)
    if missing:
        raise ExtensionError(f"The API reference lacks {', '.join(missing)}.")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the steps to the build, the first of them before autosummary looks for what to write."""
    app.setup_extension("sphinx.ext.autosummary")
    app.connect("config-inited", name_files)
    app.connect("config-inited", write_pages)
    # After numpydoc, whose priority is 500: it copies the docstrings of properties into their classes' lists of attributes.
    app.connect("autodoc-process-docstring", complete, priority=600)
    app.connect("autodoc-process-docstring", escape_bars, priority=700)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("build-finished", check_complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
