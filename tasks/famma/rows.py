"""Rows of FAMMA become docs: one per context with its sub-questions, or one per question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_eval_finance.data import selection
from lmms_eval_finance.data.importers.famma_options import read_options
from lmms_eval_finance.data.schemas.famma import IMAGES, question_type

if TYPE_CHECKING:
    import datasets

_TEXTS = ("question_id", "question", "answers", "topic_difficulty", "subfield", "language", "image_type")


def contexts(rows: datasets.Dataset) -> datasets.Dataset:
    """One doc per (language, main question): its sub-questions in order, asked together.

    Columns: `id`, `context`, `questions` (JSON, see `questions_of`) and `images`, the
    different images of all sub-questions in order of first use, as stored.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(zip(rows["language"], map(str, rows["main_question_id"]), strict=True)):
        groups.setdefault(key, []).append(place)
    order = list(map(int, rows["sub_question_id"]))
    return _docs(rows, [sorted(group, key=order.__getitem__) for group in groups.values()])


def singles(rows: datasets.Dataset) -> datasets.Dataset:
    """One doc per question, in the same form."""
    return _docs(rows, [[place] for place in range(len(rows))])


def questions_of(doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The doc's questions in the order asked.

    Each holds the release's texts and `key` (under which its answer is asked for), `type`,
    `options` (a list), `arithmetic`, `cluster` (its context), `images` ({number in the
    release: index into the doc's images}) and `image_rows` (ids of the rows that hold them).
    """
    found: list[dict[str, Any]] = json.loads(doc["questions"])
    return found


def _docs(rows: datasets.Dataset, groups: Sequence[Sequence[int]]) -> datasets.Dataset:
    import datasets as hub

    image_columns = [name for name in IMAGES if name in rows.column_names]
    for name in image_columns:  # bytes and paths as stored: nothing is decoded, nothing encoded again
        rows = rows.cast_column(name, hub.Image(decode=False))
    ids = list(rows["question_id"])
    members = [[ids[place] for place in group] for group in groups]
    wanted = selection.wanted_groups([group[0] for group in members], members, "FAMMA")
    features = hub.Features(
        {
            "id": hub.Value("string"),
            "context": hub.Value("string"),
            "questions": hub.Value("string"),
            **({"images": hub.Sequence(hub.Image())} if image_columns else {}),
        }
    )
    docs = [_doc([rows[place] for place in groups[number]], image_columns) for number in wanted]
    return hub.Dataset.from_list(docs, features=features)


def _doc(members: Sequence[dict[str, Any]], image_columns: Sequence[str]) -> dict[str, Any]:
    images: dict[str, Any] = {}
    image_rows: list[str] = []
    questions = []
    numbers = [int(row["sub_question_id"]) for row in members]
    if len(set(numbers)) < len(numbers):
        numbers = list(range(1, len(members) + 1))
    for number, row in zip(numbers, members, strict=True):
        numbered = {}
        for column in image_columns:
            if row[column] is None:
                continue
            key = _content_key(row[column])
            if key not in images:
                images[key] = row[column]
                image_rows.append(row["question_id"])
            numbered[column.removeprefix("image_")] = list(images).index(key)
        question = {name: row.get(name) or "" for name in _TEXTS}
        question |= {
            "key": f"q{number}",
            "type": question_type(row["question_type"]),
            "options": read_options(row["options"]),
            "arithmetic": str(row.get("is_arithmetic") or 0) == "1",
            "cluster": f"{row['language']}_{row['main_question_id']}",
            "images": numbered,
        }
        questions.append(question)
    for question in questions:
        question["image_rows"] = list(dict.fromkeys(image_rows))
    doc = {
        "id": members[0]["question_id"],
        "context": members[0]["context"] or "",
        "questions": json.dumps(questions, ensure_ascii=False),
    }
    return {**doc, "images": list(images.values())} if image_columns else doc


def _content_key(stored: Mapping[str, Any]) -> str:
    """The same picture is sent once, whether rows share its file or carry copies of it."""
    content = stored.get("bytes")
    return hashlib.sha256(content or Path(stored["path"]).read_bytes()).hexdigest()
