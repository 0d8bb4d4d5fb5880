"""What an agent takes for a run: turns, calls of tools, and money."""

from __future__ import annotations

from ragbench.core.metric import metric
from ragbench.core.types import Sample, Score, Status
from ragbench.extras.standards.agents import calls_of, lacking
from ragbench.metrics.explanation import sentence, spoken
from ragbench.metrics.inquiry import unmeasured

OWN, OPEN = "the project's own", (0.0, None)
NO_MESSAGES = "An agent without messages is unmeasured."


def _counted(sample: Sample, count: int) -> Score:
    return lacking(sample, "trajectory") or Score(float(count))


@metric(
    source=OWN, bounds=OPEN, better="lower", fields=("trajectory",), formula="messages of the agent", edges=NO_MESSAGES,
    differs="Messages of the agent are counted, not pairs of a question and its answer.",
    when=("How many steps an agent needs; each is a call of its model.",),
)  # fmt: skip
async def agent_turns(sample: Sample) -> Score:
    """How many messages an agent wrote, those that only call tools among them; fewer are quicker."""
    return _counted(sample, sum(message.role == "assistant" for message in sample.trajectory or ()))


@metric(
    source=OWN, bounds=OPEN, better="lower", fields=("trajectory",), formula="calls of tools", edges=NO_MESSAGES
    + " One that calls nothing has 0.",
    differs="Calls that are repeated count each time.",
    when=("How many calls of tools an agent needs.",),
)  # fmt: skip
async def agent_calls(sample: Sample) -> Score:
    """How many calls of tools an agent made, right or wrong; fewer are quicker."""
    return _counted(sample, len(calls_of(sample)))


@metric(
    source=OWN, bounds=OPEN, better="lower", fields=("cost",), formula="what the run cost, as it was logged",
    edges="A run without a cost is unmeasured: what nobody logged is not free.",
    differs="Read from the log, not computed from tokens and prices.",
    when=("What an agent's run costs.",),
)  # fmt: skip
async def agent_cost(sample: Sample) -> Score:
    """What a run cost, in the money of whoever logged it; less is better."""
    if sample.cost is None:
        return unmeasured(Status.MISSING_FIELD, sentence("the sample has no field {field}", field="cost")).score
    said = [sentence("Logged cost: {value}.", value=sample.cost)]
    return Score(sample.cost, reason=spoken(said), detail={"explanation": said})
