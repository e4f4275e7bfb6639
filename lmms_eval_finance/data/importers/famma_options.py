"""FAMMA's option cells: a list of texts, or, in csv copies, some program's print of one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

__all__ = ["read_options"]

_LITERAL = re.compile(r"""[ubr]?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""", re.DOTALL | re.IGNORECASE)
# What a print may hold beside its texts: brackets, separators, and numpy's names.
_AROUND = re.compile(r"(?:[\s,;\[\](){}]|np\.str_|array|dtype=object|dtype=)*")
_ABSENT = frozenset(["", "nan", "none", "null", "[]", "()"])
_LABELLED = re.compile(r"(?:^|[\n;]|(?<=\s))\s*(?=\(?[A-H][.):]\s)")


def read_options(cell: str | Iterable[object] | None) -> list[str]:
    r"""The options that a cell holds, in order, as written (`A. Fixed`).

    Read are lists and arrays themselves, the print of a Python list, JSON, and the print
    of a numpy array, which separates texts by blanks alone and breaks lines, so that
    Python would fuse its texts into one. A text that is no such print is split at its
    option letters, else taken as one option. Every cell gives a list.

    >>> read_options("['A. Fixed' 'B. Floating'\n \"C. It's zero\"]")
    ['A. Fixed', 'B. Floating', "C. It's zero"]
    >>> read_options(None), read_options("A. Fixed\nB. Floating")
    ([], ['A. Fixed', 'B. Floating'])
    """
    if cell is None or (isinstance(cell, float) and cell != cell):
        return []
    if not isinstance(cell, str):
        return [str(option).strip() for option in cell] if isinstance(cell, Iterable) else [str(cell)]
    text = cell.strip()
    if text.casefold() in _ABSENT:
        return []
    if text[0] in "[(" or text.startswith("array("):
        literals = _LITERAL.findall(text)
        if literals and _AROUND.fullmatch(_LITERAL.sub(" ", text)):
            return [_value(literal).strip() for literal in literals]
        if not literals and text[-1] in "])":
            return [part.strip() for part in text[1:-1].split(",") if part.strip()]
    return [part.strip(" \n;") for part in _LABELLED.split(text) if part.strip(" \n;")]


def _value(literal: str) -> str:
    try:
        return str(ast.literal_eval(literal))
    except (ValueError, SyntaxError):  # an escape that Python does not know, or a line break
        return literal[1:-1]
