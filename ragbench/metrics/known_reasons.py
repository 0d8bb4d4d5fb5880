"""Reasons that are kept in English with a value, known by their words: every reader gets them in their language."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Protocol

DIGITS = 3
LONGEST = 2_000
"""Characters of a reason of ours: what quotes others is cut. A longer one is a model's."""


class Speaker(Protocol):
    """Texts and numbers of one language: `ragbench.language.Translator`."""

    def __call__(self, text: str, **values: object) -> str:
        """The translation of a text, with its `{name}` places filled in."""
        ...

    def number(self, value: float | None, digits: int = DIGITS) -> str:
        """A decimal number in the language's form."""
        ...


def sentence(text: str, /, **values: Any) -> dict[str, Any]:
    """A sentence with its values apart: numbers, texts, or a sequence of texts that are quoted one by one."""
    return {"text": text, "values": values}


def reason_in(reason: str, speaker: Speaker) -> str:
    """A reason that is kept with a value. A model gives its own in the language it was asked in; ragbench's are said
    anew, and within one another."""
    for known in _beginning(reason[:1]) if len(reason) <= LONGEST else ():
        found = _pattern(known).fullmatch(reason)
        if found is not None:
            values = found.groupdict().items()
            told = {name: (reason_in if name in TEXTS else _number)(text, speaker) for name, text in values}
            return speaker(known, **told)
    return reason


TEXTS = ("said", "who", "name", "prompt", "limits")
"""Places of a reason that hold a name, somebody's words, or another reason."""
_NUMBER = r"\d+(?:\.\d+)?"


@lru_cache(maxsize=256)
def _beginning(sign: str) -> tuple[str, ...]:
    """The reasons that may begin so: a model's own are many, and nearly none of these."""
    return tuple(known["text"] for known in KNOWN_REASONS if known["text"][0] in ("{", sign))


@cache
def _pattern(text: str) -> re.Pattern[str]:
    kinds = {"field": r"[a-z_]+", "bound": r"\S+ [<>]=? \S+"} | dict.fromkeys(TEXTS, r".+")
    made = re.sub(r"\\\{(\w+)\\\}", lambda name: f"(?P<{name[1]}>{kinds.get(name[1], _NUMBER)})", re.escape(text))
    return re.compile(made, re.DOTALL)


def _number(text: str, speaker: Speaker) -> str:
    if not re.fullmatch(_NUMBER, text):  # the name of a field
        return text
    return speaker.number(float(text), len(text.partition(".")[2]))


ANSWERED_ONCE = sentence("every question was answered once: repeats = 2 or more are needed")
ASKED_ONCE = sentence("every question was asked once: repeats = 2 or more are needed")
FEWER_REPEATS = sentence("fewer answers than repeats were given: nothing can be compared")
NOT_ASKED_AGAIN = sentence("what was logged cannot be asked again")
CANNOT_BE_TOLD_APART = sentence(
    "retrieved and labelled contexts cannot be compared: the ones have no identifiers, the others no texts"
)
KNOWN_REASONS = (
    sentence("few differences decide, and they are skewed"),
    sentence("the difference grows with the size of the group (correlation {share})"),
    sentence("the difference falls with the size of the group (correlation {share})"),
    sentence("few values decide the mean, and they are skewed"),
    sentence("the value grows with the size of the group (correlation {share})"),
    sentence("the value falls with the size of the group (correlation {share})"),
    sentence("one group holds {share} of 100 questions"),
    sentence("{said}: the interval may miss the true value twice as often as it says"),
    sentence("{said}: the test may err twice as often as it says"),
    sentence("shared words and letters: {share}"),
    sentence("sentences that share their words: {part} of {whole}"),
    sentence("parts that share their words: {part} of {whole}"),
    sentence("words and letters that contexts share: {share}"),
    sentence("words and letters of the question: {share}"),
    sentence("words and letters that both share: {share}"),
    sentence("sentences that the contexts carry: {part} of {whole}; the weakest: {share}"),
    sentence("there is nothing to read"),
    sentence("the sample has no field {field}"),
    sentence("the field {field} is empty"),
    CANNOT_BE_TOLD_APART,
    sentence("the reference names no entity"),
    sentence("the chunk has no text"),
    sentence("yes"),
    sentence("no"),
    sentence("NaN or infinity"),
    sentence("a zero vector, which has no direction"),
    sentence("an empty vector"),
    sentence("a vector of another dimension"),
    sentence("booleans, which are no numbers"),
    sentence("texts, which are no numbers"),
    sentence("something that is no number"),
    sentence("something that is no vector"),
    sentence("the model refused: {said}", said=""),
    sentence("{said}; tried {count} times (attempts = {attempts}, patience_seconds = {seconds})"),
    sentence("{who} refuses all calls: {said}"),
    sentence(
        "{who} asks to wait {seconds} s ({said}); run again then, or raise patience_seconds. Replies so far are in the "
        "journal"
    ),
    sentence(
        "{who} failed {count} calls in a row, each after all its attempts; the last: {said}. Replies so far are in the "
        "journal: run again to go on"
    ),
    sentence(
        "the budget admits no further call ({limits}, replies out of the journal included); all replies are in the "
        "journal: raise [budget] in ragbench.toml and run again to go on"
    ),
    sentence("calls: {part} of {whole}"),
    sentence("tokens: {part} of {whole}"),
    sentence("money: {part} of {whole}"),
    sentence("{said}, tokens: {part} of {whole}"),
    sentence("{said}, money: {part} of {whole}"),
    sentence("the endpoint accepts no known way of asking"),
    sentence("{said}; the account has no money left: add some, then run again"),
    sentence("{said}; ask the provider for the right to this model, or name another `model`"),
    sentence("{said}; look at `model` and `base_url`"),
    sentence("{said}; look at `base_url`"),
    sentence("{said}; look at the key in the variable {name}"),
    sentence("{said}; no key was sent: name the variable that holds it as `key_variable`"),
    sentence("HTTP {status}: a redirect, which is not followed; {said}"),
    sentence("set {name} to the final address"),
    sentence("no connection within {seconds} s (connect_seconds)"),
    sentence("nothing was heard for {seconds} s (read_seconds)"),
    sentence("no whole response within {seconds} s ({said})"),
    sentence("what patience_seconds left of timeout_seconds"),
    sentence("no reply within {seconds} s"),
    sentence("the connection broke"),
    sentence("no secure connection: {said}"),
    sentence("Cannot connect to host {who} ({said}); look whether it runs, and at {name}"),
    sentence("Connection refused"),
    sentence("no such host"),
    sentence("the certificate of {who} is not trusted: {said}"),
    sentence("it is not valid yet; is the clock of this machine right?"),
    sentence("it has expired; the endpoint needs a new one (or is the clock of this machine wrong?)"),
    sentence("it is signed by itself; name its file in the variable SSL_CERT_FILE if it is your own"),
    sentence(
        "its authority is unknown here; name the file of your authority's certificate in the variable SSL_CERT_FILE"
    ),
    sentence("it was made for another host; set {name} to the name that it was made for"),
    sentence("the response is packed as {said}, which was not asked for"),
    sentence("the response cannot be unpacked: {said}"),
    sentence("the response has more than {count} bytes"),
    sentence("the response is not JSON"),
    sentence("the response is not a JSON object"),
    sentence("the response reports an error: {said}"),
    sentence("the response has no choices"),
    sentence("the response has no message"),
    sentence("the reply is empty"),
    sentence("the reply has more than {count} characters"),
    sentence("the reply is nested more than {count} deep"),
    sentence("the reply, or its question, holds what the journal cannot keep"),
    sentence("the question holds what no JSON does, such as half a pair of signs"),
    sentence("the response has more values than a reply"),
    sentence(
        "{who} has not answered any call for {seconds} s (patience_seconds). Replies so far are in the journal: run "
        "again to go on"
    ),
    sentence("the reply is not one JSON object: {said}"),
    sentence("the reply is not a JSON object"),
    sentence("{name} is not a JSON number"),
    sentence("{said} is too large a number"),
    sentence("a key stands twice in one object"),
    sentence("two replies were not of the shape; the second: {said}"),
    sentence("the reply was cut off at {count} tokens, twice"),
    sentence("it returned an object that is not JSON: {said}"),
    sentence("it returned {name}; a text, or an object for JSON, is expected"),
    sentence("the {name} judge cannot answer {prompt}: name a model, --judge NAME or -p judges=NAME"),
    sentence("the {name} judge decides by passages, and there are none"),
    sentence("the prompt {prompt} lists no levels"),
    sentence("the prompt {prompt} is asked in one language only"),
    sentence("{part} of {whole} judges measured, {quorum} needed; not: {said}"),
    sentence("not measured by {said}"),
    sentence("a second turn is needed: one alone has no neighbour"),
    sentence("turn {count} has no field {field}"),
    sentence("the field {field} of turn {count} is empty"),
    sentence("a second run is needed: nothing can be compared"),
    sentence("run {count} has no answer"),
    sentence("the answer of run {count} is empty"),
    sentence("the report has no such number"),
    sentence("the whole interval keeps the condition"),
    sentence("the whole interval breaks the condition"),
    sentence("the interval reaches across the limit"),
    sentence("there is no interval"),
    sentence("nothing was measured"),
    sentence("{part} of {whole} could not be measured, at most {share}% may be"),
    sentence("{name} was not compared with {who} question by question"),
    sentence("{part} of {whole} pairs unmeasured"),
    sentence("{part} of {whole} passages that {name} retrieved ({share}%) are none of the data set's"),
    sentence("{part} pairs unmeasured"),
    sentence("{part} values unmeasured"),
    sentence("there is no interval of the difference"),
    sentence("{part} of {whole} values are of fewer judges than the panel has"),
    sentence("the whole interval of the difference is within the margin"),
    sentence("the whole interval of the difference is beyond the margin"),
    sentence("the interval of the difference reaches across the margin"),
    sentence("{name} not worse than {who} by more than {share}"),
    sentence("{bound} (good)"),
    sentence("{bound} (excellent)"),
    ANSWERED_ONCE,
    ASKED_ONCE,
    FEWER_REPEATS,
    NOT_ASKED_AGAIN,
)
"""What the offline judge gives for a reason, what is said where no judge was asked, decisions, what is not there,
faults of vectors, refusals, and repeats that were not there."""
