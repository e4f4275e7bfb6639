"""What stands around a numeral: sign, currency and bracket before it, scale and unit after it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from . import signs
from .lexicon import lexicon
from .spelled import ends_spelled
from .units import BARE, PERCENT, Unit

_LINK = re.compile(r"[ ]?(?:of |de |d'|des |-)?")
_APART = re.compile(r"[ ]?(?:\([ ]?(?:expressed )?(?:in |en )?|(?:in|en) )")
_BULLET = re.compile(r"^[-–•*] ", re.MULTILINE)


class Affixes(NamedTuple):
    """What stands around a numeral, and from where to where the whole reaches."""

    negative: bool
    unit: Unit
    start: int
    end: int


class AffixReader:
    """Reads what stands around the numerals of one text."""

    def __init__(self, text: str, lower: str, language: str) -> None:
        self._text = text
        self._lower = lower
        self._lexicon = lexicon(language)

    @cached_property
    def _bullets(self) -> bool:
        return "\n" in self._text and len(_BULLET.findall(self._text)) > 1

    def around(self, start: int, end: int, previous: int) -> Affixes:
        """What stands around the numeral from `start` to `end`.

        A bracket around a number makes it negative, except where it directly follows
        another number, which ends at `previous` or is spelled out: there it restates that one.
        """
        text = self._text
        prefix, begin = self._currency(start)
        negative, begin = self.minus(begin)
        if negative and prefix is BARE:
            prefix, begin = self._currency(begin)
        elif not negative and begin and text[begin - 1] == "+":
            begin -= 1
        opening = self._back(begin) - 1
        if opening < 0 or text[opening] != "(":
            unit, end = self._unit(end)
            return Affixes(negative, prefix.joined(unit), begin, end)
        inner_end = self._forward(end)
        if text.startswith(")", inner_end):  # (3.5) million
            unit, outer_end = self._unit(inner_end + 1)
        else:  # (3.5 million)
            unit, end = self._unit(end)
            inner_end = self._forward(end)
            if not text.startswith(")", inner_end):
                return Affixes(negative, prefix.joined(unit), begin, end)
            outer_end = inner_end + 1
        restates = 0 < previous <= opening and not text[previous:opening].strip(" =≈")
        if restates or ends_spelled(self._lower, opening):
            return Affixes(negative, prefix.joined(unit), begin, max(end, inner_end))
        begin = opening
        if prefix is BARE:
            prefix, begin = self._currency(begin)
        return Affixes(True, prefix.joined(unit), self.minus(begin)[1], outer_end)

    def minus(self, position: int) -> tuple[bool, int]:
        """Whether a minus stands before a position, and where the whole then begins."""
        negative, at = signs.minus_before(self._text, self._lower, position, self._bullets)
        return (True, at) if negative else (False, position)

    def names_currency(self, end: int) -> bool:
        """Whether a currency sign or code ends at a position (`USD5`)."""
        return self._lexicon.before(self._text, end)[0] is not BARE

    def names_unit(self, position: int) -> bool:
        """Whether a scale word or unit begins at a position."""
        return self._lexicon.after(self._text, self._lower, position)[0] is not BARE

    def _forward(self, position: int) -> int:
        while self._text.startswith(" ", position):
            position += 1
        return position

    def _back(self, position: int) -> int:
        while position and self._text[position - 1] == " ":
            position -= 1
        return position

    def _currency(self, start: int) -> tuple[Unit, int]:
        unit, begin = self._lexicon.before(self._text, self._back(start))
        return (unit, begin) if unit is not BARE else (BARE, start)

    def _unit(self, end: int) -> tuple[Unit, int]:
        unit, stop = self._units(end)
        if unit is BARE and end < len(self._text) and self._text[end] in " (":
            return self._unit_apart(end)
        return unit, stop

    def _units(self, end: int) -> tuple[Unit, int]:
        """The scale words and units that follow each other from a position on, and where they end."""
        text, lower = self._text, self._lower
        unit = BARE
        while end < len(text) and unit.dimension != PERCENT:
            link = _LINK.match(text, end)
            position = link.end() if link else end
            found, stop = self._lexicon.after(text, lower, position)
            if found is BARE and position > end + 1:
                found, stop = self._lexicon.after(text, lower, end + 1)
            if (
                found is BARE
                or (unit.dimension and found.dimension)
                or (unit.scale != 1 and found.scale != 1)
            ):
                break
            unit, end = unit.joined(found), stop
        return unit, end

    def _unit_apart(self, end: int) -> tuple[Unit, int]:
        """`5.1 (USD million)`, `5,100 in thousands`."""
        link = _APART.match(self._lower, end)
        if not link:
            return BARE, end
        unit, stop = self._units(link.end())
        bracketed = "(" in link[0]
        if unit is BARE or unit.dimension in ("months", "days"):
            return BARE, end
        if bracketed and not self._text.startswith(")", stop):
            return BARE, end
        return unit, stop + bracketed
