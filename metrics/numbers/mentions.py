"""Every number that a text names, with what stands beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from ..normalise import narrow
from . import hanzi, notation, signs
from .dates import DateSpan, date_at
from .lexicon import lexicon
from .notation import VULGAR, read_numeral
from .roles import (
    ASIDE,
    ASSERTS,
    LESS,
    MORE,
    Role,
    in_aside_clause,
    is_label,
    is_list_marker,
    tag_of,
    words_before,
)
from .separators import read_digits
from .spelled import find_nothing, find_spelled
from .units import BARE, PERCENT, Unit

MAX_NUMBERS = 400
"""At most so many numbers are read from one text (or sentence); bounds the time on garbage."""

_IDEOGRAPHS = "\u2e80"


@dataclass(frozen=True, slots=True)
class Number:
    """One number named by a text.

    Attributes:
        value: in base units: scale words multiplied out, per cent as a fraction of one, cents
            in currency units. From `parse_number` with an item's unit: in that unit.
        text: the stretch of text that names it, sign and unit included.
        start: where that stretch begins in the text.
        end: where it ends.
        written: the number as written beside its unit (25 of `25%`), sign included.
        unit: what stands beside it.
        readings: every reading of `written` that the notation leaves open, `written` first.
        role: what the number does in its text.
        asserted: whether a verb or sign states it (`is`, `=`).
        direction: -1 or 1 where words say that something fell or rose by this number.
        bound: `<` or `>` where it is given as a limit that is not reached (`less than`, `plus de`), else "".
        in_range: whether it is one end of a range.
    """

    value: Fraction
    text: str
    start: int
    end: int
    written: Fraction
    unit: Unit = BARE
    readings: tuple[Fraction, ...] = ()
    role: Role = Role.VALUE
    asserted: bool = False
    direction: int = 0
    bound: str = ""
    in_range: bool = False

    @property
    def percent(self) -> bool:
        """Whether it is written in per cent, per mille or basis points."""
        return self.unit.dimension == PERCENT

    @property
    def currencies(self) -> frozenset[str]:
        """The ISO 4217 codes that the written currency can mean."""
        return self.unit.currencies

    def __float__(self) -> float:
        return float(self.value)


_LITERAL = re.compile(rf"{notation.DIGITS}|[{hanzi.NUMERAL_CHARS}]+|[{''.join(VULGAR)}]")
_LITERAL_START = re.compile(rf"[0-9.{hanzi.NUMERAL_CHARS}{''.join(VULGAR)}]")
_BULLET = re.compile(r"^[-–•*] ", re.MULTILINE)
_LINKS_UNITS = re.compile(r"[ ]?(?:of |de |d'|des |-)?")
_IN_UNITS = re.compile(r"[ ]?(?:\([ ]?(?:expressed )?(?:in |en )?|(?:in|en) )")
_PARTS = re.compile(r"[ ]?分之[ ]?")
_AFTER_HANZI = ("倍", "个", "家", "股", "次", "种", "项", "名", "人", "只", "支", "成", "份")
_RANGE = re.compile(r"[ ]?(?:-|–|—|−|~|～|to|à|a|至|到|through|up to|jusqu'à)[ ]?(?:about |environ |约)?")
_RANGE_AND = re.compile(r"[ ]?(?:and|et|和|与|至|到)[ ]?")
_RANGE_OPENS = re.compile(r"(?:between|entre|介于|在)[ ]?(?:about |environ |约)?[$€£¥]?$")
_SCALE_OF = re.compile(r"(?:scale|échelle|allant|ranging|indicateur|范围)[ ]?(?:of|from|de|du)?[ ]?$")
_FROM = re.compile(r"(?:from|de|从|由)[ ]?[$€£¥]?$")
_MOTION = re.compile(
    r"rose|rise|increas|grew|grow|fell|fall|decreas|declin|drop|went|goes|moved|climb|jump|improv|chang|expand|narrow|widen|"
    r"pass[eé]|augment|baiss|progress|recul|diminu|增|升|降|减|跌|涨|提高"
)


def lower_in_place(text: str) -> str:
    """Lower case, one character for one character."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


@lru_cache(maxsize=64)
def language_code(language: str | None) -> str:
    """The two-letter code of a language given by code, tag or English name; `en` when not given.

    >>> [language_code(name) for name in ("French", "zh-CN", "chinese", None, "de")]
    ['fr', 'zh', 'zh', 'en', 'de']
    """
    if not language:
        return "en"
    name = language.strip().lower()
    return {"english": "en", "french": "fr", "français": "fr", "chinese": "zh", "中文": "zh"}.get(
        name, name[:2]
    )


def find_numbers(text: str, language: str | None = None) -> list[Number]:
    """Every number in a text, in order; numbers spelled out only where there are no digits.

    Dates, times and quarters are left out, except their years, which have the role `YEAR`.
    At most 400 numbers are read. Markdown and LaTeX are not resolved here.

    >>> [(n.text, float(n)) for n in find_numbers("In Q3 2021 sales rose 12% to $5.1 million, from (0.3) billion")]
    [('2021', 2021.0), ('12%', 0.12), ('$5.1 million', 5100000.0), ('(0.3) billion', -300000000.0)]
    """
    reader = Reader(text, narrow(text), language)
    return reader.numbers() or reader.spelled()


class Reader:
    """Reads the numbers of stretches of one text."""

    def __init__(self, original: str, text: str, language: str | None) -> None:
        """Args:

        original: the text as given, from which the numbers' texts are cut.
        text: the same with plain blanks, digits and signs, one character for one character.
        language: decides separators and scale words.
        """
        self.original = original
        self.text = text
        self.lower = lower_in_place(self.text)
        self.language = language_code(language)
        self._words = lexicon(self.language)
        self._bullets = "\n" in text and len(_BULLET.findall(self.text)) > 1

    def numbers(self, begin: int = 0, end: int | None = None) -> list[Number]:
        """The numbers whose digits or Chinese numerals begin in a stretch of the text."""
        found: list[Number] = []
        text, stop = self.text, len(self.text) if end is None else end
        done = begin
        while True:
            # Searching for one character is far cheaper than for the whole pattern.
            first = _LITERAL_START.search(text, done, stop)
            if first is None:
                break
            literal = _LITERAL.match(text, first.start())
            if literal is None:
                done = first.end()
                continue
            start, done = literal.span()
            if first[0] in "0123456789":
                date = date_at(self.lower, start, done)
                if date:
                    done = date.end
                    found.extend(self._years_in(date))
                    continue
            for number in self._read(literal, found[-1].end if found else begin):
                found.append(number)
                done = max(done, number.end)
                if len(found) >= MAX_NUMBERS:
                    break
            if len(found) >= MAX_NUMBERS:
                break
        return self._with_ranges(self._with_compounds(found)) if len(found) > 1 else found

    def spelled(self, begin: int = 0, end: int | None = None) -> list[Number]:
        """The numbers that a stretch of the text spells out in English or French."""
        offset = begin
        return [
            self._finish((value,), offset + start, offset + stop)
            for value, start, stop in find_spelled(self.lower[begin:end])
        ]

    def nothing(self) -> list[Number]:
        """A zero where the text says that nothing is charged or left."""
        span = find_nothing(self.lower)
        return [self._finish((Fraction(0),), *span)] if span else []

    def _years_in(self, date: DateSpan) -> list[Number]:
        years = [match for match in _YEAR.finditer(self.text, date.start, date.end)]
        return [
            Number(
                value,
                match[0],
                match.start(),
                match.end(),
                value,
                readings=(value,),
                role=Role.YEAR,
                in_range=len(years) > 1,
            )
            for match in years
            for value in (Fraction(int(match[0])),)
        ]

    def _read(self, literal: re.Match[str], previous: int) -> Iterator[Number]:
        text, start, end = self.text, literal.start(), literal.end()
        digits = literal[0]
        first = digits[0]
        if first in VULGAR:
            yield self._finish((Fraction(*VULGAR[first]),), start, end, previous)
            return
        if first in hanzi.NUMERAL_CHARS:
            number = self._chinese(digits, start, previous)
            if number:
                yield number
            return
        if text.startswith("分之", end):
            number = self._share(digits, start, end)
            if number:
                yield number
            return
        if start and self._is_part_of_word(start):
            return
        numeral = read_numeral(text, digits, end, self.language)
        if numeral is not None:
            yield self._finish(numeral.readings, start, numeral.end, previous, digits)
        elif "." not in digits:
            # "26,16,6" is three numbers
            for part in _RUN.finditer(digits):
                readings = read_digits(part[0], self.language)
                if readings:
                    yield self._finish(readings, start + part.start(), start + part.end(), previous, part[0])

    def _is_part_of_word(self, start: int) -> bool:
        """`CO2`, `x_1`, `c_{2}`, `COVID-19`; but `USD5`."""
        before = self.text[start - 1]
        if before == "{" and start > 1:
            before = self.text[start - 2]
        if before in "_^#":
            return True
        if before in "-‐" and start > 1:
            before = self.text[start - 2]
            return (
                before.isalpha()
                and before < _IDEOGRAPHS
                and self._words.before(self.text, start - 1)[0] is BARE
            )
        return before.isalpha() and before < _IDEOGRAPHS and self._words.before(self.text, start)[0] is BARE

    def _chinese(self, digits: str, start: int, previous: int) -> Number | None:
        text = self.text
        digits = digits.rstrip("点點")
        end = start + len(digits)
        before = text[start - 1] if start else " "
        if not digits or before == "第":
            return None
        if text.startswith("分之", end):
            return self._share(digits, start, end)
        if digits == "一" and text.startswith("半", end):
            return self._finish((Fraction(1, 2),), start, end + 1, previous)
        value = hanzi.read_hanzi(digits)
        if value is None:
            return None
        named = text.startswith(_AFTER_HANZI, end) or self._words.after(text, self.lower, end)[0] is not BARE
        alone = not (before >= _IDEOGRAPHS and before.isalpha()) and not text[end : end + 1].isalpha()
        if (len(digits) == 1 or digits[0] in "百千万亿") and not (named or alone):
            return None
        number = self._finish((value,), start, end, previous, digits)
        if text.startswith("年", end) and len(digits) == 4 and 1900 <= value <= 2100:
            return replace(number, role=Role.YEAR)
        return number

    def _share(self, whole: str, start: int, position: int) -> Number | None:
        """`百分之二十`, `三分之一`: the denominator comes first."""
        link = _PARTS.match(self.text, position)
        part = _LITERAL.match(self.text, link.end()) if link else None
        if not part:
            return None
        denominator, numerator = (self._plain(digits) for digits in (whole, part[0].rstrip("点點")))
        if not denominator or numerator is None:
            return None
        hundredth = whole in ("百", "千", "万")
        unit = Unit(size=1 / denominator, dimension=PERCENT) if hundredth else BARE
        written = numerator if hundredth else numerator / denominator
        negative, at = signs.minus_before(self.text, self.lower, start)
        return self._number(
            (-written if negative else written,),
            unit,
            at if negative else start,
            part.start() + len(part[0].rstrip("点點")),
        )

    def _plain(self, digits: str) -> Fraction | None:
        if digits[:1] in hanzi.NUMERAL_CHARS and digits:
            return hanzi.read_hanzi("一" + digits if digits in ("百", "千", "万") else digits)
        readings = read_digits(digits, "zh") if digits else ()
        return readings[0] if readings else None

    def _finish(
        self, readings: tuple[Fraction, ...], start: int, end: int, previous: int = 0, digits: str = ""
    ) -> Number:
        """Sign, currency and brackets before the numeral; scale, unit and brackets after it."""
        text = self.text
        begin = start
        prefix, begin = self._prefix(begin)
        negative, begin = self._minus(begin)
        if negative and prefix is BARE:
            prefix, begin = self._prefix(begin)
        elif not negative and begin and text[begin - 1] == "+":
            begin -= 1
        opening = self._skip_back(begin)
        opened = opening > 0 and text[opening - 1] == "("
        closing = self._skip(end)
        tight = opened and text.startswith(")", closing)
        unit, end = self._suffix(closing + 1 if tight else end)
        closed = tight
        if opened and not tight:
            closing = self._skip(end)
            closed = text.startswith(")", closing)
            end = closing + 1 if closed else end
        if closed and not self._is_gloss(opening - 1, previous):
            begin = opening - 1
            if prefix is BARE:
                prefix, begin = self._prefix(begin)
            outer, begin = self._minus(begin)
            negative = True
        elif closed and not tight:
            end = closing
        if unit.dimension == PERCENT and unit.size == _TENTH and end < len(text):
            tenth = hanzi.read_hanzi(text[end]) if text[end] in hanzi.NUMERAL_CHARS else None
            if tenth is not None and 0 < tenth < 10:  # 三成五 is 35%
                readings, end = (readings[0] + tenth / 10,), end + 1
        unit = prefix.joined(unit)
        if unit.long_scale:
            readings = (*readings, *(value / 1000 for value in readings))
        if negative:
            readings = tuple(-value for value in readings)
        return self._number(readings, unit, begin, end, digits)

    def _is_gloss(self, opening: int, previous: int) -> bool:
        """Whether a bracket directly follows another number, and so restates it."""
        return 0 < previous <= opening and not self.text[previous:opening].strip(" =≈")

    def _skip(self, position: int) -> int:
        while position < len(self.text) and self.text[position] == " ":
            position += 1
        return position

    def _skip_back(self, position: int) -> int:
        while position and self.text[position - 1] == " ":
            position -= 1
        return position

    def _minus(self, position: int) -> tuple[bool, int]:
        negative, at = signs.minus_before(self.text, self.lower, position, self._bullets)
        return (True, at) if negative else (False, position)

    def _prefix(self, start: int) -> tuple[Unit, int]:
        unit, begin = self._words.before(self.text, self._skip_back(start))
        return (unit, begin) if unit is not BARE else (BARE, start)

    def _suffix(self, end: int) -> tuple[Unit, int]:
        unit, end = self._units(end)
        if unit is BARE and end < len(self.text) and self.text[end] in " (":
            return self._said_apart(end)
        return unit, end

    def _units(self, end: int) -> tuple[Unit, int]:
        """The scale words and units that follow each other from a position on, and where they end."""
        text, lower = self.text, self.lower
        unit = BARE
        while end < len(text):
            link = _LINKS_UNITS.match(text, end)
            position = link.end() if link else end
            found, stop = self._words.after(text, lower, position)
            if found is BARE and position > end + 1:
                found, stop = self._words.after(text, lower, end + 1)
            if found is BARE or (unit.dimension and found.dimension) or (unit.scale != 1 and found.scale != 1):
                break
            unit, end = unit.joined(found), stop
            if unit.dimension == PERCENT:
                break
        return unit, end

    def _said_apart(self, end: int) -> tuple[Unit, int]:
        """`5.1 (USD million)`, `5,100 in thousands`: a unit that is said apart."""
        link = _IN_UNITS.match(self.lower, end)
        if not link:
            return BARE, end
        unit, stop = self._units(link.end())
        bracketed = "(" in link[0]
        if unit is BARE or unit.dimension in ("months", "days") or (bracketed and not self.text.startswith(")", stop)):
            return BARE, end
        return unit, stop + bracketed

    def _number(
        self, readings: tuple[Fraction, ...], unit: Unit, start: int, end: int, digits: str = ""
    ) -> Number:
        lower = self.lower
        line = lower.rfind("\n", max(0, start - 60), start) + 1 or max(0, start - 60)
        left = lower[line:start]
        right = lower[end : end + 24]
        words = words_before(left)
        tag = tag_of(words)
        written = readings[0]
        if unit.bare and digits and self._names_something(left, words, right, written, end):
            role = Role.LABEL
        elif (
            unit.bare
            and len(digits) == 4
            and digits.isdigit()
            and "1900" <= digits <= "2100"
            and not left.endswith(("= ", "="))
        ):
            role = Role.YEAR
        elif tag == ASIDE or (tag != ASSERTS and in_aside_clause(left)):
            role = Role.ASIDE
        elif tag == MORE and words[-1] == "over" and unit.dimension in ("months", "days"):
            role, tag = Role.ASIDE, ""
        else:
            role = Role.VALUE
        return Number(
            value=written * unit.factor if unit is not BARE else written,
            text=self.original[start:end],
            start=start,
            end=end,
            written=written,
            unit=unit,
            readings=readings,
            role=role,
            asserted=tag == ASSERTS,
            direction=signs.direction(words, right),
            bound=tag if tag in (LESS, MORE) else "",
        )

    def _names_something(self, left: str, words: list[str], right: str, value: Fraction, end: int) -> bool:
        if value.denominator != 1:
            return False
        if is_label(left, words, right):
            return True
        if not right or right[0] not in ".)、）:" or left.strip(" (（"):
            return False
        stop = self.text.find("\n", end)
        rest = self.text[end + 1 : stop if stop >= 0 else len(self.text)].strip()
        return bool(rest) and is_list_marker(left, right, abs(int(value)), rest, self.text)

    def _with_compounds(self, found: list[Number]) -> list[Number]:
        """`3亿2000万`, `2 millions 500 mille`: one number."""
        joined = [found[0]]
        for number in found[1:]:
            before = joined[-1]
            if (
                before.unit.scale > number.unit.scale > 1
                and not before.unit.dimension
                and self.text[before.end : number.start] in ("", " ")
                and abs(number.value) < before.unit.scale
            ):
                value = before.value + (number.value if before.value >= 0 else -number.value)
                written = value / number.unit.factor
                joined[-1] = replace(
                    before, value=value, written=written, readings=(written,), unit=number.unit, end=number.end,
                    text=self.original[before.start : number.end],
                )  # fmt: skip
            else:
                joined.append(number)
        return joined

    def _with_ranges(self, found: list[Number]) -> list[Number]:
        for index in range(len(found) - 1):
            first, second = found[index], found[index + 1]
            if second.start - first.end > 12 or Role.LABEL in (first.role, second.role):
                continue
            between = self.lower[first.end : second.start]
            left = self.lower[max(0, first.start - 60) : first.start]
            if not _RANGE.fullmatch(between) and not (
                _RANGE_AND.fullmatch(between) and _RANGE_OPENS.search(left)
            ):
                continue
            if (first.percent and second.unit.bare) or first.unit.contradicts(second.unit):
                continue
            if _FROM.search(left) and _MOTION.search(left):
                found[index] = replace(first, role=Role.ASIDE)
                continue
            if _SCALE_OF.search(left):
                found[index], found[index + 1] = replace(first, role=Role.ASIDE), replace(second, role=Role.ASIDE)
                continue
            if Role.YEAR in (first.role, second.role):
                continue
            if first.unit.bare and not second.unit.bare:
                first = replace(first, unit=second.unit, value=first.written * second.unit.factor)
            found[index] = replace(first, in_range=True, role=Role.VALUE)
            found[index + 1] = replace(second, in_range=True, role=Role.VALUE)
        return found


_RUN = re.compile(r"\d+")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TENTH = Fraction(1, 10)
