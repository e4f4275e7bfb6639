"""Tables as the common port of PubTabNet's TEDS reads them, its faults included.

The port takes the first table directly below the body. Content and spans count for ``td``
only; every other element, ``th`` among them, is a node by its tag alone. Its exceptions are
not reproduced: see `read_table`.
"""

from __future__ import annotations

import re

from lmms_eval_finance.metrics.table.elements import Dialect, Tables, TagCodes, span
from lmms_eval_finance.metrics.table.trees import Table


def read_table(text: str, codes: TagCodes, *, structure_only: bool = False) -> Table | None:
    """The first table directly below the body; None where there is none, which the port scores 0.

    The text is wrapped in ``<html><body>`` unless it brings an ``<html`` of its own. Where the
    port raises an exception: an XML declaration with an encoding is left out, and a span that is
    no number is read as `elements.span` reads it.

    Raises:
        TedsLimit: the tables are over a cap.

    >>> read_table("<div><table></table></div>", TagCodes()) is None
    True
    """
    wrapped = text if "<html" in text else f"<html><body>{text}</body></html>"
    declaration = _DECLARATION.match(wrapped)
    if declaration and "encoding" in declaration[0]:
        wrapped = wrapped[declaration.end() :]
    tables = Tables.of(wrapped, _DIALECT, codes, structure_only=structure_only)
    # What neither starts as a document nor has a head is a fragment to lxml.html: its body goes.
    if not tables.roots or not (tables.headed or _DOCUMENT.match(wrapped)):
        return None
    return Table(tables.roots[0], tables.size)


_DECLARATION = re.compile(r"\s*<\?xml[^>]*>")
_DOCUMENT = re.compile(r"\s*<(?:html|!doctype)", re.IGNORECASE)


def _span(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        return span(name, value)


_DIALECT = Dialect(
    cells=frozenset({"td"}),
    span=_span,
    no_tail=frozenset({"td"}),
    no_end=frozenset({"unk"}),
    path=("html", "body"),
)
