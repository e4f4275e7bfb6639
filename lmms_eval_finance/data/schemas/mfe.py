"""Rows of Multimodal Finance Eval (arXiv 2602.10384) as `data.importers.mfe` writes them.

Every split has the same flat columns; what a split lacks is null. Names on the right
are the released ones.

=====================  ==============================================================
id                     id, as text; unique within a split
task                   the split's name
document_id, document  Document_id; Filename or Document
element                Element_id, the page; damaged ids repaired
element_as_released    Element_id unrepaired (its order decides which answer was scored)
element_file, page     Element_filename(input); Page_origin
type, domain, entity   Type, Domain, Named Entities
question_type          open | yes_no | true_false | choice
question               Question
answer, answer_type    Answer as text; text | integer | number | date: what it was released as
justification          Justification
context                Context (LLM input), of text items
context_size           small_text | medium_text | large_text | very_large_text | document |
                       table | table_and_small_text | table_and_medium_text |
                       chart | chart_and_small_text
difficulty, form       Difficulty_level, Element_form
multiple_answers       Multiple_answers_possible: yes | no
deduced                Answer to be deduced and not a part of text: yes | no
validated              Validated by a human: yes | no
llm_answer             LLM Answer
original_question      Original Question, of reworded items
dialogue, turn         the conversation (its element) and the turn's place in it, from 1
image, image_144       the page at 72 and at 144 dpi: paths beside the JSONL file
=====================  ==============================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmms_eval_finance.data.schemas import Benchmark, Column, Row, Schema

QUESTION_TYPES = ("open", "yes_no", "true_false", "choice")
ANSWER_TYPES = ("text", "integer", "number", "date")
_CLOSED = {
    "yes_no": frozenset({"oui", "non"}),
    "true_false": frozenset({"vrai", "faux"}),
    "choice": frozenset({"a", "b", "c", "d"}),
}
_OPTION = re.compile(r"^([A-D])\.\s*(.+?)\s*$", re.MULTILINE)


def options(question: str) -> list[tuple[str, str]]:
    """The options that stand in the text of a multiple-choice question, as (letter, text).

    >>> options("Combien ?\\nA. 500 €\\nB. 2 %")
    [('A', '500 €'), ('B', '2 %')]
    """
    return [(found[1], found[2]) for found in _OPTION.finditer(question)]


def content_faults(row: Row) -> Iterator[tuple[str, str]]:
    """Yield (column, problem) for what is odd in a row whose types are right."""
    question_type, answer = row["question_type"], row["answer"].strip()
    if not row["question"].strip():
        yield "question", "is empty"
    if not answer.strip("-–"):
        yield "answer", "is empty" if not answer else f"is a mere {answer!r}"
    if row["answer_type"] in ("number", "date"):  # whole numbers passed through unharmed
        yield "answer", f"{answer!r} was released as {row['answer_type']}: a spreadsheet may have changed it"
    if question_type not in QUESTION_TYPES:
        yield "question_type", f"is {question_type!r}, none of {', '.join(QUESTION_TYPES)}"
    allowed = _CLOSED.get(question_type)
    if allowed and answer.lower() not in allowed:
        yield "answer", f"is {answer!r}, not {' or '.join(sorted(allowed))}"
    if question_type == "choice":
        texts = [text for _, text in options(row["question"])]
        if len(texts) < 2:
            yield "question", "has fewer than two options"
        elif len(set(texts)) < len(texts):
            yield "question", "has the same option twice"


_TEXTS = [
    "document_id",
    "document",
    "element",
    "element_as_released",
    "element_file",
    "type",
    "domain",
    "entity",
    "justification",
    "context",
    "context_size",
    "difficulty",
    "form",
    "multiple_answers",
    "deduced",
    "validated",
    "llm_answer",
    "original_question",
    "dialogue",
]
SCHEMA = Schema(
    columns=[
        *(
            Column(name, "text", nullable=False)
            for name in ("id", "task", "question", "question_type", "answer", "answer_type")
        ),
        *(Column(name, "text") for name in _TEXTS),
        Column("page", "integer"),
        Column("turn", "integer"),
        Column("image", "image"),
        Column("image_144", "image"),
    ],
    content_faults=content_faults,
)

BENCHMARK = Benchmark(
    name="mfe",
    title="Multimodal Finance Eval",
    hub=None,
    splits=dict.fromkeys(("text", "table", "table_yn_tf", "chart", "special_case", "conversation"), SCHEMA),
    how_to_get=(
        "`lmms-eval-finance data fetch mfe` downloads it, `lmms-eval-finance data import mfe FOLDER` reads a "
        "checkout of https://github.com/dseddah/Scribe_finance"
    ),
)
