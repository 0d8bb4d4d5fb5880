"""Each provider that is known by name, as it refuses: what it does not take is left out, and no question is lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import pytest

from ragbench.old.core.settings import Settings
from ragbench.old.core.settings.endpoints import PRESETS, PresetName
from ragbench.old.core.types import Status
from ragbench.old.llm import Client, Completion, Decoding, MemoryJournal
from tests.old.llm.chat_server import ChatServer, Raw
from tests.old.llm.llm_shapes import request

GOOD = {"score": 3, "reason": ""}
WORDS = json.dumps(GOOD)
Body = dict[str, Any]
Refusal = tuple[Callable[[Body], bool], int, Any]


def has(name: str, *allowed: Any) -> Callable[[Body], bool]:
    return lambda body: name in body and body[name] not in allowed


def asks_for(kind: str) -> Callable[[Body], bool]:
    return lambda body: bool(body.get("tools")) if kind == "tool" else _format(body) == kind


def _format(body: Body) -> str | None:
    form = body.get("response_format")
    return form["type"] if form else None


def has_system(body: Body) -> bool:
    return body["messages"][0]["role"] == "system"


def in_words(body: Body) -> bool:
    return any('"properties"' in turn["content"] for turn in body["messages"])


def ended(finish: str, text: str | None = WORDS) -> Raw:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return Raw(200, {"object": "chat.completion", "model": "m", "choices": [choice]})


def openai(param: str, message: str, code: str = "unsupported_value") -> Any:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def google(message: str) -> Any:
    return [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]


def mistral(name: str) -> Any:
    detail = {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]}
    return {"object": "error", "message": json.dumps(detail), "type": "internal_error_proxy", "code": "1000"}


def routed(raw: str) -> Any:
    metadata = {"raw": raw, "provider_name": "Azure"}
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}, "user_id": "org"}


DEFAULT_ONLY = "Unsupported value: '{}' does not support {} with this model. Only the default (1) value is supported."
LENGTH = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
CUT = "Could not finish the message because max_tokens or model output limit was reached."
THINKING: list[Refusal] = [
    (has("max_tokens"), 400, openai("max_tokens", LENGTH, "unsupported_parameter")),
    (has("temperature", 1), 400, openai("temperature", DEFAULT_ONLY.format("temperature", 0.0))),
    (has("top_p", 1), 400, openai("top_p", DEFAULT_ONLY.format("top_p", 0.9))),
]


@dataclass(frozen=True)
class Provider:
    """refuses: what a body may not have, and the response that says so. once: what the first calls that are taken get.
    says: the reply otherwise. lessons: refusals that there are before the way is found, at most. unsent: what the
    page says was left out."""

    preset: PresetName
    refuses: list[Refusal]
    lessons: int
    unsent: set[str]
    once: tuple[Any, ...] = ()
    says: Callable[[Body], Any] = lambda body: GOOD


PROVIDERS = {
    "openai that thinks": Provider(
        "openai",
        THINKING, 3, {"temperature", "top_p"}, once=(Raw(400, openai("", CUT)),),
    ),
    "openai's first that thought": Provider(
        "openai",
        [*THINKING,
         (has_system, 400, openai("messages[0].role",
             "Unsupported value: 'messages[0].role' does not support 'system' with this model.")),
         (asks_for("json_schema"), 400, openai("response_format",
             "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.")),
         (asks_for("json_object"), 400, openai("response_format",
             "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.")),
         (asks_for("tool"), 400, openai("tools", "Unsupported parameter: 'tools' is not supported with this model."))],
        7, {"temperature", "top_p", "system", "json_schema"},
    ),
    "azure with an old version": Provider(
        "azure",
        [(asks_for("json_schema"), 400, {"error": {"code": "BadRequest", "message":
             "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later"}})],
        1, {"json_schema"},
    ),
    "anthropic": Provider(
        "anthropic",
        [(has("temperature"), 400, openai("", "`temperature` is deprecated for this model.", "invalid_request_error"))],
        1, {"seed", "temperature", "json_schema"}, says=lambda body: GOOD if body.get("tools") else "Yes.",
    ),
    "anthropic, both": Provider(
        "anthropic",
        [(lambda body: "temperature" in body and "top_p" in body, 400, openai("",
             "`temperature` and `top_p` cannot both be specified for this model. Please use only one.")),
         (asks_for("tool"), 400, openai("", "Thinking may not be enabled when tool_choice forces tool use."))],
        2, {"seed", "temperature", "top_p", "json_schema"}, says=lambda body: GOOD if in_words(body) else "Yes.",
    ),
    "gemini": Provider(
        "gemini",
        [(has("seed"), 400, google('Invalid JSON payload received. Unknown name "seed": Cannot find field.')),
         (has("top_p"), 400, google('Invalid JSON payload received. Unknown name "top_p": Cannot find field.'))],
        1, {"seed", "top_p"}, once=(ended("MAX_TOKENS", None),),
    ),
    "mistral": Provider(
        "mistral", [(has("seed"), 422, mistral("seed")), (has("top_p"), 422, mistral("top_p"))], 1, {"seed", "top_p"},
        once=(ended("model_length", WORDS[:9]),),
    ),
    "deepseek": Provider(
        "deepseek",
        [(asks_for("json_schema"), 400, openai("", "This response_format type is unavailable now"))],
        0, {"seed", "json_schema"}, once=(ended("insufficient_system_resource", None),),
    ),
    "deepseek that thinks": Provider(
        "deepseek",
        [(asks_for("json_object"), 400, openai("", "deepseek-reasoner does not support Json Output.")),
         (asks_for("tool"), 400, openai("", "Thinking mode does not support this tool_choice"))],
        2, {"seed", "json_schema"},
    ),
    "openrouter": Provider(
        "openrouter",
        [(asks_for("json_schema"), 404, {"error": {"code": 404, "message":
             "No endpoints found that can handle the requested parameters."}}),
         (has("max_tokens"), 400, routed(json.dumps(openai("max_tokens", LENGTH)))),
         (has("temperature", 1), 400, routed(str(openai("temperature", DEFAULT_ONLY.format("temperature", 0.0)))))],
        3, {"temperature", "json_schema"}, once=(ended("error", WORDS[:9]),
             Raw(200, {"error": {"code": 502, "message": "Upstream error"}})),
    ),
    "ollama": Provider("ollama", [], 0, set(), says=lambda body: f"```json\n{WORDS}\n```"),
    "vllm": Provider(
        "vllm",
        [(has_system, 400, {"object": "error", "message": "System role not supported", "code": 400}),
         (asks_for("json_schema"), 400, {"object": "error", "code": 400, "message": "Grammar error: unsupported"}),
         (asks_for("json_object"), 400, {"error": {"message": "guided decoding is not built in", "code": 400}}),
         (asks_for("tool"), 400, {"error": {"code": 400, "message":
             "tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}})],
        4, {"system", "json_schema"},
    ),
    "vllm whose template fails": Provider(
        "vllm",
        [(has_system, 500, {"error": {"code": 500, "type": "server_error", "message":
             "While executing CallExpression at line 47: Error: Jinja Exception: System role not supported"}})],
        1, {"system"},
    ),
    "lmstudio": Provider(
        "lmstudio",
        [(asks_for("json_object"), 400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
         (asks_for("tool"), 400, {"error": "This model does not support tools"})],
        1, {"json_schema"}, says=lambda body: GOOD if in_words(body) else "Certainly!",
    ),
    "gigachat": Provider(
        "gigachat",
        [(has("seed"), 422, {"status": 422, "message": "Invalid params: seed"}),
         (lambda body: body.get("temperature") == 0, 422,
             {"status": 422, "message": "Invalid params: temperature must be in range (0, +inf)"}),
         (asks_for("tool"), 422, {"status": 422, "message": "Invalid params: tools"})],
        1, {"seed", "temperature", "json_schema"}, says=lambda body: GOOD if in_words(body) else "Да.",
    ),
    "yandexgpt": Provider(
        "yandexgpt", [(has("seed"), 400, {"error": {"message": "unknown field seed", "code": 400}})], 0, {"seed"},
    ),
}  # fmt: skip


def asked(provider: Provider, server: ChatServer, texts: list[str], journal: MemoryJournal) -> list[Completion]:
    """Ask through the preset, whose address alone is another one."""
    tables: dict[str, Any] = {
        "providers": {provider.preset: {"base_url": server.url}},
        "judges": {"j": {"provider": provider.preset, "model": "m", "concurrency": 1, "first_wait_seconds": 0}},
    }
    decoding = Decoding(0.0, 0.9, 64, 7)

    async def work() -> list[Completion]:
        client = Client("j", Settings(**tables).judge("j"), journal=journal)
        try:
            return [await client.complete(request(text, decoding=decoding)) for text in texts]
        finally:
            await client.close()

    return asyncio.run(work())


def speaking(provider: Provider) -> ChatServer:
    once = list(provider.once)

    def answer(body: Body) -> Any:
        for is_refused, status, error in provider.refuses:
            if is_refused(body):
                return Raw(status, error)
        return once.pop(0) if once else provider.says(body)

    return ChatServer(answer=answer)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for preset in PRESETS.values():
        if "key_variable" in preset:
            monkeypatch.setenv(preset["key_variable"], "sk-canary-0123456789")


@pytest.mark.fault(
    "denied", tried="each provider that is known by name, in the words in which it is known to refuse", count=16
)
@pytest.mark.parametrize("name", PROVIDERS)
def test_nothing_is_lost_to_what_a_provider_refuses(name: str) -> None:
    provider, journal = PROVIDERS[name], MemoryJournal()
    with speaking(provider).running() as server:
        completions = asked(provider, server, [f"text {n}" for n in range(10)], journal)
    assert [completion.status for completion in completions] == [Status.OK] * 10, completions
    assert [completion.value.score for completion in completions] == [3] * 10
    assert server.calls <= 10 + 2 * 2 + len(provider.once) + provider.lessons, "each lesson is learnt once"
    assert not any(is_refused(served.body) for served in server.requests[-5:] for is_refused, _, _ in provider.refuses)
    assert set(completions[-1].unsent.split()) == provider.unsent
    assert "Judge." in server.requests[-1].body["messages"][0]["content"], "what the rules say is still said"


def test_every_preset_is_tried() -> None:
    assert {provider.preset for provider in PROVIDERS.values()} == {*PRESETS} == {*get_args(PresetName)}


@pytest.mark.fault("denied", tried="a reply that a provider's own filter ended, by its own name for that", count=5)
@pytest.mark.parametrize(
    ("preset", "finish"),
    [("azure", "content_filter"), ("gemini", "SAFETY"), ("gemini", "content_filter: RECITATION"),
     ("gigachat", "blacklist"), ("anthropic", "refusal")],
)  # fmt: skip
def test_a_reply_that_a_filter_ended_is_a_refusal(preset: PresetName, finish: str) -> None:
    provider = Provider(preset, [], 0, set(), says=lambda body: ended(finish))
    with speaking(provider).running() as server:
        (completion,) = asked(provider, server, ["text"], MemoryJournal())
    assert (completion.status, server.calls) == (Status.REFUSED, 1)


def test_what_was_not_meant_was_not_left_out() -> None:
    provider = PROVIDERS["mistral"]
    with speaking(provider).running() as server:
        tables: dict[str, Any] = {
            "providers": {"mistral": {"base_url": server.url}},
            "judges": {"j": {"provider": "mistral", "model": "m"}},
        }

        async def work() -> Completion:
            client = Client("j", Settings(**tables).judge("j"))
            try:
                return await client.complete(request("text"))
            finally:
                await client.close()

        completion = asyncio.run(work())
    assert (completion.status, completion.unsent) == (Status.OK, ""), "nobody asked for a seed"
