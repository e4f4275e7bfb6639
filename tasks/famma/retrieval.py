"""Retrieval: the same request with passages of the user's reference books ahead of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import prompts
from lmms_eval_finance.metrics.records import Json
from lmms_eval_finance.rag import index as indices
from lmms_eval_finance.tasks import common
from lmms_eval_finance.tasks.common import Doc
from lmms_eval_finance.tasks.famma.requests import Request, material, unmarked
from lmms_eval_finance.tasks.famma.rows import questions_of
from lmms_eval_finance.tasks.famma.variant import Variant

if TYPE_CHECKING:
    from lmms_eval_finance.rag.passages import Passage

# What an image shows is data of the exercise, and so is most of a long context: books are on the concepts.
_NOT_ASKED = re.compile(r"<ocr>.*?(?:</ocr>|\Z)|<image_\d>|/n\b", re.DOTALL | re.IGNORECASE)
_CONTEXT_LENGTH = 300


@functools.lru_cache(maxsize=4096)
def _found(index: str, queries: tuple[str, ...]) -> list[Passage]:
    """Found once for the request, again wanted for the record."""
    return indices.configured().search(queries)


class RetrievalVariant(Variant):
    """One split asked with passages from ``LMMS_EVAL_FINANCE_RAG``."""

    def request(self, doc: Doc) -> Request:
        """The whole request, passages first."""
        passages = [
            f"[{number}] {passage.place}\n{passage.text}"
            for number, passage in enumerate(self.passages(doc), start=1)
        ]
        text = prompts.load("famma_rag").render(**material(doc), passages=unmarked("\n\n".join(passages)))
        return Request.of(text, doc)

    def passages(self, doc: Doc) -> list[Passage]:
        """What the index has on the doc's questions, within its budget."""
        opening = _NOT_ASKED.sub(" ", doc["context"])[:_CONTEXT_LENGTH]
        queries = [
            _NOT_ASKED.sub(" ", " ".join([question["question"], *question["options"], opening]))
            for question in questions_of(doc)
        ]
        return _found(indices.configured().hash, tuple(queries))

    def process_results(self, doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
        """The records of all sub-questions; the sources shown are kept as `passages`."""
        shown: list[Json] = [passage.place for passage in self.passages(doc)]
        return self.score(doc, common.text_of(results[0]), {"passages": shown})

    def templates(self) -> Sequence[str]:
        """Names of the prompts that the model sees."""
        return ["famma_rag"]

    def options(self) -> dict[str, str]:
        """Further fields of the signature."""
        return {"index": indices.configured().hash}
