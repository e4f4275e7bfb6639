"""Images of scored items, fetched from the data that the run was made on."""

from __future__ import annotations

import functools
import io
from typing import TYPE_CHECKING, Any

from lmms_eval_finance.data import sources
from lmms_eval_finance.data.images import shrink, to_rgb
from lmms_eval_finance.data.schemas import benchmark

if TYPE_CHECKING:
    from PIL import Image

_LARGEST_SIDE = 2048
# a page stored at two resolutions is shown once
_SHARPER = {"image": "image_144"}


class ImagesMissing(Exception):
    """The images of an item cannot be had; the text says why."""


@functools.lru_cache(maxsize=8)
def item_images(data: str, ids: tuple[str, ...]) -> list[bytes]:
    """The images of these data rows, as PNG files.

    Args:
        data: the field `data` of the record's signature, ``benchmark/split@hash``.
        ids: ids of rows.

    Raises:
        ImagesMissing: the data cannot be reached, are not those of the run, or have no such row.
    """
    name, _, rows_hash = data.partition("@")
    try:
        found = _shelf(name)
    except KeyError as error:
        raise ImagesMissing(
            f"the run's signature names no data of this package ({data or 'none'})"
        ) from error
    except sources.DataError as error:
        raise ImagesMissing(str(error)) from error
    if found.rows_hash != rows_hash:
        raise ImagesMissing(f"the data at hand ({found.rows_hash}) are not those of the run ({rows_hash})")
    images: list[bytes] = []
    for row_id in ids:
        if row_id not in found.position:
            raise ImagesMissing(f"the data have no row {row_id!r}")
        row = found.rows[found.position[row_id]]
        images += [_png(image) for column in found.columns for image in _listed(row[column])]
    return images


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


@functools.lru_cache(maxsize=16)
def _shelf(data: str) -> _Shelf:
    name, _, split = data.partition("/")
    return _Shelf(name, split)


def _listed(value: Any) -> list[Image.Image]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    shrink(to_rgb(image), side=_LARGEST_SIDE).save(buffer, format="PNG")
    return buffer.getvalue()
