"""Names in short texts: what is one, and whether a text cuts one or makes one longer."""

from __future__ import annotations

import re

from lmms_eval_finance.judging.rules.words import fold

__all__ = ["BRACKETS", "cuts_name", "is_name", "is_named", "lengthens_name"]

BRACKETS = re.compile(r"\([^()]{0,200}\)")
_ARTICLES = frozenset({"le", "la", "les", "the", "un", "une", "a"})


def is_name(text: str) -> bool:
    """Whether a text is a proper name or code rather than common words.

    >>> [is_name(text) for text in ("CACEIS Bank", "J.P. Morgan SE", "Capitalisation", "risque de change")]
    [True, True, False, False]
    """
    tokens = re.findall(r"[^\W_]+", text)
    spelled = [token for token in tokens if (len(token) > 3 or token.isupper()) and not token.isdigit()]
    named = [token for token in spelled if token[0].isupper() or token[0].isdigit()]
    strong = [token for token in named if token.isupper() or any(sign.isdigit() for sign in token)]
    return bool(spelled) and len(named) >= 0.75 * len(spelled) and (len(named) > 1 or bool(strong))


def is_named(token: str, text: str) -> bool:
    """Whether a folded word stands in the text as a name: with a capital inside it, a figure or a single letter.

    >>> is_named("bnp", "la banque BNP Paribas"), is_named("banque", "Banque centrale")
    (True, False)
    """
    if token[0].isdigit() or token[0] == "§":
        return True
    return any(
        word[0].isupper() and fold(word).strip() == token
        for word in re.findall(r"(?<!^)\b[^\W\d_]{2,}", text.strip())
    )


def lengthens_name(gold: str, answer: str) -> bool:
    """Whether a further capitalised word or figure directly joins the gold's words in the answer.

    >>> lengthens_name("CAC 40", "CAC 40 Net Return"), lengthens_name("Euronext", "Euronext, à Paris")
    (True, False)
    """
    gold = gold.strip()
    position = answer.casefold().find(gold.casefold())
    if position < 0:
        return True
    before, after = answer[:position].rstrip(), answer[position + len(gold) :].lstrip(" \"'»”")
    joined = re.match(r"(?:[-–—]\s*)?[A-Z0-9]", after) or re.search(r"[A-Z][\w.]*$", before)
    return joined is not None


def cuts_name(gold: str, answer: str) -> bool:
    """Whether the answer's place in the gold borders on further capitals or figures: part of a longer name.

    >>> cuts_name("Opéra Symphonie C EUR", "Opéra Symphonie"), cuts_name("géré par Constance Associés", "Constance Associés")
    (True, False)
    """
    answer = answer.strip(" .")
    position = gold.casefold().find(answer.casefold())
    if position < 0:
        return True
    before, after = gold[:position].rstrip(), gold[position + len(answer) :].lstrip()
    if re.match(r"(?:[-–—&]\s*)?[A-Z0-9]", after):
        return True
    opening = before.strip().lower() in _ARTICLES
    return not opening and re.search(r"(?:^|\s)(?:[A-Z][\w.&]*|[\d.,]+%?)$|\d[-–—]$", before) is not None
