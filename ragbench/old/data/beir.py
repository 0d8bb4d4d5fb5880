"""BEIR folders, and sets that are laid out like them: a corpus, queries and judgements become chunks and questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ragbench.old.data import trec
from ragbench.old.data.brought import Brought
from ragbench.old.data.columns import Columns
from ragbench.old.data.files import PACKINGS, DatasetError, LeftOut, lines_of
from ragbench.old.data.payloads import label, passage_of
from ragbench.old.data.records import ChunkRecord, QuestionRecord, checked
from ragbench.old.data.rows import TABLES, endings_of, read_rows, tabbed
from ragbench.old.data.vocabulary import field_of

SPLITS = ("test", "dev", "validation", "train")
JUDGEMENTS = {*TABLES, ".qrels", ".qrel", ".trec", ".txt"}
"""Endings of files of judgements."""
TOPICS = {"topic_id": "id", "topicno": "id", "number": "id", "num": "id"}
"""What TREC calls the number of a topic."""
UNNAMED = {2: ("_id", "text"), 3: ("_id", "title", "text"), 4: ("_id", "url", "title", "text")}
"""Columns of a table of tabs whose first line names none, as MS MARCO has them, by their number."""


def read(
    corpus: Sequence[Path],
    queries: Sequence[Path],
    qrels: Sequence[Path],
    elsewhere: Sequence[Path] = (),
    *,
    clusters: re.Pattern[str] | None = None,
) -> Brought:
    """Chunks and questions of tables in any form, and what was left out, counted by reason.

    corpus: {"_id", "text", "title"?, "metadata"?: {"url"?}}; title and text stay apart. queries: {"_id", "text"}.
    Names of columns may be others, and ids numbers. qrels: `query-id corpus-id score`, or any form that `ragbench trec`
    reads; grades of 0 and less are judgements of irrelevance. elsewhere: judgements of other splits. clusters: a
    pattern whose first group, found in a question's id, names its cluster.

    A line that stands there twice is left out, and so are one without an id or a text, and a judgement of a passage
    that the corpus does not hold: recall is over the question's other ones. A question that loses all its relevant
    passages so is left out too, and so is one that only another split judges. One without any judgement stays,
    unlabelled. Raises DatasetError where nothing is left.
    """
    left_out, known = LeftOut(), Columns(only=("id", "user_input"), takes=TOPICS)
    chunks, texts, judged = passages(corpus, left_out), dict[str, tuple[str, str]](), trec.Qrels()
    for path in queries:
        for place, row in _rows(path, left_out):
            query = known.of(row, place)
            identifier, text = label(query.get("id")), query.get("user_input", row.get("text", row.get("title")))
            if identifier is None or not isinstance(text, str) or not text.strip():
                left_out.add(f"line of {path.name} without an id or a text", place)
            elif texts.setdefault(identifier, (place, text))[0] != place:
                left_out.add(f"line of {path.name} {_again(texts[identifier][1] == text)}", place)
    for path in qrels:
        try:
            for name, grades in trec.read_qrels(path).items():
                judged.setdefault(name, {}).update(grades)
        except DatasetError as error:
            raise DatasetError(str(error).replace(str(path), path.name)) from None
    for name in sorted(set(judged) - set(texts)):
        left_out.add("judged question that is not among the queries")
        del judged[name]
    questions, others = [], _judged_in(elsewhere) if texts.keys() - judged.keys() else {}
    for identifier, (place, text) in texts.items():
        if identifier not in judged and identifier in others:
            left_out.add(f"question of {others[identifier]}")
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
        raise DatasetError(f"{queries[0].name}: no question is left: {left_out.said}")
    return Brought(chunks=list(chunks.values()), questions=questions, left_out=left_out.told)


def _judged_in(paths: Sequence[Path]) -> dict[str, str]:
    """Questions that judgements are about, and the files of these."""
    about: dict[str, str] = {}
    for path in paths:
        with suppress(DatasetError):  # nobody asked for it
            about |= dict.fromkeys(trec.read_qrels(path), "/".join(path.parts[-2:]))
    return about


def passages(paths: Sequence[Path], left_out: LeftOut) -> dict[str, ChunkRecord]:
    """Id → passage of tables with a row a passage; rows without an id or a text, and repeated ones, are counted."""
    chunks: dict[str, ChunkRecord] = {}
    for corpus, place, row in ((path, *placed) for path in paths for placed in _rows(path, left_out)):
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


def _rows(path: Path, left_out: LeftOut) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a table, whose first line may name no columns; also of an object with each text under its id."""
    endings = {*endings_of(path)}
    lines = lines_of(path) if endings & {".tsv", ".txt"} else iter(())
    first = next(lines, "").rstrip("\n").split("\t")
    if len(first) in UNNAMED and re.search(r"\d", first[0]):
        for number, line in enumerate(lines_of(path), 1):
            cells = line.rstrip("\n").split("\t", len(first) - 1)
            if line.strip():
                yield f"{path.name}, line {number}", dict(zip(UNNAMED[len(first)], cells, strict=False))
        return
    begun = read_rows(path, held=False, left_out=LeftOut(), spread=False) if ".json" in endings else iter(())
    by_id = next(begun, ("", {}))[1]
    by_id = {} if next(begun, None) else by_id  # a row among others
    if by_id and all(isinstance(own, str | Mapping) for own in by_id.values()) and not any(map(field_of, by_id)):
        for name, own in by_id.items():
            yield f"{path.name}, {name}", {"_id": name, **(own if isinstance(own, Mapping) else {"text": own})}
        return
    yield from read_rows(path, left_out=left_out)


def parts(folder: Path) -> dict[str, list[Path]]:
    """The files of a folder, and of those in it, by what their names say: corpus, queries, qrels; where no name says
    qrels, those that hold judgements. Of a file and its packed copy it is one."""
    there: dict[str, dict[Path, Path]] = {role: {} for role in (*trec.ROLES, "")}
    for path in sorted((*folder.glob("*"), *folder.glob("*/*"), *folder.glob("*/*/*"))):
        *above, name = path.relative_to(folder).parts
        if len(above) > 1 and not {*_words(above[0])} & {word for names in trec.ROLES.values() for word in names}:
            continue
        name = above[0] if above else name
        words = _words(name)
        last = (role for word in reversed(words) for role, names in trec.ROLES.items() if word in names)
        role = "qrels" if {*words} & {*trec.ROLES["qrels"]} else next(last, "")
        is_packed = path.suffix.lower() in PACKINGS
        ending = (path.with_suffix("") if is_packed else path).suffix.lower()
        legal = (
            {"", *JUDGEMENTS} if role in ("", "qrels") else {*TABLES, *([".txt"] if is_packed or tabbed(path) else [])}
        )
        if path.is_file() and ending in legal:
            there[role].setdefault((path.with_suffix("") if is_packed else path).with_suffix(""), path)
    if there["corpus"] and there["queries"] and not there["qrels"]:
        there["qrels"] = {name: path for name, path in there[""].items() if trec.told(path) == "qrels"}
    return {role: [*there[role].values()] for role in trec.ROLES}


def found(files: Iterable[Path], top: Path) -> Iterator[tuple[Path, dict[str, list[Path]]]]:
    """Folders, none above `top`, that hold a corpus and queries among these files, each with its parts."""
    left = {*files}
    for place in dict.fromkeys(up for path in files for up in path.parents[:2] if up.is_relative_to(top)):
        by_role = parts(place)
        own = {path for paths in by_role.values() for path in paths}
        if own <= left and by_role["corpus"] and by_role["queries"]:
            left -= own
            yield place, by_role


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", name.casefold())


def files(folder: Path, split: str | None = "test") -> tuple[list[Path], list[Path], list[Path], list[Path]]:
    """Corpus, queries, judgements, and judgements of other splits: the tables of a folder, or of folders in it.

    split: a word of the names of the judgements, and of the others where these have it; what has none of SPLITS is of
    any split. None: the judgements are elsewhere.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder}: there is no such folder; corpus.jsonl is expected in it")
    there = parts(folder)
    for role in ("corpus", "queries"):
        if not there[role]:
            holds = ", ".join(sorted(path.name for path in folder.glob("*"))) or "nothing"
            raise DatasetError(f"{folder / f'{role}.jsonl'}: there is no such file; the folder holds {holds}")
    chosen = [there[role] if split is None else _of(split, there[role], folder) or there[role] for role in trec.ROLES]
    if split is None:
        return chosen[0], chosen[1], [], []
    if (own := _judgements(split, _grouped(there["qrels"], folder))) is not None:
        return chosen[0], chosen[1], own, [path for path in there["qrels"] if path not in own]
    listing = ", ".join(path.relative_to(folder).as_posix() for path in there["qrels"]) or "none"
    raise DatasetError(
        f"{folder / 'qrels' / f'{split}.tsv'}: there is no such file; judgements are there in {listing}: --split names "
        "which, or --qrels FILE"
    )


def _of(split: str, paths: Iterable[Path], folder: Path) -> list[Path]:
    """The files that have the split as a word of their names."""
    return [path for path in paths if split.casefold() in _words(path.relative_to(folder).as_posix())]


def _grouped(paths: Iterable[Path], folder: Path) -> dict[frozenset[str], list[Path]]:
    """Files by the words of their names: those of one table have the same."""
    groups: dict[frozenset[str], list[Path]] = {}
    for path in paths:
        groups.setdefault(frozenset(_words(path.relative_to(folder).as_posix())), []).append(path)
    return groups


def _judgements(split: str, groups: Mapping[frozenset[str], list[Path]]) -> list[Path] | None:
    """Those of a split: of the files with its name the ones with fewest words beside it, else those of any split; None
    where several could be meant."""
    named = [words for words in groups if split.casefold() in words]
    whole = [words for words in groups if words.isdisjoint(SPLITS)]
    least = [words for words in named if len(words) == min(map(len, named))] or whole
    return groups[least[0]] if len(least) == 1 else None


def is_folder(path: Path) -> bool:
    """Whether a folder holds a corpus, queries and judgements."""
    return all(parts(path).values())


def split_option(path: Path) -> str:
    """What names the judgements of a BEIR folder that are taken: nothing of test, else the first there are."""
    groups = _grouped(parts(path)["qrels"], path)
    own = [min(words.difference(*(other for other in groups if other != words)), default="") for words in groups]
    split = next((name for name in (*SPLITS, *own) if name and _judgements(name, groups)), "test")
    return "" if split == "test" else f" --split {split}"
