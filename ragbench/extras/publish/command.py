"""`ragbench publish`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from ragbench.core.errors import BenchError
from ragbench.core.trust import open_settings
from ragbench.extras.publish.exports import write_csv, write_latex, write_markdown
from ragbench.report.finished import find_run, read_run

# Masked in what is published, whoever wrote it: addresses, telephones, long numbers.
PERSONAL = (
    re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    re.compile(r"(?<![\w.])\+\d[\d ()-]{8,}\d"),
    re.compile(r"(?<![\w.,])\d{9,}(?![\w.,])"),
)
MASK = "•••"
SKIPPED = {".ipynb"}  # executed notebooks hold texts in many forms; pages and data are published


def main(
    run: Annotated[str, typer.Argument(help="A run: latest, its name, or a folder.")] = "latest",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the site.")] = Path("public"),
    mask_personal: Annotated[
        bool, typer.Option("--mask/--no-mask", help="Mask e-mail addresses and long numbers.")
    ] = True,
    raw_csv: Annotated[
        bool, typer.Option("--raw-csv", help="Texts in CSV as they are, also formulas.")
    ] = False,
) -> None:
    """Write a run as a static site with its numbers: pages, CSV, Parquet, LaTeX, Markdown.

    In the folder: the pages, data/ with every frame, tables/ with a LaTeX table (booktabs) a page,
    and summary.md. It works from a disk and from any host.

    Example: `ragbench publish latest --out public`
    """
    settings = open_settings()
    finished = read_run(find_run(run, settings))
    if out.exists() and any(out.iterdir()) and not (out / "summary.json").is_file():
        raise BenchError(f"{out} holds other files; name an empty folder")
    beside = out.with_name(f".{out.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    copy_pages(finished.folder, beside, is_masked=mask_personal)
    for frame_file in sorted(finished.folder.glob("frames/*/*.parquet")):
        frame = pd.read_parquet(frame_file)
        name = f"{frame_file.parent.name}.{frame_file.stem}"
        if mask_personal:
            frame = masked_frame(frame)
        (beside / "data").mkdir(exist_ok=True)
        frame.to_parquet(beside / "data" / f"{name}.parquet")
        write_csv(beside / "data" / f"{name}.csv", frame, raw=raw_csv)
    for page in finished.estimates["page"].unique() if len(finished.estimates) else ():
        write_latex(beside / "tables" / f"{page}.tex", finished, page)
    write_markdown(beside / "summary.md", finished)
    shutil.rmtree(out, ignore_errors=True)
    beside.rename(out)
    print(out / "index.html")


def copy_pages(source: Path, target: Path, *, is_masked: bool) -> None:
    """Copy pages, scripts and JSON; texts are masked."""
    for path in sorted(source.iterdir()):
        if not path.is_file() or path.suffix in SKIPPED:
            continue
        if path.suffix == ".html" and is_masked:
            text = path.read_text(encoding="utf-8")
            (target / path.name).write_text(mask_page(text), encoding="utf-8")
        else:
            shutil.copy(path, target / path.name)


def mask_page(html: str) -> str:
    """Mask the texts of a page; marks and scripts, whose numbers may be long, stay as they are."""
    pieces = re.split(r"(<script\b.*?</script>|<style\b.*?</style>|<[^>]*>)", html, flags=re.DOTALL)
    # Every second piece is a mark.
    pieces[::2] = [mask_text(piece) for piece in pieces[::2]]
    return "".join(pieces)


def mask_text(text: str) -> str:
    """Mask what may be personal."""
    for pattern in PERSONAL:
        text = pattern.sub(MASK, text)
    return text


def masked_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Mask the texts of a frame."""
    texts = frame.select_dtypes(include=["object", "string"]).columns
    masked = {str(name): frame[name].map(mask_value) for name in texts}
    return frame.assign(**masked)


def mask_value(value: object) -> object:
    """Mask a text, and the texts of a list; other values stay as they are."""
    if isinstance(value, str):
        return mask_text(value)
    if hasattr(value, "tolist") or isinstance(value, list | tuple):
        return [mask_value(inner) for inner in value]  # type: ignore[attr-defined]
    return value
