"""A system behind HTTP: an address, a body of JSON, and where its reply holds what is read."""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from ragbench.core.errors import BenchError
from ragbench.core.metric import run_async
from ragbench.core.progress import bar
from ragbench.core.secrets import SECRET_NAME, mask
from ragbench.core.settings import SystemTable, fill_variables
from ragbench.systems.asked import AskedSystem, Purpose
from ragbench.systems.calls import say_error
from ragbench.systems.generators import Contexts
from ragbench.systems.hits import KnownPassages, Returned

ATTEMPTS = 2
BUSY = (429, 502, 503, 504)  # such a request may be served a moment later
LONGEST_WAIT = 30.0  # seconds, whatever Retry-After says
# Failures in a row after which nobody is asked any more: of connections, and of all kinds.
UNREACHABLE_IN_A_ROW = 3
FAILED_IN_A_ROW = 20
BEGINNING = 200  # characters of a reply that an error shows
SLOT = re.compile(r"\{(question|k|contexts)\}")
STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
PATHS = ("answer", "passages", "ids", "scores")
# Paths of lists, and what one of their items is called.
LISTS = {"ids": "id", "passages": "text", "scores": "score"}


@dataclass(frozen=True)
class Request:
    """One request. body: JSON as a text, or values to be written so; None for GET."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Any = None


@dataclass(frozen=True)
class ServiceReply:
    """What came of a request: the reply's JSON, or why there is none."""

    value: Any = None
    latency_ms: float = math.nan
    error: str = ""
    is_unreachable: bool = False
    wait: float | None = None  # seconds, where another attempt may help


class ServiceSystem(AskedSystem):
    """A service that is asked question by question, as many at once as its table says.

    The latency of a question is that of the attempt that was answered. Raises BenchError for an
    address, a body or a path that cannot be used.
    """

    def __init__(self, name: str, table: SystemTable, known: KnownPassages) -> None:
        super().__init__(name, known)
        self._table = table
        self._paths = compile_paths(name, table)
        self._headers = {key: fill_variables(value) for key, value in table.headers.items()}
        self.can_answer = bool(table.answer)
        self.can_retrieve = bool(table.passages or table.ids)
        self.takes_contexts = table.method != "GET" and "{contexts}" in table.body
        check_service(name, table)

    def ask_all(
        self, purpose: Purpose, questions: Sequence[str], k: int, contexts: Contexts | None
    ) -> list[Returned]:
        """Send a request for every question."""
        requests = []
        for row, question in enumerate(questions):
            texts = None if contexts is None else [hit.text for hit in contexts[row]]
            requests.append(make_request(self._table, self._headers, question, k, texts))
        table = self._table
        replies = send(requests, table.timeout_seconds, table.concurrency, f"asking {self.name}")
        entries = []
        for reply in replies:
            try:
                if reply.error:
                    raise BenchError(reply.error)
                answer = self._read_answer(reply) if purpose == "answer" else None
                is_searching = self.can_retrieve and contexts is None
                items = self._read_items(reply) if is_searching else None
                entries.append(Returned(answer, items, reply.latency_ms))
            except BenchError as error:
                entries.append(Returned(error=say_error(error)))
        return entries

    def describe(self) -> str:
        """Say where it is asked."""
        return f"{self._table.method} {mask(self._table.url)}"

    def _read_answer(self, reply: ServiceReply) -> str:
        answer = self._value(reply, "answer")
        if not isinstance(answer, str):
            raise self._misfit(reply, "answer", "a text", answer)
        return answer

    def _read_items(self, reply: ServiceReply) -> list[Any]:
        columns = {name: self._value(reply, name) for name in LISTS if name in self._paths}
        for name, column in columns.items():
            if not isinstance(column, list):
                raise self._misfit(reply, name, "a list", column)
        if len({len(column) for column in columns.values()}) > 1:
            counts = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
            raise BenchError(f"its lists have different lengths: {counts}")
        if list(columns) == ["passages"]:
            return columns["passages"]
        names = [LISTS[name] for name in columns]
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _value(self, reply: ServiceReply, name: str) -> Any:
        from jmespath.exceptions import JMESPathError

        try:
            return self._paths[name].search(reply.value)
        except JMESPathError:
            return None

    def _misfit(self, reply: ServiceReply, name: str, expected: str, value: Any) -> BenchError:
        from ragbench.systems.paths import propose_paths

        got = "nothing" if value is None else type(value).__name__
        proposed = propose_paths(reply.value).get(name)
        hint = f"; {name} = {json.dumps(proposed)} would read one" if proposed else ""
        path = getattr(self._table, name)
        begins = mask(json.dumps(reply.value, ensure_ascii=False))[:BEGINNING]
        return BenchError(
            f"{name} = {path!r}: {expected} is expected; got {got}{hint}; it begins {begins}"
        )


def compile_paths(name: str, table: SystemTable) -> dict[str, Any]:
    """Compile the JMESPaths of a table. Raises BenchError for one that is none."""
    import jmespath
    from jmespath.exceptions import JMESPathError

    paths = {}
    for key in PATHS:
        path = getattr(table, key)
        if not path:
            continue
        try:
            paths[key] = jmespath.compile(path)
        except JMESPathError as error:
            why = str(error).splitlines()[0]
            raise BenchError(f"systems.{name}.{key} = {path!r} is no JMESPath: {why}") from None
    if not {"answer", "passages", "ids"} & set(paths):
        raise BenchError(
            f"systems.{name}: say where its reply has answer, passages or ids, in JMESPath; "
            "`ragbench doctor --online` proposes it"
        )
    return paths


def check_service(name: str, table: SystemTable) -> None:
    """Refuse an address that is none or holds a secret, and a body that is no JSON when filled."""
    parts = urlsplit(table.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BenchError(f"systems.{name}.url is an address of http or https")
    if parts.password or SECRET_NAME.search(parts.query):
        raise BenchError(
            f"systems.{name}.url holds a secret; name its variable in headers: "
            '{Authorization = "Bearer {VARIABLE}"}'
        )
    for key, value in table.headers.items():
        if SECRET_NAME.search(key) and "{" not in value:
            raise BenchError(f"systems.{name}.headers.{key}: name the variable that holds it")
    sent = table.url if table.method == "GET" else table.url + table.body
    if "{question}" not in sent:
        raise BenchError(f"systems.{name}: write {{question}} where the question belongs")
    try:
        json.loads(fill_body(table.body, 'a " b', 1, ['a " b']))
    except ValueError:
        raise BenchError(
            f"systems.{name}.body is no JSON once it is filled; write "
            '"{question}" in quotes, {k} and {contexts} without'
        ) from None


def make_request(
    table: SystemTable,
    headers: Mapping[str, str],
    question: str,
    k: int,
    contexts: Sequence[str] | None = None,
) -> Request:
    """Fill address and body in one pass: braces in the texts mean nothing."""
    values = {"question": quote(question, safe=""), "k": str(k), "contexts": ""}
    url = SLOT.sub(lambda slot: values[slot[1]], table.url)
    if table.method == "GET":
        return Request("GET", url, headers)
    return Request(table.method, url, headers, fill_body(table.body, question, k, contexts))


def fill_body(template: str, question: str, k: int, contexts: Sequence[str] | None = None) -> str:
    """Fill the slots of a body. Contexts are a list of JSON; within quotes one numbered text."""
    numbered = enumerate(contexts or (), start=1)
    texts = {
        "question": question,
        "k": str(k),
        "contexts": "\n\n".join(f"[{number}] {text}" for number, text in numbered),
    }
    quoted = {name: json.dumps(text, ensure_ascii=False)[1:-1] for name, text in texts.items()}
    bare = {**quoted, "contexts": json.dumps(contexts, ensure_ascii=False)}
    filled = []
    for part in STRING.split(template):
        values = quoted if part.startswith('"') else bare
        filled.append(SLOT.sub(lambda slot, values=values: values[slot[1]], part))
    return "".join(filled)


def ask_service(table: SystemTable, question: str, k: int = 5) -> Any:
    """Ask a service one question and return its reply. Raises BenchError where there is none."""
    headers = {key: fill_variables(value) for key, value in table.headers.items()}
    reply = send([make_request(table, headers, question, k)], table.timeout_seconds, 1)[0]
    if reply.error:
        raise BenchError(reply.error)
    return reply.value


def send(
    requests: Sequence[Request], timeout_seconds: float, concurrency: int, label: str = "asking"
) -> list[ServiceReply]:
    """Send requests, so many at once, and return their replies in order.

    Redirects are not followed. After several failures in a row the rest is not sent.
    """
    return run_async(send_all(requests, timeout_seconds, concurrency, label))


async def send_all(
    requests: Sequence[Request], timeout_seconds: float, concurrency: int, label: str
) -> list[ServiceReply]:
    """See `send`."""
    import httpx2

    from ragbench.llm.transport import Transport

    patience = Patience()
    places = asyncio.Semaphore(concurrency)
    with bar(label, len(requests)) as shown:
        async with httpx2.AsyncClient(transport=Transport(concurrency)) as client:

            async def ask(request: Request) -> ServiceReply:
                async with places:
                    reply = await patience.ask(client, request, timeout_seconds)
                shown.update()
                return reply

            return list(await asyncio.gather(*map(ask, requests)))


@dataclass
class Patience:
    """How often a service failed in a row, and why at first."""

    unreachable: int = 0
    failed: int = 0
    errors: list[str] = field(default_factory=list)

    async def ask(self, client: Any, request: Request, timeout_seconds: float) -> ServiceReply:
        """Send a request, once more where that may help, unless the service is given up."""
        if self.unreachable >= UNREACHABLE_IN_A_ROW or self.failed >= FAILED_IN_A_ROW:
            return ServiceReply(error=f"not asked, after failures in a row: {self.errors[0]}")
        for attempt in range(1, ATTEMPTS + 1):
            reply = await try_once(client, request, timeout_seconds)
            if reply.wait is None or attempt == ATTEMPTS:
                break
            await asyncio.sleep(reply.wait)
        if not reply.error:
            self.unreachable = self.failed = 0
            self.errors.clear()
            return reply
        self.failed += 1
        self.unreachable = self.unreachable + 1 if reply.is_unreachable else 0
        self.errors.append(reply.error)
        return reply


async def try_once(client: Any, request: Request, timeout_seconds: float) -> ServiceReply:
    """Send a request once."""
    from ragbench.llm.errors import Fault

    content = request.body
    if content is not None and not isinstance(content, str):
        content = json.dumps(content, ensure_ascii=False, allow_nan=False)
    headers = {"Content-Type": "application/json"} if content is not None else {}
    headers |= {"Accept-Encoding": "identity", **request.headers}
    began = time.perf_counter()
    try:
        async with asyncio.timeout(timeout_seconds):
            response = await client.request(
                request.method,
                request.url,
                content=content.encode() if content is not None else None,
                headers=headers,
                timeout=timeout_seconds,
            )
    except TimeoutError:
        return ServiceReply(error=f"no reply within {timeout_seconds:g} s", is_unreachable=True)
    except Fault as fault:
        wait = 0.0 if fault.passes else None
        return ServiceReply(error=mask(fault), is_unreachable=True, wait=wait)
    latency_ms = (time.perf_counter() - began) * 1000
    text = response.text
    begins = mask("".join(letter if letter.isprintable() else " " for letter in text[:BEGINNING]))
    if response.status_code >= 300:
        is_busy = response.status_code in BUSY
        wait = read_wait(response.headers.get("Retry-After", "")) if is_busy else None
        return ServiceReply(error=f"HTTP {response.status_code}: {begins}", wait=wait)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ServiceReply(error=f"the reply is no JSON; it begins {begins!r}")
    return ServiceReply(value, latency_ms)


def read_wait(header: str) -> float:
    """Return the seconds that Retry-After asks for, within bounds; 1 where it says nothing."""
    seconds = float(header) if re.fullmatch(r"\d+(\.\d+)?", header.strip()) else 1.0
    return min(seconds, LONGEST_WAIT)
