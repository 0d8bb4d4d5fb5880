"""What a page may show: views of a measurement by topic, each for JupyterLab and for a page. Nothing here measures."""

from ragbench.show import about, answers, blame, comparison, items, judges, retrieval, runs
from ragbench.show.page import VIEWS, Page
from ragbench.show.view import MIME, View

__all__ = [
    "MIME",
    "VIEWS",
    "Page",
    "View",
    "about",
    "answers",
    "blame",
    "comparison",
    "items",
    "judges",
    "retrieval",
    "runs",
]
