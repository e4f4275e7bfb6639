"""Which of the numbers in an answer is the one it states in the end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction

from ..normalise import boxed_contents, normalise_text, strip_reasoning
from .latex import plain_math
from .mentions import Number, Role
from .units import Unit

MAX_LENGTH = 20_000
"""Of longer texts the end is read: that is where the answer stands."""

_CUE = re.compile(
    r"(?:final |correct |my |short )?answer(?: is| would be| =|\"|')*\s*[:：=]|(?:final |correct |my )?answer(?: to [^.:\n]{1,80})? (?:is|would be|comes to|equals)\b"
    r"|final (?:result|value)(?: is| =)?\s*[:：]?|final answer|####?"
    r"|réponse(?: finale| est| correcte)*\s*[:：=]|la (?:bonne |)réponse (?:finale |correcte |)est\b|réponse finale"
    r"|(?:最终|最后的?|正确)?(?:答案|结果)(?:应该|应)?\s*(?:是|为|[:：=])",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:wait|actually|correction|sorry|scratch that|let me (?:re\w+|correct)|no, |oops|on second thought|attendez|en fait|pardon)|等等|不对|更正|其实",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[^\d\s][.!?])\s+(?=[^\s])|(?<=\d[.!?])\s+(?=[^\W\d])|[。！？；]|\n+|;\s")
_CHAIN = re.compile(r"[=≈≅→⇒]|\b(?:or|ou|i\.e\.|that is|soit|equals|equivalently)\b|即|也就是|或")
_LINK = re.compile(
    r"[\s,(]*(?:[=≈≅(]|,?\s*\(?(?:or|i\.?e\.?|that is|that's|which is|soit|ou|equivalently|equal to|equals|aka|c'est-à-dire|即|也就是|或|约|等于)"
    r"|(?<=\s)/)[\s,=≈(]*(?:about|approximately|roughly|around|environ|约|exactly|as a percentage|in percent|:)?[\s,=≈(]*",
    re.IGNORECASE,
)
_OR = re.compile(
    r"[\s,]*(?:or|ou|或)[\s]*(?:about|approximately|perhaps|maybe|peut-être|possibly)?\s*", re.IGNORECASE
)
_ASSERTS = re.compile(
    r"(?:[=≈≅:→⇒]|\b(?:is|was|are|were|be|equals?|totals?|totall?ed|reached|gives?|yields?|makes?|to|of|by|at|est|était|vaut|atteint|"
    r"s'élève à|de|soit|obtient|stood at)|为|是|达到?|等于|得|至)\s*"
    r"(?:about|around|roughly|approximately|approx\.?|circa|environ|only|just|now|then|therefore|thus|约|大约|近|~|≈|\(|a|an|the|un|une|exactly|equal to)*\s*$"
)
_MARKER = re.compile(r"\(?\d{1,2}[.)、]\s+")
_HEAD = re.compile(
    r"[\s\"'(\[{*:：=≈~–-]*(?:about|around|roughly|approximately|approx\.?|environ|circa|约为?|大约|it is|it's|is|c'est|a|an|the)?[\s:=≈~$€£¥(+−–-]*$",
    re.IGNORECASE,
)


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


_ANY_NUMERAL = re.compile(r"[\d零〇一二三四五六七八九十]")
_BEFORE_BOX = re.compile(r"[-−–+$€£¥(]*$")
_AFTER_BOX = re.compile(r"\}([^\n.。,，;；]{0,30})")


def stated_number(
    text: str, numbers: Sequence[Number], unit: Unit, wants_year: bool = False
) -> Number | None:
    """The number that an answer states in the end; None where it states none, or two different ones.

    Args:
        text: the answer, cleaned.
        numbers: its numbers, as `find_numbers` gives them.
        unit: what is asked for; numbers that contradict it come last, numbers in it first.
        wants_year: whether a calendar year is asked for.
    """
    if not numbers:
        return None
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    sentences: list[list[Number]] = [[] for _ in range(len(ends) + 1)]
    for number in numbers:
        sentences[bisect_right(ends, number.start)].append(number)
    starts = [0, *ends]
    cue = _last_cue(text, numbers[-1].end)
    order = range(len(sentences) - 1, -1, -1)
    first_after = None
    if cue is not None:
        first = bisect_right(ends, cue)
        order = range(first, len(sentences))
        sentences[first] = [number for number in sentences[first] if number.start >= cue - 1]
        first_after = cue
    elif _answers_first(text, sentences, starts):
        order = range(len(sentences))
    for level in _levels(unit, wants_year):
        for index in order:
            chosen = [number for number in sentences[index] if level(number)]
            if chosen:
                begin = max(starts[index], first_after or 0)
                return _resolve(
                    text, _pick(text, begin, chosen, unit, first_after is not None), sentences[index]
                )
    return None


def _levels(unit: Unit, wants_year: bool) -> list[Callable[[Number], bool]]:
    def fitting(number: Number) -> bool:
        return number.role is Role.VALUE and not number.unit.contradicts(unit)

    levels: list[Callable[[Number], bool]] = [
        fitting,
        lambda number: number.role is Role.VALUE,
        lambda number: number.role <= Role.ASIDE,
        lambda number: number.role <= Role.YEAR,
        lambda number: True,
    ]
    return [lambda number: number.role is Role.YEAR, *levels] if wants_year else levels


def _last_cue(text: str, last: int) -> int | None:
    """Where the text after the last answer cue begins, if a number follows it and no correction does."""
    position = None
    for match in _CUE.finditer(text, 0, last):
        position = match.end()
    if position is None:
        return None
    if any(
        match.start() >= position and match.end() < last for match in _CORRECTION.finditer(text, position)
    ):
        return None
    return position


def _answers_first(text: str, sentences: list[list[Number]], starts: list[int]) -> bool:
    """Whether the first line is nothing but a number and what follows explains it."""
    if len(sentences) < 2 or len(sentences[0]) != 1:
        return False
    first = sentences[0][0]
    if (
        first.role is Role.LABEL
        or not _stands_alone(text, starts, 0, first)
        or _CORRECTION.search(text, first.end)
    ):
        return False
    last = len(sentences) - 1
    while last and not sentences[last]:
        last -= 1
    return last == 0 or not (
        len(sentences[last]) == 1 and _stands_alone(text, starts, last, sentences[last][0])
    )


def _stands_alone(text: str, starts: list[int], index: int, number: Number) -> bool:
    end = starts[index + 1] if index + 1 < len(starts) else len(text)
    before, after = text[starts[index] : number.start], text[number.end : end]
    return bool(_HEAD.fullmatch(before)) and not after.strip(" .。!*\n")


def _pick(text: str, begin: int, chosen: list[Number], unit: Unit, cued: bool) -> Number:
    """The stated one among the numbers of one sentence."""
    outside = [number for number in chosen if not _parenthesised(text, begin, number.start)]
    chosen = outside or chosen
    if unit.dimension:
        chosen = [number for number in chosen if number.unit.dimension == unit.dimension] or chosen
    head = chosen[0]
    if cued and _HEAD.fullmatch(text[begin : head.start]):
        return _end_of_chain(text, chosen)
    asserted = [n for n in chosen if _ASSERTS.search(text[max(begin, n.start - 40) : n.start].lower())]
    return asserted[-1] if asserted else chosen[-1]


def _end_of_chain(text: str, chosen: list[Number]) -> Number:
    """`84 / 2 = 42`: what stands after the last sign of equality, if the head is the start of a calculation."""
    current = chosen[0]
    for following in chosen[1:]:
        between = text[current.end : following.start]
        if len(between) > 40 or not _CALCULATION.fullmatch(between):
            break
        current = following
    return current


_CALCULATION = re.compile(r"[\s()\[\]=≈≅→⇒+×*/÷x·−–-]+(?:about|约|environ)?\s*")


def _parenthesised(text: str, begin: int, position: int) -> bool:
    return text.count("(", begin, position) > text.count(")", begin, position)


def _resolve(text: str, number: Number, sentence: list[Number]) -> Number | None:
    """Another writing of the same number beside it, where that one names its unit; None where two differ."""
    index = next(i for i, other in enumerate(sentence) if other is number)
    for other_index in (index - 1, index + 1):
        if not 0 <= other_index < len(sentence):
            continue
        other = sentence[other_index]
        first, second = (other, number) if other_index < index else (number, other)
        between = text[first.end : second.start]
        if len(between) > 40:
            continue
        if (
            number.unit.bare
            and other.unit.dimension
            and _LINK.fullmatch(between)
            and same_amount(number, other)
        ):
            return other
        if (
            _OR.fullmatch(between)
            and not same_amount(number, other)
            and first.unit.dimension == second.unit.dimension
        ):
            return None
    return number


def same_amount(one: Number, other: Number) -> bool:
    """Whether two writings mean one amount, up to rounding (`0.0685` and `6.85%`, `16,640.50` and `16,641`)."""
    readings = {one.value, other.value}
    if one.percent != other.percent:
        readings_of = (one.value, other.value), (one.written, other.written)
        return any(_close(a, b) for a, b in readings_of)
    return len(readings) == 1 or _close(one.value, other.value)


def _close(a: Fraction, b: Fraction) -> bool:
    return abs(a - b) <= abs(a) / 200
