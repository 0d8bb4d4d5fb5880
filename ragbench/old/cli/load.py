"""`ragbench load`: bring data that others wrote into data/, checked as a whole."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ragbench.old.cli.console import options
from ragbench.old.cli.console.outputs import tell
from ragbench.old.core import segmentation, terminal

if TYPE_CHECKING:
    from ragbench.old.data import Brought, Records
    from ragbench.old.data.shelf import Shelf


NAMED = 5  # enough to look at by hand


application = typer.Typer(
    help="Bring in what others wrote: documents, data sets, dialogues, decisions, answers, databases, past runs.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Option("--name", "-n", help="Its name from now on: small letters, digits, dashes.")]
Lang = Annotated[
    str,
    typer.Option("--language", "-l", help="Language of the texts, en or ru; else found out.", callback=options.spoken),
]
Title = Annotated[str, typer.Option(help="What pages call it; the name where not given.")]
Licence = Annotated[str, typer.Option(help="Licence of the texts, shown on every page.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a data set of that name.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what was understood and left out; write nothing.")]
Check = Annotated[
    bool,
    typer.Option("--check", help="Say what the page `dataset` would find: leaks, copies, people, noise, and more."),
]
Add = Annotated[bool, typer.Option("--add", help="Add to the data set of that name instead of making a new one.")]
Part = Annotated[
    int,
    typer.Option(
        "--sample", help="Only so many questions, dialogues, decisions, drawn by their ids; 0: all of them.", min=0
    ),
]
Base = Annotated[
    str,
    typer.Option(
        "--chunks-from",
        help="The whole knowledge base: a data set, a table of passages with their ids, or db:NAME for the tables of "
        "[databases.NAME].",
    ),
]
Logged = Mapping[str, "Shelf[dict[str, Any]]"]
Read = tuple[Any, Logged | None] | tuple[Any, None, "About"]
"""What was brought, and what systems logged, if anything; and how else it is to be written than it was asked for."""


@dataclass(frozen=True)
class About:
    """Under which name, and how, something is brought in: the options that all commands here have, and the source."""

    name: Name
    language: Lang = ""
    title: Title = ""
    licence: Licence = "not stated"
    replace: Replace = False
    dry_run: DryRun = False
    add: Add = False
    check: Check = False
    sample: Part = 0
    source: str = ""


def brings(command: str, *, spared: Sequence[str] = ("add",)) -> Callable[[Callable[..., Read]], Callable[..., Read]]:
    """A command out of a function that reads a source, its first parameter. spared: options that it does not have, of
    those that all have and of the function's own."""

    def made(read: Callable[..., Read]) -> Callable[..., Read]:
        options_of = [list(inspect.signature(of, eval_str=True).parameters.values()) for of in (read, About)]
        own = [parameter for parameter in options_of[0] if parameter.name not in ("about", *spared)]
        shared = [parameter for parameter in options_of[1] if parameter.name not in ("source", *spared)]

        def run(**given: Any) -> None:
            words = {parameter.name: given[parameter.name] for parameter in own}
            about = About(source=_named(given[own[0].name]), **{each.name: given[each.name] for each in shared})
            knows = {"about": about} if "about" in inspect.signature(read).parameters else {}
            brought, logged, *instead = read(**words, **knows)
            _bring(brought, logged, *(instead or [about]))

        keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *shared)]
        run.__doc__, run.__signature__ = read.__doc__, inspect.Signature(keywords)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
        application.command(command)(run)
        return read

    return made


@brings("documents", spared=["sample"])
def documents(
    folder: Annotated[
        Path,
        typer.Argument(
            parser=options.source_folder, metavar="FOLDER", help="A folder of documents: .md, .txt, .html, .pdf, .docx."
        ),
    ],
    about: About,
    size: Annotated[int, typer.Option(help="Of a passage at most, in --unit.")] = 1000,
    overlap: Annotated[int, typer.Option(help="That neighbouring passages share at most, in --unit.")] = 0,
    unit: Annotated[Literal["characters", "words"], typer.Option(help="characters or words.")] = "characters",
    url: Annotated[
        str, typer.Option(help="The page of a document: https://kb.example/{path}; front matter's url wins.")
    ] = "{path}",
) -> Read:
    """Documents are read as Markdown and cut where a text parts by itself: sections first, then paragraphs, sentences.

    Each passage keeps its document, the headings it stands under, and where it begins and ends. A base without
    questions can be measured by tier0_embeddings; `ragbench draft` makes first questions to it. --add reads what is new
    or has changed since, and keeps all the rest.

    Example: ragbench load documents handbook --name kb --url https://kb.example/{path}
    """
    from ragbench.old import data
    from ragbench.old.core import trust
    from ragbench.old.core.progress import Progress
    from ragbench.old.data import documents as reading

    cutting = reading.Cutting(size, overlap, unit)
    place = trust.folder_of("data_folder")
    known, spoken = None, about.language
    if about.add and about.name in data.available(place):
        there = data.place_of(about.name, place)
        spoken = data.language_in(there, spoken)
        known = data.Records.read(there, spoken)
    elif not about.add:
        data.require_free(about.name, place, replace=about.replace)
    with Progress("documents", len(reading.paths(folder))) as progress:
        brought = reading.read(folder, cutting, url, known, progress)
    if not about.check:
        _tell_copies(brought)
    _require_labels(known, brought)
    for table in fields(known) if known is not None else ():
        if table.name not in brought.tables:
            setattr(brought, table.name, getattr(known, table.name))
    if not brought.questions:
        brought.runs.append("ragbench draft {dataset} --questions 120")
    return brought, None, replace(about, add=False, replace=about.replace or about.add, language=spoken)


def _tell_copies(brought: Brought) -> None:
    from ragbench.old.tiers.data.copies import near_copies

    pairs = near_copies([chunk.text for chunk in brought.chunks])
    if pairs:
        named = "; ".join(
            f"{brought.chunks[place].id} and {brought.chunks[other].id}" for place, other, _ in pairs[:NAMED]
        )
        more = f"; {len(pairs) - NAMED} more" if len(pairs) > NAMED else ""
        brought.notes.append(f"{len(pairs)} pairs of passages are nearly the same: {named}{more}")


def _require_labels(known: Records | None, brought: Brought) -> None:
    """Raises DatasetError where questions are labelled with passages that are there no more."""
    from ragbench.old.data import DatasetError

    there = {chunk.id for chunk in brought.chunks}
    asked = known.questions if known is not None else ()
    lost = [question.id for question in asked if not {*question.relevant, *question.irrelevant} <= there]
    if lost:
        raise DatasetError(
            f"{len(lost)} questions are labelled with passages that have changed: {', '.join(lost[:NAMED])} …; nothing "
            "was written. Label them anew, or load the folder under another --name"
        )


class Table(NamedTuple):
    """A kind of table that is brought in. reader: what of `ragbench.old.data` reads it; file: what FILE is;
    about: what the command is for. spared: options that it does not have."""

    command: str
    reader: str
    file: str
    about: str
    spared: Sequence[str] = ("add", "chunks_from")


TABLES = (
    Table("questions", "foreign_sets.questions", "Questions: JSON, JSONL, CSV, Excel or Parquet.", """\
        Questions with references, and the passages that they were written for, whatever their columns are called.

        Columns: question, reference, chunk_id, chunk_text, url, relevant_chunk_ids, relevant_urls, category, reference
        contexts and more. Without --chunks-from the knowledge base is only the passages that the file carries, which
        makes retrieval easier. Of SQuAD 1.1 and 2.0 paragraphs become passages, and articles pages.

        What people marked as not in order is left out, and counted: 0 in is_question_ok takes the question out, in
        is_answer_ok its reference, in is_chunk_ok its label. An empty mark means "not answered yet".

        Example: ragbench load questions dataset.json --name helpdesk --chunks-from db:helpdesk
        Example: ragbench load questions xquad.ru.json.gz --name xquad-ru && ragbench run --dataset xquad-ru
        """, ("add",)),
    Table("decisions", "foreign_sets.decisions",
          "Items of question, answer, context, ground_truth_show, rationale.", """\
        Answers with the decision whether to show them: what tier_judge_pipeline measures the production judge by.

        Example: ragbench load decisions judge_pipeline.json --name helpdesk --add
        """, ("chunks_from",)),
    Table("dialogues", "foreign_sets.dialogues",
          "Conversations: messages, conversations, questions with expected_answers, or a row a turn.", """\
        Conversations, each a session of its own: what tier_ux measures.

        Example: ragbench load dialogues multi_turn.json --name helpdesk --add
        """, ("chunks_from",)),
    Table("answers", "answer_tables.read", "A table of answers: JSONL, JSON, CSV, Excel or Parquet.", """\
        Question, answer, reference and contexts of any system, whatever their columns are called.

        Questions and contexts become a data set; what each system retrieved and answered is kept beside it as logged
        results. To score the table as it is, use `ragbench score`.

        Example: ragbench load answers ragas.parquet --name pilot && ragbench run -d pilot -s pilot-logged
        """),
)  # fmt: skip


def _offer(table: Table) -> None:
    """The command that brings a table of this kind in."""

    def read(file: Path, chunks_from: Base = "", column: options.Columns = None) -> Read:
        from ragbench.old import data

        given = {"base": base_of(chunks_from), "columns": options.columns(column)}
        made = operator.attrgetter(table.reader)(data)(file, **{name: value for name, value in given.items() if value})
        return made if isinstance(made, tuple) else (made, None)

    argument = typer.Argument(parser=options.source, metavar="FILE", help=table.file)
    read.__doc__, read.__annotations__["file"] = inspect.cleandoc(table.about), Annotated[Path, argument]
    brings(table.command, spared=table.spared)(read)


for _table in TABLES:
    _offer(_table)


@application.command("database")
def database(
    source: Annotated[str, typer.Argument(help="NAME of the table [databases.NAME] in ragbench.toml.")],
    name: Annotated[str, typer.Option("--name", "-n", help="Keep a copy under this name; empty: only look.")] = "",
    replace: Replace = False,
    dry_run: DryRun = False,
    check: Check = False,
) -> None:
    """Your own PostgreSQL tables, read in read-only transactions: what is there, and how to measure on it.

    No copy is needed: `ragbench run -d db:NAME` reads the tables themselves. --name keeps one that does not change.

    Example: ragbench load database helpdesk --dry-run
    """
    from ragbench.old.core import settings
    from ragbench.old.data import Brought, ChunkRecord, QuestionRecord
    from ragbench.old.tiers.retrieval import own_tables

    read = own_tables.read(source, settings.load())
    brought = Brought(
        chunks=[_record(chunk, ChunkRecord) for chunk in read.chunks],
        questions=[_record(question, QuestionRecord) for question in read.questions],
        history=list(read.history),
    )
    brought.left_out.update(read.left_out)
    if read.questions:
        brought.notes.append("the label of a question is the page that was shown with its answer: a proxy")
    if not read.history:
        brought.notes.append("no table of questions: they come from a file")
    if not name:
        tell(brought, f"db:{source}", read.language, check=check)
        asked = f"ragbench load questions FILE --name NAME --chunks-from db:{source}"
        command = f"ragbench run real_users sources -d db:{source}" if read.history else asked
        terminal.say(f"Nothing was copied. Next: {command}")
        return
    about = About(name, read.language, read.title, read.licence, replace, dry_run, check=check, source=f"db:{source}")
    _bring(brought, None, about)


@brings("beir")
def beir(
    folder: Annotated[
        Path,
        typer.Argument(
            parser=options.source_folder,
            metavar="FOLDER",
            help="A folder with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv.",
        ),
    ],
    split: Annotated[str, typer.Option(help="Which judgements: the name of a file below qrels/.")] = "test",
    queries: Annotated[
        Path | None,
        typer.Option(parser=options.source, metavar="FILE", help="Another file of queries, with the same ids."),
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(parser=options.source, metavar="FILE", help="Another file of judgements, also in TREC's form."),
    ] = None,
    clusters: Annotated[
        str, typer.Option(help="Pattern whose group, found in a question's id, names its cluster: '^(.+)<::>'.")
    ] = "",
) -> Read:
    """Passages become chunks, queries questions, and judgements graded relevance. Files may be gzipped.

    Example: ragbench load beir scifact --name scifact --split test && ragbench run --dataset scifact
    """
    from ragbench.old import data

    pattern = options.pattern(clusters, "--clusters")
    corpus, asked, judged, others = data.beir.files(folder, None if qrels else split)
    asked, judged = [queries] if queries else asked, [qrels] if qrels else judged
    return data.beir.read(corpus, asked, judged, others, clusters=pattern), None


def _named(source: Path | Sequence[Path]) -> str:
    return source.resolve().name if isinstance(source, Path) else ", ".join(path.name for path in source)


def base_of(name: str) -> Mapping[str, Any] | None:
    """The chunks of a whole knowledge base by id; None without a name."""
    if not name:
        return None
    from ragbench.old.core import settings
    from ragbench.old.data import ChunkRecord, beir
    from ragbench.old.data.files import LeftOut

    if Path(name).is_file():
        return beir.passages([Path(name)], LeftOut())
    from ragbench.old.tiers.basics.session import dataset_of

    return {chunk.id: _record(chunk, ChunkRecord) for chunk in dataset_of(name, settings.load()).chunks}


def _record(value: Any, model: Any) -> Any:
    """What a data set holds as a line of its file, unchecked: it was checked when it was read."""
    return model.model_construct(**{name: getattr(value, name) for name in model.model_fields})


def _bring(brought: Brought, logged: Logged | None, about: About) -> None:
    """Say what was understood and left out, and write it unless this is a dry run."""
    from ragbench.old import data
    from ragbench.old.core import folders, settings, trust
    from ragbench.old.data.writing import toml, toml_key

    folder = trust.folder_of("data_folder")
    if not about.add:
        data.require_free(about.name, folder, replace=about.replace)
    name, _, part = about.name.partition(":") if about.add else (about.name, "", "")
    if about.sample:
        logged = data.drawn(brought, logged, about.sample)
    read_as = segmentation.language_of(brought.texts)
    spoken = about.language or part or read_as
    if about.add:
        spoken = data.language_in(data.place_of(name, folder), about.language or part)
    if about.add and spoken != read_as:
        brought.notes.append(f"the texts read as {read_as}, and join the data set's {spoken}")
    tell(brought, about.source, spoken, check=about.check)
    there = sorted(path.name for path in (folder / name).glob("*.jsonl")) if about.replace else []
    if about.add:
        made = data.add(f"{name}:{spoken}", folder, brought, dry_run=about.dry_run)
    else:
        made = data.write(
            about.name,
            folder,
            title=about.title or about.name,
            licence=about.licence,
            source=about.source,
            language=spoken,
            **{table: getattr(brought, table) for table in brought.tables},
            logged=logged,
            left_out=+brought.left_out,
            replace=about.replace,
            dry_run=about.dry_run,
        )
    if about.dry_run:
        terminal.say("all of it can be loaded; nothing was written (--dry-run)")
        return
    if there:
        terminal.say(f"replaced in {folder.name}/{name}: {', '.join(there)}")
    called: dict[str, str] = {}  # systems that the settings know by other names
    for system, file in data.logged_files(logged or ()).items():
        place = settings.load().data_folder / about.name / file
        table = f"{about.name}-{system}".replace(",", ";")  # a comma parts the names in `ragbench run -s`
        systems = settings.load().systems
        same = [name for name, system in systems.items() if system.results == place]
        if same and table not in same:
            called[table], table = same[0], same[0]
        is_new = not same and table not in systems
        if is_new:
            if not settings.config_path().is_file():
                from ragbench.old.cli.beginnings import Beginning

                Beginning(settings.project_folder(), folder.resolve(), [about.name]).write()
            added = f"\n[systems.{toml_key(table)}]\nresults = {toml(str(place))}\n"
            folders.write(settings.config_path(), folders.content(settings.config_path()) + added.encode())
        how = "found in" if same else "added to" if is_new else "to measure it, write into"
        terminal.say(f'{how} ragbench.toml: [systems.{toml_key(table)}] results = "{place}"')
    digest = made.whole_hash[:12]
    first, *more = (_command(run, about.name, called) for run in brought.runs or [""])
    terminal.say(f"data set {about.name} is there (content hash {digest}). Next: {first}")
    for command in more:
        terminal.say(f"Then: {command}")


def _command(run: str, dataset: str, called: Mapping[str, str]) -> str:
    """The command of a run, or another one, in which {dataset} stands for the data set's name. called: systems by
    other names than it has."""
    named = (word.split(",") for word in run.format(dataset=dataset).split(" "))
    words = " ".join(",".join(called.get(name, name) for name in own) for own in named)
    return (
        words
        if run.startswith("ragbench ")
        else " ".join(filter(None, ("ragbench run", words, f"--dataset {dataset}")))
    )
