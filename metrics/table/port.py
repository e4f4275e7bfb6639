"""Tables as the common port of PubTabNet's TEDS reads them, its faults included.

The port takes the first table directly below the body. Content and spans count for ``td``
only; every other element, ``th`` among them, is a node by its tag alone. Its exceptions are
not reproduced: see `read_table`.
"""

from __future__ import annotations

import re

from lxml import etree, html

from lmms_eval_finance.metrics.table.elements import Dialect, Element, TagCodes, span
from lmms_eval_finance.metrics.table.trees import Table

_DECLARATION = re.compile(r"\s*<\?xml[^>]*>")


def _span(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        return span(name, value)


_DIALECT = Dialect(cells=frozenset({"td"}), span=_span, no_tail=frozenset({"td"}), no_end=frozenset({"unk"}))


def read_table(text: str, codes: TagCodes, *, structure_only: bool = False) -> Table | None:
    """The first table directly below the body; None where there is none, which the port scores 0.

    The text is wrapped in ``<html><body>`` unless it brings an ``<html`` of its own. Where the
    port raises an exception: an XML declaration with an encoding is left out, a span that is no number is read as
    `elements.span` reads it, and a document that the parser refuses holds no table.

    Raises:
        TedsLimit: the table is over a cap.

    >>> read_table("<div><table></table></div>", TagCodes()) is None
    True
    """
    wrapped = text if "<html" in text else f"<html><body>{text}</body></html>"
    declaration = _DECLARATION.match(wrapped)
    if declaration and "encoding" in declaration[0]:
        wrapped = wrapped[declaration.end() :]
    document = _parse(wrapped)
    tables = [] if document is None else document.xpath("body/table")
    return _DIALECT.tree(tables[0], codes, structure_only=structure_only) if tables else None


def _parse(text: str) -> Element | None:
    parser = html.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        return html.fromstring(text, parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None
