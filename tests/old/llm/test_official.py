"""What the client of openai brings: deployments, headers, queries, proxies, authorities, and clients of one's own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ragbench.old
from ragbench.old.core import trust
from ragbench.old.core.settings import ConfigurationError, EmbedderSettings, JudgeSettings, Settings, load
from ragbench.old.core.settings.endpoints import PRESETS
from ragbench.old.core.trust import UntrustedError
from ragbench.old.core.types import EmbeddingError, Status
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.llm import ProviderRefused, run
from ragbench.old.llm.limiter import line_of
from ragbench.old.llm.transport import at_version
from tests.old.llm.chat_server import ChatServer, Raw
from tests.old.llm.llm_client import ask, open_client
from tests.old.llm.llm_shapes import request, settings

KEY = "sk-canary-0123456789"


def root(server: ChatServer) -> str:
    return server.url.removesuffix("/v1")


@pytest.mark.parametrize(
    "table",
    [
        {"base_url": "{}", "api_version": "2024-10-21", "key_variable": "TEST_KEY", "model": "dep"},
        {"base_url": "{}/openai", "api_version": "2024-10-21", "key_variable": "TEST_KEY", "model": "dep"},
        {"base_url": "{}", "api_version": "2024-10-21", "headers": {"api-key": "{TEST_KEY}"}, "model": "dep"},
        {"base_url": "{}/openai/deployments/dep", "api_version": "2024-10-21", "key_variable": "TEST_KEY"},
        {"base_url": "{}/openai/deployments/dep", "query": {"api-version": "2024-10-21"},
         "headers": {"api-key": "{TEST_KEY}"}},
        {"base_url": "{}/openai/deployments/dep/chat/completions?api-version=2024-10-21",
         "headers": {"api-key": "{TEST_KEY}"}},
    ],
)  # fmt: skip
def test_deployments_of_azure_are_asked(table: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with ChatServer().running() as server:
        known = {**table, "base_url": table["base_url"].replace("{}", root(server))}
        (found,) = ask(server, ["x"], **known)
    assert found.status is Status.OK
    (served,) = server.requests
    assert served.path == "/openai/deployments/dep/chat/completions?api-version=2024-10-21"
    assert served.headers["api-key"] == KEY
    assert "authorization" not in served.headers


def test_its_newer_protocol_has_no_deployments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with ChatServer().running() as server:
        known = {"base_url": f"{root(server)}/openai/v1", "api_version": "preview", "key_variable": "TEST_KEY"}
        (found,) = ask(server, ["x"], **known)
    assert found.status is Status.OK
    assert server.requests[0].path == "/openai/v1/chat/completions?api-version=preview"


@pytest.mark.parametrize("path", ["", "/api", "/api/chat"])
def test_an_address_without_its_version_is_told_with_one(path: str) -> None:
    server = ChatServer(answer=lambda body: Raw(404, b"404 page not found"))
    with server.running(), pytest.raises(ProviderRefused, match=rf"most end with /v1, as {root(server)}/v1"):
        ask(server, ["x"], base_url=f"{root(server)}{path}")


def test_cohere_is_asked_beside_its_own_protocol() -> None:
    assert at_version("https://api.cohere.com/v2").endswith("as https://api.cohere.ai/compatibility/v1")
    for base in ("https://api.cohere.ai/compatibility/v1", "https://openrouter.ai/api/v1", None):
        assert at_version(base) == "look at `model` and `base_url`"


def test_headers_query_organization_and_project_are_sent_with_secrets_by_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with ChatServer().running() as server:
        more = {"headers": {"X-Proxy": "Bearer {TEST_KEY}"}, "query": {"tier": "low"}}
        ask(server, ["x"], **more, organization="org-1", project="folder-2")
    (served,) = server.requests
    assert served.path == "/v1/chat/completions?tier=low"
    named = ("x-proxy", "openai-organization", "openai-project")
    assert [served.headers[name] for name in named] == [f"Bearer {KEY}", "org-1", "folder-2"]
    assert "authorization" not in served.headers, "no key was named"


@pytest.mark.fault("secrets", tried="secrets written into headers and queries, and variables that are not set", count=3)
def test_a_secret_stands_nowhere_but_in_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"headers\.api-key: name the environment variable"):
        JudgeSettings(base_url="http://h", model="m", headers={"api-key": KEY})
    with pytest.raises(ValueError, match=r"query\.access_token: name the environment variable"):
        JudgeSettings(base_url="http://h", model="m", query={"access_token": KEY})
    monkeypatch.delenv("TEST_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="export TEST_KEY="):
        ask("http://127.0.0.1:9/v1", ["x"], headers={"api-key": "{TEST_KEY}"})


@pytest.mark.fault("secrets", tried="what the client reads of the environment, meant for one provider", count=4)
def test_what_is_meant_for_openai_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-canary")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-canary")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Canary: canary\nAuthorization: Bearer canary")
    with ChatServer().running() as server:
        ask(server, ["x"])
        ask(server, ["y"], api_version="2024-10-21", base_url=root(server))
    for served in server.requests:
        assert not [text for text in served.headers.values() if "canary" in text]


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_is_used_as_its_variables_say(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ChatServer().running() as proxy, ChatServer().running() as near:
        monkeypatch.setenv(variable, root(proxy))
        (found,) = ask("http://far.invalid/v1", ["x"])
        assert found.status is Status.OK
        assert proxy.requests[0].path == "http://far.invalid/v1/chat/completions"
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        ask(near, ["x"])
        assert (proxy.calls, near.calls) == (1, 1)
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
        (refused,) = ask("http://far.invalid/v1", ["x"], attempts=1)
    assert "the proxy 127.0.0.1:9 cannot be reached" in refused.reason


@pytest.mark.parametrize(
    ("named", "spoken"), [("socks5://127.0.0.1:9", "socks5"), ("SOCKS5h://127.0.0.1:9", "socks5h")]
)
def test_a_proxy_that_speaks_no_http_is_refused_in_one_sentence(
    named: str, spoken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ChatServer().running() as near:
        monkeypatch.setenv("ALL_PROXY", named)
        with pytest.raises(ProviderRefused, match=f"a proxy is named that speaks {spoken}, .*in NO_PROXY"):
            ask(near, ["x"])
        monkeypatch.setenv("HTTP_PROXY", near.url.removeprefix("http://").removesuffix("/v1"))
        (found,) = ask("http://far.invalid/v1", ["x"])
        assert found.status is Status.OK, "one of http goes before, also without its scheme"
        assert near.calls == 1


def test_an_authority_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderRefused, match=r"ca_file = .*there is no such file"):
        ask("https://127.0.0.1:9/v1", ["x"], ca_file=tmp_path / "none.pem")


def made(server: ChatServer, **more: Any) -> Any:
    import openai

    return openai.AsyncOpenAI(base_url=server.url, api_key=KEY, default_headers={"X-Mine": "1"}, **more)


def test_a_client_of_ones_own_is_taken_as_it_is() -> None:
    with ChatServer().running() as server:
        client = made(server, default_query={"mine": "2"}, organization="org-3")
        judge = ragbench.old.judge(client=client, model="m", name="mine")
        assert judge.settings.address == server.url
        assert judge in {judge}, "it stands in sets of judges, whatever tables its settings have"
        (completion,) = ask(server, ["x"], official=judge.client)
    assert completion.status is Status.OK
    (served,) = server.requests
    assert served.path == "/v1/chat/completions?mine=2"
    assert served.headers["authorization"] == f"Bearer {KEY}"
    assert (served.headers["x-mine"], served.headers["openai-organization"]) == ("1", "org-3")


def test_a_client_of_azure_is_taken_as_it_is() -> None:
    import openai

    with ChatServer().running() as server:
        client = openai.AsyncAzureOpenAI(azure_endpoint=root(server), api_version="2025-01-01", api_key=KEY)
        (completion,) = ask(server, ["x"], official=client, model="dep")
    assert completion.status is Status.OK
    assert server.requests[0].path == "/openai/deployments/dep/chat/completions?api-version=2025-01-01"


def test_a_client_tries_no_oftener_than_the_settings_say() -> None:
    with ChatServer(answer=lambda body: "!500").running() as server:
        ask(server, ["x"], official=made(server, max_retries=5), attempts=2, first_wait_seconds=0)
    assert server.calls == 2


def test_a_client_that_is_late_is_left() -> None:
    with ChatServer(answer=lambda body: "!hang").running() as server:
        (found,) = ask(server, ["x"], official=made(server), attempts=1, timeout_seconds=0.3)
    assert (found.status, found.reason) == (Status.TIMEOUT, "no whole response within 0.3 s (timeout_seconds)")


def test_a_client_is_found_by_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands there, or as a function there makes it; the project's user is asked first."""
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    (tmp_path / "ragbench.toml").touch()
    load.cache_clear()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("RAGBENCH_TRUST")
    monkeypatch.setattr(trust, "_here", {})
    with ChatServer().running() as server:
        (tmp_path / "clients_of_mine.py").write_text(
            "from openai import AsyncOpenAI\ndef made():\n"
            f"    return AsyncOpenAI(base_url='{server.url}', api_key='x', default_headers={{'X-Mine': '2'}})\n"
            "client = made()\nnothing = 3\n",
            encoding="utf-8",
        )
        with pytest.raises(UntrustedError):
            ask("", ["x"], base_url=None, client="clients_of_mine:client")
        monkeypatch.setenv("RAGBENCH_TRUST", str(tmp_path))
        for name in ("client", "made"):
            (found,) = ask("", [name], base_url=None, client=f"clients_of_mine:{name}")
            assert found.status is Status.OK
        for name, said in (("nothing", "not an AsyncOpenAI"), ("absent", "has no attribute 'absent'")):
            with pytest.raises(ProviderRefused, match=said):
                ask("", ["x"], base_url=None, client=f"clients_of_mine:{name}")
    assert [one.headers["x-mine"] for one in server.requests] == ["2", "2"]


def test_what_is_no_client_is_named() -> None:
    import openai

    with pytest.raises(ValueError, match="many questions are asked at once"):
        ragbench.old.judge(client=openai.OpenAI(api_key="x"), model="m")
    with pytest.raises(ValueError, match="base_url goes with an address"):
        ragbench.old.judge(client=openai.AsyncOpenAI(api_key="x"), model="m", base_url="http://h")
    with pytest.raises(ValueError, match="write it as module:name"):
        JudgeSettings(client="module", model="m")
    with pytest.raises(ValueError, match="key_variable goes with an address"):
        JudgeSettings(client="module:name", model="m", key_variable="X")


def test_presets_are_providers_without_a_table() -> None:
    known = Settings(
        providers={"mistral": {"concurrency": 3}, "work": {"preset": "azure", "base_url": "https://n.openai.azure.com"}},
        judges={name: {"provider": name, "model": "m"} for name in ("mistral", "work", "deepseek")},
        embedders={"e": {"kind": "openai", "provider": "openai", "model": "m"}},
        rerankers={"r": {"kind": "endpoint", "provider": "vllm", "model": "m"}},
    )  # fmt: skip
    mistral, work, deepseek = map(known.judge, ("mistral", "work", "deepseek"))
    assert (mistral.base_url, mistral.key_variable, mistral.concurrency) == (
        PRESETS["mistral"]["base_url"], "MISTRAL_API_KEY", 3,
    )  # fmt: skip
    assert mistral.without == ("seed",)
    assert (work.api_version, work.key_variable) == ("2024-10-21", "AZURE_OPENAI_API_KEY")
    assert deepseek.without == ("seed", "json_schema")
    assert (known.embedders["e"].base_url, known.embedders["e"].key_variable) == (
        "https://api.openai.com/v1", "OPENAI_API_KEY",
    )  # fmt: skip
    assert known.rerankers["r"].base_url == "http://localhost:8000/v1"
    assert len(PRESETS) == 12
    with pytest.raises(ValueError, match=r"there is no \[providers\.mistrel\]; did you mean 'mistral'"):
        Settings(judges={"a": {"provider": "mistrel", "model": "m"}})


def test_what_a_provider_says_is_its_judges_and_embedders_and_the_table_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with ChatServer().running() as server:
        shared = {"base_url": server.url, "key_variable": "TEST_KEY", "headers": {"X-A": "1", "X-B": "1"}}
        known = Settings(
            providers={"p": shared},
            judges={"j": {"provider": "p", "model": "m", "headers": {"X-B": "2"}}},
            embedders={"e": {"kind": "openai", "provider": "p", "model": "m"}},
        )
        table = known.judge("j")
        ask(server, ["x"], **{name: getattr(table, name) for name in ("key_variable", "headers")})
        EndpointEmbedder("e", known.embedders["e"]).embed(["x"])
    judged, embedded = (one.headers for one in server.requests)
    assert [judged[name] for name in ("x-a", "x-b", "authorization")] == ["1", "2", f"Bearer {KEY}"]
    assert [embedded[name] for name in ("x-a", "x-b", "authorization")] == ["1", "1", f"Bearer {KEY}"]


def test_judges_and_embedders_of_one_provider_wait_in_one_line() -> None:
    """At once at most as many as the strictest of them says, whoever asks."""
    with ChatServer(latency=0.03).running() as server:
        embedder = EndpointEmbedder("e", EmbedderSettings(kind="openai", model="m", base_url=server.url, batch=1))

        async def work() -> None:
            async with open_client(server, "a", concurrency=2) as client:
                await client.complete(request("first"))
                vectors = asyncio.to_thread(embedder.embed, [f"t{n}" for n in range(12)])
                await asyncio.gather(*(client.complete(request(f"{n}")) for n in range(12)), vectors)

        run(work())
    assert server.calls == 25
    assert server.most_in_flight == 2


@pytest.mark.parametrize("is_turned", [False, True])
def test_the_strictest_limits_of_a_line_hold_whoever_comes_first(is_turned: bool) -> None:
    tables = [
        {"concurrency": 2, "requests_per_minute": 120},
        {"concurrency": 9, "requests_per_minute": 60, "tokens_per_minute": 6000},
        {"concurrency": 5, "tokens_per_minute": 60000},
    ]

    async def work() -> None:
        for table in reversed(tables) if is_turned else tables:
            line = line_of(settings("http://one.invalid/v1", **table), None)
            lines.append(line)
        limits = line.most, line._requests.per_minute, line._tokens.per_minute
        assert limits == (2, 60, 6000)
        assert all(one is line for one in lines)
        assert line_of(settings("http://other.invalid/v1", concurrency=7), None).most == 7

    lines: list[Any] = []
    run(work())


def test_a_reranker_sends_what_its_provider_says(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragbench.old.systems.parts.reranking import EndpointReranker

    def ranked(body: dict[str, Any]) -> Raw:
        scores = [{"index": place, "relevance_score": 1 - place} for place in range(len(body["documents"]))]
        return Raw(200, {"results": scores})

    monkeypatch.setenv("TEST_KEY", KEY)
    with ChatServer(answer=ranked).running() as server:
        known = Settings(
            providers={"p": {"base_url": server.url, "headers": {"X-A": "{TEST_KEY}"}, "requests_per_minute": 6000}},
            rerankers={"r": {"kind": "endpoint", "provider": "p", "model": "m"}},
        )
        reranker = EndpointReranker("r", known.rerankers["r"])
        assert [list(reranker.scores("q", ["a", "b"])) for _ in range(3)] == [[1, 0]] * 3
    assert {(one.path, one.headers["x-a"]) for one in server.requests} == {("/v1/rerank", KEY)}
    assert known.rerankers["r"].requests_per_minute == 6000


def test_the_strictest_limits_of_a_line_hold() -> None:
    async def work() -> tuple[int, float | None, float | None, bool]:
        first = line_of(settings("http://h/v1", concurrency=8, requests_per_minute=100), None)
        other = line_of(settings("http://h/v1", concurrency=4, tokens_per_minute=70), None)
        elsewhere = line_of(settings("http://h/v2", concurrency=9), None)
        return first.most, first._requests.per_minute, first._tokens.per_minute, first is other is not elsewhere

    assert asyncio.run(work()) == (4, 100, 70, True)


def embedded(vectors: Any) -> tuple[ChatServer, list[list[float]]]:
    with ChatServer(vectors=vectors).running() as server:
        made = EndpointEmbedder(
            "e", EmbedderSettings(kind="openai", model="m", base_url=server.url, first_wait_seconds=0)
        )
        return server, made.embed(["one", "two"]).tolist()


def rows(*numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": list(numbers), "model": "m"}


def test_vectors_without_an_index_are_taken_in_their_order() -> None:
    _, found = embedded(lambda body: rows({"embedding": [1.0, 0.0]}, {"embedding": [0.0, 1.0]}))
    assert found == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(EmbeddingError, match="numbered its vectors"):
        embedded(lambda body: rows({"embedding": [1.0, 0.0], "index": 0}, {"embedding": [0.0, 1.0]}))
    with pytest.raises(EmbeddingError, match="gave 1 vectors for 2 texts"):
        embedded(lambda body: rows({"embedding": [1.0, 0.0]}))


def test_an_encoding_that_is_refused_is_not_asked_for_again() -> None:
    def vectors(body: dict[str, Any]) -> Any:
        if "encoding_format" in body:
            return Raw(422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "encoding_format"]}]})
        return rows({"embedding": [1.0], "index": 1}, {"embedding": [2.0], "index": 0})

    server, found = embedded(vectors)
    assert found == [[2.0], [1.0]]
    assert [one.body.get("encoding_format") for one in server.requests] == ["base64", "float", None]


def test_an_error_inside_of_a_good_response_of_vectors_is_waited_out() -> None:
    left = [{"error": {"code": 429, "message": "slow"}}, rows({"embedding": [1.0]}, {"embedding": [2.0]})]
    server, found = embedded(lambda body: left.pop(0))
    assert (found, server.calls) == ([[1.0], [2.0]], 2)


def test_nothing_of_the_client_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, ragbench\nfrom ragbench.old.core import settings\nsettings.load()\n"
        "print([name for name in ('openai', 'httpx2', 'aiohttp') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "[]"
