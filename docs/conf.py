"""The site's settings: ``make docs`` builds the pages of this folder, the reference and the gallery into docs/_build/html, warnings as errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).resolve().parent / "_ext"))

import gapless

project = "Gapless"
author = "Gapless contributors"
copyright = author
version = release = gapless.__version__

extensions = [
    "api_pages",
    "prose_cells",
    "readable_math",
    "source_pages",
    "tidy_blocks",
    "myst_parser",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
add_module_names = False

# Markdown as GitHub renders it: $…$ is mathematics, and headings have GitHub's anchors, which the pages link to.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

html_math_renderer = "mathml"

# Methods and properties are listed by autodoc: numpydoc's own tables would list those of scikit-learn's base classes too.
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True}
autosummary_generate = True
autosummary_ignore_module_all = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/(?!_)\w+\.py$",
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 10,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "reset_modules": ("matplotlib",),
    "thumbnail_size": (400, 280),
}

html_theme = "pydata_sphinx_theme"
html_title = "Gapless"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "Gapless"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
