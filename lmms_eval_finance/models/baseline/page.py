"""A picture as the model sees it: pixels, texts, table; what is dear to read is kept on disk."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lmms_eval_finance.data.sources import DataError, cache_folder
from lmms_eval_finance.models.baseline import chart, evidence, formula, grid, ocr, seals
from lmms_eval_finance.models.baseline.lines import blocks, join, text_lines
from lmms_eval_finance.models.baseline.ocr import Fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

_LAID_OUT = 0.7
"""How much a line or column of a table counts as a text, beside its cells."""
Kept = TypeVar("Kept")

VERSION = "1"
"""Part of the names of kept files: a change of how pictures are read raises it."""


@dataclass(frozen=True)
class Page:
    """A picture and what stands on it, read when it is first asked for.

    Attributes:
        pixels: height x width x RGB, shrunk to `ocr.LONGEST`; places on the page are in these pixels.
        size: width and height of the picture itself.
        key: hash of the picture.
    """

    pixels: NDArray[np.uint8]
    size: tuple[int, int]
    key: str
    _reading: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @cached_property
    def fragments(self) -> Sequence[Fragment]:
        """The texts, from top to bottom."""

        def recognise() -> list[tuple[Any, ...]]:
            return [astuple(fragment) for fragment in ocr.recognise(self.pixels)]

        def restored(kept: Any) -> list[Fragment]:
            return [Fragment(str(text), *map(float, box)) for text, *box in kept]

        return self._kept("text", recognise, restored)

    @cached_property
    def seal(self) -> str:
        """The text, where the picture is a seal."""
        return self._kept("seal", lambda: seals.read(self.pixels), str)

    @cached_property
    def latex(self) -> str:
        """The formula, where the picture is one."""
        return self._kept("latex", lambda: formula.to_latex(self.pixels), str)

    @cached_property
    def table(self) -> grid.Grid | None:
        """The table on it, if there is one."""
        return grid.table_of(self.pixels, self.fragments)

    @cached_property
    def chart(self) -> grid.Grid | None:
        """The values of a chart on it as a table, if there is one."""
        return chart.values_of(self.pixels, self.fragments)

    @property
    def grids(self) -> list[grid.Grid]:
        """Its chart and its table, if there are any."""
        return [one for one in (self.chart, self.table) if one is not None]

    @cached_property
    def pieces(self) -> list[evidence.Piece]:
        """Everything on it that a question can be answered from."""
        celled = {one for cell in self.table.cells for one in cell.fragments} if self.table else set()
        parts = blocks(self.fragments)
        prose = [join(block) for block in parts if block[0] not in celled]
        columns = [join(block) for block in parts if block[0] in celled]
        found = evidence.from_text("\n".join(prose))
        # What stands below or beside each other in a table need not belong together.
        found += evidence.from_text("\n".join(columns), len(found), trust=_LAID_OUT)
        lines = "\n".join(join(line) for line in text_lines(self.fragments))
        found += evidence.from_text(lines, len(found), trust=_LAID_OUT if celled else 1.0)
        for one in self.grids:
            title = " ".join(join([fragment]) for fragment in self.fragments if fragment.bottom < one.top)
            found += evidence.from_grid(one, title[:300], len(found))
        return found

    def _kept(self, name: str, read: Callable[[], Any], restored: Callable[[Any], Kept]) -> Kept:
        """What was read of this picture before, else what `read` gives now; one thread reads at a time.

        `restored` makes it out of JSON; a file that it cannot be made of is written anew.
        """
        with self._reading:
            try:
                folder = cache_folder() / "baseline" / f"{VERSION}-{ocr.version()}"
            except DataError:  # a read-only disk costs time, not answers
                return restored(read())
            place = folder / f"{self.key}-{name}.json"
            try:
                return restored(json.loads(place.read_text(encoding="utf-8")))
            except (OSError, ValueError, TypeError):
                found = read()
            _write(place, json.dumps(found, ensure_ascii=False))
        return restored(found)


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all; several processes may do so at once."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(scratch, path)
    except OSError:
        return  # a full or read-only disk costs time, not answers


def read(image: Image.Image) -> Page:
    """The page of a picture; the same picture gives the same page."""
    shown = image.convert("RGB")
    size = shown.size
    shown.thumbnail((ocr.LONGEST, ocr.LONGEST))
    data = shown.tobytes()
    key = hashlib.sha256(repr(size).encode() + data).hexdigest()
    with _OPENING:
        return _page(key, size, shown.size, data)


_OPENING = threading.Lock()


@functools.lru_cache(maxsize=32)
def _page(key: str, size: tuple[int, int], shrunk: tuple[int, int], data: bytes) -> Page:
    return Page(np.frombuffer(data, dtype=np.uint8).reshape(shrunk[1], shrunk[0], 3), size, key)
