"""The little language the rules know: words without content, one spelling for many, opposites."""

from __future__ import annotations

import re

__all__ = [
    "KINDS",
    "LEGAL_FORMS",
    "OPPOSITES_ZH",
    "SIDE_OF",
    "SPELLED",
    "STOP_WORDS",
    "SYNONYMS",
    "one_spelling",
    "word_set",
]


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set; keeps word lists readable."""
    return frozenset(text.split())


STOP_WORDS = word_set(
    "le la les l un une des du de d a au aux en dans par pour sur avec ce cet cette ces son sa ses leur leurs il elle "
    "ils elles on qui que qu dont ou et est sont etre ete etait sera seront y se s c lui nous vous votre vos notre nos "
    "plus moins tres ainsi soit selon entre vers chez lors comme afin fin fins but mon ma mes je tout "
    "the an of to in at by for with from and or is are was were be been being it its this that these those as "
    "which who whose will would can could may has have had do does did their they he she his her our your you i we "
    "there here so than then thus also into per such "
    "的 了 是 为 在 和 与 及 其 该 本 这 那 个 也 将 被 由 对 于 以 之 等 约 而 则"
)
LEGAL_FORMS = word_set(
    "sa sarl sas ltd limited plc gmbh ag inc llc llp nv bv co corp company corporation spa kg se"
)


def _table(groups: dict[str, str]) -> dict[str, str]:
    return {word: name for name, group in groups.items() for word in group.split()}


SPELLED = _table(
    {
        "0": "zero zéro", "2": "two deux", "3": "three trois", "4": "four quatre", "5": "five cinq", "6": "six",
        "7": "seven sept", "8": "eight huit", "9": "nine", "10": "ten dix", "11": "eleven onze", "12": "twelve douze",
        "15": "fifteen quinze", "20": "twenty vingt", "30": "thirty trente", "50": "fifty cinquante",
    }
)  # fmt: skip
"""Number word -> its digits; "one", "un" and "neuf" are left out: they are other words as well."""

KINDS = [
    word_set("usd eur gbp jpy cny chf hkd"),
    word_set("dollar eur gbp jpy cny chf"),
    word_set("daily weekly monthly quarterly semiannual annual"),
    word_set("capitalisation distribution"),
    word_set("sicav fcp fia"),
    word_set("monday tuesday wednesday thursday friday lundi mardi mercredi jeudi vendredi"),
    word_set("m01 m02 m03 m04 m06 m07 m08 m09 m10 m11 m12"),
    word_set("q1 q2 q3 q4"),
]
"""Closed classes: two different words of one class never mean the same."""

SYNONYMS = SPELLED | _table(
    {
        "usd": "usd", "eur": "euro euros eur", "gbp": "gbp", "jpy": "yen yens jpy", "cny": "renminbi rmb yuan cny", "chf": "chf",
        "actif": "actif active activement actively", "passif": "passif passive passivement passively",
        "an": "an ans annee annees year years yr yrs", "mois": "mois month months", "jour": "jour jours day days",
        "opcvm": "opcvm ucits", "dollar": "dollar dollars",
        "daily": "daily quotidien quotidienne quotidiennement journalier journaliere",
        "weekly": "weekly hebdomadaire hebdomadairement", "monthly": "monthly mensuel mensuelle mensuellement",
        "quarterly": "quarterly trimestriel trimestrielle trimestriellement",
        "semiannual": "semiannual semiannually semestriel semestrielle",
        "annual": "annual annually yearly annuel annuelle annuellement",
        "unlimited": "unlimited indefinite indeterminee illimitee",
        "m01": "janvier january janv jan", "m02": "fevrier february fevr feb", "m03": "mars march mar",
        "m04": "avril april avr apr", "m06": "juin june jun", "m07": "juillet july juil jul", "m08": "aout august aug",
        "m09": "septembre september sept sep", "m10": "octobre october oct", "m11": "novembre november nov",
        "m12": "decembre december dec",
    }
)  # fmt: skip
"""Folded word -> the spelling it is compared in."""

_PHRASES = {
    "usd": r"dollars? (?:americains?|us|des etats unis)|us dollars?|american dollars?",
    "gbp": r"livres? sterling|pounds? sterling|british pounds?",
    "chf": r"francs? suisses?|swiss francs?",
    "jpy": r"yens? japonais|japanese yen",
    "actif": r"geree? activement|gestion active",
    "opcvm": r"organismes? de placement collectif en valeurs mobilieres",
    "fcp": r"fonds communs? de placement",
    "sicav": r"societes? d ?investissement a capital variable",
}
_PHRASE = re.compile(
    "|".join(rf"\b(?P<{name}>{pattern})\b" for name, pattern in _PHRASES.items()),
)
_SIGNS = {"us$": " usd ", "$us": " usd ", "€": " eur ", "£": " gbp "}
_SIGN = re.compile(r"us\$|\$us|[€£]")
_PHRASES_ZH = {
    "美元": "usd", "欧元": "eur", "英镑": "gbp", "日元": "jpy", "人民币元": "cny", "人民币": "cny", "港元": "hkd", "瑞士法郎": "chf",
} | {f"{first}{number}季度": f"q{index}" for index, numbers in enumerate(("一1", "二2", "三3", "四4"), 1) for number in numbers for first in ("第", "")}  # fmt: skip
_PHRASE_ZH = re.compile("|".join(sorted(_PHRASES_ZH, key=len, reverse=True)))


def one_spelling(folded: str) -> str:
    """A folded text with set phrases and currency signs in one spelling.

    >>> one_spelling("fonds commun de placement en dollars americains")
    ' fcp  en  usd '
    """
    folded = _PHRASE.sub(lambda match: f" {match.lastgroup} ", folded)
    if not folded.isascii():
        folded = _PHRASE_ZH.sub(lambda match: f" {_PHRASES_ZH[match[0]]} ", folded)
    return _SIGN.sub(lambda match: _SIGNS[match[0]], folded)


# Words of one side count as the same word; a word of the other side contradicts it.
_SIDES = [
    ("increase increases increasing increased rise rises rising rose higher larger greater bigger highest largest "
     "greatest up upward grow grows growing grew hausse augmente augmentation superieur superieure eleve elevee haut haute high",
     "decrease decreases decreasing decreased fall falls falling fell lower smaller lowest smallest down downward decline "
     "declines declining declined drop drops baisse diminue diminution inferieur inferieure faible bas basse low"),
    ("overpriced overvalued surevalue", "underpriced undervalued sousevalue"),
    ("accept accepted accepts accepter", "reject rejects rejected rejecter refuser"),
    ("primary primaire", "secondary secondaire"),
    ("source sources", "use uses"),
    ("fixed fixe", "floating variable"),
    ("before avant", "after apres"),
    ("call calls", "put puts"),
    ("positive positif", "negative negatif"),
    ("maximum maximal maximale", "minimum minimal minimale"),
    ("favorable", "defavorable"),
    ("actif", "passif"),
    ("derivative derivatives", "primitive primitives"),
]  # fmt: skip
SIDE_OF = {
    word: (index, side)
    for index, sides in enumerate(_SIDES)
    for side, group in enumerate(sides)
    for word in group.split()
}
"""Folded word -> which pair of opposites it belongs to, and on which side."""

OPPOSITES_ZH = [
    ("上升", "下降"), ("上涨", "下跌"), ("增长", "减少"), ("增长", "下降"), ("增加", "减少"), ("阳线", "阴线"), ("买入", "卖出"),
    ("盈利", "亏损"), ("高于", "低于"), ("流入", "流出"), ("最高", "最低"), ("最大", "最小"), ("看涨", "看跌"), ("高估", "低估"),
]  # fmt: skip
