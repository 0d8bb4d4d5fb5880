"""A folder of documents to passages: read as Markdown, cut where a text parts by itself, each with its place kept."""

from __future__ import annotations

import base64
import hashlib
import io
import itertools
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragbench.old.core import folders
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.data import trec
from ragbench.old.data.brought import Brought
from ragbench.old.data.cells import printed
from ragbench.old.data.files import MAX_BYTES, Apart, DatasetError, head, normalise, read_text
from ragbench.old.data.folder import Records
from ragbench.old.data.records import ChunkRecord, DocumentRecord
from ragbench.old.data.web_pages import keep_content

if TYPE_CHECKING:
    from semantic_text_splitter import TextSplitter

MARKDOWN, PLAIN, PAGES, PACKED = (".md", ".markdown"), (".txt",), (".html", ".htm"), (".pdf", ".docx")
KINDS = (*MARKDOWN, *PLAIN, *PAGES, *PACKED)
PASSED_OVER = frozenset({"node_modules", "site-packages", "venv", "__pycache__", "_sources", "_static", "404.html",
                         "search.html", "genindex.html", "py-modindex.html"})  # fmt: skip
"""Folders and pages that programs brought along; Sphinx has the text of every page once more in _sources."""
OWN = ("ragbench.toml", "ragbench.schema.json", "dataset.toml", "pyproject.toml", "package.json")
DEEPEST_FOLDER = 20
"""Folders within each other that are looked into."""
LONGEST_NAME, LONGEST_TITLE, LONGEST_FAULT = 200, 300, 200  # what a page shows in two lines
PATH = "{path}"
Unit = Literal["characters", "words"]
_FRONT = re.compile(r"\A(---|\+{3})[ \t]*\n(.*?)\n(?:\1|\.{3})[ \t]*(?:\n|\Z)", re.DOTALL)
_NAMED = re.compile(r"^(title|url)(?::[ \t]|[ \t]*=)[ \t]*(\S.*)$", re.MULTILINE)
"""In front matter of YAML, and of TOML."""
_LINK = re.compile(r"!?\[[^\[\]\n]{0,300}\]\([^)\n]{0,2000}\)")
_CONTENTS = re.compile(r"^[ \t]*(?:[-*+]|\d+\.)[ \t]+\[[^\]\n]*\]\(#[^)\n]*\)[ \t]*(?:\n|\Z)", re.MULTILINE)
"""Items of a document's own table of contents."""
_PAGE = re.compile(r"\W*+(page|стр[^\W\d]*+|с)?[\W_]*+\d++(\W++(of|из)?\W*+\d++)?\W*+", re.IGNORECASE)
"""The line of a page with its number."""
FEWEST_PAGES = 3  # whose first or last lines are the same: a running title
_WORD = re.compile(r"\w")
_NUMBERED = re.compile(r"[A-Za-z]{0,3}\d+(?:[:.)]|\s)\s*\S")
_BY_NAME: dict[str, tuple[Callable[[str], object], str]] = {
    "queries": (_NUMBERED.match, "queries, each behind its id: write a table of them with the columns id and question"),
    "qrels": (lambda line: len(line.split()) == 2,
              "judgements without grades: write a line a judgement: QUERY 0 DOCUMENT GRADE"),
}  # fmt: skip
"""What lines are in a text that is called so, and what to do with them."""


@dataclass(frozen=True)
class Cutting:
    """How a document is cut: passages of at most `size` units, neighbours sharing at most `overlap` of them.

    Raises DatasetError for a size below 1, and an overlap that is not below the size.
    """

    size: int = 1000
    overlap: int = 0
    unit: Unit = "characters"

    def __post_init__(self) -> None:
        if self.size < 1:
            raise DatasetError(f"--size {self.size}: a whole number from 1 is expected")
        if not 0 <= self.overlap < self.size:
            raise DatasetError(f"--overlap {self.overlap}: from 0 to below --size {self.size} is expected")

    def __str__(self) -> str:
        return f"{self.size} {self.unit}, overlap {self.overlap}"

    def splitter(self, suffix: str) -> TextSplitter:
        """What cuts a document of that kind: Markdown at its headings first, plain text at paragraphs."""
        from semantic_text_splitter import MarkdownSplitter, TextSplitter

        kind: Any = TextSplitter if suffix in PLAIN else MarkdownSplitter
        if self.unit == "words":
            made: TextSplitter = kind.from_callback(lambda text: len(text.split()), self.size, self.overlap)
            return made
        return kind(self.size, self.overlap)


class Heading(NamedTuple):
    """A heading of a document: where its line begins and ends, its level from 1, and its words."""

    start: int
    end: int
    level: int
    text: str


PDF_BYTES = 2**31
"""Of memory that reading a PDF takes: books take a tenth."""
_reader = Apart(PDF_BYTES)
MOST_OF_HEAD = 2**15
"""Bytes of a page among which its maker is looked for: those of styles come first."""
MOST_TAGS = 2**19
"""Of a page: each takes more than a kilobyte of memory."""
DEEPEST_TAG = 300
"""Tags within each other; to read what is deeper takes its square in time."""


class _NoTextError(DatasetError):
    """A document has no text."""


def read(
    folder: Path,
    cutting: Cutting,
    url: str = PATH,
    known: Records | None = None,
    advance: Callable[[int], object] = lambda count: None,
) -> Brought:
    """The passages of all documents below a folder (KINDS), and what was left out, counted by reason.

    A document's name is its path below the folder. Its title is its front matter's, else its first heading, else its
    file's name; its page is its front matter's `url`, else `url` with its name at {path}. A passage knows the headings
    it stands under, and where it begins and ends in the document's text, in characters. Its id is made of the
    document's name and its own text, so that it stays when something else in the document changes. Of web pages their
    content is read alone (`ragbench.old.data.web_pages`). Hidden files, and links that lead out of the folder, are passed
    over.

    known: an earlier reading: what has not changed since, and was cut in the same way, is taken from there unread; its
    documents that are not in the folder stay. advance: told of every document that is done.
    Raises DatasetError where the folder is not there, or holds nothing that can be read.
    """
    chunks: list[ChunkRecord] = []
    documents: list[DocumentRecord] = []
    brought = Brought(chunks=chunks, documents=documents)
    before = {document.id: document for document in known.documents} if known is not None else {}
    cut: dict[str, list[ChunkRecord]] = {}
    for chunk in known.chunks if known is not None else ():
        cut.setdefault(chunk.document or "", []).append(chunk)
    there, reused = set(), 0
    for path in paths(folder, brought):
        name = path.relative_to(folder).as_posix()
        there.add(name)
        try:
            digest = _digest(path, cutting, url)
            is_known = name in before and before[name].digest == digest
            taken = (before[name], cut.get(name, [])) if is_known else _taken(path, name, digest, cutting, url)
        except _NoTextError as error:
            brought.left_out["document without a text"] += 1
            brought.notes.append(f"{name} {error}")
        except (DatasetError, OSError) as error:
            brought.left_out["document that cannot be read"] += 1
            brought.notes.append(f"{name} cannot be read: {getattr(error, 'strerror', error)}")
        else:
            reused += is_known
            documents.append(taken[0])
            chunks += taken[1]
        advance(1)
    gone = [document for document in before.values() if document.id not in there]
    documents += gone
    chunks += [chunk for document in gone for chunk in cut.get(document.id, [])] + cut.get("", [])
    if before:
        brought.notes.append(f"{reused} of {len(there)} documents have not changed, and were not read again")
    if gone:
        brought.notes.append(f"{len(gone)} documents are not in {folder.name} any more, and stay; --replace drops them")
    if not brought.chunks:
        raise DatasetError(
            f"{folder}: no document with a text is there; documents are {', '.join(KINDS)}"
            + "".join(f"; {count} × {reason}" for reason, count in brought.left_out.items())
        )
    return brought


def paths(folder: Path, brought: Brought | None = None) -> list[Path]:
    """The documents below a folder, in the order of their names; of other files `brought` counts their kinds."""
    if not folder.is_dir():
        why = "a file; name the folder that it is in" if folder.is_file() else "there is no such folder"
        raise DatasetError(f"{folder}: {why}")
    made = []
    for path in sorted(path for path in files(folder) if path.is_file()):
        why = ""
        with suppress(DatasetError):  # who reads it says that it cannot be read
            kind = trec.told(path) if path.suffix.lower() in PLAIN else ""
            why = result_in(path) or (f"{kind} of TREC" if kind else "")
        if not path.resolve().is_relative_to(folder.resolve()):
            reason = "link that leads out of the folder"
        elif path.suffix.lower() not in KINDS:
            reason = f"file that is no document ({path.suffix or 'no suffix'})"
        elif why:
            reason = f"file that is no document ({why})"
        else:
            made.append(path)
            continue
        if brought is not None:
            brought.left_out[reason] += 1
    return made


def files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """What lies in a folder and below it, its own first; what is hidden or of programs is passed over."""
    try:
        there = sorted(
            path for path in folder.iterdir() if not path.name.startswith(".") and path.name not in {*OWN, *PASSED_OVER}
        )
    except OSError:
        yield folder
        return
    yield from (path for path in there if not path.is_dir())
    for path in there if depth < DEEPEST_FOLDER else ():
        is_linked, is_own = depth and path.is_symlink(), (path / "latest").exists()  # of runs
        if path.is_dir() and not is_linked and not is_own:
            yield from files(path, depth + 1)


def asks(path: Path) -> bool:
    """Whether each line of a text is a question, which makes no document of it."""
    if path.suffix.lower() not in PLAIN:
        return False
    lines = [line for line in head(path, MOST_OF_HEAD).decode("utf-8", "replace").splitlines() if line.strip()]
    return len(lines) > 2 and all(line.rstrip().endswith("?") for line in lines[:-1])


def has_text(path: Path) -> bool:
    """Whether a document can be read, and says something."""
    with suppress(DatasetError, OSError):
        return bool(_taken(path, path.name, "", Cutting(), PATH)[1])
    return False


def result_in(path: Path) -> str:
    """What a program printed its results as, or a search is tested with, and what is read instead; empty for a
    document, and any other file."""
    if path.suffix.lower() in PACKED or not path.is_file():
        return ""
    text = head(path, MOST_OF_HEAD).decode("utf-8-sig", "replace")
    if (why := printed(text)) or path.suffix.lower() not in PLAIN:
        return why
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    called = re.split(r"[\W\d_]+", path.stem.lower())
    for role, (is_one, said) in _BY_NAME.items():
        if len(lines) > 1 and not {*trec.ROLES[role]}.isdisjoint(called) and all(map(is_one, lines[:-1])):
            return said
    return ""


def _taken(path: Path, name: str, digest: str, cutting: Cutting, url: str) -> tuple[DocumentRecord, list[ChunkRecord]]:
    """A document, read and cut, with its passages."""
    text, about = _text(path)
    text = text if path.suffix.lower() in PLAIN else _CONTENTS.sub("", text)
    headings = list(_headings(text)) if path.suffix.lower() not in PLAIN else []
    title = str(about.get("title") or next((heading.text for heading in headings), "") or path.stem)[:LONGEST_TITLE]
    page = str(about.get("url") or url.replace(PATH, name))
    made = list(_passages(text, headings, title, name, page, cutting.splitter(path.suffix.lower())))
    bare, links = _LINK.subn(lambda link: " " * len(link[0]), text)
    if not made or (links > 2 and not _says_something(bare, 0, len(bare), headings)):
        raise _NoTextError(
            "holds no text of its own: it is a list of links, or pictures, which have to be recognised first"
        )
    return DocumentRecord(id=_short(name), digest=digest, title=title, url=page, passages=len(made)), made


def _passages(
    text: str, headings: Sequence[Heading], title: str, name: str, page: str, splitter: TextSplitter
) -> Iterator[ChunkRecord]:
    seen: dict[str, int] = {}
    for start, passage in splitter.chunk_indices(text):
        end = start + len(passage)
        if not _says_something(text, start, end, headings):
            continue
        own = f"{_short(name)}#{hashlib.sha256(passage.encode()).hexdigest()[:8]}"
        seen[own] = seen.get(own, 0) + 1
        yield ChunkRecord(
            id=own if seen[own] == 1 else f"{own}-{seen[own]}",
            text=passage,
            url=page,
            title=title,
            section=_section(headings, start, title) or None,
            document=_short(name),
            start=start,
            end=end,
        )


def _says_something(text: str, start: int, end: int, headings: Sequence[Heading]) -> bool:
    """Whether a passage has a letter or a digit outside of headings: those are its neighbours' title and section."""
    for heading in headings:
        if start < heading.end and heading.start < end:
            if _WORD.search(text, start, max(start, heading.start)):
                return True
            start = max(start, heading.end)
    return start < end and _WORD.search(text, start, end) is not None


def _section(headings: Sequence[Heading], place: int, title: str) -> str:
    """The headings that a place stands under, from the highest to the lowest, but for the title."""
    path: list[Heading] = []
    for heading in headings:
        if heading.start > place:
            break
        path = [*(above for above in path if above.level < heading.level), heading]
    return " › ".join(heading.text for heading in path if heading.text != title)[:LONGEST_TITLE]


def _headings(text: str) -> Iterator[Heading]:
    from markdown_it import MarkdownIt

    starts = [0, *(place + 1 for place, sign in enumerate(text) if sign == "\n"), len(text)]
    tokens = MarkdownIt().parse(text)
    for token, inside in itertools.pairwise(tokens):
        if token.type == "heading_open" and token.map and inside.content.strip():
            words = "".join(part.content for part in inside.children or () if part.type in ("text", "code_inline"))
            yield Heading(starts[token.map[0]], starts[token.map[1]], int(token.tag[1]), " ".join(words.split()))


def _text(path: Path) -> tuple[str, dict[str, Any]]:
    suffix = path.suffix.lower()
    if suffix not in (*MARKDOWN, *PLAIN):
        return _converted(path, suffix)
    text = read_text(path)
    if suffix in PLAIN or (front := _FRONT.match(text)) is None:
        return text, {}
    # two lines do not need all of YAML, nor is a stranger's file trusted with it
    return text[front.end() :], {key: value.strip().strip("\"'") for key, value in _NAMED.findall(front[2])}


def _converted(path: Path, suffix: str) -> tuple[str, dict[str, Any]]:
    try:
        data = read_text(path).encode() if suffix in PAGES else folders.content(path, MAX_BYTES)
    except folders.TooLargeError as error:
        raise DatasetError(f"{error}; split it") from None
    size = _unpacked(data, path) if suffix == ".docx" else len(data)
    if size > MAX_BYTES:
        raise DatasetError(f"more than {MAX_BYTES:,} bytes; split it")
    try:
        text, title = {".pdf": _of_pdf, ".docx": _of_word}.get(suffix, _of_html)(data)
    except Exception as error:  # whatever a damaged file makes of its reader
        lines = str(error).strip().splitlines()
        raise DatasetError(excerpt(lines[-1], LONGEST_FAULT) if lines else type(error).__name__) from None
    return normalise(text.replace("\0", "")), {"title": title}


def _of_html(data: bytes) -> tuple[str, str]:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    if data.count(b"<") > MOST_TAGS:
        raise ValueError(f"more than {MOST_TAGS:,} tags; split it")
    soup = BeautifulSoup(data, "html.parser", from_encoding="utf-8")
    depth = {id(soup): 0}
    for tag in soup.find_all(True):
        depth[id(tag)] = depth[id(tag.parent)] + 1
    if max(depth.values()) > DEEPEST_TAG:
        raise ValueError(f"more than {DEEPEST_TAG} tags within each other")
    title = " ".join(soup.title.get_text().split()) if soup.title is not None else ""
    keep_content(soup)
    return MarkdownConverter(heading_style="ATX").convert_soup(soup).strip(), title


def _of_word(data: bytes) -> tuple[str, str]:
    import mammoth

    no_pictures = mammoth.images.img_element(lambda picture: {})
    return _of_html(mammoth.convert_to_html(io.BytesIO(data), convert_image=no_pictures).value.encode())


def _of_pdf(data: bytes) -> tuple[str, str]:
    [text] = _reader.read("pdf", base64.b64encode(data).decode())
    pages = [lines for page in text.split("\f") if (lines := page.strip().split("\n")) != [""]]
    for side in (0, -1):
        while shared := _running([page[side] for page in pages if page], len(pages)):
            for page in pages:
                if page and _numberless(page[side]) == shared:
                    page.pop(side)
    return "\n\n".join("\n".join(page).strip() for page in pages).strip(), ""


def _running(lines: Sequence[str], pages: int) -> str:
    """The line that most pages have there, but for their numbers; empty where none is."""
    [(line, count)] = Counter(map(_numberless, lines)).most_common(1) or [("", 0)]
    return line if count >= FEWEST_PAGES and count > pages / 2 else ""


def _numberless(line: str) -> str:
    return "#" if not line.strip() or _PAGE.fullmatch(line) else line.strip()


def _unpacked(data: bytes, path: Path) -> int:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return sum(member.file_size for member in packed.infolist())
    except zipfile.BadZipFile as error:
        raise DatasetError(f"not a {path.suffix} file: {error}") from None


def _digest(path: Path, cutting: Cutting, url: str) -> str:
    """Of a document's bytes, and of how it is cut and named: what is equal need not be read again."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha256(f"{cutting}\0{url}\0".encode())).hexdigest()


def _short(name: str) -> str:
    """A document's name as part of an id: the end of a long one, behind what tells it from others."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{hashlib.sha256(name.encode()).hexdigest()[:12]}…{name[-LONGEST_NAME:]}"
