"""The failures of a measurement end to end, decomposed: blame, shares, comparisons, and one part perfect at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragbench.core.measurement import Evidence, Finding
from ragbench.core.types import Question, Status
from ragbench.tiers.answers import answer_scores, blame_tables
from ragbench.tiers.answers.blame import UNANSWERABLE, Standard
from ragbench.tiers.answers.blame_tables import Seen, Workings
from ragbench.tiers.answers.perfect_parts import WORLDS, Decide, Whole, counterfactuals, worlds
from ragbench.tiers.answers.written_answers import Answered
from ragbench.tiers.basics import frames
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.basics.design import Design
from ragbench.tiers.basics.session import Session
from ragbench.tiers.decisions import deciders
from ragbench.tiers.decisions.deciders import Case
from ragbench.tiers.scoring.judged_metrics import Judging

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.tiers.answers.answer_scores import Worth

BLAME, PERFECT = "blame", "blame_worlds"


@dataclass(frozen=True)
class Blaming:
    """How blame is found.

    standard: what counts as right and faithful. production_judge: who decides which answers are shown: a judge of
    ragbench.toml, "lexical", `module:function`, a file of logged decisions; empty: what systems logged of it with their
    answers, else all are shown. perfect_parts: whether answers are written and judged anew with one part perfect, which
    takes about two more rounds of calls.
    """

    standard: Standard = field(default_factory=Standard)
    production_judge: str = ""
    perfect_parts: bool = True


@dataclass(frozen=True)
class Decomposition:
    """extra: the tables `blame` and `blame_worlds`. facts: `blame`."""

    extra: dict[str, pd.DataFrame]
    facts: dict[str, Any]


def check(blaming: Blaming, session: Session) -> None:
    """Refuse a standard or a production judge that cannot be, before anything is paid for."""
    _ = blaming.standard.limits
    if blaming.production_judge:
        deciders.asked(blaming.production_judge, session)


def decomposed(
    session: Session,
    asked: Sequence[Question],
    answered: Answered,
    seen: Seen,
    worth: Worth,
    blaming: Blaming,
    judging: Judging,
    length_limit: int | None,
    refusals: Mapping[str, Any],
) -> Decomposition:
    """Blame of all answers. What the standard needs and was not measured is judged here.

    asked: all questions, those that cannot be answered too. seen: what was retrieved, as deep as one looked.
    refusals: who says which answers are refusals, the facts of `ragbench.tiers.answers.profiles.decided`.
    """
    import pandas as pd

    answerable = [question for question in asked if question.answerable is not False]
    standard = blaming.standard
    scores = _scores(session, answerable, answered, worth, standard, judging)
    decide = _decider(session, asked, answered, blaming, judging)
    chunks = session.dataset.chunks
    evidence = Workings(
        asked,
        {chunk.id for chunk in chunks} | {chunk.url for chunk in chunks if chunk.url},
        seen,
        answered.table,
        scores,
        decide(answered) if decide is not None else _logged(answered),
    )
    table = blame_tables.blame(evidence, standard)
    perfect = pd.DataFrame(columns=list(WORLDS))
    if blaming.perfect_parts:
        own = table[table["group"] != UNANSWERABLE]
        perfect = worlds(
            Whole(session, answerable, answered, evidence, own, standard, judging, length_limit, decide, refusals["by"])
        )
    return Decomposition(
        {BLAME: table, PERFECT: perfect},
        {
            **standard.facts(),
            "production_judge": _title(blaming),
            "perfect_parts": blaming.perfect_parts,
            "refusals": dict(refusals),
            **({"shown_logged": names} if decide is None and (names := logging_systems(answered)) else {}),
        },
    )


def stated(evidence: Evidence) -> tuple[tuple[Finding, ...], dict[str, pd.DataFrame]]:
    """Shares of blame, their comparisons, and what perfect parts would gain; and the table `blame_counterfactuals`."""
    design, facts = Design(evidence), evidence.facts
    clusters, table = frames.clusters(design.questions), evidence.extra[BLAME]
    own = table[table["group"] != UNANSWERABLE]
    perfect, gains = counterfactuals(
        own, evidence.extra[PERFECT], facts["blame"], facts["generators"], design.asked, clusters, design.sureness
    )
    return (
        *blame_tables.shares(table, clusters, design.sureness),
        *blame_tables.compared(table, list(facts["generators"]), clusters, design.sureness),
        *gains,
    ), {"blame_counterfactuals": perfect}


def _title(blaming: Blaming) -> str | None:
    return deciders.title(blaming.production_judge) if blaming.production_judge else None


def _scores(
    session: Session,
    asked: Sequence[Question],
    answered: Answered,
    worth: Worth,
    standard: Standard,
    judging: Judging,
) -> pd.DataFrame:
    """The scores of the first answers, with those that the standard needs besides."""
    import pandas as pd

    there = set(worth.scores["metric"])
    missing = [metric for metric in standard.metrics if metric.label not in there]
    if not missing:
        return worth.firsts
    more = answer_scores.measured(session, asked, answered.first, missing, judging)
    return pd.concat([worth.firsts, more.scores], ignore_index=True)


def logging_systems(answered: Answered) -> list[str]:
    """The systems whose logs say which of their answers were shown."""
    if "shown" not in answered.table:
        return []
    known = set(answered.table.loc[answered.table["shown"].notna(), "system"])
    return [name for name in answered.generators if name in known]


def _logged(answered: Answered) -> Mapping[tuple[str, str], bool | None]:
    """What was logged of which answers were shown; empty where nothing was.

    Where a log is silent of single answers nobody knows of them; a system without such a log shows all of its own.
    """
    logging = logging_systems(answered)
    if not logging:
        return {}
    firsts = answered.table[answered.table["repeat"] == 0]
    marks = firsts["shown"].astype(object).where(firsts["shown"].notna(), None)
    return {
        (system, identifier): mark if system in logging else True
        for system, identifier, mark in zip(firsts["system"], firsts["sample"], marks, strict=True)
    }


def _decider(
    session: Session, asked: Sequence[Question], answered: Answered, blaming: Blaming, judging: Judging
) -> Decide | None:
    """Who decides which answers are shown; one that logged its decisions knows only the answers that it saw."""
    name = blaming.production_judge
    if not name:
        return None
    is_log = deciders.is_log(name)
    if is_log and len(answered.generators) > 1:
        raise BenchError(
            f"production_judge = {deciders.title(name)!r}: logged decisions are of the answers of one system; "
            f"measure one of {', '.join(answered.generators)} alone"
        )
    questions = {question.id: question for question in asked}
    language = judging.prompts or session.settings.language
    texts = {(row["system"], row["sample"]): row["response"] for row in _firsts(answered)}

    def decide(given: Answered) -> Mapping[tuple[str, str], bool | None]:
        decided: dict[tuple[str, str], bool | None] = {}
        for system in given.generators:
            rows = [row for row in _firsts(given) if row["system"] == system]
            if is_log:
                unseen = [row for row in rows if texts.get((system, row["sample"])) != row["response"]]
                decided |= {(system, row["sample"]): True for row in unseen}
                rows = [row for row in rows if (system, row["sample"]) not in decided]
            cases = [case(questions[row["sample"]], row["response"], given, system) for row in rows]
            decisions = deciders.decide(name, cases, session, language).decided if cases else []
            decided |= {(system, case.id): decision.show for case, decision in zip(cases, decisions, strict=True)}
        return decided

    def case(question: Question, answer: str, given: Answered, system: str) -> Case:
        contexts = given.shown[system, question.id].contexts
        return Case(question.id, question.text, answer, contexts, True, language=question.language)

    return decide


def _firsts(answered: Answered) -> list[Mapping[Any, Any]]:
    """The first answer to every question that was answered."""
    table = answered.table
    rows: list[Mapping[Any, Any]] = list(
        table[(table["repeat"] == 0) & (table["status"] == Status.OK.value)].to_dict("records")
    )
    return rows
