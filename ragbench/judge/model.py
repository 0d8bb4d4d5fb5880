"""A language model as a judge: prompts out, replies of their shape in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, Field, create_model

from ragbench.core.errors import Unmeasured
from ragbench.core.language import find_language
from ragbench.judge.lexical import OfflineJudge
from ragbench.llm import Client, Plan, Reply, Request
from ragbench.metrics.judging import Prompt, Shape, Texts

Mode = Literal["direct", "reasoned"]
# Behind the rules that stand before every prompt.
MODES: dict[tuple[str, str], str] = {
    ("direct", "en"): "Answer at once, in the required form and without commentary.",
    ("direct", "ru"): "Отвечайте сразу, в требуемой форме и без пояснений сверх неё.",
    ("reasoned", "en"): (
        "First think step by step in the field `reasoning`: what the task asks for, what in the "
        "texts speaks for and against each possible verdict. Keep it short. Then give the verdict "
        "in the field `answer`."
    ),
    ("reasoned", "ru"): (
        "Сначала кратко рассуждайте по шагам в поле `reasoning`: что требует задание, что в "
        "текстах говорит за и против каждого возможного вердикта. Затем дайте вердикт в поле "
        "`answer`."
    ),
}


@dataclass(eq=False)
class ModelJudge:
    """Judges through one client; enter it anew on every event loop.

    language: of its prompts, "en" or "ru"; "" for that of the texts. mode: reasoned writes its
    reasons first. prompts: a project's own words by prompt. is_planning: nobody is asked; what the
    journal lacks is answered by the offline judge, and counted in `client.plan()`.
    """

    client: Client
    mode: Mode = "direct"
    language: str = ""
    prompts: Mapping[str, Prompt[Any]] = field(default_factory=dict)
    is_planning: bool = False
    is_stand_in: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.name = self.client.name
        self.sees_images = self.client.model.sees_images

    async def __aenter__(self) -> Self:
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.client.__aexit__(*error)

    @property
    def notes(self) -> list[str]:
        """What whoever reads its scores must know."""
        return self.client.notes

    def plan(self) -> Plan:
        """Say what would be asked, of all that was asked while planning."""
        return self.client.plan()

    async def ask(self, prompt: Prompt[Shape], *, repeat: int = 0, **values: Texts) -> Shape:
        """See `ragbench.metrics.judging.Judge`. Raises StopError where the run has to end."""
        return self.unwrap(await self.answer(prompt, repeat=repeat, **values))

    async def answer(
        self, prompt: Prompt[Shape], *, repeat: int = 0, **values: Texts
    ) -> Reply[Any]:
        """Return the reply with its status and the model's seconds, whatever came of it."""
        request = self.request(prompt, values, repeat)
        reply = self.client.look_up(request) if self.is_planning else await self.client.ask(request)
        if reply is None:
            return Reply(await OfflineJudge(self.language).ask(prompt, repeat=repeat, **values))
        if self.mode == "reasoned" and reply.value is not None:
            return replace(reply, value=reply.value.answer)
        return reply

    def request(
        self, prompt: Prompt[Any], values: Mapping[str, Texts], repeat: int
    ) -> Request[Any]:
        """Return what `ask` sends."""
        own = self.prompts.get(prompt.name)
        if own is not None:
            prompt = prompt.reword({"en": own.en, "ru": own.ru})
        language = self.language or find_language(str(list(values.values())))
        messages = prompt.fill(language, values)
        messages[0]["content"] += f"\n\n{MODES[self.mode, language]}"
        wanted = {"temperature": prompt.temperature, "max_tokens": prompt.max_tokens}
        options = {name: value for name, value in wanted.items() if value is not None}
        shape: type[BaseModel] = prompt.shape
        shape = reasoned(shape) if self.mode == "reasoned" else shape
        return Request(messages, shape, options, repeat)

    def unwrap(self, reply: Reply[Any]) -> Any:
        """Return what a reply says. Raises Unmeasured where it says nothing that can be used."""
        if reply.value is None:
            raise Unmeasured(reply.status, reply.reason)
        return reply.value


@cache
def reasoned(shape: type[BaseModel]) -> type[BaseModel]:
    """Return the shape within one whose first field is the reasoning, so that it comes first."""
    return create_model(
        f"Reasoned{shape.__name__}",
        reasoning=(str, Field(min_length=1, description="step-by-step reasoning, short")),
        answer=(shape, ...),
    )
