"""All of them, none of them, all but one: answers that name options by their number."""

from __future__ import annotations

import re

from lmms_eval_finance.metrics.answers.lexicon import ALL_OF_THEM, NONE_OF_THEM
from lmms_eval_finance.metrics.answers.options import OptionSet

__all__ = ["read_ordinal", "read_quantifier"]

# A cheap test first: most replies count nothing.
_COUNTING = (
    "all",
    "every",
    "each",
    "none",
    "no ",
    "not one",
    "not a single",
    "neither",
    "tous",
    "toutes",
    "aucun",
)
_COUNTING_CHINESE = ("都", "均", "皆", "全", "没")
_WRONG = re.compile(
    r"[^.!?\n。]{0,12}?\b(?:are|is|were|sont|est)\b[^.!?\n。]{0,20}?\b(?:incorrect|wrong|false|fauss?e?s?|incorrectes?|inexactes?|not)\b"
    r"|[^.!?\n。,]{0,6}(?:错|不正确|不对)"
)
_THE_OTHERS = re.compile(
    r"(?<![a-z])(?:the (?:rest|others?|remaining \w+)|all (?:the )?others|les autres|le reste)[^.!?\n]{0,20}\b"
    r"(?:correct|true|right|correctes?|vraies?|justes?|exactes?)\b|(?:其余|其他|其它)(?:选项|项|的)?(?:都|均|皆|全)?(?:是)?(?:正确|对)"
)
_NOT_QUITE = re.compile(r"(?<![a-z])(?:not|pas) \Z|[不非]\Z")
_RULED_OUT = re.compile(
    r"(?:rul\w+ out|eliminat|exclu|discard|reject|ecart|elimin)[^.!?\n]{0,20}\Z|排除[^。]{0,8}\Z"
)
_EXCEPT = re.compile(
    r"(?<![a-z])(?:except|but|save|other than|apart from|excluding|sauf|hormis|excepte|a l'exception de)(?![a-z])|除"
)


_AFFIRMED = re.compile(
    r"[^.!?\n。,]{0,24}?\b(?:correct|true|right|supported|apply|applies|hold|valid|accurate|vraies?|correctes?|exactes?|justes?|bonnes?)\b"
    r"|[)\"']?\s*(?:[.!,。\n\x03]|\Z)"
)


def read_quantifier(
    low: str, items: OptionSet, multiple: bool, rejected: frozenset[str]
) -> frozenset[str] | None:
    """The letters that 'all', 'none' or 'all but' stand for; None where a reply says none of this.

    For a single choice only an option that itself says so can be meant.
    """
    if rejected and multiple and _THE_OTHERS.search(low):
        return items.labels - rejected
    if not _counts(low):
        return None
    everything, nothing = ALL_OF_THEM.search(low), NONE_OF_THEM.search(low)
    match = nothing or everything
    if match is None or _NOT_QUITE.search(low, 0, match.start()):
        return None
    if rejected and _EXCEPT.search(low):
        ruled_out = nothing or _WRONG.match(low, match.end()) or _RULED_OUT.search(low, 0, match.start())
        return rejected if ruled_out else items.labels - rejected
    affirmed = match[0][0] > "z" or bool(_AFFIRMED.match(low, match.end()))
    if not affirmed or _EXCEPT.search(low):
        return None
    none_right = (match is nothing) != bool(_WRONG.match(low, match.end()))
    own = items.none_of_them if none_right else items.all_of_them
    if own:
        return frozenset(own)
    if not multiple or ((match is nothing) != none_right and match is nothing):
        return None
    return frozenset() if none_right else items.labels


def _counts(low: str) -> bool:
    """Whether a word that can count options stands in a lowered reply."""
    if not low.isascii() and any(word in low for word in _COUNTING_CHINESE):
        return True
    return any(_begins(low, word) for word in _COUNTING)


def _begins(low: str, start: str) -> bool:
    """Whether a word begins like this."""
    at = low.find(start)
    while at > 0 and "a" <= low[at - 1] <= "z":
        at = low.find(start, at + 1)
    return at >= 0


# A word that counts options out -> its place; -1 is the last.
_PLACE = {
    word: place
    for place, names in (
        (0, "first 1st premier premiere 一 1"), (1, "second 2nd deuxieme seconde 二 2"), (2, "third 3rd troisieme 三 3"),
        (3, "fourth 4th quatrieme 四 4"), (4, "fifth 5th cinquieme 五 5"), (5, "sixth 6th sixieme 六 6"),
        (-1, "last derniere dernier"),
    )
    for word in names.split()
}  # fmt: skip
_COUNTED = r"(?:options?|one|choice|answer|statement|image|chart|reponse|proposition)"
_ORDINAL = re.compile(
    rf"(?<![a-z])(?P<before>{'|'.join(word for word in _PLACE if len(word) > 1)}) {_COUNTED}(?![a-z])"
    rf"|(?<![a-z])(?:option|choice|answer|image|reponse)(?: (?:is|est|number|no\.?|n°))?:? ?[#(]?(?P<after>[1-6])(?![\w.,%]*[\w%])"
    r"|第(?P<chinese>[一二三四五六1-6])(?:个|项|张)?(?:选项|图|答案|项)"
)
_COUNTED_WORDS = (
    "option",
    "choice",
    "answer",
    "image",
    "reponse",
    " one",
    "statement",
    "chart",
    "proposition",
    "第",
)


def read_ordinal(low: str, items: OptionSet) -> frozenset[str] | None:
    """The option that a reply counts out ('the third option'); None unless there is just one such place."""
    if not any(word in low for word in _COUNTED_WORDS):
        return None
    places = {_PLACE[match[match.lastgroup]] for match in _ORDINAL.finditer(low) if match.lastgroup}
    letters = list(items.keys)
    if len(places) != 1 or (place := places.pop()) >= len(letters):
        return None
    return frozenset(letters[place])
