"""Glyphs: what a reader sees of a formula, each sign with its box and its vertical place."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lmms_eval_finance.metrics.outcomes import Outcome

Variant = Literal["default", "reference"]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top in em, y upwards."""

MAX_CHARACTERS = 4000
"""Longest source, in characters after cleaning, that is typeset; time grows faster than length."""
MAX_GLYPHS = 2000
"""Most glyphs of a formula that are matched."""

# Signs that print alike but have several code points.
_ALIKE = {
    "\u2212": "-", "\u2010": "-", "\u2011": "-",
    "\u2217": "*", "\u2223": "|", "\u2225": "‖", "\u2236": ":", "\u22c5": "·", "\u2219": "•", "\u2216": "\\",
    "\u2019": "'", "\u2018": "'", "\u3008": "⟨", "\u3009": "⟩", "\u2329": "⟨", "\u232a": "⟩",
    "\u22ef": "···", "\u03bc": "μ",
}  # fmt: skip
# Greek letters whose compatibility form is another printed shape: \phi is not \varphi.
_SHAPES = frozenset("ϕϵϑϱϖϰ")
_ALPHABETS = {
    "DOUBLE-STRUCK": "double-struck",
    "SCRIPT": "script",
    "BLACK-LETTER": "fraktur",
    "FRAKTUR": "fraktur",
}
# What the reference implementation takes for the same token though it prints differently.
_REFERENCE_ALIKE = {"·": ".", "⊤": "T", **{shape: unicodedata.normalize("NFKC", shape) for shape in _SHAPES}}


@dataclass(frozen=True)
class Glyph:
    """One printed sign.

    Attributes:
        char: the sign, italic, upright, bold, sans-serif and monospaced letters alike.
        kind: "" for an ordinary sign; "double-struck", "script" or "fraktur" for letters of these
            alphabets; "accent", "wide accent" (one that grows), "fraction" (its bar), "radical",
            "enclose" (a frame or strike) or "unknown" (a command that the engine does not know;
            `char` is its name).
        place: the way from the base line to the sign, one letter a step: ^ raised, _ lowered,
            n numerator, d denominator, r degree of a root.
        box: its ink, (left, bottom, right, top) in em.
    """

    char: str
    kind: str
    place: str
    box: Box

    def key(self, variant: Variant) -> tuple[str, ...]:
        """What must be equal for two glyphs to match.

        >>> Glyph("R", "double-struck", "^", (0, 0, 1, 1)).key("reference")
        ('R', '')
        """
        if variant == "default":
            return (self.char, self.kind, self.place)
        if self.kind in _ALPHABETS.values():
            return (self.char, "")
        hat = self.kind == "wide accent" and self.char in "^~"
        return (_REFERENCE_ALIKE.get(self.char, self.char), "accent" if hat else self.kind)


@dataclass(frozen=True)
class Layout:
    """A typeset formula: its glyphs in reading order, or why there are none.

    `problem` is `Outcome.UNREADABLE` (the source is broken) or `Outcome.TIMED_OUT` (over a
    limit of length, glyphs, time or memory), with a `message`; else None.
    """

    glyphs: tuple[Glyph, ...] = ()
    problem: Outcome | None = None
    message: str = ""


class EngineError(RuntimeError):
    """An engine that cannot be used here, with what to install."""


def glyphs_of(text: str, kind: str, place: str, box: Box) -> Iterable[Glyph]:
    """The glyphs of one printed `text`, its box shared out evenly where it is several.

    >>> [glyph.char for glyph in glyphs_of("…", "", "", (0, 0, 3, 1))]
    ['.', '.', '.']
    """
    chars = [text] if kind in ("unknown", "enclose") else [c for char in text for c in _printed(char)]
    left, bottom, right, top = box
    step = (right - left) / max(len(chars), 1)
    for index, char in enumerate(chars):
        alphabet = kind or _alphabet(text)
        yield Glyph(char, alphabet, place, (left + index * step, bottom, left + (index + 1) * step, top))


def _printed(char: str) -> str:
    """What `char` looks like: compatibility forms folded, but not where they look different."""
    if "\U0001d400" <= char <= "\U0001d7ff":  # letters of the mathematical alphabets
        char = "".join(chr(int(code, 16)) for code in unicodedata.decomposition(char).split()[1:])
    if char in _ALIKE:
        return _ALIKE[char]
    keep = char in _SHAPES or unicodedata.numeric(char, 0) % 1 or unicodedata.category(char) == "No"
    folded = char if keep else unicodedata.normalize("NFKC", char)
    return "".join(_ALIKE.get(c, c) for c in folded if not c.isspace())


def _alphabet(char: str) -> str:
    if len(char) != 1 or char.isascii():
        return ""
    words = unicodedata.name(char, "").split()
    return next((kind for word, kind in _ALPHABETS.items() if word in words), "")
