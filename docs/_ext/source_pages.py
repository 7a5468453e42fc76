"""Links to source files, such as ``[`solve`](../src/gapless/solve.py)``, lead to a page of the site that shows the file, at the line of the name.

On GitHub and in an editor the same links open the file itself. A link to the folder of examples leads to the gallery, and one to the benchmarks'
results to their page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("src", "tests", "native", "examples")
# What has a page of its own on the site, by its path in the checkout; MyST leaves out the suffix of Markdown files.
_PAGES = {"examples": "gallery/index.html", "benchmarks/RESULTS": "benchmarks.html"}


def line_of(path: Path, name: str) -> int:
    """The line that defines the last part of a dotted name, or 1."""
    last = name.rpartition(".")[2]
    pattern = re.compile(rf"^\s*(?:(?:def|class|struct) {last}\b|{last}\b.*[:=]|.*\b{last}\(.*\{{?$)")
    strict = re.compile(rf"^\s*(?:def|class|struct) {last}\b")
    lines = path.read_text(encoding="utf-8").splitlines()
    for each in (strict, pattern):
        for number, line in enumerate(lines, start=1):
            if last and each.match(line):
                return number
    return 1


class LinkSources(SphinxTransform):
    """Turn MyST's links to files of the checkout, which would be downloads, into links to their pages."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        """Replace each such link of one page."""
        here = Path(self.env.doc2path(self.env.docname)).parent
        up = "../" * self.env.docname.count("/")
        links = [*self.document.findall(addnodes.download_reference), *self.document.findall(addnodes.pending_xref)]
        for node in links:
            target = (here / node["reftarget"]).resolve()
            if not target.is_relative_to(ROOT):
                continue
            name = target.relative_to(ROOT).as_posix()
            if name in _PAGES:
                uri = _PAGES[name]
            elif name.split("/")[0] in _FOLDERS and target.is_file():
                self.env.source_pages.setdefault(self.env.docname, set()).add(name)  # type: ignore[attr-defined]
                uri = f"source/{name}.html#line-{line_of(target, node.astext())}"
            else:
                continue
            link = nodes.reference("", "", *node.children, refuri=up + uri, internal=True)
            node.replace_self(link)


def collect(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each file that some page links to: its text, highlighted, with an anchor a line."""
    formatter = HtmlFormatter(lineanchors="line", anchorlinenos=True, linenos="inline", cssclass="highlight")
    for name in sorted(set().union(*app.env.source_pages.values())):  # type: ignore[attr-defined]
        text = (ROOT / name).read_text(encoding="utf-8")
        body = f"<h1><code>{html.escape(name)}</code></h1>\n{highlight(text, get_lexer_for_filename(name), formatter)}"
        yield f"source/{name}", {"title": name, "body": body, "parents": []}, "page.html"


def forget(app: Sphinx, env: Any, docname: str) -> None:
    """A page that is read anew names its files anew."""
    if not hasattr(env, "source_pages"):
        env.source_pages = {}
    env.source_pages.pop(docname, None)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the transform and the pages."""
    app.add_transform(LinkSources)
    app.connect("env-purge-doc", forget)
    app.connect("html-collect-pages", collect)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
