"""BEIR folders, and sets that are laid out like them: a corpus, queries and judgements become chunks and questions."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from ragbench.data import trec
from ragbench.data.brought import Brought
from ragbench.data.files import PACKINGS, DatasetError, LeftOut
from ragbench.data.payloads import label, passage_of
from ragbench.data.records import ChunkRecord, QuestionRecord, checked
from ragbench.data.rows import TABLES, read_rows
from ragbench.data.vocabulary import Columns

JUDGEMENTS = tuple(f"{ending}{packing}" for ending in (*TABLES, ".qrels", ".txt") for packing in PACKINGS)
"""Endings of files of judgements."""


def read(corpus: Path, queries: Path, qrels: Path, *, clusters: re.Pattern[str] | None = None) -> Brought:
    """Chunks and questions of three tables in any form, and what was left out, counted by reason.

    corpus: {"_id", "text", "title"?, "metadata"?: {"url"?}}; title and text stay apart. queries: {"_id", "text"}.
    Names of columns may be others, and ids numbers. qrels: `query-id corpus-id score`, or any form that `ragbench trec`
    reads; grades of 0 and less are judgements of irrelevance. clusters: a pattern whose first group, found in a
    question's id, names its cluster.

    A line that stands there twice is left out, and so are one without an id or a text, and a judgement of a passage
    that the corpus does not hold: recall is over the question's other ones. A question that loses all its relevant
    passages so is left out too, and so is one that only another file of a folder `qrels` judges. One without any
    judgement stays, unlabelled. Raises DatasetError where nothing is left.
    """
    left_out, known = LeftOut(), Columns(only=("id", "user_input"))
    chunks, texts = passages(corpus, left_out), dict[str, tuple[str, str]]()
    for place, row in read_rows(queries, left_out=left_out):
        query = known.of(row, place)
        identifier, text = label(query.get("id")), query.get("user_input", row.get("text"))
        if identifier is None or not isinstance(text, str) or not text.strip():
            left_out.add(f"line of {queries.name} without an id or a text", place)
        elif texts.setdefault(identifier, (place, text))[0] != place:
            left_out.add(f"line of {queries.name} {_again(texts[identifier][1] == text)}", place)
    try:
        judged = trec.read_qrels(qrels)
    except DatasetError as error:
        raise DatasetError(str(error).replace(str(qrels), qrels.name)) from None
    for name in sorted(set(judged) - set(texts)):
        left_out.add("judged question that is not among the queries")
        del judged[name]
    questions, elsewhere = [], _judged_beside(qrels) if texts.keys() - judged.keys() else {}
    for identifier, (place, text) in texts.items():
        if identifier not in judged and identifier in elsewhere:
            left_out.add(f"question of {elsewhere[identifier]}")
            continue
        grades = judged.get(identifier, {})
        relevant = {chunk: grade for chunk, grade in grades.items() if grade > 0 and chunk in chunks}
        if not relevant and any(grade > 0 for grade in grades.values()):
            left_out.add("question none of whose relevant passages is in the corpus")
            continue
        if lost := sum(chunk not in chunks for chunk in grades):
            left_out.add("judgement of a passage that is not in the corpus (its question stays)", number=lost)
        match = clusters.search(identifier) if clusters is not None else None
        if clusters is not None and (match is None or not match.groups()):
            raise DatasetError(f"{place}: the pattern {clusters.pattern!r} finds no cluster in the _id {identifier!r}")
        about = {"id": identifier, "text": text, "relevant": relevant, "answerable": True if relevant else None}
        more = {"cluster": match.group(1) if match is not None else None, "source": "beir"}
        questions.append(checked(QuestionRecord, {**about, **more}, place))
    if not questions:
        raise DatasetError(f"{queries.name}: no question is left: {left_out.said or 'the file is empty'}")
    return Brought(chunks=list(chunks.values()), questions=questions, left_out=left_out.told)


def _judged_beside(qrels: Path) -> dict[str, str]:
    """Questions that the judgements of other splits are about, and the files of these."""
    about: dict[str, str] = {}
    for path in sorted(qrels.parent.glob(f"*{qrels.suffix}")) if qrels.parent.name == "qrels" else ():
        if path != qrels:
            with suppress(DatasetError):  # nobody asked for it
                about |= dict.fromkeys(trec.read_qrels(path), f"qrels/{path.name}")
    return about


def passages(corpus: Path, left_out: LeftOut) -> dict[str, ChunkRecord]:
    """Id → passage of a table with a row a passage; rows without an id or a text, and repeated ones, are counted."""
    chunks: dict[str, ChunkRecord] = {}
    for place, row in read_rows(corpus, left_out=left_out):
        passage = passage_of(row)
        if passage is None or passage.id is None or passage.text is None:
            left_out.add(f"line of {corpus.name} without an id or a text", place)
            continue
        made = {"id": passage.id, "text": passage.text, "title": passage.title, "url": passage.url}
        try:
            if chunks.setdefault(passage.id, record := checked(ChunkRecord, made, place)) is not record:
                left_out.add(f"line of {corpus.name} {_again(chunks[passage.id] == record)}", place)
        except DatasetError as error:
            left_out.fault(error, place)
    return chunks


def _again(is_same: bool) -> str:
    return "that stands there twice" if is_same else "whose id stands there with another text"


def files(folder: Path, split: str | None = "test") -> tuple[Path, Path, Path]:
    """Corpus, queries and judgements of a folder, each a table in any form, or a folder of that name with one.

    split: names the judgements, a file below qrels/ or beside; a file qrels.tsv has no split. None: the judgements are
    elsewhere, and the folder stands in their place.
    """
    corpus, queries = _table(folder, "corpus"), _table(folder, "queries")
    return corpus, queries, folder if split is None else _judgements(folder, split)


def is_folder(path: Path, split: str | None = None) -> bool:
    """Whether a folder holds a corpus and queries, and judgements of that name where one is given."""
    try:
        return bool(files(path, split))
    except DatasetError:
        return False


def split_of(path: Path) -> str:
    """The judgements of a BEIR folder that are taken: test where there are such, else the first there are."""
    return next((name for name in ("test", "dev", "validation", "train") if is_folder(path, name)), "test")


def _table(folder: Path, name: str) -> Path:
    places = [folder / f"{name}{ending}{packing}" for ending in TABLES for packing in PACKINGS]
    there = [place for place in places if place.is_file()] or [
        path for path in sorted((folder / name).glob("*")) if {*path.suffixes} & {*TABLES}
    ]
    if there:
        return there[0]
    if not folder.is_dir():
        raise DatasetError(f"{folder}: there is no such folder; {name}.jsonl is expected in it")
    holds = ", ".join(sorted(path.name for path in folder.glob("*"))) or "nothing"
    raise DatasetError(f"{folder / f'{name}.jsonl'}: there is no such file; the folder holds {holds}")


def _judgements(folder: Path, split: str) -> Path:
    there = [
        path
        for place in (folder / "qrels", folder / "data", folder / "default", folder)
        for path in sorted(place.glob("*"))
        if path.is_file() and path.name.lower().endswith(JUDGEMENTS)
        and (place != folder or re.match(rf"qrels\b|{re.escape(split)}\b", path.name))
    ]  # fmt: skip
    named = [path for path in there if re.match(rf"(qrels[-._])?{re.escape(split)}\b", path.name)]
    whole = [path for path in there if re.match(r"qrels\.\w+", path.name)]
    if named or len(whole) == 1:
        return (named or whole)[0]
    listing = ", ".join(path.relative_to(folder).as_posix() for path in there) or "none"
    raise DatasetError(
        f"{folder / 'qrels' / f'{split}.tsv'}: there is no such file; judgements are there in {listing}: --split names "
        "which"
    )
