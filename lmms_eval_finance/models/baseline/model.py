"""The baseline as one function: from messages to a text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_eval_finance.models.baseline import answers, evidence, page, request
from lmms_eval_finance.models.baseline.request import Kind, Request


def respond(asked: Request) -> str:
    """The answer to a request; the same request gives the same answer."""
    if asked.kind is Kind.QUESTION:
        found = answers.answer(asked.questions[0], _evidence(asked))
        return f"Answer: {found}" if asked.wants_line else found
    if asked.kind is Kind.QUESTIONS:
        return _answer_all(asked)
    return ""


def respond_to_messages(messages: Sequence[Mapping[str, Any]]) -> str:
    """The answer to chat messages."""
    return respond(request.read(messages))


def _evidence(asked: Request) -> evidence.Evidence:
    pieces = evidence.from_text(asked.context)
    for image in asked.images:
        pieces += page.read(image).pieces
    return evidence.Evidence(pieces)


def _answer_all(asked: Request) -> str:
    known = _evidence(asked)
    replies = {
        question.key: {"answer": answers.answer(question, known), "explanation": "Looked up in the material."}
        for question in asked.questions
    }
    return json.dumps(replies, ensure_ascii=False)
