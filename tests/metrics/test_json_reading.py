from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.json_reading import (
    MAX_DEPTH,
    fenced_blocks,
    find_json,
    read_json_object,
)


def values(text: str) -> list[object]:
    return [found.value for found in find_json(text)]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
CONTAINER = st.recursive(
    st.lists(SCALAR, max_size=4) | st.dictionaries(TEXT, SCALAR, max_size=4),
    lambda inner: st.lists(inner | SCALAR, max_size=4) | st.dictionaries(TEXT, inner | SCALAR, max_size=4),
    max_leaves=15,
)


@given(CONTAINER, st.booleans(), st.sampled_from([None, 0, 2]))
def test_valid_json_reads_as_the_standard_library_reads_it(
    value: object, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert values(text) == [json.loads(text)]


@given(CONTAINER)
def test_python_literals_read_as_their_values(value: object) -> None:
    # repr escapes what JSON does not know (\x.., \U........); those stay as written
    text = repr(value)
    if "\\" not in text and "inf" not in text and '"' not in text:
        assert values(text) == [value]


def is_part(part: object, whole: object) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_part, part, whole))
    return part == whole


@given(CONTAINER, st.integers(min_value=0))
def test_a_cut_text_gives_only_what_was_finished(value: object, at: int) -> None:
    text = json.dumps(value)
    for found in find_json(text[: at % len(text)]):
        assert is_part(found.value, json.loads(text))
        assert not found.closed


@settings(max_examples=300)
@given(st.text(max_size=200) | st.text("[]{}()\"'\\,:：，“” \nab01.-/*#", max_size=200))
def test_any_text_is_read_and_found_ranges_are_in_order(text: str) -> None:
    position = 0
    for found in find_json(text):
        assert position <= found.start < found.end <= len(text)
        position = found.end
        json.dumps(found.value)
    read_json_object(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1,}', [{"a": 1}]),
        ("[1, 2, ]", [[1, 2]]),
        ('{"a": 1 "b": 2}', [{"a": 1, "b": 2}]),
        ('{"a": "x" "b": "y"}', [{"a": "x", "b": "y"}]),
        ('{"a": "x"\n "b": "y"}', [{"a": "x", "b": "y"}]),
        ("{'a': 'it''s', 'b': True, 'c': None}", [{"a": "it''s", "b": True, "c": None}]),
        ("{'adresse': 'rue de l'église', 'b': 2}", [{"adresse": "rue de l'église", "b": 2}]),
        ('{"a": "the "Big" one", "b": 2}', [{"a": 'the "Big" one', "b": 2}]),
        ("{“名称”：“甲公司”，“金额”：“12”}", [{"名称": "甲公司", "金额": "12"}]),
        ('{"名称"："甲，乙公司"，"金额"：12}', [{"名称": "甲，乙公司", "金额": 12}]),
        ("{name: tea house, price: 3.5}", [{"name": "tea house", "price": 3.5}]),
        ('{"total": 1,234.50, "n": 2}', [{"total": "1,234.50", "n": 2}]),
        ('{"total": 12.50 EUR}', [{"total": "12.50 EUR"}]),
        ('{"no": 00123}', [{"no": "00123"}]),
        ('{"a": [(1, 2), (3, 4)]}', [{"a": [[1, 2], [3, 4]]}]),
        ("[10 20 30]", [[10, 20, 30]]),
        ('{"a": 1, // one\n "b": 2 /* two */, # three\n "c": 3}', [{"a": 1, "b": 2, "c": 3}]),
        ('{"a": 1, ...}', [{"a": 1}]),
        ('{{"a": 1}}', [{"a": 1}]),
        ('{"a": {"b": 1]', [{"a": {"b": 1}}]),
        ('{"a": [1, 2}', [{"a": [1, 2]}]),
        ('{"a": , "b": 2}', [{"a": None, "b": 2}]),
        ('{"a": ', []),
        ('{"a": 1, "b', [{"a": 1}]),
        ('{"a": "xy', []),
        ("{}", [{}]),
        ("text { } text", [{}]),
        (r"\frac{a}{b}", []),
        ("{see above}", []),
        ("{A, C}", [["A", "C"]]),
        ("{10, 20}", [[10, 20]]),
        ('{"a": "b" rubbish, "c": "d"}', [{"a": "b", "c": "d"}]),
        ('[{"a": 1}{"b": 2}]', [[{"a": 1}, {"b": 2}]]),
        ("{a: b, c: 1,250, d: 5%}", [{"a": "b", "c": "1,250", "d": "5%"}]),
        ("{city: Paris, France, n: 2}", [{"city": "Paris, France", "n": 2}]),
        ('{"a" = 1, "b" => 2}', [{"a": 1, "b": 2}]),
        ('{"a": 1, 2: 3}', [{"a": 1, "2": 3}]),
        ('{"a": "two\nlines"}', [{"a": "two\nlines"}]),
        (
            r'{"a": "\frac{1}{2} \times \text{x}\nend \tab"}',
            [{"a": "\\frac{1}{2} \\times \\text{x}\nend \tab"}],
        ),
        ("{", []),
        ("", []),
        (r'{"a": "\u4f60\ud83d\ude00\ud83d"}', [{"a": "你😀\ufffd"}]),
        (r'{"a": "C:\data\q"}', [{"a": "C:\\data\\q"}]),
    ],
)
def test_what_models_write(text: str, expected: object) -> None:
    assert values(text) == expected


def test_numbers_beyond_any_range_stay_numbers() -> None:
    [[huge, tiny, nan, endless]] = values("[" + "9" * 5000 + ", 1e-999, NaN, -Infinity]")
    assert huge == math.inf
    assert tiny == 0
    assert math.isnan(nan)
    assert endless == -math.inf


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[1, 2], [3, 4", [[1, 2], [3]]),
        ("[1, 2 ", [1, 2]),
        ('{"a": "x", "b": 12', {"a": "x"}),
        ('{"a": "x", "b": 12\n', {"a": "x", "b": 12}),
        ('{"a": "x", "b": tru', {"a": "x"}),
        ('{"a": "x", "b": "y', {"a": "x"}),
        ('{"a": "x", "b":', {"a": "x"}),
        ('{"a": "x", "b', {"a": "x"}),
        ('{"a": {"b": "c", "d": ["e", "f', {"a": {"b": "c", "d": ["e"]}}),
    ],
)
def test_what_was_cut_is_left_out_and_said(text: str, expected: object) -> None:
    [found] = find_json(text)
    assert found.value == expected
    assert not found.closed
    assert [whole.closed for whole in find_json("[1] {}")] == [True, True]


def test_numbers_can_stay_as_written() -> None:
    [found] = find_json('{"a": 1250.00, "b": [1e400, 007]}', parse_number=str)
    assert found.value == {"a": "1250.00", "b": ["1e400", "007"]}


def test_nesting_is_bounded() -> None:
    [*_, value] = values("[" * 5000)
    depth = 0
    while value:
        [value], depth = value, depth + 1
    assert depth < MAX_DEPTH


def test_all_pairs_reach_the_hook() -> None:
    [found] = find_json('{"a": 1, "a": 2}', object_pairs_hook=tuple)
    assert found.value == (("a", 1), ("a", 2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<think>{"a": 1, "b": 2}</think>{"a": 3}', {"a": 3}),
        ('Draft {"a": 1}, final {"a": 2}', {"a": 2}),
        ('{"a": 1, "b": 2, "c": 3}\n```json\n{"a": 2}\n```', {"a": 2}),
        ('```json\n{"a": "x", "b": "y', {"a": "x"}),
        ('[{"a": 1}]', {"a": 1}),
        (r'"{\"a\": \"b\"}"', {"a": "b"}),
        (r"{\"a\": \"b\"}", {"a": "b"}),
        ("[1, 2]", None),
        ("<think>{", None),
        ("", None),
    ],
)
def test_the_answer_object(text: str, expected: object) -> None:
    assert read_json_object(text) == expected


def test_fences_in_any_dress() -> None:
    assert fenced_blocks("```JSON\r\n[1]```~~~\n[2]\n~~~ ```json [3]") == ["[1]", "[2]\n", "[3]"]
    assert fenced_blocks("none") == []


HOSTILE = {
    "open arrays": "[" * 10_000,
    "open objects": "{" * 10_000,
    "nested keys": '{"a":' * 2_000,
    "lone keys": '{"a" ' * 2_000,
    "inner quotes": '{"a": "' + 'x" ' * 3_300,
    "single quotes": "{'a': '" + "x' " * 3_300,
    "quotes and blanks": '{"a": "' + ('"' + " " * 99) * 100,
    "blanks": "[" + " " * 9_999,
    "closers": "[[" + "})" * 5_000,
    "commas": "[" + "," * 9_999,
    "comments": "[" + "/*" * 5_000,
    "slashes": "[" + "/" * 9_999,
    "backslashes": '["' + "\\" * 9_998,
    "digits": "[" + "9" * 9_999,
    "keys without colon": "{" + "a, " * 3_300,
    "pairs of quotes": "{" + '"" ' * 3_300,
    "fences": "```" * 3_300,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_read(name: str) -> None:
    # quadratic work would show here as minutes
    for _ in find_json(HOSTILE[name] * 20):
        pass
