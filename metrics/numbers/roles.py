"""What a number does in its sentence, told by the words beside it."""

from __future__ import annotations

import re
from enum import IntEnum

_IDEOGRAPHS = "\u2e80"


class Role(IntEnum):
    """The lower, the likelier it is what a question asks for."""

    VALUE = 0
    ASIDE = 1
    """What the answer is compared with, based on or not equal to."""
    YEAR = 2
    LABEL = 3
    """List numbering, table 3, article 8, S&P 500, 10-year, 2nd."""


ASSERTS, ASIDE, LESS, MORE = "=", "?", "<", ">"

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
    "": "at most|up to|no more than|not more than|not exceed|not exceeding|maximum of|maximum|max|<=|≤|au plus|jusqu'à|"
    "at least|no less than|not less than|no fewer than|minimum of|minimum|min|>=|≥|au moins",
}
_TAGS = {phrase: tag for tag, phrases in _PHRASES.items() for phrase in phrases.split("|")}
_ASSERTING_SIGNS = "=≈≅:→⇒∴"
_CHINESE_TAGS = (
    (("不超过", "至多", "最多", "至少", "不少于", "不低于", "不高于"), ""),
    (("小于", "少于", "不到", "不足", "低于"), LESS),
    (("超过", "大于", "多于", "超"), MORE),
    (("高于", "而不是", "不是", "而非", "并非", "相比", "基于", "假设", "较", "比", "从", "由", "除以", "减去", "乘以"), ASIDE),
    (("为", "是", "达", "达到", "等于", "得", "至", "到", "即", "应为", "共", "有"), ASSERTS),
)  # fmt: skip
_HEDGES = frozenset(
    [
        "about",
        "around",
        "roughly",
        "approximately",
        "approx",
        "approx.",
        "circa",
        "ca.",
        "c.",
        "environ",
        "~",
        "a",
        "an",
        "the",
        "some",
        "only",
        "just",
        "nearly",
        "almost",
        "exactly",
        "now",
        "then",
        "quelque",
        "presque",
        "près",
        "d'environ",
        "an",
        "estimated",
        "estimated",
        "rated",
    ]
)
_CHINESE_HEDGES = ("大约", "约为", "约", "近", "大概", "仅", "将近")

# A clause that begins so tells what a value is based on or compared with.
_OPENERS = frozenset(
    [
        "using",
        "based",
        "given",
        "assuming",
        "with",
        "compared",
        "versus",
        "vs",
        "excluding",
        "against",
        "because",
        "since",
        "rather",
        "instead",
        "including",
        "whereas",
        "when",
        "if",
        "avec",
        "contre",
        "hors",
        "dont",
        "sachant",
        "supposant",
        "selon",
        "where",
        "computed",
        "calculated",
        "derived",
        "from",
        "after",
    ]
)
_CLAUSE_BREAK = re.compile(r"[,;:(（，；：—]\s*|\s[-–]\s")

_LABELS = frozenset(
    [
        "table",
        "tables",
        "figure",
        "figures",
        "fig",
        "exhibit",
        "exhibits",
        "chart",
        "charts",
        "note",
        "notes",
        "page",
        "pages",
        "p",
        "pp",
        "step",
        "steps",
        "section",
        "sections",
        "article",
        "articles",
        "question",
        "questions",
        "case",
        "option",
        "item",
        "items",
        "chapter",
        "eq",
        "equation",
        "line",
        "row",
        "column",
        "tier",
        "appendix",
        "tableau",
        "graphique",
        "étape",
        "annexe",
        "version",
        "no",
        "n",
        "n°",
        "stoxx",
        "cac",
        "sbf",
        "msci",
        "nasdaq",
        "ftse",
        "russell",
        "dax",
        "nikkei",
        "topix",
        "csi",
        "s&p",
        "p&p",
        "ibex",
        "stage",
        "phase",
        "scenario",
        "problem",
        "exercise",
        "ifrs",
        "ias",
        "rule",
        "form",
        "grade",
        "sheet",
        "panel",
        "slide",
        "fy",
        "class",
        "level",
        "type",
        "version",
        "id",
        "code",
        "basel",
        "solvency",
        "footnote",
        "box",
        "part",
    ]
)
_CHINESE_LABELS = (
    "第",
    "图",
    "表",
    "沪深",
    "中证",
    "上证",
    "步骤",
    "附注",
    "题",
    "例",
    "创业板",
    "科创",
    "标普",
    "纳斯达克",
)
_CHINESE_LABELS_AFTER = ("季度", "月份", "月", "号", "日", "位小数", "年期", "位")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|ère|er|re|e|è|ème|eme|ième|º|ª)(?![a-zà-ÿ])")
_MARKER = re.compile(r"[.)、）](?=[ ]?\S)|:(?= )")
_DECIMAL_PLACES = re.compile(
    r"[ -](?:decimals?|decimal places?|dp|d\.p\.|digits|significant|sig|décimales?|chiffres après)\b|位小数"
)


def words_before(left: str) -> list[str]:
    """The last words of the text before a number, hedges (`about`, `约`) and signs left out."""
    left = left.rstrip(" $€£¥(\"'[~")
    if left and left[-1] >= _IDEOGRAPHS:
        for hedge in _CHINESE_HEDGES:
            left = left.removesuffix(hedge)
    words = left.rsplit(None, 6)[-6:]
    while words and words[-1] in _HEDGES:
        words.pop()
    return words


def tag_of(words: list[str]) -> str:
    """What the words before a number say: it is asserted, an aside, or a limit; "" for nothing."""
    if not words:
        return ""
    last = words[-1]
    for count in (3, 2, 1):
        if len(words) >= count:
            tag = _TAGS.get(last if count == 1 else " ".join(words[-count:]).lstrip("("))
            if tag is not None:
                if last == "at" and tag == ASIDE and len(words) > 1 and words[-2].endswith("ed"):
                    return ASSERTS
                return tag
    if last == "of" and len(words) > 1 and (words[-2][-1].isdigit() or "out" in words[-5:]):
        return ASIDE  # 5 of the 8 funds
    if last[-1] in _ASSERTING_SIGNS or last.endswith(("->", "=>")):
        return ASSERTS
    if last[-1] in "<>":
        return last[-1]
    if last[-1] >= _IDEOGRAPHS:
        for endings, tag in _CHINESE_TAGS:
            if last.endswith(endings):
                return tag
    return ""


def in_aside_clause(left: str) -> bool:
    """Whether the clause before a number begins like a side remark (`using ...`, `compared with ...`).

    >>> in_aside_clause("it is 100, using a rate of "), in_aside_clause("using the table, it is ")
    (True, False)
    """
    begin = 0
    for match in _CLAUSE_BREAK.finditer(left):
        begin = match.end()
    words = left[begin:].split(None, 1)
    return bool(words) and words[0] in _OPENERS


def is_label(left: str, words: list[str], right: str) -> bool:
    """Whether a bare whole number names a thing instead of counting or measuring."""
    if right:
        first = right[0]
        if first.isalpha() and first < _IDEOGRAPHS:
            return not (first == "x" and not right[1:2].isalnum())
        if first == "-" and right[1:2].isalpha():
            return True
        if right.startswith(_CHINESE_LABELS_AFTER) or _DECIMAL_PLACES.match(right) or _ORDINAL.match(right):
            return True
    if not left:
        return False
    if left.endswith(_CHINESE_LABELS):
        return True
    if not words:
        return False
    return words[-1].rstrip("°.#").rpartition(".")[2].lstrip("(") in _LABELS


def is_list_marker(before_on_line: str, right: str, value: int, rest: str, text: str) -> bool:
    """Whether a number at the start of a line numbers it (`1. 25%`, `(2) ...`)."""
    if value > 50 or before_on_line.strip(" (（") or not _MARKER.match(right):
        return False
    if value == 1 or rest[:1] in "$€£¥-+" or rest[:1].isdigit():
        return True
    return any(re.search(rf"(?:^|\n)[ (（]*{value + step}[.)、）:]", text) for step in (-1, 1))
