"""Golds of several facts (joined by semicolons or on lines of their own), in any order."""

from __future__ import annotations

import re
from collections.abc import Callable

from rapidfuzz import fuzz

from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.names import is_name
from lmms_eval_finance.judging.rules.words import content_words, fold, missing_words, words

__all__ = ["compare_facts", "split_facts"]

_HARD = re.compile(r"\s*(?:[;；]|\n)\s*")
_SOFT = re.compile(
    r"\s*(?:[;；\n，、]|,(?!\d)|\s(?:et|and|&|ainsi que|as well as)\s|和|及|与)\s*(?![^()]*\))", re.IGNORECASE
)
# A long line that goes on in lower case is wrapped prose, and a line that ends in a colon is a heading.
_WRAP = re.compile(r"([^\n]{50,})\n(?=[a-zà-ÿ])")
_MARKER = re.compile(r"^\s*(?:[-*•·–]|\(?\d{1,2}[.)](?!\d))\s*")
_MAX_FACTS = 30

Compare = Callable[[str, str], Finding]


def split_facts(gold: str) -> list[str]:
    """The facts of a gold that lists several; the gold alone where it lists none.

    >>> split_facts("couverture ; exposition"), split_facts("Actions, obligations")
    (['couverture', 'exposition'], ['Actions, obligations'])
    """
    parts = [_MARKER.sub("", part).strip(" .") for part in _HARD.split(_WRAP.sub(r"\1 ", gold.strip()))]
    parts = [part for part in parts if part and not part.endswith(":")]
    return parts[:_MAX_FACTS] if len(parts) > 1 else [gold.strip()]


def compare_facts(
    facts: list[str], answer: str, question: str, compare: Compare, *, closed: bool = True
) -> Finding:
    """Compare an answer with a gold of several facts, each held against one item of the answer.

    `closed` says that the list is complete (joined by semicolons), so that further items are wrong;
    the lines of an address are not.

    >>> from lmms_eval_finance.judging.rules.phrases import compare_phrases
    >>> compare_facts(["couverture", "exposition"], "exposition, couverture", "", compare_phrases).verdict
    True
    >>> compare_facts(["couverture", "exposition"], "couverture, exposition, arbitrage", "", compare_phrases).verdict
    False
    """
    items = _items(answer, len(facts))
    left = dict(enumerate(items))
    missing: list[str] = []
    for fact in facts:
        index = next((index for index, item in left.items() if _plain(item) == _plain(fact)), None)
        if index is None:
            index = next((index for index, item in left.items() if compare(fact, item).verdict), None)
        if index is None:
            missing.append(fact)
        else:
            del left[index]
    gold_words = content_words(words(fold(" ; ".join(facts))))
    answer_words = content_words(words(fold(answer)))
    asked = content_words(words(fold(question)))
    foreign = [item for item in left.values() if _foreign(item, gold_words, asked)]
    if not missing and not foreign:
        return Finding(True, "all facts of the gold")
    if not missing:
        short = all(is_name(item) or len(content_words(words(fold(item)))) <= 6 for item in foreign)
        return (
            Finding(False, "further facts beside the gold's")
            if short and closed
            else Finding(None, "further statements")
        )
    absent = [fact for fact in missing if missing_words(_own(fact, facts), answer_words)]
    labelled = any(token[0] == "§" or token[0].isdigit() for fact in missing for token in words(fold(fact)))
    if not absent and not foreign and not labelled:
        return Finding(True, "all facts of the gold")
    if (
        missing
        and left
        and all(len(token) <= 3 for part in (*missing, *left.values()) for token in words(fold(part)))
    ):
        return Finding(False, "other labels than the gold's")
    wholly = [
        fact
        for fact in absent
        if len(missing_words(_own(fact, facts), answer_words)) == len(_own(fact, facts))
    ]
    if wholly and (len(items) > 1 or foreign):
        return Finding(False, "facts of the gold are missing")
    if any(is_name(fact) and not _close(fact, items) for fact in absent) and len(items) > 1:
        return Finding(False, "names of the gold are missing")
    if len(wholly) == len(facts) and foreign:
        return Finding(False, "other facts than the gold's")
    return Finding(None, "facts in partly other words")


def _plain(text: str) -> str:
    return "".join(words(fold(text))).strip("<>=+%")


def _items(answer: str, wanted: int) -> list[str]:
    parts = [_MARKER.sub("", part).strip(" .\"'") for part in _HARD.split(answer.strip())]
    parts = [part for part in parts if part]
    if len(parts) < wanted:
        parts = [_MARKER.sub("", part).strip(" .\"'") for part in _SOFT.split(answer.strip())]
        parts = [part for part in parts if part]
    return parts[: 2 * wanted + 20]


def _foreign(item: str, gold_words: list[str], asked: list[str]) -> bool:
    """Whether an item brings up something that neither gold nor question speaks of."""
    tokens = content_words(words(fold(item)))
    added = missing_words(missing_words(tokens, gold_words), asked)
    if any(token[0].isdigit() for token in added):
        return True
    return bool(added) and (2 * len(added) >= len(tokens) or is_name(item))


def _close(fact: str, items: list[str]) -> bool:
    """Whether an item may be the fact in other writing: alike, or with the same figures."""
    figures = [token for token in words(fold(fact)) if token[0].isdigit()]
    if figures and any(not missing_words(figures, words(fold(item))) for item in items):
        return True
    return any(fuzz.ratio(fold(fact), fold(item)) >= 80 for item in items)


def _own(fact: str, facts: list[str]) -> list[str]:
    """The words of a fact that not every other fact has too."""
    tokens = content_words(words(fold(fact)))
    shared = set(tokens)
    for other in facts:
        shared &= set(content_words(words(fold(other))))
    return [token for token in tokens if token not in shared] or tokens
