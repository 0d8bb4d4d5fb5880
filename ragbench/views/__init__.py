"""What a page may show: views of a measurement by topic, each for JupyterLab and for a page. Nothing here measures."""

from ragbench.views import about, answers, blame, comparison, data, items, judges, retrieval
from ragbench.views.page import Page
from ragbench.views.view import MIME, VIEWS, View

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
