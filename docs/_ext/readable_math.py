"""Powers written as Unicode characters, such as x², become TeX's x^2: MathJax takes the character for a letter, and sets what follows it too close.

In an editor and in ``help()`` the character is what reads best.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_POWERS = str.maketrans({"²": "^2", "³": "^3", "⁴": "^4"})


class WritePowers(SphinxTransform):
    """Rewrite the powers of each formula."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        """Rewrite those of one page."""
        for node in [*self.document.findall(nodes.math), *self.document.findall(nodes.math_block)]:
            text = node.astext()
            if text != text.translate(_POWERS):
                node[:] = [nodes.Text(text.translate(_POWERS))]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the transform."""
    app.add_transform(WritePowers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
