"""A table as data, for every output: Markdown and HTML with footnotes, CSV in full precision."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from string import ascii_lowercase


@dataclass(frozen=True)
class Marked:
    """A cell with more to it than its value.

    Attributes:
        value: a number, a text, or None for an empty cell.
        low, high: bounds of the number's interval.
        spread: the number's standard deviation or error over repeated runs.
        marks: what to know about the cell, each a sentence of its own; they become footnotes.
    """

    value: str | float | None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    marks: Sequence[str] = ()


Cell = str | float | None | Marked


@dataclass(frozen=True)
class Table:
    """Rows under columns. Numbers are written with `digits` decimals, None as an empty cell.

    Attributes:
        title, note: above and below the table.
        columns: their names; the first column names the rows.
        rows: cells, as many as columns.
        digits: decimals of numbers.
        kinds: of each row, "run" or "published" or "" for neither; fewer kinds than rows are filled up with "".
        key: names the table's files; the title's words where it is empty.
        plots: kinds of drawings that show the table: bars, lines, radar, heatmap, stacked.

    >>> print(Table("Demo", ["model", "score"], [["a|b", 0.5], ["c", None]]).to_markdown())
    **Demo**
    <BLANKLINE>
    | model | score |
    |---|---:|
    | a\\|b | 0.50 |
    | c |  |
    >>> cell = Marked(0.5, low=0.4, high=0.6, marks=["judged by rules"])
    >>> print(Table("Demo", ["model", "score"], [["a", cell]], digits=1).to_markdown())
    **Demo**
    <BLANKLINE>
    | model | score |
    |---|---:|
    | a | 0.5 [0.4, 0.6] ᵃ |
    <BLANKLINE>
    ᵃ judged by rules
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 2
    note: str = ""
    kinds: Sequence[str] = ()
    key: str = ""
    plots: Sequence[str] = ()

    @property
    def name(self) -> str:
        """A name for files and addresses: lower-case letters, digits and underscores.

        >>> Table("FinMME, table 3", [], []).name
        'finmme_table_3'
        """
        words = "".join(
            sign if sign.isascii() and sign.isalnum() else " " for sign in (self.key or self.title)
        )
        return "_".join(words.lower().split())

    @property
    def footnotes(self) -> list[str]:
        """All marks, each once, in the order in which a reader meets them."""
        return list(dict.fromkeys(mark for row in self.rows for cell in row for mark in _marks(cell)))

    def cells(self) -> list[list[str]]:
        """All cells as text, without their marks."""
        return [[self._text(cell) for cell in row] for row in self.rows]

    def to_markdown(self) -> str:
        """The table with its title, note and footnotes."""

        def line(cells: Sequence[str]) -> str:
            return f"| {' | '.join(map(in_markdown, cells))} |"

        rules = ["---:" if numeric else "---" for numeric in self._numeric()]
        letters = {mark: _raised(place) for place, mark in enumerate(self.footnotes)}
        rows = [
            [f"{self._text(cell)} {''.join(letters[mark] for mark in _marks(cell))}".rstrip() for cell in row]
            for row in self.rows
        ]
        lines = [f"**{in_markdown(self.title)}**", "", line(self.columns), f"|{'|'.join(rules)}|"]
        lines += map(line, rows)
        below = [*([self.note] if self.note else []), *(f"{letters[mark]} {mark}" for mark in letters)]
        return "\n".join([*lines, *(text for paragraph in below for text in ("", in_markdown(paragraph)))])

    def to_csv(self) -> str:
        """Columns and rows; numbers in full precision, bounds, spreads and marks in columns of their own.

        Texts that a spreadsheet would run as a formula begin with an apostrophe.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        extras = [self._extras(place) for place in range(len(self.columns))]
        marked = bool(self.footnotes)
        head = [name for place, column in enumerate(self.columns) for name in _named(column, extras[place])]
        writer.writerow(map(_inert, [*head, *(["marks"] if marked else [])]))
        for row in self.rows:
            cells = [value for cell, names in zip(row, extras, strict=True) for value in _values(cell, names)]
            notes = [
                f"{column}: {mark}"
                for column, cell in zip(self.columns, row, strict=True)
                for mark in _marks(cell)
            ]
            writer.writerow(
                [
                    *(_inert(value) for value in cells),
                    *([_inert("; ".join(notes))] if marked else []),
                ]
            )
        return out.getvalue()

    def to_html(self, beside: str = "") -> str:
        """The table as a figure with caption and footnotes, all text escaped; `beside` is HTML that stands beside it."""
        letters = {mark: _letter(place) for place, mark in enumerate(self.footnotes)}
        numeric = self._numeric()
        title = f"{self.name}-title"
        kinds = [*self.kinds, *[""] * len(self.rows)]
        head = "".join(
            f'<th scope="col"{_class("number" if number else "", _width(column))}>{_breakable(column)}</th>'
            for column, number in zip(self.columns, numeric, strict=True)
        )
        rows = "".join(
            f"<tr{_class(kind)}>{''.join(self._cell_html(row, letters, numeric))}</tr>"
            for row, kind in zip(self.rows, kinds, strict=False)
        )
        below = "".join(
            f'<li id="{self.name}-{letter}"><b>{letter}</b> {escape(mark)}</li>'
            for mark, letter in letters.items()
        )
        return (
            f'<figure class="table" id="{self.name}"><figcaption><h3 id="{title}">{escape(self.title)}</h3></figcaption>'
            f'<div class="body"><div class="scroll" tabindex="0" role="group" aria-labelledby="{title}">'
            f'<table aria-labelledby="{title}">'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{beside}</div>"
            + (f'<p class="note">{escape(self.note)}</p>' if self.note else "")
            + (f'<ul class="marks">{below}</ul>' if below else "")
            + "</figure>"
        )

    def _cell_html(
        self, row: Sequence[Cell], letters: dict[str, str], numeric: Sequence[bool]
    ) -> Iterator[str]:
        for place, cell in enumerate(row):
            value = cell.value if isinstance(cell, Marked) else cell
            text = self._number(value)
            shown = _breakable(text)
            if marks := _marks(cell):
                named = " ".join(letters[mark] for mark in marks)
                shown += (
                    f'<sup><a href="#{self.name}-{letters[marks[0]]}" title="{escape("; ".join(marks))}" '
                    f'aria-label="note {named}">{named}</a></sup>'
                )
            if isinstance(cell, Marked) and (aside := self._aside(cell)):
                shown += f' <span class="aside">{escape(aside)}</span>'
            tag = "th" if place == 0 else "td"
            scope = ' scope="row"' if place == 0 else ""
            yield f"<{tag}{scope}{_class('number' if numeric[place] else '', _width(text))}>{shown}</{tag}>"

    def _numeric(self) -> list[bool]:
        return [
            any(isinstance(_value(row[place]), (int, float)) for row in self.rows)
            for place in range(len(self.columns))
        ]

    def _extras(self, place: int) -> list[str]:
        cells = [row[place] for row in self.rows if isinstance(row[place], Marked)]
        return [
            name
            for name in ("low", "high", "spread")
            if any(getattr(cell, name) is not None for cell in cells)
        ]

    def _text(self, cell: Cell) -> str:
        if isinstance(cell, Marked):
            return f"{self._number(cell.value)} {self._aside(cell)}".rstrip()
        return self._number(cell)

    def _number(self, value: str | float | None) -> str:
        if value is None:
            return ""
        return value if isinstance(value, str) else f"{value:.{self.digits}f}"

    def _aside(self, cell: Marked) -> str:
        if cell.spread is not None:
            return f"± {self._number(cell.spread)}"
        if cell.low is None or cell.high is None:
            return ""
        return f"[{self._number(cell.low)}, {self._number(cell.high)}]"


_LONG = 60
"""Texts of more characters are broken anywhere in HTML."""
_RAISED = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"  # there is no raised q


def _raised(place: int) -> str:
    rounds = place // len(_RAISED)
    digits = str(rounds).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) if rounds else ""
    return _RAISED[place % len(_RAISED)] + digits


def _letter(place: int) -> str:
    return ascii_lowercase[place % 26] + (str(place // 26) if place >= 26 else "")


def _value(cell: Cell) -> str | float | None:
    return cell.value if isinstance(cell, Marked) else cell


def _marks(cell: Cell) -> Sequence[str]:
    return cell.marks if isinstance(cell, Marked) else ()


def in_markdown(text: str) -> str:
    """The text in one line, without what Markdown takes for cells, elements, links and pictures."""
    line = " ".join(text.splitlines())
    return line.replace("|", "\\|").replace("<", "&lt;").replace("](", "]\\(")


def _breakable(text: str) -> str:
    """The text for HTML; names of tasks may break behind their underscores."""
    return escape(text).replace("_", "_<wbr>")


# What a spreadsheet may run, at the start of a cell or where some programs see one: behind semicolons, tabs, line ends.
_FORMULA = re.compile(
    r"(?:^|(?<=[;\t\n]))(?=\t| *[=+@＝＋＠－-])"
    r"(?! *[+-]?[\d.,]+(?:[eE][+-]?\d+)? ?%?(?:[;\t\n]|$))"  # a number
)


def _inert(value: str | float | None) -> str | float:
    """A cell for CSV.

    >>> _inert("=1+1"), _inert("-1.5"), _inert("-a"), _inert(-1.5), _inert(None)
    ("'=1+1", '-1.5', "'-a", -1.5, '')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    # a bare carriage return would end the row: csv quotes line feeds alone
    return _FORMULA.sub("'", value.replace("\r\n", "\n").replace("\r", "\n"))


def _class(*names: str) -> str:
    given = " ".join(filter(None, names))
    return f' class="{given}"' if given else ""


def _width(text: str) -> str:
    return "long" if len(text) > _LONG else ""


def _named(column: str, extras: Sequence[str]) -> list[str]:
    return [column, *(f"{column} {extra}" for extra in extras)]


def _values(cell: Cell, extras: Sequence[str]) -> list[str | float | None]:
    return [_value(cell), *(getattr(cell, extra) if isinstance(cell, Marked) else None for extra in extras)]
