from __future__ import annotations

import io

import pytest
from PIL import Image

from lmms_eval_finance.data import sources
from lmms_eval_finance.runs import images
from lmms_eval_finance.runs.images import ImagesMissing, item_images


@pytest.fixture(autouse=True)
def sample(monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    yield
    images._shelf.cache_clear()
    item_images.cache_clear()


def test_the_images_of_a_row_come_as_png():
    source = sources.locate("finmme", "train")
    row = source.load()[2]
    [png] = item_images(source.fingerprint, (str(row["id"]),))
    opened = Image.open(io.BytesIO(png))
    assert (opened.format, opened.mode) == ("PNG", "RGB")


def test_a_page_at_two_resolutions_is_shown_once():
    source = sources.locate("mfe", "table")
    assert {"image", "image_144"} <= set(source.load().column_names)
    assert len(item_images(source.fingerprint, ("1",))) == 1


def test_a_text_item_has_none():
    assert item_images(sources.locate("mfe", "text").fingerprint, ("1",)) == []


@pytest.mark.parametrize(
    ("data", "row", "message"),
    [
        ("", "1", "names no data"),
        ("mfe", "1", "names no data"),
        ("mfe/absent@1", "1", "names no data"),
        ("absent/text@1", "1", "names no data"),
        ("../../x@1", "1", "names no data"),
        ("mfe/table@000000000000", "1", "are not those of the run"),
        ("FINGERPRINT", "no such row", "have no row 'no such row'"),
    ],
)
def test_why_there_are_none(data, row, message):
    data = sources.locate("mfe", "table").fingerprint if data == "FINGERPRINT" else data
    with pytest.raises(ImagesMissing, match=message):
        item_images(data, (row,))


def test_data_that_cannot_be_reached(monkeypatch, tmp_path):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path))
    with pytest.raises(ImagesMissing, match="no subfolder 'mfe'"):
        item_images("mfe/table@000000000000", ("1",))
