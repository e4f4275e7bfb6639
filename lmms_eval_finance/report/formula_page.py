"""One HTML page that shows scored formulas: gold above prediction, every glyph in a box that says how it fared.

The page stands alone: no script, no font, no address. Formulas come from models and data
sets, so nothing of MathJax's drawing is taken over as it is: the page keeps shapes and
numbers of the kinds it knows and writes them anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from html import escape

from lxml import etree

from lmms_eval_finance.metrics.formula import Comparison, Glyph, Layout, drawing
from lmms_eval_finance.metrics.signature import Signature

_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_TRANSFORM = re.compile(r"(?:(?:translate|scale)\([-\d., e]+\)\s*)*")
_SHAPE = re.compile(r"[MLHVQTCSZ\d\s.,-]*")
_NUMERIC = {
    "rect": ("x", "y", "width", "height"),
    "line": ("x1", "y1", "x2", "y2"),
    "ellipse": ("cx", "cy", "rx", "ry"),
    "svg": ("x", "y", "width", "height"),
}
_MARGIN = 250
_PLACES = {"^": "raised", "_": "lowered", "n": "numerator", "d": "denominator", "r": "degree of a root"}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #222; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 0 0 .5rem; }
section { border: 1px solid #ccc; border-radius: 6px; padding: 1rem; margin: 1rem 0; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
code { font-size: .85rem; white-space: pre-wrap; overflow-wrap: anywhere; color: #555; }
.drawn { overflow-x: auto; padding: .4rem 0; }
.drawn > svg { height: auto; max-width: none; display: block; }
.message { color: #8a1c1c; } .quiet { color: #666; }
.hit { fill: #1a7f37; fill-opacity: .08; stroke: #1a7f37; stroke-width: 28; }
.miss { fill: #cf222e; fill-opacity: .14; stroke: #cf222e; stroke-width: 40; stroke-dasharray: 110 60; }
.open { fill: none; stroke: currentColor; stroke-width: 60; }
.key { display: inline-block; width: 1.4em; height: 1em; vertical-align: -2px; }
.key.hit { border: 2px solid #1a7f37; background: #1a7f3714; } .key.miss { border: 2px dashed #cf222e; background: #cf222e24; }
"""


def render(
    comparisons: Sequence[Comparison],
    signature: Signature,
    *,
    ids: Sequence[str] | None = None,
    limit: int = 500,
) -> str:
    """The page, worst formulas first.

    Args:
        comparisons: from `compare_batch`.
        signature: of the scores, shown at the top.
        ids: what to call the pairs; their numbers from 1 otherwise.
        limit: most pairs that are drawn.
    """
    names = list(ids) if ids is not None else [str(number) for number in range(1, len(comparisons) + 1)]
    order = sorted(range(len(comparisons)), key=lambda i: _rank(comparisons[i]))
    shapes: dict[str, int] = {}
    sections = [_section(names[i], comparisons[i], shapes) for i in order[:limit]]
    left_out = len(order) - len(sections)
    paths = "".join(f'<path id="s{number}" d="{shape}"/>' for shape, number in shapes.items())
    page = "\n".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width">',
            f"<title>Formulas</title><style>{_STYLE}</style></head><body>",
            "<h1>Formulas by CDM</h1>",
            _summary(comparisons, signature),
            *sections,
            f'<p class="quiet">{left_out} more pairs are not drawn.</p>' if left_out > 0 else "",
            f'<svg width="0" height="0" aria-hidden="true"><defs>{paths}</defs></svg>',
            "</body></html>",
        ]
    )
    return page.encode("utf-8", "replace").decode("utf-8")  # ids may hold lone surrogates


def _rank(comparison: Comparison) -> float:
    return -1.0 if comparison.score.f1 is None else comparison.score.f1


def _summary(comparisons: Sequence[Comparison], signature: Signature) -> str:
    scored = [comparison.score for comparison in comparisons if comparison.score.f1 is not None]
    outcomes = Counter(comparison.score.outcome.value for comparison in comparisons)
    rows = [("pairs scored", f"{len(scored)} of {len(comparisons)}")]
    if scored:
        mean = sum(score.f1 or 0.0 for score in scored) / len(scored)
        exact = sum(score.exact for score in scored)
        rows += [("mean F1", f"{mean:.4f}"), ("ExpRate@CDM", f"{exact / len(scored):.4f} ({exact} exact)")]
    rows.append(("outcomes", ", ".join(f"{name} {count}" for name, count in outcomes.most_common())))
    rows.append(("signature", str(signature)))
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    key = '<p><span class="key hit"></span> matched &nbsp; <span class="key miss"></span> not matched</p>'
    return f"<table>{cells}</table>{key}"


def _section(name: str, comparison: Comparison, shapes: dict[str, int]) -> str:
    score = comparison.score
    figures = f"F1 {score.f1:.4f}" if score.f1 is not None else "not scored"
    gold_hits = {gold for gold, _ in comparison.pairs}
    pred_hits = {pred for _, pred in comparison.pairs}
    return "\n".join(
        [
            f"<section><h2>{escape(name)}: {figures}, {escape(score.outcome.value)}</h2>",
            _formula("gold", comparison.gold_source, comparison.gold, gold_hits, shapes),
            _formula("prediction", comparison.pred_source, comparison.pred, pred_hits, shapes),
            "</section>",
        ]
    )


def _formula(title: str, source: str, layout: Layout, hits: Collection[int], shapes: dict[str, int]) -> str:
    if layout.glyphs:
        shown = f'<div class="drawn">{_picture(source, layout.glyphs, hits, shapes)}</div>'
    else:
        shown = f'<p class="message">{escape(layout.message or "prints nothing")}</p>'
    text = source if len(source) <= 1000 else source[:1000] + " …"
    return f'<div><span class="quiet">{title}</span> <code>{escape(text)}</code>{shown}</div>'


def _picture(source: str, glyphs: Sequence[Glyph], hits: Collection[int], shapes: dict[str, int]) -> str:
    """The drawing with the boxes of its glyphs, in 1/1000 em."""
    left = min(glyph.box[0] for glyph in glyphs) * 1000 - _MARGIN
    right = max(glyph.box[2] for glyph in glyphs) * 1000 + _MARGIN
    low = min(glyph.box[1] for glyph in glyphs) * 1000 - _MARGIN
    high = max(glyph.box[3] for glyph in glyphs) * 1000 + _MARGIN
    width, height = right - left, high - low
    boxes = "".join(_box(glyph, index in hits) for index, glyph in enumerate(glyphs))
    drawn = "".join(_rewritten(drawing(source), shapes))
    return (
        f'<svg role="img" width="{width / 1000 * 1.3:.2f}em" viewBox="{left:.0f} {-high:.0f} {width:.0f} {height:.0f}">'
        f'<g transform="scale(1,-1)" fill="currentColor">{drawn}{boxes}</g></svg>'
    )


def _box(glyph: Glyph, hit: bool) -> str:
    left, bottom, right, top = (value * 1000 for value in glyph.box)
    place = ", ".join(_PLACES.get(step, step) for step in glyph.place)
    words = " ".join(filter(None, (glyph.kind, glyph.char, f"({place})" if place else "")))
    # A rule would be hidden under its box: boxes stand off a little.
    return (
        f'<rect class="{"hit" if hit else "miss"}" x="{left - 25:.0f}" y="{bottom - 25:.0f}"'
        f' width="{max(right - left, 0) + 50:.0f}" height="{max(top - bottom, 0) + 50:.0f}">'
        f"<title>{escape(words)}: {'matched' if hit else 'not matched'}</title></rect>"
    )


def _rewritten(svg: str, shapes: dict[str, int]) -> Iterator[str]:
    """The shapes of MathJax's drawing inside its outermost group, written anew."""
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    root = etree.fromstring(svg.encode(), parser) if svg else None
    if root is None:
        return
    for group in root:
        for child in group:
            yield from _element(child, shapes)


def _element(element: etree._Element, shapes: dict[str, int]) -> Iterator[str]:
    if not isinstance(element.tag, str):
        return
    tag = etree.QName(element).localname
    if element.get("data-bgcolor") or element.get("data-hitbox"):
        return
    transform = element.get("transform", "")
    moved = f' transform="{transform}"' if transform and _TRANSFORM.fullmatch(transform) else ""
    numbers = {
        name: value
        for name in _NUMERIC.get(tag, ())
        if (value := element.get(name)) is not None and _NUMBER.fullmatch(value)
    }
    written = "".join(f' {name}="{value}"' for name, value in numbers.items())
    if tag == "path":
        shape = element.get("d", "")
        if not _SHAPE.fullmatch(shape):
            return
        if element.get("data-c"):
            yield f'<use href="#s{shapes.setdefault(shape, len(shapes))}"{moved}/>'
        else:
            yield f'<path class="open" d="{shape}"{moved}/>'
    elif tag == "text":
        size = element.get("font-size", "").removesuffix("px")
        sized = f' font-size="{size}"' if _NUMBER.fullmatch(size) else ""
        yield f"<text{moved}{sized}>{escape(''.join(element.itertext()))}</text>"
    elif tag in ("rect", "line", "ellipse"):
        drawn = ' class="open"' if tag != "rect" or element.get("fill") == "none" else ""
        yield f"<{tag}{drawn}{written}{moved}/>"
    elif tag in ("g", "a", "svg"):
        frame = element.get("viewBox", "").split()
        clipped = tag == "svg" and len(frame) == 4 and all(map(_NUMBER.fullmatch, frame))
        name = "svg" if clipped else "g"
        attributes = f'{written} viewBox="{" ".join(frame)}"' if clipped else moved
        yield f"<{name}{attributes}>"
        for child in element:
            yield from _element(child, shapes)
        yield f"</{name}>"
