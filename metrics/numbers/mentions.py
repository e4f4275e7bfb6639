"""Every number that a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from ..normalise import lower_in_place, narrow
from . import hanzi, notation
from .affixes import AffixReader
from .dates import DateSpan, date_at
from .groups import join_compounds, mark_ranges
from .language import language_code
from .notation import VULGAR, read_numeral
from .number import Number
from .roles import Role, is_year, surroundings
from .separators import read_digits
from .spelled import find_nothing, find_spelled
from .units import BARE, PERCENT, Unit

MAX_NUMBERS = 400
"""At most so many numbers are read from one text (or sentence); bounds the time on garbage."""

_MAX_LITERALS = 4 * MAX_NUMBERS
_IDEOGRAPHS = "\u2e80"
_LITERAL = re.compile(rf"{notation.DIGITS}|[{hanzi.NUMERAL_CHARS}]+|[{''.join(VULGAR)}]")
_LITERAL_START = re.compile(rf"[0-9.{hanzi.NUMERAL_CHARS}{''.join(VULGAR)}]")
NUMERAL = re.compile(rf"[\d{hanzi.NUMERAL_CHARS}{''.join(VULGAR)}]")
"""Without one of these no text has a number that is not spelled out."""

_RUN = re.compile(r"\d+")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_PARTS = re.compile(r"[ ]?分之[ ]?")
_COUNTED = tuple("倍个家股次种项名人只支成份")
_HUNDREDTHS = ("百", "千", "万")
_TENTH = Fraction(1, 10)
# A line that is a numeral, or announces the answer and gives one: nothing stands beside it to be read.
_ALONE = re.compile(r"(?:(?:(?:final )?answer|réponse ?|答案): ?)?([0-9]{1,15}(?:\.[0-9]{1,15})?)")


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
    """Reads the numbers of stretches of one text.

    Args:
        original: the text as given, from which the numbers' texts are cut.
        text: the same with plain blanks, digits and signs, one character for one character.
        language: decides separators and scale words.
    """

    def __init__(self, original: str, text: str, language: str | None) -> None:
        self._original = original
        self.text = text
        self.lower = lower_in_place(text)
        self._language = language_code(language)
        self._affixes = AffixReader(text, self.lower, self._language)

    def numbers(self, begin: int = 0, end: int | None = None) -> list[Number]:
        """The numbers whose digits or Chinese numerals begin in a stretch of the text."""
        alone = self._alone(begin, end)
        return self._search(begin, end) if alone is None else [alone]

    def _alone(self, begin: int, end: int | None) -> Number | None:
        """What `_search` finds on a last line that holds little but a plain numeral; it is most answers' end."""
        if (end is not None and end < len(self.text)) or (begin and self.text[begin - 1] != "\n"):
            return None
        line = _ALONE.fullmatch(self.lower, begin)
        if line is None:
            return None
        start, end = line.span(1)
        readings = read_digits(line[1], self._language)
        value = readings[0]
        return Number(
            value=value,
            text=self._original[start:end],
            start=start,
            end=end,
            written=value,
            readings=readings,
            role=Role.YEAR if is_year(value) and line[1].isdigit() else Role.VALUE,
            asserted=start > begin,
        )

    def _search(self, begin: int, end: int | None) -> list[Number]:
        text, stop = self.text, len(self.text) if end is None else end
        found: list[Number] = []
        done = begin
        for _ in range(_MAX_LITERALS):
            if len(found) >= MAX_NUMBERS:
                break
            # Searching for one character is far cheaper than for the whole pattern.
            first = _LITERAL_START.search(text, done, stop)
            if first is None:
                break
            literal = _LITERAL.match(text, first.start())
            if literal is None:
                done = first.end()
                continue
            start, done = literal.span()
            date = date_at(self.lower, start, done) if first[0] in "0123456789" else None
            if date:
                done = date.end
                found.extend(self._years_in(date))
                continue
            for number in self._read(literal[0], start, done, found[-1].end if found else begin):
                found.append(number)
                done = max(done, number.end)
                if len(found) >= MAX_NUMBERS:
                    break
        return mark_ranges(self.lower, join_compounds(self._original, found)) if len(found) > 1 else found

    def spelled(self) -> list[Number]:
        """The numbers that the text spells out in English or French."""
        return [self._number((value,), start, end) for value, start, end in find_spelled(self.lower)]

    def nothing(self) -> list[Number]:
        """A zero where the text says that nothing is charged or left."""
        span = find_nothing(self.lower)
        return [self._number((Fraction(0),), *span)] if span else []

    def _years_in(self, date: DateSpan) -> list[Number]:
        years = list(_YEAR.finditer(self.text, date.start, date.end))
        numbers = []
        for year in years:
            value = Fraction(int(year[0]))
            number = Number(
                value, year[0], year.start(), year.end(), value, readings=(value,), role=Role.YEAR
            )
            numbers.append(replace(number, in_range=True) if len(years) > 1 else number)
        return numbers

    def _read(self, literal: str, start: int, end: int, previous: int) -> Iterator[Number]:
        """The numbers that a run of digits or numeral characters names; the one before ends at `previous`."""
        if literal[0] in VULGAR:
            yield self._number((Fraction(*VULGAR[literal[0]]),), start, end, previous)
        elif literal[0] in hanzi.NUMERAL_CHARS:
            yield from self._chinese(literal.rstrip(hanzi.POINTS), start, previous)
        elif self.text.startswith("分之", end):
            yield from self._share(literal, start, end)
        elif not self._is_part_of_word(start):
            numeral = read_numeral(self.text, literal, end, self._language)
            if numeral is not None:
                yield self._number(numeral.readings, start, numeral.end, previous, literal)
            elif "," in literal and "." not in literal:
                yield from self._list(literal, start, previous)

    def _list(self, literal: str, start: int, previous: int) -> Iterator[Number]:
        """`26,16,6` is three numbers."""
        for part in _RUN.finditer(literal):
            readings = read_digits(part[0], self._language)
            if readings:
                yield self._number(readings, start + part.start(), start + part.end(), previous, part[0])

    def _is_part_of_word(self, start: int) -> bool:
        """`CO2`, `x_1`, `c_{2}`, `COVID-19`; but `USD5`."""
        at = start - 1
        if at > 0 and self.text[at] in "{-‐":
            at -= 1
            if self.text[at] in "_^" and self.text[at + 1] == "{":
                return True
        if at < 0:
            return False
        before = self.text[at]
        if before in "_^#":
            return at == start - 1
        return (
            before.isalpha()
            and before < _IDEOGRAPHS
            and self.text[start - 1] != "{"
            and not self._affixes.names_currency(at + 1)
        )

    def _chinese(self, numeral: str, start: int, previous: int) -> Iterator[Number]:
        text, end = self.text, start + len(numeral)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not numeral or before == "第":
            return
        if text.startswith("分之", end):
            yield from self._share(numeral, start, end)
            return
        if numeral == "一" and after == "半":
            yield self._number((Fraction(1, 2),), start, end + 1, previous)
            return
        value = hanzi.read_hanzi(numeral)
        if value is None:
            return
        if len(numeral) == 1 or numeral[0] in "百千万亿":
            # 一 and 百 begin many words: 一般, 百姓
            alone = not (before >= _IDEOGRAPHS and before.isalpha()) and not after.isalpha()
            if not alone and after not in _COUNTED and not self._affixes.names_unit(end):
                return
        number = self._number((value,), start, end, previous, numeral)
        is_year = after == "年" and len(numeral) == 4 and 1900 <= value <= 2100
        yield replace(number, role=Role.YEAR) if is_year else number

    def _share(self, whole: str, start: int, position: int) -> Iterator[Number]:
        """`百分之二十`, `三分之一`: the denominator comes first."""
        link = _PARTS.match(self.text, position)
        part = _LITERAL.match(self.text, link.end()) if link else None
        if not part:
            return
        numerator_text = part[0].rstrip(hanzi.POINTS)
        denominator, numerator = self._plain(whole), self._plain(numerator_text)
        if not denominator or numerator is None:
            return
        unit = BARE
        if whole in _HUNDREDTHS:
            unit = Unit(size=1 / denominator, dimension=PERCENT)
        else:
            numerator /= denominator
        negative, begin = self._affixes.minus(start)
        end = part.start() + len(numerator_text)
        yield self._with_surroundings((-numerator if negative else numerator,), unit, begin, end, "")

    @staticmethod
    def _plain(numeral: str) -> Fraction | None:
        if numeral in VULGAR:
            return Fraction(*VULGAR[numeral])
        if numeral[:1] in hanzi.NUMERAL_CHARS:
            return (
                hanzi.read_hanzi("一" + numeral if numeral in _HUNDREDTHS else numeral) if numeral else None
            )
        return next(iter(read_digits(numeral, "zh")), None)

    def _number(
        self, readings: tuple[Fraction, ...], start: int, end: int, previous: int = 0, digits: str = ""
    ) -> Number:
        negative, unit, start, end = self._affixes.around(start, end, previous)
        if unit.size == _TENTH and self.text[end : end + 1] in hanzi.DIGITS:  # 三成五 is 35%
            readings, end = (readings[0] + Fraction(hanzi.DIGITS[self.text[end]], 10),), end + 1
        if unit.long_scale:
            readings = (*readings, *(value / 1000 for value in readings))
        if negative:
            readings = tuple(-value for value in readings)
        return self._with_surroundings(readings, unit, start, end, digits)

    def _with_surroundings(
        self, readings: tuple[Fraction, ...], unit: Unit, start: int, end: int, digits: str
    ) -> Number:
        written = readings[0]
        role, asserted, direction, bound = surroundings(
            self.text, self.lower, start, end, digits, written, unit
        )
        return Number(
            value=written if unit is BARE else written * unit.factor,
            text=self._original[start:end],
            start=start,
            end=end,
            written=written,
            unit=unit,
            readings=readings,
            role=role,
            asserted=asserted,
            direction=direction,
            bound=bound,
        )
