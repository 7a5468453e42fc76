"""Constraints on constructor parameters, declared as data and checked when ``fit`` begins."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

from gapless.errors import InvalidInputError
from gapless.kernels.parameters import MOST_POWER
from gapless.solvers import SOLVERS, Solver


class Rule(NamedTuple):
    """What a parameter may be: a test of the value, and the words that follow "must be" in the error."""

    holds: Callable[[Any], bool]
    expected: str


def _real(value: Any) -> bool:
    return isinstance(value, (float, Real)) and not isinstance(value, bool) and not math.isnan(value)


def _whole(value: Any) -> bool:
    return isinstance(value, (int, Integral)) and not isinstance(value, bool)


def one_of(*choices: str) -> Rule:
    """The rule for a parameter that is one of these strings."""
    return Rule(lambda value: isinstance(value, str) and value in choices, f"one of {', '.join(map(repr, choices))}")


POSITIVE: Rule = Rule(lambda value: _real(value) and value > 0, "a positive number")
POSITIVE_FINITE: Rule = Rule(lambda value: _real(value) and 0 < value < math.inf, "a positive number")
POSITIVE_WHOLE: Rule = Rule(lambda value: _whole(value) and value > 0, "a positive whole number")
NON_NEGATIVE: Rule = Rule(lambda value: _real(value) and 0 <= value < math.inf, "a number of at least 0")
FINITE: Rule = Rule(lambda value: _real(value) and math.isfinite(value), "a finite number")
BOOLEAN: Rule = Rule(lambda value: isinstance(value, bool) or type(value).__name__ == "bool", "True or False")
VERBOSE: Rule = Rule(
    lambda value: BOOLEAN.holds(value) or (_whole(value) and value >= 0), "True, False or a level of at least 0"
)
SHARE: Rule = Rule(lambda value: _real(value) and 0 < value <= 1, "a number above 0 and at most 1")
CLASS_WEIGHT: Rule = Rule(
    lambda value: value is None or value == "balanced" or isinstance(value, dict),
    "None, 'balanced' or a dict of weights",
)
CALLBACK: Rule = Rule(lambda value: value is None or callable(value), "None or a function of a Progress")

SOLVING: dict[str, Rule] = {
    "tol": POSITIVE_FINITE,
    "verbose": VERBOSE,
    "solver": Rule(
        lambda value: value == "auto" or isinstance(value, Solver) or value in SOLVERS,
        f"a Solver or one of 'auto', {', '.join(map(repr, SOLVERS))}",
    ),
    "max_time": Rule(lambda value: value is None or POSITIVE.holds(value), "None or a positive number of seconds"),
    "warm_start": BOOLEAN,
    "n_jobs": Rule(
        lambda value: value is None or (_whole(value) and value != 0), "None or a whole number other than 0"
    ),
    "callback": CALLBACK,
}
KERNEL: dict[str, Rule] = {
    **SOLVING,
    "kernel": Rule(
        lambda value: callable(value) or value in ("linear", "poly", "rbf", "sigmoid", "precomputed"),
        "'linear', 'poly', 'rbf', 'sigmoid', 'precomputed', a kernel of gapless.kernels, or a function of two matrices",
    ),
    "degree": Rule(
        lambda value: _whole(value) and 0 <= value <= MOST_POWER,
        f"a whole number of at least 0 and at most {MOST_POWER:,}",
    ),
    "gamma": Rule(
        lambda value: value in ("scale", "auto") if isinstance(value, str) else NON_NEGATIVE.holds(value),
        "'scale', 'auto' or a number of at least 0",
    ),
    "coef0": FINITE,
    "shrinking": BOOLEAN,
    "cache_size": POSITIVE_FINITE,
    "max_iter": Rule(
        lambda value: POSITIVE_WHOLE.holds(value) or (_whole(value) and value == -1),
        "a positive whole number, or -1 for the solver's own cap",
    ),
}


def check_parameters(estimator: Any, rules: dict[str, Rule]) -> None:
    """Refuse the first parameter that breaks its rule, with a sentence."""
    for name, rule in rules.items():
        value = getattr(estimator, name)
        if not rule.holds(value):
            owner = type(estimator).__name__
            raise InvalidInputError(f"The {name!r} parameter of {owner} must be {rule.expected}; got {value!r}.")
