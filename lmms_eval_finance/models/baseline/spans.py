"""Stretches of a text that have the form of an answer: amounts, dates, names, codes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from lmms_eval_finance.metrics.numbers import find_dates, find_numbers
from lmms_eval_finance.models.baseline.words import words

LONGEST = 3000
"""Characters of one piece that are searched."""


class Span(NamedTuple):
    """A stretch of a text: its place, its writing, and how well it fits the form, 0 to 1."""

    start: int
    end: int
    text: str
    fit: float = 1.0


Finder = Callable[[str, str], list[Span]]
"""(text, language) -> every stretch of the form, in order."""


def by_pattern(pattern: str, flags: int = 0) -> Finder:
    """A finder of whatever the pattern matches."""
    compiled = re.compile(pattern, flags)

    def find(text: str, language: str) -> list[Span]:
        return [
            Span(found.start(), found.end(), found[0].strip(" \t\n,;:"))
            for found in compiled.finditer(text[:LONGEST])
        ]

    return find


# -- figures -----------------------------------------------------------------------------------------

_NONE = re.compile(
    r"^\W*(?:néants?|neant|aucune?s?|non applicable|sans objet|n/?a|nil|none|s/o|non|no|-|–|无|不适用)\b[^.;]{0,25}$|\bn[ée]ant\b",
    re.IGNORECASE,
)
_ABSENCE = re.compile(
    r"\b(?:pas d[e'’]|aucune?\b|sans\b|ne \w+ (?:pas|aucun)|n['’]\w+ (?:pas|aucun)|no\b|not\b)|[没无未]|不(?!超过|高于|低于|少于|同)",
    re.IGNORECASE,
)


def says_none(text: str) -> bool:
    """Whether a text says that there is none: ``Néant``, ``Aucun``, ``pas de frais``, ``0 %``.

    >>> [says_none(text) for text in ("Néant", "0,00 %", "Nous ne facturons pas de frais", "2 % maximum")]
    [True, True, True, False]
    """
    if _NONE.search(text) or _ABSENCE.search(text):
        return True
    numbers = find_numbers(text[:LONGEST])
    return bool(numbers) and all(number.value == 0 for number in numbers) and len(text) < 40


_COUNTED = re.compile(r"[\d½¼¾〇零一二三四五六七八九十]|[a-z]{3}", re.IGNORECASE)
"""A scale word on its own (`万`) is the unit of other figures."""


def figures(*, percent: float = 1.0, money: float = 1.0, bare: float = 1.0, none: float = 0.9) -> Finder:
    """A finder of numbers, with how well per cents, sums of money, bare numbers and words for none fit."""

    def find(text: str, language: str) -> list[Span]:
        text = text[:LONGEST]
        dated = [(span.start, span.end) for span in find_dates(text)]
        spans = []
        for number in find_numbers(text, language=language):
            if _COUNTED.search(number.text) and not any(start <= number.start < end for start, end in dated):
                fit = percent if number.percent else money if number.currencies else bare
                spans.append(Span(number.start, min(number.end, len(text)), number.text.strip(), fit))
        if not spans and none:
            spans = [
                Span(found.start(), found.end(), found[0].strip(), none) for found in _NONE.finditer(text)
            ][:1]
        return spans

    return find


_UNITS = r"(?:ans?|années?|mois|semaines?|jours?(?: ouvr(?:és|ables|é|able))?|heures?|years?|months?|weeks?|(?:business )?days?|hours?)\b|[年月天日周]"
_COUNTS = (
    r"(?:\d+(?:[.,]\d+)?|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|douze|quinze|vingt|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|[一二三四五六七八九十]+)"
)
durations = by_pattern(
    rf"(?:\b{_COUNTS}[ ]?(?:à|-|to|–)[ ]?)?(?<![\w,.]){_COUNTS}[ ]?(?:\([\w ]{{1,12}}\)[ ]?)?(?:{_UNITS})(?: (?:ou plus|minimum|au moins|or more))?",
    re.IGNORECASE,
)
_MONTHS = (
    r"(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|january|february|march|april|may|june|july"
    r"|august|september|october|november|december)"
)
_MONTH_YEAR = re.compile(rf"\b{_MONTHS}\s+(?:19|20)\d\d\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,/])(?:19|20)\d\d(?!\d|[.,%/]\d|[ ]?[%€$])")


def dates(text: str, language: str) -> list[Span]:
    """Days first, then months, then years."""
    text = text[:LONGEST]
    spans = [
        Span(one.start, one.end, text[one.start : one.end].strip()) for one in find_dates(text) if one.day
    ]
    for pattern, fit in ((_MONTH_YEAR, 0.8), (_YEAR, 0.6)):
        for found in pattern.finditer(text):
            if not any(span.start < found.end() and found.start() < span.end for span in spans):
                spans.append(Span(found.start(), found.end(), found[0], fit))
    return sorted(spans)


def years(text: str, language: str) -> list[Span]:
    """Years, also within dates."""
    return [Span(found.start(), found.end(), found[0]) for found in _YEAR.finditer(text[:LONGEST])]


_CLASS = re.compile(
    r"(?:cat[ée]gorie|classe|niveau|category|class|level|indicateur)(?: de risque| d'actions)?(?:\s+(?:est|is))?(?: de)?\s*[:«\"]?\s*([1-7])\b(?:[ ]?(?:sur|/|of|out of)[ ]?7)?"
    r"|\b([1-7])[ ]?(?:sur|/|of|out of)[ ]?7\b",
    re.IGNORECASE,
)
_SCALE = re.compile(r"(?:\b\d\s*\*?\s+){2,6}\d\b\s*\*?")


def risk_classes(text: str, language: str) -> list[Span]:
    """A class of risk from 1 to 7, also the one marked on a printed scale."""
    text = text[:LONGEST]
    spans = [Span(found.start(), found.end(), found[0].strip()) for found in _CLASS.finditer(text)]
    for scale in _SCALE.finditer(text):
        spans += [
            Span(scale.start() + marked.start(), scale.start() + marked.end(), marked[1])
            for marked in re.finditer(r"\b([1-7])\s*\*", scale[0])
        ]
    return sorted(spans)


# -- names -------------------------------------------------------------------------------------------

_CAPITAL = r"(?:[A-ZÀ-Ý][\w&'’.®/-]*|[A-Z]\.)"
_JOINED = r"(?:de|du|des|et|of|the|and|&|la|le|les|en|for|-|–)"
_NAME = re.compile(
    rf"{_CAPITAL}(?:[ ](?:{_CAPITAL}|{_JOINED}(?=[ ](?:{_CAPITAL}|la[ ]{_CAPITAL}))|d['’]{_CAPITAL}|S\.à|r\.l\.|\([A-Z][A-Za-z ]{{1,25}}\)|\d{{1,4}}(?![\d,.%])))*"
)
_HANZI_NAME = re.compile(r"[一-鿿A-Za-z0-9（）()]{2,30}?(?:公司|银行|基金|集团|证券|股份|交易所|委员会)")
_ENDED = re.compile(r".*?(?<!\w)(?:S\.A\.(?:S\.)?|r\.l\.|Inc\.|Ltd\.|N\.A\.)(?=[ ])")
"""A legal form ends a name, whatever capital follows."""
_GENERIC = frozenset(
    [
        "le",
        "la",
        "les",
        "l",
        "un",
        "une",
        "ce",
        "cette",
        "ces",
        "cet",
        "son",
        "sa",
        "nous",
        "vous",
        "il",
        "elle",
        "the",
        "a",
        "this",
        "these",
        "you",
        "we",
        "fonds",
        "fund",
        "fcp",
        "sicav",
        "opcvm",
        "fia",
        "ucits",
        "societe",
        "gestion",
        "compartiment",
        "portefeuille",
        "gestionnaire",
        "conservateur",
        "depositaire",
        "autorite",
        "produit",
        "priip",
        "kid",
        "kiid",
        "document",
        "categorie",
        "categories",
        "action",
        "actions",
        "part",
        "parts",
        "classe",
        "classes",
        "indice",
        "investisseur",
        "investisseurs",
        "prospectus",
        "risque",
        "risques",
        "agent",
        "initiateur",
        "commission",
        "commissions",
        "frais",
        "en",
        "au",
        "aux",
        "de",
        "du",
        "des",
        "pour",
        "dans",
        "si",
        "information",
        "informations",
        "objectif",
        "objectifs",
        "souscription",
        "rachat",
        "valeur",
        "liquidative",
        "isin",
        "usd",
        "eur",
        "gbp",
        "chf",
        "type",
        "nom",
        "date",
        "cible",
        "kbis",
        "etat",
        "etats",
        "membre",
        "ue",
        "eee",
        "conseil",
        "direction",
        "capital",
        "euro",
        "euros",
        "ttc",
        "assiette",
        "nav",
        "vl",
    ]
)


def names(*hints: str, rest: float = 0.75) -> Finder:
    """A finder of proper names; those with one of the hints in them fit best, the others by `rest`."""
    hinted = re.compile("|".join(hints), re.IGNORECASE) if hints else None

    def find(text: str, language: str) -> list[Span]:
        text = text[:LONGEST]
        spans = []
        for found in (*_NAME.finditer(text), *_HANZI_NAME.finditer(text)):
            name = re.sub(
                r"^(?:(?:Le|La|Les|L['’]|Un|Une|Ce|Cette|The|Du|De|En|Au)[ ]|L['’])+", "", found[0]
            ).strip(" -–'’/")
            own = words(name)
            if len(name) < 3 or not [word for word in own if word not in _GENERIC and not word[0].isdigit()]:
                continue
            whole = _ENDED.match(name)
            name = whole[0] if whole else name
            start = text.find(name, found.start())
            opens = start == 0 or text[max(0, start - 2) : start].strip(' «"') in (".", "•", "-", ";")
            if len(own) == 1 and opens and not name.isupper():
                continue  # a capital at the start of a sentence is no name by itself
            name = (
                name.rstrip(".")
                if not re.search(r"\b(?:[A-Z]\.)+[A-Z]?\.$|\.l\.$|(?:Inc|Ltd|Co)\.$", name)
                else name
            )
            fit = 1.0 if hinted is None or hinted.search(name) else rest
            spans.append(
                Span(
                    start,
                    start + len(name),
                    name,
                    fit if len(own) > 1 or (hinted and fit == 1.0) else 0.9 * fit,
                )
            )
        return sorted(spans)

    return find
