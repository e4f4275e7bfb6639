"""Answers to several sub-questions given in prose: what a reply says under, or about, each of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["Section", "read_sections"]

_HEAD = re.compile(
    r"""
        (?:\b(?:sub-?\s?)?(?:question|problem|part|item|answer|no|q)|第|问题|小题|题)
            (?:\s(?:no|number)\b)?[\s.\#°(\["'`*]{0,4}[a-z]{0,8}_?\d{1,4}(?:[_\-]\w{1,8}){0,4}
      | \b[a-z]{1,8}_?\d{1,4}(?:[_\-]\w{1,8}){0,4}
      | 第[一二三四五六七八九十]
      | \b(?:first|second|third|fourth|fifth|sixth|seventh|eighth)\s(?:(?:sub-?)?question|one|answer|part|is)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What still belongs to a name once it is read.
_REST = re.compile(r"""[\s)\]"'`*]{0,4}(?:小?[题问]|(?:sub-?)?question\b)?""", re.IGNORECASE)
# Where a sentence or a line ends; a point within a number or an abbreviation is none.
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|[。！？；\n]")
_LEADING = re.compile(
    r"(?:[\s:：=,，*#>|\-–—→]|\b(?:i\s+(?:choose|say|pick|chose|answer|get|would\s+say)|(?:the|my|final|correct)\s+(?:(?:final|correct)\s+)?"
    r"(?:answer|option|choice)\b|la\s+réponse\b|is|are|was|would\s+be|equals|est|答案|应为|应该是|选择|选|为|是)(?![a-zA-Z]))+",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:[\s,，;；*#>|\-–—]|(?<![^\W_])(?:and|et|while|but|then|whereas|is|are|for|to|the|answer|和|而)\s*)+\Z",
    re.IGNORECASE,
)
_LONGEST = 20_000
_MOST_HEADS = 400


class Section(NamedTuple):
    """What is said about one sub-question: its name as written, and the text."""

    key: str
    text: str


class _Head(NamedTuple):
    start: int
    end: int
    key: str
    leads: bool
    """Whether it opens a line."""


def read_sections(text: str, names_one: Callable[[str], bool]) -> Iterator[Section]:
    """The sections of a reply, in order.

    A section reaches from the sentence that names a sub-question to the one that names the
    next. Where names open lines (`### Question 2`), names within lines are no heads.

    Args:
        text: the reply.
        names_one: whether a piece of text names one of the sub-questions asked.

    >>> text = "The answer to q1 is B. For q2 I get $984.10, and q3 is Yes."
    >>> [tuple(section) for section in read_sections(text, lambda name: "q" in name)]
    [('q1', 'B'), ('q2', '$984.10'), ('q3', 'Yes')]
    """
    text = text[:_LONGEST]
    heads = list(_heads(text, names_one))
    leading = [head for head in heads if head.leads]
    heads = leading if len({head.key.casefold() for head in leading}) > 1 else heads
    sentence_ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    start = 0
    for place, head in enumerate(heads):
        end = len(text)
        if place + 1 < len(heads):
            end = heads[place + 1].start
            sentence = _sentence_start(sentence_ends, end)
            end = sentence if sentence > head.end else end
        yield Section(
            head.key,
            _said(
                text[max(start, _sentence_start(sentence_ends, head.start)) : head.start],
                text[head.end : end],
            ),
        )
        start = end


def _heads(text: str, names_one: Callable[[str], bool]) -> Iterator[_Head]:
    for number, match in enumerate(_HEAD.finditer(text)):
        if number >= _MOST_HEADS:
            return
        if names_one(match[0]):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            rest = _REST.match(text, match.end())
            end = rest.end() if rest else match.end()
            yield _Head(match.start(), end, match[0], not line.strip(" \t#*>-(["))


def _sentence_start(ends: list[int], position: int) -> int:
    place = bisect_right(ends, position)
    return ends[place - 1] if place else 0


def _said(before: str, after: str) -> str:
    """The answer within a section: what follows the name, or, where that is nothing, what precedes it."""
    lead = _LEADING.match(after)
    after = after[lead.end() :] if lead else after
    said = after if re.search(r"\w", after) else before
    return _TRAILING.sub("", said).strip().removesuffix(".")
