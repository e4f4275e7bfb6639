"""Rows of CFMME become docs: what scoring needs to know of the images stands in columns beside them.

On the command line process_results never sees an image, so their number, which items share
them, and the size of a page to be searched are read beforehand, from the files' headers.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from PIL import Image

from lmms_eval_finance.data import selection
from lmms_eval_finance.data.images import SMALLEST_SIDE

if TYPE_CHECKING:
    import datasets

ADDED = ("image_count", "cluster", "page")
"""Columns that are worked out here, whatever the data brings under their names."""
_ORIENTATION = 0x0112
_ON_ITS_SIDE = (5, 6, 7, 8)


def prepared(
    rows: datasets.Dataset, *, page_sizes: bool = False, with_html: bool = False
) -> datasets.Dataset:
    """The docs of a split that the settings ask for.

    Added columns: `image_count`, `cluster` (the id of the first row with the same images) and,
    with `page_sizes`, `page`: width and height in pixels of the first image as models get it (JSON).

    Raises:
        SystemExit: a page cannot be read, or nothing is left to ask (the host hides other errors).
    """
    rows = rows.remove_columns([name for name in ADDED if name in rows.column_names])
    first: dict[Any, str] = {}
    counts, clusters, pages = [], [], []
    for identity, pictures in _stored_images(rows):
        key = tuple(picture["path"] or picture["bytes"] for picture in pictures)
        clusters.append(first.setdefault(key, identity) if key else identity)
        counts.append(len(pictures))
        if page_sizes:
            pages.append(json.dumps(_page_size(identity, pictures)))
    rows = rows.add_column("image_count", counts).add_column("cluster", clusters)
    if page_sizes:
        rows = rows.add_column("page", pages)
    if with_html:
        html = rows["html"] if "html" in rows.column_names else []
        kept = [number for number, text in enumerate(html) if (text or "").strip()]
        if not kept:
            raise SystemExit(
                "lmms-eval-finance: no question of CFMME's qa.jsonl has a table's HTML (column html)"
            )
        rows = rows.select(kept)
    return selection.restrict(rows, rows["id"][:], "CFMME")


def _stored_images(rows: datasets.Dataset) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Id and images of each row as they are stored, bytes or path, nothing decoded."""
    for batch in rows.select_columns(["id", "images"]).with_format("arrow").iter(batch_size=32):
        for identity, pictures in zip(batch["id"].to_pylist(), batch["images"].to_pylist(), strict=True):
            yield identity, pictures or []


def _page_size(identity: str, pictures: list[dict[str, Any]]) -> list[int]:
    """Width and height of the first picture after EXIF rotation and padding (`data.images.to_rgb`)."""
    try:
        picture = pictures[0]
        source = io.BytesIO(picture["bytes"]) if picture["bytes"] else picture["path"]
        with Image.open(source) as image:
            width, height = image.size
            if image.getexif().get(_ORIENTATION) in _ON_ITS_SIDE:
                width, height = height, width
    except (IndexError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(
            f"lmms-eval-finance: CFMME, id {identity}: the page cannot be read ({error})"
        ) from error
    return [max(width, SMALLEST_SIDE), max(height, SMALLEST_SIDE)]
