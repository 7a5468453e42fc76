"""Table cells that hold a sentence are marked, so that the style sheet can give them a width at which a sentence is read.

A browser narrows such cells first, to a word a line, where a neighbour holds names that cannot be broken.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_SENTENCE = 28  # characters outside of code; what is shorter fits a narrow column in two or three lines


class MarkProse(SphinxTransform):
    """Mark the cells of tables that hold a sentence."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        """Mark those of one page."""
        for cell in self.document.findall(nodes.entry):
            code = sum(len(each.astext()) for each in cell.findall(nodes.literal))
            if len(cell.astext()) - code > _SENTENCE:
                cell["classes"].append("prose")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the transform."""
    app.add_transform(MarkProse)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
