"""Tables in every output: nothing is lost, nothing of their text becomes markup."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from lmms_eval_finance.report.table import Marked, Table

MARKED = Table(
    "T|itle <b>",
    ["model", "x"],
    [
        ["a", Marked(1 / 3, low=0.1, high=0.5, marks=["one", "two"])],
        [Marked("b", marks=["two"]), Marked(2.0, spread=0.25)],
        ["c", None],
    ],
    kinds=["run", "published"],
)


def test_markdown():
    lines = MARKED.to_markdown().splitlines()
    assert lines[0] == "**T\\|itle &lt;b>**"
    assert lines[4:] == [
        "| a | 0.33 [0.10, 0.50] ᵃᵇ |",
        "| b ᵇ | 2.00 ± 0.25 |",
        "| c |  |",
        "",
        "ᵃ one",
        "",
        "ᵇ two",
    ]


def test_csv_keeps_full_precision_and_says_all():
    assert list(csv.reader(io.StringIO(MARKED.to_csv()))) == [
        ["model", "x", "x low", "x high", "x spread", "marks"],
        ["a", str(1 / 3), "0.1", "0.5", "", "x: one; x: two"],
        ["b", "2.0", "", "", "0.25", "model: two"],
        ["c", "", "", "", "", ""],
    ]


def test_tables_without_marks_have_no_column_for_them():
    table = Table("t", ["a", "b"], [["x|y\nz", 1 / 3], [None, None]])
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [["a", "b"], ["x|y\nz", str(1 / 3)], ["", ""]]
    assert table.to_markdown().splitlines()[4:] == ["| x\\|y z | 0.33 |", "|  |  |"]


def test_html_says_what_is_a_heading_and_leads_to_footnotes():
    tree = html.fromstring(MARKED.to_html())
    assert [cell.get("scope") for cell in tree.iter("th")] == ["col", "col", "row", "row", "row"]
    assert [row.get("class") for row in tree.iter("tr")] == [None, "run", "published", None]
    targets = {link.get("href") for link in tree.iter("a")}
    assert targets == {f"#{item.get('id')}" for item in tree.iter("li")} == {"#t_itle_b-a", "#t_itle_b-b"}


def test_more_marks_than_letters():
    table = Table("t", ["a"], [[Marked(float(n), marks=[f"mark {n}"])] for n in range(60)])
    markdown = table.to_markdown()
    assert markdown.count("ᵃ² mark 50") == 1
    items = [item.get("id") for item in html.fromstring(table.to_html()).iter("li")]
    assert len(set(items)) == 60


texts = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=30)


@given(texts, texts, texts)
def test_any_text_stays_text(title, text, mark):
    table = Table(title, [text], [[Marked(text, marks=[mark])]], note=mark)
    tree = html.fromstring(table.to_html())
    allowed = {
        *("figure", "figcaption", "div", "table", "thead", "tbody", "tr", "th", "td"),
        *("sup", "a", "ul", "li", "b", "p"),
    }
    assert {element.tag for element in tree.iter()} <= allowed
    assert tree.find(".//th[@scope='row']").text.split() == text.split()
    assert tree.find(".//figcaption").text.split() == title.split()
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows[1] == [text, f"{text}: {mark}"]
    assert len(table.to_markdown().splitlines()[2].replace("\\|", "").split("|")) == 3
