"""Turns a checkout of the Multimodal Finance Eval release into the local data folder.

The release (https://github.com/dseddah/Scribe_finance, CC BY-SA 4.0) holds
``dataset_json/Q&A_finance.dataset_*.json`` and one PDF for each page asked about under
``raw_documents/dataset_*/``. The data folder holds one JSONL file for each split in the columns
of `data.schemas.mfe`, the pages as images at 72 dpi (the released pipeline's resolution; JPEG as
there, whose quality it does not state: Pillow's default) and at 144 dpi (PNG), and
``manifest.json`` with counts, versions and hashes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import httpx
from tqdm import tqdm

from lmms_eval_finance.data.importers.folders import MANIFEST, check_replaceable, staged
from lmms_eval_finance.data.importers.mfe_rows import (
    PARTS,
    RELEASE,
    REPOSITORY,
    Release,
    Row,
    content_hash,
    jsonl,
    read_release,
    verify,
)
from lmms_eval_finance.data.sources import DataError

ARCHIVE = f"{REPOSITORY}/archive/{RELEASE.commit}.tar.gz"
LICENCE = "CC BY-SA 4.0, Virginie Mouilleron, Théo Lasnier, Anna Mosolova and Djamé Seddah (Inria)"
JPEG_QUALITY = 75


@dataclass(frozen=True)
class Manifest:
    """What an import wrote.

    Attributes:
        repository, commit, licence: where the rows come from; the commit is known because the
            content hash is verified.
        counts: rows of each split; `dialogues` is the number of conversations.
        content_hash: SHA-256 over the rows, the same on every machine.
        images: for each resolution the number of pages, file format and SHA-256 over the files
            (which may differ between versions of the renderer).
        renderer: versions of the libraries that drew the images.
    """

    repository: str
    commit: str
    licence: str
    counts: Mapping[str, int]
    dialogues: int
    content_hash: str
    images: Mapping[str, Mapping[str, Any]]
    renderer: str

    def __str__(self) -> str:
        rows = ", ".join(f"{count} {split}" for split, count in self.counts.items())
        pages = ", ".join(f"{about['count']} pages at {name}" for name, about in self.images.items())
        return (
            f"Multimodal Finance Eval: {rows}; {self.dialogues} dialogues; {pages}; "
            f"content hash {self.content_hash[:12]} (commit {self.commit})"
        )


def import_release(source: Path, destination: Path, *, release: Release = RELEASE) -> Manifest:
    """Import a checkout into a data folder; an interrupted import leaves nothing behind.

    Args:
        source: the checkout, with dataset_json/ and raw_documents/.
        destination: the folder to write, ``DATA/mfe``; an earlier import there is replaced.
        release: what the rows are verified against.

    Raises:
        DataError: something is missing, unreadable or not the released content.
    """
    check_replaceable(destination)
    splits = read_release(source)
    verify(splits, release)
    pages = _pages(source, splits)
    with staged(destination) as folder:
        images = _render(pages, folder)
        for split, rows in splits.items():
            (folder / f"{split}.jsonl").write_bytes(jsonl(rows))
        manifest = Manifest(
            repository=REPOSITORY,
            commit=release.commit,
            licence=LICENCE,
            counts={split: len(rows) for split, rows in splits.items()},
            dialogues=len({row["dialogue"] for row in splits["conversation"]}),
            content_hash=content_hash(splits),
            images=images,
            renderer=_renderer(),
        )
        write_manifest(manifest, folder)
    return manifest


def fetch_release(destination: Path, *, url: str = ARCHIVE, release: Release = RELEASE) -> Manifest:
    """Download the pinned commit and import it.

    Raises:
        DataError: there is no network, or what came is not the release.
    """
    check_replaceable(destination)
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch) / "release.tar.gz"
        _download(url, archive)
        checkout = Path(scratch) / "checkout"
        _unpack(archive, checkout)
        archive.unlink()
        return import_release(checkout, destination, release=release)


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Write ``manifest.json`` into a data folder."""
    text = json.dumps({"benchmark": "mfe", **asdict(manifest)}, ensure_ascii=False, indent=1)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


# -- pages ----------------------------------------------------------------------------------------


def _pages(source: Path, splits: Mapping[str, Sequence[Row]]) -> dict[str, Path]:
    """Image name (without folder and ending) -> PDF, in the order of the rows."""
    pages: dict[str, Path] = {}
    for split, rows in splits.items():
        folder = PARTS[split].pages
        if folder is None:
            continue
        for row in rows:
            pdf = source / "raw_documents" / folder / row["element_file"]
            if pages.setdefault(Path(row["image"]).stem, pdf) != pdf:
                raise DataError(
                    f"{PARTS[split].file}, id {row['id']}: element {row['element']} has two pages"
                )
    missing = [pdf for pdf in pages.values() if not pdf.is_file()]
    if missing:
        raise DataError(
            f"{missing[0]}: the page is missing (one of {len(missing)}): the checkout is not complete"
        )
    return pages


def _render(pages: Mapping[str, Path], folder: Path) -> dict[str, dict[str, Any]]:
    """Draw page 1 of every PDF at both resolutions; what the manifest says about the images."""
    import pypdfium2

    digests = {"72dpi": hashlib.sha256(), "144dpi": hashlib.sha256()}
    for name in digests:
        (folder / "images" / name).mkdir(parents=True)
    for name, pdf in tqdm(pages.items(), desc="drawing pages", unit="page", disable=None):
        try:
            with contextlib.closing(pypdfium2.PdfDocument(pdf)) as document:
                page = document[0]
                small, large = (page.render(scale=scale).to_pil().convert("RGB") for scale in (1, 2))
        except (pypdfium2.PdfiumError, IndexError, OSError) as error:
            raise DataError(f"{pdf}: not readable as PDF ({error})") from error
        files = {
            "72dpi": folder / "images" / "72dpi" / f"{name}.jpg",
            "144dpi": folder / "images" / "144dpi" / f"{name}.png",
        }
        small.save(files["72dpi"], quality=JPEG_QUALITY)
        large.save(files["144dpi"])
        for resolution, file in files.items():
            digests[resolution].update(name.encode() + file.read_bytes())
    formats: dict[str, dict[str, Any]] = {
        "72dpi": {"format": "JPEG", "quality": JPEG_QUALITY},
        "144dpi": {"format": "PNG"},
    }
    return {
        name: {**formats[name], "count": len(pages), "hash": digest.hexdigest()}
        for name, digest in digests.items()
    }


def _renderer() -> str:
    from importlib.metadata import version

    return f"pypdfium2 {version('pypdfium2')}, Pillow {version('pillow')}"


# -- downloads -------------------------------------------------------------------------------------


def _download(url: str, archive: Path) -> None:
    timeout = httpx.Timeout(30, connect=10)
    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=timeout) as response:
            response.raise_for_status()
            size = int(response.headers.get("content-length") or 0)
            with (
                archive.open("wb") as file,
                tqdm(total=size or None, desc="downloading", unit="B", unit_scale=True, disable=None) as bar,
            ):
                for chunk in response.iter_bytes():
                    file.write(chunk)
                    bar.update(len(chunk))
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise DataError(
            f"{url} cannot be downloaded ({error or type(error).__name__}): is there a network connection? Without "
            f"one, get {REPOSITORY} at commit {RELEASE.commit} elsewhere, copy it here and run "
            "`lmms-eval-finance data import mfe FOLDER`"
        ) from error


def _unpack(archive: Path, checkout: Path) -> None:
    """Take the JSON files and the pages out of the archive, nothing else and to nowhere else."""
    wanted = {part.pages for part in PARTS.values() if part.pages}
    try:
        with tarfile.open(archive) as members:
            for member in members:
                path = PurePosixPath(member.name)
                inside = path.parts[1:]
                rows = len(inside) == 2 and inside[0] == "dataset_json" and path.suffix == ".json"
                page = len(inside) == 3 and inside[0] == "raw_documents" and inside[1] in wanted
                if not member.isfile() or ".." in inside or not (rows or page):
                    continue
                content = members.extractfile(member)
                assert content is not None  # a regular file
                target = checkout.joinpath(*inside)
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as file:
                    shutil.copyfileobj(content, file)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"the download is not a readable archive ({error})") from error
