"""What can go wrong with a model, and what is to be done about it."""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from typing import Literal

from ragbench.core.errors import BenchError
from ragbench.core.secrets import shorten

Kind = Literal["alone", "refusal", "passes", "busy", "silent"]


class StopError(BenchError):
    """No further call can succeed: a dead key, spent money, an unknown model, a silent endpoint.

    What was paid for is in the journal, so that the next run goes on from there.
    """


class BudgetSpentError(StopError):
    """The next call could cost more than is left of the budget."""


class UnusableReplyError(Exception):
    """A reply arrived, and no value can be read from it. The message says why.

    status: of the score that stays unmeasured: parse_error, refused or truncated.
    """

    def __init__(self, reason: str, status: str = "parse_error") -> None:
        super().__init__(reason)
        self.status = status


class Fault(Exception):  # noqa: N818  most of them pass
    """One attempt brought no reply.

    status: of the score, where no other attempt helps. kind: "alone" is of this request only;
    "refusal" is of the form in which it was sent; "passes", "busy" (to be called less) and
    "silent" (nothing came) may succeed later. retry_after: seconds that it asks to wait.
    """

    def __init__(
        self,
        reason: str,
        status: str = "judge_error",
        kind: Kind = "alone",
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.kind = kind
        self.retry_after = retry_after

    @property
    def passes(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in ("passes", "busy", "silent")


# Providers send these with any status from 400 to 429, so the words decide. "You exceeded your
# current quota" is not among them: Gemini says it when it is only to be asked more slowly.
SPENT = re.compile(
    r"credit balance|insufficient[ _]?(quota|balance|credits|funds)|payment required|"
    r"billing_hard_limit|out of credits"
)
DEAD_KEY = re.compile(
    r"api[ _]?key[ _]?(expired|invalid|not valid|not found|disabled)|"
    r"(invalid|incorrect|expired)[ _]api[ _]key"
)
UNKNOWN_MODEL = re.compile(
    r"model[^.]{0,60}(not found|not exist|unknown)|unknown[ _]model|no such model|model_not_found"
)
MODERATED = re.compile(r"content[_ ]filter|content management policy|moderation|was flagged")
# What an error quotes of the material: its words must not decide what the error means.
QUOTED = ("failed_generation", "input")
# Failures on a form that a server cannot follow: a grammar (llama.cpp), a role that the model's
# template lacks (vLLM), parameters that nobody behind a router takes (OpenRouter).
FAILED_ON_FORM = re.compile(
    r"grammar|schema|response_format|guided[ _]|jinja|template|system role|no endpoints found"
)


def read_refusal(status: int, headers: Mapping[str, str], body: str) -> StopError | Fault:
    """Say what an HTTP status other than 2xx means: an error of all calls, or of this attempt.

    body: of the response; errors that every further call would meet are told by their words.
    """
    message = read_message(body)
    words = message.lower()
    reason = f"HTTP {status}: {message}"
    if status >= 404 and FAILED_ON_FORM.search(words):
        return Fault(reason, kind="refusal")
    advice = advise(status, words)
    if advice:
        return StopError(f"{advice} ({reason})")
    if status in (400, 403, 422) and MODERATED.search(words):
        return Fault(reason, "refused")
    if status == 403:
        return StopError(f"the key has no right to this model; take another one ({reason})")
    kind: Kind = "refusal"
    if status in (429, 503, 529):
        kind = "busy"
    elif status in (408, 409, 425) or status >= 500:
        kind = "passes"
    return Fault(reason, kind=kind, retry_after=read_retry_after(headers))


def advise(status: int, words: str) -> str:
    """Say what to do about an error that every further call would meet too; "" for any other."""
    if status == 402 or SPENT.search(words):
        return "the account has no money left; add some, or take another model"
    if status == 401 or DEAD_KEY.search(words):
        return "the key is not accepted; set a valid one in the variable that key_variable names"
    if status in (400, 404) and UNKNOWN_MODEL.search(words):
        return "the endpoint does not know the model; correct `model`"
    if status in (404, 405):
        return "nothing answers at this address; look at base_url, which usually ends with /v1"
    if 300 <= status < 400:
        return "a redirect is not followed; set base_url to the final address"
    return ""


def read_message(body: str) -> str:
    """Return what an error says of itself, masked, as one line of at most 300 characters."""
    try:
        error = json.loads(body)
    except (ValueError, RecursionError):
        return shorten(body)
    error = error[0] if isinstance(error, list) and error else error  # Gemini sends a list of one
    error = error.get("error", error) if isinstance(error, dict) else error
    if isinstance(error, dict):
        words = [str(value) for name, value in error.items() if value and name not in QUOTED]
        error = " ".join(words)
    return shorten(error)


def read_retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that an endpoint asks to wait: `retry-after-ms`, `Retry-After`; else 0."""
    milliseconds = headers.get("retry-after-ms")
    value = headers.get("retry-after", "0")
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            seconds = 0.0
    return max(0.0, seconds)  # also of NaN, and of a moment that is over
