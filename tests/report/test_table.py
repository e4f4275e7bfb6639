"""Tables in every output: nothing is lost, nothing of their text becomes markup."""

from __future__ import annotations

import csv
import io
import re
import time

import pytest
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
    (title,) = tree.xpath("//figcaption/h3")
    for element in (tree.find(".//table"), *tree.xpath("//*[@role='group'][@tabindex='0']")):
        assert element.get("aria-labelledby") == title.get("id")
    assert [cell.get("scope") for cell in tree.iter("th")] == ["col", "col", "row", "row", "row"]
    assert [row.get("class") for row in tree.iter("tr")] == [None, "run", "published", None]
    targets = {link.get("href") for link in tree.iter("a")}
    assert targets == {f"#{item.get('id')}" for item in tree.iter("li")} == {"#t_itle_b-a", "#t_itle_b-b"}
    assert [(link.text, link.get("title")) for link in tree.iter("a")] == [("a b", "one; two"), ("b", "two")]


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
        *("sup", "a", "ul", "li", "b", "p", "h3", "wbr"),
    }
    assert {element.tag for element in tree.iter()} <= allowed
    (cell,) = tree.xpath("//th[@scope='row']")
    assert cell.text_content().removesuffix("a").split() == text.split()
    assert tree.find(".//figcaption").text_content().split() == title.split()
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert [re.sub("(^|;)'", r"\1", cell) for cell in rows[1]] == [
        re.sub("(^|;)'", r"\1", cell) for cell in (text, f"{text}: {mark}")
    ]
    assert len(table.to_markdown().splitlines()[2].replace("\\|", "").split("|")) == 3


FORMULAS = (
    "=1+1",
    "=HYPERLINK(A1)",
    "+1+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "  =1+1",
    "＝1+1",
    "-",
    "--1",
    "+",
)


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_csv_is_run_as_a_formula(text):
    cells = [text, f"a;{text}", f"a\t{text};b", f"a\n{text}"]
    table = Table(text, [text, text], [[cell, Marked(cell, marks=[text])] for cell in cells], key="t")
    for row in csv.reader(io.StringIO(table.to_csv())):
        for cell in row:
            for part in re.split("[;\t\r\n]", cell):
                assert not part.strip().startswith(tuple("=+-@＝")), cell


@pytest.mark.parametrize(
    "text", ["-1", "-1.5", "+3", "-1,234.5", "-3.2e-05", "-12.5%", "- 1", "a-b", "x=1", "a@b"]
)
def test_numbers_and_other_texts_of_a_csv_stay_as_they_are(text):
    guarded = text == "- 1"
    rows = list(
        csv.reader(io.StringIO(Table("t", ["x", "y"], [[text, -1.5], [f"a; {text}", None]]).to_csv()))
    )
    assert rows[1] == [f"'{text}" if guarded else text, "-1.5"]
    assert rows[2] == [f"a;' {text}" if guarded else f"a; {text}", ""]


def test_the_guard_takes_no_time():
    started = time.perf_counter()
    for text in ("\n" * 100_000, " " * 100_000, "; " * 50_000, "-" + "1" * 100_000 + "x", "-1;" * 50_000):
        Table("t", ["x"], [[text]]).to_csv()
    assert time.perf_counter() - started < 5


def test_markdown_takes_no_links_pictures_or_elements_from_texts():
    hostile = "[x](javascript:alert(1)) ![y](http://evil.example/y) <script>\r\n# heading\u2028| cell"
    table = Table(hostile, [hostile], [[Marked(hostile, marks=[hostile])]], note=hostile)
    lines = table.to_markdown().splitlines()
    assert len(lines) == 9
    assert not re.search(r"\]\(|<|^#", table.to_markdown(), re.MULTILINE)
