"""JSON as language models write it: fenced, commented, mistyped, cut off, or lost in prose.

One tolerant reader for every parser of model output. It follows the JSON grammar where
the text does and gives way where it does not: trailing, doubled or missing commas, single
and typographic quotes, unescaped quotes within strings, bare words, Python literals,
tuples and sets, comments, full-width punctuation, LaTeX backslashes, wrong or missing
closing brackets. It invents nothing: a value that the text breaks off in is left out. On
valid JSON it gives what the standard library gives. It runs in time linear in the text,
needs no recursion, and no text makes it raise.

The general repair libraries were measured first; the best kept one needs 9 s for
16 kB of ``{"a" {"a" ...``, recurses on open brackets, and completes what was cut.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lmms_eval_finance.metrics.normalise import strip_reasoning

__all__ = ["Found", "fenced_blocks", "find_json", "read_json_object", "without_escaping"]

# Deeper nesting is no answer; the bound keeps recursive readers of the values safe.
MAX_DEPTH = 32

Pairs = list[tuple[str, Any]]


class Found(NamedTuple):
    """One JSON container.

    Attributes:
        value: the array or object.
        start: where it opens in the text.
        end: where reading it stopped.
        closed: False if the text ended, or went on as no JSON, before it was closed.
    """

    value: Any
    start: int
    end: int
    closed: bool


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
    {'total': '12.50', 'items': [{'name': 'tea'}]}
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


def number(literal: str) -> int | float | str:
    """The value of a number's literal; digits after a leading zero are an identifier and stay text.

    >>> number("12"), number("1.50"), number("007"), number("1e999")
    (12, 1.5, '007', inf)
    """
    if _INTEGER.fullmatch(literal):
        return int(literal)
    return literal if _LEADING_ZERO.fullmatch(literal) else float(literal)


def find_json(
    text: str,
    object_pairs_hook: Callable[[Pairs], Any] = dict,
    parse_number: Callable[[str], Any] = number,
) -> Iterator[Found]:
    """Every outermost array and object of the text, in order, whatever stands around them.

    Brackets of prose that hold nothing like a value are passed over.

    Args:
        text: any text.
        object_pairs_hook: makes the value of an object from its (key, value) pairs, as in
            the standard library; by default the last of several equal keys wins.
        parse_number: makes a value from a number's literal; `str` keeps it as written.

    >>> [found.value for found in find_json("a [1, 2,] b {'c': None, d: 'e'}, [3, 4")]
    [[1, 2], {'c': None, 'd': 'e'}, [3]]
    """
    position = 0
    while opening := _OPENING.search(text, position):
        found = _Reader(text, object_pairs_hook, parse_number).read(opening.start())
        position = found.end
        if found.value or _EMPTY.fullmatch(text, found.start, found.end):
            yield found


_OPENING = re.compile(r"[\[{]")
_EMPTY = re.compile(r"\[\s*\]|\{\s*\}")
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\#[ \t][^\n]*|\.{3}|…)+", re.DOTALL)
_SEPARATOR = re.compile(r"[,，、;；:：=>]+")
_COLON = re.compile(r"\s*(?:[:：]|=>?)")
_BARE_KEY = re.compile(r"[^\s,，:：=\[\]{}()\"'“”‘’]{1,200}")
_BARE_IN_LIST = re.compile(r"[^,，、;；:：\[\](){}\"“”\n]+")
# A comma belongs to a bare value (1,250) unless a key or the end of the object follows.
_BARE_IN_OBJECT = re.compile(
    r"(?:[^,，\[\]{}\"“”\n]|[,，](?!\s*(?:[\]}\"'“‘]|//|/\*|\Z|[^\s,，:：\[\]{}\"“”]{1,60}\s{0,9}[:：=])))+"
)

_QUOTES = {'"': '"', "'": "'", "“": '”"', "”": '”"', "‘": "’'", "’": "’'"}
_STRING_STOP = {quote: re.compile(rf"[\\{ends}]") for quote, ends in _QUOTES.items()}
# A quote ends its string only where the grammar can go on after it; others belong to the text.
_KEY_END = re.compile(r"\s*(?:[:：=,，}\])]|\Z)")
_VALUE_END = re.compile(r"\s*(?:[,;；\]})]|，\s*[\"'“{\[]|//|/\*|\#|\Z)|[ \t]*\r?\n")

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_NUMBER_IN_LIST = re.compile(_NUMBER.pattern + r"(?=[\s,，、;；\[\](){}/#]|\Z)", re.ASCII)
_NUMBER_IN_OBJECT = re.compile(
    _NUMBER.pattern + r"(?=\s*(?:[，;；\]})\"'“/#\n]|,(?!\d{3}(?!\d|\s*[:：]))|\Z))", re.ASCII
)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d{0,299})", re.ASCII)
_LEADING_ZERO = re.compile(r"[-+]?0\d+", re.ASCII)
_LITERALS: dict[str, Any] = {
    "true": True,
    "false": False,
    **dict.fromkeys(("null", "none", "undefined")),
    **{sign + name: float(sign + name) for sign in ("", "-", "+") for name in ("nan", "inf", "infinity")},
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# LaTeX commands that begin like a JSON escape; models forget to double the backslash.
_LATEX = re.compile(
    r"(?:bar|because|begin|beta|big|bigg|binom|bmod|boldsymbol|bot|boxed|bullet|flat|forall|frac|nabla|neg|neq|"
    r"newline|notin|rangle|rceil|rfloor|rho|right|rightarrow|tan|tanh|tau|tfrac|theta|therefore|tilde|times|"
    r"text|textbf|textit|textrm|top|triangle)(?![A-Za-z])"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Frame:
    """A container that is being read; in an object, `key` waits for its value."""

    __slots__ = ("is_list", "items", "key", "lone")

    def __init__(self, is_list: bool) -> None:
        self.is_list = is_list
        self.items: list[Any] = []
        self.key: str | None = None
        self.lone: list[str] = []  # keys without a colon

    @property
    def wants_value(self) -> bool:
        return self.is_list or self.key is not None

    def add(self, value: Any) -> None:
        self.items.append(value if self.is_list else (self.key, value))
        self.key = None


class _Reader:
    """Reads one container, with a stack of those that are open."""

    def __init__(
        self, text: str, object_pairs_hook: Callable[[Pairs], Any], parse_number: Callable[[str], Any]
    ) -> None:
        self.text = text
        self.object_pairs_hook = object_pairs_hook
        self.parse_number = parse_number
        self.stack: list[_Frame] = []
        self.value: Any = None
        self.position = 0

    def read(self, start: int) -> Found:
        self.open(start)
        while self.stack and self.position < len(self.text) and self.step():
            pass
        closed = not self.stack
        while self.stack:
            self.close(cut=True)
        return Found(self.value, start, self.position, closed)

    def open(self, start: int) -> None:
        self.stack.append(_Frame(self.text[start] != "{"))
        self.position = start + 1

    def close(self, cut: bool) -> None:
        frame = self.stack.pop()
        if not frame.is_list and frame.key is not None and not cut:
            frame.add(None)
        if frame.is_list:
            self.value = frame.items
        elif len(frame.lone) > 1 and not frame.items and not cut:  # {A, C}: a set
            self.value = [self.scalar(word) for word in frame.lone]
        else:
            self.value = self.object_pairs_hook(frame.items)
        if self.stack:
            self.stack[-1].add(self.value)

    def step(self) -> bool:
        """Read one token; False where the text goes on as no JSON, or ends."""
        frame, character = self.stack[-1], self.text[self.position]
        if blank := _BLANK.match(self.text, self.position):
            self.position = blank.end()
        elif character in "]})":
            self.position += 1
            self.close_through(is_list=character != "}")
        elif character in "[{(" and frame.wants_value:
            if len(self.stack) == MAX_DEPTH:
                return False
            self.open(self.position)
        elif separator := _SEPARATOR.match(self.text, self.position):
            self.position = separator.end()
            if frame.key is not None:
                frame.add(None)
        elif not frame.wants_value:
            return self.read_key(frame)
        elif character in _QUOTES:
            text = self.read_string(_VALUE_END)
            if text is None:
                return False
            frame.add(text)
        else:
            return self.read_bare(frame)
        return True

    def close_through(self, is_list: bool) -> None:
        """Close the nearest open container of the kind, and all within it; a bracket without one is ignored."""
        if any(frame.is_list == is_list for frame in self.stack):
            while self.stack[-1].is_list != is_list:
                self.close(cut=False)
            self.close(cut=False)

    def read_key(self, frame: _Frame) -> bool:
        key: str | None = None
        if self.text[self.position] in _QUOTES:
            key = self.read_string(_KEY_END)
        elif bare := _BARE_KEY.match(self.text, self.position):
            key, self.position = bare[0], bare.end()
        if key is None:
            return False
        if colon := _COLON.match(self.text, self.position):
            frame.key, self.position = key, colon.end()
            return True
        frame.lone.append(key)
        return _KEY_END.match(self.text, self.position) is not None

    def read_string(self, end: re.Pattern[str]) -> str | None:
        """The string that opens here; None if it is never closed."""
        start = self.position + 1
        stop = _STRING_STOP[self.text[self.position]]
        quotes: deque[int] = deque(maxlen=3)
        position = start
        while found := stop.search(self.text, position):
            position = found.end()
            if found[0] == "\\":
                position += 1
                continue
            quotes.append(found.start())
            if end.match(self.text, position):
                break
            if len(quotes) == 3 and _COLON.match(self.text, position):
                break  # this quote closes the next key: the value ended before that key opened
        if not found:
            self.position = len(self.text)
            return None
        ended = end.match(self.text, position)
        last = quotes[-1] if ended else quotes[0]
        self.position = last + 1
        return _decode(self.text[start:last])

    def read_bare(self, frame: _Frame) -> bool:
        """An unquoted value: a number, a literal, or words."""
        numbers, words = (
            (_NUMBER_IN_LIST, _BARE_IN_LIST) if frame.is_list else (_NUMBER_IN_OBJECT, _BARE_IN_OBJECT)
        )
        match = numbers.match(self.text, self.position) or words.match(self.text, self.position)
        self.position = match.end() if match else self.position + 1
        if match is None:  # a character that can stand nowhere
            frame.add(None)
        elif self.position < len(self.text):  # what reaches the end may have been cut
            frame.add(self.scalar(match[0].strip()))
        return True

    def scalar(self, word: str) -> Any:
        if word.lower() in _LITERALS:
            return _LITERALS[word.lower()]
        return self.parse_number(word) if _NUMBER.fullmatch(word) else word


def _decode(raw: str) -> str:
    """A string's content with its escapes resolved; unknown escapes and LaTeX commands stay as written."""
    if "\\" not in raw:
        return raw

    def resolve(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        if escape in "bfnrt" and _LATEX.match(raw, match.start(1)):
            return match[0]
        return _ESCAPED.get(escape, match[0])

    text = _ESCAPE.sub(resolve, raw)
    if _SURROGATE.search(text):  # pairs join; lone ones, which no encoder accepts, become U+FFFD
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
