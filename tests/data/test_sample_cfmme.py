"""The packaged CFMME sample holds every task and kind of item, and nothing of anybody."""

from __future__ import annotations

import json
import re

import pytest
from PIL import Image

from lmms_eval_finance.data.sources import SAMPLE

FOLDER = SAMPLE / "cfmme"


@pytest.fixture(scope="module")
def rows():
    return {
        file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in sorted(FOLDER.glob("*.jsonl"))
    }


def test_at_least_six_items_a_task(rows):
    assert len(rows) == 8
    assert all(len(items) >= 6 for items in rows.values())


def test_every_kind_of_item_is_there(rows):
    knowledge = [*rows["subject"], *rows["certification"]]
    answers = {row["answer"] for row in knowledge}
    assert {"√", "错误"} <= answers
    assert any(isinstance((row["options"] or [""])[0], int) for row in knowledge)
    assert any(len(row["images"]) > 1 and isinstance((row["options"] or [0])[0], str) for row in knowledge)
    assert max(len(row["options"] or ()) for row in knowledge) == 5
    assert any(len(re.findall("[A-E]", row["answer"])) > 1 for row in knowledge)
    assert {row["image_type"] for row in rows["qa"]} == {
        "table",
        "candlestick",
        "shareholding",
        "statistical",
    }
    assert any(row["options"] is None for row in rows["qa"])
    labels = [{box["label"] for box in row["boxes"]} for row in rows["seal_detection"]]
    assert {"company"} in labels
    assert {"personal"} in labels
    assert {"company", "personal"} in labels
    assert {row["image_type"] for row in rows["seal_recognition"]} == {
        "圆形",
        "椭圆形",
        "方形",
        "三角形",
        "菱形",
    }
    assert {len(row["images"]) for row in rows["table_recognition"]} == {1, 2}
    assert any("rowspan" in row["html"] and "colspan" in row["html"] for row in rows["table_recognition"])
    assert {"\\text" in row["latex"] for row in rows["formula_recognition"]} == {True, False}
    assert {row["subset"] for row in rows["information_extraction"]} == {"HUST-CELL", "Baidu-FEST", "CMB2017"}


def test_boxes_lie_on_red_ink(rows):
    for row in rows["seal_detection"]:
        page = Image.open(FOLDER / row["images"][0]).convert("RGB")
        for box in row["boxes"]:
            left, top, right, bottom = box["bbox"]
            assert 0 <= left < right <= page.width
            assert 0 <= top < bottom <= page.height
            ink = page.crop((left, top, right, bottom)).split()
            redness = [r - g for r, g in zip(ink[0].tobytes(), ink[1].tobytes(), strict=True)]
            assert sum(value > 60 for value in redness) > 0.05 * len(redness)


def test_card_numbers_belong_to_no_card(rows):
    numbers = [row["fields"]["卡号"] for row in rows["information_extraction"] if row["subset"] == "CMB2017"]
    assert len(numbers) == 2
    for number in numbers:
        digits = [int(digit) for digit in number if digit.isdigit()]
        doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
        assert (sum(doubled) + sum(digits[-1::-2])) % 10 != 0


def test_it_is_small(rows):
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 1_200_000
    named = {name for items in rows.values() for row in items for name in row["images"]}
    assert named == {str(file.relative_to(FOLDER)) for file in FOLDER.glob("images/*")}
