"""The directive `gallery`: all pictures of docs/figures, each with the page that shows it and the script that draws it.

    ```{gallery}
    ```

The build finds them: a picture belongs to the first page that shows it, whose title and text beside the picture are taken, and to the
script of docs/figures, benchmarks or scripts that writes its name. A picture without a page or a script is a warning.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).resolve().parents[1]
FIGURES = DOCS / "figures"
SUFFIXES = (".png", ".svg")
SCRIPTS = {
    "joint-": FIGURES / "joints_drawn.py",
    "force-": FIGURES / "forces_drawn.py",
    "coupling-": FIGURES / "driven_drawn.py",
    "driver-": FIGURES / "driven_drawn.py",
    "peers-": FIGURES / "peers.py",
    "viewer-": FIGURES / "viewer_drawn.py",
}
"""Scripts that draw many pictures, whose names begin so. Others hold the name."""
SHOWN = re.compile(r"!\[([^\]]*)\]\(figures/([^)]+)\)|```\{image\} figures/(\S+)\n(?::alt: ([^\n]*)\n)?")


def pictures() -> list[str]:
    """The names of all pictures."""
    return sorted(path.name for path in FIGURES.iterdir() if path.suffix in SUFFIXES)


def shown_on() -> dict[str, tuple[str, str]]:
    """Of each picture the first page that shows it, and its text there."""
    found: dict[str, tuple[str, str]] = {}
    for page in sorted(DOCS.glob("*.md")):
        for match in SHOWN.finditer(page.read_text(encoding="utf-8")):
            found.setdefault(match[2] or match[3], (page.stem, match[1] or match[4] or ""))
    return found


def script_of(name: str) -> Path | None:
    """The script that draws a picture."""
    for begin, script in SCRIPTS.items():
        if name.startswith(begin):
            return script
    stem = re.compile(rf"[\"']{re.escape(Path(name).stem)}(\.\w+)?[\"']")
    for folder in (FIGURES, DOCS.parent / "benchmarks"):
        for script in sorted(folder.glob("[!_]*.py")):
            if script.stem == Path(name).stem or stem.search(script.read_text(encoding="utf-8")):
                return script
    return None


def title(page: str) -> str:
    found = re.search(r"^# (.+)$", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else page


class Gallery(SphinxDirective):
    """See above."""

    def run(self) -> list[nodes.Node]:
        pages = shown_on()
        of_pages: dict[str, list[str]] = {}
        for name in pictures():
            if name not in pages or script_of(name) is None:
                logging.getLogger(__name__).warning("picture %s has no page or no script", name)
                continue
            of_pages.setdefault(pages[name][0], []).append(name)
        text = []
        for page, names in sorted(of_pages.items(), key=lambda item: title(item[0])):
            text += [f"## {title(page)}", "", f"Shown on {{doc}}`{page}`.", ""]
            for name in names:
                script = script_of(name)
                assert script is not None
                told = pages[name][1] or Path(name).stem.replace("-", " ")
                where = "figures" if script.parent == FIGURES else "../benchmarks"
                text += [
                    f"![{told}](figures/{name})", "",
                    f"{told}: {{download}}`{script.name} <{where}/{script.name}>`", "",
                ]  # fmt: skip
        return self.parse_text_to_nodes("\n".join(text), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True}
