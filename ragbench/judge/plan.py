"""A judge for dry runs: it looks up in the journal and never asks.

Where the journal has a reply, it is used. Where it has none, the call is counted and the lexical judge stands in for
the answer, so that the calls that depend on it can be counted too.
"""

from __future__ import annotations

from ragbench.core.settings import JudgeSettings
from ragbench.core.types import Answer, Prompt, Shape
from ragbench.judge.lexical import LexicalJudge
from ragbench.judge.model import ModelJudge
from ragbench.judge.rendering import Texts
from ragbench.llm import Journal, Rehearsal
from ragbench.llm.planning import Experience, Outlook


class PlanningJudge:
    """Stands in for one model judge in a dry run; see `ragbench.core.types.Judge`."""

    def __init__(
        self, name: str, settings: JudgeSettings, journal: Journal | None = None, language: str = "en"
    ) -> None:
        self.name, self.model = name, settings.model
        self._rehearsal = Rehearsal(name, settings, journal)
        self._judge = ModelJudge(self._rehearsal.client, language=language)
        self._lexical = LexicalJudge()
        self._unknown = 0

    @property
    def identity(self) -> str:
        """The identity of the judge that it stands in for."""
        return self._judge.identity

    async def ask(
        self, prompt: Prompt[Shape], texts: Texts, *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """The journal's answer, or the lexical judge's in its place."""
        request = self._judge.request(prompt, texts, language, repeat)
        completion = await self._rehearsal.client.complete(request)
        if not Rehearsal.is_missing(completion):
            return self._judge.answer(completion, texts)
        if prompt.offline is None:
            self._unknown += 1
        return await self._lexical.ask(prompt, texts, language=language, repeat=repeat)

    def outlook(self, experience: Experience | None = None) -> Outlook:
        """What was asked so far, to be added to other outlooks."""
        return self._rehearsal.outlook(experience, self._unknown)

    async def close(self) -> None:
        """Let the journal go."""
        await self._rehearsal.client.close()
