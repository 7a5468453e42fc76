"""Attributes of a fitted estimator that are made when they are first read.

The objects that tell of each pair of classes take many times as long to make as a fit of hundreds of classes takes, and are often not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any


class Later:
    """A value that is made when it is first asked for.

    >>> later = Later(lambda: print("made") or [1, 2])
    >>> later.value, later.value
    made
    ([1, 2], [1, 2])
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @cached_property
    def value(self) -> Any:
        """The value."""
        return self._make()


class OnDemand:
    """An attribute that may be set to a :class:`Later`; who reads the attribute gets the value, which from then on is in its place.

    >>> class Model:
    ...     parts = OnDemand()
    >>> model = Model()
    >>> model.parts = Later(lambda: [1, 2])
    >>> model.parts, vars(model)
    ([1, 2], {'parts': [1, 2]})
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        state = vars(instance)
        if self._name not in state:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}")
        _make(state, self._name)
        return state[self._name]

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self._name] = value

    def __delete__(self, instance: Any) -> None:
        del vars(instance)[self._name]


def make_all(instance: Any) -> None:
    """Make all attributes of an object that are still to be made."""
    state = vars(instance)
    for name in state:
        _make(state, name)


def _make(state: dict[str, Any], name: str) -> None:
    if isinstance(state[name], Later):
        state[name] = state[name].value
