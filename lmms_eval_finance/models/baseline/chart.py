"""Bar, line and pie charts whose values are printed beside the marks, as tables."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lmms_eval_finance.models.baseline.grid import Cell, Grid
from lmms_eval_finance.models.baseline.lines import median_height, text_lines
from lmms_eval_finance.models.baseline.ocr import Fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VALUE = re.compile(r"^[-+−–(]?[ ]?[$€£¥]?[ ]?\d[\d  .,]*[ ]?(?:%|pp|bp|[kmMB€$]|bn|万|亿)?\)?$")
_YEAR = re.compile(r"^(?:19|20)\d\d(?:年|E|e|\*)?$")
_SHARE = re.compile(r"^(.{1,60}?)[ :：]+([-+]?\d[\d.,]*[ ]?%)$")
_FEWEST = 3
"""Labels that make an axis."""

Colour = tuple[int, int, int]


def values_of(image: NDArray[np.uint8], fragments: Sequence[Fragment]) -> Grid | None:
    """The values of a chart: labels of the horizontal axis as columns, series as rows; None without an axis or shares.

    Args:
        image: height x width x RGB.
        fragments: its texts.
    """
    axis = _axis(fragments)
    if axis is None:
        return _shares(fragments)
    step = statistics.median(b.middle[0] - a.middle[0] for a, b in pairwise(axis))
    baseline = axis[0].middle[1]
    groups: list[list[Fragment]] = [[] for _ in axis]
    for one in fragments:
        x, y = one.middle
        place = min(range(len(axis)), key=lambda number: abs(axis[number].middle[0] - x))
        is_label = abs(y - baseline) < axis[0].height
        if _VALUE.match(one.text) and not is_label and abs(axis[place].middle[0] - x) <= 0.55 * step:
            groups[place].append(one)
    groups = _without_ticks(groups, step)
    if sum(map(bool, groups)) < 2:
        return None
    return _as_grid(axis, _series(image, groups, _legend(image, fragments)))


def _axis(fragments: Sequence[Fragment]) -> list[Fragment] | None:
    """The labels below the marks: the line of most short texts at even distances, years before others."""
    best: list[Fragment] | None = None
    best_rank = (False, 0, 0.0)
    for line in text_lines(fragments):
        short = [one for one in line if len(one.text) <= 12]
        years = [one for one in short if _YEAR.match(one.text)]
        labels = years if len(years) >= _FEWEST else short
        if len(labels) < _FEWEST or (labels is short and any(_VALUE.match(one.text) for one in short)):
            continue
        steps = [b.middle[0] - a.middle[0] for a, b in pairwise(labels)]
        usual = statistics.median(steps)
        if usual <= 0 or any(abs(step / usual - round(step / usual)) > 0.3 for step in steps):
            continue
        rank = (labels is years, len(labels), labels[0].middle[1])
        if rank > best_rank:
            best, best_rank = labels, rank
    return best


def _without_ticks(groups: list[list[Fragment]], step: float) -> list[list[Fragment]]:
    """Without the scale of the vertical axis, which stands in a column left of the first marks."""
    first = groups[0]
    if len(first) < 4 or statistics.median([len(group) for group in groups]) >= len(first) - 1:
        return groups
    edge = statistics.median([one.middle[0] for one in first])
    return [[one for one in first if one.middle[0] > edge + 0.2 * step], *groups[1:]]


def _series(
    image: NDArray[np.uint8], groups: Sequence[Sequence[Fragment]], legend: Sequence[tuple[str, Colour]]
) -> list[tuple[str, list[str]]]:
    """Name and values of each series: by the colour of the marks where a legend names them, else by their order."""
    count = max(len(group) for group in groups)
    if count == 1 or len(legend) < 2:
        ordered = [sorted(group, key=lambda one: one.left) for group in groups]
        return [
            ("", [group[number].text if number < len(group) else "" for group in ordered])
            for number in range(count)
        ]
    rows = {name: [""] * len(groups) for name, _ in legend}
    for place, group in enumerate(groups):
        for one in sorted(group, key=lambda one: one.left):
            colour = _mark_colour(image, one)
            if colour is None:
                continue
            free = [(name, shade) for name, shade in legend if not rows[name][place]]
            if free:
                rows[min(free, key=lambda pair: _distance(pair[1], colour))[0]][place] = one.text
    return list(rows.items())


def _legend(image: NDArray[np.uint8], fragments: Sequence[Fragment]) -> list[tuple[str, Colour]]:
    """Texts with a patch of colour left of them, or in a colour of their own."""
    found: list[tuple[str, Colour]] = []
    for one in fragments:
        if _VALUE.match(one.text) or _YEAR.match(one.text) or not re.search(r"[^\W\d]", one.text):
            continue
        height = max(4, round(one.height))
        top, bottom = max(0, round(one.top)), round(one.bottom)
        beside = image[top:bottom, max(0, round(one.left) - 2 * height) : max(0, round(one.left) - 1)]
        colour = _plain_colour(beside, 0.12) or _ink_colour(
            image[top:bottom, round(one.left) : round(one.right)]
        )
        if colour is not None and all(_distance(colour, other) > 40 for _, other in found):
            found.append((one.text, colour))
    return found


def _plain_colour(patch: NDArray[np.uint8], share: float) -> Colour | None:
    """The commonest colour of a patch that is neither white nor text on white."""
    if patch.size == 0:
        return None
    pixels = patch.reshape(-1, 3).astype(int)
    dark = pixels[(pixels.min(axis=1) < 215)]
    if len(dark) < max(6, share * len(pixels)):
        return None
    rough, counts = np.unique(dark // 32, axis=0, return_counts=True)
    chosen = dark[(dark // 32 == rough[counts.argmax()]).all(axis=1)]
    return _rounded(chosen.mean(axis=0)) if len(chosen) >= 0.4 * len(dark) else None


def _ink_colour(patch: NDArray[np.uint8]) -> Colour | None:
    """The colour of letters that are neither black nor grey."""
    if patch.size == 0:
        return None
    pixels = patch.reshape(-1, 3).astype(int)
    vivid = pixels[(pixels.max(axis=1) - pixels.min(axis=1)) > 60]
    return _rounded(np.median(vivid, axis=0)) if len(vivid) > 0.05 * len(pixels) else None


def _mark_colour(image: NDArray[np.uint8], value: Fragment) -> Colour | None:
    """The colour of what a value is printed beside: its own ink, or the mark under or over it."""
    own = _ink_colour(image[round(value.top) : round(value.bottom), round(value.left) : round(value.right)])
    if own is not None:
        return own
    middle, reach = round(value.middle[0]), max(8, round(1.2 * value.height))
    columns = slice(max(0, middle - 2), middle + 3)
    below = image[round(value.bottom) + 1 : round(value.bottom) + reach, columns]
    above = image[max(0, round(value.top) - reach) : max(0, round(value.top) - 1), columns]
    for patch in (above, below) if value.text[:1] in "-−–(" else (below, above):
        colour = _plain_colour(patch, 0.25)
        if colour is not None:
            return colour
    return None


def _rounded(colour: NDArray[np.float64]) -> Colour:
    red, green, blue = (round(float(part)) for part in colour)
    return red, green, blue


def _distance(one: Colour, other: Colour) -> float:
    return math.dist(one, other)


def _as_grid(axis: Sequence[Fragment], series: Sequence[tuple[str, list[str]]]) -> Grid:
    cells = [Cell(0, 0, said="")]
    cells += [Cell(0, number + 1, said=label.text) for number, label in enumerate(axis)]
    for row, (name, values) in enumerate(series, start=1):
        cells.append(Cell(row, 0, said=name))
        cells += [Cell(row, number + 1, said=value) for number, value in enumerate(values)]
    return Grid(cells)


def _shares(fragments: Sequence[Fragment]) -> Grid | None:
    """The parts of a pie with their shares: texts that name one, or shares right below or beside a name."""
    pairs: list[tuple[str, str]] = []
    height = median_height(fragments)
    values = [one for one in fragments if re.fullmatch(r"[-+]?\d[\d.,]*[ ]?%", one.text)]
    for one in fragments:
        found = _SHARE.match(one.text)
        if found:
            pairs.append((found[1].strip(), found[2]))
        elif values and one not in values and re.search(r"[^\W\d]", one.text) and len(one.text) < 40:
            near = [
                value
                for value in values
                if -0.5 * height < value.top - one.bottom < height
                and abs(value.middle[0] - one.middle[0]) < 2 * height
            ]
            if near:
                pairs.append((one.text, near[0].text))
    if len(pairs) < 2:
        return None
    cells = [Cell(0, 0, said=""), Cell(0, 1, said="")]
    for row, (name, share) in enumerate(pairs, start=1):
        cells += [Cell(row, 0, said=name), Cell(row, 1, said=share)]
    return Grid(cells)
