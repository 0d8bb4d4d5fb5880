"""A judge that is asked the same once more, or with its scales the other way round."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ragbench.types import Answer, Judge, Prompt, Shape, Status

_LEVEL = re.compile(r"^- \d+: (?:.*)(?:\n(?!- |\n).+)*$", re.MULTILINE)


@dataclass(frozen=True)
class Relay:
    """A judge that asks another one, and goes by its name and identity."""

    judge: Judge

    @property
    def name(self) -> str:
        """The judge's."""
        return self.judge.name

    @property
    def identity(self) -> str:
        """The judge's."""
        return self.judge.identity


@dataclass(frozen=True)
class Again(Relay):
    """A judge asked in another way, of which metrics need not know: every answer is repeat number `repeat`, or every
    scale is shown with its levels in the opposite order (`turned`)."""

    repeat: int = 0
    turned: bool = False

    async def ask(
        self, prompt: Prompt[Shape], texts: Mapping[str, Any], *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """See `ragbench.types.Judge`; a metric's own repeats stay apart from each other. A prompt without a list of
        levels has no order to turn, so that it is not asked."""
        put = scale_turned(prompt) if self.turned else prompt
        if put is None:
            return Answer(None, Status.EMPTY_INPUT, f"the prompt {prompt.name} lists no levels")
        return await self.judge.ask(put, texts, language=language, repeat=1000 * self.repeat + repeat)


@dataclass(frozen=True)
class Reworded(Relay):
    """A judge whose prompts a project has put in its own words: texts by the prompt's name and by language.

    Its identity is the judge's: the words are in what it is asked.
    """

    texts: Mapping[str, Mapping[str, str]]

    async def ask(
        self, prompt: Prompt[Shape], texts: Mapping[str, Any], *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """See `ragbench.types.Judge`."""
        own = self.texts.get(prompt.name)
        put = prompt if own is None else replace(prompt, texts={**prompt.texts, **own})
        return await self.judge.ask(put, texts, language=language, repeat=repeat)


@lru_cache(maxsize=64)
def scale_turned(prompt: Prompt[Shape]) -> Prompt[Shape] | None:
    """The prompt with the lines `- 2: …` of its scale in the opposite order; None where a language has no such list."""
    turned = {}
    for language, text in prompt.texts.items():
        levels = _LEVEL.findall(text)
        if len(levels) < 2:
            return None
        back = iter(reversed(levels))
        turned[language] = _LEVEL.sub(lambda _: next(back), text)  # noqa: B023 - used up before the next language
    return replace(prompt, name=f"{prompt.name}_scale_turned", texts=turned)
