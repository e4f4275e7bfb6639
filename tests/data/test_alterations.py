from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from lmms_eval_finance.data import alterations
from lmms_eval_finance.data.alterations import DISTURBANCES, KINDS, TURNS, alter


@pytest.fixture(scope="module")
def picture():
    ramp = np.add.outer(np.arange(160), np.arange(240)).astype(np.uint8)
    return Image.fromarray(np.stack([ramp, ramp // 2, 255 - ramp], axis=2))


def levels(image):
    return np.asarray(image).astype(float)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_item_is_altered_alike_and_left_as_it_is(picture, kind):
    before = picture.tobytes()
    first = alter(picture, kind, "7/0")
    assert first.mode == "RGB"
    assert first.tobytes() == alter(picture, kind, "7/0").tobytes()
    assert picture.tobytes() == before
    assert first.tobytes() != before


@pytest.mark.parametrize("kind", ["noise", "watermark", "skew", "photo"])
def test_items_differ_in_what_is_random(picture, kind):
    assert alter(picture, kind, "7/0").tobytes() != alter(picture, kind, "8/0").tobytes()


@pytest.mark.parametrize("kind", TURNS)
def test_turns_lose_nothing(picture, kind):
    turned = picture
    for _ in range(360 // int(kind.removeprefix("rot"))):
        turned = alter(turned, kind, "")
    if kind != "rot270":
        assert turned.tobytes() == picture.tobytes()
    assert levels(alter(picture, "rot90", "")).tolist() == np.rot90(levels(picture)).tolist()
    assert alter(alter(picture, "rot270", ""), "rot90", "").tobytes() == picture.tobytes()
    assert alter(alter(picture, "rot180", ""), "rot180", "").tobytes() == picture.tobytes()


def test_the_severities_are_those_documented(picture):
    flat = Image.new("RGB", (400, 300), (128, 128, 128))
    noise = levels(alter(flat, "noise", "1")) - 128
    assert 37 < noise.std() < 42  # a little is clipped
    assert abs(noise.mean()) < 1
    edge = Image.new("RGB", (2000, 1200), "white")
    edge.paste("black", (0, 0, 1000, 1200))
    profile = levels(alter(edge, "blur", "1"))[600, :, 0] / 255
    spread = np.gradient(profile)
    centre = (spread * np.arange(2000)).sum()
    assert np.sqrt((spread * (np.arange(2000) - centre) ** 2).sum()) == pytest.approx(0.0025 * 1200, rel=0.15)
    marked = levels(alter(Image.new("RGB", (900, 700), "white"), "watermark", "1"))
    assert marked.min() == pytest.approx(255 + 77 / 255 * (90 - 255), abs=2)
    assert 0.02 < (marked[:, :, 0] < 250).mean() < 0.3
    skewed = {alter(Image.new("RGB", (1000, 500), "black"), "skew", str(seed)).size for seed in range(30)}
    assert all(1000 < width < 1080 and 560 < height < 640 for width, height in skewed)
    lit = levels(alter(Image.new("RGB", (900, 700), "white"), "photo", "3"))[90:-90, 100:-100, 0]
    assert 140 < lit.min() < 175
    assert lit.max() > 230


@pytest.mark.parametrize("kind", DISTURBANCES)
@pytest.mark.parametrize("size", [(28, 28), (28, 3000), (1, 1)])
def test_small_and_narrow_pictures_pass(kind, size):
    altered = alter(Image.new("RGB", size, "white"), kind, "1")
    assert min(altered.size) >= 1


def test_an_unknown_kind_is_an_error(picture):
    with pytest.raises(KeyError):
        alter(picture, "rot45", "1")


def test_turning_is_documented_as_pillow_counts(picture):
    assert "counter-clockwise" in (alterations.__doc__ or "")
    assert alter(picture, "rot90", "").tobytes() == picture.rotate(90, expand=True).tobytes()
