"""The documentation site: `make docs` builds it, offline, in English and Russian."""

from __future__ import annotations

import atexit
import functools
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PREFIX = "ragbench-docs-"
FOLDER = re.compile(rf"\S*/{PREFIX}\w+/project/")
sys.path.insert(0, str(HERE.parent))

import ragbench  # noqa: E402
from docs import docstrings, gallery, works  # noqa: E402
from ragbench.old.report.keeping.results import notebook_format  # noqa: E402
from tests.docs import metrics_page, russian_pages  # noqa: E402

notebook_format()
from docutils import nodes  # noqa: E402
from jupyter_cache.executors import utils as executors  # noqa: E402

# a command's output comes in pieces that end within lines
executors.executenb = functools.partial(executors.executenb, coalesce_streams=True)

project = "ragbench"
author = "the authors of ragbench"
project_copyright = author
version = release = ragbench.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
source_suffix = {".md": "myst-nb"}
exclude_patterns = ["_build", "*.ru.md"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "executed")
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_mime_priority_overrides = [("html", "text/html", 0)]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
suppress_warnings = ["mystnb.unknown_mime_type"]  # a view also says how to draw it again
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of a signature that have no entry of their own

locale_dirs = ["locale"]
gettext_compact = False
gettext_uuid = False
gettext_location = False

html_theme = "pydata_sphinx_theme"
html_title = "ragbench"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "tutorial": [], "explanation/reviewers": []}  # reviewers have two screens
html_theme_options = {
    "navbar_start": ["navbar-logo"],
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["language", "theme-switcher"],
    "header_links_before_dropdown": 6,
    "logo": {"text": "ragbench"},
    "show_prev_next": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "commands": [], "settings": []},  # wide tables, one heading
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
}


def _without_folder(app: Any, tree: nodes.document) -> None:
    """Reports lie below the reader's folder, not below that of the build."""
    for block in tree.findall(nodes.literal_block):
        text = FOLDER.sub("", block.rawsource or block.astext())
        if text != block.astext():
            block.rawsource, block[:] = text, [nodes.Text(text)]


def _project() -> Path:
    """A folder like the checkout, and a database of this build's own: both are gone when the build ends."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    folder.chmod(0o755)  # root's database server runs as another user
    os.environ |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(HERE.parent),
        "RAGBENCH_DATABASE__FOLDER": str(folder / "database"),
        "RAGBENCH_CONFIG": str(folder / "project" / "ragbench.toml"),
        "RAGBENCH_TRUST": str(folder / "project"),  # made here, of links to the checkout
        "XDG_STATE_HOME": str(folder / "state"),
        "COLUMNS": "96",
        "NO_COLOR": "1",
    }
    atexit.register(_leave, folder)
    work = folder / "project"
    work.mkdir()
    shutil.copy(HERE.parent / "ragbench.toml", work)
    (work / "data").symlink_to(HERE.parent / "data")
    (work / "notebooks").symlink_to(HERE.parent / "notebooks")
    return work


def _leave(folder: Path) -> None:
    from ragbench.old.core import settings
    from ragbench.old.store import server

    settings.load.cache_clear()
    server.stop(settings.load())
    shutil.rmtree(folder)


def setup(app: Any) -> None:
    """What Sphinx calls when it begins."""
    app.connect("autodoc-process-docstring", docstrings.written)
    app.connect("builder-inited", _prepare)
    app.connect("source-read", gallery.place)
    app.connect("source-read", metrics_page.russian)
    app.connect("source-read", russian_pages.read_in)
    app.connect("doctree-read", _without_folder)
    app.connect("doctree-resolved", lambda app, tree, _name: works.link(app, tree))


def _prepare(app: Any) -> None:
    if app.builder.name == "html":  # no other executes anything
        project = _project()
        os.environ["TUTORIAL_FOLDER"] = str(project)
        if not gallery.PICTURES.exists():  # the first language draws for both
            gallery.make(project)
