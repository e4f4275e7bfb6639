from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.tolerant_json import read_json_values

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\\\t\r\b\f\n"))
)
KEYS = st.text(st.characters(categories=["L", "N"], include_characters="_ -"), min_size=1)


def documents(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    nested = st.recursive(
        SCALARS, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=12
    )
    return st.dictionaries(keys, nested, min_size=1) | st.lists(nested, min_size=1)


@given(
    documents(KEYS | SCALARS.filter(lambda s: isinstance(s, str))), st.sampled_from([None, 2]), st.booleans()
)
def test_valid_json_reads_as_the_standard_library_reads_it(
    document: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    (found,) = read_json_values(f"Here it is:\n```json\n{text}\n```")
    assert found.value == document
    assert not found.truncated


def assert_part(part: Any, whole: Any) -> None:
    """Every finished value of the part stands at the same place of the whole."""
    if isinstance(part, dict):
        for key, value in part.items():
            assert_part(value, whole[key])
    elif isinstance(part, list):
        assert len(part) <= len(whole)
        for left, right in zip(part, whole, strict=False):
            assert_part(left, right)
    else:
        assert part == whole


@given(documents(KEYS), st.data())
def test_a_cut_reply_yields_only_what_was_finished(document: Any, data: st.DataObject) -> None:
    text = json.dumps(document, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(text) - 1))
    for found in read_json_values(text[:cut]):
        assert found.truncated
        assert_part(found.value, document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,, ], }', {"a": [1, 2]}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{'a': 'l'option B', 'b': 'd\\'or'}", {"a": "l'option B", "b": "d'or"}),
        ("{“a”：“b”，“c”：1}", {"a": "b", "c": 1}),
        ("{a: b, c: 1,250, d: 5%}", {"a": "b", "c": "1,250", "d": "5%"}),
        ('{"a": 1, // one\n /* two */ "b": 2 # three\n}', {"a": 1, "b": 2}),
        ('{"a": True, "b": None, "c": false}', {"a": True, "b": None, "c": False}),
        ('{"a" = 1, "b" => 2}', {"a": 1, "b": 2}),
        ('{"a": "the "best" one", "b": 2}', {"a": 'the "best" one', "b": 2}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": "b"\n"c": "d" "e": "f"}', {"a": "b", "c": "d", "e": "f"}),
        ('{"a": "b" rubbish, "c": "d"}', {"a": "b", "c": "d"}),
        ('{"a": "b"]', {"a": "b"}),
        ('[{"a": 1}{"b": 2}]', [{"a": 1}, {"b": 2}]),
        ('{"a": }', {"a": None}),
        ('{"a": "\\frac{1}{2} \\times \\text{x}\\nend"}', {"a": "\\frac{1}{2} \\times \\text{x}\nend"}),
        ('{"a": "\\u20ac \\ud83d\\ude00 \\ud800"}', {"a": "€ 😀 \ufffd"}),
        ('{"a": .5, "b": -3., "c": 1e3}', {"a": 0.5, "b": -3.0, "c": 1000.0}),
        ("{A, C}", ["A", "C"]),
        ('```json{"a":1}```', {"a": 1}),
    ],
)
def test_broken_json_is_read_as_meant(text: str, expected: Any) -> None:
    (found,) = read_json_values(text)
    assert found.value == expected
    assert not found.truncated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "x", "b": "y', {"a": "x"}),
        ('{"a": "x", "b": 12', {"a": "x"}),
        ('{"a": "x", "b": 12\n', {"a": "x", "b": 12}),
        ('{"a": "x", "b"', {"a": "x"}),
        ('{"a": "x", "b":', {"a": "x"}),
        ('{"a": "x", ', {"a": "x"}),
        ('{"a": "x"', {"a": "x"}),
        ('{"a": {"b": "c", "d": ["e", "f', {"a": {"b": "c", "d": ["e"]}}),
        ('{"e": "the "best" one whi', {}),
        ("{", {}),
    ],
)
def test_what_was_cut_is_left_out_and_said(text: str, expected: Any) -> None:
    (found,) = read_json_values(text)
    assert found.value == expected
    assert found.truncated


@pytest.mark.parametrize("text", ["", "no json", "\\frac{1}{2}", "x_{1}", "f[0]"])
def test_text_without_json(text: str) -> None:
    assert read_json_values(text) == []


def test_numbers_can_stay_as_written() -> None:
    (found,) = read_json_values('{"a": 1250.00, "b": 1e400, "c": 007}', number=str)
    assert found.value == {"a": "1250.00", "b": "1e400", "c": "007"}


SHREDS = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", '"', "'", ":", ",", "\n", " ", "\\", "a", "1", "//", "/*", "*/", "#", "“", "”"]
    ),
    max_size=60,
).map("".join)


@given(st.text() | SHREDS)
def test_any_text_gives_a_result(text: str) -> None:
    for found in read_json_values(text):
        start, end = found.span
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(
    "shred", ["{", "[", '{"a":', '"a" ', '{"a":"x" ', '" b: ', '{"a":"' + '" "', "}{", "{aaaa ", "{/*", "\\"]
)
def test_depth_and_length_are_bounded(shred: str) -> None:
    read_json_values('{"a": "' + shred * 20_000)
    read_json_values(shred * 20_000)
