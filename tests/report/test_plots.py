"""Plots: what they draw, and that nothing of a label becomes markup, a formula or an address."""

from __future__ import annotations

import re
import sys

import pytest
from lxml import etree

from lmms_eval_finance.report import plots
from lmms_eval_finance.report.table import Marked, Table
from lmms_eval_finance.settings import SettingError

KINDS = ("bars", "lines", "radar", "heatmap", "stacked")
HOSTILE = [
    "<script>alert(1)</script>",
    "$\\frac{$",
    "url(http://evil.example)",
    "市盈率 \ud800 \x00\u202e",
    '"><b',
    "x" * 500,
]


def table(kind, columns=("a", "b", "c"), names=("m", "n"), title="Plots"):
    rows = [
        [
            name,
            *(
                Marked(10.0 * (place + n), low=5.0 * n, high=15.0 * (place + n))
                for place, _ in enumerate(columns)
            ),
        ]
        for n, name in enumerate(names, 1)
    ]
    return Table(title, ["model", *columns], rows, kinds=["run"] * len(rows), plots=[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_draws_its_labels(kind):
    (svg,) = plots.plots(table(kind))
    tree = etree.fromstring(svg)
    texts = {"".join(element.itertext()) for element in tree.iter("{*}text", "text")}
    assert {"a", "b", "c"} <= texts
    assert tree.get("aria-label").startswith("Plots: ")
    if kind != "heatmap":
        assert {"fill-s1", "stroke-s1"} & set(re.findall(r"[\w-]+-s1", svg))


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_labels_stay_text(kind):
    (svg,) = plots.plots(table(kind, columns=HOSTILE, names=HOSTILE, title=HOSTILE[0]))
    tree = etree.fromstring(svg.encode("utf-8", "replace"))
    for element in tree.iter():
        assert etree.QName(element).localname in plots._ELEMENTS
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in ("style", "{http://www.w3.org/1999/xlink}href")
            assert not (name == "href" and not value.startswith("#"))
            if name != "aria-label":
                assert "http" not in value
    assert "&lt;script&gt;" in svg
    # matplotlib would read it as a formula and fail
    assert "$\\frac{$" in svg


def test_ids_of_two_drawings_do_not_meet():
    drawings = [plots.plots(table("lines", title=title))[0] for title in ("one", "two")]
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in drawings]
    assert all(ids)
    assert not ids[0] & ids[1]
    for svg in drawings:
        references = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg))
        assert {one or other for one, other in references} <= set(re.findall(r' id="([^"]+)"', svg))


def test_the_same_table_gives_the_same_drawing():
    assert plots.plots(table("bars")) == plots.plots(table("bars"))


@pytest.mark.parametrize("kind", KINDS)
def test_tables_with_nothing_to_draw(kind):
    for rows in ([], [["m", None, None, None]]):
        empty = Table("t", ["model", "a", "b", "c"], rows, kinds=["run"] * len(rows), plots=[kind])
        assert plots.plots(empty) == []


def test_more_runs_than_colours():
    (svg,) = plots.plots(table("bars", names=[f"model {n}" for n in range(20)]))
    assert "model 7" in svg
    assert "model 8" not in svg


def test_columns_of_text_name_the_lines():
    rows = [["m", "own answers", 1.0, 2.0], ["m", "gold answers", 3.0, 4.0]]
    (svg,) = plots.plots(
        Table("t", ["model", "history", "1", "2"], rows, kinds=["run", "run"], plots=["lines"])
    )
    assert "m, own answers" in svg
    assert "m, gold answers" in svg


def test_without_matplotlib_it_says_which_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not plots.available()
    with pytest.raises(SettingError, match=r"lmms-eval-finance\[report\]"):
        plots.plots(table("bars"))
