"""A run as a static site, or one page by itself: for a disk or any host, and its numbers for other programs.

What names people is taken out of pages that leave the house.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import unquote

from ragbench.old.core import annexes, folders, settings
from ragbench.old.core.annexes import install
from ragbench.old.core.facts import Facts
from ragbench.old.core.folders import new_folder
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.settings import secrets
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.report import exports
from ragbench.old.report.keeping import kept, results
from ragbench.old.report.pages.drawing import Edition, draw, editions, notebook_at
from ragbench.old.report.pages.notebook_pages import PICTURES, PICTURES_FOLDER, Measurements
from ragbench.old.tiers.data.persons import MASK, Masker

if TYPE_CHECKING:
    import pandas as pd


SCHEME = "mlflow:"
EXPERIMENT = "ragbench"
INSTALL = install("mlflow")
DATABASE, ARTIFACTS, SITE = "mlflow.db", "artifacts", "site"
_ILLEGAL = re.compile(r"[^\w\-. :/]")
MAX_VALUE = 5000
"""Letters of a parameter's value, and of a tag's: MLflow takes no more."""


class TrackingError(ValueError):
    """MLflow is not there, or refuses; the message says what helps."""


@dataclass(frozen=True)
class Target:
    """Where runs are logged to. address: as MLflow names it. folder: that of its SQLite file, where it is one."""

    named: str
    address: str
    folder: Path | None

    @classmethod
    def of(cls, to: str) -> Target:
        """`mlflow:FOLDER`, whose runs are in a SQLite file in it, or `mlflow:URI`.

        MLflow itself writes to folders of files no more. Raises TrackingError where nothing is named, and where mlflow
        is not installed.
        """
        named = to.removeprefix(SCHEME)
        if not named:
            raise TrackingError(f"--to {to}: mlflow:FOLDER or mlflow:URI is expected, such as mlflow:mlruns")
        try:
            import mlflow  # noqa: F401 - said before anything is made
        except ImportError as error:
            raise TrackingError(f"--to {to} needs mlflow ({error}): {INSTALL}, or pip install mlflow-skinny") from None
        if re.match(r"\w{2,}:", named):
            return cls(to, named, None)
        folder = Path(named).absolute()
        return cls(to, f"sqlite:///{folder / DATABASE}", folder)


def log(name: str, site: Path, target: Target) -> str:
    """Log the site of the run `name`: a run of MLflow for it, and one below it for each page and system.

    Numbers are those of the site's summary: a metric with `.low` and `.high` (the interval), `.n` and `.n_unmeasured`;
    one that could not be measured is no metric but a tag. The run of MLflow is returned, as its page's path.
    Raises TrackingError where MLflow's store refuses.
    """
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    if target.folder is not None:
        target.folder.mkdir(parents=True, exist_ok=True)
    try:
        return _logged(MlflowClient(tracking_uri=target.address), name, site, target.folder)
    except MlflowException as error:
        raise TrackingError(f"--to {target.named}: MLflow refuses: {str(error).strip()}") from None


def _logged(client: Any, name: str, site: Path, folder: Path | None) -> str:
    summary, manifest = (_json(site / "data" / file) for file in (results.SUMMARY, results.MANIFEST))
    known = client.get_experiment_by_name(EXPERIMENT)
    place = None if folder is None else (folder / ARTIFACTS).as_uri()
    experiment = known.experiment_id if known else client.create_experiment(EXPERIMENT, artifact_location=place)
    begun = int(float(manifest["started"]) * 1000)
    ended = begun + int(float(manifest["seconds"]) * 1000)
    about = {"ragbench.run": name, "ragbench.status": manifest["status"], "ragbench.commit": manifest.get("commit")}
    about |= {f"ragbench.version.{package}": version for package, version in manifest["versions"].items()}
    whole = _begun(client, experiment, name, begun, about)
    _put(client, whole, begun, {}, manifest["parameters"], {})
    client.log_artifacts(whole, str(site), SITE)
    for page in manifest["notebooks"]:
        page_name = page["name"]
        own = [estimate for estimate in summary["estimates"] if estimate["notebook"] == page_name]
        tags = {"ragbench.page": page_name, "ragbench.caveat": manifest["caveats"].get(page_name)}
        tags |= {f"ragbench.{key}": value for key, value in manifest["data"].get(page_name, {}).items()}
        for system in dict.fromkeys(estimate["system"] for estimate in own):
            numbers, unmeasured = _numbers([estimate for estimate in own if estimate["system"] == system])
            named = {**tags, "ragbench.system": system, "mlflow.parentRunId": whole}
            below = _begun(client, experiment, f"{page_name}: {system}", begun, named)
            _put(client, below, ended, numbers, page["parameters"], unmeasured)
            client.set_terminated(below, end_time=ended)
    client.set_terminated(whole, "FINISHED" if manifest["status"] == "complete" else "FAILED", end_time=ended)
    return f"#/experiments/{experiment}/runs/{whole}"


def _numbers(estimates: list[dict[str, Any]]) -> tuple[dict[str, float], dict[str, str]]:
    """Metric → number, and tags of what could not be measured and of metrics whose name MLflow does not take."""
    numbers: dict[str, float] = {}
    tags: dict[str, str] = {}
    for estimate in estimates:
        key = _ILLEGAL.sub("_", estimate["metric"].replace("@", "_at_"))
        while key in numbers or f"{key}.n" in numbers:
            key += "_"
        if key != estimate["metric"]:
            tags[f"ragbench.core.metric.{key}"] = estimate["metric"]
        counted = {f"{key}.{part}": estimate[part] for part in ("low", "high", "n", "n_unmeasured")}
        numbers |= {
            name: float(value) for name, value in {key: estimate["value"], **counted}.items() if _is_number(value)
        }
        if not _is_number(estimate["value"]):
            tags[f"ragbench.unmeasured.{key}"] = estimate["note"] or f"{estimate['n_unmeasured']} could not be measured"
    return numbers, tags


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and value == value


def _begun(client: Any, experiment: str, name: str, begun: int, tags: Mapping[str, Any]) -> str:
    given = {key: _short(value) for key, value in tags.items() if value not in (None, "")}
    return str(client.create_run(experiment, start_time=begun, run_name=name, tags=given).info.run_id)


def _put(
    client: Any, run: str, moment: int, numbers: Mapping[str, float], given: Mapping[str, Any], tags: Mapping[str, str]
) -> None:
    from mlflow.entities import Metric, Param, RunTag

    client.log_batch(
        run,
        [Metric(key, value, moment, 0) for key, value in numbers.items()],
        [Param(_ILLEGAL.sub("_", key), _short(value)) for key, value in given.items()],
        [RunTag(key, _short(value)) for key, value in tags.items()],
    )


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return excerpt(text, MAX_VALUE)


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(folders.text(path)))


Mask = Literal["real_users", "all", "none"]
SINGLE = "single"
PARTS = "questions"
GATE = "gate.json"
WORK = ".run"
MOST_OF_A_PAGE = 2**27
"""Bytes of a page, of a part of its tables, or of a picture."""
_PATH = re.compile(r"(?<![\w.:/~-])(?:[A-Za-z]:[\\/]|/|~/)(?:[^\s,;:'\"<>|\\/]+[\\/])+([^\s,;:'\"<>|\\/]*)")
_LANGUAGES = re.compile(r'<nav class="languages"(?:(?!<nav).)*?</nav>\n', re.DOTALL)
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
_SCRIPT = re.compile(r'<script src="([^"]+)"></script>')
_PICTURE = re.compile(rf'<img src="({PICTURES_FOLDER}/[0-9a-f]{{16}}\.(png|jpg))"')
_POLICY = re.compile(r'(http-equiv="Content-Security-Policy" content=")([^"]*)(")')
_PARTS = re.compile(r'class="rb-table" data-parts="([^"]+)"')
_PART = re.compile(r'ragbenchData\("([\w/.-]+)",\s*"([A-Za-z0-9+/=]*)"\);?')
_LINK = re.compile(r'<a\b([^<>]*?)\shref="(?![#"])(?!https?:|mailto:)[^"]*"')


def publish(
    name: str | Path,
    to: Path,
    *,
    mask: Mask = "real_users",
    names: Counter[str] | None = None,
    language: str | None = None,
    single: bool = True,
    raw_csv: bool = False,
) -> Path:
    """Write the run's site into `to`, which is replaced as a whole or stays as it was; its index is returned.

    What others put there, such as a `.git` or a CNAME, stays.

    mask: whose e-mail addresses, telephones, long numbers and ids are masked: those on pages that were made from a log
    of what users asked (`real_users`), on all pages, or none. names: where given, these and people's
    names are masked on all pages, and it counts how many `names` in how many different `texts` that were. language: of
    the pages, in this one
    alone; if None, in all that the run is drawn in. single: also
    each page as one file that needs no other. raw_csv: texts in CSV as they are, also those that a spreadsheet would
    take for formulas.

    A run that was loaded has its numbers alone, on one page. A comparison, by its folder or its name below
    reports/comparisons, is published like a run.

    Raises FileNotFoundError for a run without pages, FileExistsError where `to` holds something else, ValueError for
    another word for `mask`, ModuleNotFoundError where names cannot be found here.
    """
    if mask not in ("real_users", "all", "none"):
        raise ValueError(f"mask = {mask!r}: it is real_users, all or none")
    veil = Veil(Masker(names=names is not None))
    if names is not None:
        mask = "all"
    sheet = annexes.taken("published", "sheet")
    if sheet is not None and (fill := sheet.filled(name)) is not None:
        index = _published_sheet(
            sheet, fill, to, mask, veil, language or settings.load().language, single=single, raw_csv=raw_csv
        )
    else:
        index = _published_run(name, to, mask, veil, language, single=single, raw_csv=raw_csv)
    if names is not None:
        names.update(veil.masker.counted)
    return index


def _published_run(
    name: str | Path, to: Path, mask: Mask, veil: Veil, language: str | None, *, single: bool, raw_csv: bool
) -> Path:
    """The site of a run that notebooks made."""
    run = kept.pages_of(name)
    with new_folder(to) as site:
        work = site / WORK  # inside, so that a killed command leaves one folder, which the next one clears away
        manifest = _prepared(run, work, mask, veil)
        draw(work, manifest, language)
        _copied(work, site)
        known = Measurements(work)
        measurements = {each: known[each] for each in known.names()}
        spoken = translator(language or str(manifest.get("language", "en")))
        exports.write_tables(site / "data", measurements, raw=raw_csv, language=spoken.language)
        results.write_json(site / "data" / results.MANIFEST, manifest)
        gate = json.loads(folders.text(work / GATE)) if (work / GATE).is_file() else None
        exports.write(site, manifest, measurements, gate, spoken)
        if single:
            for edition in [Edition(language)] if language else editions(manifest):
                _single(site, edition.folder)
        shutil.rmtree(work)
    return to / "index.html"


def _published_sheet(
    sheet: Any,
    fill: Callable[[Path], object],
    to: Path,
    mask: Mask,
    veil: Veil,
    language: str,
    *,
    single: bool,
    raw_csv: bool,
) -> Path:
    """The site of what no notebook made."""
    with new_folder(to) as site:
        work = site / WORK
        work.mkdir()
        fill(work)
        copied = Measurements(work)
        for each in copied.names():
            veiled = mask == "all" or (mask == "real_users" and each.endswith("real_users"))
            copied.replace(each, _without_paths(veil.measurement(copied[each]) if veiled else copied[each]))
        measurements = {each: copied[each] for each in copied.names()}
        sheet.draw(work, measurements, language)
        _copied(work, site)
        exports.write_tables(site / "data", measurements, raw=raw_csv, language=language)
        for table, made in sheet.tables(measurements):
            exports.write_csv(site / "data" / f"{table}.csv", made, raw=raw_csv)
        results.write(site / "summary.md", sheet.summary(measurements, translator(language)))
        if single:
            _single(site, "")
        shutil.rmtree(work)
    return to / "index.html"


def _without_paths(made: Measurement) -> Measurement:
    """Without the paths among what changed between two runs."""
    if "changes" not in made.extra:
        return made
    told = made.extra["changes"].map(lambda cell: without_paths(cell) if isinstance(cell, str) else cell)
    return replace(made, extra={**made.extra, "changes": told})


def _single(site: Path, folder: str) -> None:
    """Each page of a folder of the site once more as one file."""
    (site / SINGLE / folder).mkdir(parents=True)
    for page in sorted((site / folder).glob("*.html")):
        results.write(site / SINGLE / folder / page.name, self_contained(page, site))


def _prepared(run: Path, work: Path, mask: Mask, veil: Veil) -> dict[str, Any]:
    """A copy of the run that holds no secret, no path of this machine, and no person where asked; its manifest."""
    nbformat = results.notebook_format()

    work.mkdir()
    shutil.copytree(run / "parts", work / "parts") if (run / "parts").is_dir() else (work / "parts").mkdir()
    copied = Measurements(work)
    hide = secrets.masker()
    veiled = [each for each in copied.names() if mask == "all" or (mask == "real_users" and _of_a_log(copied[each]))]
    for each in copied.names():  # also those without a veil: whoever made the run may not have known this secret
        copied.replace(each, veil.measurement(copied[each]) if each in veiled else copied[each])
    clean: Callable[[str], str] = lambda text: without_paths(hide(text))  # noqa: E731
    manifest: dict[str, Any] = secrets.masked(kept.manifest_of(run), clean)
    for described in manifest.get("notebooks", ()):
        notebook = notebook_at(run / f"{described['name']}.ipynb")
        if mask == "all" or described["name"] in veiled:
            notebook = veil.notebook(notebook)
            failure = str(described.get("failure") or "")
            described["failure"] = veil.text(failure)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.source = clean(cell.source)
                cell.outputs = [nbformat.from_dict(secrets.masked(output, clean)) for output in cell.outputs]
        results.write(work / f"{described['name']}.ipynb", nbformat.writes(notebook) + "\n")
    results.write_json(work / results.MANIFEST, manifest)
    if (run / GATE).is_file():
        results.write(work / GATE, folders.text(run / GATE))
    return manifest


def _of_a_log(made: Measurement) -> bool:
    """Whether a page was made from what users asked: such a page says whether it was measured with people masked."""
    return "masked" in made.facts or made.notebook == "real_users"


def without_paths(text: str) -> str:
    """A text with only the last part of every absolute path in it; addresses of the web stay."""
    return _PATH.sub(lambda match: match[1] or "…", text)


def _copied(work: Path, site: Path) -> None:
    """The pages and what they need beside them, without the run's measurements and notebooks."""
    left = {"parts", results.MANIFEST, results.SCORES, results.SUMMARY, GATE}
    for path in sorted(work.iterdir()):
        if path.name in left or path.suffix == ".ipynb":
            continue
        if path.is_dir():
            shutil.copytree(path, site / path.name)
        else:
            results.write_by(site / path.name, partial(shutil.copyfile, path))


def self_contained(page: Path, site: Path) -> str:
    """A page as one file: styles, scripts and the parts of its tables inside, its policy allowing just those scripts.

    Links to other pages, which would lead nowhere, are texts, and no other language is offered. Raises ValueError for
    something that does not lie in the site.
    """
    text = _LANGUAGES.sub("", folders.text(page, MOST_OF_A_PAGE), count=1)
    parts: dict[str, list[str]] = {"script-src": [], "style-src": []}

    def inside(match: re.Match[str]) -> str:
        parts["script-src"].append(code := _code(_beside(page, match[1], site).decode()))
        return f"<script>{code}</script>"

    def styled(match: re.Match[str]) -> str:
        parts["style-src"].append(style := _beside(page, match[1], site).decode())
        return f"<style>{style}</style>"

    def pictured(match: re.Match[str]) -> str:
        kind = next(kind for kind, ending in PICTURES.items() if ending == match[2])
        return f'<img src="data:{kind};base64,{base64.b64encode(_beside(page, match[1], site)).decode()}"'

    text = _PICTURE.sub(pictured, _STYLE.sub(styled, _SCRIPT.sub(inside, text)))
    text = _POLICY.sub(lambda match: match[1] + escape(_allowing(unescape(match[2]), parts)) + match[3], text, count=1)
    head, end, rest = text.rpartition("</main>")
    return _LINK.sub(r"<a\1", head) + _parts(page, text) + end + rest


def _parts(page: Path, text: str) -> str:
    """What the page's tables of questions load from beside it, as inert elements that they look for first."""
    scripts = []
    for name in dict.fromkeys(_PARTS.findall(text)):
        for path in sorted((page.parent / PARTS / unquote(unescape(name))).glob("*.js")):
            call = _PART.fullmatch(folders.text(path, MOST_OF_A_PAGE).strip())
            if call is not None:
                scripts.append(f'<script type="text/plain" data-part="{escape(call[1])}">{call[2]}</script>')
    return "".join(scripts)


def _beside(page: Path, name: str, site: Path) -> bytes:
    path = (page.parent / unquote(unescape(name))).resolve()
    if not path.is_relative_to(site.resolve()):
        raise ValueError(f"{page.name} needs {name!r}, which does not lie beside it")
    return folders.content(path, MOST_OF_A_PAGE)


def _code(script: str) -> str:
    """A script that can stand inside a page: nothing in it ends its element."""
    if re.search(r"</script|<!--", script, re.IGNORECASE):
        script = re.sub(r"<(/script|!--)", r"\\x3c\1", script, flags=re.IGNORECASE)
    return script


def _allowing(policy: str, inside: Mapping[str, Sequence[str]]) -> str:
    """The page's policy with exactly what is inside, and nothing from beside the page."""
    kept_parts = []
    for part in [part.split() for part in policy.split(";") if part.strip()]:
        name, *sources = part
        sources = [source for source in sources if source != "'self'"]
        if "'unsafe-inline'" not in sources:  # which a hash would switch off
            sources += [_digest(text) for text in dict.fromkeys(inside.get(name, ()))]
        kept_parts.append(" ".join([name, *(sources or ["'none'"])]))
    return "; ".join(kept_parts)


def _digest(text: str) -> str:
    """A script or a style as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


KEYS = frozenset({"sample", "chunk", "url", "id", "cluster", "question", "turn", "user"})
"""Columns that rows are found by: a masked value gets a number of its own, so that rows still find each other."""

NAMES = frozenset({"system", "metric", "judge", "status", "kind", "language", "page", "notebook", "first", "second"})
"""Columns that name no person."""

PLAIN_FACTS = frozenset(
    {"data_hash", "commit", "versions", "systems", "judges", "baseline", "primary", "dataset", "key_metrics", "unit"}
)


@dataclass
class Veil:
    """Masks e-mail addresses, handles, telephones, long numbers and users' ids in everything of a measurement."""

    masker: Masker = field(default_factory=Masker)
    _numbers: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """A text, or a JSON text, whose numbers stay numbers."""
        if text[:1] in ("{", "["):
            try:
                value = json.loads(text)
            except ValueError:
                return self.masker.text(text) or ""
            return json.dumps(self.json(value), ensure_ascii=False, sort_keys=True)
        return self.masker.text(text) or ""

    def key(self, key: str) -> str:
        """An id: itself where it names nobody, else a mask with a number, the same for the same id."""
        if self.masker.text(key) == key:
            return key
        return self._numbers.setdefault(key, f"{MASK}{len(self._numbers) + 1}")

    def json(self, value: Any) -> Any:
        """A JSON value: keys as ids, texts as texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.key(str(key)): self.json(item) for key, item in value.items()}
        return [self.json(item) for item in value] if isinstance(value, list | tuple) else value

    def measurement(self, made: Measurement) -> Measurement:
        """The measurement with every text masked; its numbers, and the rows' order, stay."""
        facts = cast(
            Facts, {key: value if key in PLAIN_FACTS else self.json(value) for key, value in made.facts.items()}
        )
        if "masked" in facts:
            facts["masked"] = True
        return replace(
            made,
            facts=facts,
            scores=self.table(made.scores),
            questions=self.table(made.questions),
            retrieved=self.table(made.retrieved),
            extra={name: self.table(table) for name, table in made.extra.items()},
            placed=tuple(replace(finding, where=self.json(finding.where)) for finding in made.placed),
        )

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with its texts masked."""
        changed: dict[str, Any] = {}
        for column in table.columns:
            if column in NAMES or not any(isinstance(v, str | list | dict) for v in table[column].head(1000)):
                continue
            way = self.key if column in KEYS else self.text
            changed[column] = [self._cell(value, way) for value in table[column]]
        return table.assign(**changed) if changed else table

    def _cell(self, value: Any, way: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return way(value)
        if hasattr(value, "tolist") and not isinstance(value, int | float):
            value = value.tolist()
        return self.json(value) if isinstance(value, list | dict) else value

    def notebook(self, notebook: Any) -> Any:
        """An executed notebook with the texts that its cells put out masked."""
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                for holder, key in ((output, "text"), (output.get("data", {}), "text/plain")):
                    said = holder.get(key)
                    if said:
                        holder[key] = self.masker.text(said)
                if output.get("traceback"):
                    output["traceback"] = [self.masker.text(line) for line in output["traceback"]]
        return notebook
