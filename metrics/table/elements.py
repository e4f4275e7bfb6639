"""From HTML to table trees, as far as the variants have it in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lxml import etree

from lmms_eval_finance.metrics.table.trees import Node, TedsLimit

MAX_CHARACTERS = 2_000_000
"""Longest text that is read at all."""
MAX_NODES = 6_000
"""Most elements of a table, those inside cells included; time and memory grow with the product of both."""
MAX_TOKENS = 300_000
"""Most tokens (characters, opening and closing tags) in the cells of a table."""
MAX_DEPTH = 256
"""Deepest nesting of elements; also what keeps the parser's time linear."""

_PIECE = 1 << 15  # bytes


class TagCodes:
    """One character for every tag token inside cells, shared by the two tables of a pair.

    Lone surrogates serve: parsed text cannot hold any, so no tag can equal a character.

    >>> codes = TagCodes()
    >>> codes["<b>"] == codes["<b>"] != codes["</b>"]
    True
    """

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}

    def __getitem__(self, token: str) -> str:
        code = self._codes.get(token)
        if code is None:
            if len(self._codes) == 0xE000 - 0xD800:
                raise TedsLimit("more than 1,024 kinds of elements inside cells")
            code = self._codes[token] = chr(0xD800 + len(self._codes))
        return code


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a variant makes of the elements of a table.

    Attributes:
        cells: tags of cells; all become the same kind of node, with spans and content.
        span: the colspan or rowspan (by name) that an attribute value stands for.
        content: evens out the tokens of a cell.
        transparent: tags of elements that are no nodes: what is in them is in what they are in.
        no_tail: tags of elements inside cells after which the text is dropped.
        no_end: tags of elements inside cells that have no closing token.
        path: the elements, from the outermost, in which the first table of the document counts;
            None counts all tables.
    """

    cells: frozenset[str]
    span: Callable[[str, str], int]
    content: Callable[[str], str] = str
    transparent: frozenset[str] = frozenset()
    no_tail: frozenset[str] = frozenset()
    no_end: frozenset[str] = frozenset()
    path: tuple[str, ...] | None = None


class Tables:
    """A parser target that keeps nothing but tables, so that time and memory keep to the caps.

    Attributes:
        roots: the trees of all tables that do not stand in one another.
        size: how many elements there are below the roots, those inside cells included.
        headed: whether the document has a head.
    """

    def __init__(self, dialect: Dialect, codes: TagCodes, *, structure_only: bool) -> None:
        self.roots: list[Node] = []
        self.size = 0
        self.headed = False
        self._dialect = dialect
        self._codes = codes
        self._structure_only = structure_only
        self._outside: list[str] = []  # tags of the open elements around tables
        self._outermost = 0  # elements begun with no other open; the parser can close the document early
        self._open: list[Node] = []  # nodes of the open elements in a table
        self._depth = 0  # of open elements in a cell, the cell included; 0 outside
        self._content: list[str] = []  # tokens of the open cell
        self._tokens = 0  # in all closed cells
        self._muted = False

    @classmethod
    def of(cls, document: str, dialect: Dialect, codes: TagCodes, *, structure_only: bool) -> Tables:
        """The tables of a document; with `structure_only` their cells have no content.

        Raises:
            TedsLimit: all tables together are over a cap.
        """
        tables = cls(dialect, codes, structure_only=structure_only)
        parser = etree.HTMLParser(target=tables, encoding="utf-8", huge_tree=True)
        source = document.encode(errors="replace")
        try:
            # In pieces: the parser goes on to the end of one after a cap has been passed.
            for start in range(0, len(source), _PIECE):
                parser.feed(source[start : start + _PIECE])
            parser.close()
        except etree.XMLSyntaxError:  # there is no element at all
            pass
        return tables

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins (called by the parser, as are the methods that follow)."""
        if self._depth:
            self._count()
            self._depth += 1
            self._muted = False
            self._content.append(self._codes[f"<{tag}>"])
        elif self._open:
            self._open.append(self._node(tag, attributes))
        elif tag == "table" and self._counts():
            self.roots.append(Node("table"))
            self._open.append(self.roots[-1])
        else:
            self._outermost += not self._outside
            self._outside.append(tag)
            self.headed |= self._outside == ["html", "head"] and self._outermost == 1
        if self._depth + len(self._open) + len(self._outside) > MAX_DEPTH:
            raise TedsLimit(f"elements nested more than {MAX_DEPTH} deep")

    def _counts(self) -> bool:
        if self._dialect.path is None:
            return True
        return not self.roots and self._outermost == 1 and self._outside == [*self._dialect.path]

    def _node(self, tag: str, attributes: Mapping[str, str]) -> Node:
        if tag in self._dialect.transparent:
            return self._open[-1]
        self._count()
        if tag in self._dialect.cells:
            node = Node(("td", self._span("colspan", attributes), self._span("rowspan", attributes)))
            self._depth = 1
        else:
            node = Node(tag)
        self._open[-1].children.append(node)
        return node

    def _count(self) -> None:
        self.size += 1
        if self.size > MAX_NODES:
            raise TedsLimit(f"a table of more than {MAX_NODES:,} elements")

    def _span(self, name: str, attributes: Mapping[str, str]) -> int:
        value = attributes.get(name)
        return 1 if value is None else self._dialect.span(name, value)

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._depth > 1:
            self._depth -= 1
            if tag not in self._dialect.no_end:
                self._content.append(self._codes[f"</{tag}>"])
            self._muted = tag in self._dialect.no_tail
        elif self._open:
            node = self._open.pop()
            if self._depth:
                self._close_cell(node)
        elif self._outside:
            self._outside.pop()

    def _close_cell(self, cell: Node) -> None:
        content = "".join(self._content)
        self._content.clear()
        self._depth = 0
        self._muted = False
        if not self._structure_only:
            self._weigh(len(content))
            cell.text = self._dialect.content(content)
            self._weigh(len(cell.text) - len(content))  # some characters come apart into eighteen

    def _weigh(self, tokens: int) -> None:
        self._tokens += tokens
        if self._tokens > MAX_TOKENS:
            raise TedsLimit(f"more than {MAX_TOKENS:,} characters in the cells of a table")

    def data(self, text: str) -> None:
        """Text between tags."""
        if self._depth and not self._muted:
            self._content.append(text)

    def close(self) -> None:
        """The document ends."""


_NUMBER = re.compile(r"-?\d{1,9}")
_LARGEST = {"colspan": 1_000, "rowspan": 65_534}


def span(name: str, value: str) -> int:
    """The number in an attribute value, within the bounds of the HTML standard; 1 where there is none.

    >>> [span("colspan", value) for value in ("2", "2px", "", "1.0", "wide", "-2", "0", "99999999999")]
    [2, 2, 1, 1, 1, 1, 1, 1000]
    """
    number = _NUMBER.search(value)
    return min(max(int(number[0]), 1), _LARGEST[name]) if number else 1
