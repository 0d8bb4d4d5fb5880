"""Did an agent do what it was asked, with the right calls, keeping to its subject; and what did it take?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.types import Judge, LexicalReader, Message, Prompt, Sample, Score, Status, ToolCall
from ragbench.old.core.types.reason import Reason, kept, rounded
from ragbench.old.metrics.claims import told
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.factual_correctness import f_measure
from ragbench.old.metrics.inquiry import Inquiry, measured

CALLS = ("trajectory", "reference_tool_calls")
RAGAS = "ragas, metrics of agents, 0.4"
Order = Literal["strict", "any"]
Mode = Literal["f1", "precision", "recall"]


class Goal(BaseModel):
    """The reply's shape; the reason comes first, so that it is thought before it is said."""

    reason: str = Field(description="one or two short sentences: what was wanted, and what was reached in the end")
    reached: bool = Field(description="whether the goal was reached")


class Topic(BaseModel):
    """A subject that the user asked about."""

    topic: str = Field(description="the subject, in a few words")
    answered: bool = Field(description="false if the agent refused to deal with it")
    allowed: bool = Field(description="whether it belongs to one of the allowed subjects")


class Topics(BaseModel):
    """Every subject that the user asked about, once each."""

    topics: list[Topic]


def _goal_by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Goal:
    """Whether the last things that were said carry the reference; without one, whether they answer in the question's
    words."""
    said = [line.partition(": ")[2] for line in texts["messages"] if not line.startswith("user: ")]
    wanted = texts["reference"] or next(iter(texts["messages"]), "").partition(": ")[2]
    share = reader.support(wanted, said[-2:])
    why = Reason("shared words and letters: {share}", share=rounded(share, 2))
    return Goal(reason=kept(why), reached=bool(said) and share >= (0.8 if texts["reference"] else 0.5))


def _topics_by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Topics:
    found, lines = [], texts["messages"]
    for place, line in enumerate(lines):
        if line.startswith("user: "):
            text = line.partition(": ")[2]
            reply = next((one for one in lines[place + 1 :] if one.startswith("assistant: ")), "")
            allowed = any(reader.support(topic, [text]) >= 0.5 for topic in texts["topics"])
            found.append(Topic(topic=text, answered=bool(reply.partition(": ")[2].strip()), allowed=allowed))
    return Topics(topics=found)


GOAL = Prompt(
    name="agent_goal",
    version=1,
    shape=Goal,
    offline=_goal_by_words,
    texts={
        "en": """An agent talked with a user and called tools. Decide whether the user's goal was reached in the end.

Messages, in order:
{messages}

What should have been reached (may be empty; then judge by what the user wanted):
{reference}

Go by what the messages show was done, not by what the agent says it has done: a call that failed has done nothing, and
a promise is no deed. Where it is given, what should have been reached decides, in every part of it. Give the reason
first.""",
        "ru": """Агент говорил с пользователем и вызывал инструменты. Решите, достигнута ли в итоге цель пользователя.

Сообщения по порядку:
{messages}

Что должно было получиться (может быть пустым; тогда судите по тому, чего хотел пользователь):
{reference}

Исходите из того, что по сообщениям действительно сделано, а не из того, что агент о себе говорит: неудавшийся вызов
ничего не сделал, а обещание — не дело. Если указано, что должно было получиться, решает это, причём целиком. Сначала
причина по-русски.""",
    },
)
TOPICS = Prompt(
    name="agent_topics",
    version=1,
    shape=Topics,
    offline=_topics_by_words,
    max_tokens=2000,
    texts={
        "en": """An agent may deal with some subjects only. List every subject that the user asked about, once each.

Messages, in order:
{messages}

Allowed subjects:
{topics}

Say of each subject whether the agent dealt with it, or refused to, and whether it belongs to one of the allowed
subjects. Greetings and thanks are no subject.""",
        "ru": """Агенту разрешены лишь некоторые темы. Перечислите все темы, о которых спрашивал пользователь, по одному
разу.

Сообщения по порядку:
{messages}

Разрешённые темы:
{topics}

О каждой теме скажите, занялся ли ею агент или отказался, и относится ли она к одной из разрешённых. Приветствия и
благодарности — не темы.""",
    },
)


@metric(
    source=RAGAS + ", tool call accuracy",
    fields=CALLS,
    formula=(
        "A · c · mean over reference calls of the best share of equal arguments among the agent's calls of that name, "
        "each used once; A = 1 if the names stand in the reference's order (order=any: are among them), else 0; c = "
        "min(1, calls / reference calls)"
    ),
    edges=(
        "Neither calls nor reference calls: 1; only one of the two: 0. An agent without messages is unmeasured. A call "
        "whose arguments are no JSON object counts, and has none of them right."
    ),
    differs="Arguments are equal where their texts are, as in ragas.",
    when=("Whether an agent calls the right tools with the right arguments, in the right order.",),
)
@measured
async def tool_call_accuracy(sample: Sample, *, order: Order = "strict") -> Score:
    """How far an agent's tool calls are those of the reference: names, order and arguments.

    order: "any" leaves the order out. 0 to 1; `detail["statements"]` keeps each call with the share of its arguments
    that is right, `detail["first_wrong"]` the number of the first call that is not the reference's, from 1, else None.
    """
    return _of_calls(sample, lambda made, wanted: _accuracy(made, wanted, order))


@metric(
    source=RAGAS + ", tool call F1",
    fields=CALLS,
    formula="2 P R / (P + R), P = calls that are the reference's / calls, R = the same / reference calls, as sets",
    edges="Neither calls nor reference calls: 1; only one of the two: 0. An agent without messages is unmeasured.",
    differs="Without any calls on either side ragas has 0.",
    when=("Whether an agent calls the right tools, whatever the order, and none besides.",),
)
@measured
async def tool_call_f1(sample: Sample) -> Score:
    """F1 of an agent's tool calls against the reference's: a call is right where name and all arguments are.

    0 to 1; `detail` as of tool_call_accuracy.
    """
    return _of_calls(sample, _f1)


@metric(
    source="the project's own; calls are equal as in tool_call_f1",
    fields=CALLS,
    formula="calls before the first that is not the reference's, in its order / reference calls",
    edges=(
        "Neither calls nor reference calls: 1; only one of the two: 0. An agent without messages is unmeasured. What "
        "is called after the last of the reference does not count."
    ),
    differs="Ends at the first wrong call, where tool_call_accuracy and tool_call_f1 go on.",
    when=("How far an agent gets before it goes wrong the first time.",),
)
@measured
async def right_steps(sample: Sample) -> Score:
    """Share of the reference's tool calls that an agent makes in their order before its first wrong one.

    0 to 1; `detail` as of tool_call_accuracy.
    """
    return _of_calls(sample, _right)


@metric(
    source=RAGAS + ", agent goal accuracy",
    fields=("trajectory",),
    levels=(0.0, 1.0),
    prompts=(GOAL,),
    formula="1 if the judge finds that the goal was reached, else 0",
    edges="An agent without messages is unmeasured; with reference=true one without a reference, too.",
    differs="One question, where ragas first has goal and end state written down, and then compared.",
    when=("Whether an agent's work came to what was wanted, however it was done.",),
    purposes=(Purpose("end-to-end", "asks whether the user's goal was reached"),),
)
@measured
async def goal_reached(sample: Sample, judge: Judge, *, reference: bool = False) -> Score:
    """Whether the agent reached the user's goal: 1 or 0 by a judge who reads all messages and tool calls.

    reference: hold the end against the sample's reference; without it the judge finds the goal in the messages.
    """
    inquiry = Inquiry(sample, judge, "trajectory", *(["reference"] if reference else []))
    texts = {"messages": lines_of(sample.trajectory or ()), "reference": (sample.reference or "") if reference else ""}
    reply = await inquiry.ask(GOAL, texts)
    value = float(reply.reached)
    word = (
        sentence("The goal was reached: {value}.", value=value)
        if reply.reached
        else sentence("The goal was not reached: {value}.", value=value)
    )
    said = [word, sentence("The judge says: {reason}", reason=reply.reason)]
    return inquiry.score(value, said, verdict="yes" if reply.reached else "no", said=reply.reason)


@metric(
    source=RAGAS + ", topic adherence",
    fields=("trajectory", "reference_topics"),
    prompts=(TOPICS,),
    formula=(
        "precision P = answered allowed subjects / answered subjects; recall R = the same / allowed subjects; F = 2 P "
        "R / (P + R)"
    ),
    edges=(
        "A dialogue in which nothing is asked is unmeasured, precision where nothing is answered, and recall where "
        "nothing allowed is asked."
    ),
    differs="One question for all subjects; ragas adds 1e-10 to divisors, so that what has no value there is 0.",
    when=("Whether an agent keeps to what it is there for, and does that.",),
)
@measured
async def topic_adherence(sample: Sample, judge: Judge, *, mode: Mode = "f1") -> Score:
    """How far an agent deals with allowed subjects and refuses others: F1, precision or recall over subjects asked for.

    0 to 1; `detail["statements"]` keeps each subject with its verdict: "yes" where the agent did as it should.
    """
    inquiry = Inquiry(sample, judge, "trajectory", "reference_topics")
    texts = {"messages": lines_of(sample.trajectory or ()), "topics": list(sample.reference_topics or ())}
    topics = (await inquiry.ask(TOPICS, texts)).topics
    hits = sum(one.answered and one.allowed for one in topics)
    answered, allowed = sum(one.answered for one in topics), sum(one.allowed for one in topics)
    lines = [
        told(one.topic, "yes" if one.answered == one.allowed else "no", _done(one.allowed, one.answered))
        for one in topics
    ]
    whole = {"precision": answered, "recall": allowed, "f1": answered + allowed}[mode]
    if not whole:
        nothing = sentence("no subject is asked for that counts")
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, nothing, statements=lines)
    precision, recall = (hits / count if count else 0.0 for count in (answered, allowed))
    value = {"precision": precision, "recall": recall, "f1": f_measure(precision, recall)}[mode]
    said = [
        sentence(
            "Of {whole} subjects {allowed} are allowed and {answered} answered, {part} both: {value}.",
            whole=len(topics), allowed=allowed, answered=answered, part=hits, value=value,
        )
    ]  # fmt: skip
    return inquiry.score(value, said, statements=lines)


def _done(allowed: bool, answered: bool) -> str:
    known = {
        (True, True): Reason("allowed and answered"),
        (True, False): Reason("allowed and refused"),
        (False, True): Reason("not allowed and answered"),
        (False, False): Reason("not allowed and refused"),
    }
    return kept(known[allowed, answered])


def lines_of(messages: Sequence[Message]) -> list[str]:
    """Messages as a judge reads them: the role, what was said, and calls with their arguments."""
    found = []
    for message in messages:
        calls = [f"calls {call.name}({call.written})" for call in message.calls]
        found.append(f"{message.role}: {' '.join(filter(None, (message.text, *calls)))}")
    return found


def calls_of(sample: Sample) -> list[ToolCall]:
    """The calls that the agent made, in order."""
    return [call for message in sample.trajectory or () for call in message.calls]


def _of_calls(sample: Sample, rule: Any) -> Score:
    Inquiry(sample, None, *CALLS, blank=True)
    inquiry = Inquiry(sample, None, "trajectory")
    made, wanted = calls_of(sample), list(sample.reference_tool_calls or ())
    value = float(bool(made) == bool(wanted)) if not (made and wanted) else rule(made, wanted)
    return _scored(inquiry, made, wanted, value)


def _accuracy(made: Sequence[ToolCall], wanted: Sequence[ToolCall], order: Order) -> float:
    names, needed = [call.name for call in made], [call.name for call in wanted]
    if order == "any":
        aligned = not Counter(needed) - Counter(names)
    else:
        left = iter(names)
        aligned = names == needed if len(names) == len(needed) else all(name in left for name in needed)
    if not aligned:
        return 0.0
    total, unused = 0.0, list(made)
    for call in sorted(wanted, key=_key) if order == "any" else wanted:
        shares = [(_share(one, call), -place) for place, one in enumerate(unused) if one.name == call.name]
        best, place = max(shares, default=(0.0, 0))
        total += best
        if best > 0:
            unused.pop(-place)
    return total / len(wanted) * min(1.0, len(made) / len(wanted))


def _f1(made: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> float:
    own, others = {_key(call) for call in made}, {_key(call) for call in wanted}
    hits = len(own & others)
    return f_measure(hits / len(own), hits / len(others))


def _right(made: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> float:
    wrong = first_wrong(made, wanted)
    return 1.0 if wrong is None else wrong / len(wanted)


def first_wrong(made: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> int | None:
    """The place, from 0, of the first call that is not the reference's, that is lacking, or one too many; else None."""
    for place, (own, other) in enumerate(zip(made, wanted, strict=False)):
        if _key(own) != _key(other):
            return place
    return None if len(made) == len(wanted) else min(len(made), len(wanted))


def _key(call: ToolCall) -> tuple[str, str]:
    """What a call is, whatever the order of its arguments; one without an object of arguments is no other's same."""
    if call.arguments is None:
        return call.name, f"\0{call.written}"
    return call.name, json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True, default=str)


def _share(made: ToolCall, wanted: ToolCall) -> float:
    """The share of the wanted arguments that are there with the same text."""
    own, needed = made.arguments, wanted.arguments or {}
    if own is None:
        return 0.0
    if not needed:
        return float(not own)
    return sum(name in own and str(own[name]) == str(value) for name, value in needed.items()) / len(needed)


def _scored(inquiry: Inquiry, made: Sequence[ToolCall], wanted: Sequence[ToolCall], value: float) -> Score:
    wrong = first_wrong(made, wanted)
    keys = {_key(call) for call in wanted}
    lines = [
        told(
            f"{call.name}({call.written})",
            "yes" if _key(call) in keys else "no",
            kept(Reason("the arguments are no JSON object")) if call.arguments is None else "",
        )
        for call in made
    ]
    right = sum(line["verdict"] == "yes" for line in lines)
    said = [
        sentence(
            "Of {made} calls {right} are among the {wanted} of the reference: {value}.",
            made=len(made), right=right, wanted=len(wanted), value=value,
        )
    ]  # fmt: skip
    if wrong is not None:
        said.append(sentence("The first step that is not the reference's: {number}.", number=wrong + 1))
    if torn := [call.written for call in made if call.arguments is None]:
        said.append(sentence("Arguments that are no JSON object: {texts}.", texts=torn))
    return inquiry.score(value, said, statements=lines, first_wrong=None if wrong is None else wrong + 1)


OWN, OPEN = "the project's own", (0.0, None)  # counts, seconds and money have no upper end
NO_MESSAGES = "An agent without messages is unmeasured."


def _counted(sample: Sample, count: int) -> Score:
    Inquiry(sample, None, "trajectory")
    return Score(float(count))


@metric(
    source=OWN, bounds=OPEN, better="lower", fields=("trajectory",), formula="messages of the agent", edges=NO_MESSAGES,
    differs="Messages of the agent are counted, not pairs of a question and its answer.",
    when=("How many steps an agent needs; each is a call of its model.",),
)  # fmt: skip
@measured
async def agent_turns(sample: Sample) -> Score:
    """How many messages an agent wrote, those that only call tools among them; fewer are quicker."""
    return _counted(sample, sum(message.role == "assistant" for message in sample.trajectory or ()))


@metric(
    source=OWN, bounds=OPEN, better="lower", fields=("trajectory",), formula="calls of tools", edges=NO_MESSAGES
    + " One that calls nothing has 0.",
    differs="Calls that are repeated count each time.",
    when=("How many calls of tools an agent needs.",),
)  # fmt: skip
@measured
async def agent_calls(sample: Sample) -> Score:
    """How many calls of tools an agent made, right or wrong; fewer are quicker."""
    return _counted(sample, len(calls_of(sample)))


@metric(
    source=OWN, bounds=OPEN, better="lower", fields=("cost",), formula="what the run cost, as it was logged",
    edges="A run without a cost is unmeasured: what nobody logged is not free.",
    differs="Read from the log, not computed from tokens and prices.",
    when=("What an agent's run costs.",),
)  # fmt: skip
@measured
async def agent_cost(sample: Sample) -> Score:
    """What a run cost, in the money of whoever logged it; less is better."""
    inquiry = Inquiry(sample, None, "cost", blank=True)
    assert sample.cost is not None
    return inquiry.score(sample.cost, [sentence("Logged cost: {value}.", value=sample.cost)])
