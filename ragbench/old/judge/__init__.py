"""Judges: language models behind one interface, several at once, in pairs, and the offline one."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ragbench.old.core.annexes import offers

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.old.judge.lexical import LexicalJudge, WordReader
    from ragbench.old.judge.model_judge import ModelJudge
    from ragbench.old.judge.opening import (
        OFFLINE_JUDGES,
        DryRunJudges,
        OpenJudges,
        OwnJudge,
        PlanningJudge,
        asks_nobody,
        legal_names,
        open_judges,
        own_judge,
    )
    from ragbench.old.judge.pairwise import Again, Asking, Choice, Duel, Overheard, Reworded, compare
    from ragbench.old.judge.panel import (
        AGGREGATES,
        CoveredBy,
        Influence,
        JudgeCoverage,
        Panel,
        Rule,
        judge_coverage,
        leave_one_out,
    )

__all__, __getattr__, __dir__ = offers(__name__)


class _Room(ModuleType):
    """This room, as `ragbench.old.judge(…)` finds it: Python puts a package's rooms in the place of its functions."""

    def __call__(self, *args: Any, **kwargs: Any) -> "OwnJudge":
        """See `ragbench.old.judge`; its first name there."""
        from ragbench.old.judge.opening import own_judge

        return own_judge(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
