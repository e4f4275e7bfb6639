"""Tables: cells from ruling lines where there are some, else from the places of texts."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from lmms_eval_finance.models.baseline.lines import join, median_height, text_lines
from lmms_eval_finance.models.baseline.ocr import Fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_LINES = 200
"""Ruling lines in one direction; a picture with more is no table."""
_DRAWN = 0.75
"""Share of an edge between two cells that has to be inked to part them."""
_LINES_A_ROW = 3
"""Between two horizontal lines: with more lines of text than that on average, several rows stand there."""
_DARK = 128
"""Grey level around a place below which lines are light on dark."""


@dataclass
class Cell:
    """A cell: its place in the grid, how far it spans, its box in pixels and its texts."""

    row: int
    column: int
    rows: int = 1
    columns: int = 1
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    fragments: list[Fragment] = field(default_factory=list)
    said: str | None = None

    @property
    def text(self) -> str:
        """The cell's text on one line."""
        return join(self.fragments) if self.said is None else self.said


@dataclass
class Grid:
    """A table as cells in reading order."""

    cells: list[Cell]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (
            max((cell.row + cell.rows for cell in self.cells), default=0),
            max((cell.column + cell.columns for cell in self.cells), default=0),
        )

    @property
    def top(self) -> float:
        """The upper edge in pixels."""
        return min((cell.box[1] for cell in self.cells), default=0.0)

    def to_html(self) -> str:
        """The table as one line of HTML."""
        rows = [
            "".join(_html(cell) for cell in self.cells if cell.row == row) for row in range(self.shape[0])
        ]
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def below(self, other: Grid) -> Grid:
        """This table with another one set below it, as where a table goes on on the next page."""
        down = self.shape[0]
        moved = [
            Cell(cell.row + down, cell.column, cell.rows, cell.columns, cell.box, cell.fragments, cell.said)
            for cell in other.cells
        ]
        return Grid([*self.cells, *moved])


def _html(cell: Cell) -> str:
    spans = "".join(
        f' {name}="{count}"'
        for name, count in (("rowspan", cell.rows), ("colspan", cell.columns))
        if count > 1
    )
    return f"<td{spans}>{escape(cell.text, quote=False)}</td>"


_MOST_SPAN, _MOST_SLOTS = 100, 20_000


def from_html(html: str) -> Grid | None:
    """The first table of an HTML text, spans resolved; None without cells.

    >>> from_html("<table><tr><td rowspan=2>a</td><td>b</td></tr><tr><td>c</td></tr></table>").shape
    (2, 2)
    """
    from lxml import html as parser

    try:
        tree = parser.fromstring(html)
    except (ValueError, parser.etree.ParserError):
        return None
    cells: list[Cell] = []
    taken: set[tuple[int, int]] = set()
    for row, line in enumerate(tree.iter("tr")):
        column = 0
        for node in line.iterchildren("td", "th"):
            while (row, column) in taken:
                column += 1
            high, wide = _span_of(node.get("rowspan")), _span_of(node.get("colspan"))
            cells.append(Cell(row, column, high, wide, said=" ".join(node.text_content().split())))
            taken |= {(r, c) for r in range(row, row + high) for c in range(column, column + wide)}
            column += wide
            if len(taken) > _MOST_SLOTS:
                return Grid(cells)
    return Grid(cells) if cells else None


def _span_of(value: str | None) -> int:
    digits = "".join(character for character in value or "" if character in "0123456789")[:3]
    return min(_MOST_SPAN, max(1, int(digits or 1)))


# -- ruled tables ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """Where long straight strokes are: masks of the picture, and the places of the lines they make."""

    across: NDArray[np.bool_]
    down: NDArray[np.bool_]
    ys: Sequence[float]
    xs: Sequence[float]


def rules_of(image: NDArray[np.uint8], fragments: Sequence[Fragment]) -> Rules:
    """The ruling lines of a picture (height x width x RGB), darker or lighter than what is around them.

    Strokes within a text are letters and do not count.
    """
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    ground = cv2.medianBlur(grey, 31)
    letters = np.zeros(grey.shape, dtype=np.uint8)
    for one in fragments:
        # Boxes are wider than their letters, and often touch the lines of their cell.
        top, bottom, left, right = (
            max(0, round(edge + share * one.height))
            for edge, share in ((one.top, 0.3), (one.bottom, -0.3), (one.left, 0.25), (one.right, -0.25))
        )
        letters[top:bottom, left:right] = 1
    # Around light letters the dark ground looks like lines.
    halo = cv2.dilate(letters, np.ones((13, 13), dtype=np.uint8)) & (ground < _DARK)
    length = max(12, round(2 * median_height(fragments)))
    masks = []
    for shape, gap in (((length, 1), (5, 1)), ((1, length), (1, 5))):
        found = np.zeros(grey.shape, dtype=bool)
        for shade, out in ((255 - grey, letters | halo), (grey, letters | (ground >= _DARK))):
            ink = cv2.adaptiveThreshold(shade, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 15, -6)
            ink[out > 0] = 0
            strokes = cv2.morphologyEx(ink, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_RECT, shape))
            # Antialiased lines break: gaps of a few pixels along the line are closed.
            found |= (
                cv2.morphologyEx(strokes, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_RECT, gap)) > 0
            )
        masks.append(found)
    across, down = masks
    return Rules(across, down, _positions(across), _positions(down.T))


def ruled_grid(rules: Rules, fragments: Sequence[Fragment]) -> Grid | None:
    """The table that ruling lines draw, with the texts whose middle lies in a cell; None where they draw none."""
    ys, xs = rules.ys, rules.xs
    if not (2 <= len(ys) <= MOST_LINES and 2 <= len(xs) <= MOST_LINES and len(ys) + len(xs) > 4):
        return None
    height = round(ys[-1]) - round(ys[0])
    inside = rules.down[round(ys[0]) : round(ys[-1])]
    drawn = [inside[:, max(0, round(x) - 2) : round(x) + 3].any(axis=1).sum() for x in xs]
    if max(drawn) < 0.4 * height:
        return None
    cells = _merged(_parted(rules.across, rules.down, ys, xs), ys, xs)
    slots = {
        (row, column): cell
        for cell in cells
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
    }
    for fragment in fragments:
        x, y = fragment.middle
        home = slots.get((bisect(ys, y) - 1, bisect(xs, x) - 1))
        if home is not None:
            home.fragments.append(fragment)
    return _tidy([part for cell in cells for part in _split(cell, xs)])


def _split(cell: Cell, xs: Sequence[float]) -> list[Cell]:
    """A cell of several columns as one per column, where each has a text of its own and none reaches across.

    Lines on a dark ground are easily missed.
    """
    edges = xs[cell.column : cell.column + cell.columns + 1]
    parts: list[list[Fragment]] = [[] for _ in edges[1:]]
    for one in cell.fragments:
        if any(one.left + 0.3 * one.height < edge < one.right - 0.3 * one.height for edge in edges[1:-1]):
            return [cell]
        parts[sum(edge <= one.middle[0] for edge in edges[1:-1])].append(one)
    if len(parts) == 1 or not all(parts):
        return [cell]
    top, bottom = cell.box[1], cell.box[3]
    return [
        Cell(
            cell.row, cell.column + place, cell.rows, 1, (edges[place], top, edges[place + 1], bottom), found
        )
        for place, found in enumerate(parts)
    ]


def _positions(strokes: NDArray[np.bool_]) -> list[float]:
    """Where rows of the picture carry lines: one position per line, neighbours taken together."""
    inked = strokes.sum(axis=1)
    wanted = max(20, 0.06 * strokes.shape[1])
    found: list[list[int]] = []
    for place in np.flatnonzero(inked >= wanted):
        if found and place - found[-1][-1] <= 3:
            found[-1].append(int(place))
        else:
            found.append([int(place)])
    return [sum(places) / len(places) for places in found]


def _parted(
    across: NDArray[np.bool_], down: NDArray[np.bool_], ys: Sequence[float], xs: Sequence[float]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each pair of neighbouring slots whether a line parts them: below each slot, right of each slot."""
    rows, columns = len(ys) - 1, len(xs) - 1
    below = np.zeros((rows, columns), dtype=bool)
    right = np.zeros((rows, columns), dtype=bool)
    for row in range(rows):
        for column in range(columns):
            y, x = (
                slice(round(ys[row]) + 1, round(ys[row + 1])),
                slice(round(xs[column]) + 1, round(xs[column + 1])),
            )
            edge = across[max(0, round(ys[row + 1]) - 3) : round(ys[row + 1]) + 4, x].any(axis=0)
            below[row, column] = edge.size == 0 or edge.mean() >= _DRAWN
            edge = down[y, max(0, round(xs[column + 1]) - 3) : round(xs[column + 1]) + 4].any(axis=1)
            right[row, column] = edge.size == 0 or edge.mean() >= _DRAWN
    return below, right


def _merged(
    parted: tuple[NDArray[np.bool_], NDArray[np.bool_]], ys: Sequence[float], xs: Sequence[float]
) -> list[Cell]:
    """Slots without a line between them become one cell, as wide and high as stays a rectangle."""
    below, right = parted
    rows, columns = below.shape
    taken = np.zeros((rows, columns), dtype=bool)
    cells = []
    for row in range(rows):
        for column in range(columns):
            if taken[row, column]:
                continue
            wide = 1
            while (
                column + wide < columns
                and not right[row, column + wide - 1]
                and not taken[row, column + wide]
            ):
                wide += 1
            high = 1
            while row + high < rows and not below[row + high - 1, column : column + wide].any():
                inside = right[row + high, column : column + wide - 1]
                if inside.any() or taken[row + high, column : column + wide].any():
                    break
                high += 1
            taken[row : row + high, column : column + wide] = True
            box = (xs[column], ys[row], xs[column + wide], ys[row + high])
            cells.append(Cell(row, column, high, wide, box))
    return cells


# -- tables without lines ----------------------------------------------------------------------------


def spaced_grid(fragments: Sequence[Fragment], rules: Sequence[float] = ()) -> Grid | None:
    """The table that columns of white space make; None where the texts make fewer than two columns.

    Args:
        fragments: the texts.
        rules: heights of horizontal lines, which part rows where few lines of text stand between them.
    """
    lines = text_lines(fragments)
    while lines and len(lines[0]) == 1:
        lines = lines[1:]
    while lines and len(lines[-1]) == 1:
        lines = lines[:-1]
    edges = _columns(lines)
    if len(edges) < 2 or len(lines) < 2:
        return None
    bands = [sum(rule < line[0].middle[1] for rule in rules) for line in lines]
    banded = len(set(bands)) >= 3 and len(lines) <= _LINES_A_ROW * len(set(bands))
    cells: list[Cell] = []
    row, last_band, last_bottom = -1, -1, float("-inf")
    for line, band in zip(lines, bands, strict=True):
        placed: dict[int, list[Fragment]] = {}
        spans: dict[int, int] = {}
        for fragment in line:
            first, last = _span(fragment, edges)
            placed.setdefault(first, []).append(fragment)
            spans[first] = max(spans.get(first, 1), last - first + 1)
        top, bottom = min(f.top for f in line), max(f.bottom for f in line)
        # A line close below another one, without anything in the first column, continues its cells.
        close = 0 not in placed and top - last_bottom < 0.6 * (bottom - top)
        above = {cell.column: cell for cell in cells if cell.row == row}
        goes_on = band == last_band if banded else close and bool(above) and placed.keys() <= above.keys()
        if not goes_on:
            row, above = row + 1, {}
        for column, found in sorted(placed.items()):
            if column in above:
                above[column].fragments.extend(found)
            else:
                box = (found[0].left, top, found[-1].right, bottom)
                cells.append(Cell(row, column, 1, spans[column], box, found))
        last_band, last_bottom = band, bottom
    return _tidy(_filled(cells, row + 1, len(edges)))


def _columns(lines: Sequence[Sequence[Fragment]]) -> list[tuple[float, float]]:
    """Columns as intervals of x, grown from the narrowest texts; a text over several columns spans them."""
    several = [line for line in lines if len(line) > 1]
    usual = max(2, 0.2 * len(several))
    grown: list[list[float]] = []  # left, right, number of texts
    for fragment in sorted((one for line in several for one in line), key=lambda one: (one.width, one.left)):
        left, right = fragment.left, fragment.right
        touched = [column for column in grown if min(right, column[1]) - max(left, column[0]) > 0.5]
        if sum(column[2] >= usual for column in touched) > 1:
            continue
        grown = [column for column in grown if column not in touched]
        grown.append(
            [
                min([left, *(column[0] for column in touched)]),
                max([right, *(column[1] for column in touched)]),
                1 + sum(column[2] for column in touched),
            ]
        )
    return sorted((left, right) for left, right, _ in grown)


def _span(fragment: Fragment, edges: Sequence[tuple[float, float]]) -> tuple[int, int]:
    touched = [
        number
        for number, (left, right) in enumerate(edges)
        if min(right, fragment.right) - max(left, fragment.left) > 0.3 * min(right - left, fragment.width)
    ]
    if touched:
        return touched[0], touched[-1]
    middle = fragment.middle[0]
    nearest = min(range(len(edges)), key=lambda number: abs(sum(edges[number]) / 2 - middle))
    return nearest, nearest


def _filled(cells: list[Cell], rows: int, columns: int) -> list[Cell]:
    """The cells with empty ones where a row has none, and spans cut where they overlap."""
    full = []
    for row in range(rows):
        own = sorted((cell for cell in cells if cell.row == row), key=lambda cell: cell.column)
        at = 0
        for number, cell in enumerate(own):
            following = own[number + 1].column if number + 1 < len(own) else columns
            full += [Cell(row, column) for column in range(at, cell.column)]
            cell.columns = max(1, min(cell.columns, following - cell.column))
            full.append(cell)
            at = cell.column + cell.columns
        full += [Cell(row, column) for column in range(at, columns)]
    return full


# -- both --------------------------------------------------------------------------------------------


def _tidy(cells: list[Cell]) -> Grid | None:
    """The grid without rows and columns that no text stands in; None where fewer than two cells are left."""
    if sum(bool(cell.fragments) for cell in cells) < 2:
        return None
    rows = sorted({row for cell in cells if cell.fragments for row in (cell.row,)})
    columns = sorted({cell.column for cell in cells if cell.fragments})
    kept = []
    for cell in cells:
        own_rows = [row for row in rows if cell.row <= row < cell.row + cell.rows]
        own_columns = [column for column in columns if cell.column <= column < cell.column + cell.columns]
        if own_rows and own_columns:
            kept.append(
                Cell(
                    rows.index(own_rows[0]),
                    columns.index(own_columns[0]),
                    len(own_rows),
                    len(own_columns),
                    cell.box,
                    cell.fragments,
                )
            )
    return Grid(sorted(kept, key=lambda cell: (cell.row, cell.column)))


def table_of(image: NDArray[np.uint8], fragments: Sequence[Fragment]) -> Grid | None:
    """The picture's table: from its ruling lines, else from the places of its texts."""
    rules = rules_of(image, fragments)
    ruled = ruled_grid(rules, fragments)
    if ruled is not None and len(ruled.cells) > 3 and ruled.shape[1] > 1:
        return ruled
    return spaced_grid(fragments, rules.ys) or ruled
