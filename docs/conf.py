"""How the documentation is built: `sphinx-build -W docs docs/_build/html`. Code cells run as pages are built."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
os.environ["NEXDYN_QUIET"] = (
    "1"  # code cells show answers, not that something was compiled
)

project = "NexDyn"
copyright = "NexDyn developers"
release = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]["version"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "public_names",
    "plain_docstrings",
    "gallery",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"NexDyn {release}"

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # what a page shows is what this version answers
nb_execution_show_tb = (
    True  # a cell that fails is a warning, and a warning fails the build
)
nb_execution_timeout = 300  # the first cell compiles kernels
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    "ArrayLike": "ArrayLike",
    "Array": "Array",
    "NDArray": "NDArray",
}
python_maximum_signature_line_length = 100
