"""A project with faults planted one by one, and a server that writes, judges and decides by what it reads.

Every question asks for the code of a gate; the passage that holds it may be missing from the base, not retrieved, or
retrieved at rank 8 where five are read. The writer answers from the passages that it is given, except where it is to
ignore them, to add a claim, or to invent. The judges compare the texts they are shown; the production judge hides what
it is told to hide. Nothing is looked up by a question's kind but the writer's and the production judge's planted
behaviour, which only they can have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragbench.old.systems.refusals import REFUSALS
from tests.old.small_project import NOTEBOOKS, write_lines

PLANTED = {
    "healthy": 50, "missing": 30, "lost": 20, "low": 30, "ignored": 15, "refused": 5, "claims": 30, "withheld": 30,
    "none": 8, "invented": 4,
}  # fmt: skip
EXPECTED = {
    "good": 50, "missing": 30, "not_retrieved": 20, "too_low": 30, "not_used": 20, "beyond": 30, "withheld": 30,
    "right_refusal": 8, "invented": 4,
}  # fmt: skip
GATE = re.compile(r"What is the code of gate (([a-z]+)-\d+)\?")
SLOT = re.compile(r'name="(\w+)"[^>]*>\n(.*?)\n</text-', re.DOTALL)
CLAIM = "It was chosen by Napoleon himself."
DEEP, READ = 8, 5


def names() -> dict[str, str]:
    """Question → kind of fault, the kinds mixed."""
    made = {f"{kind}-{place}": kind for kind, count in PLANTED.items() for place in range(count)}
    return dict(sorted(made.items(), key=lambda item: (item[0][::-1], item[0])))


def code(name: str) -> str:
    """The code of a gate: four digits, no two alike."""
    return str(1000 + 17 * list(names()).index(name))


def passage(name: str) -> str:
    """What the base says of a gate."""
    return f"The code of gate {name} is {code(name)}."


def make(folder: Path, database_folder: Path, server: str) -> Path:
    """Write the project; its configuration file is returned. `repaired` ranks what `planted` has at rank 8 first."""
    data = folder / "data" / "gates"
    data.mkdir(parents=True)
    (data / "dataset.toml").write_text('title = "Gates"\nlicence = "CC0"\nlanguages = ["en"]\n', encoding="utf-8")
    kinds = names()
    fillers = [f"filler-{place}" for place in range(10)]
    chunks = [{"id": name, "text": f"Gate {name} has no code, it is painted green."} for name in fillers]
    held = [name for name, kind in kinds.items() if kind not in ("missing", "none", "invented")]
    chunks += [{"id": f"c-{name}", "text": passage(name)} for name in held]
    questions = [
        {
            "id": name,
            "text": f"What is the code of gate {name}?",
            "reference": passage(name) if kind not in ("none", "invented") else REFUSALS["en"],
            "relevant": {f"c-{name}": 1} if name in held else {},
            "answerable": kind not in ("none", "invented"),
        }
        for name, kind in kinds.items()
    ]
    write_lines(data / "chunks.en.jsonl", chunks)
    write_lines(data / "questions.en.jsonl", questions)
    for system in ("planted", "repaired"):
        is_repaired = system == "repaired"
        rows = [{"id": name, "retrieved": ranking(name, kind, repaired=is_repaired)} for name, kind in kinds.items()]
        write_lines(folder / f"{system}.jsonl", rows)
    path = folder / "ragbench.toml"
    path.write_text(
        'dataset = "gates"\nbaseline = "planted"\n'
        f'notebooks_folder = "{NOTEBOOKS}"\n'
        f'[database]\nfolder = "{database_folder}"\n'
        f'[generators.writer]\nkind = "openai"\nmodel = "writer"\nbase_url = "{server}"\n'
        f'[judges.rater]\nmodel = "rater"\nbase_url = "{server}"\n'
        f'[judges.fragile]\nmodel = "fragile"\nbase_url = "{server}"\n'
        f'[judges.door]\nmodel = "door"\nbase_url = "{server}"\n'
        '[systems.planted]\nresults = "planted.jsonl"\ngenerator = "writer"\n'
        '[systems.repaired]\nresults = "repaired.jsonl"\ngenerator = "writer"\n',
        encoding="utf-8",
    )
    return path


def ranking(name: str, kind: str, *, repaired: bool) -> list[str]:
    """Ten passages; the one that holds the answer first, at rank 8, or not among them."""
    fillers = [f"filler-{place}" for place in range(10)]
    if kind in ("missing", "lost", "none", "invented"):
        return fillers
    place = DEEP - 1 if kind == "low" and not repaired else 0
    return [*fillers[:place], f"c-{name}", *fillers[place:9]]


def reply(body: Mapping[str, Any]) -> Any:
    """What the server says: as the writer, a rater, the production judge; one rater refuses to rate some answers."""
    text = "\n".join(turn["content"] for turn in body["messages"])
    model = body["model"]
    if model == "writer":
        return write(text)
    if model == "door":
        asked = GATE.search(text)
        assert asked is not None
        show = asked[2] != "withheld"
        return {"reason": "a rule of the door", "show": "yes" if show else "no", "likelihood": 90 if show else 10}
    if model == "fragile" and "gate healthy-1" in text:
        return "!refusal"
    slots: dict[str, list[str]] = {}
    for slot, said in SLOT.findall(text):
        slots.setdefault(slot, []).append(said)
    [response] = slots["response"]
    if "reference" in slots:
        right = re.findall(r"\d{4}", response) == re.findall(r"\d{4}", slots["reference"][0])
        return {"reason": "the codes agree" if right else "the codes differ", "rating": 5 if right else 1}
    claims = [one for one in re.split(r"(?<=\.)\s+", response) if one]
    held = sum(any(one in context for context in slots["contexts"]) for one in claims)
    return {"reason": f"{held} of {len(claims)} are said", "rating": 5 if held == len(claims) else 2}


def write(text: str) -> str:
    """The writer's answer: from its passages, unless this gate's fault is its own."""
    asked = GATE.search(text)
    assert asked is not None
    name, kind = asked[1], asked[2]
    if kind == "invented":
        return f"The code of gate {name} is 0000."
    if passage(name) not in text or kind == "refused":
        return REFUSALS["en"]
    if kind == "ignored":
        return f"The code of gate {name} is 0001."
    return f"{passage(name)} {CLAIM}" if kind == "claims" else passage(name)


def planted() -> Counter[str]:
    """How many questions have each kind of fault."""
    return Counter(names().values())
