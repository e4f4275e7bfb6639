"""Model output as the plain text in which numbers are looked for."""

from __future__ import annotations

import re

from ..normalise import boxed_contents, normalise_text, strip_reasoning
from .latex import plain_math

MAX_LENGTH = 20_000
"""Of longer texts the end is read: that is where the answer stands."""

_NUMERAL = re.compile(r"[\d零〇一二三四五六七八九十]")
_BEFORE_BOX = re.compile(r"[-−–+$€£¥(]*$")
_AFTER_BOX = re.compile(r"\}([^\n.。,，;；]{0,30})")


def clean(text: str) -> str:
    r"""Model output as plain text: no thinking, no markup, no LaTeX around numbers.

    A box (`\boxed{}`) is repeated at the end as the answer, with what touches it.

    >>> clean("<think>7?</think>**Answer:** $\\frac{1}{4}$")
    'Answer: 1/4'
    >>> clean("so \\boxed{42}% of it")
    'so 42% of it\nAnswer: 42% of it'
    """
    text = strip_reasoning(text)
    if len(text) > MAX_LENGTH:
        text = text[-MAX_LENGTH:]
    text = normalise_text(text)
    if "boxed" in text or "fbox" in text:
        text = _with_box_last(text)
    return plain_math(text)


def _with_box_last(text: str) -> str:
    for content in reversed(boxed_contents(text)):
        if not _NUMERAL.search(content):
            continue
        at = text.rfind(content)
        opening = text.rfind("\\", 0, at)
        lead = _BEFORE_BOX.search(text[max(0, opening - 4) : opening])
        tail = _AFTER_BOX.match(text, at + len(content))
        before, after = lead[0] if lead else "", tail[1] if tail else ""
        if after.startswith("$"):
            before, after = before.replace("$", ""), after[1:].lstrip("$")
        return f"{text}\nAnswer: {before}{content}{after}"
    return text
