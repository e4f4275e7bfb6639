"""Which of the numbers in an answer is the one it states in the end."""

from __future__ import annotations

import re
from bisect import bisect_right

from ..normalise import boxed_contents, normalise_text, strip_reasoning
from .latex import plain_math
from .mentions import MAX_NUMBERS, Number, Reader
from .roles import Role
from .units import Unit

MAX_LENGTH = 20_000
"""Of longer texts the end is read: that is where the answer stands."""

_CUES = (
    ("answer", re.compile(r"answers?[\"'*]*(?: ?[:：=→]| (?:to [^.:\n]{1,80} )?(?:is|are|would be|should be|comes to|equals)\b ?:?)")),
    ("final", re.compile(r"final (?:answer|result|value)[\"'*]*(?: is| =| of)? ?[:：]?")),
    ("value", re.compile(r"value[\"'] ?:")),
    ("result", re.compile(r"result[\"'*]* ?[:：]")),
    ("réponse", re.compile(r"réponse(?: finale| correcte| exacte)?[\"'*]*(?: ?[:：=]| (?:est|serait)(?: donc)?\b ?:?)")),
    ("résultat", re.compile(r"résultat(?: final)?[\"'*]* ?(?:[:：]|est\b)")),
    ("答案", re.compile(r"答案[\"'*]*(?:应该|应|就)?(?:是|为|[:：=])?[:：]?")),
    ("结果", re.compile(r"结果[\"'*]*(?:应该|应|就)?(?:是|为|[:：=])[:：]?")),
    ("####", re.compile(r"####")),
)  # fmt: skip
_CORRECTION = re.compile(
    r"\b(?:wait|actually|correction|scratch that|let me (?:re\w+|correct)|no,|oops|on second thought|attendez|en fait|pardon|erratum)\b"
    r"|等等|不对|更正|其实"
)
_ABBREVIATIONS = frozenset("vs approx e.g i.e cf fig no env ca inc corp ltd resp incl excl est max min avg p pp rs".split())
_STOP = re.compile(r"[.!?;][ ]+|[。！？；]|\n+")
_REMARK = re.compile(
    r"[ *>(-]*(?:note|nb|n\.b|this compares|by comparison|for comparison|in comparison|for reference|in contrast|this assumes|"
    r"assum|disclaimer|source|rounded|confidence|let me know|i hope|feel free|please|if you|see |n'hésitez|si vous|如需|如果您|希望|请|置信|certitude|confiance|remarque|à noter|pour rappel|à titre de comparaison|pour comparaison|注|备注|相比|其中|作为对比)"
)
_LINK = re.compile(
    r"[ ,(]*(?:[=≈≅(]|(?:or|i\.?e\.?|that is|that's|which is|soit|ou|equivalently|equal to|equals|aka|c'est-à-dire|也就是|即|或|约|等于)[ ,:]"
    r"|也就是|即|或|约|等于|/)[ ,=≈(:]*(?:or|i\.e\.|that is|soit|about|approximately|roughly|around|environ|约|exactly)?[ ,=≈(:.]*"
)
_OR = re.compile(
    r"[ ,]*(?:or|ou|或者?)[ ]?(?:about |approximately |perhaps |maybe |even |peut-être |possibly )?"
)
_HEAD = re.compile(
    r"[ \"'(\[{*:：=≈~–|>\n-]*(?:about|around|roughly|approximately|approx\.?|environ|circa|约为?|大约|it is|it's|is|c'est|a|an|the|est|de|d'|为|是)*[ :：=≈~$€£¥(+−–\"'-]*"
)
_CALCULATION = re.compile(r"[ ()\[\]=≈≅→⇒+*/÷x×·−–$€£-]+(?:about |约|environ )?")
_ANY_NUMERAL = re.compile(r"[\d零〇一二三四五六七八九十]")
_BEFORE_BOX = re.compile(r"[-−–+$€£¥(]*$")
_AFTER_BOX = re.compile(r"\}([^\n.。,，;；]{0,30})")

_LONGEST_HEADLINE = 80
_LEVELS = 5


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
        if not _ANY_NUMERAL.search(content):
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


class Answer:
    """A cleaned answer and its sentences, whose numbers are read when they are needed."""

    def __init__(self, text: str, language: str | None) -> None:
        self.text = text
        self.reader = Reader(text, text, language)
        self.lower = self.reader.lower
        self._ends = [stop.end() for stop in _STOP.finditer(text) if self._ends_sentence(stop)]
        self._starts = [0, *self._ends]
        self._numbers: dict[int, list[Number]] = {}

    @staticmethod
    def _ends_sentence(stop: re.Match[str]) -> bool:
        """`5. The` ends a sentence; `5. 3`, `. 3` and `vs. 3` do not."""
        if stop[0][0] not in ".!?":
            return True
        text, at = stop.string, stop.start()
        before = text[at - 1 : at]
        if not before or before == " ":
            return False
        if before.isdigit():
            return text[stop.end() : stop.end() + 1].isalpha()
        return text[max(0, at - 7) : at].lower().rpartition(" ")[2].lstrip("(") not in _ABBREVIATIONS

    def numbers(self) -> list[Number]:
        """All numbers of the answer."""
        return self.reader.numbers() or self.reader.spelled()

    def stated(self, unit: Unit, wants_year: bool = False) -> Number | None:
        """The number that the answer states in the end; None where it states none, or two different ones.

        Args:
            unit: what is asked for; numbers that contradict it come last.
            wants_year: whether a calendar year is asked for.
        """
        cue = self._last_cue()
        if cue is not None:
            number, level = self._search(
                range(bisect_right(self._ends, cue), len(self._starts)), unit, wants_year, cue
            )
            if number is not None:
                return self._settled(number)
        order = range(len(self._starts) - 1, -1, -1)
        number, level = self._search(
            range(len(self._starts)) if self._answers_first() else order, unit, wants_year
        )
        if number is None or (level > 2 and not wants_year):
            spelled = self.reader.spelled() or self.reader.nothing()
            if spelled and (number is None or number.role is Role.LABEL):
                return next((n for n in reversed(spelled) if n.role is Role.VALUE), spelled[-1])
        return None if number is None else self._settled(number)

    def range_around(self, number: Number) -> list[Number]:
        """Both ends of the range to which a number belongs."""
        sentence = self._sentence(bisect_right(self._ends, number.start))
        return [other for other in sentence if other.in_range]

    def _sentence(self, index: int) -> list[Number]:
        if index not in self._numbers:
            end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)
            self._numbers[index] = self.reader.numbers(self._starts[index], end)
        return self._numbers[index]

    def _search(
        self, order: range, unit: Unit, wants_year: bool, cue: int | None = None
    ) -> tuple[Number | None, int]:
        """The best number of the first sentence (in this order) that has one of the best level."""
        best: Number | None = None
        best_level, read = _LEVELS, 0
        for index in order:
            numbers = self._sentence(index)
            read += len(numbers)
            begin = self._starts[index]
            if cue is not None and begin < cue:
                begin = cue
                numbers = [number for number in numbers if number.end > cue]
            if numbers:
                demoted = 1 if cue is None and _REMARK.match(self.lower, begin) else 0
                levels = [_level(number, unit, wants_year) + demoted for number in numbers]
                level = min(levels)
                if level < best_level:
                    chosen = [number for number, own in zip(numbers, levels) if own == level]
                    best, best_level = self._pick(begin, chosen, unit, cue is not None), level
            if best_level == 0 or read > MAX_NUMBERS:
                break
        return best, best_level

    def _last_cue(self) -> int | None:
        """Where the text after the last answer cue begins, if a numeral follows it and no correction does."""
        lower = self.lower
        numeral = _ANY_NUMERAL.search(lower[::-1])
        stop = len(lower) - numeral.start() if numeral else 0
        last = -1
        for hint, pattern in _CUES:
            position = lower.rfind(hint, 0, stop)
            while position > last:
                match = pattern.match(lower, position, stop)
                if match and match.end() < stop:
                    last = max(last, match.end())
                    break
                position = lower.rfind(hint, 0, position)
        if last < 0:
            return None
        corrected = [
            match for match in _CORRECTION.finditer(lower, last) if _ANY_NUMERAL.search(lower, match.end())
        ]
        return None if corrected else last

    def _answers_first(self) -> bool:
        """Whether the first sentence is nothing but a number and what follows explains it."""
        if len(self._starts) < 2 or self._starts[1] > _LONGEST_HEADLINE:
            return False
        first = self._sentence(0)
        if len(first) != 1 or first[0].role is Role.LABEL or not self._stands_alone(0, first[0]):
            return False
        if _CORRECTION.search(self.lower, first[0].end):
            return False
        last = len(self._starts) - 1
        while last and not self._sentence(last):
            last -= 1
        final = self._sentence(last)
        return last == 0 or not (len(final) == 1 and self._stands_alone(last, final[0]))

    def _stands_alone(self, index: int, number: Number) -> bool:
        start = self._starts[index]
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)
        return bool(_HEAD.fullmatch(self.lower, start, number.start)) and not self.text[
            number.end : end
        ].strip(" .。!*\n")

    def _pick(self, begin: int, chosen: list[Number], unit: Unit, cued: bool) -> Number:
        """The stated one among the numbers of one sentence."""
        if len(chosen) == 1:
            return chosen[0]
        chosen = [number for number in chosen if not self._parenthesised(begin, number.start)] or chosen
        if unit.dimension:
            chosen = [number for number in chosen if number.unit.dimension == unit.dimension] or chosen
        if cued and _HEAD.fullmatch(self.lower, begin, chosen[0].start):
            return self._end_of_chain(chosen)
        return next((number for number in reversed(chosen) if number.asserted), chosen[-1])

    def _end_of_chain(self, chosen: list[Number]) -> Number:
        """`84 / 2 = 42`: what stands last, if the head is the start of a calculation."""
        current = chosen[0]
        for following in chosen[1:]:
            if not _CALCULATION.fullmatch(self.lower, current.end, following.start):
                break
            current = following
        return current

    def _parenthesised(self, begin: int, position: int) -> bool:
        return self.text.count("(", begin, position) > self.text.count(")", begin, position)

    def _settled(self, number: Number) -> Number | None:
        """Another writing of the same number beside it, where that one names its unit; None where two differ."""
        sentence = self._sentence(bisect_right(self._ends, number.start))
        index = next((i for i, other in enumerate(sentence) if other.start == number.start), -1)
        for other_index in (index - 1, index + 1):
            if index < 0 or not 0 <= other_index < len(sentence):
                continue
            other = sentence[other_index]
            first, second = (other, number) if other_index < index else (number, other)
            if second.start - first.end > 40:
                continue
            if (
                not number.unit.dimension
                and other.unit.dimension
                and _LINK.fullmatch(self.lower, first.end, second.start)
            ):
                if same_amount(number, other):
                    return other
            if number.unit.bare and other.unit.scale != 1 and same_amount(number, other):
                return other
            if _OR.fullmatch(self.lower, first.end, second.start) and not same_amount(number, other):
                if first.unit.dimension == second.unit.dimension:
                    return None
        return number


def _level(number: Number, unit: Unit, wants_year: bool) -> int:
    """How far a number is from being what is asked for; 0 is what is asked for."""
    if number.role is Role.YEAR:
        return 0 if wants_year else 3
    if number.role is Role.LABEL:
        return 4
    if number.role is Role.ASIDE:
        return 2
    return 1 if wants_year or number.unit.contradicts(unit) else 0


def same_amount(one: Number, other: Number) -> bool:
    """Whether two writings mean one amount, up to rounding (`0.0685` and `6.85%`, `16,640.50` and `16,641`)."""
    if _close(one, other, written=False):
        return True
    return one.percent != other.percent and _close(one, other, written=True)


def _close(one: Number, other: Number, written: bool) -> bool:
    a, b = (one.written, other.written) if written else (one.value, other.value)
    return abs(a - b) * 200 <= abs(a)
