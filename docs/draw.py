"""Draw the figures of a page anew: run its examples, and save every figure that they leave under its name.

    python docs/draw.py kernelised.md

``figure_rings`` becomes figures/rings.png. The examples are those that the tests run, so that no figure shows anything else.
"""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))


def draw(page: str) -> list[Path]:
    """The files written for one page; stops at an example that fails."""
    text = (DOCS / page).read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    if "shared_data(" in text:
        from tests.conftest import load_shared

        namespace["shared_data"] = load_shared
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.FAIL_FAST
    test = doctest.DocTestParser().get_doctest(text, namespace, page, page, 0)
    if doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed:
        sys.exit(f"An example of {page} fails, so that nothing was drawn.")
    written = []
    for name, value in test.globs.items():
        if isinstance(value, Figure) and name.startswith("figure_"):
            path = DOCS / "figures" / f"{name.removeprefix('figure_')}.png"
            value.savefig(path, dpi=110)
            written.append(path)
    return written


if __name__ == "__main__":
    for page in sys.argv[1:]:
        for path in draw(page):
            print(path.relative_to(DOCS.parent))
