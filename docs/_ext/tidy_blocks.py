"""Code blocks without the empty last line that doctest needs on the pages, where an example ends at one."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class StripBlocks(SphinxTransform):
    """Cut the white space at the end of each code block."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        """Cut it in one page."""
        for block in self.document.findall(nodes.literal_block):
            text = block.astext()
            if block.rawsource == text and text != text.rstrip():
                block.rawsource = text.rstrip()
                block[:] = [nodes.Text(text.rstrip())]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the transform."""
    app.add_transform(StripBlocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
