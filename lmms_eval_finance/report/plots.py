"""Plots as SVG that stands inside a page: no styles, no scripts, no addresses, colours from the page.

Drawn by matplotlib (extra ``report``). What it writes is taken apart and put together again from
elements and attributes that are known, and its colours for text, lines and series become classes,
so that one drawing serves light and dark pages. Labels are text, never formulas.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from lxml import etree

from lmms_eval_finance.report.table import Cell, Marked, Table
from lmms_eval_finance.settings import SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SERIES = 8
"""So many colours the page has; further series are not drawn."""
_LONGEST_LABEL = 34
_LONGEST_NAME = 60
_MOST_BARS = 40

# Colours that stand for classes of the page: ink, faint lines, and the series.
_INK, _FAINT = "#0a0000", "#0a00ff"
_SERIES = [f"#0a000{number}" for number in range(1, SERIES + 1)]
_CLASSES = {_INK: "ink", _FAINT: "faint", **{colour: f"s{n}" for n, colour in enumerate(_SERIES, 1)}}
# Series differ by more than colour, for print and for eyes that see few colours.
_MARKERS = "osD^vPX*"
_HATCHES = ("", "//", "\\\\", "xx", "--", "||", "++", "/")
# Outcomes have the same colour in every report.
_OUTCOMES = {
    name.replace("_", " "): place
    for place, names in enumerate(
        (
            ("correct",),
            ("refused", "timed_out"),
            ("undecided",),
            ("unreadable",),
            ("partial",),
            ("wrong",),
            ("empty", "judge_failed"),
            ("truncated", "gold_unusable"),
        )
    )
    for name in names
}


def plots(table: Table) -> list[str]:
    """The drawings of a table as SVG, those that its `plots` name and its rows allow.

    Raises:
        SettingError: matplotlib is not installed.
    """
    return [svg for kind in table.plots if (svg := _KINDS[kind](table))]


def available() -> bool:
    """Whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


# -- kinds -------------------------------------------------------------------------------------------


def _bars(table: Table) -> str:
    """A group of bars for each column, a bar for each run."""
    names, columns, cells = _runs(table)
    if not columns:
        return ""
    height = 0.8 / len(names)

    def draw(axes: Axes) -> None:
        for place, (name, row) in enumerate(zip(names, cells, strict=True)):
            drawn = [(number, cell) for number, cell in enumerate(row) if _number(cell) is not None]
            at = [number + place * height - 0.4 + height / 2 for number, _ in drawn]
            axes.barh(
                at,
                [_number(cell) or 0.0 for _, cell in drawn],
                height * 0.92,
                xerr=_errors([cell for _, cell in drawn]),
                color=_SERIES[place],
                ecolor=_INK,
                hatch=_HATCHES[place],
                edgecolor=_FAINT,
                linewidth=0.4,
                error_kw={"elinewidth": 0.8},
                label=_short(name, _LONGEST_NAME),
            )
        axes.set_yticks(range(len(columns)), [_short(column) for column in columns])
        axes.invert_yaxis()
        if not any(_number(cell) for row in cells for cell in row):
            axes.set_xlim(0, 100)  # for nothing but zeros matplotlib makes up an axis around 0
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
        axes.grid(axis="x", color=_FAINT, linewidth=0.5)

    return _drawn(
        table,
        "bar chart",
        draw,
        height=1 + 0.22 * max(2, len(columns) * max(2, len(names))),
        legend=len(names) > 1,
    )


def _lines(table: Table) -> str:
    """A line for each run over the columns, which have an order."""
    names, columns, cells = _runs(table)
    if not names or len(columns) < 2:
        return ""

    def draw(axes: Axes) -> None:
        for place, (name, row) in enumerate(zip(names, cells, strict=True)):
            drawn = [(number, cell) for number, cell in enumerate(row) if _number(cell) is not None]
            axes.errorbar(
                [number + (place - len(names) / 2) * 0.04 for number, _ in drawn],
                [_number(cell) or 0.0 for _, cell in drawn],
                # with more lines, bounds would hide them; the table has them
                yerr=_errors([cell for _, cell in drawn]) if len(names) <= 3 else None,
                color=_SERIES[place],
                marker=_MARKERS[place],
                linestyle="-" if place % 2 == 0 else "--",
                linewidth=1.6,
                elinewidth=0.8,
                label=_short(name, _LONGEST_NAME),
            )
        axes.set_xticks(range(len(columns)), [_short(column) for column in columns])
        if not any(_number(cell) for row in cells for cell in row):
            axes.set_ylim(0, 100)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        axes.grid(axis="y", color=_FAINT, linewidth=0.5)

    return _drawn(table, "line chart", draw, height=3.4, legend=True)


def _radar(table: Table) -> str:
    """A closed line for each run over columns around a circle."""
    names, columns, cells = _runs(table)
    shown = [place for place in range(len(columns)) if any(_number(row[place]) is not None for row in cells)]
    if not names or len(shown) < 3:
        return ""
    angles = [2 * math.pi * number / len(shown) for number in range(len(shown))]

    def draw(axes: Axes) -> None:
        for place, (name, row) in enumerate(zip(names, cells, strict=True)):
            # a gap, not 0, where a run has no figure
            heights = [math.nan if (value := _number(row[column])) is None else value for column in shown]
            axes.plot(
                [*angles, angles[0]],
                [*heights, heights[0]],
                color=_SERIES[place],
                marker=_MARKERS[place],
                markersize=4,
                linewidth=1.6,
                label=_short(name, _LONGEST_NAME),
            )
        axes.set_xticks(angles, [_short(columns[place]) for place in shown])
        axes.set_ylim(0, 100)
        axes.grid(color=_FAINT, linewidth=0.5)
        axes.spines["polar"].set_color(_FAINT)

    return _drawn(table, "radar chart", draw, height=5.2, legend=True, polar=True)


def _heatmap(table: Table) -> str:
    """A coloured field for every cell, published rows among them."""
    rows = [row for row in table.rows if any(_number(cell) is not None for cell in row[1:])]
    columns = list(table.columns[1:])
    if len(rows) < 2 or len(columns) < 2:
        return ""
    values = [[_number(cell) for cell in row[1:]] for row in rows]

    def draw(axes: Axes) -> None:
        from matplotlib import colormaps

        colours = colormaps["cividis"]
        for down, row in enumerate(values):
            for across, value in enumerate(row):
                if value is not None:
                    colour = colours(min(1.0, max(0.0, value / 100)))
                    axes.add_patch(_field(across, down, colour))
                    ink = "#ffffff" if value < 47 else "#000000"
                    axes.text(across, down, f"{value:.0f}", ha="center", va="center", color=ink, fontsize=8, parse_math=False)  # fmt: skip
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xticks(range(len(columns)), [_short(name) for name in columns], rotation=45, ha="right")
        axes.set_yticks(range(len(rows)), [_short(str(_plain(row[0]))) for row in rows])
        for spine in axes.spines.values():
            spine.set_visible(False)

    return _drawn(table, "heatmap", draw, height=1.6 + 0.26 * len(rows), legend=False)


def _stacked(table: Table) -> str:
    """A bar of shares for each row, a part for each column."""
    rows = [row for row in table.rows if any(_number(cell) for cell in row[1:])][:_MOST_BARS]
    columns = list(table.columns[1:])
    used = [place for place in range(len(columns)) if any(_number(row[place + 1]) for row in rows)]
    if not rows or len(used) > SERIES:
        used = sorted(used, key=lambda place: -sum(_number(row[place + 1]) or 0.0 for row in rows))[:SERIES]
    if not rows:
        return ""

    def draw(axes: Axes) -> None:
        left = [0.0] * len(rows)
        for number, place in enumerate(sorted(used)):
            series = _OUTCOMES.get(columns[place], number)
            widths = [_number(row[place + 1]) or 0.0 for row in rows]
            axes.barh(
                range(len(rows)),
                widths,
                0.8,
                left=left,
                color=_SERIES[series],
                hatch=_HATCHES[series],
                edgecolor=_FAINT,
                linewidth=0.4,
                label=_short(columns[place]),
            )
            left = [one + other for one, other in zip(left, widths, strict=True)]
        axes.set_yticks(range(len(rows)), [_short(str(_plain(row[0]))) for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, max(left))

    return _drawn(table, "stacked bars", draw, height=1.2 + 0.28 * len(rows), legend=True)


_KINDS: Mapping[str, Callable[[Table], str]] = {
    "bars": _bars,
    "lines": _lines,
    "radar": _radar,
    "heatmap": _heatmap,
    "stacked": _stacked,
}


# -- tables ------------------------------------------------------------------------------------------


def _runs(table: Table) -> tuple[list[str], list[str], list[Sequence[Cell]]]:
    """Names, numeric columns and cells of the rows that are runs, the first `SERIES` of them."""
    rows = [row for row, kind in zip(table.rows, table.kinds, strict=False) if kind == "run"][:SERIES]
    places = [
        place
        for place in range(1, len(table.columns))
        if any(_number(row[place]) is not None for row in rows)
    ]
    texts = [
        place
        for place in range(1, len(table.columns))
        if any(isinstance(_plain(row[place]), str) for row in rows)
    ]
    names = [", ".join(str(_plain(row[place])) for place in (0, *texts)) for row in rows]
    numeric = [place for place in places if place not in texts]
    cells = [[row[place] for place in numeric] for row in rows]
    return names, [table.columns[place] for place in numeric], cells  # type: ignore[return-value]


def _plain(cell: Cell) -> str | float | None:
    return cell.value if isinstance(cell, Marked) else cell


def _number(cell: Cell) -> float | None:
    value = _plain(cell)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _errors(cells: Sequence[Cell]) -> Any:
    """Distances to the bounds, or the spread both ways; None where no cell has either."""
    below, above = [], []
    for cell in cells:
        value = _number(cell) or 0.0
        if isinstance(cell, Marked) and cell.spread is not None:
            below.append(cell.spread)
            above.append(cell.spread)
        elif isinstance(cell, Marked) and cell.low is not None and cell.high is not None:
            below.append(max(0.0, value - cell.low))
            above.append(max(0.0, cell.high - value))
        else:
            below.append(0.0)
            above.append(0.0)
    return [below, above] if any(below) or any(above) else None


def _short(text: str, longest: int = _LONGEST_LABEL) -> str:
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    return printable if len(printable) <= longest else printable[: longest - 1] + "…"


def _field(across: int, down: int, colour: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((across - 0.48, down - 0.46), 0.96, 0.92, facecolor=colour, edgecolor="none")


# -- drawing -----------------------------------------------------------------------------------------


def _drawn(
    table: Table,
    kind: str,
    draw: Callable[[Axes], None],
    *,
    height: float,
    legend: bool,
    polar: bool = False,
) -> str:
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingError("plots need matplotlib: pip install 'lmms-eval-finance[report]'") from error
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": table.name,
        "text.parse_math": False,
        "font.size": 9,
        "hatch.color": _FAINT,
        "hatch.linewidth": 0.5,
        **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), _INK),
        "axes.edgecolor": _FAINT,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "legend.frameon": False,
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # signs that the font lacks: the reader's browser has its own
        figure: Figure = Figure(figsize=(8, min(height, 24)), layout="constrained")
        FigureCanvasSVG(figure)
        axes: Any = figure.add_subplot(projection="polar" if polar else None)
        draw(axes)
        for side in ("top", "right"):
            if side in axes.spines:
                axes.spines[side].set_visible(False)
        if legend:
            longest = max((len(text) for text in axes.get_legend_handles_labels()[1]), default=0)
            figure.legend(loc="outside lower center", ncols=3 if longest < 26 else 2 if longest < 44 else 1)
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    label = f"{table.title}: {kind}, figures in the table"
    return _rewritten(out.getvalue(), table.name + ("-polar" if polar else ""), label)


_ELEMENTS = frozenset({"svg", "g", "path", "use", "defs", "clipPath", "rect", "text", "tspan", "pattern"})
_ATTRIBUTES = frozenset(
    {
        *("d", "x", "y", "width", "height", "viewBox", "transform", "patternUnits"),
        *("fill", "stroke", "stroke-width", "stroke-linejoin", "stroke-linecap", "stroke-dasharray"),
        *("stroke-dashoffset", "opacity", "fill-opacity", "stroke-opacity", "font-size", "text-anchor"),
    }
)
_SAFE = re.compile(r"[\w\s.,#()%+-]*")
_FONT_SIZE = re.compile(r"([\d.]+)px")
_REFERENCE = re.compile(r"url\(#([\w-]+)\)")


def _rewritten(svg: bytes, name: str, label: str) -> str:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    root = etree.fromstring(svg, parser)
    frame = root.get("viewBox", "0 0 576 288")
    inner = "".join(text for child in root for text in _element(child, name))
    return (
        f'<svg class="plot" role="img" aria-label="{escape(label)}" viewBox="{escape(frame)}" '
        f'preserveAspectRatio="xMidYMid meet">{inner}</svg>'
    )


def _element(element: Any, name: str) -> Iterator[str]:
    if not isinstance(element.tag, str):
        return
    tag = etree.QName(element).localname
    if tag not in _ELEMENTS:
        return
    given = {etree.QName(key).localname: value for key, value in element.attrib.items()}
    for piece in given.pop("style", "").split(";"):
        key, _, value = piece.partition(":")
        given[key.strip()] = value.strip()
    if size := _FONT_SIZE.search(given.pop("font", "")):
        given["font-size"] = size[1]
    yield f"<{tag}{''.join(_attributes(given, name))}>"
    yield escape(element.text or "") if tag in ("text", "tspan") else ""
    for child in element:
        yield from _element(child, name)
    yield f"</{tag}>"


def _attributes(given: Mapping[str, str], name: str) -> Iterator[str]:
    classes = []
    for key, value in given.items():
        if key in ("fill", "stroke") and value in _CLASSES:
            classes.append(f"{key}-{_CLASSES[value]}")
        elif key == "id":
            yield f' id="{name}-{escape(value)}"'
        elif key == "href" and value.startswith("#"):
            yield f' href="#{name}-{escape(value[1:])}"'
        elif key in ("clip-path", "fill") and (reference := _REFERENCE.fullmatch(value)):
            yield f' {key}="url(#{name}-{reference[1]})"'
        elif key in _ATTRIBUTES and _SAFE.fullmatch(value):
            yield f' {key}="{value}"'
    if classes:
        yield f' class="{" ".join(classes)}"'
