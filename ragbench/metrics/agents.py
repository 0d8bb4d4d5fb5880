"""Did an agent do what it was asked, with the right calls, and keep to its subject?"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.factual_correctness import f_measure
from ragbench.metrics.judging import Judge, Prompt, YesNo

RAGAS = "RAGAS, metrics of agents"
Recorded = Sequence[Mapping[str, Any]]
# What programs call the arguments of a call.
ARGUMENTS = ("arguments", "args", "input_parameters")


class Topic(BaseModel):
    """A subject that the user asked about."""

    topic: str = Field(description="the subject, in a few words")
    answered: bool = Field(description="false if the agent refused to deal with it")
    allowed: bool = Field(description="whether it belongs to one of the allowed subjects")


class Topics(BaseModel):
    """Reply: every subject that the user asked about, once each."""

    topics: list[Topic]


GOAL = Prompt(
    "agent_goal",
    YesNo,
    en="""\
An agent talked with a user and called tools. Decide whether the user's goal was reached in the end.

Messages, in order:
{messages}

What should have been reached (may be empty; then judge by what the user wanted):
{reference}

Go by what the messages show was done, not by what the agent says it has done: a call that failed \
has done nothing, and a promise is no deed. Where it is given, what should have been reached \
decides, in every part of it. Give the reason first, then "yes" or "no".""",
    ru="""\
Агент говорил с пользователем и вызывал инструменты. Решите, достигнута ли в итоге цель \
пользователя.

Сообщения по порядку:
{messages}

Что должно было получиться (может быть пустым; тогда судите по тому, чего хотел пользователь):
{reference}

Исходите из того, что по сообщениям действительно сделано, а не из того, что агент о себе говорит: \
неудавшийся вызов ничего не сделал, а обещание — не дело. Если указано, что должно было \
получиться, решает это, причём целиком. Сначала причина по-русски, затем латиницей "yes" или \
"no".""",
)
TOPICS = Prompt(
    "agent_topics",
    Topics,
    max_tokens=2000,
    en="""\
An agent may deal with some subjects only. List every subject that the user asked about, once each.

Messages, in order:
{messages}

Allowed subjects:
{topics}

Say of each subject whether the agent dealt with it, or refused to, and whether it belongs to one \
of the allowed subjects. Greetings and thanks are no subject.""",
    ru="""\
Агенту разрешены лишь некоторые темы. Перечислите все темы, о которых спрашивал пользователь, по \
одному разу.

Сообщения по порядку:
{messages}

Разрешённые темы:
{topics}

О каждой теме скажите, занялся ли ею агент или отказался, и относится ли она к одной из \
разрешённых. Приветствия и благодарности — не темы.""",
)


@dataclass(frozen=True)
class Call:
    """A call of a tool. arguments: each by its name as it is compared; None: no JSON object."""

    name: str
    arguments: Mapping[str, str] | None

    @property
    def key(self) -> tuple[str, Any]:
        """What makes two calls one, whatever the order of their arguments."""
        if self.arguments is None:
            return self.name, None
        return self.name, tuple(sorted(self.arguments.items()))

    @property
    def text(self) -> str:
        """The call as people read it."""
        arguments = self.arguments or {}
        return f"{self.name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"


@metric(source=RAGAS + ", tool call accuracy")
def tool_call_accuracy(
    expected_tool_calls: Recorded,
    tool_calls: Recorded | None = None,
    messages: Recorded | None = None,
    order: Literal["strict", "any"] = "strict",
) -> Score:
    """How far an agent's tool calls are the expected ones: names, order and arguments.

    The mean over expected calls of the best share of equal arguments among the agent's calls of
    that name, each used once, times min(1, calls / expected calls); 0 unless the names stand in
    the expected order (order="any": unless they are there). Neither calls nor expected ones: 1;
    only one of the two: 0. Arguments are equal by value: 75 is 75.0, in whatever order.
    """
    made, expected = pair_calls(expected_tool_calls, tool_calls, messages)
    return calls_score(made, expected, calls_accuracy(made, expected, order))


@metric(source=RAGAS + ", tool call F1")
def tool_call_f1(
    expected_tool_calls: Recorded,
    tool_calls: Recorded | None = None,
    messages: Recorded | None = None,
) -> Score:
    """F1 of an agent's tool calls: a call is right where name and all arguments are.

    2 P R / (P + R) over counts of calls, so that one right call of two expected has ⅔. Neither
    calls nor expected ones: 1; only one of the two: 0.
    """
    made, expected = pair_calls(expected_tool_calls, tool_calls, messages)
    n_right = count_right(made, expected)
    if not made or not expected:
        return calls_score(made, expected, float(made == expected))
    return calls_score(made, expected, f_measure(n_right / len(made), n_right / len(expected)))


@metric(source="this project's own")
def right_steps(
    expected_tool_calls: Recorded,
    tool_calls: Recorded | None = None,
    messages: Recorded | None = None,
) -> Score:
    """Share of the expected tool calls that an agent makes in order before its first wrong one.

    What is called after the last expected one does not count. Neither calls nor expected ones: 1;
    only one of the two: 0.
    """
    made, expected = pair_calls(expected_tool_calls, tool_calls, messages)
    if not made or not expected:
        return calls_score(made, expected, float(made == expected))
    n_right = 0
    for call, wanted in zip(made, expected, strict=False):
        if call.key != wanted.key:
            break
        n_right += 1
    return calls_score(made, expected, n_right / len(expected))


@metric(source=RAGAS + ", agent goal accuracy")
async def goal_reached(
    judge: Judge, messages: Recorded, reference: str = "", by_reference: bool = False
) -> Score:
    """Whether the agent reached the user's goal: 1 or 0, by a judge who reads all messages.

    by_reference: hold the end against the reference, which then is needed; else the judge finds
    the goal in the messages.
    """
    lines = write_messages(messages)
    if by_reference and not reference.strip():
        raise Unmeasured("missing_field", "no reference")
    reply = await judge.ask(GOAL, messages=lines, reference=reference if by_reference else "")
    reached = mark("The goal was reached: {reason}")
    missed = mark("The goal was not reached: {reason}")
    return Score(
        float(reply.verdict == "yes"),
        message=reached if reply.verdict == "yes" else missed,
        facts={"reason": reply.reason},
    )


@metric(source=RAGAS + ", topic adherence")
async def topic_adherence(
    judge: Judge,
    messages: Recorded,
    topics: Sequence[str],
    mode: Literal["f1", "precision", "recall"] = "f1",
) -> Score:
    """How far an agent deals with allowed subjects and refuses others: F1, precision or recall.

    precision: allowed and answered / answered; recall: the same / allowed. Unmeasured where
    nothing is asked that counts.
    """
    reply = await judge.ask(TOPICS, messages=write_messages(messages), topics=list(topics))
    n_both = sum(topic.answered and topic.allowed for topic in reply.topics)
    n_answered = sum(topic.answered for topic in reply.topics)
    n_allowed = sum(topic.allowed for topic in reply.topics)
    whole = {"precision": n_answered, "recall": n_allowed, "f1": n_answered + n_allowed}[mode]
    if not whole:
        raise Unmeasured("empty_decomposition", "no subject is asked for that counts")
    precision = n_both / n_answered if n_answered else 0.0
    recall = n_both / n_allowed if n_allowed else 0.0
    values = {"precision": precision, "recall": recall, "f1": f_measure(precision, recall)}
    verdicts = []
    for topic in reply.topics:
        done = "answered" if topic.answered else "refused"
        verdicts.append(Verdict(topic.topic, done, "allowed" if topic.allowed else "not allowed"))
    return Score(
        values[mode],
        message=mark(
            "Of {whole} subjects {allowed} are allowed, {answered} answered, {both} both: {value}"
        ),
        facts={
            "whole": len(reply.topics),
            "allowed": n_allowed,
            "answered": n_answered,
            "both": n_both,
        },
        verdicts=verdicts,
    )


@metric(source="this project's own", bounds=(0.0, math.inf), better="lower")
def agent_turns(messages: Recorded) -> float:
    """How many messages an agent wrote, calls of tools among them; fewer are quicker."""
    write_messages(messages)
    return float(sum(read_role(message) == "assistant" for message in messages))


@metric(source="this project's own", bounds=(0.0, math.inf), better="lower")
def agent_calls(tool_calls: Recorded | None = None, messages: Recorded | None = None) -> float:
    """How many calls of tools an agent made, right or wrong; fewer are quicker."""
    return float(len(read_calls(tool_calls, messages)))


@metric(source="this project's own", bounds=(0.0, math.inf), better="lower")
def agent_cost(cost: float) -> float:
    """What a run cost, in the money of whoever logged it; less is better."""
    return cost


def pair_calls(
    expected_tool_calls: Recorded, tool_calls: Recorded | None, messages: Recorded | None
) -> tuple[list[Call], list[Call]]:
    """Return the calls that were made and those that were expected."""
    expected = [read_call(recorded) for recorded in expected_tool_calls]
    return read_calls(tool_calls, messages), expected


def read_calls(tool_calls: Recorded | None, messages: Recorded | None) -> list[Call]:
    """Return the calls of a run: as they are given, or else those of its messages."""
    if tool_calls is None:
        if not messages:
            raise Unmeasured("missing_field", "no tool_calls and no messages")
        tool_calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return [read_call(recorded) for recorded in tool_calls]


def read_call(recorded: Mapping[str, Any]) -> Call:
    """Read a call as it was recorded: a name and ARGUMENTS, also within a `function`."""
    call = recorded.get("function") or recorded
    arguments: Any = next((call[key] for key in ARGUMENTS if key in call), {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            arguments = None
    if not isinstance(arguments, Mapping):
        return Call(str(call.get("name", "")), None)
    return Call(
        str(call.get("name", "")),
        {str(name): compared_form(value) for name, value in arguments.items()},
    )


def compared_form(value: Any) -> str:
    """Write a value so that equal ones are equal texts: 75 and 75.0, keys in any order."""
    if isinstance(value, str):
        return value
    return json.dumps(whole_numbers(value), ensure_ascii=False, sort_keys=True, default=str)


def whole_numbers(value: Any) -> Any:
    """Return a JSON value whose whole floats are integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: whole_numbers(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(part) for part in value]
    return value


def calls_accuracy(made: Sequence[Call], expected: Sequence[Call], order: str) -> float:
    """Compute tool_call_accuracy of calls."""
    if not made or not expected:
        return float(made == expected)
    names = [call.name for call in made]
    wanted_names = [call.name for call in expected]
    if order == "any":
        is_aligned = not Counter(wanted_names) - Counter(names)
    elif len(names) == len(wanted_names):
        is_aligned = names == wanted_names
    else:
        # Every expected name is looked for behind the one before it.
        left = iter(names)
        is_aligned = all(name in left for name in wanted_names)
    if not is_aligned:
        return 0.0
    unused = list(made)
    total = 0.0
    for wanted in expected:
        candidates = [call for call in unused if call.name == wanted.name]
        best = max(candidates, key=lambda call: share_of_arguments(call, wanted))
        share = share_of_arguments(best, wanted)
        total += share
        if share > 0:
            unused.remove(best)
    return total / len(expected) * min(1.0, len(made) / len(expected))


def share_of_arguments(call: Call, wanted: Call) -> float:
    """Return the share of the wanted arguments that a call has with the same value."""
    if call.arguments is None:
        return 0.0
    needed = wanted.arguments or {}
    if not needed:
        return float(not call.arguments)
    return sum(call.arguments.get(name) == value for name, value in needed.items()) / len(needed)


def count_right(made: Sequence[Call], expected: Sequence[Call]) -> int:
    """Count the calls that are expected ones, each expected call once."""
    right = Counter(call.key for call in made if call.arguments is not None)
    return sum((right & Counter(call.key for call in expected)).values())


def calls_score(made: Sequence[Call], expected: Sequence[Call], value: float) -> Score:
    """Make the score of calls; a verdict a call: "right", "wrong", or no JSON object."""
    keys = [call.key for call in expected]
    verdicts = []
    for call in made:
        verdict = "right" if call.key in keys and call.arguments is not None else "wrong"
        reason = "" if call.arguments is not None else "the arguments are no JSON object"
        verdicts.append(Verdict(call.text, verdict, reason))
    return Score(
        value,
        message=mark("{right} of {made} calls are among the {expected} expected ones: {value}"),
        facts={
            "right": count_right(made, expected),
            "made": len(made),
            "expected": len(expected),
        },
        verdicts=verdicts,
    )


def read_role(message: Mapping[str, Any]) -> str:
    """Return who wrote a message: user, assistant, tool or system."""
    role = str(message.get("role") or message.get("type") or "")
    return {"human": "user", "ai": "assistant"}.get(role, role)


def write_messages(messages: Recorded) -> list[str]:
    """Write messages as a judge reads them: role, text, and calls with their arguments."""
    if not messages:
        raise Unmeasured("empty_input", "the agent's run has no messages")
    lines = []
    for message in messages:
        content = message.get("content") or ""
        calls = [read_call(call).text for call in message.get("tool_calls") or ()]
        words = [str(content), *[f"calls {call}" for call in calls]]
        lines.append(f"{read_role(message)}: {' '.join(filter(None, words))}")
    return lines
