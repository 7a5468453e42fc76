"""A package that is missing skips the test that uses it, with a reason, and not the collection of the tests."""

from __future__ import annotations

import pytest

from tests.packages.installed import Package


def test_a_missing_package_skips_the_test_that_uses_it() -> None:
    absent = Package("no_such_package_anywhere")
    assert not hasattr(absent, "__wrapped__")
    with pytest.raises(
        pytest.skip.Exception, match=r"no_such_package_anywhere cannot be imported .*gapless\[test,packages\]"
    ):
        _ = absent.anything
