"""The baseline as one function: from a request to a text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_eval_finance.models.baseline import answers, evidence, fields, page, request, seals
from lmms_eval_finance.models.baseline.page import Page
from lmms_eval_finance.models.baseline.request import Kind, Request
from lmms_eval_finance.models.baseline.words import language_of

_BECAUSE = {
    "fr": "Réponse tirée du passage le plus proche de la question.",
    "en": "Taken from the passage that is nearest to the question.",
    "zh": "取自与问题最接近的段落。",
}


def respond(asked: Request) -> str:
    """The answer to a request; the same request gives the same answer."""
    pages = [page.read(image) for image in asked.images]
    if asked.kind is Kind.QUESTION:
        found = answers.answer(asked.questions[0], _evidence(asked, pages))
        return f"Answer: {found}" if asked.wants_line else found
    if asked.kind is Kind.QUESTIONS:
        return _answer_all(asked, pages)
    if asked.kind is Kind.BOXES:
        return _boxes(pages[0], asked.scale) if pages else "[]"
    if asked.kind is Kind.HTML:
        return _html(pages)
    if asked.kind is Kind.FIELDS:
        found_fields = fields.extract([one for shown in pages for one in shown.fragments], asked.keys)
        return json.dumps(found_fields, ensure_ascii=False)
    if not pages:
        return ""
    return pages[0].latex if asked.kind is Kind.LATEX else pages[0].seal


def respond_to_messages(messages: Sequence[Mapping[str, Any]]) -> str:
    """The answer to chat messages."""
    return respond(request.read(messages))


def _evidence(asked: Request, pages: Sequence[Page]) -> evidence.Evidence:
    text, grids = evidence.without_tables(asked.context)
    pieces = evidence.from_text(text)
    for grid in grids:
        pieces += evidence.from_grid(grid, start=len(pieces))
    for shown in pages:
        pieces += shown.pieces
        grids += shown.grids
    return evidence.Evidence(pieces, grids)


def _answer_all(asked: Request, pages: Sequence[Page]) -> str:
    known = _evidence(asked, pages)
    language = language_of(" ".join(question.text for question in asked.questions))
    replies = {
        question.key: {"answer": answers.answer(question, known), "explanation": _BECAUSE[language]}
        for question in asked.questions
    }
    return json.dumps(replies, ensure_ascii=False)


def _boxes(shown: Page, scale: float) -> str:
    height, width = shown.pixels.shape[:2]
    units = (scale, scale) if scale else shown.size
    digits = 4 if scale == 1.0 else None
    found = []
    for seal in seals.find(shown.pixels):
        shares = (edge / side for edge, side in zip(seal.box, (width, height) * 2, strict=True))
        edges = [round(share * unit, digits) for share, unit in zip(shares, units * 2, strict=True)]
        found.append({"bbox_2d": edges, "label": seal.label})
    return json.dumps(found)


def _html(pages: Sequence[Page]) -> str:
    tables = [shown.table for shown in pages]
    whole = None
    for table in tables:
        if table is not None:
            whole = table if whole is None else whole.below(table)
    return whole.to_html() if whole is not None else "<table></table>"
