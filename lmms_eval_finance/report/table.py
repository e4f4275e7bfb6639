"""A table as data, written as Markdown or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | float | None


@dataclass(frozen=True)
class Table:
    """Rows under columns. Numbers are written with `digits` decimals, None as an empty cell.

    >>> print(Table("Demo", ["model", "score"], [["a|b", 0.5], ["c", None]]).to_markdown())
    **Demo**
    <BLANKLINE>
    | model | score |
    |---|---:|
    | a\\|b | 0.50 |
    | c |  |
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 2
    note: str = ""

    def cells(self) -> list[list[str]]:
        """All cells as text."""
        return [[self._text(cell) for cell in row] for row in self.rows]

    def to_markdown(self) -> str:
        """The table with its title and note."""

        def line(cells: Sequence[str]) -> str:
            kept = [cell.replace("|", "\\|").replace("\n", " ") for cell in cells]
            return f"| {' | '.join(kept)} |"

        marks = [
            "---:" if any(isinstance(row[place], (int, float)) for row in self.rows) else "---"
            for place in range(len(self.columns))
        ]
        lines = [
            f"**{self.title}**",
            "",
            line(self.columns),
            f"|{'|'.join(marks)}|",
            *map(line, self.cells()),
        ]
        return "\n".join([*lines, *(["", self.note] if self.note else [])])

    def to_csv(self) -> str:
        """Columns and rows; numbers in full precision."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([["" if cell is None else cell for cell in row] for row in self.rows])
        return out.getvalue()

    def _text(self, cell: Cell) -> str:
        if cell is None:
            return ""
        return cell if isinstance(cell, str) else f"{cell:.{self.digits}f}"
