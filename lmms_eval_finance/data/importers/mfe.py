"""Turns a checkout of the Multimodal Finance Eval release into the local data folder.

The release (https://github.com/dseddah/Scribe_finance, CC BY-SA 4.0) holds
``dataset_json/Q&A_finance.dataset_*.json`` and one PDF for each page asked about under
``raw_documents/dataset_*/``. The data folder holds one JSONL file for each split in the columns
of `data.schemas.mfe`, the pages as images at 72 dpi (the released pipeline's resolution; JPEG as
there, whose quality it does not state: Pillow's default) and at 144 dpi (PNG), and
``manifest.json`` with counts, versions and hashes.

Element ids that a spreadsheet damaged (4.09999999999999 for 4.1) are joined again, so that the
7 dialogues are whole; the released id is kept beside the repaired one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tarfile
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, cast

import httpx
from tqdm import tqdm

from lmms_eval_finance.data.importers.folders import MANIFEST, check_replaceable, staged
from lmms_eval_finance.data.sources import DataError

REPOSITORY = "https://github.com/dseddah/Scribe_finance"
ARCHIVE = f"{REPOSITORY}/archive/72717f4.tar.gz"
LICENCE = "CC BY-SA 4.0, Virginie Mouilleron, Théo Lasnier, Anna Mosolova and Djamé Seddah (Inria)"
JPEG_QUALITY = 75


@dataclass(frozen=True)
class Part:
    """Where one split stands in the release: its JSON file and the folder of its pages."""

    dataset: str
    pages: str | None

    @property
    def file(self) -> str:
        """The JSON file, relative to the checkout."""
        return f"dataset_json/Q&A_finance.dataset_{self.dataset}.json"


PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "text": Part("NER", None),
        "table": Part("tables", "dataset_tables"),
        "table_yn_tf": Part("tables_yn_tf_paraphrase", "dataset_tables"),
        "chart": Part("charts", "dataset_charts"),
        "special_case": Part("special_cases", "dataset_special_cases"),
        "conversation": Part("calculs_conversation", "dataset_calculs_conversation"),
    }
)


@dataclass(frozen=True)
class Release:
    """What a checkout is verified against: rows of each split, and the hash over all rows."""

    commit: str
    counts: Mapping[str, int]
    content_hash: str


RELEASE = Release(
    commit="72717f4",
    counts=MappingProxyType(
        {
            "text": 501,
            "table": 368,
            "table_yn_tf": 120,
            "chart": 128,
            "special_case": 22,
            "conversation": 65,
        }
    ),
    content_hash="9ddb15c3aa128491276f04b4c3f2bf7eaee76f98ab4e5711e05ed20ed37a5b84",
)


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
    _verify(splits, release)
    pages = _pages(source, splits)
    with staged(destination) as folder:
        images = _render(pages, folder)
        for split, rows in splits.items():
            (folder / f"{split}.jsonl").write_bytes(_jsonl(rows))
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


# -- rows -----------------------------------------------------------------------------------------

Row = dict[str, Any]

_QUESTION_TYPES = {"open": "open", "oui / non": "yes_no", "vrai / faux": "true_false", "qcm": "choice"}
_CONTEXT_SIZES = {
    "small (1-2 sentences)": "small_text",
    "medium (1 paragraph)": "medium_text",
    "large (more than 1 paragraph)": "large_text",
    "very large (prospectus size part)": "very_large_text",
    "document": "document",
    "table (one)": "table",
    "table + small txt": "table_and_small_text",
    "table + medium txt": "table_and_medium_text",
    "chart (one)": "chart",
    "chart + small txt": "chart_and_small_text",
}
_SHARED_COLUMNS = ("id", "Document_id", "Type", "Question", "Answer", "Validated by a human")
_TEXT_COLUMNS = ("Document", "Named Entities", "Context (LLM input)", "Context size")
_PAGE_COLUMNS = (
    "Filename",
    "Element_id",
    "Page_origin",
    "Element_filename(input)",
    "Question_type",
    "Domain",
    "Justification",
    "Input_Context_Size",
    "Multiple_answers_possible",
    "Answer to be deduced and not a part of text",
    "Element_form",
    "Difficulty_level",
    "LLM Answer",
    "Original Question",
)


def read_release(source: Path) -> dict[str, list[Row]]:
    """The rows of all splits of a checkout, without looking at its pages.

    Raises:
        DataError: a file is missing or not what the release has; the message names file and row.
    """
    if not (source / "dataset_json").is_dir():
        raise DataError(
            f"{source}: not a checkout of {REPOSITORY}: it has no folder dataset_json "
            "(`lmms-eval-finance data fetch mfe` downloads one)"
        )
    splits = {split: _read_part(source / part.file, split) for split, part in PARTS.items()}
    _number_turns(splits["conversation"], source / PARTS["conversation"].file)
    return splits


def _read_part(path: Path, split: str) -> list[Row]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise DataError(f"{path}: this file of the release is missing") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{path}: not a list of JSON objects")
    columns = _SHARED_COLUMNS + (_TEXT_COLUMNS if PARTS[split].pages is None else _PAGE_COLUMNS)
    seen: set[str] = set()
    rows = []
    for number, entry in enumerate(entries, start=1):
        missing = [column for column in columns if column not in entry]
        if missing:
            raise DataError(f"{path}, row {number}: the column {missing[0]!r} is missing")
        try:
            row = _row(entry, split)
        except ValueError as error:
            raise DataError(f"{path}, row {number}: {error}") from error
        if row["id"] in seen:
            raise DataError(f"{path}, row {number}: the id {row['id']} is there twice")
        seen.add(row["id"])
        rows.append(row)
    return rows


def _row(entry: Mapping[str, Any], split: str) -> Row:
    """One flat row; raises ValueError for a value that the release does not have."""
    on_page = PARTS[split].pages is not None
    answer, answer_type = _answer(entry["Answer"])
    element = repaired_id(entry["Element_id"]) if on_page else None
    image = f"{'table' if split == 'table_yn_tf' else split}_{element}" if element else None
    if (identity := _text(entry["id"])) is None:
        raise ValueError("the id is empty")
    return {
        "id": identity,
        "task": split,
        "document_id": _text(entry["Document_id"]),
        "document": _text(entry["Filename" if on_page else "Document"]),
        "element": element,
        "element_as_released": _text(entry["Element_id"]) if on_page else None,
        "element_file": _file_name(entry["Element_filename(input)"]) if on_page else None,
        "page": _whole(entry["Page_origin"]) if on_page else None,
        "type": _text(entry["Type"]),
        "entity": _text(entry.get("Named Entities")),
        "question_type": _named(entry.get("Question_type", "open"), _QUESTION_TYPES, "question type"),
        "domain": _text(entry.get("Domain")),
        "question": _text(entry["Question"]) or "",
        "answer": answer,
        "answer_type": answer_type,
        "justification": _text(entry.get("Justification")),
        "context": _text(entry.get("Context (LLM input)")),
        "context_size": _named(
            entry["Input_Context_Size" if on_page else "Context size"], _CONTEXT_SIZES, "context size"
        ),
        "difficulty": _text(entry.get("Difficulty_level")),
        "form": _text(entry.get("Element_form")),
        "multiple_answers": _text(entry.get("Multiple_answers_possible")),
        "deduced": _text(entry.get("Answer to be deduced and not a part of text")),
        "validated": "yes" if entry["Validated by a human"] in (True, 1) else "no",
        "llm_answer": _text(entry.get("LLM Answer")),
        "original_question": _text(entry.get("Original Question")),
        "dialogue": element if split == "conversation" else None,
        "turn": None,
        "image": f"images/72dpi/{image}.jpg" if image else None,
        "image_144": f"images/144dpi/{image}.png" if image else None,
    }


def repaired_id(value: object) -> str:
    """An element id as it was before a spreadsheet calculated with it.

    >>> repaired_id(4.09999999999999), repaired_id(6.1), repaired_id("12.10"), repaired_id(3)
    ('4.1', '6.1', '12.1', '3')

    Raises:
        ValueError: it is no number.
    """
    try:
        number = float(cast(Any, value))
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(value, bool) or not 0 <= number < 1e6:
        raise ValueError(f"the element id is {value!r}, not a number")
    return f"{round(number, 6):.12g}"


def _answer(value: object) -> tuple[str, str]:
    """Gold as text, and what it was released as."""
    if isinstance(value, str):
        date = value[4:5] == value[7:8] == "-" and value.endswith("T00:00:00")
        return value, "date" if date else "text"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"the answer is {value!r}, neither text nor a number")
    return str(value), "integer" if isinstance(value, int) else "number"


def _text(value: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, (dict, list)):
        raise ValueError(f"{value!r} is not text")
    return str(value)


def _whole(value: object) -> int | None:
    if value in (None, ""):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        raise ValueError(f"the page is {value!r}, not a whole number")
    return int(value)


def _named(value: object, names: Mapping[str, str], what: str) -> str:
    name = names.get(" ".join(str(value).split()).casefold())
    if name is None:
        raise ValueError(f"the {what} is {value!r}, none of {', '.join(map(repr, names))}")
    return name


def _file_name(value: object) -> str:
    """A plain file name: anything with folders in it could lead out of the checkout."""
    name = str(value)
    if not name.endswith(".pdf") or name != Path(name).name or "\\" in name:
        raise ValueError(f"the element file is {value!r}, not the name of a PDF")
    return name


def _number_turns(rows: Sequence[Row], path: Path) -> None:
    """Number the turns of each dialogue in file order."""
    turns: Counter[str] = Counter()
    last = None
    for number, row in enumerate(rows, start=1):
        dialogue = row["dialogue"]
        if dialogue != last and turns[dialogue]:
            raise DataError(f"{path}, row {number}: the turns of dialogue {dialogue} do not stand together")
        turns[dialogue] += 1
        row["turn"], last = turns[dialogue], dialogue


def content_hash(splits: Mapping[str, Sequence[Row]]) -> str:
    """SHA-256 over the rows of all splits as they are written; images do not count."""
    digest = hashlib.sha256()
    for split in PARTS:
        digest.update(split.encode() + b"\n" + _jsonl(splits.get(split, ())))
    return digest.hexdigest()


def _jsonl(rows: Sequence[Row]) -> bytes:
    # What UTF-8 cannot hold (lone surrogates) becomes the escape that JSON has for it.
    return b"".join(
        json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n" for row in rows
    )


def _verify(splits: Mapping[str, Sequence[Row]], release: Release) -> None:
    advice = f"check out commit {release.commit} of {REPOSITORY}, unchanged"
    for split, rows in splits.items():
        if len(rows) != release.counts[split]:
            raise DataError(
                f"{PARTS[split].file} has {len(rows)} rows, the release {release.counts[split]}: {advice}"
            )
    found = content_hash(splits)
    if found != release.content_hash:
        raise DataError(
            f"the rows differ from the release (content hash {found[:12]}, not {release.content_hash[:12]}): "
            f"{advice}"
        )


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
