"""Every public name of the upper layers explains its parameters in numpydoc's form and shows an example; the doctests run the examples."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import gapless

MODULES = ("gapless", "gapless.kernels", "gapless.features", "gapless.model_selection", "gapless.plot", "gapless.store")
UPPER = re.compile(
    r"gapless\.(\w+|(estimators|features|kernels|model_selection|plot|store|verify)\.\w+|verify|problems\.problem)$"
)
LOWER = ("gapless.losses", "gapless.solvers", "gapless.problems.nu", "gapless.data")
# Objects that another function makes for the user, and a base class: nobody calls their constructors.
MADE_ELSEWHERE = (gapless.Step, gapless.store.StoringMixin, gapless.Interrupted)


def public(without=()):
    found = []
    for name in MODULES:
        module = importlib.import_module(name)
        for each in module.__all__:
            value = getattr(module, each)
            if not (inspect.isclass(value) or inspect.isfunction(value)) or not UPPER.match(value.__module__):
                continue
            if value not in without:
                found.append(pytest.param(value, id=f"{name}.{each}"))
    return found


def explained(docstring):
    """The names that the sections Parameters and Attributes explain."""
    names = set()
    for section in re.findall(r"(?ms)^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", docstring):
        for head in re.findall(r"(?m)^(\S.*)\n +\S", section):
            names.update(re.split(r", *", head.partition(" : ")[0]))
    return {name.lstrip("*") for name in names}


def test_sections_are_read():
    assert explained("Head.\n\nParameters\n----------\na, b : int\n    Two.\n**more\n    Others.\n\nReturns\n-------\nint\n    c\n") == {
        "a", "b", "more",
    }  # fmt: skip


@pytest.mark.parametrize("value", public(without=[gapless.store.StoringMixin]))  # its methods have examples
def test_it_shows_an_example(value):
    assert ">>>" in inspect.getdoc(value)


@pytest.mark.parametrize("value", public(without=[*MADE_ELSEWHERE, gapless.Status, gapless.kernels.Validity]))
def test_it_explains_every_parameter(value):
    assert set(inspect.signature(value).parameters) <= explained(inspect.getdoc(value))


def documented_parts(value):
    """The object, and the methods that it defines itself."""
    methods = vars(value).values() if inspect.isclass(value) else ()
    return [value, *(getattr(each, "__func__", each) for each in methods if callable(getattr(each, "__func__", each)))]


def everything():
    """The public names of all modules, the lower layers' too."""
    found = {}
    for name in (*MODULES, *LOWER):
        module = importlib.import_module(name)
        for each in getattr(module, "__all__", vars(module)):
            value = getattr(module, each)
            if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("gapless."):
                found[f"{value.__module__}.{value.__name__}"] = value
    return [pytest.param(value, id=name) for name, value in found.items()]


@pytest.mark.parametrize("value", everything())
def test_an_example_that_follows_a_section_has_its_own(value):
    """numpydoc takes the lines after Parameters for parameters, until the next title."""
    for part in documented_parts(value):
        docstring = inspect.getdoc(part) or ""
        titles = re.findall(r"(?m)^(\w[\w ]*)\n-{3,}$", docstring.partition(">>>")[0])
        assert ">>>" not in docstring or not titles or titles[-1] == "Examples"


@pytest.mark.parametrize("value", everything())
def test_mathematics_is_written_as_the_site_reads_it(value):
    """With dollars, which reStructuredText does not know, a formula would be shown as it is typed."""
    for part in documented_parts(value):
        assert not re.search(r"\$[^$\n]+\$", inspect.getdoc(part) or "")
