"""Texts that list: their items, and whether they list terms or go on as prose."""

from __future__ import annotations

import re

from lmms_eval_finance.judging.rules.lexicon import LEGAL_FORMS
from lmms_eval_finance.judging.rules.names import BRACKETS
from lmms_eval_finance.judging.rules.words import content_words, fold, words

__all__ = ["is_enumeration", "joins_others", "split_items"]

_SEPARATOR = re.compile(
    r"\s*(?:;|\n|•|,\s|/\s|\s/|\bet/ou\b|\band/or\b|\bet\b|\band\b|\bou\b|\bor\b|&|、|；|，|和|及|或)\s*",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(r"\b(?:et|and|ou|or)\b|[&、和及或]", re.IGNORECASE)
_JOINED_AFTER = re.compile(
    r"\s*,?\s*(?:et|and|ou|or|&|和|及)\b|\s*、|(?:\s*,(?:\s[^\s,.;]+){1,5})+\s(?:et|and|ou|or)[\s/]"
)
_END_OF_NAME = re.compile(rf"^\w*(?:\s+(?:{'|'.join(sorted(LEGAL_FORMS))})\b)*")
_JOINED_BEFORE = re.compile(r"\b(?:et|and|ou|or|&)\s+(?:le|la|les|l|the)?\s*$")


def split_items(text: str) -> list[str]:
    """The parts of a text between commas, semicolons and conjunctions, brackets apart.

    >>> split_items("Actions (cotées, ou non), taux et change")
    ['Actions', 'taux', 'change']
    """
    parts = _SEPARATOR.split(BRACKETS.sub(" ", text).strip(" .;"))
    return [part.strip() for part in parts if part.strip(" -*.")]


def is_enumeration(text: str) -> bool:
    """Whether a text is a list of terms rather than a sentence with commas.

    >>> is_enumeration("couverture, exposition et arbitrage"), is_enumeration("OPCVM, agréé en France par l'autorité")
    (True, False)
    """
    items = split_items(text)
    if len(items) < 2:
        return False
    heads = {fold(item).split()[0] for item in items if fold(item).split()}
    joined = len(items) > 2 or len(heads) < len(items) or _CONJUNCTION.search(text) is not None
    return joined and all(len(content_words(words(fold(item)))) <= 3 for item in items)


def joins_others(key: list[str], answer: str) -> bool:
    """Whether a folded answer joins something else to the gold's key words by a conjunction.

    >>> joins_others(["code", "monetaire"], "le code monetaire et les regles"), joins_others(["sicav"], "une sicav de droit")
    (True, False)
    """
    answer = " ".join(BRACKETS.sub(" ", answer).split())
    places = sorted((answer.find(word), word) for word in key if word in answer)
    if not places:
        return False
    first, (last, word) = places[0][0], places[-1]
    rest = _END_OF_NAME.sub("", answer[last + len(word) :])
    return _JOINED_AFTER.match(rest) is not None or _JOINED_BEFORE.search(answer[:first]) is not None
