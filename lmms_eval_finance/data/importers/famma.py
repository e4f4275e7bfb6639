"""FAMMA from csv copies of the release: one file or a folder of them to the local data folder.

A csv holds lists as the text of a list and empty cells as nothing; images are not in it, so
only the text splits come this way. Everything else is read from the hub or from parquet files.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from lmms_eval_finance.data.importers.famma_options import read_options
from lmms_eval_finance.data.importers.folders import MANIFEST, check_replaceable, staged
from lmms_eval_finance.data.schemas.famma import BENCHMARK, IMAGES
from lmms_eval_finance.data.sources import DataError

_NEEDED = (
    "question_id",
    "question",
    "question_type",
    "language",
    "main_question_id",
    "sub_question_id",
    "release",
)


def import_release(source: Path, destination: Path) -> str:
    """Turn csv files into ``DESTINATION/SPLIT.jsonl``; the column `release` names each row's split.

    Args:
        source: a csv file, or a folder with csv files.
        destination: the folder of the benchmark; an earlier import is replaced whole.

    Returns:
        What was imported, in one line.

    Raises:
        DataError: no csv is there, a column or a known release is missing, or an id stands twice.
    """
    files = [source] if source.is_file() else sorted(source.glob("*.csv")) if source.is_dir() else []
    if not files:
        raise DataError(f"{source}: neither a csv file nor a folder that holds some")
    check_replaceable(destination)
    splits: dict[str, dict[str, dict[str, object]]] = {}
    for file in files:
        for number, row in enumerate(_read(file), start=1):
            split = row["release"]
            if split not in BENCHMARK.splits:
                known = ", ".join(BENCHMARK.splits)
                raise DataError(f"{file}, row {number}: release {split!r} is none of {known}")
            if "image_1" in BENCHMARK.splits[split].missing(row.keys() - set(IMAGES)):
                raise DataError(
                    f"{file}, row {number}: {split} has images, which a csv does not hold; {BENCHMARK.how_to_get}"
                )
            rows = splits.setdefault(split, {})
            if row["question_id"] in rows:
                raise DataError(f"{file}, row {number}: question_id {row['question_id']} stands twice")
            rows[row["question_id"]] = _typed(row)
    with staged(destination) as folder:
        for split, rows in splits.items():
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values())
            (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
        counts = {split: len(rows) for split, rows in splits.items()}
        (folder / MANIFEST).write_text(
            json.dumps({"benchmark": "famma", "rows": counts}, indent=1), encoding="utf-8"
        )
    listed = ", ".join(f"{count} in {split}" for split, count in counts.items())
    return f"{BENCHMARK.title}: {sum(counts.values())} questions ({listed})"


def _read(file: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            missing = [name for name in _NEEDED if name not in (reader.fieldnames or [])]
            if missing:
                raise DataError(f"{file}: no column {', '.join(missing)}")
            for row in reader:
                yield {name: value or "" for name, value in row.items() if isinstance(name, str)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{file}: cannot be read as csv ({error})") from error


def _typed(row: dict[str, str]) -> dict[str, object]:
    """Empty cells become null, options a list; image columns of a csv hold nothing of use."""
    kept: dict[str, object] = {
        name: value or None for name, value in row.items() if "image_" not in name or name == "image_type"
    }
    return kept | {"options": read_options(row.get("options", ""))}
