"""Red seals: found by colour on a page, and read: the arc of a round one unrolled, then the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmms_eval_finance.models.baseline import ocr
from lmms_eval_finance.models.baseline.lines import text_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 0.025
"""Shortest side of a seal as a share of the page's longer side."""
_STRIP = 64
"""Height in pixels of an unrolled arc."""


@dataclass(frozen=True)
class Seal:
    """A seal on a page: its box in pixels (x1, y1, x2, y2) and whose it is, ``company`` or ``personal``."""

    box: tuple[float, float, float, float]
    label: str


def red_ink(image: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where a picture (height x width x RGB) is red, pale prints included."""
    import cv2

    hue, saturation, value = cv2.split(cv2.cvtColor(image, cv2.COLOR_RGB2HSV))
    return np.asarray(((hue <= 11) | (hue >= 165)) & (saturation >= 60) & (value >= 70), dtype=bool)


def find(image: NDArray[np.uint8]) -> list[Seal]:
    """The seals on a page, from top to bottom: red marks of a seal's size and proportions."""
    import cv2

    red = red_ink(image)
    dark = (image.max(axis=2) < 130) & ~red
    longer = max(image.shape[:2])
    reach = max(3, round(0.012 * longer)) | 1
    joined = cv2.morphologyEx(
        red.astype(np.uint8), cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    )
    count, marks, _, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    seals = []
    for number in range(1, min(count, 200)):
        ys, xs = np.nonzero((marks == number) & red)
        if xs.size == 0:
            continue
        left, top, right, bottom = int(xs.min()), int(ys.min()), int(xs.max()) + 1, int(ys.max()) + 1
        short, long = sorted((right - left, bottom - top))
        if short < max(14, SMALLEST * longer) or long > 3 * short or xs.size < 0.03 * short * long:
            continue
        if dark[top:bottom, left:right].sum() > 0.8 * xs.size:
            continue  # reddish edges of black letters
        box = (left, top, right, bottom)
        seals.append(Seal(box, _owner(np.stack([xs, ys], axis=1), long / longer)))
    kept = [
        seal
        for seal in seals
        if not any(other is not seal and _within(seal.box, other.box) for other in seals)
    ]
    return sorted(kept, key=lambda seal: (seal.box[1], seal.box[0]))


def _owner(points: NDArray[np.int_], share: float) -> str:
    """Persons have small upright squares; what is round, oval, pointed or large is an organisation's."""
    roundness, tilt = _shape(points)
    return "personal" if roundness > 0.88 and tilt < 30 and share < 0.25 else "company"


def _shape(points: NDArray[np.int_]) -> tuple[float, float]:
    """How much of its tightest rectangle a mark fills (circle 0.79, rectangle 1), and that rectangle's tilt in degrees."""
    import cv2

    hull = cv2.convexHull(points.astype(np.int32))
    _, (wide, high), angle = cv2.minAreaRect(hull)
    tilt = min(angle % 90, 90 - angle % 90)
    return float(cv2.contourArea(hull) / max(wide * high, 1.0)), float(tilt)


def _within(inner: tuple[float, ...], outer: tuple[float, ...]) -> bool:
    return all(inner[i] >= outer[i] for i in (0, 1)) and all(inner[i] <= outer[i] for i in (2, 3))


# -- reading -----------------------------------------------------------------------------------------


def read(image: NDArray[np.uint8]) -> str:
    """The text of a seal that fills the picture: the outer ring clockwise from its gap, then the middle."""
    ink = _cropped(_dark_on_white(image))
    if ink is None:
        return ""
    ys, xs = np.nonzero(ink < 128)
    roundness, tilt = _shape(np.stack([xs, ys], axis=1))
    if roundness > 0.88 and tilt < 30:
        return _square(ink)
    if roundness < 0.7:
        return _plain(ink)
    ring, inner = unroll(ink)
    arc, sure = ocr.read_strip(_as_rgb(ring))
    if len(arc) < 3 or sure < 0.5:
        return _plain(ink)
    return arc.replace(" ", "") + _plain(inner)


def unroll(ink: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The ring of text as a straight strip, and the picture without the ring.

    Args:
        ink: height x width, dark on white, cropped to the seal's outline (circle or ellipse).

    Returns:
        The strip, read from left to right, gaps between the letters narrowed; the middle.
    """
    import cv2

    side = 480
    disc = cv2.resize(ink, (side, side), interpolation=cv2.INTER_AREA)
    radius = side / 2
    turns = round(2 * np.pi * radius)
    # Rows are angles clockwise from 3 o'clock, columns distances from the centre.
    polar = cv2.warpPolar(disc, (side // 2, turns), (radius, radius), radius, cv2.WARP_POLAR_LINEAR)
    # Start at 6 o'clock, where the gap of the ring is; outward is up.
    rolled = np.roll(polar, -turns // 4, axis=0).T[::-1]
    inner, outer = _band(rolled)
    strip = rolled[side // 2 - outer : side // 2 - inner]
    strip = _without_gaps(cv2.resize(strip, (round(turns * _STRIP / max(1, outer - inner)), _STRIP)))
    ys, xs = np.mgrid[0:side, 0:side]
    middle = disc.copy()
    middle[np.hypot(xs - radius, ys - radius) >= inner - 2] = 255
    return strip, middle


def _band(rolled: NDArray[np.uint8]) -> tuple[int, int]:
    """The distances from the centre between which the ring's letters lie, by the ink of the upper half."""
    rows, turns = rolled.shape
    upper = rolled[:, turns // 5 : turns - turns // 5] < 128
    share = upper.mean(axis=1)[::-1]  # by distance from the centre
    outer = rows - 1
    while outer > 0.7 * rows and share[outer] < 0.35:
        outer -= 1  # outside the outline
    outer = outer if share[outer] >= 0.35 else rows - 1
    while outer > 0.7 * rows and share[outer] >= 0.06:
        outer -= 1  # the outline itself
    inner = outer
    while inner > 0.45 * rows and share[inner] < 0.04:
        inner -= 1  # the white between outline and letters
    while inner > 0.45 * rows and share[inner] >= 0.015:
        inner -= 1  # the letters
    if outer - inner < 0.1 * rows:
        return round(0.58 * rows), round(0.93 * rows)
    return inner, outer


def _without_gaps(strip: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The strip with blank columns cut to a tenth of its height and a margin of white."""
    inked = np.asarray((strip < 128).any(axis=0))
    keep = inked.copy()
    blank = 0
    for column, has_ink in enumerate(inked):
        blank = 0 if has_ink else blank + 1
        keep[column] = blank <= _STRIP // 10
    dense = strip[:, keep]
    return np.pad(dense, ((6, 6), (12, 12)), constant_values=255)


def _square(ink: NDArray[np.uint8]) -> str:
    """Letters in columns from right to left; one line is read as it stands."""
    margin = max(1, round(0.07 * min(ink.shape)))
    inside = ink[margin:-margin, margin:-margin] if min(ink.shape) > 4 * margin else ink
    rows = ["".join(one.text for one in line).replace(" ", "") for line in _lines(inside)]
    if len(rows) > 1 and len({len(row) for row in rows}) == 1 and len(rows[0]) < 5:
        return "".join(row[place] for place in reversed(range(len(rows[0]))) for row in rows)
    return "".join(rows)


def _plain(ink: NDArray[np.uint8]) -> str:
    """The texts line by line; a lone sign in the middle is the star."""
    texts = ["".join(one.text for one in line).replace(" ", "") for line in _lines(ink)]
    return "".join(text for text in texts if len(text) > 1 or (len(texts) == 1 and text not in "★☆*大女"))


def _lines(ink: NDArray[np.uint8]) -> Sequence[Sequence[ocr.Fragment]]:
    return text_lines(ocr.recognise(_as_rgb(np.pad(ink, 24, constant_values=255))))


def _dark_on_white(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The seal's ink in grey on white: red where there is some, else whatever is dark."""
    red = red_ink(image)
    if red.mean() < 0.01:
        return np.asarray(image.min(axis=2), dtype=np.uint8)
    # The green channel shows red ink dark, with its soft edges.
    grey = image[:, :, 1].astype(float)
    low, high = np.percentile(grey[red], 20), np.percentile(grey, 95)
    return np.asarray(np.clip((grey - low) / max(high - low, 1) * 255, 0, 255), dtype=np.uint8)


def _cropped(ink: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    ys, xs = np.nonzero(ink < 128)
    if xs.size < 20:
        return None
    return ink[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]


def _as_rgb(grey: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(np.repeat(grey[:, :, None], 3, axis=2))
