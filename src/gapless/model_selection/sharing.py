"""Whether fits of one kernel take less on a table of its entries, from C to C, than one by one: a model of both, in the unit of ``work.py``.

The numbers are by hand, of searches over 500 to 10,000 samples with two and with eight classes. They decide about time alone.
"""

from __future__ import annotations

import numpy as np

# An entry of a table of few samples, and what memory adds where it has to be touched for the first time.
_TABLE, _FRESH = 5.0, 16.0
_FEW = 3000  # samples up to which the next table finds the memory of the last one in place; of twice as many none does
_CHAIN = 3.0  # for each pair of training samples: the fits of all C's of a chain, each of which begins where the last one ended
# The same of one fit by itself, and what each C of the grid adds to it, since larger ones take longer.
_ALONE, _FURTHER = 2.0, 0.2
_SHARED_FIT, _OWN_FIT = 2e6, 3.5e6  # the objects, checks and scores of a fit
# By how much each class above the second makes the fits of a chain longer, where there are _FEW samples, and those by themselves.
_CLASS_IN_CHAIN, _CLASS_ALONE = 2.5, 0.2
_CLASSES = 8  # with more the problems of a chain are smaller, and take no longer


def pays(n: int, n_train: int, fits: int, chains: int, classes: int) -> bool:
    """Whether a table of n samples pays for so many fits on ``n_train`` samples of them, in so many chains along C.

    >>> pays(2000, 1333, 9, 3, 8), pays(3000, 2000, 9, 3, 8), pays(3000, 2400, 35, 5, 26)
    (True, False, True)
    >>> pays(3000, 2400, 35, 5, 2), pays(6000, 4000, 9, 3, 2), pays(6000, 4800, 35, 5, 2), pays(20_000, 13_333, 6, 3, 2)
    (True, False, True, False)
    """
    more, pairs = max(0, classes - 2), float(n_train) ** 2
    table = (_TABLE + _FRESH * float(np.clip(n / _FEW - 1.0, 0.0, 1.0))) * float(n) ** 2
    few = min(1.0, n / _FEW) ** 4  # the entries of fewer samples stay in the cache
    longer = 1.0 + _CLASS_IN_CHAIN * min(more, _CLASSES - 2) * few
    shared = table + fits * _SHARED_FIT + chains * _CHAIN * longer * pairs
    alone = fits * (_OWN_FIT + (_ALONE + _FURTHER * fits / chains) * (1.0 + _CLASS_ALONE * more) * pairs)
    return shared < alone
