from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.fields import (
    MAX_PAIRS,
    FieldCounts,
    count_fields,
    field_f1,
    normal_value,
)


def f1(gold: Any, pred: Any, variant: Any = "default", keys: list[str] | None = None) -> float | None:
    return field_f1([gold], [pred], variant, keys=None if keys is None else [keys]).f1


# --- a naive scorer: every pairing of rows is tried


def naive_size(value: Any, top: bool = True) -> int:
    if value in ({}, [], None, "") and not isinstance(value, bool | int):
        return 0 if top else 1
    if isinstance(value, dict):
        return sum(naive_size(member, False) for member in value.values())
    if isinstance(value, list):
        return sum(naive_size(item, False) for item in value)
    return 1


def naive_matched(gold: Any, pred: Any) -> int:
    def plain(value: Any) -> Any:
        return None if value in ("", {}, []) and not isinstance(value, bool | int) else value

    gold, pred = plain(gold), plain(pred)
    if isinstance(gold, list) or isinstance(pred, list):
        gold = gold if isinstance(gold, list) else [gold]
        pred = pred if isinstance(pred, list) else [pred]
        few, many = sorted((gold, pred), key=len)
        return max(
            sum(naive_matched(a, b) for a, b in zip(few, chosen, strict=True))
            for chosen in permutations(many, len(few))
        )
    if isinstance(gold, dict) and isinstance(pred, dict):
        return sum(naive_matched(value, pred[key]) for key, value in gold.items() if key in pred)
    return int(type(gold) is type(pred) and gold == pred)


LEAF = st.sampled_from(["a", "b", "c", None, "", True, 0, 1])
TREE = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "z"]), inner, max_size=3)
    ),
    max_leaves=10,
)
DOCUMENT = st.dictionaries(st.sampled_from(["x", "y", "z"]), TREE, max_size=3)


@settings(max_examples=300)
@given(DOCUMENT, DOCUMENT)
def test_agrees_with_the_definition(gold: Any, pred: Any) -> None:
    counts = count_fields(gold, pred)
    assert (counts.gold, counts.predicted) == (naive_size(gold), naive_size(pred))
    expected = naive_matched(gold, pred) if gold and pred else 0
    assert counts.matched == expected


def shuffled(value: Any, random: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: shuffled(member, random) for key, member in random.sample(list(value.items()), len(value))
        }
    if isinstance(value, list):
        return random.sample([shuffled(item, random) for item in value], len(value))
    return value


@given(DOCUMENT, DOCUMENT, st.randoms(use_true_random=False))
def test_symmetry_identity_and_order(gold: Any, pred: Any, random: Any) -> None:
    counts = count_fields(gold, pred)
    assert 0 <= counts.matched <= min(counts.gold, counts.predicted)
    other = count_fields(pred, gold)
    assert (other.matched, other.gold, other.predicted) == (counts.matched, counts.predicted, counts.gold)
    assert count_fields(shuffled(gold, random), shuffled(pred, random)) == counts
    assert f1(gold, gold) == 1
    assert f1(gold, shuffled(gold, random)) == 1


@given(st.lists(st.tuples(DOCUMENT, DOCUMENT), min_size=1, max_size=4))
def test_documents_are_pooled(pairs: list[tuple[Any, Any]]) -> None:
    golds, preds = map(list, zip(*pairs, strict=True))
    scores = field_f1(golds, preds)
    parts = [count_fields(*pair) for pair in pairs]
    assert scores.counts.matched == sum(part.matched for part in parts)
    assert scores.counts == field_f1(golds[::-1], preds[::-1]).counts
    assert scores.documents == len(pairs)


# --- what Donut's evaluator loses; the value of the variant, then the right one

ROWS = [{"name": "tea", "price": "3"}, {"name": "cake", "price": "4"}]
SWAPPED = [{"name": "tea", "price": "4"}, {"name": "cake", "price": "3"}]


@pytest.mark.parametrize(
    ("gold", "pred", "donut", "default"),
    [
        pytest.param({"items": ROWS}, {"items": SWAPPED}, 1, 0.5, id="swapped prices"),
        pytest.param({"items": ROWS}, {"items": ROWS[::-1]}, 1, 1, id="rows in another order"),
        pytest.param({"a": 0, "b": "x"}, {"b": "x"}, 1, 2 / 3, id="zero is dropped"),
        pytest.param({"a": False, "b": "x"}, {"b": "x"}, 1, 2 / 3, id="false is dropped"),
        pytest.param({"a": "", "b": "x"}, {"b": "x"}, 1, 2 / 3, id="empty text is dropped"),
        pytest.param({"a": None, "b": "x"}, {"b": "x"}, 1, 2 / 3, id="null is dropped"),
        pytest.param({"a": [["x"], ["y"]], "b": "z"}, {"b": "z"}, 1, 1 / 2, id="nested arrays are lost"),
        pytest.param({"a": {"b": "x"}}, {"a.b": "x"}, 1, 0, id="dots collide with nesting"),
        pytest.param({"a": 1.0}, {"a": "1"}, 0, 1, id="1.0 differs from 1"),
        pytest.param({"a": "1,234.50"}, {"a": 1234.5}, 0, 1, id="numbers by spelling"),
        pytest.param({"a": "2024年1月5日"}, {"a": "2024-01-05"}, 0, 1, id="dates by spelling"),
        pytest.param({"a": "ＡＢ（１）"}, {"a": "AB(1)"}, 0, 1, id="width"),
        pytest.param({}, {}, 1, 1, id="two empty objects, a division by zero in the original"),
        pytest.param({"a": None}, {"b": ""}, 1, 0, id="two that it takes for empty"),
        pytest.param({"a": "x"}, {"a": "x"}, 1, 1, id="equal"),
        pytest.param({"a": "x", "b": "y"}, {"a": "x"}, 2 / 3, 2 / 3, id="missing"),
        pytest.param({"a": "x"}, {"a": "x", "b": "y"}, 2 / 3, 2 / 3, id="surplus"),
        pytest.param({"a": "x"}, {"a": "y"}, 0, 0, id="wrong"),
        pytest.param({"a": ["x", "x"]}, {"a": ["x"]}, 2 / 3, 2 / 3, id="repeated value"),
        pytest.param({"a": "x"}, None, 0, 0, id="unreadable"),
    ],
)
def test_donut_and_default(gold: Any, pred: Any, donut: float, default: float) -> None:
    assert f1(gold, pred, "donut") == pytest.approx(donut)
    assert f1(gold, pred) == pytest.approx(default)


def test_donut_counts_mixed_arrays_as_the_original_does() -> None:
    # an array with an object in it keeps only its texts and numbers, 0 included, truth values not
    counts = count_fields(
        {"a": ["x", {"b": "y"}, 0, True, " "]}, {"a": ["0", "x "]}, variant="donut"
    )  # fmt: skip
    assert (counts.matched, counts.gold, counts.predicted) == (2, 2, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        ("1", 1),
        ("1.50", 1.5),
        ("1,234", 1234),
        ("1 234,50", 1234.5),
        ("1.234,50", "1,234.50"),
        ("12,5", 12.5),
        ("１２．５", 12.5),
        ("-5", -5),
        ("−5.0", "-5"),
        ("(1,234.50)", -1234.5),
        ("+5", 5),
        ("¥1,000.00", "¥1000"),
        ("￥1000", "¥1,000"),
        ("100.00元", "100元"),
        ("12.50 %", "12.5%"),
        ("USD 5.00", "USD5"),
        ("5.0 kg", "5kg"),
        (".5", "0.5"),
        ("2024-01-05", "2024/1/5"),
        ("2024年1月5日", "2024.01.05"),
        ("5 January 2024", "Jan 5, 2024"),
        ("5 janvier 2024", "2024-01-05"),
        ("25/12/2024", "2024-12-25"),
        ("2024-01-05 12:30", "2024/1/5 12:30:00"),
        ("2024-01-05T12:30:00", "2024-01-05 12:30"),
        ("ＡＣＭＥ　Ltd", "ACME Ltd"),
        ("北京 某某\n公司", "北京某某公司"),
        ("True", True),
        ("", None),
        (" ", []),
        ({}, None),
        (["x"], "x"),
    ],
)
def test_equal_values(one: Any, other: Any) -> None:
    assert f1({"a": one}, {"a": other}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "2"),
        ("1,234", 1.234),
        ("0012", "12"),
        ("007", 7),
        ("$5", "€5"),
        ("$5", "5"),
        ("5%", "5"),
        ("5", "-5"),
        (1, True),
        (0, False),
        (0, ""),
        (False, ""),
        (0, None),
        ("2024-01-05", "2024-01-06"),
        ("2024-01-05 12:30", "2024-01-05"),
        ("2024-01-05 12:30", "2024-01-05 12:31"),
        ("ABC", "abc"),
        ("A B", "AB"),
        ("x", ["x", "y"]),
        ("v1.10", "v1.1"),
        ("192.168.1.10", "192.168.1.1"),
        ("NaN", 0),
        ({"b": "x"}, "x"),
    ],
)
def test_unequal_values(one: Any, other: Any) -> None:
    assert (f1({"a": one}, {"a": other}) or 0) < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Invoice No.", "invoice_no."),
        ("发票 号码：", "发票号码"),
        ("Total-Amount", "totalAmount"),
        ("ＩＤ", "id"),
    ],
)
def test_keys_by_their_letters(one: str, other: str) -> None:
    assert f1({one: "x"}, {other: "x"}) == 1


def test_two_spellings_of_one_key_are_two_rows() -> None:
    assert f1({"a": ["x", "y"]}, {"a": "x", "A": "y"}) == 1


def test_rows_within_rows() -> None:
    gold = {"pages": [{"no": 1, "items": ROWS}, {"no": 2, "items": ["x", "y"]}]}
    pred = {"pages": [{"no": 2, "items": ["y", "x"]}, {"no": 1, "items": SWAPPED}]}
    assert count_fields(gold, pred) == FieldCounts(matched=6, gold=8, predicted=8)


def test_the_best_pairing_of_rows_is_found_where_greed_is_not_enough() -> None:
    gold = [{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1, "c": 2}]
    pred = [{"a": 1, "b": 1, "c": 3}, {"a": 9, "b": 1, "c": 1}]
    # pairing the first rows takes 2 and leaves 1; crossing takes 2 and 2
    assert count_fields({"rows": gold}, {"rows": pred}).matched == 4


def test_constrained_and_open() -> None:
    gold, pred = {"date": "x", "total": "5"}, {"Date": "x", "total": "6", "note": "y"}
    assert f1(gold, pred) == pytest.approx(2 / 5)
    assert f1(gold, pred, keys=["date", "total"]) == pytest.approx(1 / 2)
    assert f1(gold, pred, keys=["date"]) == 1
    assert f1({}, {"note": "y"}, keys=["date"]) == 1
    mixed = field_f1([gold, gold], [pred, pred], keys=[["date"], None])
    assert mixed.counts == FieldCounts(matched=2, gold=3, predicted=4)


@pytest.mark.parametrize("variant", ["default", "donut"])
def test_nothing_has_a_defined_score(variant: Any) -> None:
    none = field_f1([], [], variant)
    assert (none.f1, none.precision, none.recall, none.documents) == (None, None, None, 0)
    empty = field_f1([{}], [None], variant)
    assert (empty.f1, empty.precision, empty.recall) == (1, 1, 1)
    invented = field_f1([{}], [{"a": "x"}], variant)
    assert (invented.f1, invented.precision, invented.recall) == (0, 0, 1)
    missed = field_f1([{"a": "x"}], [{}], variant)
    assert (missed.f1, missed.precision, missed.recall) == (0, 0, 0)


def test_precision_and_recall() -> None:
    scores = field_f1([{"a": "x", "b": "y", "c": "z"}], [{"a": "x", "b": "q"}])
    assert scores.precision == 1 / 2
    assert scores.recall == 1 / 3
    assert scores.f1 == pytest.approx(2 * (1 / 2 * 1 / 3) / (1 / 2 + 1 / 3))


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown variant 'cord': use default or donut"):
        field_f1([{}], [{}], "cord")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 gold documents, 2 predictions"):
        field_f1([{}], [{}, {}])
    with pytest.raises(ValueError, match="2 lists of keys"):
        field_f1([{}], [{}], keys=[[], []])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200)
@given(JSON, JSON)
def test_any_json_is_scored(gold: Any, pred: Any) -> None:
    for variant in ("default", "donut"):
        counts = count_fields(gold, pred, variant=variant)  # type: ignore[arg-type]
        assert 0 <= counts.f1 <= 1
        assert count_fields(gold, gold, variant=variant).f1 == 1  # type: ignore[arg-type]


@given(st.text(max_size=70) | st.text("0123456789.,-+ ()¥$%年月日:/", max_size=20))
def test_any_value_has_a_normal_form(text: str) -> None:
    assert normal_value(text) == normal_value(f" {text} ")
    hash(normal_value(text))


def test_large_documents_are_bounded() -> None:
    rows = [{"n": i, "m": i % 7} for i in range(900)]
    assert f1({"rows": rows}, {"rows": rows[::-1]}) == 1
    side = int(MAX_PAIRS**0.5) + 1
    many = {"rows": [{"n": i} for i in range(side)]}
    counts = count_fields(many, many)
    assert counts == FieldCounts(matched=0, gold=side, predicted=side, over_limit=1)
    assert f1({"values": list(range(5 * side))}, {"values": list(range(5 * side))}) == 1
    nested = {"rows": [{"n": [{"a": 1, "b": i}]} for i in range(200)]}
    assert count_fields(nested, nested).over_limit == 1
    deep: Any = "x"
    for _ in range(400):
        deep = {"a": [deep]}
    assert f1(deep, deep) == 1
    assert f1(deep, json.loads(json.dumps(deep)), "donut") == 1
