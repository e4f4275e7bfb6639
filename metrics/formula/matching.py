"""Matching glyphs: the assignment of least cost, then agreement of positions.

Source: B. Wang and others, "Image Over Text: Transforming Formula Recognition
Evaluation with Character Detection Matching", arXiv 2409.03643, section 3, with the
weights and thresholds of its released implementation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from lmms_eval_finance.metrics.formula.glyphs import Glyph, Variant

Floats = NDArray[np.float64]
Points = NDArray[np.complex128]

_POSITION_COST = 0.05
_ORDER_COST = 0.15
# The reference measures 20 pixels at 200 dpi in a 12 pt document (72.27 pt an inch).
_PIXEL = 72.27 / 200 / 12
_THRESHOLD = 20 * _PIXEL
_MARGIN = 8 * _PIXEL
_ROUNDS = 5
_SAMPLE = 2
# Samples tried a round; with more pairs than this, evenly spread ones. The reference draws 50 at random.
_SAMPLES = 300


def match(gold: Sequence[Glyph], pred: Sequence[Glyph], variant: Variant) -> list[tuple[int, int]]:
    """The pairs (index in `gold`, index in `pred`) of glyphs that are the same and stand where they should.

    Both sequences must hold at least one glyph. Deterministic. With the default variant
    matches also keep the reading order within each vertical place, and their number does
    not depend on which formula comes first: either may be moved and scaled onto the
    other, and the better agreement counts.
    """
    pairs = _match(gold, pred, variant)
    if variant == "reference":
        return pairs
    back = [(i, j) for j, i in _match(pred, gold, variant)]
    return max(_in_order(pairs, gold), _in_order(back, gold), key=len)


def _match(gold: Sequence[Glyph], pred: Sequence[Glyph], variant: Variant) -> list[tuple[int, int]]:
    ids: dict[tuple[str, ...], int] = {}
    gold_ids, pred_ids = (
        np.array([ids.setdefault(glyph.key(variant), len(ids)) for glyph in glyphs])
        for glyphs in (gold, pred)
    )
    gold_boxes, pred_boxes = (np.array([glyph.box for glyph in glyphs]) for glyphs in (gold, pred))
    gold_order, pred_order = (np.arange(len(glyphs)) / len(glyphs) for glyphs in (gold, pred))
    cost = (gold_ids[:, None] != pred_ids).astype(float)
    cost += _POSITION_COST * np.abs(_framed(gold_boxes)[:, None] - _framed(pred_boxes)).mean(axis=2)
    cost += _ORDER_COST * np.abs(gold_order[:, None] - pred_order)
    rows, columns = linear_sum_assignment(cost)
    agree = _agreeing(_centres(gold_boxes[rows]), _centres(pred_boxes[columns]))
    agree &= gold_ids[rows] == pred_ids[columns]
    return list(zip(rows[agree].tolist(), columns[agree].tolist(), strict=True))


def _in_order(pairs: Sequence[tuple[int, int]], gold: Sequence[Glyph]) -> list[tuple[int, int]]:
    """The most pairs that, place by place, come in the same order in both formulas."""
    places: dict[str, list[tuple[int, int]]] = {}
    for pair in sorted(pairs):
        places.setdefault(gold[pair[0]].place, []).append(pair)
    return sorted(pair for group in places.values() for pair in _longest_rising(group))


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence of `pairs`, which rise in their first member, that rises in the second too."""
    lowest: list[int] = []  # the lowest second member at which a subsequence of each length ends
    ends: list[int] = []  # where it ends
    before: list[int | None] = []
    for at, (_, second) in enumerate(pairs):
        length = bisect_left(lowest, second)
        before.append(ends[length - 1] if length else None)
        lowest[length : length + 1] = [second]
        ends[length : length + 1] = [at]
    rising = []
    step = ends[-1] if ends else None
    while step is not None:
        rising.append(pairs[step])
        step = before[step]
    return rising


def _framed(boxes: Floats) -> Floats:
    """Boxes as shares of the formula's extent with its margin."""
    low = boxes[:, :2].min(axis=0) - _MARGIN
    high = boxes[:, 2:].max(axis=0) + _MARGIN
    framed: Floats = (boxes - np.tile(low, 2)) / np.tile(high - low, 2)
    return framed


def _centres(boxes: Floats) -> Points:
    centres: Points = (boxes[:, :2] + boxes[:, 2:]) @ np.array([0.5, 0.5j])
    return centres


def _agreeing(source: Points, target: Points) -> NDArray[np.bool_]:
    """Which pairs of points move together, in up to five groups; two points at most always do."""
    agree = np.full(len(source), len(source) <= _SAMPLE)
    for _ in range(_ROUNDS):
        rest = np.flatnonzero(~agree)
        if len(rest) <= _SAMPLE:
            break
        group = _largest_group(source[rest], target[rest])
        if not group.any():
            break
        agree[rest[group]] = True
    return agree


def _largest_group(source: Points, target: Points) -> NDArray[np.bool_]:
    """The largest set of points that one translation and scale takes to within the threshold of their targets.

    RANSAC (Fischler and Bolles 1981) over samples of two points, all of them where they are few;
    among equal sets the one with the least sum of squared distances, then the first.
    """
    first, second = np.triu_indices(len(source), 1)
    if len(first) > _SAMPLES:
        chosen = np.linspace(0, len(first) - 1, _SAMPLES).astype(int)
        first, second = first[chosen], second[chosen]
    shift = (target[first] + target[second] - source[first] - source[second]) / 2
    scale = abs(target[first] - target[second]) / (abs(source[first] - source[second]) + 1e-10)
    # The model scales about the mean of all points, as the reference does.
    middle = source.mean()
    away = scale[:, None] * (source - middle) + (shift + middle)[:, None] - target
    squares = away.real**2 + away.imag**2
    near = squares < _THRESHOLD**2
    best = np.lexsort((squares.sum(axis=1), -near.sum(axis=1)))[0]
    return np.asarray(near[best], dtype=bool)
