"""Pipe tables of Markdown, as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, islice

from lmms_eval_finance.metrics.table.elements import MAX_NODES

_PIPE = re.compile(r"(?<!\\)\|")
_BOLD = re.compile(r"\*\*([^*]+)\*\*|__([^_]+)__")


def to_html(text: str) -> str:
    r"""The pipe tables of a text as HTML tables, one after the other; nothing but these.

    A table is a run of lines with pipes of which the second is a delimiter row (``|---|:-:|``), or
    which all begin and end with a pipe. HTML within cells is kept, ``\|`` is a pipe, bold type
    becomes ``<b>``.

    >>> to_html("As follows:\n| a | **b** |\n|---|---|\n| 1 | 2 |")
    '<table><thead><tr><td>a</td><td><b>b</b></td></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>'
    >>> to_html("either | or")
    ''
    """
    runs = groupby(map(str.strip, text.splitlines()), key=lambda line: "|" in line)
    # Every line is a node, so what would be over the cap need not be read to its end.
    return "".join(_table(list(islice(lines, MAX_NODES + 2))) for piped, lines in runs if piped)


def _table(lines: list[str]) -> str:
    rows = [list(_cells(line)) for line in lines]
    headed = len(rows) > 1 and _is_delimiter(rows[1])
    framed = len(rows) > 1 and all(line[0] == line[-1] == "|" for line in lines)
    if not headed and not framed:
        return ""
    head, body = (rows[:1], rows[2:]) if headed else ([], rows)
    parts = [
        f"<{tag}>{''.join(map(_row, part))}</{tag}>"
        for tag, part in (("thead", head), ("tbody", body))
        if part
    ]
    return f"<table>{''.join(parts)}</table>"


def _cells(line: str) -> Iterator[str]:
    cells = _PIPE.split(line)
    first = 1 if line.startswith("|") else 0
    last = len(cells) - (1 if cells[-1] == "" else 0)
    return (cell.strip() for cell in cells[first : max(first, last)])


def _is_delimiter(cells: list[str]) -> bool:
    return bool(cells) and all("-" in cell and set(cell) <= set(":- ") for cell in cells)


def _row(cells: list[str]) -> str:
    content = (_BOLD.sub(r"<b>\1\2</b>", cell.replace("\\|", "|")) for cell in cells)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in content)}</tr>"
