"""One more thread for work that is cut in two, kept from one piece of work to the next: starting a thread takes as long as a small product."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache


def second_thread() -> ThreadPoolExecutor:
    """The thread of this process. Work given to it must not itself wait for it."""
    return _of_process(os.getpid())


@cache
def _of_process(process: int) -> ThreadPoolExecutor:
    # A forked process has none of its parent's threads, and needs one of its own.
    return ThreadPoolExecutor(1, thread_name_prefix="gapless")
