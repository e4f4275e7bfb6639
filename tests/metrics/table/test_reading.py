"""What the default variant takes for the table in a response."""

from __future__ import annotations

import json

import pytest

from lmms_eval_finance.metrics.table import teds
from lmms_eval_finance.metrics.table.elements import TagCodes
from lmms_eval_finance.metrics.table.reading import read_table
from lmms_eval_finance.metrics.table.trees import Node

GOLD = (
    "<table border='1'><thead><tr><td>项目</td><td>2023年</td></tr></thead>"
    "<tbody><tr><td>货币资金</td><td>1,234.00</td></tr><tr><td>存货</td><td>-5.6%</td></tr></tbody></table>"
)


def outline(node: Node) -> str:
    """A tree in one line: `table(tr(td'1' td:2,1'2'))`, spans other than 1 after the colon."""
    if isinstance(node.label, tuple):
        spans = "" if node.label[1:] == (1, 1) else f":{node.label[1]},{node.label[2]}"
        return f"td{spans}'{node.text}'"
    below = " ".join(map(outline, node.children))
    return f"{node.label}({below})" if below else str(node.label)


def read(text: str) -> str:
    codes = TagCodes()
    table = read_table(text, codes)
    if table is None:
        return "none"
    shown = outline(table.root)
    for tag, code in codes._codes.items():
        shown = shown.replace(code, tag)
    return shown


SAME = {
    "as it is": GOLD,
    "document": f"<!DOCTYPE html>\n<html><head><title>表</title></head><body>{GOLD}</body></html>",
    "XML declaration": f'<?xml version="1.0" encoding="UTF-8"?>\n{GOLD}',
    "fence": f"```html\n{GOLD}\n```",
    "fence without a language": f"```\n{GOLD}```",
    "prose": f"这是表格（a < b）：\n\n{GOLD}\n\n以上 > 结果。",
    "prose that names the tag": f"I put it into a <table> element:\n```html\n{GOLD}\n```\nThe `<table>` is complete.",
    "thinking": f"<think>maybe <table><tr><td>草稿</td></tr></table></think>{GOLD}",
    "th": GOLD.replace("<td>", "<th>").replace("</td>", "</th>"),
    "capitals": GOLD.replace("<td", "<TD").replace("</td", "</TD").replace("table", "TABLE"),
    "full width": GOLD.replace("1,234.00", "１，２３４．００").replace("%", "％"),
    "white space": GOLD.replace("<td>", "\n  <td>\u3000 ").replace("</td>", " \n</td>"),
    "entities": GOLD.replace("-5", "&#45;5").replace("货", "&#x8D27;").replace("1,", "&nbsp;1&#44;"),
    "comments": GOLD.replace("<tr>", "<!-- <td> --><tr>"),
    "no closing tags": GOLD.replace("</td>", "").replace("</tr>", ""),
    "cut off at the end": GOLD[: GOLD.index("</td></tr></tbody>")],
    "cut off in a fence": f"```html\n{GOLD[: GOLD.index('</tbody>')]}\n```",
    "no table tag": GOLD[GOLD.index("<thead>") : GOLD.index("</table>")],
    "spans of one": GOLD.replace("<td>", "<td colspan='1.0' rowspan=''>"),
    "styles": GOLD.replace("<td>", "<td style='color:red' class=x>"),
    "escaped quotes": GOLD.replace("<td>", '<td colspan=\\"1\\">').replace("'", '\\"'),
    "JSON": json.dumps({"html": GOLD.replace("</tr>", "</tr>\n")}, ensure_ascii=False).replace("</", "<\\/"),
    "a table in two": GOLD.replace("<tr><td>存货", "</tbody></table> (2/2) <table><tbody><tr><td>存货"),
    "a table in two, bare rows": GOLD.replace("<tr><td>存货", "</tbody></table>\n<table><tr><td>存货"),
    "markdown": "| 项目 | 2023年 |\n|:--|--:|\n| 货币资金 | 1,234.00 |\n| 存货 | -5.6% |",
    "markdown without a frame": "表格：\n\n项目 | 2023年\n--- | ---\n货币资金 | 1,234.00\n存货 | -5.6%\n\n完",
    "markdown in a fence": "```markdown\n| 项目 | 2023年 |\n| - | - |\n| 货币资金 | 1,234.00 |\n| 存货 | -5.6% |\n```",
    "markdown with a tag in prose": "A <table> it is:\r\n|项目|2023年|\r\n|---|---|\r\n|货币资金|1,234.00|\r\n|存货|-5.6%|",
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_table_in_other_dress(case: str) -> None:
    assert read(SAME[case]) == read(GOLD)
    assert teds(GOLD, SAME[case]) == teds(SAME[case], GOLD) == 1.0
    assert teds(GOLD, SAME[case], structure_only=True) == 1.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "none"),
        ("没有表格", "none"),
        ("a | b, or c | d", "none"),
        ("<think><table><tr><td>1</td></tr></table>", "none"),
        ("<table></table>", "table"),
        ("<table><tr><td></td></tr></table>", "table(tr(td''))"),
        ("<table><td colspan=2>1<td rowspan='3 rows'>2", "table(td:2,1'1' td:1,3'2')"),
        ("<td colspan=99999999999999999999>1", "table(td:1000,1'1')"),
        ("<table><tr><td>a <b> b </b> c<br>\nd</td></tr>", "table(tr(td'a<b>b</b>c<br></br>d'))"),
        ("<table><tr><td>A<td>&lt;b&gt; &amp; &yen;5</table>", "table(tr(td'A' td'<b> & ¥5'))"),
        ("<table><caption>x</caption><tr><th>1", "table(caption tr(td'1'))"),
        (
            "<table><tr><td>1<table><tr><td>2</td></tr></table></td></tr></table>",
            "table(tr(td'1<table><tr><td>2</td></tr></table>'))",
        ),
        ("<table><tr><td>1</td></tr></table><p>2</p><table><tr><td>3", "table(tr(td'1') tr(td'3'))"),
        (
            "<table><tr><td>1</td></tr></table><table><tbody><tr><td>2</td></tr></tbody></table>",
            "table(tr(td'1') tr(td'2'))",
        ),
        (
            "<table><tbody><tr><td>1</table><table><thead><tr><td>2</table>",
            "table(tbody(tr(td'1')) thead(tr(td'2')))",
        ),
        ("<table><tr><td>1</td></tr> <table><tr><td>2</td></tr>", "table(tr(td'1') tr(td'2'))"),
        ("|a|\n|b|", "table(tbody(tr(td'a') tr(td'b')))"),
        ("|a|b|\n|-|-|", "table(thead(tr(td'a' td'b')))"),
        (
            "|a\\|b| |\n|-|-|\n|<b>c</b>|**d** e|",
            "table(thead(tr(td'a|b' td'')) tbody(tr(td'<b>c</b>' td'<b>d</b>e')))",
        ),
        (
            "|a|\n|-|\n|1|\n\n|b|\n|-|\n|2|",
            "table(thead(tr(td'a')) tbody(tr(td'1')) thead(tr(td'b')) tbody(tr(td'2')))",
        ),
        ("\ud800<table><tr><td>\udfff1\x00", "table(tr(td'?1\ufffd'))"),
    ],
)
def test_trees(text: str, expected: str) -> None:
    assert read(text) == expected


def test_size_counts_what_the_tree_holds_and_what_is_inside_cells() -> None:
    table = read_table("<table><tbody><tr><td>1<b>2</b><br></table><table><tbody><tr><td>3", TagCodes())
    assert table is not None
    assert table.size == 5 + 2
    assert table.root.count() == 1 + 5


def test_two_pages_of_gold_are_one_table() -> None:
    first, second = (f"<table><tbody><tr><td>{page}</td></tr></tbody></table>" for page in (1, 2))
    whole = "<table><tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>"
    assert teds(first + second, whole) == teds(whole, first + second) == 1.0
    assert teds(first + second, f"Page 1:\n```html\n{first}\n```\nPage 2:\n```html\n{second}\n```") == 1.0
    # One page of two: tr and td are missing, of tbody, tr, td, tr, td.
    assert teds(first + second, first) == pytest.approx(1 - 2 / 5)
