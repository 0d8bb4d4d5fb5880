"""A folder of documents into passages: Markdown, text, web pages, PDF and Word, by their headings.

Documents are read in a process of its own, `python -m ragbench.data.documents`: a damaged or
hostile one can take all memory, or no end of time. The process has limits on both, and whoever
started it goes on without that document. For each path it prints a line of JSON.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from ragbench.core.errors import BenchError
from ragbench.core.frames import PASSAGES, frame_of
from ragbench.data.files import check_unpacked, open_text
from ragbench.data.values import clean, name_by_text
from ragbench.data.vocabulary import PAGES

DOCUMENT_ENDINGS = (".md", ".markdown", ".txt", ".html", ".htm", ".pdf", ".docx")
PLAIN = (".txt", ".pdf")  # whose lines that begin with # are no headings
MAX_BYTES = 2**25  # of a document
MAX_MEMORY = 2**32  # bytes of the process
MAX_SECONDS = 60  # for a document
AT_ONCE = 500  # documents of one process
SKIPPED = {"node_modules", "site-packages", "venv", "__pycache__", "_sources", "_static"}
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,10000}?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
NAMED = re.compile(r"^(title|url):[ \t]*(\S.*)$", re.MULTILINE)
HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*")
FENCES = ("```", "~~~")
TITLE = re.compile(r"<title[^>]{0,100}>([^<]{0,1000})", re.IGNORECASE)
MAIN = re.compile(r"<main\b.*</main>", re.IGNORECASE | re.DOTALL)
Document = dict[str, str]  # text, perhaps title and url; or error


def read_documents(folder: str | Path, size: int = 1000) -> tuple[pd.DataFrame, list[str]]:
    """Return the passages of all documents below a folder, and notes on what was left out.

    A passage is what stands below a heading, cut where the text parts by itself if it has more than
    `size` characters; `section` names the headings above it. `title` is the front matter's, the
    page's, the first heading or the file's name; `url` the front matter's, or the path below the
    folder. Hidden files, links and what programs brought along are passed over.
    Raises BenchError for a folder without documents, or without one that has text.
    """
    folder = Path(folder)
    paths = find_documents(folder)
    errors: list[str] = []
    rows: list[tuple[str, ...]] = []
    done = 0
    while done < len(paths):
        for document in _read_all(paths[done : done + AT_ONCE]):
            name = paths[done].relative_to(folder).as_posix()
            passages = list(cut_document(document, name, size)) if "text" in document else []
            if not passages:
                errors.append(
                    f"{name}: {document.get('error', 'has no text; pictures are not read')}"
                )
            rows += passages
            done += 1
    if not rows:
        raise BenchError(f"{folder}: no document can be read; {errors[0]}")
    notes = [f"{len(errors):,} documents were left out, the first {errors[0]}"] if errors else []
    return frame_of(rows, PASSAGES), notes


def find_documents(folder: Path) -> list[Path]:
    """Return the documents below a folder, in order. Raises BenchError where there is none."""
    paths = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") or part in SKIPPED for part in parts)
        is_document = path.suffix.lower() in DOCUMENT_ENDINGS and path.is_file()
        if is_document and not is_hidden and not path.is_symlink():
            paths.append(path)
    if not paths:
        raise BenchError(
            f"{folder}: holds no document ({', '.join(DOCUMENT_ENDINGS)}); name a folder"
        )
    return paths


def _read_all(paths: list[Path]) -> Iterator[Document]:
    """Yield what a process of its own makes of the documents, up to one that it cannot end."""
    # -P: a module in the folder where this is called must not stand in for one of Python's.
    command = [sys.executable, "-P", "-m", __name__, *map(str, paths)]
    with subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it has started
        for _ in paths:
            timer = threading.Timer(MAX_SECONDS, process.kill)
            timer.start()
            line = process.stdout.readline()
            timer.cancel()
            if not line:
                yield {"error": f"takes more than {MAX_SECONDS} seconds or too much memory"}
                return
            yield json.loads(line)


def cut_document(document: Document, name: str, size: int) -> Iterator[tuple[str, ...]]:
    """Yield the passages of a document as rows of PASSAGES."""
    from semantic_text_splitter import MarkdownSplitter, TextSplitter

    is_plain = name.lower().endswith(PLAIN)
    splitter = TextSplitter(size) if is_plain else MarkdownSplitter(size)
    sections = [([], document["text"])] if is_plain else list(split_sections(document["text"]))
    headings = [path[0] for path, _ in sections if path]
    title = document.get("title") or next(iter(headings), Path(name).stem)
    seen: Counter[str] = Counter()
    for path, body in sections:
        section = " › ".join(heading for heading in path if heading != title)
        for passage in splitter.chunks(body):
            if not re.search(r"\w", passage):
                continue
            # Made of its own text, so that it stays when something else in the document changes.
            passage_id = f"{name}#{name_by_text(passage)[:8]}"
            seen[passage_id] += 1
            passage_id += f"-{seen[passage_id]}" * (seen[passage_id] > 1)
            yield passage_id, clean(passage), document.get("url") or name, title, section


def split_sections(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the headings above each section of Markdown, from the highest, and its text."""
    path: dict[int, str] = {}
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_code ^= line.lstrip().startswith(FENCES)
        heading = None if is_code else HEADING.fullmatch(line)
        if heading is None:
            lines.append(line)
            continue
        yield list(path.values()), "\n".join(lines)
        lines = []
        level = len(heading[1])
        path = {above: name for above, name in path.items() if above < level} | {level: heading[2]}
    yield list(path.values()), "\n".join(lines)


def read_document(path: Path) -> Document:
    """Return the text of a document, as Markdown where it has headings."""
    ending = path.suffix.lower()
    if path.stat().st_size > MAX_BYTES:
        raise BenchError(f"has more than {MAX_BYTES:,} bytes; split it")
    if ending == ".pdf":
        from pdfminer.high_level import extract_text

        return {"text": extract_text(path).replace("\f", "\n\n").replace("\0", "")}
    if ending == ".docx":
        import mammoth

        check_unpacked(path)
        no_pictures = mammoth.images.img_element(lambda picture: {})
        with path.open("rb") as document:
            return read_page(mammoth.convert_to_html(document, convert_image=no_pictures).value)
    with open_text(path) as file:
        text = file.read().replace("\r\n", "\n")
    if ending in {".html", ".htm"}:
        return read_page(text)
    front = FRONT_MATTER.match(text)
    return (
        {**dict(NAMED.findall(front[1])), "text": text[front.end() :]} if front else {"text": text}
    )


def read_page(page: str) -> Document:
    """Return the title of a web page and its text, without navigation, banners and footers."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    options = ConversionOptions(
        # What it leaves out by itself, such as forms, may be the page.
        preprocessing=PreprocessingOptions(enabled=False),
        exclude_selectors=PAGES["unseen"],
        strip_tags=PAGES["inline"],
        skip_images=True,
        extract_metadata=False,
    )
    title, main = TITLE.search(page), MAIN.search(page)
    text = convert(main[0] if main else page, options).content
    return {"text": text or "", "title": " ".join(html.unescape(title[1]).split()) if title else ""}


def main(paths: list[str]) -> None:
    """Read each document, and print what came of it."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    print("started", flush=True)
    for path in paths:
        try:
            document = read_document(Path(path))
        except Exception as error:  # whatever a damaged file makes of its reader
            document = {"error": " ".join(str(error).split())[:200] or type(error).__name__}
        print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
