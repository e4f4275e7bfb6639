"""Rows of CFMME (arXiv 2605.29462), of which no public copy exists: the columns are this project's own.

Every row has `id`, `task` (the name of its split), `subset` (subject, exam type or source),
`images` (paths beside the JSONL file) and `image_type`; the rest depends on the split.

======================  ========================================================================
subject, certification  question; options: texts, or numbers of images counted from 0 (null for
                        true/false); answer: letters, or 对 错 正确 错误 √ ×; question_type?
qa                      question; options (null for short open answers); answer; image_type:
                        table | candlestick | shareholding | statistical; html? of a table
seal_detection          boxes: [{"bbox": [x1, y1, x2, y2], "label": "company" | "personal"}], in
                        pixels of the page as it is shown (after EXIF rotation)
seal_recognition        answer: the text of the seal
table_recognition       html: the gold table, of one page or two (as many images)
formula_recognition     latex
information_extraction  fields: a JSON object; keys: those asked for, null for open extraction
======================  ========================================================================

`question_type` is optional: single_choice | multiple_choice | true_false | open. Without it a
choice may have several answers as far as the model is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from lmms_eval_finance.data.schemas import Benchmark, Column, Row, Schema

LETTERS = "ABCDEFGHIJ"
QUESTION_TYPES = ("single_choice", "multiple_choice", "true_false", "open")
IMAGE_TYPES = ("table", "candlestick", "shareholding", "statistical")
SEAL_CLASSES = ("company", "personal")
MOST_OPTIONS = 5

TRUE_FALSE = MappingProxyType({"A": "正确", "B": "错误"})
"""The options of a true/false question that brings none of its own."""
TRUE_WORDS = frozenset({"对", "正确", "√", "✓", "✔", "是", "真", "t", "true"})
FALSE_WORDS = frozenset({"错", "错误", "×", "✗", "✘", "否", "假", "f", "false", "不正确", "不对"})

COUNTS = MappingProxyType(
    {
        "subject": 562,
        "certification": 2256,
        "qa": 790,
        "seal_detection": 756,
        "seal_recognition": 213,
        "table_recognition": 400,
        "formula_recognition": 200,
        "information_extraction": 875,
    }
)
"""Rows of each split as the paper counts them (table 2)."""


def nested(value: Any) -> Any:
    """A nested value whether it comes as such or, from parquet, as JSON text."""
    return json.loads(value) if isinstance(value, str) else value


def truth(answer: str) -> bool | None:
    """What an answer to a true/false question says; None if it says neither.

    >>> truth("√"), truth("错误"), truth("A")
    (True, False, None)
    """
    word = answer.strip(" .。").lower()
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None


def choices(row: Row) -> list[str | int]:
    """The options of a row in order, texts or numbers of images; those of `TRUE_FALSE` where it needs them.

    >>> choices({"options": '["5%", "6%"]', "answer": "A"}), choices({"options": None, "answer": "√"})
    (['5%', '6%'], ['正确', '错误'])
    """
    options = nested(row.get("options")) or []
    if not options and (
        row.get("question_type") == "true_false"
        or (row.get("task") != "qa" and truth(row.get("answer") or "") is not None)
    ):
        return list(TRUE_FALSE.values())
    return list(options)


def question_type(row: Row) -> str:
    """One of `QUESTION_TYPES`, or `choice` where the row has options and does not say more.

    >>> question_type({"options": ["对", "错"]}), question_type({"options": [1, 2]}), question_type({})
    ('true_false', 'choice', 'open')
    """
    stated = row.get("question_type")
    if stated in QUESTION_TYPES:
        return str(stated)
    options = choices(row)
    if len(options) == 2 and {truth(str(option)) for option in options} == {True, False}:
        return "true_false"
    return "choice" if options else "open"


def _choice_faults(row: Row) -> Iterator[tuple[str, str]]:
    options, answer = choices(row), (row.get("answer") or "").strip()
    if not (row["question"] or "").strip():
        yield "question", "is empty"
    if not answer:
        yield "answer", "is empty (not scored)"
    stated = row.get("question_type")
    if stated is not None and stated not in QUESTION_TYPES:
        yield "question_type", f"is {stated!r}, none of {', '.join(QUESTION_TYPES)}"
    if not options:
        if row["task"] != "qa":
            yield "options", "is empty and the answer is neither true nor false"
        return
    if not 2 <= len(options) <= MOST_OPTIONS:
        yield "options", f"holds {len(options)}, not 2 to {MOST_OPTIONS}"
    if len(set(map(str, options))) < len(options):
        yield "options", "holds the same option twice"
    letters = answer.upper().replace(",", "").replace("，", "").replace("、", "").replace(" ", "")
    if letters.isascii() and letters.isalpha() and not set(letters) <= set(LETTERS[: len(options)]):
        yield "answer", f"is {answer!r} for {len(options)} options"


def _qa_faults(row: Row) -> Iterator[tuple[str, str]]:
    yield from _choice_faults(row)
    if row.get("image_type") not in IMAGE_TYPES:
        yield "image_type", f"is {row.get('image_type')!r}, none of {', '.join(IMAGE_TYPES)}"
    if row.get("image_type") == "table" and not row.get("html"):
        yield "html", "is empty for a table (left out of cfmme_qa_table_html)"


def _box_faults(row: Row) -> Iterator[tuple[str, str]]:
    if row.get("boxes") is None:
        yield "boxes", "is empty (not scored)"
        return
    for box in nested(row["boxes"]):
        left, top, right, bottom = box["bbox"]
        if not (right > left and bottom > top):
            yield "boxes", f"holds {box['bbox']}, which encloses nothing"
        if box["label"] not in SEAL_CLASSES:
            yield "boxes", f"holds the label {box['label']!r}, none of {', '.join(SEAL_CLASSES)}"


def _text_faults(column: str) -> Any:
    def faults(row: Row) -> Iterator[tuple[str, str]]:
        if not (row.get(column) or "").strip():
            yield column, "is empty (not scored)"
        elif column == "html" and "<table" not in row[column].lower():
            yield column, "holds no <table>"

    return faults


def _field_faults(row: Row) -> Iterator[tuple[str, str]]:
    fields, keys = nested(row.get("fields")), nested(row.get("keys"))
    if not fields:
        yield "fields", "is empty (not scored)"
    elif keys is not None:
        extra = sorted(set(fields) - set(keys))
        if extra:
            yield "keys", f"lacks {', '.join(extra)}, which the fields hold (not scored)"


def _schema(content_faults: Any, *columns: Column) -> Schema:
    return Schema(
        columns=[
            Column("id", "text", nullable=False),
            Column("task", "text", nullable=False),
            Column("subset", "text"),
            Column("images", "images", nullable=False),
            Column("image_type", "text", required=False),
            *columns,
        ],
        content_faults=content_faults,
    )


_QUESTION = (
    Column("question", "text", nullable=False),
    Column("options", "choices"),
    Column("answer", "text"),
    Column("question_type", "text", required=False),
)
_KNOWLEDGE = _schema(_choice_faults, *_QUESTION)

BENCHMARK = Benchmark(
    name="cfmme",
    title="CFMME",
    hub=None,
    splits={
        "subject": _KNOWLEDGE,
        "certification": _KNOWLEDGE,
        "qa": _schema(_qa_faults, *_QUESTION, Column("html", "text", required=False)),
        "seal_detection": _schema(_box_faults, Column("boxes", "boxes")),
        "seal_recognition": _schema(_text_faults("answer"), Column("answer", "text")),
        "table_recognition": _schema(_text_faults("html"), Column("html", "text")),
        "formula_recognition": _schema(_text_faults("latex"), Column("latex", "text")),
        "information_extraction": _schema(
            _field_faults, Column("fields", "object"), Column("keys", "texts", required=False)
        ),
    },
    how_to_get=(
        "its authors have published no copy; `lmms-eval-finance data import cfmme FOLDER` reads a folder of JSONL "
        "files and images in the columns that docs/cfmme.md lists"
    ),
)
