"""Which of the numbers in an answer is the one it states in the end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from .cues import CORRECTION, REMARK, last_cue
from .mentions import MAX_NUMBERS, NUMERAL, Reader
from .number import Number, same_amount
from .roles import Role, is_year
from .units import Unit
from .vocabulary import words

_LINE_START = re.compile(r"[ \n]*")
_STOP = re.compile(r"[.!?;。！？；\n][ \n]*")
_ABBREVIATIONS = words(
    "vs approx e.g i.e cf fig no env ca inc corp ltd resp incl excl est max min avg p pp rs"
)
_LINK = re.compile(
    r"[ ,(]*(?:[=≈≅(]|(?:or|i\.?e\.?|that is|that's|which is|soit|ou|equivalently|equal to|equals|aka|c'est-à-dire)[ ,:]"
    r"|也就是|即|或|约|等于|/)[ ,=≈(:]*(?:or|i\.e\.|that is|soit|about|approximately|roughly|around|environ|约|exactly)?[ ,=≈(:.]*"
)
_OR = re.compile(
    r"[ ,]*(?:or|ou|或者?)[ ]?(?:about |approximately |perhaps |maybe |even |peut-être |possibly )?"
)
_HEAD = re.compile(
    r"[ \"'(\[{*:：=≈~–|>\n-]*(?:about|around|roughly|approximately|approx\.?|environ|circa|约为?|大约|it is|it's|is|c'est|a|an|the"
    r"|est|de|d'|为|是)*[ :：=≈~$€£¥(+−–\"'-]*"
)
_DATED = re.compile(r"(?:\b(?:in|en|for|of|since|during|year|année|by|until)|[,(])[ ]?$")
_CALCULATION = re.compile(r"[ ()\[\]=≈≅→⇒+*/÷x×·−–$€£-]+(?:about |约|environ )?")

_LONGEST_HEADLINE = 80
_LONGEST_LINK = 40
# Levels of `_level`: from what is asked for to what is never an answer.
_FITTING, _LESS_FITTING, _ASIDE, _YEAR, _LABEL, _NEVER = range(6)


class _Sentences:
    """The sentences of a cleaned answer from a line on, whose numbers are read when they are needed."""

    def __init__(self, reader: Reader, begin: int = 0) -> None:
        self._reader = reader
        self._ends = [stop.end() for stop in _STOP.finditer(reader.text, begin) if _ends_sentence(stop)]
        self._starts = [begin, *self._ends]
        self._numbers: dict[int, list[Number]] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def at(self, position: int) -> int:
        """The index of the sentence in which a position lies."""
        return bisect_right(self._ends, position)

    def start(self, index: int) -> int:
        """Where a sentence begins."""
        return self._starts[index]

    def end(self, index: int) -> int:
        """Where the next one begins, or the text ends."""
        return self._starts[index + 1] if index + 1 < len(self._starts) else len(self._reader.text)

    def numbers(self, index: int) -> list[Number]:
        """The numbers of a sentence."""
        if index not in self._numbers:
            self._numbers[index] = self._reader.numbers(self._starts[index], self.end(index))
        return self._numbers[index]


class Answer:
    """A cleaned answer (see `clean`)."""

    def __init__(self, text: str, language: str | None) -> None:
        self._text = text
        self._reader = Reader(text, text, language)
        self._lower = self._reader.lower

    @cached_property
    def _sentences(self) -> _Sentences:
        return _Sentences(self._reader)

    def numbers(self) -> list[Number]:
        """All numbers of the answer."""
        return self._reader.numbers() or self._reader.spelled()

    def stated(self, unit: Unit, wants_year: bool = False) -> Number | None:
        """The number that the answer states in the end; None where it states none, or two different ones.

        Args:
            unit: what is asked for; numbers that contradict it come last.
            wants_year: whether a calendar year is asked for.
        """
        number = None
        cue = last_cue(self._lower)
        if cue is not None:
            line = _LINE_START.match(self._text, self._text.rfind("\n", 0, cue) + 1)
            sentences = _Sentences(self._reader, line.end() if line else 0)
            order = range(sentences.at(cue), len(sentences))
            number = self._best(sentences, order, unit, wants_year, cue)
        if number is None and NUMERAL.search(self._text):
            sentences = self._sentences
            order = range(len(sentences))
            first = self._answers_first()
            number = self._best(sentences, order if first else reversed(order), unit, wants_year)
        if number is None or (number.role is not Role.VALUE and not wants_year):
            spelled = self._spelled()
            if spelled is not None:
                return spelled
        return None if number is None else self._settled(sentences, number)

    def _spelled(self) -> Number | None:
        """The last number spelled out, or a zero where the answer says that nothing is charged or left."""
        spelled = self._reader.spelled() or self._reader.nothing()
        values = [number for number in spelled if number.role is Role.VALUE] or spelled
        return values[-1] if values else None

    def range_around(self, number: Number) -> list[Number]:
        """Both ends of the range to which a number belongs."""
        sentences = self._sentences
        return [other for other in sentences.numbers(sentences.at(number.start)) if other.in_range]

    def _best(
        self, sentences: _Sentences, order: Iterable[int], unit: Unit, wants_year: bool, cue: int = -1
    ) -> Number | None:
        """The stated number of the first sentence, in this order, that has one of the best level."""
        best: Number | None = None
        best_level, read = _NEVER, 0
        for index in order:
            numbers = sentences.numbers(index)
            read += len(numbers)
            begin = max(sentences.start(index), cue)
            numbers = [number for number in numbers if number.end > begin]
            if numbers:
                demoted = int(cue < 0 and REMARK.match(self._lower, begin) is not None)
                levels = [_level(number, unit, wants_year) + demoted for number in numbers]
                level = min(levels)
                if level < best_level:
                    chosen = [number for number, own in zip(numbers, levels, strict=True) if own == level]
                    best, best_level = self._pick(begin, chosen, unit, cue >= 0), level
            if best_level == _FITTING or read > MAX_NUMBERS:
                break
        return best

    def _answers_first(self) -> bool:
        """Whether the first sentence is nothing but a number and what follows explains it."""
        sentences = self._sentences
        if len(sentences) < 2 or sentences.start(1) > _LONGEST_HEADLINE:
            return False
        first = sentences.numbers(0)
        if len(first) != 1 or first[0].role >= Role.LABEL or not self._stands_alone(0, first[0]):
            return False
        if CORRECTION.search(self._lower, first[0].end):
            return False
        last = next((index for index in range(len(sentences) - 1, 0, -1) if sentences.numbers(index)), 0)
        final = sentences.numbers(last)
        return last == 0 or not (len(final) == 1 and self._stands_alone(last, final[0]))

    def _stands_alone(self, index: int, number: Number) -> bool:
        rest = self._text[number.end : self._sentences.end(index)]
        return not rest.strip(" .。!*\n") and bool(
            _HEAD.fullmatch(self._lower, self._sentences.start(index), number.start)
        )

    def _pick(self, begin: int, chosen: list[Number], unit: Unit, cued: bool) -> Number:
        """The stated one among the numbers of one sentence."""
        if len(chosen) == 1:
            return chosen[0]
        chosen = [number for number in chosen if not self._parenthesised(begin, number.start)] or chosen
        if chosen[0].role is Role.YEAR:  # "2000 in 2021"
            chosen = [number for number in chosen if not self._dated(number.start)] or chosen
        result = next((number for number in reversed(chosen) if number.asserted), chosen[-1])
        calculated = self._text[begin : result.start].rstrip()[-1:] in ("=", "≈")
        if unit.dimension and not calculated:
            chosen = [number for number in chosen if number.unit.dimension == unit.dimension] or chosen
        if cued and _HEAD.fullmatch(self._lower, begin, chosen[0].start):
            return self._end_of_chain(chosen)
        return next((number for number in reversed(chosen) if number.asserted), chosen[-1])

    def _dated(self, position: int) -> bool:
        return _DATED.search(self._lower[max(0, position - 8) : position]) is not None

    def _end_of_chain(self, chosen: list[Number]) -> Number:
        """`84 / 2 = 42`: what stands last, if the head is the start of a calculation."""
        current = chosen[0]
        for following in chosen[1:]:
            if not _CALCULATION.fullmatch(self._lower, current.end, following.start):
                break
            current = following
        return current

    def _parenthesised(self, begin: int, position: int) -> bool:
        return self._text.count("(", begin, position) > self._text.count(")", begin, position)

    def _settled(self, sentences: _Sentences, number: Number) -> Number | None:
        """Another writing of the same number beside it, where that one names its unit; None where two differ."""
        sentence = sentences.numbers(sentences.at(number.start))
        at = next((index for index, other in enumerate(sentence) if other.start == number.start), None)
        if at is None:
            return number
        for first, second in ((at - 1, at), (at, at + 1)):
            if first < 0 or second >= len(sentence):
                continue
            before, after = sentence[first], sentence[second]
            other = before if second == at else after
            if after.start - before.end > _LONGEST_LINK:
                continue
            if same_amount(number, other):
                if number.unit.bare and other.unit.scale != 1:
                    return other
                linked = _LINK.fullmatch(self._lower, before.end, after.start)
                if linked and not number.unit.dimension and other.unit.dimension:
                    return other
            elif before.unit.dimension == after.unit.dimension and _OR.fullmatch(
                self._lower, before.end, after.start
            ):
                return None
        return number


def _ends_sentence(stop: re.Match[str]) -> bool:
    """`5. The` ends a sentence; `5. 3`, `. 3` and `vs. 3` do not."""
    mark = stop[0]
    if mark[0] not in ".!?;" or "\n" in mark:
        return True
    if len(mark) == 1 or mark[0] == ";":
        return len(mark) > 1
    text, at = stop.string, stop.start()
    before = text[at - 1 : at]
    if not before or before == " ":
        return False
    if before.isdigit():
        return text[stop.end() : stop.end() + 1].isalpha()
    return text[max(0, at - 7) : at].lower().rpartition(" ")[2].lstrip("(") not in _ABBREVIATIONS


def _level(number: Number, unit: Unit, wants_year: bool) -> int:
    """How far a number is from being what is asked for."""
    role = number.role
    if role is Role.YEAR or (wants_year and number.unit.bare and is_year(number.written)):
        return _FITTING if wants_year else _YEAR
    if role is Role.VALUE:
        return _LESS_FITTING if wants_year or number.bound or number.unit.contradicts(unit) else _FITTING
    return _ASIDE if role is Role.ASIDE else _LABEL if role is Role.LABEL else _NEVER
