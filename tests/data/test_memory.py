from __future__ import annotations

import pytest

from gapless.data import available_bytes, memory, require_memory
from gapless.errors import TooLargeError


def test_available_memory_is_a_positive_number_of_bytes():
    assert 0 < available_bytes() <= 2**62


@pytest.mark.parametrize(
    ("n_bytes", "message"),
    [
        (2**31, "the kernel matrix needs 2.00 GiB, but only 1.00 GiB of memory is available."),
        (2**30 + 2**29, "the kernel matrix needs 1.50 GiB, but only 1.00 GiB of memory is available."),
        (5000 * 2**30, "the kernel matrix needs 5,000 GiB, but only 1.00 GiB of memory is available."),
    ],
)
def test_what_does_not_fit_is_refused_with_both_sizes(monkeypatch, n_bytes, message):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**30)
    with pytest.raises(TooLargeError) as error:
        require_memory(n_bytes, "the kernel matrix")
    assert str(error.value) == message
    assert isinstance(error.value, MemoryError)


def test_what_fits_passes(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    assert require_memory(100, "the kernel matrix") is None


def test_the_smaller_of_machine_and_container_counts(monkeypatch):
    monkeypatch.setattr(memory, "_machine_bytes", lambda: 30)
    monkeypatch.setattr(memory, "_container_bytes", lambda: 20)
    assert available_bytes() == 20
    monkeypatch.setattr(memory, "_container_bytes", lambda: 2**62)
    assert available_bytes() == 30
