"""Bar and line charts whose values are printed beside the marks, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmms_eval_finance.models.baseline.grid import Grid
from lmms_eval_finance.models.baseline.ocr import Fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray


def values_of(image: NDArray[np.uint8], fragments: Sequence[Fragment]) -> Grid | None:
    """Not yet."""
    return None
