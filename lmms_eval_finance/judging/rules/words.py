"""Words of short answers: folding, content words, stems, acronyms, set phrases.

Enough language to see that two answers say the same in other spelling; what needs more
than that is left to a language judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from rapidfuzz.distance import Levenshtein

__all__ = [
    "Word",
    "content_words",
    "fold",
    "is_negative",
    "missing_words",
    "opposed",
    "words",
]

Word = str

# One spelling for what finance answers write in many: currencies, units of time, management style.
_PHRASES = [
    (
        r"dollars? (?:americains?|us|des etats unis|etats uniens?)|us dollars?|american dollars?|us\$|usd|\$us|美元",
        "usd",
    ),
    (r"euros?|eur|€|欧元", "eur"),
    (r"livres? sterling|pounds? sterling|british pounds?|gbp|£|英镑", "gbp"),
    (r"francs? suisses?|swiss francs?|chf|瑞士法郎", "chf"),
    (r"yens?(?: japonais)?|japanese yen|jpy|日元", "jpy"),
    (r"人民币|renminbi|rmb|yuan|cny", "cny"),
    (r"activement|actively|active|actifs?(?= *$)|geree? activement|gestion active", "actif"),
    (r"passivement|passively|passive|passif", "passif"),
    (r"annees?|ans|an|years?|yrs?", "an"),
    (r"months?|mois", "mois"),
    (r"jours?|days?", "jour"),
    (r"heures?", "h"),
    (r"organismes? de placement collectif en valeurs mobilieres|ucits", "opcvm"),
    (r"fonds communs? de placement", "fcp"),
    (r"societes? d ?investissement a capital variable", "sicav"),
]
_PHRASE = re.compile(
    "|".join(
        rf"(?P<p{index}>(?<![a-z0-9])(?:{pattern})(?![a-z0-9]))"
        for index, (pattern, _) in enumerate(_PHRASES)
    )
)
_PHRASE_NAMES = {f"p{index}": f" {name} " for index, (_, name) in enumerate(_PHRASES)}

_LIGATURES = str.maketrans(
    {"œ": "oe", "æ": "ae", "ß": "ss", "ø": "o", "’": "'", "‘": "'", "–": "-", "—": "-", "−": "-", "‑": "-"}
    | {"×": "x", "®": " ", "™": " ", "©": " ", "«": " ", "»": " ", "“": " ", "”": " ", '"': " "}
)
_DOTTED = re.compile(r"(?<![a-z0-9])(?:[a-z]\.){2,}(?:[a-z](?![a-z]))?")
_GROUPED = re.compile(r"(?<=\d)[ ](?=\d{3}(?!\d))")
# A capital on its own is a name (Stock A, classe D), not an article: it keeps a mark.
_CAPITAL = re.compile(r"(?<![\w'’.&+/])([A-Z])(?![\w&]|['’](?!s\b)|\.\w|[+-]\d|[ ]?/[ ]?[A-Z]\b)(?:['’]s\b)?")
_ARTICLE_A = re.compile(r"(?:^|[.!?:]\s+)[AÀ](?=\s+[a-zà-ÿ])|\bI(?=\s+[a-z]|['’])")
_TOKEN = re.compile(r"§[a-z]|(?<![\w%)])-\d+(?:[.,]\d+)*(?![a-z0-9])|[a-z]{1,2}[+-]\d+(?![a-z0-9])|\d+(?:[.,]\d+)*(?![a-z0-9])|[a-z0-9]+|[一-鿿]|[%+<>=]")

_STOP = frozenset(
    "le la les l un une des du de d a au aux en dans par pour sur avec ce cet cette ces son sa ses leur leurs il elle "
    "ils elles on qui que qu dont ou et est sont etre ete etait sera seront y se s c est se lui nous vous votre vos "
    "notre nos plus moins tres ainsi soit selon entre vers chez lors comme afin fins but mon ma mes je tout "
    "the a an of to in on at by for with from and or is are was were be been being it its this that these those as "
    "which who whose will would can could may has have had do does did their they he she his her our your you i we "
    "there here so than then thus also into per such "
    "的 了 是 为 在 和 与 及 其 该 本 这 那 个 也 将 被 由 对 于 以 之 等 约 而 则".split()  # noqa: SIM905
)
_LEGAL_FORMS = frozenset(
    "sa sarl sas ltd limited plc gmbh ag inc llc llp nv bv co corp company corporation spa kg se".split()  # noqa: SIM905
)
# Words of one direction count as the same word, words of opposite directions as contradicting each other.
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
_SIDE_OF = {
    word: (index, side) for index, sides in enumerate(_SIDES) for side, group in enumerate(sides) for word in group.split()
}
_SIDES_ZH = [
    ("上升", "下降"), ("上涨", "下跌"), ("增长", "减少"), ("增长", "下降"), ("增加", "减少"), ("阳线", "阴线"), ("买入", "卖出"),
    ("盈利", "亏损"), ("高于", "低于"), ("流入", "流出"), ("最高", "最低"), ("最大", "最小"), ("看涨", "看跌"), ("高估", "低估"),
]  # fmt: skip
_NEGATIVE = re.compile(
    r"\b(?:ne|n|pas|non|not|no|never|cannot|jamais|aucune?s?|sans|neant|nor|neither|without|none|impossible|rien|nothing|isn|doesn|don|didn|won|can t)\b"
    r"|不|没|未|非|无|否"
)


def fold(text: str) -> str:
    """Lower case without accents, quotes and dotted abbreviations; set phrases in one spelling.

    >>> fold("« Société Générale S.A. » – 2 500 dollars américains")
    ' societe generale sa  - 2500  usd '
    >>> fold("A fund of class A")
    ' fund of class  §a '
    """
    text = _CAPITAL.sub(r" §\1 ", _ARTICLE_A.sub(" ", text))
    text = unicodedata.normalize("NFKD", text.lower().translate(_LIGATURES))
    text = "".join(sign for sign in text if not unicodedata.combining(sign)) if not text.isascii() else text
    text = _DOTTED.sub(lambda match: match[0].replace(".", ""), text.replace("'", " "))
    text = _GROUPED.sub("", text)
    return _PHRASE.sub(lambda match: _PHRASE_NAMES[match.lastgroup or ""], text)


def words(text: str) -> list[Word]:
    """All words, numbers and Chinese characters of a folded text; numbers in one notation.

    >>> words(fold("L’indice : 0,50 % (J+2)"))
    ['l', 'indice', '0.5', '%', 'j+2']
    """
    return [_number(token) if token[0].isdigit() or token[0] == "-" else token for token in _TOKEN.findall(text)]


def _number(token: str) -> str:
    plain = token.replace(",", ".")
    if plain.count(".") > 1:
        return token
    head, _, tail = plain.lstrip("-").partition(".")
    tail = tail.rstrip("0")
    return ("-" if plain[0] == "-" else "") + (head.lstrip("0") or "0") + ("." + tail if tail else "")


def content_words(tokens: Iterable[Word]) -> list[Word]:
    """The words that carry meaning, each once, in order.

    >>> content_words(words(fold("Le fonds est géré par la société de gestion")))
    ['fonds', 'gere', 'societe', 'gestion']
    """
    return [token for token in dict.fromkeys(tokens) if token not in _STOP and token not in "%+<>="]


def is_negative(text: str) -> bool:
    """Whether a folded text holds a negation.

    >>> is_negative(fold("Ce fonds n'a pas de date d'échéance")), is_negative(fold("5 ans"))
    (True, False)
    """
    return _NEGATIVE.search(text) is not None


def opposed(lacking: Iterable[Word], added: Iterable[Word], gold: str, answer: str) -> bool:
    """Whether an answer puts the opposite word where the gold has one: lower for higher, 阴线 for 阳线.

    >>> opposed(["low"], ["high"], "too low", "too high"), opposed([], [], "呈上升趋势", "下降趋势")
    (True, True)
    """
    added = list(added)
    for word in lacking:
        index, side = _SIDE_OF.get(word, (-1, 0))
        if any(_SIDE_OF.get(other) == (index, 1 - side) for other in added):
            return True
    return any(
        (first in gold and second in answer and first not in answer and second not in gold)
        or (second in gold and first in answer and second not in answer and first not in gold)
        for first, second in _SIDES_ZH
    )


def missing_words(wanted: Iterable[Word], given: Iterable[Word], *, strict: bool = False) -> list[Word]:
    """The wanted content words without a counterpart among the given ones.

    Counterparts are the same word, an inflected form, an acronym of a run of given words
    or the run that an acronym stands for, and, unless `strict`, a word with a slip of the pen.

    >>> missing_words(["autorite", "marches", "financiers"], ["amf"])
    []
    >>> missing_words(["capitalisation"], ["revenus", "capitalises"]), missing_words(["c"], ["d"])
    ([], ['c'])
    """
    given = list(dict.fromkeys(given))
    stems = {_stem(token) for token in given}
    stems |= {token.removeprefix("§") for token in stems} | {"§" + token for token in stems if len(token) == 1}
    missing = [token for token in wanted if _stem(token) not in stems]
    if missing:
        missing = [token for token in missing if not any(_related(token, other, strict) for other in given)]
    if missing:
        run = [token for token in wanted if token not in _STOP]
        missing = _without_acronyms(missing, run, given)
    return [token for token in missing if token not in _LEGAL_FORMS]


def _stem(token: Word) -> str:
    if token in _SIDE_OF:
        return "{}/{}".format(*_SIDE_OF[token])
    if len(token) < 4 or not token.isalpha():
        return token
    stem = re.sub(r"(?:aux|al|ales|ale)$", "al", token) if len(token) > 5 else token
    return re.sub(r"(?:ees|ee|es|e|s|x)$", "", stem) or token


def _related(one: Word, other: Word, strict: bool) -> bool:
    if len(one) < 5 or len(other) < 5 or not (one.isalpha() and other.isalpha()) or one[0] != other[0]:
        return False
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    longest = max(len(one), len(other))
    if shared >= 5 and shared >= 0.6 * longest:
        return True
    return not strict and longest >= 7 and Levenshtein.distance(one, other, score_cutoff=1) <= 1


def _without_acronyms(missing: list[Word], run: list[Word], given: list[Word]) -> list[Word]:
    covered: set[Word] = set()
    for acronym in given:
        if 2 < len(acronym) <= 8 and acronym.isalpha():
            covered.update(_spelled_by(acronym, run))
    for acronym in missing:
        if 2 < len(acronym) <= 8 and acronym.isalpha() and _spelled_by(acronym, given):
            covered.add(acronym)
    return [token for token in missing if token not in covered]


def _spelled_by(acronym: Word, run: list[Word]) -> list[Word]:
    """The words of a run whose beginnings, in order and without a gap, give the acronym."""
    for first in range(len(run)):
        position, end = 0, first
        while end < len(run) and position < len(acronym):
            taken = 0
            while (
                taken < len(run[end])
                and taken < 2
                and position + taken < len(acronym)
                and run[end][taken] == acronym[position + taken]
            ):
                taken += 1
            if not taken:
                break
            # a second letter is taken only if the next word does not go on with it
            if taken == 2 and end + 1 < len(run) and run[end + 1][0] == acronym[position + 1]:
                taken = 1
            position, end = position + taken, end + 1
        if position == len(acronym) and end - first >= 2:
            return run[first:end]
    return []
