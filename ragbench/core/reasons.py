"""Why something failed, in one line with what to do, for errors that do not say it themselves."""

from __future__ import annotations

import builtins
import re

from ragbench.core import folders

_REFUSED = re.compile(r"\[Errno (\d+)\] (.+?)(?:: '(.*?)'(?: -> '.*')?)?")


def of(name: str, said: str) -> str:
    """The line for an error's class and its first paragraph in one line; "" where the error itself says it best."""
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, OSError) and (refused := _refused(said)):
        return refused
    if name.endswith("MemoryError"):
        short = f"there is not enough memory{f' ({said})' if said else ''}"
        return f"{short}: measure fewer questions or systems at a time, or give it more, then run again"
    if name == "ModuleNotFoundError":
        return f"{said}: install it beside ragbench, or put it beside ragbench.toml, then run again"
    return ""


def note(error: Exception) -> None:
    """Give an error its line as a note, which Python and JupyterLab show last; unless it has one already."""
    first = " ".join(str(error).strip().split("\n\n")[0].split())
    line = of(type(error).__name__, first)
    if line and line not in getattr(error, "__notes__", ()):
        error.add_note(line)


def _refused(said: str) -> str:
    """What the operating system refused, as its file and its reason; "" for what people cannot mend."""
    match = _REFUSED.fullmatch(said)
    if match is None or int(match[1]) not in folders.FAULTS:
        return ""
    place = f"{match[3]}: {match[2]}" if match[3] else match[2]
    mended = folders.MENDED.get(int(match[1]))
    return f"{place}: {mended}, then run again" if mended else place
