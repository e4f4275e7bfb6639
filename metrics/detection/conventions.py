"""What the numbers of a box mean: pixels of which image, thousandths, or fractions.

Model families differ (pixels of the resized image for Qwen2.5-VL, 0 to 1000 for
Qwen3-VL and GLM-V, 0 to 1 for others), and a wrong reading costs everything, so the
convention is stated, never tried out against the gold boxes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

CONVENTIONS = ("absolute", "model_absolute", "thousand", "unit", "auto")

Size = tuple[int, int]

# Room for a last pixel or a rounding beyond the edge.
_SLACK = 1.02


def scale_of(convention: str, image_size: Size, model_image_size: Size | None) -> tuple[float, float]:
    """The factors that turn x and y as written into pixels of the image.

    Args:
        convention: one of `CONVENTIONS` except ``auto``.
        image_size: width and height in pixels of the image that the boxes refer to.
        model_image_size: width and height of the image after the model's own resizing;
            needed for ``model_absolute`` only.

    Raises:
        ValueError: an unknown convention, or a size that is missing or not positive.

    >>> scale_of("thousand", (500, 2000), None)
    (0.5, 2.0)
    """
    if convention not in CONVENTIONS or convention == "auto":
        raise ValueError(f"unknown convention {convention!r}: use one of {', '.join(CONVENTIONS)}")
    width, height = _checked(image_size, "image_size")
    if convention == "absolute":
        return 1.0, 1.0
    if convention == "thousand":
        return width / 1000, height / 1000
    if convention == "unit":
        return float(width), float(height)
    if model_image_size is None:
        raise ValueError("the convention model_absolute needs model_image_size")
    model_width, model_height = _checked(model_image_size, "model_image_size")
    return width / model_width, height / model_height


def guess_convention(
    boxes: Iterable[Sequence[float]], image_size: Size, model_image_size: Size | None = None
) -> str:
    """The convention that ``auto`` settles on for the boxes of one answer, from their numbers alone.

    - every coordinate below 2: ``unit`` (no pixel box is that small);
    - else all inside the image (of the model, where its size is known), 2% allowed:
      ``absolute`` (``model_absolute``);
    - else all up to 1000, 2% allowed: ``thousand``;
    - else ``absolute`` (``model_absolute``).

    Where pixels and thousandths are both possible, pixels win: on images larger than
    1000 pixels ``auto`` cannot see a 0-to-1000 answer. Name the convention if you know it.

    >>> guess_convention([(0.1, 0.1, 0.5, 0.6)], (800, 600))
    'unit'
    >>> guess_convention([(700, 700, 900, 900)], (800, 600))
    'thousand'
    """
    finite = [box for box in boxes if all(map(math.isfinite, box))]
    x_max = max((max(abs(box[0]), abs(box[2])) for box in finite), default=0.0)
    y_max = max((max(abs(box[1]), abs(box[3])) for box in finite), default=0.0)
    pixels = "absolute" if model_image_size is None else "model_absolute"
    width, height = image_size if model_image_size is None else model_image_size
    if not finite or (x_max <= width * _SLACK and y_max <= height * _SLACK and max(x_max, y_max) >= 2):
        return pixels
    if max(x_max, y_max) < 2:
        return "unit"
    return "thousand" if max(x_max, y_max) <= 1000 * _SLACK else pixels


def _checked(size: Size, name: str) -> Size:
    width, height = size
    if not (width > 0 and height > 0 and math.isfinite(width) and math.isfinite(height)):
        raise ValueError(f"{name} must be a positive width and height, not {size!r}")
    return size
