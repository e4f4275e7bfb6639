"""What a number does in its sentence, told by the words beside it."""

from __future__ import annotations

import re
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

from .signs import direction
from .units import MONEY, Unit
from .vocabulary import words

_IDEOGRAPHS = "\u2e80"
_WINDOW = 60
"""So many characters before a number are looked at."""


class Role(IntEnum):
    """The lower, the likelier it is what a question asks for."""

    VALUE = 0
    ASIDE = 1
    """What the answer is compared with, based on or not equal to."""
    YEAR = 2
    LABEL = 3
    """A name that can be asked for: category 6, article 8, 2nd, 10-year."""
    REFERENCE = 4
    """A name that is never an answer: table 3, page 2, S&P 500, list numbering."""


class Surroundings(NamedTuple):
    """What the words around a number say about it (see `Number`)."""

    role: Role
    asserted: bool
    direction: int
    bound: str


ASSERTS, ASIDE, LESS, MORE, NEUTRAL = "=", "?", "<", ">", ""

_PHRASES = {
    ASSERTS: "is|was|are|were|be|equals|equal|totals|totaled|totalled|reached|reaches|reach|gives|give|gave|yields|yield|makes|"
    "make|to|get|gets|got|obtain|obtains|find|have|becomes|became|results in|resulted in|resulting in|leads to|hence|thus|"
    "therefore|so|it's|that's|approximates|averaged|averages|est|était|sont|vaut|valait|atteint|atteignait|est de|était de|"
    "s'élève à|s'élevait à|s'établit à|s'élèvent à|passe à|soit|donc|obtient|obtenons|trouve|c'est|représente|stood at|stands at|"
    "is at|was at|are at|were at|sits at|should be|would be|but",
    ASIDE: "not|not a|not the|isn't|wasn't|pas|pas de|et non|from|up from|down from|than|against|versus|vs|vs.|compared to|"
    "compared with|contre|par rapport à|rather than|instead of|au lieu de|plutôt que|based on|using|given|with|assuming|"
    "excluding|after|for|out of|sur|pendant|avec|pour|rounded to|arrondi à|arrondie à|within|at|selon|hors|in|among|dans|"
    "during|every|each|per|par|top|first|last|next|previous|of the|of these|of all|±|+/-|dont|including",
    LESS: "less than|lower than|below|under|fewer than|<|moins de|inférieur à|inférieure à|inférieurs à|short of",
    MORE: "more than|greater than|above|exceeds|exceeding|exceeded|over|>|plus de|supérieur à|supérieure à|au-delà de|higher than",
    NEUTRAL: "at most|up to|no more than|not more than|not exceed|not exceeding|maximum of|maximum|max|<=|≤|au plus|jusqu'à|"
    "at least|no less than|not less than|no fewer than|minimum of|minimum|min|>=|≥|au moins",
}
_TAGS = {phrase: tag for tag, phrases in _PHRASES.items() for phrase in phrases.split("|")}
_ASSERTING_SIGNS = "=≈≅:→⇒∴"
_CHINESE_PHRASES = {
    NEUTRAL: "不超过|至多|最多|至少|不少于|不低于|不高于",
    LESS: "小于|少于|不到|不足|低于",
    MORE: "超过|大于|多于|超",
    ASIDE: "高于|而不是|不是|而非|并非|相比|基于|假设|较|比|从|由|除以|减去|乘以",
    ASSERTS: "为|是|达|达到|等于|得|至|到|即|应为|共|有",
}
_CHINESE_TAGS = tuple((tuple(phrases.split("|")), tag) for tag, phrases in _CHINESE_PHRASES.items())
_HEDGES = words(
    "about around roughly approximately approx approx. circa ca. c. environ ~ a an the some only just nearly almost"
    " exactly now then quelque presque près d'environ estimated rated"
)
_COPULAS = words("is was are were equals totals gives yields est était vaut")
_CHINESE_HEDGES = ("大约", "约为", "约", "近", "大概", "仅", "将近")

# A clause that begins so tells what a value is based on or compared with.
_OPENERS = words(
    "using based given assuming with compared versus vs excluding against because since rather instead including whereas"
    " when if avec contre hors dont sachant supposant selon where computed calculated derived from after"
)
_CLAUSE_BREAK = re.compile(
    r"[,;:(（，；：—]\s*|\s[-–]\s|\s(?=(?:with|using|based|assuming|compared|versus|vs|including|excluding|given|avec|contre) )"
)
# Such a clause gives reasons, even where it asserts.
_REASON = re.compile(
    r"\b(?:because|since|where|whereas|while|car|puisque|parce que|où|tandis que)\b[^,;:(]*$|(?:因为|由于|其中)[^，,；]*$"
)

_LABELS = words(
    "article articles case option item items tier version stage phase scenario rule form type id code"
    " basel solvency ifrs ias"
)
_REFERENCES = words(
    "table tables figure figures fig exhibit exhibits chart charts note notes page pages p pp step steps section sections"
    " question questions chapter eq equation line row column appendix tableau graphique étape annexe n n° no problem"
    " exercise example exemple sheet panel slide footnote box part stoxx cac sbf msci nasdaq ftse russell dax nikkei topix"
    " csi s&p p&p ibex"
)
_CHINESE_LABELS_AFTER = ("季度", "月份", "月", "号", "日", "年期", "位")
_CHINESE_REFERENCES = ("图", "表", "沪深", "中证", "上证", "步骤", "附注", "题", "例", "创业板", "科创", "标普", "纳斯达克")  # fmt: skip
_ORDINAL = re.compile(r"(?:st|nd|rd|th|ère|er|re|e|è|ème|eme|ième|º|ª)(?![a-zà-ÿ])")
_DECIMAL_PLACES = re.compile(
    r"[ -](?:decimals?|dp|d\.p\.|digits|significant|sig|décimales?|chiffres après)\b|位小数"
)
_MARKER = re.compile(r"[.)、）](?=[ ]?\S)|:(?= )")
_LARGEST_MARKER = 50


def surroundings(
    text: str, lower: str, start: int, end: int, digits: str, value: Fraction, unit: Unit
) -> Surroundings:
    """What the words around a number say about it.

    Args:
        text: the text with plain blanks and digits.
        lower: the same in lower case.
        start: where the number begins, its sign, currency and bracket included.
        end: where it ends, its unit included.
        digits: its digits, "" for a number without.
        value: its value as written.
        unit: what stands beside it.
    """
    line = lower.rfind("\n", max(0, start - _WINDOW), start) + 1 or max(0, start - _WINDOW)
    left, right = lower[line:start], lower[end : end + 24]
    before = _words_before(left)
    tag = _tag(before)
    if tag == ASIDE and before[-1] == "at" and unit.dimension == MONEY:
        tag = NEUTRAL  # "trades at $40", but "discounted at 10%"
    role = _name(text, left, before, right, end, value) if digits and unit.bare else None
    if role is None:
        if digits and unit.bare and is_year(value) and digits.isdigit() and not _states(left, before):
            role = Role.YEAR
        elif tag == ASIDE or (tag != ASSERTS and _in_aside_clause(left)) or _REASON.search(left):
            role = Role.ASIDE
        elif tag == MORE and before[-1] == "over" and unit.dimension in ("months", "days"):
            role, tag = Role.ASIDE, NEUTRAL  # "over 5 years"
        else:
            role = Role.VALUE
    bound = tag if tag in (LESS, MORE) else ""
    return Surroundings(role, tag == ASSERTS, direction(before, right), bound)


def is_year(value: Fraction) -> bool:
    """Whether a number can be a calendar year."""
    return value.denominator == 1 and 1900 <= value <= 2100


def _states(left: str, before: list[str]) -> bool:
    """Whether the words before a number equate something with it."""
    return left.endswith(("=", "= ")) or bool(before and before[-1] in _COPULAS)


def _words_before(left: str) -> list[str]:
    """The last words of the text before a number, hedges (`about`, `约`) and signs left out."""
    left = left.rstrip(" $€£¥(\"'[~")
    if left and left[-1] >= _IDEOGRAPHS:
        for hedge in _CHINESE_HEDGES:
            left = left.removesuffix(hedge)
    before = left.rsplit(None, 6)[-6:]
    while before and before[-1] in _HEDGES:
        before.pop()
    return before


def _tag(before: list[str]) -> str:
    """What the words before a number say: it is asserted, an aside, or a limit."""
    if not before:
        return NEUTRAL
    last = before[-1]
    for count in (3, 2, 1):
        if len(before) >= count:
            tag = _TAGS.get(last if count == 1 else " ".join(before[-count:]).lstrip("("))
            if tag is not None:
                closed_at = last == "at" and tag == ASIDE and len(before) > 1 and before[-2].endswith("ed")
                return ASSERTS if closed_at else tag
    if last == "of" and len(before) > 1 and (before[-2][-1].isdigit() or "out" in before[-5:]):
        return ASIDE  # 5 of the 8 funds
    if last[-1] in _ASSERTING_SIGNS or last.endswith(("->", "=>")):
        return ASSERTS
    if last[-1] in "<>":
        return last[-1]
    if last[-1] >= _IDEOGRAPHS:
        for endings, tag in _CHINESE_TAGS:
            if last.endswith(endings):
                return tag
    return NEUTRAL


def _in_aside_clause(left: str) -> bool:
    """Whether the clause before a number begins like a side remark (`using ...`, `compared with ...`)."""
    begin = 0
    for match in _CLAUSE_BREAK.finditer(left):
        begin = match.end()
    first = left[begin:].split(None, 1)
    return bool(first) and first[0] in _OPENERS


def _name(text: str, left: str, before: list[str], right: str, end: int, value: Fraction) -> Role | None:
    """The role of a bare number that names a thing instead of counting or measuring, else None."""
    whole = value.denominator == 1
    if right and whole:
        role = _name_after(right)
        if role is not None:
            return role
        if right[0] in ".)、）:" and _is_list_marker(text, left, right, end, abs(int(value))):
            return Role.REFERENCE
    if not left:
        return None
    if left.endswith(_CHINESE_REFERENCES):
        return Role.REFERENCE
    if left.endswith("第"):
        return Role.LABEL
    word = before[-1].rstrip("°.#").rpartition(".")[2].lstrip("(") if before else ""
    if word in _REFERENCES:
        return Role.REFERENCE
    return Role.LABEL if whole and word in _LABELS else None


def _name_after(right: str) -> Role | None:
    first = right[0]
    if first.isalpha() and first < _IDEOGRAPHS:
        return None if first == "x" and not right[1:2].isalnum() else Role.LABEL
    if _DECIMAL_PLACES.match(right):
        return Role.REFERENCE
    hyphened = first == "-" and right[1:2].isalpha()
    if hyphened or right.startswith(_CHINESE_LABELS_AFTER) or _ORDINAL.match(right):
        return Role.LABEL
    return None


def _is_list_marker(text: str, left: str, right: str, end: int, value: int) -> bool:
    """Whether a number at the start of a line numbers it (`1. 25%`, `(2) ...`)."""
    if left.strip(" (（") or value > _LARGEST_MARKER or not _MARKER.match(right):
        return False
    stop = text.find("\n", end)
    rest = text[end + 1 : stop if stop >= 0 else len(text)].strip()
    if not rest:
        return False
    if value == 1 or rest[0] in "$€£¥-+" or rest[0].isdigit():
        return True
    return any(re.search(rf"(?:^|\n)[ (（]*{value + step}[.)、）:]", text) for step in (-1, 1))
