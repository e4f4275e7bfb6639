"""Masked golds: base64 text in place of an answer, so that it does not lie about in clear."""

from __future__ import annotations

import base64
import binascii

__all__ = ["unmasked"]


def unmasked(text: str) -> str:
    """The text behind base64; the text itself where it is none.

    Only for golds known to be masked: a short plain word can look like base64.

    >>> unmasked("Qg=="), unmasked("MzbkuIflhYM=")
    ('B', '36万元')
    >>> unmasked("B"), unmasked("")
    ('B', '')
    """
    try:
        # encoders break long lines
        decoded = base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return text
    return decoded if decoded and all(sign.isprintable() or sign in "\n\r\t" for sign in decoded) else text
