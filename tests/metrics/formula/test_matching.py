"""The matcher against one written from the paper's description, without numpy or scipy."""

from __future__ import annotations

import itertools
import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.formula.glyphs import Glyph, Variant
from lmms_eval_finance.metrics.formula.matching import match

EM = 200 / 72.27 * 12  # pixels at 200 dpi, 12 pt


Pairs = set[tuple[int, int]]


def naive(gold: list[Glyph], pred: list[Glyph], variant: Variant) -> list[Pairs]:
    """The matches of each assignment of least cost; swapping equal glyphs often costs nothing."""

    def framed(glyphs: list[Glyph]) -> list[list[float]]:
        low = [min(glyph.box[side] for glyph in glyphs) - 8 / EM for side in (0, 1)]
        high = [max(glyph.box[side] for glyph in glyphs) + 8 / EM for side in (2, 3)]
        size = [high[0] - low[0], high[1] - low[1]]
        return [[(glyph.box[k] - low[k % 2]) / size[k % 2] for k in range(4)] for glyph in glyphs]

    gold_framed, pred_framed = framed(gold), framed(pred)

    def cost(i: int, j: int) -> float:
        token = float(gold[i].key(variant) != pred[j].key(variant))
        position = sum(abs(a - b) for a, b in zip(gold_framed[i], pred_framed[j], strict=True)) / 4
        return token + 0.05 * position + 0.15 * abs(i / len(gold) - j / len(pred))

    short = min(len(gold), len(pred))
    if len(gold) <= len(pred):
        choices = [list(enumerate(chosen)) for chosen in itertools.permutations(range(len(pred)), short)]
    else:
        choices = [
            [(i, j) for j, i in enumerate(chosen)]
            for chosen in itertools.permutations(range(len(gold)), short)
        ]
    costs = [math.fsum(cost(i, j) for i, j in chosen) for chosen in choices]
    least = min(costs) + 1e-9
    return [
        agreeing(gold, pred, sorted(chosen), variant)
        for chosen, total in zip(choices, costs, strict=True)
        if total <= least
    ]


def agreeing(gold: list[Glyph], pred: list[Glyph], pairs: list[tuple[int, int]], variant: Variant) -> Pairs:
    def centre(glyph: Glyph) -> tuple[float, float]:
        return ((glyph.box[0] + glyph.box[2]) / 2 * EM, (glyph.box[1] + glyph.box[3]) / 2 * EM)

    points = [(centre(gold[i]), centre(pred[j])) for i, j in pairs]
    inside = set(range(len(points))) if len(points) <= 2 else set()
    for _ in range(5):
        rest = [k for k in range(len(points)) if k not in inside]
        if len(rest) <= 2:
            break
        best: tuple[int, float] | None = None
        group: list[int] = []
        middle = [sum(points[k][0][axis] for k in rest) / len(rest) for axis in (0, 1)]
        for a, b in itertools.combinations(rest, 2):
            (sa, ta), (sb, tb) = points[a], points[b]
            move = [(ta[axis] + tb[axis] - sa[axis] - sb[axis]) / 2 for axis in (0, 1)]
            scale = math.dist(ta, tb) / (math.dist(sa, sb) + 1e-10)
            squares = []
            for k in rest:
                source, target = points[k]
                moved = [scale * (source[axis] - middle[axis]) + middle[axis] + move[axis] for axis in (0, 1)]
                squares.append(math.dist(moved, target) ** 2)
            near = [k for k, square in zip(rest, squares, strict=True) if square < 20**2]
            key = (len(near), -sum(squares))
            if best is None or key > best:
                best, group = key, near
        if not group:
            break
        inside |= set(group)
    return {pairs[k] for k in inside if gold[pairs[k][0]].key(variant) == pred[pairs[k][1]].key(variant)}


def naive_in_order(pairs: Pairs, gold: list[Glyph]) -> int:
    """The size of the largest subset that keeps its order within each place, by trying all subsets."""

    def keeps(chosen: tuple[tuple[int, int], ...]) -> bool:
        return all(
            (a[0] < b[0]) == (a[1] < b[1])
            for a, b in itertools.combinations(chosen, 2)
            if gold[a[0]].place == gold[b[0]].place
        )

    sizes = range(len(pairs), -1, -1)
    return next(size for size in sizes if any(map(keeps, itertools.combinations(sorted(pairs), size))))


coordinates = st.floats(0, 6, allow_nan=False, width=32)


@st.composite
def glyphs(draw: st.DrawFn, seed: int) -> list[Glyph]:
    """Glyphs a little off any place of other glyphs, so that no two assignments or groups are equally good."""
    found = []
    off = random.Random(seed)
    for _ in range(draw(st.integers(1, 6))):
        left, bottom = (draw(coordinates) + off.uniform(0, 0.02) for _ in range(2))
        char = draw(st.sampled_from("abc"))
        place = draw(st.sampled_from(["", "^"]))
        found.append(Glyph(char, "", place, (left, bottom, left + 0.5, bottom + draw(st.floats(0.1, 1)))))
    return found


@settings(deadline=None, max_examples=150)
@given(glyphs(1), glyphs(2))
def test_matches_are_those_of_the_naive_matcher(gold: list[Glyph], pred: list[Glyph]) -> None:
    assert set(match(gold, pred, "reference")) in naive(gold, pred, "reference")


@settings(deadline=None, max_examples=100)
@given(glyphs(1), glyphs(2))
def test_default_keeps_order_and_takes_the_better_direction(gold: list[Glyph], pred: list[Glyph]) -> None:
    there = {naive_in_order(pairs, gold) for pairs in naive(gold, pred, "default")}
    back = {naive_in_order({(i, j) for j, i in pairs}, gold) for pairs in naive(pred, gold, "default")}
    found = match(gold, pred, "default")
    assert len(found) in {max(sizes) for sizes in itertools.product(there, back)}
    assert len(found) == len(match(pred, gold, "default"))
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)


def test_a_line_of_glyphs_moved_together_still_matches() -> None:
    row = [Glyph(char, "", "", (k, 0, k + 0.5, 1)) for k, char in enumerate("abcdefgh")]
    moved = [Glyph(glyph.char, "", "", (glyph.box[0] + 9, 3, glyph.box[2] + 9, 4)) for glyph in row]
    assert len(match(row, moved, "default")) == 8


def test_swapped_ends_do_not_match() -> None:
    row = [Glyph(char, "", "", (k, 0, k + 0.5, 1)) for k, char in enumerate("abcdefgh")]
    swapped = [Glyph(char, "", "", glyph.box) for char, glyph in zip("hbcdefga", row, strict=True)]
    assert [(i, j) for i, j in match(row, swapped, "reference") if i != j] == []
    assert len(match(row, swapped, "reference")) == 6


def test_many_glyphs_stay_bounded() -> None:
    row = [Glyph("ab"[k % 2], "", "", (k / 2, 0, k / 2 + 0.4, 1)) for k in range(700)]
    other = [Glyph("ba"[k % 3 == 0], "", "", (k / 3, 0, k / 3 + 0.3, 1)) for k in range(600)]
    assert 0 < len(match(row, other, "default")) <= 600
