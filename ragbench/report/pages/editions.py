"""The pages of a run in its own language, and beside them in others; a page of one leads to the same of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.core.language import NAMES


@dataclass(frozen=True)
class Edition:
    """All pages of a run in one language.

    folder: where they lie in the run's folder, with a slash at its end; empty for those of the run's own language.
    """

    language: str
    folder: str = ""

    def frame(self, page: str, editions: Sequence[Edition]) -> dict[str, Any]:
        """What the frame of a page needs: the way to the run's folder, and to the same page in each language.

        page: the page's file as its edition names it, `metrics/mrr.html`. A run of one language offers no choice.
        """
        root = "../" * f"{self.folder}{page}".count("/")
        offered = [
            {"language": edition.language, "name": NAMES[edition.language], "current": edition == self,
             "href": f"{root}{edition.folder}{page}"}
            for edition in editions
        ]  # fmt: skip
        return {"root": root, "languages": offered if len(offered) > 1 else []}


def editions(manifest: Mapping[str, Any]) -> list[Edition]:
    """Those that a run is drawn in, the one of its own language first."""
    own = str(manifest.get("language", "en"))
    others = dict.fromkeys(str(language) for language in manifest.get("also", ()))
    return [Edition(own), *(Edition(language, f"{language}/") for language in others if language != own)]
