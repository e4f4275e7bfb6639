"""Golds that identify: ISIN and other codes, mail and web addresses, telephone numbers.

They are compared without blanks, case and punctuation, and never approximately: one wrong
sign makes another security.
"""

from __future__ import annotations

import re
import unicodedata

from lmms_eval_finance.judging.rules.findings import Finding

__all__ = ["compare_codes"]

_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")
_WEB = re.compile(
    r"(?:https?://)?(?:www\.)?[\w-]{1,64}(?:\.[\w-]{1,64}){0,4}\.[a-z]{2,12}(?![\w.]*@)(?:/[^\s,;)]{0,200})?",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b(?=[A-Z0-9 ./-]{0,20}\d)[A-Z0-9]{2,}(?:[ ./-]?[A-Z0-9]{2,}){0,4}\b")
_ISIN = re.compile(r"\b[A-Z]{2}[ -]?(?:[A-Z0-9][ -]?){9}\d\b", re.IGNORECASE)
_PHONE = re.compile(r"(?:\+|00)?[ ]?\(?\+?\d[\d \t().+/-]{5,24}\d")
_ASKS_CODE = re.compile(r"\bcodes?\b|\bidenti|\bnumber\b|num[ée]ro|代码|编号|号码", re.IGNORECASE)
_CODE_GOLD = re.compile(r"(?=[\w ./-]{0,24}\d)(?=[\w ./-]{0,24}[A-Z])[A-Z0-9]+(?:[ ./-][A-Z0-9]+){0,3}\.?")


def compare_codes(gold: str, answer: str, question: str = "") -> Finding | None:
    """Compare an answer with a gold that is a code, an address or a telephone number; None for other golds.

    >>> compare_codes("LU0505784883", "Le code ISIN est LU 0505 784883.").verdict
    True
    >>> compare_codes("FR0012553584", "FR0012203504").verdict, compare_codes("Euro", "EUR") is None
    (False, True)
    """
    bare = gold.strip(" .;,")
    if _MAIL.fullmatch(bare):
        return _listed(bare, _MAIL.findall(answer), answer)
    if (
        _WEB.fullmatch(bare)
        and ("/" in bare or "www" in bare.lower() or (bare.count(".") >= 1 and not bare.isupper()))
        and _is_host(bare)
    ):
        return _listed(_host(bare), [_host(found) for found in _WEB.findall(answer)], answer)
    if _ISIN.fullmatch(bare):
        return _listed(_plain(bare), [_plain(found) for found in _ISIN.findall(answer)], answer)
    if bare.isdigit() and len(bare) >= 5 and _ASKS_CODE.search(question):
        return _listed(bare, re.findall(r"\d{5,}", answer), answer)
    if _is_phone(bare):
        return _phone(bare, answer)
    if _CODE_GOLD.fullmatch(bare) and sum(sign.isdigit() for sign in bare) >= 3 and " " not in bare:
        return _listed(
            _plain(bare), [_plain(found) for found in re.findall(r"[\w./-]*\d[\w./-]*", answer)], answer
        )
    return None


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKC", text).lower())


def _is_host(text: str) -> bool:
    return (
        re.search(r"[a-z]{2}", text) is not None
        and re.search(r"\.[a-z]{2,6}(?:/|$)", text.lower()) is not None
    )


def _host(text: str) -> str:
    return re.sub(r"^(?:https?://)?(?:www\.)?", "", text.lower()).rstrip("/.")


def _listed(gold: str, found: list[str], answer: str) -> Finding:
    """Whether the gold is the only thing of its kind in the answer."""
    distinct = {_plain(item) for item in found if _plain(item)}
    wanted = _plain(gold)
    if distinct == {wanted}:
        return Finding(True, "the same code")
    if wanted in distinct or wanted in _plain(answer):
        return Finding(True, "the same code") if len(distinct) <= 1 else Finding(None, "further codes")
    return Finding(False, "another code")


def _is_phone(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    return (
        8 <= len(digits) <= 15
        and re.fullmatch(r"[\d\s()+./-]+", text) is not None
        and (re.search(r"[()+/]|^00", text) is not None or len(re.findall(r"\d+", text)) >= 3)
        and re.fullmatch(r"\d{1,3}(?: \d{3})+|\d\d?[./-]\d\d?[./-]\d{2,4}|\d{4}-\d\d-\d\d", text.strip())
        is None
    )


def _phone(gold: str, answer: str) -> Finding:
    wanted = re.sub(r"\D", "", gold).lstrip("0")
    found = {re.sub(r"\D", "", match).lstrip("0") for match in _PHONE.findall(answer)}
    if wanted in found:
        return Finding(True, "the same number") if len(found) == 1 else Finding(None, "further numbers")
    if any(number.endswith(wanted[-8:]) for number in found):
        return Finding(None, "the number without or with another prefix")
    return Finding(False, "another number")
