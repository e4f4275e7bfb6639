"""Tables as the default variant reads them: from whatever a model wrote around and into them."""

from __future__ import annotations

import re
import unicodedata

from lmms_eval_finance.metrics.normalise import strip_reasoning
from lmms_eval_finance.metrics.table.elements import Dialect, Tables, TagCodes, span
from lmms_eval_finance.metrics.table.markdown import to_html
from lmms_eval_finance.metrics.table.trees import Node, Table


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
    text = strip_reasoning(text).replace("<\\/", "</")  # so JSON may escape a closing tag
    table = None
    for part in (_html_part, to_html):
        source = part(text) if table is None or not table.root.children else ""
        if source:
            tables = Tables.of(f"<html><body>{source}", _DIALECT, codes, structure_only=structure_only)
            table = _merged(tables) or table
    return table


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


def _merged(tables: Tables) -> Table | None:
    """The rows of all tables as one table."""
    if not tables.roots:
        return None
    root, *others = tables.roots
    dissolved = sum(_append(root.children, other.children) for other in others)
    return Table(root, tables.size - dissolved)


def _append(rows: list[Node], more: list[Node]) -> int:
    """Continue a table with the rows of the next, in the body that is open; returns how many bodies merge."""
    if rows and more:
        last, first = rows[-1], more[0]
        if last.label == "tbody" and first.label == "tbody":
            last.children += first.children
            rows += more[1:]
            return 1
        if last.label == "tbody" and first.label == "tr":
            last.children += more
            return 0
        if last.label == "tr" and first.label == "tbody":
            rows += first.children
            rows += more[1:]
            return 1
    rows += more
    return 0


_BESIDE_TAG = re.compile(" ?([\ud800-\udfff]) ?")


def _content(tokens: str) -> str:
    if not tokens.isascii():
        # In pieces: the time that combining marks take is quadratic in their number.
        pieces = (tokens[start : start + 1_000] for start in range(0, len(tokens), 1_000))
        tokens = "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)
    return _BESIDE_TAG.sub(r"\1", " ".join(tokens.split()))


_DIALECT = Dialect(
    cells=frozenset({"td", "th"}), span=span, content=_content, transparent=frozenset({"table"})
)
