"""All of them, none of them, all but one: answers that name options by their number."""

from __future__ import annotations

import re

from lmms_eval_finance.metrics.answers.options import OptionSet

__all__ = ["read_ordinal", "read_quantifier"]

_THINGS = r"(?:options?|choices?|answers?|statements?|propositions?|affirmations?|reponses?|items?)"
_COUNT = r"(?:two|three|four|five|six|seven|2|3|4|5|6|7|deux|trois|quatre|cinq|six)"
_ALL = re.compile(
    rf"(?<![a-z])(?:everything|all(?: of)?(?: (?:the|these|them|above|listed|given|{_COUNT}|{_THINGS}))*|every (?:one of )?(?:the )?{_THINGS}|each (?:one )?of (?:the|these) {_THINGS}"
    rf"|tou(?:te)?s(?: (?:les|ces|ci-dessus|{_COUNT}|{_THINGS}))*)(?![a-z])"
    r"|(?:以上|上述|所有|全部|每个|这?[二三四五六]个?)?(?:选项|说法|表述|项|陈述)?(?:全部|全都|都|均|皆|全)(?:选|是|正确|对|成立|符合)|全选|全部(?=[。,!]|\Z)"
)
_NONE = re.compile(
    rf"(?<![a-z])(?:none(?: of)?(?: (?:the|these|them|above|listed|{_COUNT}|{_THINGS}))*|no {_THINGS}|not one of (?:the|these) {_THINGS}|neither(?: of them)?"
    rf"|aucune?(?: (?:de|d'|des|ces|les|ci-dessus|{_THINGS}))*)(?![a-z])"
    r"|(?:以上|上述|所有)?(?:选项|说法|表述|项)?(?:都|均|皆)(?:不(?:选|是|正确|对|成立|符合)|错)|没有(?:一[个项])?(?:正确|选项)"
)
# A cheap test first: most replies count nothing.
_COUNTING = (
    "all",
    "every",
    "each",
    "none",
    "no ",
    "not one",
    "neither",
    "tous",
    "toute",
    "aucun",
    "都",
    "均",
    "皆",
    "全",
    "没",
)
_WRONG = re.compile(
    r"[^.!?\n。]{0,12}?\b(?:are|is|were|sont|est)\b[^.!?\n。]{0,20}?\b(?:incorrect|wrong|false|fauss?e?s?|incorrectes?|inexactes?|not)\b"
    r"|[^.!?\n。,]{0,6}(?:错|不正确|不对)"
)
_RULED_OUT = re.compile(
    r"(?:rul\w+ out|eliminat|exclu|discard|reject|ecart|elimin)[^.!?\n]{0,20}\Z|排除[^。]{0,8}\Z"
)
_EXCEPT = re.compile(
    r"(?<![a-z])(?:except|but|save|other than|apart from|excluding|sauf|hormis|excepte|a l'exception de)(?![a-z])|除"
)


_AFFIRMED = re.compile(
    r"[^.!?\n。,]{0,24}?\b(?:correct|true|right|apply|applies|hold|valid|accurate|vraies?|correctes?|exactes?|justes?|bonnes?)\b"
    r"|[)\"']?\s*(?:[.!,。\n\x03]|\Z)"
)


def read_quantifier(
    low: str, items: OptionSet, multiple: bool, rejected: frozenset[str]
) -> frozenset[str] | None:
    """The letters that 'all', 'none' or 'all but' stand for; None where a reply says none of this.

    For a single choice only an option that itself says so can be meant.
    """
    if not any(word in low for word in _COUNTING):
        return None
    everything, nothing = _ALL.search(low), _NONE.search(low)
    match = nothing or everything
    if match is None:
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


_ORDINALS = {
    word: index
    for index, names in enumerate(
        (
            "first 1st premier premiere 一 1", "second 2nd deuxieme seconde 二 2", "third 3rd troisieme 三 3",
            "fourth 4th quatrieme 四 4", "fifth 5th cinquieme 五 5", "sixth 6th sixieme 六 6",
        )
    )
    for word in names.split()
}  # fmt: skip
_PLACED = (
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
_ORDINAL = re.compile(
    r"(?<![a-z])(?P<before>first|1st|second|2nd|third|3rd|fourth|4th|fifth|5th|sixth|6th|premiere?|deuxieme|seconde|troisieme"
    r"|quatrieme|cinquieme|sixieme) (?:options?|one|choice|answer|statement|image|chart|reponse|proposition)(?![a-z])"
    r"|(?<![a-z])(?:option|choice|answer|image|reponse)(?: (?:is|est|number|no\.?|n°))?:? ?[#(]?(?P<after>[1-6])(?![\w.,%]*[\w%])"
    r"|第(?P<chinese>[一二三四五六1-6])(?:个|项|张)?(?:选项|图|答案|项)"
)


def read_ordinal(low: str, items: OptionSet) -> frozenset[str] | None:
    """The option that a reply counts out ('the third option'); None unless there is just one such place."""
    if not any(word in low for word in _PLACED):
        return None
    places = {match[match.lastgroup] for match in _ORDINAL.finditer(low) if match.lastgroup}
    if len(places) != 1:
        return None
    index = _ORDINALS[places.pop()]
    letters = list(items.keys)
    return frozenset(letters[index]) if index < len(letters) else None
