"""From parsed elements to a table tree, as far as the variants have it in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from lxml import etree

from lmms_eval_finance.metrics.table.trees import Node, Table, TedsLimit

Element: TypeAlias = Any  # lxml.etree._Element, which has no public name

MAX_CHARACTERS = 2_000_000
"""Longest text that is read at all."""
MAX_NODES = 6_000
"""Most nodes (sections, rows, cells) of a table; time and memory grow with the product of both."""
MAX_TOKENS = 300_000
"""Most tokens (characters, opening and closing tags) in the cells of a table."""
MAX_DEPTH = 256
"""Deepest nesting of elements within a table."""


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
        children: the elements that count as those within an element.
        no_tail: tags of elements inside cells after which the text is dropped.
        no_end: tags of elements inside cells that have no closing token.
    """

    cells: frozenset[str]
    span: Callable[[str, str], int]
    content: Callable[[str], str] = str
    children: Callable[[Element], Iterable[Element]] = iter
    no_tail: frozenset[str] = frozenset()
    no_end: frozenset[str] = frozenset()

    def tree(self, table: Element, codes: TagCodes, *, structure_only: bool) -> Table:
        """The tree of one table element; with `structure_only` its cells have no content.

        Raises:
            TedsLimit: the table is over a cap.
        """
        root = Node("table")
        nodes = inside = tokens = 0
        stack = [(root, table, 1)]
        while stack:
            parent, element, depth = stack.pop()
            if depth > MAX_DEPTH:
                raise TedsLimit(f"elements nested more than {MAX_DEPTH} deep")
            for child in self.children(element):
                nodes += 1
                if nodes > MAX_NODES:
                    raise TedsLimit(f"a table of more than {MAX_NODES:,} nodes")
                if child.tag not in self.cells:
                    node = Node(child.tag)
                    stack.append((node, child, depth + 1))
                else:
                    node = Node(("td", self._span(child, "colspan"), self._span(child, "rowspan")))
                    if len(child):
                        text, count = self._tokens(child, codes)
                        inside += count
                    else:
                        text = child.text or ""
                    tokens += len(text)
                    if tokens > MAX_TOKENS:
                        raise TedsLimit(f"more than {MAX_TOKENS:,} characters in the cells of a table")
                    if text and not structure_only:
                        node.text = self.content(text)
                parent.children.append(node)
        return Table(root, nodes + inside)

    def _span(self, cell: Element, name: str) -> int:
        value = cell.get(name)
        return 1 if value is None else self.span(name, value)

    def _tokens(self, cell: Element, codes: TagCodes) -> tuple[str, int]:
        """A cell's characters and tags, one character each, and the number of elements in it."""
        tokens = [cell.text or ""]
        count = depth = 0
        for event, element in etree.iterwalk(cell, events=("start", "end")):
            if element is cell:
                continue
            if event == "start":
                count, depth = count + 1, depth + 1
                if depth > MAX_DEPTH:
                    raise TedsLimit(f"elements nested more than {MAX_DEPTH} deep")
                tokens += (codes[f"<{element.tag}>"], element.text or "")
            else:
                depth -= 1
                if element.tag not in self.no_end:
                    tokens.append(codes[f"</{element.tag}>"])
                if element.tail and element.tag not in self.no_tail:
                    tokens.append(element.tail)
        return "".join(tokens), count


_NUMBER = re.compile(r"-?\d{1,9}")
_LARGEST = {"colspan": 1_000, "rowspan": 65_534}


def span(name: str, value: str) -> int:
    """The number in an attribute value, within the bounds of the HTML standard; 1 where there is none.

    >>> [span("colspan", value) for value in ("2", "2px", "", "1.0", "wide", "-2", "0", "99999999999")]
    [2, 2, 1, 1, 1, 1, 1, 1000]
    """
    number = _NUMBER.search(value)
    return min(max(int(number[0]), 1), _LARGEST[name]) if number else 1
