r"""Formulas as MathML, which browsers set by themselves: pages need no script and no network for them.

Powers and relations that are written as Unicode characters, such as x² ≤ y, become TeX's x^2 \le y before, so that they are set as such; in an editor
and in ``help()`` the character is what reads best.
"""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

_POWERS = {"²": "^2", "³": "^3", "⁴": "^4"}
_RELATIONS = {
    "≤": "le",
    "≥": "ge",
    "≠": "ne",
    "≈": "approx",
    "∈": "in",
    "→": "to",
    "⊗": "otimes",
    "×": "times",
    "·": "cdot",
    "±": "pm",
}
_AS_TEX = str.maketrans(_POWERS | {sign: f"\\{name} " for sign, name in _RELATIONS.items()})


def _mathml(node: nodes.Element, display: str) -> str:
    return convert(node.astext().translate(_AS_TEX), display=display)


def _write_inline(writer: nodes.NodeVisitor, node: nodes.math) -> None:
    writer.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def _write_block(writer: nodes.NodeVisitor, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math notranslate">{_mathml(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_write_inline, None), (_write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
