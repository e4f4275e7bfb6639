"""Turns a folder of JSONL files and images into the local data folder of CFMME.

No public copy of CFMME exists, so there is no release layout to follow: the folder may hold any
number of ``*.jsonl`` files, whose rows have the columns of `data.schemas.cfmme` and say in `task`
which split they belong to. Image paths are relative to the folder. The import validates every
row and opens every image, so that what it wrote can be run.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from tqdm import tqdm

from lmms_eval_finance.data.importers.folders import MANIFEST, check_replaceable, staged
from lmms_eval_finance.data.schemas import MAX_FAULTS, Fault
from lmms_eval_finance.data.schemas.cfmme import BENCHMARK, COUNTS
from lmms_eval_finance.data.sources import DataError, read_jsonl

Row = dict[str, Any]


@dataclass(frozen=True)
class Manifest:
    """What an import wrote.

    Attributes:
        counts: rows of each split that the folder has.
        images: number of image files.
        content_hash: SHA-256 over rows and images, the same on every machine.
    """

    counts: Mapping[str, int]
    images: int
    content_hash: str

    def __str__(self) -> str:
        rows = ", ".join(f"{count} {split}" for split, count in self.counts.items())
        lines = [f"CFMME: {rows}; {self.images} images; content hash {self.content_hash[:12]}"]
        differing = [
            f"{split} {self.counts.get(split, 0)} instead of {count}"
            for split, count in COUNTS.items()
            if self.counts.get(split, 0) != count
        ]
        if differing:
            lines.append(f"  not the counts of the paper: {', '.join(differing)}")
        return "\n".join(lines)


def import_release(source: Path, destination: Path) -> Manifest:
    """Import a folder of JSONL files and images; an interrupted import leaves nothing behind.

    Args:
        source: the folder.
        destination: the folder to write, ``DATA/cfmme``; an earlier import there is replaced.

    Raises:
        DataError: something is missing or unreadable, or rows do not fit the schema.
    """
    check_replaceable(destination)
    if not source.is_dir():
        raise DataError(f"{source}: no such folder (a folder with *.jsonl files and images is wanted)")
    if source.resolve().is_relative_to(destination.resolve()):
        raise DataError(
            f"{source}: lies in {destination}, which the import replaces; choose another --output"
        )
    splits, faults = _read(source)
    images = _images(source, splits, faults)
    if faults:
        listed = "\n  ".join(map(str, faults[:MAX_FAULTS]))
        raise DataError(f"{source}: does not fit the schema of docs/cfmme.md:\n  {listed}")
    digest = hashlib.sha256()
    with staged(destination) as folder:
        for split, rows in splits.items():
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
            digest.update(text.encode())
        for name in tqdm(images, desc="copying images", unit="image", disable=None):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target)
            digest.update(name.encode() + target.read_bytes())
        manifest = Manifest(
            {split: len(rows) for split, rows in splits.items()}, len(images), digest.hexdigest()
        )
        text = json.dumps({"benchmark": "cfmme", **asdict(manifest)}, ensure_ascii=False, indent=1)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return manifest


def _read(source: Path) -> tuple[dict[str, list[Row]], list[Fault]]:
    """Rows by split in the order of the schema, and their faults."""
    files = sorted(source.glob("*.jsonl"))
    if not files:
        raise DataError(f"{source}: holds no *.jsonl file")
    found: dict[str, list[tuple[str, int, Row]]] = {split: [] for split in BENCHMARK.splits}
    faults: list[Fault] = []
    for file in files:
        for number, row in enumerate(read_jsonl(file), start=1):
            split = str(row.get("task")).removeprefix("cfmme_")
            if split not in found:
                faults.append(
                    Fault(file.name, number, "task", f"is {row.get('task')!r}, none of {', '.join(found)}")
                )
                continue
            if type(row.get("id")) is int:
                row["id"] = str(row["id"])
            found[split].append((file.name, number, {**row, "task": split}))
    for split, placed in found.items():
        faults += _placed_faults(split, placed)
    return {split: [row for *_, row in placed] for split, placed in found.items() if placed}, faults


def _placed_faults(split: str, placed: list[tuple[str, int, Row]]) -> Iterator[Fault]:
    """Faults of schema, each under the file and row that it came from."""
    for fault in BENCHMARK.splits[split].faults((row for *_, row in placed), split):
        file, number, _ = placed[(fault.row or 1) - 1]
        yield Fault(file, number, fault.column, fault.problem)
    for file, number, row in placed:
        images, options = row.get("images"), row.get("options")
        if not isinstance(images, list):
            continue  # a fault of schema
        if not images:
            yield Fault(file, number, "images", "is empty")
        for option in options if isinstance(options, list) else []:
            if type(option) is int and option >= len(images):
                yield Fault(
                    file, number, "options", f"names image {option} of {len(images)} (counted from 0)"
                )


def _images(source: Path, splits: Mapping[str, list[Row]], faults: list[Fault]) -> list[str]:
    """The images that rows name, each once; what is wrong with them is added to the faults."""
    names: dict[str, str] = {}
    for split, rows in splits.items():
        for row in rows:
            for name in row.get("images") or []:
                if isinstance(name, str):
                    names.setdefault(name, f"{split}, id {row.get('id')}")
    root = source.resolve()
    for name, place in names.items():
        file = source / name
        problem = ""
        if Path(name).suffix.lower() in (".jsonl", ".json") or not file.is_file():
            problem = f"there is no image file {name}"
        elif not file.resolve().is_relative_to(root) or ".." in Path(name).parts:
            problem = f"{name} lies outside the folder"
        else:
            try:
                with Image.open(file) as image:
                    image.verify()
            except Exception as error:  # Pillow raises whatever its decoders do
                problem = f"{name} cannot be read as an image ({type(error).__name__})"
        if problem:
            faults.append(Fault(place, None, "images", problem))
    return list(names)
