"""Words of short answers: folding, content words, stems, acronyms, set phrases.

Enough language to see that two answers say the same in other spelling; what needs more
than that is left to a language judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from rapidfuzz.distance import Levenshtein, Prefix

from lmms_eval_finance.judging.rules.lexicon import (
    LEGAL_FORMS,
    OPPOSITES_ZH,
    SIDE_OF,
    STOP_WORDS,
    SYNONYMS,
    one_spelling,
)

__all__ = [
    "Word",
    "content_words",
    "fold",
    "missing_words",
    "one_sided",
    "opposed",
    "words",
]

Word = str

# More different words than that are no short answer; the bound keeps word-by-word comparison fast.
_MAX_WORDS = 250
_LIGATURES = str.maketrans(
    {"œ": "oe", "æ": "ae", "ß": "ss", "ø": "o", "’": "'", "‘": "'", "–": "-", "—": "-", "−": "-", "‑": "-"}
    | {"×": "x", "®": " ", "™": " ", "©": " ", "«": " ", "»": " ", "“": " ", "”": " ", '"': " "}
)
_DOTTED = re.compile(r"(?<![a-z0-9])(?:[a-z]\.){2,}(?:[a-z](?![a-z]))?")
_GROUPED = re.compile(r"(?<=\d)[ ](?=\d{3}(?!\d))")
# A capital on its own is a name (Stock A, classe D), not an article: it keeps a mark.
_CAPITAL = re.compile(r"(?<![\w'’.&+/])([A-Z])(?![\w&]|['’](?!s\b)|\.\w|[+-]\d|[ ]?/[ ]?[A-Z]\b)(?:['’]s\b)?")
_ARTICLE_A = re.compile(
    r"(?:^|[.!?:]\s+)[AÀ](?=\s+(?!(?:and|et|or|ou|is|has)\b)[a-zà-ÿ])|\bI(?=\s+[a-z]|['’])"
)
_THOUSAND = re.compile(r"-?\d{1,3}(?:\.\d{3})+")
_CLOCK = re.compile(r"(?<![\d,.])([012]?\d) ?(?:h|heures?) ?([0-5]\d)?(?![a-z0-9])")
_YEARS = re.compile(r"(?<=\d)y(?![a-z0-9])")
_TOKEN = re.compile(
    r"§[a-z]|(?<![\w%)])-\d+(?:[.,]\d+)*(?![a-z0-9])|[a-z]{1,2}[+-]\d+(?![a-z0-9])|\d+(?:[.,]\d+)*(?![a-z0-9])|[a-z0-9]+|[一-鿿]|[%+<>=]"
)


@lru_cache(maxsize=4096)
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
    text = _CLOCK.sub(lambda match: f" {match[1]}h{match[2] or '00'} ", _GROUPED.sub("", text))
    return one_spelling(_YEARS.sub(" an", text))


def words(text: str) -> list[Word]:
    """All words, numbers and Chinese characters of a folded text; numbers in one notation.

    >>> words(fold("L’indice : 0,50 % (J+2)"))
    ['l', 'indice', '0.5', '%', 'j+2']
    """
    return [
        _number(token) if token[0].isdigit() or token[0] == "-" else SYNONYMS.get(token, token)
        for token in _TOKEN.findall(text)
    ]


def _number(token: str) -> str:
    plain = token.replace(",", ".")
    if plain.count(".") > 1 or _THOUSAND.fullmatch(plain):
        return plain
    head, _, tail = plain.lstrip("-").partition(".")
    tail = tail.rstrip("0")
    return ("-" if plain[0] == "-" else "") + (head.lstrip("0") or "0") + ("." + tail if tail else "")


def _writings(token: Word) -> set[Word]:
    """A figure as it would be written elsewhere: 5.250 can be 5250 as well as 5.25."""
    if not _THOUSAND.fullmatch(token):
        return {token}
    return {token, token.replace(".", ""), token.rstrip("0").rstrip(".")}


def content_words(tokens: Iterable[Word]) -> list[Word]:
    """The words that carry meaning, each once, in order.

    >>> content_words(words(fold("Le fonds est géré par la société de gestion")))
    ['fonds', 'gere', 'societe', 'gestion']
    """
    distinct = list(dict.fromkeys(tokens))[:_MAX_WORDS]
    if len(distinct) <= 3 and all(len(token) <= 3 for token in distinct):
        return [
            token for token in distinct if token not in STOP_WORDS or len(token) == 1
        ]  # labels such as "d - i"
    return [token for token in distinct if token not in STOP_WORDS and token not in "%+<>="]


def opposed(lacking: Iterable[Word], added: Iterable[Word], gold: str, answer: str) -> bool:
    """Whether an answer puts the opposite word where the gold has one: lower for higher, 阴线 for 阳线.

    >>> opposed(["low"], ["high"], "too low", "too high"), opposed([], [], "呈上升趋势", "下降趋势")
    (True, True)
    """
    added = list(added)
    for word in lacking:
        index, side = SIDE_OF.get(word, (-1, 0))
        if any(SIDE_OF.get(other) == (index, 1 - side) for other in added):
            return True
    return any(
        (first in gold and second in answer and first not in answer and second not in gold)
        or (second in gold and first in answer and second not in answer and first not in gold)
        for first, second in OPPOSITES_ZH
    )


def one_sided(gold: str, answer: str) -> bool:
    """Whether a Chinese gold names both directions (先上升后下降) and the answer only one.

    >>> one_sided("先上升后下降", "上升"), one_sided("上升", "上升")
    (True, False)
    """
    return any(
        first in gold and second in gold and not (first in answer and second in answer)
        for first, second in OPPOSITES_ZH
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
    stems = {writing for token in given for writing in _writings(_stem(token))}
    stems |= {token.removeprefix("§") for token in stems} | {
        "§" + token for token in stems if len(token) == 1
    }
    missing = [token for token in wanted if not _writings(_stem(token)) & stems]
    if missing:
        missing = [token for token in missing if not any(_related(token, other, strict) for other in given)]
    if missing:
        run = [token for token in wanted if token not in STOP_WORDS]
        missing = _without_acronyms(missing, run, given)
    return [token for token in missing if token not in LEGAL_FORMS]


def _stem(token: Word) -> str:
    if token in SIDE_OF:
        return "{}/{}".format(*SIDE_OF[token])
    if len(token) < 4 or not token.isalpha():
        return token
    stem = re.sub(r"(?:aux|al|ales|ale)$", "al", token) if len(token) > 5 else token
    return re.sub(r"(?:ees|ee|es|e|s|x)$", "", stem) or token


def _related(one: Word, other: Word, strict: bool) -> bool:
    if len(one) < 5 or len(other) < 5 or not (one.isalpha() and other.isalpha()) or one[0] != other[0]:
        return False
    shared, longest = Prefix.similarity(one, other), max(len(one), len(other))
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
