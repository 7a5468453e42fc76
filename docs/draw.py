"""Draw every figure of the README and of the docs anew, each from the code that stands beside it.

    python docs/draw.py                  # all of them: make figures
    python docs/draw.py kernelised.md    # those of some pages or examples

A page's examples are run, as the tests run them, and every ``figure_rings`` that they leave becomes figures/rings.png. An example script,
such as examples/primal_meets_dual.py, has a function ``draw`` for what its ``main`` returns; it becomes figures/primal-meets-dual.png. So no
figure shows anything that the code no longer does. Those of benchmarks/RESULTS.md are drawn by the benchmark that measures them.
"""

from __future__ import annotations

import doctest
import importlib.util
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FIGURES = DOCS / "figures"
_DPI = 140
_FIGURE = "figure_"  # what the name of a page's figure begins with

sys.path.insert(0, str(ROOT))
from tests.conftest import load_shared  # noqa: E402 - which the line above lets Python find


def sources() -> list[Path]:
    """The example scripts and the pages that have a figure to draw."""
    examples = [path for path in sorted((ROOT / "examples").glob("*.py")) if "\ndef draw(" in path.read_text("utf-8")]
    return examples + [path for path in sorted(DOCS.glob("*.md")) if f">>> {_FIGURE}" in path.read_text("utf-8")]


def draw(source: Path) -> list[Path]:
    """The files written for one page or one example."""
    figures = of_example(source) if source.suffix == ".py" else of_page(source)
    return [write(figure, FIGURES / f"{name}.png") for name, figure in figures.items()]


def write(figure: Figure, path: Path) -> Path:
    """Save a figure, without the date and the versions that would make each drawing another file."""
    figure.savefig(path, dpi=_DPI, metadata={"Software": None})
    return path


def of_example(script: Path) -> dict[str, Figure]:
    """The one figure of an example script, under the script's name."""
    spec = importlib.util.spec_from_file_location(f"example_{script.stem}", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {script.stem.replace("_", "-"): module.draw(module.main())}


def of_page(page: Path) -> dict[str, Figure]:
    """The figures that a page's examples leave, by name; stops at an example that fails. No figures where its data set is not on this machine."""
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__", "shared_data": load_shared}
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.FAIL_FAST
    test = doctest.DocTestParser().get_doctest(text, namespace, page.name, page.name, 0)
    try:
        failed = doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed
    except pytest.skip.Exception as reason:
        print(f"{page.name} keeps its figures: it {reason}.")
        return {}
    if failed:
        sys.exit(f"An example of {page.name} fails, so that nothing was drawn.")
    found = {name.removeprefix(_FIGURE): value for name, value in test.globs.items() if name.startswith(_FIGURE)}
    return {name: figure for name, figure in found.items() if isinstance(figure, Figure)}


if __name__ == "__main__":
    chosen = [path for path in sources() if path.name in sys.argv[1:] or not sys.argv[1:]]
    for source in chosen:
        for path in draw(source):
            print(path.relative_to(ROOT))
