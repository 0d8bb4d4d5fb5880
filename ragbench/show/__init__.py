"""What a page may show: views of a measurement, each for JupyterLab and for a page. Nothing here measures."""

from ragbench.show.page import Page
from ragbench.show.view import MIME, View

__all__ = ["MIME", "Page", "View"]
