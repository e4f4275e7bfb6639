"""Images of scored items, fetched from the data that the run was made on."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import settings
from lmms_eval_finance.data import sources
from lmms_eval_finance.data.images import shrink, to_rgb
from lmms_eval_finance.data.schemas import benchmark

if TYPE_CHECKING:
    from PIL import Image

_LARGEST_SIDE = 2048
_LARGEST_SHRUNK = 1280
_MOST_PIXELS = 60_000_000
LARGEST_STORED = 400_000
_KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}
# a page stored at two resolutions is shown once
_SHARPER = {"image": "image_144"}


class ImagesMissing(Exception):
    """The images of an item cannot be had; the text says why."""


class RowMissing(ImagesMissing):
    """The images of this one item cannot be had; those of others may."""


@functools.lru_cache(maxsize=8)
def item_images(data: str, ids: tuple[str, ...]) -> list[bytes]:
    """The images of these data rows, as PNG files.

    Args:
        data: the field `data` of the record's signature, ``benchmark/split@hash``.
        ids: ids of rows.

    Raises:
        ImagesMissing: the data cannot be reached, are not those of the run, or have no such row.
    """
    shelf = _of_run(data)
    rows = [shelf.rows[shelf.place(row_id)] for row_id in ids]
    return [_png(image) for row in rows for column in shelf.columns for image in _listed(row[column])]


def _of_run(data: str) -> _Shelf:
    name, _, rows_hash = data.partition("@")
    try:
        found = _shelf(name, settings.value("DATA"))
    except KeyError as error:
        raise ImagesMissing(
            f"the run's signature names no data of this package ({data or 'none'})"
        ) from error
    except sources.DataError as error:
        raise ImagesMissing(str(error)) from error
    if found.rows_hash != rows_hash:
        raise ImagesMissing(f"the data at hand ({found.rows_hash}) are not those of the run ({rows_hash})")
    return found


def stored_images(data: str, ids: tuple[str, ...]) -> list[tuple[str, bytes]]:
    """The images of these data rows as (kind, file): as stored where a browser shows that, else as JPEG.

    Files of more than `LARGEST_STORED` bytes are shrunk.

    Args:
        data, ids: as for `item_images`.

    Raises:
        ImagesMissing: as for `item_images`.
    """
    shelf = _of_run(data)
    return [_as_shown(image) for row_id in ids for image in shelf.stored(shelf.place(row_id))]


def _as_shown(stored: Mapping[str, Any]) -> tuple[str, bytes]:
    from PIL import Image

    try:
        content: bytes = stored["bytes"] or Path(stored["path"]).read_bytes()
        kind = next((name for start, name in _KINDS.items() if content.startswith(start)), None)
        with Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise RowMissing(f"an image of {image.width} x {image.height} pixels")
            if kind is not None and len(content) <= LARGEST_STORED:
                return kind, content
            buffer = io.BytesIO()
            shrink(to_rgb(image), side=_LARGEST_SHRUNK).save(buffer, format="JPEG", quality=80)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise RowMissing(f"an image cannot be read ({error})") from error
    return "image/jpeg", buffer.getvalue()


class _Shelf:
    """A split's rows with where each id stands."""

    def __init__(self, name: str, split: str) -> None:
        schema = benchmark(name).splits[split]
        source = sources.locate(name, split)
        self.rows_hash = source.rows_hash
        rows = source.load()
        self.columns = [
            column
            for column in schema.media
            if column in rows.column_names and _SHARPER.get(column) not in rows.column_names
        ]
        self.position = {str(row_id): number for number, row_id in enumerate(rows[schema.id_column])}
        self.rows: Any = rows.select_columns(self.columns)

    def place(self, row_id: str) -> int:
        """The number of a row."""
        if row_id not in self.position:
            raise RowMissing(f"the data have no row {row_id!r}")
        return self.position[row_id]

    def stored(self, place: int) -> Iterator[Mapping[str, Any]]:
        """The images of a row as they are stored, nothing decoded: bytes or path."""
        row = self.rows.with_format("arrow")[place : place + 1]
        for column in self.columns:
            yield from _listed(row[column].to_pylist()[0])


@functools.lru_cache(maxsize=16)
def _shelf(data: str, setting: str | None) -> _Shelf:
    """The rows of a split; `setting` is the one that `sources.locate` goes by."""
    name, _, split = data.partition("/")
    return _Shelf(name, split)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    shrink(to_rgb(image), side=_LARGEST_SIDE).save(buffer, format="PNG")
    return buffer.getvalue()
