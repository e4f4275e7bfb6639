"""The rows of the Multimodal Finance Eval release, read and verified.

A spreadsheet damaged two element ids (4.09999999999999 for 4.1): they are joined again, so that
the 7 dialogues are whole; the released id is kept beside the repaired one.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from lmms_eval_finance.data.sources import DataError

REPOSITORY = "https://github.com/dseddah/Scribe_finance"


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
        digest.update(split.encode() + b"\n" + jsonl(splits.get(split, ())))
    return digest.hexdigest()


def jsonl(rows: Sequence[Row]) -> bytes:
    """The rows as a JSONL file, the same bytes on every machine."""
    # What UTF-8 cannot hold (lone surrogates) becomes the escape that JSON has for it.
    return b"".join(
        json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n" for row in rows
    )


def verify(splits: Mapping[str, Sequence[Row]], release: Release) -> None:
    """Check number and content of the rows against a release.

    Raises:
        DataError: they are not the released ones; the message says what to do.
    """
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
