from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.detection import Box, parse_boxes

A, B = (10.0, 20.0, 110.0, 220.0), (300.0, 40.0, 380.0, 120.0)


def read(text: str) -> list[Box]:
    return parse_boxes(text, image_size=(1000, 1000), convention="absolute")


def coordinates(text: str) -> list[tuple[float, float, float, float]]:
    return [box.xyxy for box in read(text)]


def test_handed_cases(shared_dir: Path) -> None:
    script = shared_dir / "cases" / "run.py"
    ran = subprocess.run(
        [sys.executable, str(script), "answers", "--kinds", "bbox_parse"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


ONE_COMPANY_BOX = [
    '[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]',
    '{"bbox_2d": [10, 20, 110, 220], "label": "company"}',
    '```json\n[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]\n```',
    'Here you are:\n```\n[{"bbox": [10.0, 20.0, 110.0, 220.0], "class": "company"}]\n```\nHope this helps, 1 2 3 4.',
    '<think>maybe [1, 2, 3, 4]</think>[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]',
    'maybe [1, 2, 3, 4]</think>[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]',
    '<answer>[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]</answer>',
    '[5,5,9,9] <answer>```json\n[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]\n```</answer>',
    '<|begin_of_box|>[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]<|end_of_box|>',
    '\\boxed{[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]}',
    "[{'bbox_2d': [10, 20, 110, 220], 'label': 'company',},]",
    '[{"bbox_2d": ["10", "20", "110", "220"], "label": "company"}]',
    '[{"bbox_2d": "10, 20, 110, 220", "label": "company"}]',
    '[{"bbox_2d": "[10, 20, 110, 220]", "label": "company"}]',
    '[{"bbox_2d": "(10,20),(110,220)", "label": "company"}]',
    '[{"bbox": "10 20 110 220", "label": "company"}]',
    '[{"bbox": ["10px", "20px", "110px", "220px"], "label": "company"}]',
    '[{"bbox": {"x1": 10, "y1": 20, "x2": 110, "y2": 220}, "label": "company"}]',
    '[{"bbox": {"x": 10, "y": 20, "width": 100, "height": 200}, "label": "company"}]',
    '[{"x": 10, "y": 20, "w": 100, "h": 200, "label": "company"}]',
    '[{"x": "10", "y": "20", "width": "100", "height": "200", "label": "company"}]',
    '[{"xmin": 10, "ymin": 20, "xmax": 110, "ymax": 220, "type": "company"}]',
    '[{"x_min": 10, "y_min": 20, "x_max": 110, "y_max": 220, "category": "company"}]',
    '[{"left": 10, "top": 20, "right": 110, "bottom": 220, "label": "company"}]',
    '[{"left": 10, "top": 20, "width": 100, "height": 200, "label": "company"}]',
    '[{"cx": 60, "cy": 120, "w": 100, "h": 200, "label": "company"}]',
    '[{"x0": 10, "y0": 20, "x1": 110, "y1": 220, "label": "company"}]',
    '[{"top_left": [10, 20], "bottom_right": [110, 220], "label": "company"}]',
    '[{"top_left": {"x": 10, "y": 20}, "bottom_right": {"x": 110, "y": 220}, "label": "company"}]',
    '[{"points": [[10, 20], [110, 220]], "label": "company"}]',
    '[{"polygon": [[10, 20], [110, 20], [110, 220], [10, 220]], "label": "company"}]',
    '[{"quad": [10, 20, 110, 20, 110, 220, 10, 220], "label": "company"}]',
    '[{"bbox": [[10, 20], [110, 220]], "label": "company"}]',
    '[{"bbox": [[10, 20, 110, 220]], "label": "company"}]',
    '[{"bbox_2d": [10, 20, 110, 220, 0.98], "label": "company"}]',
    '{"company": [[10, 20, 110, 220]], "personal": []}',
    '{"company": [10, 20, 110, 220], "personal": null}',
    '{"company": "10,20,110,220", "personal": "none"}',
    '{"company": [{"bbox": [10, 20, 110, 220]}]}',
    '{"seals": {"company": [[10, 20, 110, 220]]}}',
    '{"seals": [{"bbox": [10, 20, 110, 220], "label": "company"}], "count": 1, "image_size": [0, 0, 1000, 1000]}',
    '{"boxes": [[10, 20, 110, 220]], "labels": ["company"]}',
    '[["company", 10, 20, 110, 220]]',
    '[["company", [10, 20, 110, 220]]]',
    '[[[10, 20, 110, 220], "company"]]',
    '{"name": "ACME Ltd", "type": "company", "bbox": [10, 20, 110, 220]}',
    '{"label": "company", "bbox": [10, 20, 110, 220], "confidence": 0.9, "id": 7}',
    '{"bbox_2d": [10, 20, 110, 220], "label": "company", "text_content": "北京 2019"}',
    '{"bbox_2d"：【10，20，110，220】，"label"："company"}',
    r'"[{\"bbox_2d\": [10, 20, 110, 220], \"label\": \"company\"}]"',
    "<ref>company</ref><box>(10,20),(110,220)</box>",
    "<ref>company</ref><box>[[10, 20, 110, 220]]</box>",
    "<|object_ref_start|>company<|object_ref_end|><|box_start|>(10,20),(110,220)<|box_end|>",
    "<|ref|>company<|/ref|><|det|>[[10, 20, 110, 220]]<|/det|>",
    "company: <box>10 20 110 220</box>",
    '<box label="company" x1="10" y1="20" x2="110" y2="220"/>',
    "<p>company</p> <bbox>10, 20, 110, 220</bbox>",
    "The company seal is at [10, 20, 110, 220].",
    "The company seal is at (10, 20, 110, 220) on page 1 of 2.",
    "The company seal reaches from (10, 20) to (110, 220).",
    "company: top-left (10, 20), bottom-right (110, 220)",
    "company:\ntop-left corner: [10, 20]\nbottom-right corner: [110, 220]",
    "company\nx1: 10\ny1: 20\nx2: 110\ny2: 220",
    "company: x_min=10, y_min=20, x_max=110, y_max=220",
    "company: left = 10, top = 20, width = 100, height = 200",
    "company: 10, 20, 110, 220",
    "- company: 10 20 110 220",
    "| company | 10 | 20 | 110 | 220 |",
    "10,20,110,220,company",
    "I first saw [1,2,3,4]. Final answer: company [10, 20, 110, 220]",
    "Maybe (1,2),(3,4).\n最终答案：company (10,20),(110,220)",
    '[[1,2,3,4]] is the first guess. So:\n{"bbox": [10, 20, 110, 220], "label": "company"}',
    '[{"bbox_2d": [10, 20, 110, 220], "label": "company"}, {"bbox_2d": [300, 40',
    '[{"bbox_2d": [10, 20, 110, 220], "label": "company"}, {"bbox_2d": [300, 40, 380',
    '```json\n[{"bbox_2d": [10, 20, 110, 220], "label": "company"}, {"bbox',
    '[{"bbox_2d": [10, 20, 110, 220], "label": "company"}, {"x1": 300, "y1": 40, "x2": 38',
    "<ref>company</ref><box>(10,20),(110,220)</box><ref>personal</ref><box>(300,40),(3",
    '{"bbox": [10, 20, 110, 220], "label": "company" // the round one\n}',
    "{bbox: [10, 20, 110, 220], label: company}",
    '[{"box": [10 20 110 220], "label": "company"}]',
    "bbox_2d: [10, 20, 110, 220]\nlabel: company",
    "label: company\nbbox_2d: [10, 20, 110, 220]",
    "No personal seal. One company seal: [10, 20, 110, 220]",
    "Personal: none. company: [10, 20, 110, 220]",
    "A company and a personal seal? Only the company one: (10, 20, 110, 220)",
    '{"type": "detection", "name": "page.png", "seals": [{"bbox": [10, 20, 110, 220], "label": "company"}]}',
    '{"company": {"boxes_2d": [[10, 20, 110, 220]]}}',
    "<image>\n<seal><label>company</label><xmin>10</xmin><ymin>20</ymin><xmax>110</xmax><ymax>220</ymax></seal>",
]


@pytest.mark.parametrize("text", ONE_COMPANY_BOX)
def test_one_box_in_any_dress(text: str) -> None:
    [box] = read(text)
    assert (box.xyxy, box.label) == (A, "company")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("[[10,20,110,220],[300,40,380,120]]", [None, None]),
        ("```json\n[[10,20,110,220],[300,40,380,120]]\n```", [None, None]),
        ("[10,20,110,220]\n[300,40,380,120]", [None, None]),
        ("[10,20,110,220,300,40,380,120]", [None, None]),
        ('["10,20,110,220", "300,40,380,120"]', [None, None]),
        ("10 20 110 220\n300 40 380 120", [None, None]),
        ("10,20,110,220; 300,40,380,120", [None, None]),
        ('{"name": "page.png", "seals": [[10,20,110,220],[300,40,380,120]]}', [None, None]),
        ('{"label": "stamp x", "boxes": [[10,20,110,220],[300,40,380,120]]}', ["stamp x", "stamp x"]),
        ('{"boxes": [10,20,110,220,300,40,380,120]}', [None, None]),
        ("- bbox: [10,20,110,220]\n  label: company\n- bbox: [300,40,380,120]\n  label: personal", ["company", "personal"]),
        ("- label: company\n  bbox: [10,20,110,220]\n- label: personal\n  bbox: [300,40,380,120]", ["company", "personal"]),
        ("[10,20,110,220] is a company seal, [300,40,380,120] is none of a company but personal", ["company", None]),
        ("1. [10, 20, 110, 220]\n2. [300, 40, 380, 120]", [None, None]),
        ("[[[10,20],[110,220]],[[300,40],[380,120]]]", [None, None]),
        ("[(10,20,110,220),(300,40,380,120)]", [None, None]),
        ("<box>[[10,20,110,220],[300,40,380,120]]</box>", [None, None]),
        ('{"company": [[10,20,110,220]], "personal": [[300,40,380,120]]}', ["company", "personal"]),
        ('{"company": [10,20,110,220], "personal": [300,40,380,120]}', ["company", "personal"]),
        ('{"公司章": [[10,20,110,220]], "个人章": [[300,40,380,120]]}', ["公司章", "个人章"]),
        ('{"company": [[10,20,110,220]], "company": [[300,40,380,120]]}', ["company", "company"]),
        ('{"boxes": [[10,20,110,220],[300,40,380,120]], "labels": ["company", "personal"]}', ["company", "personal"]),
        ('{"company_1": [10,20,110,220], "company_2": [300,40,380,120]}', ["company_1", "company_2"]),
        ('{"label": "company", "boxes": [[10,20,110,220],[300,40,380,120]]}', ["company", "company"]),
        (
            '{"bbox_2d": [10,20,110,220], "label": "公司"}\n{"bbox_2d": [300,40,380,120], "label": "个人"}',
            ["公司", "个人"],
        ),
        (
            '```json\n[{"bbox": [10,20,110,220], "label": "a"}]\n```\n```json\n[{"bbox": [300,40,380,120], "label": "b"}]\n```',
            ["a", "b"],
        ),
        ("Company seal: (10,20),(110,220); personal seal: (300,40),(380,120)", ["Company", "personal"]),
        ("Company seals:\n(10,20),(110,220)\n(300,40),(380,120)", ["Company", "Company"]),
        ("[10,20,110,220] is the company seal, [300,40,380,120] the personal one", ["company", "personal"]),
        ("A company and a personal seal: [10,20,110,220], [300,40,380,120]", [None, None]),
        ("公司章位于（10，20）到（110，220），个人章位于（300，40）到（380，120）。", ["公司", "个人"]),
        ("公司章：左上角(10, 20)，右下角(110, 220)\n个人章：左上角(300, 40)，右下角(380, 120)", ["公司", "个人"]),
        ("Cachet de la société : [10, 20, 110, 220] ; cachet personnel : [300, 40, 380, 120].", ["société", "personnel"]),
        ("x1=10 y1=20 x2=110 y2=220\nx1=300 y1=40 x2=380 y2=120", [None, None]),
        ("company,10,20,110,220\npersonal,300,40,380,120", ["company", "personal"]),
        ("| type | x1 | y1 | x2 | y2 |\n|---|---|---|---|---|\n| company | 10 | 20 | 110 | 220 |\n| personal | 300 | 40 | 380 | 120 |", ["company", "personal"]),
        (
            "<|object_ref_start|>company seal<|object_ref_end|><|box_start|>(10,20),(110,220)<|box_end|>"
            "<|object_ref_start|>personal seal<|object_ref_end|><|box_start|>(300,40),(380,120)<|box_end|>",
            ["company seal", "personal seal"],
        ),
    ],
)  # fmt: skip
def test_two_boxes(text: str, labels: list[str | None]) -> None:
    boxes = read(text)
    assert [box.xyxy for box in boxes] == [A, B]
    assert [box.label for box in boxes] == labels


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "There is no seal in this picture.",
        "图中没有印章。",
        "Aucun cachet n'est visible.",
        "I found 2 seals on page 3 of 4.",
        "The report covers 2019, 2020, 2021, 2022.",
        "Revenue in 2019, 2020, 2021, 2022 rose.",
        "The image is 1000 x 800 pixels.",
        "The image size is [1000, 800].",
        "See note [1] and (2).",
        "[]",
        "{}",
        "null",
        "```json\n[]\n```",
        "```json\n[]\n```\nI looked at (1, 2), (3, 4) and [5, 6, 7, 8].",
        '{"seals": []}',
        '{"company": [], "personal": []}',
        '{"company": 0, "personal": 0}',
        '[{"bbox_2d": null, "label": "none"}]',
        '[{"bbox_2d": [], "label": "company"}]',
        '[{"label": "company"}]',
        "<answer>none</answer> earlier I thought [1, 2, 3, 4]",
        "<think>[[10,20,110,220]]",
        "<think>[[10,20,110,220]]</think>No seal.",
        "<box></box>",
        "[[10, 20",
        '{"bbox": [',
        "Call 010-1234-5678 or 192.168.10.20, version 1.2.3.4",
    ],
)
def test_no_box(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[110,220,10,20]]", (110, 220, 10, 20)),
        ("[[10,20,10,20]]", (10, 20, 10, 20)),
        ("[[0,0,0,0]]", (0, 0, 0, 0)),
        ("[[-10,-20,110,220]]", (-10, -20, 110, 220)),
        ("[[10,20,5000,220]]", (10, 20, 5000, 220)),
        ("[[1e1,2e1,1.1e2,2.2e2]]", A),
        ("[[NaN,20,110,220]]", (math.nan, 20, 110, 220)),
        ("[[10,20,Infinity,220]]", (10, 20, math.inf, 220)),
        ("[[10,20,110]]", (10, 20, 110, math.nan)),
        ('{"bbox": [10, 20]}', (10, 20, math.nan, math.nan)),
        ('{"bbox": [1, 2, 3, 4, 5, 6, 7]}', (math.nan,) * 4),
        ("<box>(10,20)</box>", (10, 20, math.nan, math.nan)),
        ("[[" + "9" * 400 + ",0,1,1]]", (math.inf, 0, 1, 1)),
    ],
)
def test_claims_are_kept_as_stated(text: str, expected: tuple[float, ...]) -> None:
    [box] = read(text)
    assert box.xyxy == pytest.approx(expected, nan_ok=True)
    assert box.valid == (box.xyxy in [A, (-10, -20, 110, 220), (10, 20, 5000, 220)])


def test_conventions() -> None:
    def first(text: str, convention: str) -> tuple[float, ...]:
        [box] = parse_boxes(text, image_size=(2000, 500), model_image_size=(1000, 250), convention=convention)
        return box.xyxy

    assert first("[[10,20,110,220]]", "absolute") == A
    assert first("[[10,20,110,220]]", "model_absolute") == (20, 40, 220, 440)
    assert first("[[10,20,110,220]]", "thousand") == (20, 10, 220, 110)
    assert first("[[0.1,0.2,0.5,0.6]]", "unit") == (200, 100, 1000, 300)


@pytest.mark.parametrize(
    ("box", "image", "model", "expected"),
    [
        ([0.1, 0.2, 0.5, 0.6], (2000, 500), None, (200, 100, 1000, 300)),
        ([0, 0, 1, 1], (2000, 500), None, (0, 0, 2000, 500)),
        ([10, 20, 110, 220], (2000, 500), None, (10, 20, 110, 220)),
        ([10, 20, 110, 505], (2000, 500), None, (10, 20, 110, 505)),
        ([10, 20, 110, 900], (2000, 500), None, (20, 10, 220, 450)),
        ([10, 20, 1500, 900], (2000, 500), None, (10, 20, 1500, 900)),
        ([10, 20, 110, 220], (2000, 500), (1000, 250), (20, 40, 220, 440)),
        ([10, 20, 110, 900], (2000, 500), (1000, 250), (20, 10, 220, 450)),
    ],
)
def test_auto(box: object, image: tuple[int, int], model: tuple[int, int] | None, expected: object) -> None:
    text = json.dumps([box])
    [got] = parse_boxes(text, image_size=image, model_image_size=model, convention="auto")
    assert got.xyxy == expected


def test_auto_without_a_finite_box() -> None:
    assert parse_boxes("[[1,2]]", image_size=(10, 10), convention="auto")[0].valid is False
    assert parse_boxes("none", image_size=(10, 10), convention="auto") == []


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"convention": "pixels"}, "unknown convention 'pixels': use one of absolute"),
        ({"convention": "model_absolute"}, "needs model_image_size"),
        ({"convention": "thousand", "image_size": (0, 5)}, "image_size must be a positive"),
        ({"convention": "auto", "image_size": (0, 5)}, "image_size must be a positive"),
        (
            {"convention": "model_absolute", "model_image_size": (-1, 5)},
            "model_image_size must be a positive",
        ),
    ],
)
@pytest.mark.parametrize("text", ["[[1,2,3,4]]", "no seal"])
def test_wrong_settings_raise_whatever_the_text(
    settings_: dict[str, object], message: str, text: str
) -> None:
    with pytest.raises(ValueError, match=message):
        parse_boxes(text, **{"image_size": (10, 10), **settings_})  # type: ignore[arg-type]


NUMBER = st.integers(-2000, 2000) | st.floats(-2000, 2000).map(lambda x: round(x, 2))
BOXES = st.lists(st.tuples(NUMBER, NUMBER, NUMBER, NUMBER), max_size=5)
LABEL = st.sampled_from(["company", "personal", "公司", "other"])


@given(BOXES, LABEL, st.sampled_from(["bbox_2d", "bbox", "box", "coordinates"]), st.sampled_from([None, 2]))
def test_json_round_trip(boxes: list[tuple[float, ...]], label: str, key: str, indent: int | None) -> None:
    text = json.dumps([{key: list(box), "label": label} for box in boxes], ensure_ascii=False, indent=indent)
    for dressed in (
        text,
        f"```json\n{text}\n```",
        f"<think>[1,2,3,4]</think>\n{text}",
        f"Sure!\n{text}\nDone.",
    ):
        assert read(dressed) == [Box(tuple(map(float, box)), label) for box in boxes]  # type: ignore[arg-type]


@given(BOXES)
def test_tag_round_trip(boxes: list[tuple[float, ...]]) -> None:
    text = "".join(f"<|box_start|>({a},{b}),({c},{d})<|box_end|>" for a, b, c, d in boxes)
    assert coordinates(text) == [tuple(map(float, box)) for box in boxes]


@given(BOXES, st.integers(0, 10_000))
def test_a_cut_answer_gives_no_box_that_was_not_written(boxes: list[tuple[float, ...]], at: int) -> None:
    text = json.dumps([list(box) for box in boxes])
    got = coordinates(text[: at % (len(text) + 1)])
    whole = [tuple(map(float, box)) for box in boxes]
    assert got[:-1] == whole[: max(len(got) - 1, 0)]
    assert not any(math.isnan(edge) for box in got for edge in box)


@settings(max_examples=300)
@given(
    st.text(max_size=300)
    | st.text("[](){}<>|/\"':,. \n0123456789xy=boxlabe", max_size=300)
    | st.lists(st.sampled_from(ONE_COMPANY_BOX), min_size=1, max_size=3).map(" ".join)
)
def test_any_text_is_read(text: str) -> None:
    for box in parse_boxes(text, image_size=(640, 480), convention="auto"):
        assert len(box.xyxy) == 4
        assert all(isinstance(edge, float) for edge in box.xyxy)
        assert box.label is None or isinstance(box.label, str)


HOSTILE = {
    "numbers": "1 " * 5_000,
    "digits": "9" * 10_000,
    "dots": "1." * 5_000,
    "commas": "1," * 5_000,
    "points": "(1,2)" * 2_000,
    "half points": "(1," * 3_300,
    "open": "[" * 10_000,
    "tags": "<box>" * 2_000,
    "tag attributes": "<box " + "a" * 9_990,
    "wrappers": "<answer>" * 1_250,
    "references": "<ref>" * 2_000 + "(1,2),(3,4)",
    "names": "x1=" * 3_300,
    "named numbers": "x1=1 " * 2_000,
    "blanks": " " * 10_000,
    "box and blanks": "company" + " " * 4_900 + "1 2 3 4",
    "labels": "company " * 1_250,
    "colons": ":" * 10_000,
    "lines": "1 2 3\n" * 1_600,
    "rows": "1, 2, 3, 4\n" * 900,
    "signs": "+-" * 5_000,
    "fences": "```json\n" * 1_250,
    "finals": "final answer " * 770,
    "boxed": "\\boxed{" * 1_400,
    "think": "<think>" * 1_400,
    "nulls": "\x00" * 10_000,
    "chinese": "公司章" * 3_300,
    "parallel": '{"labels": [' + '"a",' * 1_000 + '], "boxes": [' + "[1,2,3,4]," * 500,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_read(name: str) -> None:
    read(HOSTILE[name] * 5)
