"""Formulas as LaTeX, as far as plain geometry goes: fraction bars, roots, raised and lowered signs, sums with limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmms_eval_finance.models.baseline import ocr

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DEEPEST = 4
_MOST_STRIPS = 40
_MOST_MARKS = 400
_COMMANDS = {
    "×": r"\times ",
    "÷": r"\div ",
    "·": r"\cdot ",
    "•": r"\cdot ",
    "≤": r"\leq ",
    "≥": r"\geq ",
    "≠": r"\neq ",
    "≈": r"\approx ",
    "±": r"\pm ",
    "∞": r"\infty ",
    "∑": r"\sum ",
    "Σ": r"\sum ",
    "∏": r"\prod ",
    "Π": r"\prod ",
    "∫": r"\int ",
    "√": r"\sqrt ",
    "∂": r"\partial ",
    "²": "^{2}",
    "³": "^{3}",
    "%": r"\%",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    **{
        letter: rf"\{name} "
        for letter, name in zip(
            "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΦΨΩ",
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega "
            "Gamma Delta Theta Lambda Xi Phi Psi Omega".split(),
            strict=True,
        )
    },
}
_WIDE = re.compile(r"[⺀-鿿豈-﫿]+(?:[ 、，]*[⺀-鿿豈-﫿]+)*")


@dataclass(frozen=True)
class _Mark:
    """A connected stretch of ink: its number in the picture and its box."""

    number: int
    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


class _Picture:
    """The marks of a picture, and readings of some of them; few readings, so that no picture takes for ever."""

    def __init__(self, ink: NDArray[np.bool_]) -> None:
        import cv2

        _, self._numbers, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
        boxes = [tuple(int(value) for value in row[:5]) for row in stats]
        self.marks = [
            _Mark(number, left, top, left + wide, top + high)
            for number, (left, top, wide, high, area) in enumerate(boxes[: _MOST_MARKS + 1])
            if number and area > 2
        ]
        self._strips = 0

    def text(self, marks: Sequence[_Mark]) -> str:
        """The marks read as one line."""
        if not marks or self._strips >= _MOST_STRIPS:
            return ""
        self._strips += 1
        ys = slice(min(one.top for one in marks), max(one.bottom for one in marks))
        xs = slice(min(one.left for one in marks), max(one.right for one in marks))
        shown = np.isin(self._numbers[ys, xs], [one.number for one in marks])
        grey = np.pad(np.where(shown, 0, 255).astype(np.uint8), 8, constant_values=255)
        return ocr.read_strip(np.ascontiguousarray(np.repeat(grey[:, :, None], 3, axis=2)))[0]

    def closes(self, mark: _Mark) -> bool:
        """Whether a mark has ink in its lower right corner, as a box has and a root has not."""
        corner = self._numbers[
            (mark.top + 2 * mark.bottom) // 3 : mark.bottom, (mark.left + 2 * mark.right) // 3 : mark.right
        ]
        return bool((corner == mark.number).any())


def to_latex(image: NDArray[np.uint8]) -> str:
    """The formula that a picture (height x width x RGB) shows, without delimiters; empty for a blank picture."""
    grey = image.min(axis=2)
    picture = _Picture(grey < min(160.0, float(np.median(grey)) - 40))
    latex = _region(picture, picture.marks, 0)
    return re.sub(r" +(?=[}^_)\]=+,.-]|$)", "", latex).strip()


def escaped(text: str) -> str:
    r"""Recognised text as LaTeX: signs as commands, Chinese within \text{}.

    >>> escaped("毛利率=α×2")
    '\\text{毛利率}=\\alpha \\times 2'
    """
    text = re.sub(r"[\\{}^~]", "", text).replace("－", "-").replace("＋", "+").replace("＝", "=")
    pieces, end = [], 0
    for found in _WIDE.finditer(text):
        pieces += [_signs(text[end : found.start()]), rf"\text{{{found[0]}}}"]
        end = found.end()
    return "".join([*pieces, _signs(text[end:])])


def _signs(text: str) -> str:
    return "".join(_COMMANDS.get(character, character) for character in text)


def _region(picture: _Picture, marks: Sequence[_Mark], depth: int) -> str:
    """The marks as LaTeX: parts around a fraction bar, under a root, over and under a sum, else a line."""
    if not marks:
        return ""
    for split in (_fraction, _root, _sum) if depth < _DEEPEST else ():
        found = split(picture, marks, depth + 1)
        if found is not None:
            middle, latex = found
            left = [one for one in marks if one.middle < middle.left]
            right = [one for one in marks if one.middle > middle.right]
            return _region(picture, left, depth) + latex + _region(picture, right, depth)
    return _line(picture, marks)


def _fraction(picture: _Picture, marks: Sequence[_Mark], depth: int) -> tuple[_Mark, str] | None:
    """The widest flat mark with something over and under most of it."""
    best: tuple[_Mark, list[_Mark], list[_Mark]] | None = None
    for bar in marks:
        if bar.height * 5 > bar.width or (best is not None and bar.width <= best[0].width):
            continue
        inside = [one for one in marks if one is not bar and bar.left <= one.middle <= bar.right]
        above = [one for one in inside if one.bottom <= bar.top + 1]
        below = [one for one in inside if one.top >= bar.bottom - 1]
        if all(
            _extent(part) > 0.04 * bar.width and _tallest(part) > 2 * bar.height for part in (above, below)
        ):
            best = bar, above, below
    if best is None:
        return None
    bar, above, below = best
    return bar, rf"\frac{{{_region(picture, above, depth)}}}{{{_region(picture, below, depth)}}}"


def _root(picture: _Picture, marks: Sequence[_Mark], depth: int) -> tuple[_Mark, str] | None:
    """The widest mark with others under its roof."""
    for sign in sorted(marks, key=lambda one: -one.width):
        inside = [
            one
            for one in marks
            if one is not sign
            and sign.left < one.left
            and one.right <= sign.right + 2
            and sign.top < one.top
            and one.top < sign.bottom
        ]
        reaches = inside and max(one.bottom for one in inside) <= sign.bottom + 0.1 * sign.height
        if reaches and _extent(inside) > 0.4 * sign.width and not picture.closes(sign):
            return sign, rf"\sqrt{{{_region(picture, inside, depth)}}}"
    return None


def _sum(picture: _Picture, marks: Sequence[_Mark], depth: int) -> tuple[_Mark, str] | None:
    """A tall sign with small ones centred over and under it."""
    tallest = _tallest(marks)
    for sign in marks:
        if sign.height < 0.9 * tallest or sign.width < 0.4 * sign.height:
            continue
        reach = sign.width
        near = [one for one in marks if one is not sign and abs(one.middle - sign.middle) < reach]
        above = [one for one in near if one.bottom <= sign.top + 2]
        below = [one for one in near if one.top >= sign.bottom - 2]
        if above and below and max(_tallest(above), _tallest(below)) < 0.7 * sign.height:
            operator = r"\prod" if picture.text([sign]) in ("Π", "∏", "I", "Ⅱ", "II") else r"\sum"
            limits = f"_{{{_line(picture, below)}}}^{{{_line(picture, above)}}}"
            lefts, rights = zip(*((one.left, one.right) for one in (sign, *above, *below)), strict=True)
            return _Mark(0, min(lefts), sign.top, max(rights), sign.bottom), operator + limits
    return None


def _extent(marks: Sequence[_Mark]) -> int:
    return max((one.right for one in marks), default=0) - min((one.left for one in marks), default=0)


def _tallest(marks: Sequence[_Mark]) -> int:
    return max((one.height for one in marks), default=0)


def _line(picture: _Picture, marks: Sequence[_Mark]) -> str:
    """Marks without bars: letters on the line, raised and lowered ones apart; Chinese is read as a whole."""
    whole = picture.text(marks)
    runs = _runs(marks)
    if _WIDE.search(whole) or not any(role for role, _ in runs) or len(runs) > 12:
        return escaped(whole)
    parts = []
    for role, members in runs:
        text = escaped(picture.text(members))
        parts.append(text if not role else f"{role}{{{text}}}" if text else "")
    return "".join(parts)


def _runs(marks: Sequence[_Mark]) -> list[tuple[str, list[_Mark]]]:
    """Neighbouring marks of one role: "" on the line, "^" raised, "_" lowered."""
    tallest = _tallest(marks)
    full = [one for one in marks if one.height > 0.6 * tallest]
    top = float(np.median([one.top for one in full]))
    bottom = float(np.median([one.bottom for one in full]))
    high, middle = bottom - top, (top + bottom) / 2
    runs: list[tuple[str, list[_Mark]]] = []
    for one in sorted(marks, key=lambda one: (one.left, one.top)):
        role = ""
        if 0.15 * high < one.height < 0.8 * high and one.width < 2 * one.height:
            if one.bottom < middle + 0.15 * high:
                role = "^"
            elif one.top > middle - 0.1 * high and one.bottom > bottom + 0.08 * high:
                role = "_"
        if runs and runs[-1][0] == role:
            runs[-1][1].append(one)
        else:
            runs.append((role, [one]))
    return runs
