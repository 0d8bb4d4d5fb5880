"""A project whose answers can be followed by hand: four chunks, five questions, one of which nobody can answer."""

from __future__ import annotations

from pathlib import Path

from tests.old.small_project import NOTEBOOKS, write_lines

CHUNKS = {
    "lunch": "Lunch in the canteen costs 250 roubles.",
    "hours": "The canteen opens at eleven.",
    "library": "The library closes at nine in the evening.",
    "card": "A library card is made in room 112.",
}
QUESTIONS = {
    "q1": ("How much is lunch in the canteen?", "Lunch costs 250 roubles.", {"lunch": 3}),
    "q2": ("When does the canteen open and what is lunch?", "It opens at eleven.", {"lunch": 1, "hours": 3}),
    "q3": ("When does the library close?", "The library closes at nine.", {"library": 3}),
    "q4": ("Where is a library card made?", "In room 112.", {"card": 2}),
    "q5": ("Is there a kindergarten?", "The base says nothing of a kindergarten.", {}),
}
ALONE = """
ANSWERS = {"How much is lunch in the canteen?": "250 roubles.", "Is there a kindergarten?": "I do not know."}


def both(question, k):
    if "close" in question:
        raise RuntimeError("the search is down")
    return {"answer": ANSWERS.get(question, "Ask in room 112."), "retrieved": ["lunch", "hours"]}


def steady(question, contexts):
    return contexts[0] if contexts else "I do not know."
"""


def make(folder: Path, database_folder: Path, server: str = "http://127.0.0.1:9/v1") -> Path:
    """Write the project; its configuration file is returned. server: of the generator `model`."""
    data = folder / "data" / "answers"
    data.mkdir(parents=True)
    (data / "dataset.toml").write_text('title = "Answers"\nlicence = "CC0"\nlanguages = ["en"]\n', encoding="utf-8")
    write_lines(data / "chunks.en.jsonl", [{"id": name, "text": text} for name, text in CHUNKS.items()])
    rows = [
        {"id": name, "text": text, "reference": reference, "relevant": relevant, "answerable": bool(relevant)}
        for name, (text, reference, relevant) in QUESTIONS.items()
    ]
    write_lines(data / "questions.en.jsonl", rows)
    logged = [
        {"id": "q1", "retrieved": ["lunch"], "answers": ["250 roubles.", "250 roubles."], "latency_ms": [100, 90]},
        {"id": "q2", "retrieved": ["hours"], "answers": ["At eleven.", "At 11."], "latency_ms": [200, 210]},
        {"id": "q3", "retrieved": ["card", "library"], "answers": ["At nine.", ""]},
        {"id": "q5", "retrieved": [], "answers": ["It is in room 5.", "I do not know."]},
    ]
    write_lines(folder / "log.jsonl", logged)
    (folder / "alone.py").write_text(ALONE, encoding="utf-8")
    path = folder / "ragbench.toml"
    path.write_text(
        'dataset = "answers"\n'
        f'notebooks_folder = "{NOTEBOOKS}"\n'
        f'[database]\nfolder = "{database_folder}"\n'
        f'[generators.model]\nkind = "openai"\nmodel = "writer"\nbase_url = "{server}"\nattempts = 2\n'
        '[generators.steady]\nkind = "callable"\ncallable = "alone:steady"\n'
        '[systems.plain]\nembedder = "hashing"\n'
        '[systems.twin]\nembedder = "hashing"\n'
        '[systems.modelled]\nembedder = "hashing"\ngenerator = "model"\n'
        '[systems.function]\nembedder = "hashing"\ngenerator = "steady"\n'
        '[systems.logged]\nresults = "log.jsonl"\n'
        '[systems.alone]\ncallable = "alone:both"\n',
        encoding="utf-8",
    )
    return path
