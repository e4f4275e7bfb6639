"""A picture as the model sees it: pixels, texts, table; texts are read once per picture and kept on disk."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lmms_eval_finance.data.sources import cache_folder
from lmms_eval_finance.models.baseline import chart, evidence, grid, ocr
from lmms_eval_finance.models.baseline.lines import blocks, join, text_lines
from lmms_eval_finance.models.baseline.ocr import Fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

VERSION = "1"
"""Part of the names of kept files: a change of `ocr` raises it."""


@dataclass(frozen=True)
class Page:
    """A picture with its texts.

    Attributes:
        pixels: height x width x RGB.
        fragments: its texts, from top to bottom.
    """

    pixels: NDArray[np.uint8]
    fragments: Sequence[Fragment]

    @cached_property
    def table(self) -> grid.Grid | None:
        """The table on it, if there is one."""
        return grid.table_of(self.pixels, self.fragments)

    @cached_property
    def chart(self) -> grid.Grid | None:
        """The values of a bar or line chart on it as a table, if there is one."""
        return chart.values_of(self.pixels, self.fragments)

    @property
    def lines(self) -> list[str]:
        """Its texts line by line."""
        return [join(line) for line in text_lines(self.fragments)]

    @cached_property
    def pieces(self) -> list[evidence.Piece]:
        """Everything on it that a question can be answered from."""
        found = evidence.from_text("\n".join(join(block) for block in blocks(self.fragments)))
        found += evidence.from_text("\n".join(self.lines), len(found))
        for one in (self.table, self.chart):
            if one is not None:
                title = " ".join(join([fragment]) for fragment in self.fragments if fragment.bottom < one.top)
                found += evidence.from_grid(one, title[:300], len(found))
        return found


@functools.lru_cache(maxsize=32)
def _page(key: str, size: tuple[int, int], data: bytes) -> Page:
    pixels = np.frombuffer(data, dtype=np.uint8).reshape(size[1], size[0], 3)
    return Page(pixels, _fragments(key, pixels))


def read(image: Image.Image) -> Page:
    """The picture with its texts, from the disk where they were read before."""
    shown = image.convert("RGB")
    data = shown.tobytes()
    key = hashlib.sha256(repr(shown.size).encode() + data).hexdigest()
    return _page(key, shown.size, data)


def _fragments(key: str, pixels: NDArray[np.uint8]) -> list[Fragment]:
    kept = cache_folder() / "baseline" / f"{VERSION}-{ocr.version()}" / f"{key}.json"
    try:
        return [Fragment(*fields) for fields in json.loads(kept.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        fragments = ocr.recognise(pixels)
    _keep(kept, json.dumps([astuple(fragment) for fragment in fragments], ensure_ascii=False))
    return fragments


def _keep(path: Path, text: str) -> None:
    """Write a file whole or not at all; several processes may do so at once."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(scratch, path)
    except OSError:
        return  # a full or read-only disk costs time, not answers
