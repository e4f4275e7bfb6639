"""Rows of FAMMA become docs: one per context with its sub-questions, or one per question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lmms_eval_finance.data import selection
from lmms_eval_finance.data.importers.famma_options import read_options
from lmms_eval_finance.data.schemas.famma import IMAGES, question_type

if TYPE_CHECKING:
    import datasets

_TEXTS = (
    "question_id",
    "question",
    "answers",
    "explanation",
    "topic_difficulty",
    "subfield",
    "language",
    "image_type",
    "release",
)


def contexts(rows: datasets.Dataset) -> datasets.Dataset:
    """One doc per (language, main question): its sub-questions in order, asked together.

    Columns: `id`, `context`, `questions` (JSON list, see `questions_of`) and `images`, the
    different images of all sub-questions in order of first use, undecoded.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(zip(rows["language"], map(str, rows["main_question_id"]), strict=True)):
        groups.setdefault(key, []).append(place)
    order = list(map(int, rows["sub_question_id"]))
    return _docs(rows, [sorted(group, key=lambda place: order[place]) for group in groups.values()])


def singles(rows: datasets.Dataset) -> datasets.Dataset:
    """One doc per question, in the same form."""
    return _docs(rows, [[place] for place in range(len(rows))])


def questions_of(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """The doc's questions: the release's texts, `options` as a list, `images` as {number: index into the doc's}."""
    found: list[dict[str, Any]] = json.loads(doc["questions"])
    return found


def _docs(rows: datasets.Dataset, groups: list[list[int]]) -> datasets.Dataset:
    import datasets as hub

    image_columns = [name for name in IMAGES if name in rows.column_names]
    for name in image_columns:  # bytes and paths as stored: nothing is decoded, nothing encoded again
        rows = rows.cast_column(name, hub.Image(decode=False))
    ids = [rows["question_id"][group[0]] for group in groups]
    wanted = selection.wanted_groups(
        ids, [[rows["question_id"][place] for place in group] for group in groups], "FAMMA"
    )
    docs = list(_grouped(rows, [groups[number] for number in wanted], image_columns))
    features = hub.Features(
        {
            "id": hub.Value("string"),
            "context": hub.Value("string"),
            "questions": hub.Value("string"),
            **({"images": hub.Sequence(hub.Image())} if image_columns else {}),
        }
    )
    return hub.Dataset.from_list(docs, features=features)


def _grouped(
    rows: datasets.Dataset, groups: list[list[int]], image_columns: list[str]
) -> Iterator[dict[str, Any]]:
    for group in groups:
        images: dict[str, Any] = {}
        questions = []
        members = [rows[place] for place in group]
        for row in members:
            numbered = {}
            for number, name in enumerate(IMAGES, start=1):
                stored = row.get(name) if name in image_columns else None
                if stored is not None:
                    numbered[str(number)] = list(images).index(_remembered(images, stored))
            question = {name: row.get(name) for name in _TEXTS}
            question |= {
                "sub": int(row["sub_question_id"]),
                "type": question_type(row["question_type"]),
                "options": read_options(row["options"]),
                "arithmetic": str(row.get("is_arithmetic") or 0) == "1",
                "images": numbered,
            }
            questions.append(question)
        doc = {
            "id": members[0]["question_id"],
            "context": members[0]["context"] or "",
            "questions": json.dumps(questions, ensure_ascii=False),
        }
        if image_columns:
            doc["images"] = list(images.values())
        yield doc


def _remembered(images: dict[str, Any], stored: dict[str, Any]) -> str:
    """The key of a stored image, kept on first sight: the same picture is sent once."""
    content = stored.get("bytes")
    key = hashlib.sha256(content).hexdigest() if content else str(stored.get("path"))
    images.setdefault(key, stored)
    return key
