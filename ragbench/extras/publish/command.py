"""`ragbench publish`."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from ragbench.core.errors import BenchError
from ragbench.core.folders import replaced
from ragbench.core.trust import open_settings
from ragbench.extras.publish.exports import write_csv, write_latex, write_markdown
from ragbench.report.finished import find_run, read_run

# Masked in what is published, whoever wrote it: addresses, telephones; in texts long numbers too.
ADDRESSES = (
    re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    re.compile(r"(?<![\w.])\+\d[\d ()-]{8,}\d"),
)
LONG_NUMBER = re.compile(r"(?<![\w.,])\d{9,}(?![\w.,])")
PIECES = re.compile(
    r"(<script\b.*?</script>|<style\b.*?</style>|<[^>]*>)", flags=re.DOTALL | re.IGNORECASE
)
PACKED = re.compile(r'(<script[^>]*class="packed"[^>]*>)([^<]*)(</script>)')
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
    check_folder(out)
    with replaced(out.absolute()) as beside:
        for name in ("data", "tables"):
            (beside / name).mkdir()
        copy_pages(finished.folder, beside, is_masked=mask_personal)
        for frame_file in sorted(finished.folder.glob("frames/*/*.parquet")):
            frame = pd.read_parquet(frame_file)
            name = f"{frame_file.parent.name}.{frame_file.stem}"
            if mask_personal:
                frame = masked_frame(frame)
            frame.to_parquet(beside / "data" / f"{name}.parquet")
            write_csv(beside / "data" / f"{name}.csv", frame, raw=raw_csv)
        for page in finished.estimates["page"].unique() if len(finished.estimates) else ():
            write_latex(beside / "tables" / f"{page}.tex", finished, page)
        write_markdown(beside / "summary.md", finished)
    print(out / "index.html")


def check_folder(out: Path) -> None:
    """Refuse a folder that holds anything but an older site: it would be replaced, even a run."""
    is_site = (out / "summary.md").is_file() and (out / "data").is_dir()
    is_site = is_site and not (out / "frames").exists()
    if out.exists() and any(out.iterdir()) and not is_site:
        raise BenchError(f"{out} holds other files; name an empty folder")


def copy_pages(source: Path, target: Path, *, is_masked: bool) -> None:
    """Copy pages, scripts and JSON; texts are masked."""
    for path in sorted(source.iterdir()):
        if not path.is_file() or path.suffix in SKIPPED:
            continue
        if path.suffix in (".html", ".json") and is_masked:
            text = path.read_text(encoding="utf-8")
            masked = mask_page(text) if path.suffix == ".html" else mask_addresses(text)
            (target / path.name).write_text(masked, encoding="utf-8")
        else:
            shutil.copy(path, target / path.name)


def mask_page(html: str) -> str:
    """Mask the texts of a page; in marks and scripts, whose numbers may be long, addresses alone.

    Questions that are packed are unpacked for it.
    """
    pieces = PIECES.split(html)
    # Every second piece is a mark or a script.
    pieces[::2] = [mask_text(piece) for piece in pieces[::2]]
    pieces[1::2] = [mask_script(piece) for piece in pieces[1::2]]
    return "".join(pieces)


def mask_script(script: str) -> str:
    """Mask addresses in a script or a mark, also in what is packed there."""
    packed = PACKED.fullmatch(script)
    if packed is None:
        return mask_addresses(script)
    content = json.loads(gzip.decompress(base64.b64decode(packed[2])))
    text = json.dumps(mask_value(content), ensure_ascii=False, separators=(",", ":"))
    again = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return f"{packed[1]}{again}{packed[3]}"


def mask_addresses(text: str) -> str:
    """Mask e-mail addresses and telephones."""
    for pattern in ADDRESSES:
        text = pattern.sub(MASK, text)
    return text


def mask_text(text: str) -> str:
    """Mask what may be personal."""
    return LONG_NUMBER.sub(MASK, mask_addresses(text))


def masked_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Mask the texts of a frame; ids, which may be long numbers, keep these and stay ids."""
    texts = frame.select_dtypes(include=["object", "string"]).columns
    masked = {}
    for name in texts:
        is_key = str(name).endswith(("_id", "_ids")) or name == "unit"
        masked[str(name)] = frame[name].map(mask_key if is_key else mask_value)
    return frame.assign(**masked)


def mask_key(value: object) -> object:
    """Mask addresses in an id."""
    return mask_addresses(value) if isinstance(value, str) else value


def mask_value(value: object) -> object:
    """Mask a text, and all texts of a list or a dict; other values stay as they are."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, dict):
        return {name: mask_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [mask_value(inner) for inner in value]
    return value
