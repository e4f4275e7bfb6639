"""The `pubtabnet` variant against the port itself, written again in few lines on lxml and apted."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from apted import APTED, Config
from lxml import html
from rapidfuzz.distance import Levenshtein

from lmms_eval_finance.metrics.table import teds

TABLE = "<table><thead><tr><td>项目</td><td>2023</td></tr></thead><tbody><tr><td>货币资金</td><td>1,2</td></tr></tbody></table>"


class PortNode:
    def __init__(self, element: Any, structure_only: bool) -> None:
        self.kind: tuple[Any, ...] = (element.tag,)
        self.tokens: list[str] = []
        self.children: list[PortNode] = []
        if element.tag == "td":
            self.kind += (int(element.get("colspan", "1")), int(element.get("rowspan", "1")))
            if not structure_only:
                self.tokens = port_tokens(element)[1:-1]
        else:
            self.children = [PortNode(child, structure_only) for child in element]


def port_tokens(element: Any) -> list[str]:
    tokens = [f"<{element.tag}>", *(element.text or "")]
    for child in element:
        tokens += port_tokens(child)
    if element.tag != "unk":
        tokens.append(f"</{element.tag}>")
    if element.tag != "td":
        tokens += element.tail or ""
    return tokens


class PortCosts(Config):  # type: ignore[misc]
    def rename(self, node1: PortNode, node2: PortNode) -> float:
        if node1.kind != node2.kind:
            return 1.0
        return Levenshtein.normalized_distance(node1.tokens, node2.tokens)


def port(gold: str, pred: str, *, structure_only: bool = False) -> float:
    """What the port gives for a wrapped pair; raises what it raises."""
    tables = []
    for text in (gold, pred):
        wrapped = text if "<html" in text else f"<html><body>{text}</body></html>"
        parser = html.HTMLParser(remove_comments=True, encoding="utf-8")
        tables.append(html.fromstring(wrapped, parser=parser).xpath("body/table")[:1])
    if not all(tables):
        return 0.0
    nodes = max(len(table.xpath(".//*")) for (table,) in tables)
    one, other = (PortNode(table, structure_only) for (table,) in tables)
    return 1.0 - APTED(one, other, PortCosts()).compute_edit_distance() / nodes


def test_the_handed_cases(shared_dir: Path) -> None:
    checked = 0
    for line in (shared_dir / "cases" / "tables.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for key, structure_only in (("teds_pubtabnet_wrapped", False), ("s_teds_pubtabnet_wrapped", True)):
            if case[key] is not None:
                score = teds(case["gt"], case["pred"], structure_only=structure_only, variant="pubtabnet")
                assert score == pytest.approx(case[key], abs=1e-9), case["id"]
                checked += 1
    assert checked > 100


# What models and mutations leave behind; the parser has an opinion on each.
PIECES = [
    *"<>&\"'/=|中\n\t",
    *("<td>", "</td>", "<th>", "</th>", "<tr>", "</tr>", "<tbody>", "</tbody>", "<thead>", "</thead>"),
    *("<table>", "</table>", "<html>", "</html>", "<body>", "</body>", "<head>", "</head>", "<tfoot>"),
    *("<td colspan=2>", '<td colspan="3" rowspan=2>', "<td/>", "<td rowspan=' 2 '>", "<td colspan=-1>"),
    *("<b>", "</b>", "<br>", "<br/>", "<p>", "</p>", "<div>", "</div>", "<unk>", "</unk>", "<sup>1</sup>"),
    *("<!--", "-->", "<?xml ?>", "<!DOCTYPE html>", "<![CDATA[x]]>", "<script>", "<style>", "<title>"),
    *("<caption>", "<col>", "<colgroup>", "<form>", "<ul><li>", "<select><option>", "<a href=x>", "<svg>"),
    *("&lt;", "&amp;", "&nbsp;", "&yen;", "&#8212;", "&#0;", "&foo;", "\u3000", "```html\n", "\n```"),
]


def spoiled(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(0, 6)):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.randint(1, 30))
        match rng.randrange(5):
            case 0 | 1:
                text = text[:start] + rng.choice(PIECES) + text[start:]
            case 2:
                text = text[:start] + text[end:]
            case 3:
                text = text[:end] + text[start:end] + text[end:]
            case 4:
                text = text[: max(start, 20)]
    return text


def test_malformed_html_is_read_as_the_port_reads_it() -> None:
    rng = random.Random(1)
    seeds = [
        TABLE,
        f"<html><body>{TABLE}</body></html>",
        f"```html\n{TABLE}\n```",
        TABLE.replace("td>", "th>"),
        TABLE.replace("1,2", "<b>1<sup>2</sup></b>,<table><tr><td>x</td> y</tr></table>"),
        TABLE.replace("<td>1", "<td colspan='2'>1") + TABLE,
    ]
    compared = negative = 0
    for _ in range(1_500):
        gold, pred = spoiled(rng.choice(seeds), rng), spoiled(rng.choice(seeds), rng)
        structure_only = rng.random() < 0.2
        score = teds(gold, pred, structure_only=structure_only, variant="pubtabnet")
        try:
            expected = port(gold, pred, structure_only=structure_only)
        except Exception:  # what the port cannot read, this variant has to survive
            continue
        compared += 1
        negative += expected < 0
        assert score == pytest.approx(expected, abs=1e-9), (gold, pred)
    assert compared > 1_000


FAULTS = {
    "wants html and body": (TABLE, f"<div>{TABLE}</div>", 0.0, 1.0),
    "ignores th content": (
        "<table><tr><th>2023</th></tr></table>",
        "<table><tr><th>1999</th></tr></table>",
        1.0,
        1 - 1 / 2,
    ),
    "ignores th spans": (
        "<table><tr><th colspan=2>a</th><td>b</td></tr></table>",
        "<table><tr><th>a</th><td>b</td></tr></table>",
        1.0,
        1 - 1 / 3,
    ),
    "th is not td": (
        "<table><tr><th>a</th><th>b</th></tr></table>",
        "<table><tr><td>a</td><td>b</td></tr></table>",
        1 - 2 / 3,
        1.0,
    ),
    "fails on fences around html": (TABLE, f"```html\n<html><body>{TABLE}</body></html>\n```", 0.0, 1.0),
    "fails on leading prose": (TABLE, f"Here it is:\n<html><body>{TABLE}</body></html>", 0.0, 1.0),
    "fails on an XML declaration": (
        TABLE,
        f'<?xml version="1.0"?><html><body>{TABLE}</body></html>',
        0.0,
        1.0,
    ),
    "sees only the first table": (
        "<table><tr><td>1</td></tr><tr><td>2</td></tr></table>",
        "<table><tr><td>1</td></tr></table><table><tr><td>2</td></tr></table>",
        1 - 2 / 4,
        1.0,
    ),
    "can be negative": (
        "<table><tbody><tr><th>1</th></tr></tbody></table>",
        "<table><td>1</td><td>2</td><td>3</td></table>",
        1 - 5 / 3,
        0.0,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_and_right_value(fault: str) -> None:
    gold, pred, ported, right = FAULTS[fault]
    assert port(gold, pred) == pytest.approx(ported, abs=1e-12)
    assert teds(gold, pred, variant="pubtabnet") == pytest.approx(ported, abs=1e-12)
    assert teds(gold, pred) == pytest.approx(right, abs=1e-12)


CRASHES = {
    "2px": (
        "<table><tr><td colspan='2'>1</td></tr></table>",
        "<table><tr><td colspan='2px'>1</td></tr></table>",
    ),
    "no number": ("<table><tr><td>1</td></tr></table>", "<table><tr><td rowspan=''>1</td></tr></table>"),
    "1.0": ("<table><tr><td>1</td></tr></table>", "<table><tr><td colspan='1.0'>1</td></tr></table>"),
    "declaration with encoding": (
        TABLE,
        f'<?xml version="1.0" encoding="utf-8"?><html><body>{TABLE}</body></html>',
    ),
    "two empty tables": ("<table></table>", "<table></table>"),
}


@pytest.mark.parametrize("crash", CRASHES)
def test_crash_and_right_value(crash: str) -> None:
    gold, pred = CRASHES[crash]
    with pytest.raises((ValueError, ZeroDivisionError)):
        port(gold, pred)
    assert teds(gold, pred, variant="pubtabnet") == 1.0
    assert teds(gold, pred) == 1.0


@pytest.mark.parametrize("variant", ["default", "pubtabnet"])
@pytest.mark.parametrize(
    "blank", ["", " ", "\n\t", "\x00", "```", "```html\n```", "<html>", "<html", "<!-- <html> -->"]
)
def test_a_text_without_a_table_scores_nothing(blank: str, variant: Any) -> None:
    assert teds(TABLE, blank, variant=variant) == 0.0
    assert teds(TABLE, blank, variant=variant, structure_only=True) == 0.0


def test_a_gold_without_a_table_scores_nothing_in_the_port() -> None:
    assert teds("", TABLE, variant="pubtabnet") == port("", TABLE) == 0.0
