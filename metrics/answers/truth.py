"""True or false, yes or no, 对 or 错, vrai or faux: reading a verdict where the options are just these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["read_truth"]

_VERDICT = re.compile(
    r"(?<![a-z])(?:(?P<true>true|agree|correct|right|accurate|vraie?|correcte|exacte?|juste)"
    r"|(?P<false>false|disagree|incorrect|wrong|untrue|inaccurate|fausse|faux|incorrecte|inexacte?)"
    r"|(?P<yes>yes|oui)|(?P<no>no|non))(?![a-z'])"
    r"|(?P<zh_true>正确|属实|(?<![a-z])对(?=的|[,。!;]|\Z)|√|✓|(?<=\A)是(?=的|[,。!;]|\Z))"
    r"|(?P<zh_false>错误|有误|不成立|错(?=的|[,。!;]|\Z)|×|✗|(?<=\A)否(?=[,。!;]|\Z))"
)
_SAYS_TRUE = frozenset(["true", "yes", "zh_true"])
_NEGATED = re.compile(
    r"(?:(?<![a-z])(?:not|don't|never|isn't|wasn't|aren't|cannot be|can't be|pas|n'est|hardly|neither)"
    r"(?: (?:an?|the|la|une?|entirely|really|quite|strictly|necessarily|be|considered|tout a fait|totalement|affirmation"
    r"|statement))* |不(?:是)?(?:完全|太|算)?|并非|并不|非)\Z"
)
# What announces a verdict: an answer word, or the statement that is judged.
_ANNOUNCED = re.compile(
    r"\x02[\"' ]*\Z|(?:(?:statement|claim|assertion|affirmation|proposition|enonce|说法|表述|判断|命题)"
    r" ?(?:is|was|seems|est|n'est|是)?(?: not| pas|并?不)?|answer|reponse|verdict|conclusion|result|答案|结论|therefore|so"
    r"|thus|hence|donc|因此|所以)(?: ?(?:is|est|:|=|为|是|,))* *[\"'(]?\Z"
)
# 'Yes' and 'no' are common words: they count where a sentence opens with them, and pauses or goes on with its subject.
_SAID_ALONE = re.compile(
    r"[\"')*\x03]*(?:\s*[.,;:!(\n\x03-]|\s*\Z| (?:it|the|this|that|because|since|il|elle|le|la|les|car|on)\b)"
)
_ALTERNATIVE_AFTER = re.compile(r" ?(?:or |ou |and no\b|et non\b|还是|或|/)")
_ALTERNATIVE_BEFORE = re.compile(r"(?: or| ou|还是|或|/) ?\Z")
_OPENING = " *\"'(\x02"


class _Verdict(NamedTuple):
    position: int
    value: bool
    announced: bool


def read_truth(low: str, truth: Mapping[bool, str]) -> str | None:
    """The letter of the verdict that a lowered reply gives; None where it gives none, or both.

    A verdict that an answer cue announces decides, then the reply's first word, then the
    last sentence that holds one. Negated words count as their opposite.

    >>> read_truth("it is not true.", {True: "A", False: "B"})
    'B'
    """
    verdicts = list(_verdicts(low))
    if not verdicts:
        return None
    announced = [verdict.value for verdict in verdicts if verdict.announced]
    if announced:
        return truth[announced[-1]]
    if not low[: verdicts[0].position].strip(_OPENING):
        return truth[verdicts[0].value]
    last_sentence = max(low.rfind(stop, 0, verdicts[-1].position) for stop in (". ", "\n", "。", "! ", "? "))
    values = {verdict.value for verdict in verdicts if verdict.position > last_sentence}
    return truth[values.pop()] if len(values) == 1 else None


def _verdicts(low: str) -> Iterator[_Verdict]:
    for match in _VERDICT.finditer(low):
        before = low[max(0, match.start() - 40) : match.start()]
        announced = bool(_ANNOUNCED.search(before))
        if match.lastgroup in ("yes", "no"):
            opens = not before.strip(_OPENING) or before.rstrip(" ").endswith(("\n", ".", "\x02"))
            if not (opens or announced) or not _SAID_ALONE.match(low, match.end()):
                continue
        if _ALTERNATIVE_AFTER.match(low, match.end()) or _ALTERNATIVE_BEFORE.search(before):
            continue
        value = (match.lastgroup in _SAYS_TRUE) != bool(_NEGATED.search(before))
        yield _Verdict(match.start(), value, announced)
