"""What a page may show: views of a measurement by topic, each for JupyterLab and for a page. Nothing here measures."""

from ragbench.old.views import about, answers, blame, comparison, data, items, judges, retrieval
from ragbench.old.views.page import Page
from ragbench.old.views.view import MIME, VIEWS, View

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
