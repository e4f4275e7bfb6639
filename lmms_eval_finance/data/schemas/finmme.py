"""Rows of FinMME (arXiv 2505.24714; hub data set luojunyu/FinMME)."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_eval_finance.data.schemas import Benchmark, Column, Row, Schema

QUESTION_TYPES = ("single_choice", "multiple_choice", "numerical")

# The paper describes these labels; the hub's names for them are not known here, so each is looked
# up under a few candidate names and breakdowns are given for the labels that are present.
LABEL_COLUMNS = {
    "cognitive_level": ("cognitive_level", "cognition_level", "cognitive_ability", "question_category"),
    "main_domain": ("main_domain", "domain"),
    "asset_class": ("asset_class", "asset"),
    "data_class": ("data_class", "main_data_class", "chart_class"),
    "data_subclass": ("data_subclass", "sub_data_class", "chart_subclass"),
}


def content_faults(row: Row) -> Iterator[tuple[str, str]]:
    """Yield (column, problem) for what is odd in a row whose types are right."""
    question_type = row["question_type"]
    if question_type not in QUESTION_TYPES:
        yield "question_type", f"is {question_type!r}, none of {', '.join(QUESTION_TYPES)}"
    if not (row["answer"] or "").strip():
        yield "answer", "is empty"
    if question_type in QUESTION_TYPES[:2] and not (row["options"] or "").strip():
        yield "options", "is empty for a choice question"
    if question_type == "numerical" and row["tolerance"] in (None, ""):
        yield "tolerance", "is empty for a numerical question (read as 0)"


_LABELS = [
    Column(name, "text", required=False) for candidates in LABEL_COLUMNS.values() for name in candidates
]

BENCHMARK = Benchmark(
    name="finmme",
    title="FinMME",
    hub="luojunyu/FinMME",
    splits={
        "train": Schema(
            columns=[
                Column("id", "integer", nullable=False),
                Column("image", "image", nullable=False),
                Column("question_text", "text", nullable=False),
                Column("question_type", "text", nullable=False),
                Column("options", "text"),
                Column("answer", "text"),
                Column("unit", "text"),
                Column("tolerance", "number"),
                Column("verified_caption", "text"),
                Column("related_sentences", "text"),
                Column("knowledge_domain", "text"),
                *_LABELS,
            ],
            content_faults=content_faults,
        )
    },
    how_to_get="it is downloaded from the hub when the machine has network access",
)
