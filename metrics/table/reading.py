"""Tables as the default variant reads them: from whatever a model wrote around and into them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from lxml import etree

from lmms_eval_finance.metrics.normalise import strip_reasoning
from lmms_eval_finance.metrics.table.elements import Dialect, Element, TagCodes, span
from lmms_eval_finance.metrics.table.markdown import to_html
from lmms_eval_finance.metrics.table.trees import Table


def read_table(text: str, codes: TagCodes, *, structure_only: bool = False) -> Table | None:
    r"""All tables of a response, read as one; None where it holds none.

    Thinking blocks, code fences, prose and XML declarations around tables do not matter, nor
    does a table that breaks off. Where there is no HTML table, pipe tables of Markdown are read.
    ``th`` is read as ``td``, spans tolerantly (`elements.span`); cell content is in NFKC, with
    white space collapsed, and none at its ends or beside tags.

    Raises:
        TedsLimit: the table is over a cap.

    >>> table = read_table("Sure:\n```html\n<table><tr><th>１ </th><td>2\n```", TagCodes())
    >>> [cell.text for cell in table.root.children[0].children]
    ['1', '2']
    """
    text = strip_reasoning(text)
    element = _parse(_html_part(text))
    if element is None or len(element) == 0:
        markdown = _parse(to_html(text))
        element = element if markdown is None else markdown
    return None if element is None else _DIALECT.tree(element, codes, structure_only=structure_only)


_OPENING = re.compile(r"<table\b", re.IGNORECASE)
_CLOSING = re.compile(r"</table\b[^<>]*>?", re.IGNORECASE)
_PART = re.compile(r"<(?:thead|tbody|tfoot|tr|td|th)\b", re.IGNORECASE)


def _html_part(text: str) -> str:
    """From the first table tag to the last closing one, or to the end where a table breaks off."""
    openings = [match.start() for match in _OPENING.finditer(text)]
    part = _PART.search(text) if not openings else None
    if part is not None:
        return f"<table>{_unfenced(text[part.start() :])}"
    if not openings:
        return ""
    closed = max((match.end() for match in _CLOSING.finditer(text)), default=0)
    return text[openings[0] : closed] if closed > openings[-1] else _unfenced(text[openings[0] :])


def _unfenced(text: str) -> str:
    return text.rstrip().removesuffix("```")


def _parse(source: str) -> Element | None:
    """The first table element, to which the content of all that follow it has been moved."""
    if not source:
        return None
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    document = etree.fromstring(f"<html><body>{source}".encode(errors="replace"), parser=parser)
    tables = document.xpath("//table[not(ancestor::table)]")
    if not tables:
        return None
    for table in tables[1:]:
        _append(tables[0], table)
    return tables[0]


def _append(table: Element, more: Element) -> None:
    """Move the rows of a table to the end of another, into the body that is open there."""
    rows = list(more)
    if rows and len(table):
        last, first = table[-1], rows[0]
        if last.tag == "tbody" and first.tag == "tbody":
            last.extend(list(first))
            rows = rows[1:]
        elif last.tag == "tbody" and first.tag == "tr":
            last.extend(rows)
            rows = []
        elif last.tag == "tr" and first.tag == "tbody":
            rows = [*first, *rows[1:]]
    table.extend(rows)


def _children(element: Element) -> Iterator[Element]:
    """The elements within; a table that stands within another but in no cell is no node of its own."""
    pending = [*reversed(element)]
    while pending:
        child = pending.pop()
        if child.tag == "table":
            pending.extend(reversed(child))
        else:
            yield child


_BESIDE_TAG = re.compile(" ?([\ud800-\udfff]) ?")


def _content(tokens: str) -> str:
    if not tokens.isascii():
        tokens = unicodedata.normalize("NFKC", tokens)
    return _BESIDE_TAG.sub(r"\1", " ".join(tokens.split()))


_DIALECT = Dialect(cells=frozenset({"td", "th"}), span=span, content=_content, children=_children)
