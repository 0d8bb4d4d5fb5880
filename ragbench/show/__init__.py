"""What a page may show: views of a measurement by topic, each for JupyterLab and for a page. Nothing here measures."""

from ragbench.show import about, answers, blame, comparison, data, items, judges, retrieval
from ragbench.show.page import Page
from ragbench.show.view import MIME, VIEWS, View

__all__ = [
    "MIME",
    "VIEWS",
    "Page",
    "View",
    "about",
    "answers",
    "blame",
    "comparison",
    "data",
    "items",
    "judges",
    "retrieval",
]
