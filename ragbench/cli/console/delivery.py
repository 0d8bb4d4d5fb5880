"""A run on its way to shared storage: where it is then, or how to send it again."""

from __future__ import annotations

import shlex
from pathlib import Path

from ragbench.core import folders, terminal


def sent(folder: Path, to: str) -> bool:
    """Send the run in a folder to a URL and say where it is; else why not, and by which command it is sent."""
    from ragbench.report.keeping import kept

    try:
        terminal.say(kept.send(folder, to))
    except (OSError, ValueError) as error:
        said = folders.said(error) if isinstance(error, OSError) else str(error)
        again = shlex.join(["ragbench", "runs", "send", str(folder), "--to", to])
        terminal.say(
            f"the run is whole in {folder}, and was not sent: {said}. To send it: {again}", err=True, colour="red"
        )
        return False
    return True
