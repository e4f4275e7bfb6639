"""Images as models take them: RGB, upright, on white, never too small for a processor."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image, ImageOps

SMALLEST_SIDE = 28
"""In pixels: processors that cut images into patches of 28 refuse or distort anything smaller."""


def to_rgb(image: Image.Image) -> Image.Image:
    """The image upright (EXIF), in mode RGB, transparency on white, padded to `SMALLEST_SIDE`.

    >>> to_rgb(Image.new("LA", (1, 40), (0, 0))).getpixel((0, 0))
    (255, 255, 255)
    >>> to_rgb(Image.new("CMYK", (64, 32))).mode
    'RGB'
    """
    image = ImageOps.exif_transpose(image)
    if image.mode in ("I;16", "I", "F"):
        image = _to_eight_bits(image)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        above = image.convert("RGBA")
        image = Image.new("RGBA", above.size, "white")
        image.alpha_composite(above)
    image = image.convert("RGB")
    if min(image.size) < SMALLEST_SIDE:
        padded = Image.new(
            "RGB", (max(image.width, SMALLEST_SIDE), max(image.height, SMALLEST_SIDE)), "white"
        )
        padded.paste(image, (0, 0))
        image = padded
    return image


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """Deep grey images scaled to 8 bits; a plain conversion would clip everything to white."""
    levels = np.asarray(image, dtype=np.float64)
    low, high = levels.min(), levels.max()
    return Image.fromarray(((levels - low) * (255 / max(high - low, 1e-12))).astype(np.uint8))


def shrink(image: Image.Image, *, side: int) -> Image.Image:
    """The image made to fit a square of `side` pixels, never enlarged."""
    if max(image.size) <= side:
        return image
    shrunk = image.copy()
    shrunk.thumbnail((side, side))
    return shrunk


def as_jpeg(image: Image.Image, *, quality: int) -> Image.Image:
    """The image after one JPEG round at that quality, as a model sees it when sent so."""
    buffer = io.BytesIO()
    image.save(buffer, format="JPEG", quality=quality)
    buffer.seek(0)
    return Image.open(buffer).convert("RGB")


def content(image: Image.Image) -> dict[str, Any]:
    """The image as one part of a chat message in the host's form."""
    return {"type": "image", "url": image}
