"""JSON as language models write it: fenced, commented, mistyped, cut off, or lost in prose.

One tolerant reader for every parser of model output. It follows the JSON grammar where
the text does and gives way where it does not: trailing or missing commas, single and
typographic quotes, unescaped quotes within strings, bare words, Python literals and
tuples, comments, full-width punctuation, missing closing brackets. On valid JSON it
gives what the standard library gives. It runs in time linear in the text, needs no
recursion, and no text makes it raise.

The general repair libraries were measured first; the best kept one needs 9 s for
16 kB of ``{"a" {"a" ...`` and recurses on open brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lmms_eval_finance.metrics.normalise import strip_reasoning

__all__ = ["CutList", "Found", "fenced_blocks", "find_json", "read_json_object", "without_escaping"]

# Deeper nesting is no answer; the bound keeps recursive readers of the values safe.
MAX_DEPTH = 64

Pairs = list[tuple[str, Any]]


class CutList(list[Any]):
    """An array that the text breaks off in: its last value may be incomplete."""


class Found(NamedTuple):
    """One JSON container and the half-open range of the text that it was read from."""

    value: Any
    start: int
    end: int


def fenced_blocks(text: str) -> list[str]:
    """What stands between code fences, without the language name; a last open fence reaches to the end.

    >>> fenced_blocks("Here: ```json [1]``` and ```[2]")
    ['[1]', '[2]']
    """
    return [_INFO.sub("", block, count=1) for block in _FENCE.split(text)[1::2]]


_FENCE = re.compile(r"```|~~~")
_INFO = re.compile(r"^[\w+-]*[ \t]*\r?\n|^json[ \t]+", re.IGNORECASE)


def read_json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a response gives as its answer; None where there is none.

    Thinking blocks are cut out first. Objects inside code fences win over others; among
    several the one with most keys wins, then the last (a draft stands before the final
    one). An array that holds nothing but one object counts as that object.

    >>> read_json_object('Sure! {"total": "12.50", "items": [{"name": "tea",}], "date": "2024-0')
    {'total': '12.50', 'items': [{'name': 'tea'}], 'date': '2024-0'}
    >>> read_json_object("no object here") is None
    True
    """
    text = without_escaping(strip_reasoning(text))
    for parts in (fenced_blocks(text), [text]):
        values = [found.value for part in parts for found in find_json(part)]
        values = [value[0] if isinstance(value, list) and len(value) == 1 else value for value in values]
        objects = [value for value in values if isinstance(value, dict)]
        if objects:
            return max(reversed(objects), key=len)
    return None


def without_escaping(text: str) -> str:
    r"""The text with its quotes plain again, if it is one JSON string or all its quotes are escaped.

    >>> without_escaping(r'"{\"a\": 1}"'), without_escaping('{"a": 1}')
    ('{"a": 1}', '{"a": 1}')
    """
    inner = text.strip()
    if len(inner) > 1 and inner[0] == inner[-1] == '"':
        inner = inner[1:-1]
    if '\\"' in inner and not _PLAIN_QUOTE.search(inner):
        return _decode(inner)
    return text


_PLAIN_QUOTE = re.compile(r'(?<!\\)"')


def find_json(text: str, object_pairs_hook: Callable[[Pairs], Any] = dict) -> Iterator[Found]:
    """Every outermost array and object of the text, in order, whatever stands around them.

    Brackets of prose that hold nothing like a value are passed over.

    Args:
        text: any text.
        object_pairs_hook: makes the value of an object from its (key, value) pairs, as in
            the standard library; by default the last of several equal keys wins.

    >>> [found.value for found in find_json("a [1, 2,] b {'c': None, d: 'e'")]
    [[1, 2], {'c': None, 'd': 'e'}]
    """
    position = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        value, position = _read_container(text, start, object_pairs_hook)
        if value or _EMPTY.fullmatch(text, start, position):
            yield Found(value, start, position)


_OPENING = re.compile(r"[\[{]")
_EMPTY = re.compile(r"\[\s*\]|\{\s*\}")
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\#[ \t][^\n]*|\.{3}|…)+", re.DOTALL)
_SEPARATOR = re.compile(r"[,，、;；:：=>]+")
_COLON = re.compile(r"\s*(?:[:：]|=>?)")
_BARE_KEY = re.compile(r"[^\s,，:：=\[\]{}()\"'“”‘’]{1,200}")
_BARE_IN_LIST = re.compile(r"[^,，、;；:：\[\](){}\"“”\n]+")
_BARE_IN_OBJECT = re.compile(r"[^,，\[\]{}\"“”\n]+")

_QUOTES = {'"': '"', "'": "'", "“": '”"', "”": '”"', "‘": "’'", "’": "’'"}
_STRING_STOP = {quote: re.compile(rf"[\\{ends}]") for quote, ends in _QUOTES.items()}
# A quote ends its string only where the grammar can go on after it; others belong to the text.
_KEY_END = re.compile(r"\s*(?:[:：=,，}\])]|\Z)")
_VALUE_END = re.compile(
    r"\s*(?:[,;；\]})]|，\s*[\"'“{\[]|//|/\*|\#|\Z)"
    r"|[ \t]*\r?\n"
    r"|\s*[\"'“][^\"'“”\n:：]{1,100}[\"'”]\s*[:：]"
)

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_NUMBER_IN_LIST = re.compile(_NUMBER.pattern + r"(?=[\s,，、;；\[\](){}/#]|\Z)", re.ASCII)
_NUMBER_IN_OBJECT = re.compile(_NUMBER.pattern + r"(?=\s*(?:[,，;；\]})\"'“/#\n]|\Z))", re.ASCII)
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?=\s*[,，}\n]|\Z)", re.ASCII)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d{0,299})", re.ASCII)
_LEADING_ZERO = re.compile(r"0\d+", re.ASCII)
_LITERALS: dict[str, Any] = {
    "true": True,
    "false": False,
    **dict.fromkeys(("null", "none", "undefined")),
    **{sign + name: float(sign + name) for sign in ("", "-", "+") for name in ("nan", "inf", "infinity")},
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Frame:
    """A container that is being read; in an object, `key` waits for its value."""

    __slots__ = ("is_list", "items", "key")

    def __init__(self, is_list: bool) -> None:
        self.is_list = is_list
        self.items: list[Any] = []
        self.key: str | None = None

    @property
    def wants_value(self) -> bool:
        return self.is_list or self.key is not None

    def add(self, value: Any) -> None:
        self.items.append(value if self.is_list else (self.key, value))
        self.key = None


def _read_container(text: str, start: int, object_pairs_hook: Callable[[Pairs], Any]) -> tuple[Any, int]:
    """The container that opens at `start` and the position where reading stopped, beyond `start`."""
    stack = [_Frame(text[start] == "[")]
    position = start + 1

    def close(cut: bool) -> Any:
        frame = stack.pop()
        if frame.is_list:
            value: Any = CutList(frame.items) if cut else frame.items
        else:
            if frame.key is not None and not cut:
                frame.add(None)
            value = object_pairs_hook(frame.items)
        if stack:
            stack[-1].add(value)
        return value

    while position < len(text):
        frame, character = stack[-1], text[position]
        if blank := _BLANK.match(text, position):
            position = blank.end()
        elif character in "]})":
            position += 1
            wants_list = character != "}"
            if any(frame.is_list == wants_list for frame in stack):
                while stack[-1].is_list != wants_list:
                    close(cut=False)
                value = close(cut=False)
                if not stack:
                    return value, position
        elif character in "[{(" and frame.wants_value:
            if len(stack) == MAX_DEPTH:
                break
            stack.append(_Frame(character != "{"))
            position += 1
        elif separator := _SEPARATOR.match(text, position):
            position = separator.end()
            if frame.key is not None:
                frame.add(None)
        elif frame.wants_value and character in _QUOTES:
            value, position = _read_string(text, position, _VALUE_END)
            frame.add(value)
        elif frame.wants_value:
            value, position = _read_bare(text, position, frame.is_list)
            frame.add(value)
        else:
            if character in _QUOTES:
                key, position = _read_string(text, position, _KEY_END)
            elif bare := _BARE_KEY.match(text, position):
                key, position = bare[0], bare.end()
            else:
                break
            if colon := _COLON.match(text, position):
                frame.key, position = key, colon.end()
            elif not _KEY_END.match(text, position):
                break
    while len(stack) > 1:
        close(cut=True)
    return close(cut=True), position


def _read_string(text: str, start: int, end: re.Pattern[str]) -> tuple[str, int]:
    """The string whose opening quote stands at `start`, and the position after it."""
    stop = _STRING_STOP[text[start]]
    position = start + 1
    while found := stop.search(text, position):
        position = found.end()
        if found[0] == "\\":
            position += 1
        elif end.match(text, position):
            return _decode(text[start + 1 : found.start()]), position
    return _decode(text[start + 1 :]), len(text)


def _decode(raw: str) -> str:
    """A string's content with its escapes resolved; unknown escapes stay as written."""
    if "\\" not in raw:
        return raw

    def resolve(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _ESCAPED.get(escape, match[0])

    text = _ESCAPE.sub(resolve, raw)
    if _SURROGATE.search(text):  # pairs join; lone ones, which no encoder accepts, become U+FFFD
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _read_bare(text: str, start: int, in_list: bool) -> tuple[Any, int]:
    """The unquoted value at `start` (number, literal or bare words), and the position after it."""
    if not in_list and (grouped := _GROUPED.match(text, start)):
        return grouped[0], grouped.end()
    number, words = (_NUMBER_IN_LIST, _BARE_IN_LIST) if in_list else (_NUMBER_IN_OBJECT, _BARE_IN_OBJECT)
    match = number.match(text, start) or words.match(text, start)
    if match is None:  # a character that can stand nowhere
        return None, start + 1
    word = match[0].strip()
    return _scalar(word), match.end()


def _scalar(word: str) -> Any:
    if word.lower() in _LITERALS:
        return _LITERALS[word.lower()]
    if _INTEGER.fullmatch(word):
        return int(word)
    if _LEADING_ZERO.fullmatch(word):  # an identifier, whose zeros matter
        return word
    return float(word) if _NUMBER.fullmatch(word) else word
