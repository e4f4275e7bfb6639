"""The box: what a detector says about one object."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """An axis-parallel box with the class it is said to hold.

    Attributes:
        xyxy: left, top, right and bottom edge in pixels of the image, as stated: not
            sorted, not clipped. A coordinate that was not given is NaN.
        label: the class as stated; None where no class was stated.

    >>> Box((10, 20, 110, 220), "company").valid, Box((110, 20, 10, 220)).valid
    (True, False)
    """

    xyxy: tuple[float, float, float, float]
    label: str | None = None

    @property
    def valid(self) -> bool:
        """Whether all edges are finite and enclose a positive, finite area."""
        left, top, right, bottom = self.xyxy
        return right > left and bottom > top and math.isfinite((right - left) * (bottom - top))
