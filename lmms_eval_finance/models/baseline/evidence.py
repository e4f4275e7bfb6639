"""What a request brings along, as pieces of text with what stands around each of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from lmms_eval_finance.models.baseline.grid import Cell, Grid, from_html
from lmms_eval_finance.models.baseline.series import Series, header_rows, of_grids
from lmms_eval_finance.models.baseline.words import stems, words

MOST_PIECES = 4000
MOST_WORDS = 200
"""Different words of a question that are looked for."""
_SENTENCE_END = re.compile(
    r"(?<=[.;!?。；！？])(?<!\b[A-Z]\.)(?<!S\.A\.)(?<!\bM\.)(?<!Inc\.)(?<!Ltd\.)\s+|(?<=[。；！？])"
)
_WORD = re.compile(r"\S+")
_SHORT = 9


@dataclass(frozen=True)
class Piece:
    """A sentence, line or cell, and what helps to tell what it is about.

    Attributes:
        text: what stands there.
        around: texts that belong to it (a heading, the row's first cell) and how closely, 0 to 1.
        place: its number in the order of reading.
        cell: whether it is a cell of a table.
        trust: how much it counts, 0 to 1.
    """

    text: str
    around: tuple[tuple[str, float], ...] = ()
    place: int = 0
    cell: bool = False
    trust: float = 1.0


def from_text(text: str, start: int = 0, trust: float = 1.0) -> list[Piece]:
    """The sentences and lines of a text, each with its heading and neighbours."""
    units: list[tuple[str, str]] = []
    heading = ""
    for line in text.split("\n"):
        line = line.strip()
        if not line:
            continue
        sentences = [sentence.strip() for sentence in _SENTENCE_END.split(line) if sentence.strip()]
        for sentence in sentences:
            units.append((sentence, heading))
        if len(sentences) == 1 and len(words(line)) <= _SHORT and line[-1] not in ".;,":
            heading = line
    pieces = []
    for number, (sentence, above) in enumerate(units[:MOST_PIECES]):
        before = units[number - 1][0] if number else ""
        after = units[number + 1][0] if number + 1 < len(units) else ""
        label = len(words(before)) <= _SHORT and len(words(sentence)) <= 2 * _SHORT
        around = [(before, 0.75 if label else 0.35), (after, 0.2)]
        if above and above != before:
            around.append((above, 0.4))
        pieces.append(Piece(sentence, tuple(pair for pair in around if pair[0]), start + number, trust=trust))
    return pieces


def from_grid(grid: Grid, title: str = "", start: int = 0) -> list[Piece]:
    """The cells of a table, each with its row's and column's headings."""
    _, columns = grid.shape
    heads = header_rows(grid)
    slots: dict[tuple[int, int], Cell] = {
        (row, column): cell
        for cell in grid.cells
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
    }
    pieces = []
    for number, cell in enumerate(grid.cells[:MOST_PIECES]):
        if not cell.text:
            continue
        seen = {id(cell)}
        around: list[tuple[str, float]] = []

        def add(
            place: tuple[int, int],
            weight: float,
            seen: set[int] = seen,
            around: list[tuple[str, float]] = around,
        ) -> None:
            other = slots.get(place)
            if other is not None and id(other) not in seen and other.text:
                seen.add(id(other))
                around.append((other.text, weight))

        add((cell.row, 0), 0.95)
        if cell.column > 1:
            add((cell.row, 1), 0.8)
        for row in range(min(heads, cell.row)):
            add((row, cell.column), 0.95)
        for row in range(cell.row - 1, 0, -1):
            above = slots.get((row, 0))
            if above is not None and above.columns >= max(2, columns - 1):
                add((row, 0), 0.6)
                break
        for column in range(columns):
            add((cell.row, column), 0.45)
        if title:
            around.append((title, 0.3))
        pieces.append(Piece(cell.text, tuple(around), start + number, cell=True))
    return pieces


_TABLE = re.compile(r"<table\b.*?(?:</table>|\Z)", re.IGNORECASE | re.DOTALL)


def without_tables(text: str) -> tuple[str, list[Grid]]:
    """A text without the HTML tables in it, and those tables."""
    grids = [grid for found in _TABLE.finditer(text) if (grid := from_html(found[0])) is not None]
    return _TABLE.sub("", text), grids


class Evidence:
    """Pieces that can be searched by the words of a question, and the tables and series of figures among them."""

    def __init__(self, pieces: Iterable[Piece], grids: Sequence[Grid] = ()) -> None:
        self.pieces: Sequence[Piece] = list(pieces)[:MOST_PIECES]
        self.grids = grids
        self.series: Sequence[Series] = of_grids(grids)
        self._own = [stems(piece.text) for piece in self.pieces]
        self._around = [
            [(frozenset(stems(text)), weight) for text, weight in piece.around] for piece in self.pieces
        ]
        self._matches: dict[tuple[str, str], Sequence[Match]] = {}
        self._counts = Counter(word for own in self._own for word in set(own))

    def weights(self, question: str, hints: str = "") -> dict[str, float]:
        """The question's stems with how much each tells; one that stands nowhere tells most."""
        total = len(self.pieces) + 1
        found = dict.fromkeys(stems(hints), 0.5)
        for word in list(dict.fromkeys(stems(question)))[:MOST_WORDS]:
            seen = sum(self._counts[one] for one in self.alike(word))
            found[word] = math.log(1 + total / (1 + seen))
        return found

    def alike(self, word: str) -> frozenset[str]:
        """The stems of the evidence that are this one, misread letters allowed."""
        if word in self._counts:
            return frozenset((word,))
        if len(word) < 5 or word[0].isdigit():
            return frozenset()
        return frozenset(
            other
            for other in self._counts
            if abs(len(other) - len(word)) <= 1
            and not other[0].isdigit()
            and Levenshtein.distance(word, other, score_cutoff=1) <= 1
        )

    def has(self, word: str) -> bool:
        """Whether a stem stands anywhere."""
        return bool(self.alike(word)) or any(word in zone for around in self._around for zone, _ in around)

    def matches(self, question: str, hints: str = "") -> Sequence[Match]:
        """How well each piece fits the question, best first; hints are further words, of little weight."""
        asked = (question, hints)
        if asked not in self._matches:
            weights = self.weights(question, hints)
            forms = {word: self.alike(word) | {word} for word in weights}
            self._matches[asked] = sorted(
                (self._match(number, weights, forms) for number in range(len(self.pieces))),
                key=lambda match: (-match.score, match.piece.place),
            )
        return self._matches[asked]

    def _match(self, number: int, weights: dict[str, float], forms: dict[str, frozenset[str]]) -> Match:
        own = self._own[number]
        found: dict[str, float] = {}
        inside: set[str] = set()
        for word in weights:
            if any(form in own for form in forms[word]):
                found[word] = 1.0
                inside.add(word)
            else:
                near = [weight for zone, weight in self._around[number] if zone & forms[word]]
                if near:
                    found[word] = max(near)
        total = sum(weights.values()) or 1.0
        score = sum(weights[word] * share for word, share in found.items()) / total
        piece = self.pieces[number]
        return Match(piece, score * piece.trust, frozenset(inside), frozenset(found))


@dataclass(frozen=True)
class Match:
    """How a piece fits a question.

    Attributes:
        score: share of the question's weight found in the piece or around it, 0 to 1.
        inside: the question's stems in the piece itself.
        covered: the question's stems in it or around it.
    """

    piece: Piece
    score: float
    inside: frozenset[str]
    covered: frozenset[str]
