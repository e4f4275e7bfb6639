"""Names and phrases against each other: which words of the gold an answer has, lacks and adds.

Three findings decide, everything between them stays open (a paraphrase is for a language judge):

- the answer has every word that the question asked for, and adds nothing that changes it: right;
- it shares none of them, or puts other names or numbers in their place: wrong;
- it is a run of the gold that leaves out only the frame around it: right.

Words of the question carry no information and count on neither side.
"""

from __future__ import annotations

import itertools
import re

from rapidfuzz import fuzz

from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.polarity import states_absence
from lmms_eval_finance.judging.rules.words import content_words, fold, missing_words, opposed, words

__all__ = ["compare_phrases", "is_name"]

# Up to here a text is short enough that sharing no word with the gold means saying something else.
_SHORT = 4
_NEAR_EXACT = 95.0  # rapidfuzz ratio of folded texts

_QUALIFIERS = frozenset(
    "maximum minimum max min superieur superieure superieurs inferieur inferieure over under above below least most jusqu "
    "up moins plus more less avant apres before after environ about approximately sous sur hors exclu inclus "
    "non ne pas not no sans without sauf except".split()  # noqa: SIM905
)
_CONTRAST = re.compile(r"\b(?:mais(?! aussi| egalement)|but(?! also)|however|sauf|except|excepte|uniquement si|only if|toutefois|cependant|unless|sous reserve)\b|但|除")
# Words that frame an answer without being it.
_FRAME = frozenset(
    "obtenir generer realiser offrir vise viser cherche chercher objectif atteindre pouvant correspond correspondre "
    "permet permettre est consiste presente presenter concerne appele nomme nommee intitule indique mentionne soyez "
    "conscient conscients attention tenez compte peut pourra pouvoir convenir convient destine destinee ttc fonds fund "
    "compartiment produit document societe nom name reponse answer montant amount called named would should must need "
    "value taux rate".split()  # noqa: SIM905
)


def is_name(text: str) -> bool:
    """Whether a text is a proper name or code rather than common words.

    >>> [is_name(text) for text in ("CACEIS Bank", "J.P. Morgan SE", "Capitalisation", "risque de change")]
    [True, True, False, False]
    """
    tokens = re.findall(r"[^\W_]+", text)
    spelled = [token for token in tokens if len(token) > 3 or token.isupper() or token.isdigit()]
    named = [token for token in spelled if token[0].isupper() or token[0].isdigit()]
    strong = [token for token in named if token.isupper() or any(sign.isdigit() for sign in token)]
    return bool(spelled) and len(named) >= 0.75 * len(spelled) and (len(named) > 1 or bool(strong))


def compare_phrases(gold: str, answer: str, question: str = "") -> Finding:
    """Compare two phrases as names, terms or short statements.

    >>> compare_phrases("CSSF", "Commission de Surveillance du Secteur Financier").verdict
    True
    >>> compare_phrases("KBA Consulting Management Limited", "J.P. Morgan SE").verdict
    False
    >>> compare_phrases("Capitalisation", "Les revenus seront réinvestis dans la valeur de vos actions").verdict is None
    True
    """
    folded_gold, folded_answer = fold(gold), fold(answer)
    wanted, given = content_words(words(folded_gold)), content_words(words(folded_answer))
    if not wanted or not given:
        return Finding(None, "no words to compare")
    asked = content_words(words(fold(question)))
    key = missing_words(wanted, asked, strict=True) or wanted
    lacking, lacking_key = missing_words(wanted, given), missing_words(key, given)
    added = missing_words(missing_words(given, wanted), asked) if asked else missing_words(given, wanted)
    name = is_name(gold)
    flipped = states_absence(gold) != states_absence(answer)

    if _squeeze(folded_gold) == _squeeze(folded_answer):
        return Finding(True, "same text")
    if (labels := _labels(wanted, given, asked)) is not None:
        return labels
    if opposed(lacking_key, added, folded_gold, folded_answer) and not flipped:
        return Finding(False, "the opposite of the gold")
    if not lacking_key:
        return _complete(gold, answer, key, lacking, added, name, flipped)
    if _near_exact(folded_gold, folded_answer, lacking, added, name):
        return Finding(True, "near-exact text")
    if not added:
        if (offered := _offered(folded_gold, folded_answer, fold(question))) is not None:
            return offered
        return _shortened(gold, answer, folded_gold, folded_answer, key, given, lacking_key, flipped)
    if flipped:
        return Finding(None, "one side negates")
    return _replaced(answer, key, given, lacking_key, added, name)


_LABEL = re.compile(r"§[a-z]|[ivx]{1,4}|[a-z]\d{1,2}")


def _labels(wanted: list[str], given: list[str], asked: list[str]) -> Finding | None:
    """A gold that is one or several labels of a kind: Stock A, Projects A and C, classe X, Y8."""
    gold = {token for token in wanted if _LABEL.fullmatch(token)}
    if not gold or len(wanted) - len(gold) > 2:
        return None
    answer = {token for token in given if _LABEL.fullmatch(token)}
    if gold == {token.removeprefix("§") if token.removeprefix("§") in given else token for token in gold}:
        answer |= gold
    if not answer:
        return None
    if not answer & gold:
        return Finding(False, "another label")
    if answer < gold and not missing_words(gold - answer, asked) == []:
        return Finding(False, "labels of the gold are missing")
    return None


def _squeeze(folded: str) -> str:
    return re.sub(r"[^a-z0-9%一-鿿]", "", folded)


def _near_exact(gold: str, answer: str, lacking: list[str], added: list[str], name: bool) -> bool:
    """A slip of a letter in a longer text; never in figures, single letters or short names."""
    if any(len(token) < 4 or not token.isalpha() for token in lacking + added):
        return False
    return len(gold) >= (20 if name else 12) and fuzz.ratio(gold, answer) >= _NEAR_EXACT


def _complete(
    gold: str, answer: str, key: list[str], lacking: list[str], added: list[str], name: bool, flipped: bool
) -> Finding:
    """All key words are there; do the others change the answer?"""
    added = [token for token in added if token not in _FRAME]
    if not added:
        if flipped and not lacking:
            return Finding(None, "one side negates")
        return Finding(True, "all words of the gold")
    items = _items(answer)
    if len(items) > 1 and _is_enumeration(items) and len(items) > len(_items(gold)):
        return Finding(False, "further items beside the gold's")
    if _CONTRAST.search(fold(answer)) and not _CONTRAST.search(fold(gold)):
        return Finding(None, "restricted by a further condition")
    outside = content_words(words(fold(re.sub(r"\([^()]{0,200}\)", " ", answer))))
    named = [token for token in added if token in outside and _is_named(token, answer)]
    if named and len(key) <= 2 * _SHORT and _coordinated(folded := fold(answer), fold(gold).strip()) and folded:
        return Finding(None, "further names beside the gold's")
    if named and name and _adjacent(gold, answer):
        return Finding(None, "a longer name than the gold's")
    if any(token[0].isdigit() for token in named) and not any(token[0].isdigit() for token in key):
        return Finding(True, "all words of the gold, with detail") if len(key) >= 3 else Finding(None, "further figures")
    if flipped and len(key) < 3:
        return Finding(None, "one side negates")
    return Finding(True, "all words of the gold, with detail")


def _coordinated(answer: str, gold: str) -> bool:
    """Whether the gold's words are joined in the answer to something else by "and" or a comma."""
    answer = re.sub(r"\([^()]{0,200}\)", " ", answer)
    answer, gold = " ".join(answer.split()), " ".join(re.sub(r"\([^()]{0,200}\)", " ", gold).split()).strip(" .")
    position = answer.find(gold)
    if position < 0:
        return True
    after, before = answer[position + len(gold) :], answer[:position]
    joined = re.match(r"\s*,?\s*(?:et|and|ou|or|&|和|及)\b|\s*、", after)
    return joined is not None or re.search(r"\b(?:et|and|ou|or|&)\s+(?:le|la|les|l|the)?\s*$", before) is not None


def _offered(gold: str, answer: str, question: str) -> Finding | None:
    """An alternative that the question offers ("active ou passive"), picked by its own words."""
    halves = re.split(r"\b(?:ou|or|versus|vs)\b|还是|或", question)
    given = content_words(words(answer))
    if len(halves) < 2 or len(given) > 6:
        return None
    wanted = content_words(words(gold))
    for left, right in itertools.pairwise(halves):
        first, second = content_words(words(left))[-6:], content_words(words(right))[:6]
        first, second = missing_words(first, second), missing_words(second, first)
        picked = [bool(half) and len(missing_words(half, given)) < len(half) for half in (first, second)]
        meant = [bool(half) and len(missing_words(half, wanted)) < len(half) for half in (first, second)]
        if sum(picked) == 1 and sum(meant) == 1:
            return Finding(picked == meant, "one of the question's alternatives")
    return None


def _shortened(
    gold: str,
    answer: str,
    folded_gold: str,
    folded_answer: str,
    key: list[str],
    given: list[str],
    lacking: list[str],
    flipped: bool,
) -> Finding:
    """The answer says only what gold or question say; is what it leaves out part of the answer?"""
    lacking = [token for token in lacking if token not in _FRAME]
    if not lacking:
        return Finding(True, "all words of the gold but its frame")
    kept = [token for token in content_words(words(folded_gold)) if token in given]
    if not kept:
        return Finding(None, "only words of the question")
    if flipped:
        return Finding(None, "one side negates")
    run = _run(words(folded_gold), words(folded_answer))
    if run is None:
        if any(token[0].isdigit() or token[0] == "§" or _is_named(token, gold) for token in lacking):
            return Finding(None, "part of a name or figure")
        few = len(lacking) <= 0.25 * len(key) and not _QUALIFIERS.intersection(lacking)
        return Finding(True, "nearly all words of the gold") if few else Finding(None, "part of the gold")
    before, after = run
    if _QUALIFIERS.intersection(before[-3:]) or _QUALIFIERS.intersection(after[:2]):
        return Finding(None, "a qualifier of the gold is left out")
    if re.search(r"\s[x×*+÷/=<>-]\s", gold):
        return Finding(None, "part of a formula")
    if _cuts_name(gold, answer):
        return Finding(None, "part of a name or figure")
    if len(_items(gold)) > 1 and len(_items(gold)) > len(_items(answer)) and len(key) <= 3 * _SHORT:
        return Finding(None, "some items of the gold are left out")
    return Finding(True, "the gold without its frame")


def _run(gold: list[str], answer: list[str]) -> tuple[list[str], list[str]] | None:
    """What stands before and after the answer where it is a run of the gold's words, articles apart."""
    answer = list(itertools.dropwhile(lambda token: token not in gold, answer))
    for first in range(len(gold) - len(answer) + 1):
        if gold[first : first + len(answer)] == answer:
            return gold[:first], gold[first + len(answer) :]
    return None


def _cuts_name(gold: str, answer: str) -> bool:
    """Whether the answer's place in the gold borders on further capitals or figures: part of a longer name."""
    position = gold.casefold().find(answer.strip(" .").casefold())
    if position < 0:
        return True
    before, after = gold[:position].rstrip(), gold[position + len(answer.strip(" .")) :].lstrip()
    return (
        re.search(r"(?:^|\s)(?:[A-Z][\w.&]*|[\d.,]+%?)$|\d[-–—]$", before) is not None and not _opens_sentence(before)
    ) or re.match(r"(?:[-–—&]\s*)?(?:[A-Z0-9])", after) is not None


def _opens_sentence(before: str) -> bool:
    return re.fullmatch(r"\W*[A-Z]\w*", before) is not None and before.strip().lower() in {"le", "la", "les", "the", "un", "une", "a"}


def _replaced(
    answer: str, key: list[str], given: list[str], lacking: list[str], added: list[str], name: bool
) -> Finding:
    """The answer lacks words of the gold and has others."""
    shared = 1 - len(lacking) / len(key)
    figures = [token for token in key if token[0].isdigit()]
    lost = [token for token in lacking if token[0].isdigit()]
    others = [token for token in added if token[0].isdigit()]
    if lost and others and (len(lost) == len(figures) or (len(others) >= len(lost) and shared >= 0.5)):
        return Finding(False, "other figures than the gold's")
    if shared == 0:
        if name and len(key) <= 2 * _SHORT and is_name(answer):
            return Finding(False, "another name")
        if len(key) <= _SHORT and len(given) <= 2 * _SHORT and not (len(key) == 1 and len(added) > 2):
            return Finding(False, "another term")
        return Finding(None, "other words than the gold's")
    if shared <= 0.2 and len(key) <= 2 * _SHORT and name and is_name(answer):
        return Finding(False, "another name")
    if name and is_name(answer) and not _slips(lacking, added):
        return Finding(False, "a name with other parts")
    return Finding(None, "partly other words than the gold's")


def _slips(lacking: list[str], added: list[str]) -> bool:
    """Whether the differing words look like misspellings of each other."""
    return all(any(fuzz.ratio(token, other) >= 70 for other in added) for token in lacking if len(token) > 2)


_SEPARATOR = re.compile(r"\s*(?:;|\n|•|,\s|/\s|\s/|\bet/ou\b|\band/or\b|\bet\b|\band\b|\bou\b|\bor\b|&|、|；|，|和|及|或)\s*", re.IGNORECASE)


def _items(text: str) -> list[str]:
    return [item for item in _SEPARATOR.split(re.sub(r"\([^()]{0,200}\)", " ", text).strip(" .;")) if item.strip(" -*.")]


def _is_enumeration(items: list[str]) -> bool:
    """Whether items read as a list of terms rather than as clauses of a sentence."""
    return all(len(content_words(words(fold(item)))) <= 3 for item in items)


def _is_named(token: str, text: str) -> bool:
    """Whether a folded word stands in the text as a name: capital, figure or single letter."""
    if token[0].isdigit() or token[0] == "§":
        return True
    return any(fold(word).strip() == token and word[0].isupper() for word in re.findall(r"(?<!^)\b[^\W\d_]{2,}", text.strip()))


def _adjacent(gold: str, answer: str) -> bool:
    """Whether a further capitalised word or figure directly joins the gold's words in the answer."""
    position = answer.casefold().find(gold.strip().casefold())
    if position < 0:
        return True
    before, after = answer[:position].rstrip(), answer[position + len(gold.strip()) :].lstrip(" \"'»”")
    joined_after = re.match(r"(?:[-–—]\s*)?[A-Z0-9]", after) is not None
    return joined_after or re.search(r"[A-Z][\w.]*$", before) is not None
