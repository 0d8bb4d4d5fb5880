"""The judges that ask no model: which there are, how each is made, and who is one."""

from __future__ import annotations

from collections.abc import Callable

from ragbench.core.settings import OFFLINE, ConfigurationError, Settings
from ragbench.core.types import Judge


def _lexical() -> Judge:
    from ragbench.judge.lexical import LexicalJudge

    return LexicalJudge()


OFFLINE_JUDGES: dict[str, Callable[[], Judge]] = {OFFLINE: _lexical}
"""By name, which no table [judges.NAME] may have."""


def asks_nobody(judge: Judge | str) -> bool:
    """Whether a judge, or that of this name, asks no model. One of your own says so by `is_stand_in = True`."""
    return judge in OFFLINE_JUDGES if isinstance(judge, str) else bool(getattr(judge, "is_stand_in", False))


def legal_names(settings: Settings) -> tuple[str, ...]:
    """The judges that can be named. Raises ConfigurationError where a table has the name of an offline judge."""
    for name in OFFLINE_JUDGES:
        if name in settings.judges:
            raise ConfigurationError(f"judges.{name}: this name belongs to an offline judge; choose another")
    return (*OFFLINE_JUDGES, *sorted(settings.judges))
