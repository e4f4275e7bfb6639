"""Names and phrases against each other: which words of the gold an answer has, lacks and adds.

Three findings decide, everything between them stays open (a paraphrase is for a language judge):

- the answer has every word that the question asked for, and adds nothing that changes it: right;
- it shares none of them, or puts other names, labels or figures in their place: wrong;
- it is a run of the gold that leaves out only the frame around it: right.

Words of the question carry no information and count on neither side.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from rapidfuzz import fuzz

from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.items import is_enumeration, joins_others, split_items
from lmms_eval_finance.judging.rules.lexicon import KINDS, SIDE_OF, word_set
from lmms_eval_finance.judging.rules.names import BRACKETS, cuts_name, is_name, is_named, lengthens_name
from lmms_eval_finance.judging.rules.polarity import states_absence
from lmms_eval_finance.judging.rules.words import (
    content_words,
    fold,
    missing_words,
    one_sided,
    opposed,
    words,
)

__all__ = ["compare_phrases"]

# Up to here a text is short enough that sharing no word with the gold means saying something else.
_SHORT = 4
_NEAR_EXACT = 95.0  # rapidfuzz ratio of folded texts
_SLIP = 70.0  # below that two words are different words, not one word misspelled

_QUALIFIERS = word_set(
    "maximum minimum max min superieur superieure superieurs inferieur inferieure over under above below least most jusqu "
    "up moins plus more less avant apres before after environ about approximately sous sur hors exclu inclus "
    "non ne pas not no sans without sauf except"
)
_CONTRAST = re.compile(
    r"\b(?:mais(?! aussi| egalement)|but(?! also)|however|sauf|except|excepte|uniquement si|only if|toutefois|cependant"
    r"|unless|sous reserve)\b|但|除"
)
_CONTRAST_TOO = re.compile(r"\b(?:mais (?:aussi|egalement)|but also)\b")
# Words that frame an answer without being it.
_FRAME = word_set(
    "obtenir generer realiser offrir vise viser cherche chercher objectif atteindre pouvant correspond correspondre permet "
    "permettre est consiste want wants need needs presente presenter concerne appele nomme nommee intitule indique mentionne "
    "soyez conscient conscients attention tenez compte peut pourra pouvoir convenir convient destine destinee ttc fonds "
    "fund compartiment produit document societe nom name reponse answer montant amount called named would should must "
    "value taux rate"
)
_LABEL = re.compile(r"§[a-z]|[ivx]{1,4}|[a-z]\d{1,2}")
_FIGURE = re.compile(r"-?\d+(?:\.\d+)*")
_ACRONYM = re.compile(r"\W*[A-Z]{2,6}s?\W*")
_OPERATOR = re.compile(r"\s[x×*+÷/=<>-]\s")
_OFFER = re.compile(r"\b(?:ou|or|versus|vs)\b|还是|或")
_VERB = re.compile(r"\b(?:is|are|was|were|will|can|est|sont|sera|seront|était|peut|peuvent|a|ont)\b")


class _Pair(NamedTuple):
    """A gold and an answer taken apart.

    Attributes:
        gold, answer: as written; `folded_gold`, `folded_answer`: folded.
        question: folded.
        wanted, given: content words of both.
        key: the wanted words that the question does not have (all, if it has all).
        lacking: key words without a counterpart in the answer.
        added: words of the answer that neither gold nor question has.
        flipped: whether one of the two says that there is none.
    """

    gold: str
    answer: str
    folded_gold: str
    folded_answer: str
    question: str
    wanted: list[str]
    given: list[str]
    key: list[str]
    lacking: list[str]
    added: list[str]
    flipped: bool


def compare_phrases(gold: str, answer: str, question: str = "") -> Finding:
    """Compare two phrases as names, terms or short statements.

    >>> compare_phrases("CSSF", "Commission de Surveillance du Secteur Financier").verdict
    True
    >>> compare_phrases("KBA Consulting Management Limited", "J.P. Morgan SE").verdict
    False
    >>> compare_phrases("Capitalisation", "Les revenus seront réinvestis dans la valeur de vos actions").verdict is None
    True
    """
    pair = _take_apart(gold, answer, question)
    if not pair.wanted or not pair.given:
        return Finding(None, "no words to compare")
    if _same_signs(pair):
        return Finding(True, "same text")
    if (labels := _compare_labels(pair)) is not None:
        return labels
    lost = missing_words(pair.wanted, pair.given)
    if (
        len(lost) <= 3
        and not pair.flipped
        and opposed(lost, pair.added, pair.folded_gold, pair.folded_answer)
    ):
        return Finding(False, "the opposite of the gold")
    if not pair.lacking:
        return _complete(pair)
    if _near_exact(pair):
        return Finding(True, "near-exact text")
    if not pair.added:
        return _offered(pair) or _shortened(pair)
    if pair.flipped:
        return Finding(None, "one side negates")
    return _replaced(pair)


def _take_apart(gold: str, answer: str, question: str) -> _Pair:
    folded_gold, folded_answer, folded_question = fold(gold), fold(answer), fold(question)
    spoken, asked = words(folded_answer), content_words(words(folded_question))
    wanted, given = content_words(words(folded_gold)), content_words(spoken)
    if len(spoken) <= 3:  # "option d": a letter that would be an article in a sentence
        given += [token for token in wanted if token[0] == "§" and token[1:] in spoken]
    key = missing_words(wanted, asked, strict=True)
    if not set(key) & set(content_words(words(fold(BRACKETS.sub(" ", gold))))):
        key = wanted  # the question has all of the gold, or all but an aside
    return _Pair(
        gold=gold,
        answer=answer,
        folded_gold=folded_gold,
        folded_answer=folded_answer,
        question=folded_question,
        wanted=wanted,
        given=given,
        key=key,
        lacking=missing_words(key, given),
        added=missing_words(missing_words(given, wanted), asked),
        flipped=states_absence(gold) != states_absence(answer),
    )


def _same_signs(pair: _Pair) -> bool:
    """Whether both texts are the same letters and figures, blanks and punctuation apart."""
    gold, answer = words(pair.folded_gold), words(pair.folded_answer)
    figures = [[figure for token in tokens for figure in _FIGURE.findall(token)] for tokens in (gold, answer)]
    return "".join(gold) == "".join(answer) and figures[0] == figures[1]


def _compare_labels(pair: _Pair) -> Finding | None:
    """A gold that is one or several labels of a kind: Stock A, Projects A and C, classe X, Y8."""
    gold = {token for token in pair.wanted if _LABEL.fullmatch(token)}
    answer = {token for token in pair.given if _LABEL.fullmatch(token)}
    if not gold or not answer or len(pair.wanted) - len(gold) > 2:
        return None
    if answer == gold and not pair.added:
        return Finding(True, "the gold's labels")
    if not answer & gold or (answer - gold and gold - answer):
        return Finding(False, "another label")
    if answer < gold and set(pair.key) & (gold - answer):
        return Finding(False, "labels of the gold are missing")
    return None


def _near_exact(pair: _Pair) -> bool:
    """A slip of a letter in a longer text; never in figures, acronyms or short names."""
    if any(len(token) < 4 or not token.isalpha() for token in pair.lacking + pair.added):
        return False
    if any(token.upper() in pair.gold for token in pair.lacking) and not pair.gold.isupper():
        return False
    if not _slips(pair.lacking, pair.given):
        return False
    return (
        len(pair.gold) >= (20 if is_name(pair.gold) else 12)
        and fuzz.ratio(pair.folded_gold, pair.folded_answer) >= _NEAR_EXACT
    )


def _complete(pair: _Pair) -> Finding:
    """All key words are there; do the others change the answer?"""
    added = [token for token in pair.added if token not in _FRAME]
    gold, answer = pair.folded_gold.strip(), pair.folded_answer.strip()
    if _is_chinese(gold) and gold not in answer and answer not in gold:
        return Finding(None, "the gold's characters in another order")
    if not added:
        if pair.flipped and not missing_words(pair.wanted, pair.given):
            return Finding(None, "one side negates")
        return Finding(True, "all words of the gold")
    if is_enumeration(pair.answer) and len(split_items(pair.answer)) > len(split_items(pair.gold)):
        return Finding(False, "further items beside the gold's")
    if _CONTRAST.search(answer) and not _CONTRAST.search(gold):
        return Finding(None, "restricted by a further condition")
    outside = content_words(words(fold(BRACKETS.sub(" ", pair.answer))))
    named = [token for token in added if token in outside and is_named(token, pair.answer)]
    if len(pair.key) <= 2 * _SHORT and joins_others(pair.key, answer) and not _CONTRAST_TOO.search(answer):
        return Finding(None, "further terms beside the gold's")
    if named and len(pair.key) <= 2 * _SHORT and gold not in answer:
        return Finding(None, "further names beside the gold's")
    if named and is_name(pair.gold) and lengthens_name(pair.gold, pair.answer):
        return Finding(None, "a longer name than the gold's")
    if len(pair.key) < 3 and (pair.flipped or (_figures(named) and not _figures(pair.key))):
        return Finding(None, "one side negates" if pair.flipped else "further figures")
    return Finding(True, "all words of the gold, with detail")


def _is_chinese(text: str) -> bool:
    return sum("一" <= sign <= "鿿" for sign in text) > len(text) / 2


def _figures(tokens: list[str]) -> list[str]:
    return [token for token in tokens if token[0].isdigit()]


def _offered(pair: _Pair) -> Finding | None:
    """An alternative that the question offers ("active ou passive"), picked by its own words."""
    parts = _OFFER.split(pair.question)
    if len(parts) < 2 or missing_words(pair.given, content_words(words(pair.question))):
        return None
    for left, right in itertools.pairwise(parts):
        near, far = content_words(words(left))[-6:], content_words(words(right))[:6]
        halves = missing_words(near, far), missing_words(far, near)
        picked, meant = (
            [len(missing_words(half, tokens)) < len(half) for half in halves]
            for tokens in (pair.given, pair.wanted)
        )
        if sum(picked) == 1 and sum(meant) == 1:
            return Finding(picked == meant, "one of the question's alternatives")
    return None


def _shortened(pair: _Pair) -> Finding:
    """The answer says only what gold or question say; is what it leaves out part of the answer?"""
    lacking = [token for token in pair.lacking if token not in _FRAME]
    if not lacking:
        return Finding(True, "all words of the gold but its frame")
    kept = [token for token in pair.wanted if not missing_words([token], pair.given)]
    if not kept:
        return Finding(None, "only words of the question")
    if len(kept) == len(pair.given) == 1 and kept[0] in SIDE_OF:
        return Finding(True, "the gold's direction")
    if pair.flipped:
        return Finding(None, "one side negates")
    if any(token in SIDE_OF for token in lacking) or one_sided(pair.folded_gold, pair.folded_answer):
        return Finding(None, "one of the gold's directions is left out")
    run = _run(words(pair.folded_gold), words(pair.folded_answer))
    if run is None:
        if any(is_named(token, pair.gold) for token in lacking):
            return Finding(None, "part of a name or figure")
        few = len(lacking) <= 0.25 * len(pair.key) and len(pair.key) > _SHORT
        if few and not _QUALIFIERS.intersection(lacking):
            return Finding(True, "nearly all words of the gold")
        return Finding(None, "part of the gold")
    before, after = run
    if _QUALIFIERS.intersection(before[-3:] + after[:2]):
        return Finding(None, "a qualifier of the gold is left out")
    if _OPERATOR.search(pair.gold):
        return Finding(None, "part of a formula")
    if 2 * sum(is_named(token, pair.gold) for token in lacking) > len(lacking) or cuts_name(
        pair.gold, pair.answer
    ):
        return Finding(None, "part of a name or figure")
    if 1 < len(split_items(pair.gold)) > len(split_items(pair.answer)) and len(pair.key) <= 3 * _SHORT:
        return Finding(None, "some items of the gold are left out")
    return Finding(True, "the gold without its frame")


def _run(gold: list[str], answer: list[str]) -> tuple[list[str], list[str]] | None:
    """What stands before and after the answer where it is a run of the gold's words, articles apart."""
    answer = list(itertools.dropwhile(lambda token: token not in gold, answer))
    for first in range(len(gold) - len(answer) + 1):
        if gold[first : first + len(answer)] == answer:
            return gold[:first], gold[first + len(answer) :]
    return None


def _replaced(pair: _Pair) -> Finding:
    """The answer lacks words of the gold and has others."""
    key, lacking, added = pair.key, pair.lacking, pair.added
    shared = 1 - len(lacking) / len(key)
    if all(_LABEL.fullmatch(token) for token in lacking) and any(_LABEL.fullmatch(token) for token in added):
        return Finding(False, "another label")
    lost, others = _figures(lacking), _figures(added)
    if (
        lost
        and others
        and (
            len(lost) == len(_figures(key))
            or (len(others) >= len(lost) and shared >= 0.5 and len(key) <= 2 * _SHORT)
        )
    ):
        return Finding(False, "other figures than the gold's")
    if len(key) <= _SHORT and any(
        kind.intersection(lacking)
        and kind.intersection(added)
        and not kind.intersection(lacking) & set(added)
        for kind in KINDS
    ):
        return Finding(False, "another of its kind")
    names = is_name(pair.gold) and is_name(pair.answer)
    if shared <= 0.2 and names and len(key) <= 2 * _SHORT and not _other_writing(pair):
        return Finding(False, "another name")
    if shared > 0:
        if names and not _slips(lacking, added):
            return Finding(False, "a name with other parts")
        return Finding(None, "partly other words than the gold's")
    if _other_writing(pair):
        return Finding(None, "words beside an acronym")
    explained = len(key) == 1 and (len(added) > 2 or _VERB.search(pair.answer) is not None)
    if len(key) <= _SHORT and len(pair.given) <= 2 * _SHORT and not explained and _tells_apart(pair):
        return Finding(False, "another term")
    return Finding(None, "other words than the gold's")


def _tells_apart(pair: _Pair) -> bool:
    """Whether names, labels or figures are among the differing words: common nouns can be synonyms.

    Common words beside an acronym may be what it stands for, so there the answer must have a name.
    """
    gold = is_name(pair.gold) or _has_signs(pair.lacking, pair.gold)
    answer = is_name(pair.answer) or _has_signs(pair.added, pair.answer)
    return answer or (gold and _ACRONYM.fullmatch(pair.gold) is None)


def _has_signs(tokens: list[str], text: str) -> bool:
    """Whether a label, figure or word in capitals is among the words."""
    return any(
        _LABEL.fullmatch(token) or token[0].isdigit() or (token.isalpha() and token.upper() in text)
        for token in tokens
    )


def _other_writing(pair: _Pair) -> bool:
    """Whether the gold is an acronym and the answer words, which may be its long form in another language."""
    return len(pair.key) == 1 and len(pair.given) > 1 and _ACRONYM.fullmatch(pair.gold) is not None


def _slips(lacking: list[str], added: list[str]) -> bool:
    """Whether the differing words look like misspellings of each other."""
    return all(
        any(fuzz.ratio(token, other) >= _SLIP for other in added) for token in lacking if len(token) > 2
    )
