"""What judged pages show where people labelled some of the answers."""

from __future__ import annotations

from ragbench.show.answers import corrected
from ragbench.show.basics.frame import Frame
from ragbench.show.view import View


class CorrectingViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def corrected(self) -> View:
        """Judged means beside what people would give; see `ragbench.bench.corrected`."""
        return self._view("corrected", corrected.draw)
