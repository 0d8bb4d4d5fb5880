"""What pages show of dialogues, and of a cache that would answer in their place."""

from __future__ import annotations

from ragbench.show.answers import caches, dialogues
from ragbench.show.basics.frame import Frame
from ragbench.show.view import View


class ConversingViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def cache(self) -> View:
        """How often a cache would serve, and serve wrongly, at each threshold and at the one that is used."""
        return self._view("cache", caches.draw)

    def hits(self, count: int = 10) -> View:
        """What the cache would serve, at most `count` for each embedder, wrong answers first."""
        return self._listed("hits", caches.hits, count)

    def dialogues(self, count: int = 30) -> View:
        """A picture of the similarities of each dialogue's turns, the least connected first, at most `count`."""
        return self._listed("dialogues", dialogues.draw, count)
