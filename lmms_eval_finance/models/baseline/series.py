"""Rows and columns of figures, and what can be worked out from them: extremes, counts, sums, differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lmms_eval_finance.metrics.numbers import Number, find_numbers
from lmms_eval_finance.models.baseline.grid import Grid
from lmms_eval_finance.models.baseline.words import fold, stems

_LONGEST_CELL = 40


@dataclass(frozen=True)
class Series:
    """Figures under labels: a row or a column of a table, or the values of one mark of a chart.

    Attributes:
        name: its own heading.
        points: label and figure, in order.
    """

    name: str
    points: Sequence[tuple[str, Number]]


def header_rows(grid: Grid) -> int:
    """How many rows at the top are headings: those before the first with figures, at least one."""
    rows, _ = grid.shape
    for row in range(1, min(rows, 7)):
        texts = [cell.text for cell in grid.cells if cell.row == row and cell.column > 0 and cell.text]
        if texts and sum(any(c.isdigit() for c in text) for text in texts) * 2 >= len(texts):
            return row
    return 1


def of_grids(grids: Iterable[Grid]) -> list[Series]:
    """Every row and every column of figures of the tables; series of fewer than two figures are left out."""
    found = []
    for grid in grids:
        heads = header_rows(grid)
        text: dict[tuple[int, int], str] = {
            (row, column): cell.text
            for cell in grid.cells
            for row in range(cell.row, cell.row + cell.rows)
            for column in range(cell.column, cell.column + cell.columns)
        }
        rows, columns = grid.shape
        across = {
            column: " ".join(dict.fromkeys(text.get((row, column), "") for row in range(heads))).strip()
            for column in range(columns)
        }
        down = {row: text.get((row, 0), "") for row in range(rows)}
        figures = {
            place: number
            for place, content in text.items()
            if place[0] >= heads and place[1] > 0 and (number := _figure(content)) is not None
        }
        for row in range(heads, rows):
            points = [
                (across[column], figures[row, column])
                for column in range(1, columns)
                if (row, column) in figures
            ]
            found.append(Series(down[row], points))
        for column in range(1, columns):
            points = [
                (down[row], figures[row, column]) for row in range(heads, rows) if (row, column) in figures
            ]
            found.append(Series(across[column], points))
    return [series for series in found if len(series.points) > 1]


def _figure(text: str) -> Number | None:
    if not text or len(text) > _LONGEST_CELL:
        return None
    numbers = find_numbers(text)
    return numbers[0] if len(numbers) == 1 else None


# -- what questions ask of them ----------------------------------------------------------------------

_HIGHEST = re.compile(
    r"\bplus (?:eleve|haut|grand|fort|important|cher|large|forte)\w*|\bmeilleure?s?\b|\bmaximale?\b|\bhighest|\blargest|\bbiggest|\bgreatest|\bbest\b|\bbetter\b|\bhigher\b"
    r"|\bmost\b|\bpeak|\bstrongest|最高|最大|最多|峰值"
)
_LOWEST = re.compile(
    r"\bplus (?:bas|faible|petit|fort[e]? baisse)\w*|\bpires?\b|\bmoins (?:eleve|cher|important)\w*|\bminimale?\b|\blowest|\bsmallest|\bworst|\bleast\b|\bweakest|\blower\b|\bfewest"
    r"|最低|最小|最少|谷底"
)
_CHANGE = re.compile(
    r"\b(?:rise|rose|fall|fell|grow|grew|increase\w*|decrease\w*|decline\w*|drop\w*|change\w*|differ\w*|gap|ecart|difference|augment\w*|baiss\w*|diminu\w*|hausse|progress\w*)\b"
    r"|增长|增加|减少|下降|上升|相差|差额|变化"
)
_TOTAL = re.compile(r"\b(?:total\w*|together|sum|combined|somme|ensemble|cumule\w*)\b|合计|总和|总计|共")
_MEAN = re.compile(r"\b(?:average|mean|moyenn\w*)\b|平均")
_RELATIVE = re.compile(r"per ?cent(?!age point)|percentage(?! point)|en pourcentage|%|百分之")
_YEAR = re.compile(r"(?:19|20)\d\d")


def extreme(question: str, known: Sequence[Series]) -> tuple[str, Number] | None:
    """The label and figure that are highest or lowest in the series the question is about; None if it asks for none."""
    text = fold(question)
    lowest, highest = _LOWEST.search(text), _HIGHEST.search(text)
    if lowest is None and highest is None:
        return None
    series = _about(question, known, years=re.search(r"annee|\byear|年", text) is not None)
    if series is None:
        return None
    pick = min if lowest is not None else max
    label, number = pick(series.points, key=lambda point: (point[1].value, ""))
    return (label, number) if label else None


def worked_out(question: str, known: Sequence[Series]) -> float | None:
    """A difference, growth, sum or mean of figures that the question names; None if it asks for none."""
    text = fold(question)
    between = apart(question, known)
    if between is not None:
        return between
    calculations: Sequence[tuple[re.Pattern[str], Callable[[Sequence[float]], float]]] = (
        (_CHANGE, lambda values: abs(values[-1] - values[0])),
        (_TOTAL, sum),
        (_MEAN, lambda values: sum(values) / len(values)),
    )
    for pattern, calculate in calculations:
        if not pattern.search(text):
            continue
        series = _about(question, known)
        if series is None:
            return None
        named = [float(number.written) for label, number in series.points if label and _names(text, label)]
        if pattern is _CHANGE:
            if len(named) != 2:
                return None
            if _RELATIVE.search(text) and named[0]:
                return 100 * (named[1] / named[0] - 1)
            return calculate(named) * (100 if re.search(r"basis point|points? de base|基点", text) else 1)
        values = named if len(named) > 1 else [float(number.written) for _, number in series.points]
        return calculate(values)
    return None


_COMPARED = re.compile(
    r"比.*[多少高低大小]|\bdifference between|\becart entre|\bmore than|\bplus (?:de|que)\b|\bexceed"
)


def apart(question: str, known: Sequence[Series]) -> float | None:
    """By how much two series that the question names differ at the label that it names; None if it names others."""
    text = fold(question)
    if not _COMPARED.search(text):
        return None
    named = [series for series in known if series.name and _names(text, series.name)]
    at = [
        [float(number.written) for label, number in series.points if label and _names(text, label)]
        for series in named
    ]
    figures = [values[0] for values in at if len(values) == 1]
    return abs(figures[0] - figures[1]) if len(figures) == 2 else None


def beyond(question: str, known: Sequence[Series], limit: float, more: bool) -> list[str]:
    """The labels whose figures lie above (or below) a limit, in the series the question is about."""
    series = _about(question, known)
    if series is None:
        return []
    return [label for label, number in series.points if (float(number.written) > limit) == more and label]


def _about(question: str, known: Sequence[Series], years: bool = False) -> Series | None:
    """The series whose heading and labels have most of the question's words; the longest of equals."""
    asked = set(stems(question))
    text = fold(question)
    best, best_rank = None, (-1.0, 0.0, 0)
    for series in known:
        if years and not all(_YEAR.search(label) for label, _ in series.points):
            continue
        own = set(stems(series.name))
        named = sum(bool(label) and _names(text, label) for label, _ in series.points)
        rank = (len(own & asked) / len(own) if own else 0.0, float(named), len(series.points))
        if rank > best_rank:
            best, best_rank = series, rank
    return best


def _names(text: str, label: str) -> bool:
    folded = fold(label)
    if folded[:1] > "\u2e80" or folded[-1:] > "\u2e80":
        return folded in text  # Chinese has no blanks around words
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text) is not None


def count(question: str, grids: Sequence[Grid]) -> int | None:
    """How many different entries stand under the heading that the question counts; None without such a heading."""
    asked = set(stems(question))
    best, best_score = None, 0.5
    for grid in grids:
        heads = header_rows(grid)
        columns: Mapping[int, list[str]] = {
            column: [
                cell.text for cell in grid.cells if cell.column == column and cell.row >= heads and cell.text
            ]
            for column in range(grid.shape[1])
        }
        for column, entries in columns.items():
            own = {
                word
                for cell in grid.cells
                if cell.row < heads and cell.column <= column < cell.column + cell.columns
                for word in stems(cell.text)
            }
            score = len(own & asked) / len(own) if own else 0.0
            if score > best_score and entries:
                best, best_score = len(dict.fromkeys(entries)), score
    return best
