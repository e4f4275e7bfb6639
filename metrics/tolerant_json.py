r"""JSON as models write it: fenced, commented, single-quoted, with stray commas, or cut off.

Repair libraries complete what is missing (a cut string becomes a whole one), which would
score text the model never wrote. This reader invents nothing: a value that was not
finished is left out, and the fact that something was cut is reported.

It recovers from: prose and code fences around the value, comments (`//`, `/* */`, `#`),
trailing, doubled and missing commas, single or typographic quotes, unquoted keys and
values, full-width punctuation, quotes and line breaks inside strings, Python's
True/False/None, `=` or `=>` for `:`, wrong closing brackets, LaTeX backslashes.
Every text gives a result, in time linear in its length; nesting is read to 64 levels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["JsonValue", "read_json_values"]

_MAX_DEPTH = 64
_BLANKS = re.compile(r"(?:\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|#[^\n]*)*")
# An opening bracket in LaTeX (\frac{, x_{) or after a word (f[) starts no JSON; a fence's language does.
_OPENING = re.compile(r"[{\[](?:(?<![\w\\^_}].)|(?<=json.)|(?<=JSON.))", re.DOTALL)
_CLOSING_QUOTE = {'"': '"', "'": "'", "“": "”", "‘": "’", "”": "”", "«": "»", "「": "」"}
_QUOTES = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in set(_CLOSING_QUOTE.values())}
_COMMAS = ",;\uff0c\uff1b"
_COLONS = ":\uff1a"
_COLON = re.compile(rf"\s*(?:[{_COLONS}]|=>?)\s*")
_COLON_NEXT = re.compile(rf"\s*[{_COLONS}]")
_KEY_NEXT = (
    rf"(?:[\"'“‘”«「][^\"'“”\n]{{1,80}}[\"'”’»」]|[A-Za-z_][\w .()-]{{0,40}})\s{{0,9}}(?:[{_COLONS}]|=>?)"
)
_KEY_CUT = r"[\"'“‘”«「][^\"'“”\n]{0,80}[\"'”’»」]?\s{0,9}\Z"
_PAIR_ENDS = re.compile(
    rf"\s*(?:[}}\]]|\Z|//|/\*|[{_COMMAS}]\s*(?:[}}\]]|\Z|//|/\*|#|{_KEY_NEXT}|{_KEY_CUT})|(?<=\s){_KEY_NEXT})"
)
_ITEM_ENDS = re.compile(rf"\s*(?:[}}\]{_COMMAS}]|\Z|//|/\*)|[ \t]*\n")
_KEY_ENDS = re.compile(rf"\s*[{_COLONS}=}}{_COMMAS}]")
_BARE_KEY = re.compile(rf"[^\s{{}}\[\]{_COLONS}{_COMMAS}\"“”=][^{{}}\[\]{_COLONS}{_COMMAS}\n\"“”=]{{0,80}}")
_BARE_STOP = re.compile(rf"[}}\]\n{_COMMAS}]|//|/\*|(?<=\s)#|\Z")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_ESCAPE = re.compile(
    r"\\(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_LATEX = re.compile(
    r"t(?:ext|imes|heta|au(?![a-z])|frac|ilde|o(?![a-z])|an(?![a-z]))|r(?:ight|ho(?![a-z])|m(?![a-z]))"
    r"|b(?:oxed|eta|ar(?![a-z])|egin|f(?![a-z]))|f(?:rac|orall)|n(?:eq|abla|u(?![a-z])|e(?![a-z])|ot(?![a-z]))"
)
# Escapes that the letter of JSON reads otherwise than they were meant: LaTeX, and lone surrogates.
_SUSPECT = re.compile(rf"(?<!\\)(?:\\\\)*\\(?:{_LATEX.pattern}|u[dD][89a-fA-F])")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS: dict[str, bool | None] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "None": None, "NULL": None, "NaN": None, "nan": None, "undefined": None,
}  # fmt: skip


@dataclass(frozen=True)
class JsonValue:
    """One object or array found in a text.

    Attributes:
        value: dict, list, str, bool, None, or what `number` made of a number.
        truncated: the text ended before the value was closed; `value` holds the finished part.
        span: where it stands in the text, as (start, end).
    """

    value: Any
    truncated: bool
    span: tuple[int, int]


def _plain_number(literal: str) -> int | float:
    return int(literal) if literal.lstrip("+-").isdigit() and len(literal) < 400 else float(literal)


def read_json_values(text: str, number: Callable[[str], Any] = _plain_number) -> list[JsonValue]:
    r"""The objects and arrays that stand in a text, in order, outermost only.

    Args:
        text: any text.
        number: makes a value of a number's literal; `str` keeps it as written.

    >>> [found.value for found in read_json_values("Sure:\n```json\n{'a': 1, b: [True, \"x\",], // done\n}\n```")]
    [{'a': 1, 'b': [True, 'x']}]
    >>> read_json_values('{"a": "one", "b": "tw')
    [JsonValue(value={'a': 'one'}, truncated=True, span=(0, 21))]
    """
    reader = _Reader(text, number)
    strict = json.JSONDecoder(parse_float=number, parse_int=number, parse_constant=_WORDS.get)
    found: list[JsonValue] = []
    position = 0
    while opening := _OPENING.search(text, position):
        try:
            value, end = strict.raw_decode(text, opening.start())
            if not _SUSPECT.search(text, opening.start(), end):
                found.append(JsonValue(value, False, (opening.start(), end)))
                position = end
                continue
        except (ValueError, RecursionError):  # not JSON to the letter
            pass
        reader.position, reader.truncated, reader.keyed = opening.start(), False, False
        value = reader.container(0)
        position = max(reader.position, opening.end())
        if value or reader.keyed or not reader.truncated or not text[opening.end() :].strip():
            found.append(JsonValue(value, reader.truncated, (opening.start(), position)))
    return found


class _Cut(Exception):
    """The text ended inside a value."""


class _Reader:
    def __init__(self, text: str, number: Callable[[str], Any]) -> None:
        self.text = text
        self.number = number
        self.position = 0
        self.truncated = False
        self.keyed = False  # whether a key with a colon was seen: what tells JSON from a lone bracket

    def blanks(self) -> str:
        """Skip white space and comments; the character that follows, or ''."""
        match = _BLANKS.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return self.text[self.position : self.position + 1]

    def container(self, depth: int) -> Any:
        if depth == _MAX_DEPTH:
            self.truncated, self.position = True, len(self.text)
            return None
        opening = self.text[self.position]
        self.position += 1
        try:
            return self.pairs(depth) if opening == "{" else self.items(depth)
        except RecursionError:  # a caller deep in its own stack
            self.truncated, self.position = True, len(self.text)
            return None

    def pairs(self, depth: int) -> Any:
        pairs: dict[str, Any] = {}
        loose: list[Any] = []  # {A, C}: a set, not an object
        while not self.truncated:
            following = self.blanks()
            if following == "":
                self.truncated = True
            elif following in "}]":
                self.position += following == "}"
                break
            elif following in _COMMAS + _COLONS:
                self.position += 1
            else:
                self.pair(following, depth, pairs, loose)
        return loose if loose and not pairs and not self.truncated else pairs

    def pair(self, following: str, depth: int, pairs: dict[str, Any], loose: list[Any]) -> None:
        try:
            key = self.key(following, depth)
            if colon := _COLON.match(self.text, self.position):
                self.position, self.keyed = colon.end(), True
                if self.blanks() == "":
                    raise _Cut
                value = self.value(depth, _PAIR_ENDS)
                if isinstance(key, str):
                    pairs[key] = value
            elif self.position >= len(self.text):
                raise _Cut
            else:
                loose.append(key)
        except _Cut:
            self.truncated, self.position = True, len(self.text)

    def key(self, following: str, depth: int) -> Any:
        if following in _CLOSING_QUOTE:
            return self.string(_KEY_ENDS)
        if following in "{[":
            return self.container(depth + 1)
        if bare := _BARE_KEY.match(self.text, self.position):
            self.position = bare.end()
            return bare[0].strip()
        self.position += 1
        return None

    def items(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while not self.truncated:
            following = self.blanks()
            if following == "":
                self.truncated = True
            elif following in "}]":
                self.position += following == "]"
                break
            elif following in _COMMAS:
                self.position += 1
            else:
                try:
                    items.append(self.value(depth, _ITEM_ENDS))
                except _Cut:
                    self.truncated, self.position = True, len(self.text)
        return items

    def value(self, depth: int, ends: re.Pattern[str]) -> Any:
        following = self.text[self.position]
        if following in "}]" or following in _COMMAS:
            return None
        if following in "{[":
            return self.container(depth + 1)
        if following in _CLOSING_QUOTE:
            return self.string(ends)
        return self.bare(ends)

    def bare(self, ends: re.Pattern[str]) -> Any:
        """An unquoted value; a comma within it (1,250) ends it only where a key or a closing follows."""
        start = self.position
        stop = start
        for match in _BARE_STOP.finditer(self.text, start):
            stop = match.start()
            if match[0] not in _COMMAS or ends.match(self.text, stop):
                break
        else:
            stop = len(self.text)
        if stop >= len(self.text):
            raise _Cut
        self.position = max(stop, start + 1)
        literal = self.text[start : self.position].strip().rstrip("\"'”;")
        if literal in _WORDS:
            return _WORDS[literal]
        if _NUMBER.fullmatch(literal):
            return self.number(literal)
        return literal

    def string(self, ends: re.Pattern[str]) -> str:
        """A quoted string. A quote inside it that nothing plausible follows belongs to the text."""
        closing = _CLOSING_QUOTE[self.text[self.position]]
        start = self.position + 1
        candidates: list[int] = []
        for match in _QUOTES[closing].finditer(self.text, start):
            if match[0] != closing:
                continue
            candidates.append(match.start())
            if ends.match(self.text, match.end()):
                return self.close(start, match.start())
            if _COLON_NEXT.match(self.text, match.end()) and len(candidates) > 2:
                # this quote closes the next key: the value ended before that key opened
                return self.close(start, candidates[-3])
        raise _Cut

    def close(self, start: int, end: int) -> str:
        self.position = end + 1
        body = self.text[start:end]
        return _ESCAPE.sub(_unescape, body) if "\\" in body else body


def _unescape(match: re.Match[str]) -> str:
    escaped = match[1]
    if len(escaped) > 1:
        units = [int(code, 16) for code in escaped[1:].split("\\u")]
        return b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le", "replace")
    if escaped in _ESCAPED:
        return match[0] if _LATEX.match(match.string, match.start(1)) else _ESCAPED[escaped]
    return escaped if escaped in "\"'\\/" else match[0]
