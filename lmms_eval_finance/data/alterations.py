"""Pictures as they come in practice: turned, blurred, compressed, noisy, watermarked, askew, photographed.

Each alteration has one fixed severity, measured in shares of the picture, and is applied to the
full picture before any resizing. Turning is lossless. What is random (noise, angles, where a
watermark lies) is drawn from a generator seeded by the item, so that every run and every
process alters an item alike.

==========  =======================================================================================
rot90 ...   turned counter-clockwise by 90, 180 or 270 degrees, as Pillow's ``rotate`` counts
blur        Gaussian blur, standard deviation 0.25% of the shorter side, at least 1.5 pixels
jpeg        one JPEG round at quality 10
noise       Gaussian noise on each channel, standard deviation 40 of 255 levels
watermark   rows of grey letters at 30 degrees over the whole picture, 30% opaque
skew        turned by 4 to 8 degrees to either side, the corners filled with white
photo       perspective (corners off by up to 5% of the sides) on a dark desk, light falling off to
            60% across the page, a warm tint, blur of 0.1% of the shorter side, JPEG at quality 50
==========  =======================================================================================
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from lmms_eval_finance.data.images import as_jpeg

VERSION = "1"
"""Changes whenever a pixel of an altered picture can."""

Picture = Image.Image
Random = np.random.Generator
Levels = npt.NDArray[np.uint8]

_TURNS = {
    "rot90": Image.Transpose.ROTATE_90,
    "rot180": Image.Transpose.ROTATE_180,
    "rot270": Image.Transpose.ROTATE_270,
}
_DESK = (62, 52, 44)
_ROWS_AT_ONCE = 256


def alter(picture: Picture, kind: str, seed: str) -> Picture:
    """The picture (mode RGB) after one alteration.

    Args:
        picture: left as it is.
        kind: one of `KINDS`.
        seed: what the random parts depend on, such as the item's id and the picture's number.

    Raises:
        KeyError: an unknown kind.

    >>> picture = Image.new("RGB", (40, 20))
    >>> alter(picture, "rot90", "1").size, alter(picture, "noise", "1").size
    ((20, 40), (40, 20))
    >>> alter(picture, "noise", "1").tobytes() == alter(picture, "noise", "1").tobytes()
    True
    """
    digest = hashlib.sha256(f"{kind}/{seed}".encode("utf-8", "surrogatepass")).digest()
    return _ALTERATIONS[kind](picture, np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big"))))


def _turned(how: Image.Transpose) -> Callable[[Picture, Random], Picture]:
    return lambda picture, random: picture.transpose(how)


def _blurred(picture: Picture, random: Random) -> Picture:
    return picture.filter(ImageFilter.GaussianBlur(max(1.5, min(picture.size) * 0.0025)))


def _compressed(picture: Picture, random: Random) -> Picture:
    return as_jpeg(picture, quality=10)


def _noisy(picture: Picture, random: Random) -> Picture:
    levels = np.array(picture)
    for top in range(0, len(levels), _ROWS_AT_ONCE):  # bounded memory on large scans
        rows = levels[top : top + _ROWS_AT_ONCE]
        noise = 40 * random.standard_normal(rows.shape, dtype=np.float32)
        levels[top : top + _ROWS_AT_ONCE] = np.clip(np.rint(rows + noise), 0, 255)
    return Image.fromarray(levels)


def _watermarked(picture: Picture, random: Random) -> Picture:
    size = max(12, min(picture.size) // 14)
    font = ImageFont.load_default(size)
    reach = int(np.ceil(np.hypot(*picture.size)))
    sheet = Image.new("L", (reach, reach))
    draw = ImageDraw.Draw(sheet)
    line = "COPY  COPY  COPY  "
    step = draw.textlength(line, font=font)
    first = -float(random.uniform(0, step))
    for number, top in enumerate(range(0, reach, size * 4)):
        left = first - (number % 2) * step / 2
        draw.text((left, top), line * (int((reach - left) / step) + 1), fill=77, font=font)
    sheet = sheet.rotate(30, resample=Image.Resampling.BILINEAR)
    left, top = (reach - picture.width) // 2, (reach - picture.height) // 2
    mask = sheet.crop((left, top, left + picture.width, top + picture.height))
    marked = picture.copy()
    marked.paste((90, 90, 90), (0, 0), mask)
    return marked


def _askew(picture: Picture, random: Random) -> Picture:
    angle = float(random.uniform(4, 8)) * (1 if random.random() < 0.5 else -1)
    return picture.rotate(angle, resample=Image.Resampling.BICUBIC, expand=True, fillcolor="white")


def _photographed(picture: Picture, random: Random) -> Picture:
    width, height = picture.size
    margin = max(4, round(0.05 * min(width, height)))
    room = (width + 2 * margin, height + 2 * margin)
    corners = [
        (margin, margin),
        (margin + width, margin),
        (margin + width, margin + height),
        (margin, margin + height),
    ]
    shifts = random.uniform(-0.05, 0.05, size=(4, 2)) * (width, height)
    # never beyond the photo's edge: the whole page stays in sight
    placed = np.clip(np.array(corners) + shifts, 0, np.array(room) - 1)
    sources = [(0, 0), (width, 0), (width, height), (0, height)]
    plane = _perspective(placed, np.array(sources, float))
    warped = picture.transform(
        room, Image.Transform.PERSPECTIVE, plane, Image.Resampling.BICUBIC, fillcolor=_DESK
    )
    lit = Image.fromarray(_lit(np.array(warped), float(random.uniform(0, 2 * np.pi))))
    lit = lit.filter(ImageFilter.GaussianBlur(max(0.6, min(room) * 0.001)))
    return as_jpeg(lit, quality=50)


def _lit(levels: Levels, direction: float) -> Levels:
    """The levels under warm light that falls off from 100% to 60% in one direction, changed in place."""
    height, width = levels.shape[:2]
    across = np.linspace(-1, 1, width, dtype=np.float32) * np.float32(np.cos(direction))
    along = np.linspace(-1, 1, height, dtype=np.float32) * np.float32(np.sin(direction))
    steepest = max(abs(np.cos(direction)) + abs(np.sin(direction)), 1e-6)
    tint = np.array([1.0, 0.96, 0.88], dtype=np.float32)
    for top in range(0, height, _ROWS_AT_ONCE):
        part = slice(top, top + _ROWS_AT_ONCE)
        light = 0.8 + 0.2 * (along[part, None] + across[None, :]) / np.float32(steepest)
        levels[part] = np.clip(levels[part] * light[:, :, None] * tint, 0, 255)
    return levels


def _perspective(placed: npt.NDArray[np.float64], sources: npt.NDArray[np.float64]) -> list[float]:
    """Pillow's eight coefficients of the projection that takes the placed corners back to the sources."""
    equations, values = [], []
    for (x, y), (u, v) in zip(placed, sources, strict=True):
        equations += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    found: list[float] = np.linalg.solve(np.array(equations), np.array(values)).tolist()
    return found


_ALTERATIONS: Mapping[str, Callable[[Picture, Random], Picture]] = MappingProxyType(
    {
        **{name: _turned(how) for name, how in _TURNS.items()},
        "blur": _blurred,
        "jpeg": _compressed,
        "noise": _noisy,
        "watermark": _watermarked,
        "skew": _askew,
        "photo": _photographed,
    }
)
KINDS = tuple(_ALTERATIONS)
TURNS = tuple(_TURNS)
DISTURBANCES = tuple(kind for kind in KINDS if kind not in TURNS)
