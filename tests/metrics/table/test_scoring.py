"""Values, limits, outcomes and batches."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.table import VERSIONS, TedsLimit, teds, teds_batch
from lmms_eval_finance.metrics.table.elements import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, MAX_TOKENS


def table(*rows: str) -> str:
    """A table of these rows, cells separated by bars."""
    cells = ("".join(f"<td>{cell}</td>" for cell in row.split("|")) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


GOLD = table("项目|2023", "货币资金|1,234")


@pytest.mark.parametrize(
    ("gold", "pred", "content", "structure"),
    [
        (GOLD, GOLD, 1, 1),
        # One of five characters in one of six nodes.
        (GOLD, table("项目|2023", "货币资金|1,235"), 1 - 1 / 5 / 6, 1),
        # A row with two cells is missing; then it is too much.
        (GOLD, table("项目|2023"), 1 - 3 / 6, 1 - 3 / 6),
        (table("项目|2023"), GOLD, 1 - 3 / 6, 1 - 3 / 6),
        # A cell is missing.
        (GOLD, table("项目|2023", "货币资金"), 1 - 1 / 6, 1 - 1 / 6),
        # A span makes another node.
        (table("a|b"), "<table><tr><td>a</td><td colspan=2>b</td></tr></table>", 1 - 1 / 3, 1 - 1 / 3),
        (table("a|b"), "<table><tr><td>a</td><td rowspan=2>b</td></tr></table>", 1 - 1 / 3, 1 - 1 / 3),
        # A section comes in between; its rows stay.
        (GOLD, GOLD.replace("<table>", "<table><tbody>"), 1 - 1 / 7, 1 - 1 / 7),
        # An inline tag is two tokens of three and one node of three.
        (table("a|b"), table("a|<b>b</b>"), 1 - 2 / 3 / 4, 1),
        # All cells empty against none.
        (table("|"), "<table></table>", 0, 0),
        # Nothing in common but the table: clamped.
        ("<table><tbody><tr><td>1</table>", "<table><i></i><i></i><i></i></table>", 0, 0),
        (table("a"), table("b"), 1 - 1 / 2, 1),
        (table(""), table("b"), 1 - 1 / 2, 1),
    ],
)
def test_values(gold: str, pred: str, content: float, structure: float) -> None:
    for engine in ("zhang-shasha", "apted"):
        assert teds(gold, pred, engine=engine) == pytest.approx(content, abs=1e-9)
        assert teds(gold, pred, engine=engine, structure_only=True) == pytest.approx(structure, abs=1e-9)


CELLS = st.text(st.sampled_from("12,.-% 合计ab") | st.characters(codec="utf-8"), max_size=6)
PIECES = st.lists(
    st.one_of(
        CELLS,
        st.sampled_from(
            [
                "<table>",
                "</table>",
                "<tr>",
                "</tr>",
                "<td>",
                "</td>",
                "<th>",
                "<thead>",
                "<tbody>",
                "</tbody>",
                "<b>",
                "</b>",
                "<br>",
                "<!--",
                "-->",
                "```",
                "|",
                "\n",
            ]
        ),
        st.builds("<td colspan='{}' rowspan={}>".format, CELLS, CELLS),
    ),
    max_size=25,
)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """HTML of a table of any cells, some with spans or inline tags."""
    kinds = st.sampled_from(["<td>{}</td>", "<th>{}</th>", "<td colspan=2>{}</td>", "<td><b>{}</b></td>"])
    cell = st.builds(lambda kind, text: kind.format(text.replace("<", "&lt;")), kinds, CELLS)
    rows = draw(st.lists(st.lists(cell, max_size=4).map("".join), max_size=5))
    html = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>{draw(st.sampled_from(['{}', '<tbody>{}</tbody>'])).format(html)}</table>"


@settings(max_examples=150, deadline=None)
@given(tables(), tables())
def test_range_identity_symmetry_and_engines(first: str, second: str) -> None:
    score, structure = teds(first, second), teds(first, second, structure_only=True)
    assert 0 <= score <= structure <= 1
    assert teds(first, first) == teds(second, second) == 1
    assert teds(second, first) == pytest.approx(score, abs=1e-9)
    assert teds(first, second, engine="apted") == pytest.approx(score, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(PIECES.map("".join), st.booleans())
def test_any_prediction_yields_a_score(pred: str, structure_only: bool) -> None:
    assert 0 <= teds(GOLD, pred, structure_only=structure_only) <= 1
    assert teds(GOLD, pred, structure_only=structure_only, variant="pubtabnet") <= 1


def test_more_damage_never_raises_the_score() -> None:
    rng = random.Random(0)
    rows = [[f"{rng.random() * 1e6:,.2f}" for _ in range(5)] for _ in range(12)]
    gold = table(*map("|".join, rows))
    scores = []
    for _ in range(20):
        scores.append(teds(gold, table(*map("|".join, rows))))
        rows[rng.randrange(12)][rng.randrange(5)] = "" if rng.random() < 0.5 else "合计"
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1 > scores[-1]


OVER_A_CAP = {
    "characters": "x" * (MAX_CHARACTERS + 1),
    "elements": "<table>" + "<tr>" * (MAX_NODES + 1),
    "elements in cells": "<table><td>" + "<br>" * MAX_NODES,
    "elements of many tables": "<table><tr><td>1</table>" * (MAX_NODES // 2 + 1),
    "rows of Markdown": "|a|\n" * (MAX_NODES // 2 + 1),
    "characters in cells": f"<table><td>{'x' * (MAX_TOKENS + 1)}",
    "characters in cells when evened out": f"<table><td>{chr(0xFDFA) * (MAX_TOKENS // 18 + 1)}",
    "depth": "<table>" + "<div>" * MAX_DEPTH,
    "depth in a cell": "<table><td>" + "<b>" * MAX_DEPTH,
    "kinds of elements": "<table><td>" + "".join(f"<x{number}></x{number}>" for number in range(1_025)),
}


@pytest.mark.parametrize("cap", OVER_A_CAP)
def test_over_a_cap_there_is_an_outcome_and_no_number(cap: str) -> None:
    text = OVER_A_CAP[cap]
    with pytest.raises(TedsLimit) as limit:
        teds(GOLD, text)
    assert limit.value.outcome is Outcome.TIMED_OUT
    with pytest.raises(TedsLimit, match="gold") as limit:
        teds(text, GOLD)
    assert limit.value.outcome is Outcome.GOLD_UNUSABLE
    assert teds_batch([(GOLD, text), (text, GOLD)]) == [Outcome.TIMED_OUT, Outcome.GOLD_UNUSABLE]


def test_just_below_the_caps_there_is_a_number() -> None:
    rows = ["|".join(["1"] * 11)] * (MAX_NODES // 12)
    assert teds(table(*rows), table(*rows[1:])) == pytest.approx(1 - 1 / len(rows))
    assert teds(table("x"), table("x" * MAX_TOKENS)) == pytest.approx(1 / 2, abs=1e-5)
    assert teds(GOLD, " " * (MAX_CHARACTERS - len(GOLD)) + GOLD) == 1


# Each of these took, or would take, time quadratic in its length somewhere on the way to a score.
UNTIRING = {
    "attributes": "<table><tr><td " + " ".join(f"a{number}=1" for number in range(100_000)) + ">1",
    "digits": f"<table><tr><td colspan={'9' * 1_000_000}>1",
    "combining marks": "<table><tr><td>a" + "\u0301\u0323" * 140_000,
    "closing tags under open ones": "<div>" * 100_000 + "</p></b></i>" * 80_000 + "<table><td>1",
    "nested tables": "<table>" * 250_000,
    "table tags after open elements": "<div>" * 100_000 + "<table></table>" * 60_000,
    "declaration": f"<?xml {'encoding=' * 200_000}<table><td>1",
    "open comment": f"<table><tr><td><!--{'-' * 1_000_000}",
    "pipes": "|" * 1_900_000,
    "backslashes": "\\|" * 900_000 + "\n|-|",
    "blanks": "<table><td>" + " <b> </b>" * 1_000 + " " * 1_800_000,
    "thinking": "<think>" * 250_000 + "<table><td>1",
    "ampersands": "<table><tr><td>" + "&" * 250_000,
}


@pytest.mark.parametrize("variant", ["default", "pubtabnet"])
@pytest.mark.parametrize("case", UNTIRING)
def test_hostile_texts_come_back(case: str, variant: Any) -> None:
    result = teds_batch([(GOLD, UNTIRING[case])], variant=variant)[0]
    assert result is Outcome.TIMED_OUT or (isinstance(result, float) and result <= 1)


def sprawling(seed: int) -> str:
    """A table whose tree costs the programme most: deep, with something on either side at every level."""
    rng = random.Random(seed)
    deep = (
        "".join(f"<{rng.choice('bi')}></{rng.choice('bi')}><div>" for _ in range(100)) + "<i></i></div>" * 100
    )
    return f"<table>{deep * 10}</table>"


@pytest.mark.parametrize("engine", ["zhang-shasha", "apted"])
def test_the_time_limit_holds_in_any_thread(engine: Any) -> None:
    gold, pred = sprawling(1), sprawling(2)
    if engine == "apted":
        gold, pred = gold[: len(gold) // 6], pred[: len(pred) // 6]

    def timed() -> tuple[float | Outcome, float]:
        start = time.monotonic()
        result = teds_batch([(gold, pred)], engine=engine, time_limit=0.3)[0]
        return result, time.monotonic() - start

    with ThreadPoolExecutor(1) as pool:
        result, seconds = pool.submit(timed).result()
    assert result is Outcome.TIMED_OUT
    assert seconds >= 0.3


def test_gold_without_a_table_is_unusable() -> None:
    with pytest.raises(TedsLimit, match="gold: no table") as limit:
        teds("see appendix", GOLD)
    assert limit.value.outcome is Outcome.GOLD_UNUSABLE


def test_batch_is_each_pair_in_order_whatever_the_number_of_processes() -> None:
    preds = [GOLD, "", table("项目|2024", "货币资金|1,234"), "x" * (MAX_CHARACTERS + 1), table("a")]
    pairs = [(GOLD, pred) for pred in preds] + [("no table", GOLD)]
    results = teds_batch(pairs)
    assert results == [teds(*pair) for pair in pairs[:3]] + [
        Outcome.TIMED_OUT,
        results[4],
        Outcome.GOLD_UNUSABLE,
    ]
    assert teds_batch(iter(pairs), n_jobs=2) == results
    assert teds_batch([]) == []
    structure = teds_batch(pairs, structure_only=True, variant="pubtabnet", engine="apted")
    assert structure[2] == 1.0
    assert structure[5] == 0.0


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown variant 'docling': use 'default' or 'pubtabnet'"):
        teds(GOLD, GOLD, variant="docling")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown engine 'x-ted': use 'zhang-shasha' or 'apted'"):
        teds_batch([], engine="x-ted")  # type: ignore[arg-type]


def test_every_variant_has_a_version() -> None:
    for variant in VERSIONS:
        assert teds(GOLD, GOLD, variant=variant) == 1
