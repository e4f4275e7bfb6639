"""Rows of FAMMA (arXiv 2410.04526; hub data set weaverbirdllm/famma), one row per sub-question."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_eval_finance.data.schemas import Benchmark, Column, Row, Schema

LANGUAGES = ("english", "chinese", "french")
DIFFICULTIES = ("easy", "medium", "hard")
SUBFIELDS = (
    "alternative investments",
    "corporate finance",
    "derivatives",
    "economics",
    "equity",
    "financial statement analysis",
    "fixed income",
    "portfolio management",
)
IMAGES = tuple(f"image_{number}" for number in range(1, 8))
_ANSWER_IMAGES = tuple(f"ans_image_{number}" for number in range(1, 7))

MASKED_SPLITS = ("release_livepro", "release_livepro_txt")
"""Splits whose answers are base64 text, so that they do not lie about in clear."""


def question_type(value: str | None) -> str:
    """`multiple_choice` or `open`, whatever spelling the release uses.

    >>> question_type("multiple-choice"), question_type("Multiple Choice"), question_type("open question")
    ('multiple_choice', 'multiple_choice', 'open')
    """
    return "multiple_choice" if "choice" in (value or "").lower() else "open"


def content_faults(row: Row) -> Iterator[tuple[str, str]]:
    """Yield (column, problem) for what is odd in a row whose types are right."""
    if not (row["question"] or "").strip():
        yield "question", "is empty"
    if not (row["answers"] or "").strip():
        yield "answers", "is empty (not scored)"
    for column, known in (
        ("language", LANGUAGES),
        ("topic_difficulty", DIFFICULTIES),
        ("subfield", SUBFIELDS),
    ):
        if (row[column] or "").strip().lower() not in known:
            yield column, f"is {row[column]!r}, none of {', '.join(known)}"
    if question_type(row["question_type"]) == "multiple_choice" and not row["options"]:
        yield "options", "is empty for a multiple choice"


def _schema(*, images: bool) -> Schema:
    return Schema(
        columns=[
            Column("question_id", "text", nullable=False),
            Column("idx", "integer", required=False),
            Column("context", "text"),
            Column("question", "text", nullable=False),
            Column("options", "options"),
            *(Column(name, "image", required=images and name == "image_1") for name in IMAGES),
            Column("image_type", "text", required=False),
            Column("answers", "text"),
            Column("explanation", "text"),
            Column("topic_difficulty", "text"),
            Column("question_type", "text", nullable=False),
            Column("subfield", "text"),
            Column("language", "text", nullable=False),
            Column("main_question_id", "integer", nullable=False),
            Column("sub_question_id", "integer", nullable=False),
            Column("is_arithmetic", "integer", required=False),
            Column("release", "text", required=False),
            *(Column(name, "image", required=False) for name in _ANSWER_IMAGES),
        ],
        id_column="question_id",
        content_faults=content_faults,
    )


_WITH_IMAGES, _TEXT = _schema(images=True), _schema(images=False)

BENCHMARK = Benchmark(
    name="famma",
    title="FAMMA",
    hub="weaverbirdllm/famma",
    splits={
        "release_basic": _WITH_IMAGES,
        "release_livepro": _WITH_IMAGES,
        "release_basic_txt": _TEXT,
        "release_livepro_txt": _TEXT,
        "validation": _WITH_IMAGES,
        "test": _WITH_IMAGES,
    },
    how_to_get=(
        "it is downloaded from the hub when the machine has network access; `lmms-eval-finance data import famma "
        "FOLDER_OR_CSV` reads csv copies; the early release (validation, test) is read from a local folder with "
        "its parquet files, for instance famma/validation-english.parquet"
    ),
)
