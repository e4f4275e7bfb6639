"""Pages cut into passages that can be quoted with their source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lmms_eval_finance.rag.books import Page
from lmms_eval_finance.rag.words import token_count

_SENTENCE_END = re.compile(r"(?<=[.!?])[\s]+|(?<=[。！？；])\s*|\s*\n\s*\n\s*")
_OVERLAP = 5
"""A passage repeats the last sentence of the one before it where that is at most a fifth of its length."""


@dataclass(frozen=True)
class Passage:
    """A piece of a book.

    Attributes:
        source: the book, as a path relative to the folder of books.
        page: counted from 1; None where the book has no pages.
        text: on one line.
    """

    source: str
    page: int | None
    text: str

    @property
    def place(self) -> str:
        """Source and page as they are cited.

        >>> Passage("bonds.pdf", 12, "...").place
        'bonds.pdf, page 12'
        """
        return self.source if self.page is None else f"{self.source}, page {self.page}"


def cut(source: str, pages: Iterable[Page], size: int) -> Iterator[Passage]:
    """Passages of at most about `size` tokens, whole sentences as far as they fit, none across pages.

    >>> [passage.text for passage in cut("a.txt", [Page(None, "One is here. Two is there. Three.")], 7)]
    ['One is here. Two is there.', 'Three.']
    """
    for page in pages:
        taken: list[str] = []
        tokens = 0
        for sentence in _sentences(page.text, size):
            length = token_count(sentence)
            if taken and tokens + length > size:
                yield Passage(source, page.number, " ".join(taken))
                last = taken[-1]
                taken = (
                    [last]
                    if token_count(last) * _OVERLAP <= size and token_count(last) + length <= size
                    else []
                )
                tokens = sum(map(token_count, taken))
            taken.append(sentence)
            tokens += length
        if taken:
            yield Passage(source, page.number, " ".join(taken))


def _sentences(text: str, size: int) -> Iterator[str]:
    """Sentences on one line each; a longer one than fits is cut where words end, else anywhere."""
    for piece in _SENTENCE_END.split(text):
        sentence = " ".join(piece.split())
        at = 0
        while at < len(sentence):
            end = _fitting(sentence, at, size)
            yield sentence[at:end].strip()
            at = end


def _fitting(sentence: str, start: int, size: int) -> int:
    """Where a piece of at most about `size` tokens ends that begins at `start`."""
    window = sentence[start : start + 4 * size]
    if token_count(window) > size:
        window = window[:size]
    end = start + len(window)
    if end >= len(sentence):
        return len(sentence)
    blank = sentence.rfind(" ", start + len(window) // 2, end)
    return blank + 1 if blank > 0 else end
