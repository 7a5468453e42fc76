"""What a fit frees stays with the process: the next fit finds its pages as they were."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import numpy as np
import gapless

def fill():
    held = [np.ones(2**18) for _ in range(8)]  # 16 MiB, as the vectors of a fit on 250,000 samples

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

fill()
before = faults()
fill()
print(faults() - before)
"""


@pytest.mark.skipif("san.so" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer brings an allocator of its own")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not the one that returns memory early")
def test_vectors_of_the_next_fit_touch_no_fresh_pages() -> None:
    found = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 400  # of 4,096 pages
