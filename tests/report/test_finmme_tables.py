"""FinMME's tables from records, figures worked by hand."""

from __future__ import annotations

import pytest

from lmms_eval_finance.metrics import finscore
from lmms_eval_finance.report import finmme

TASK = finmme.TASK


@pytest.fixture
def record(make):
    def record(number, right, kind="single_choice", domain="Energy", level=None, **labels):
        found = {"question_type": kind, "knowledge_domain": domain, **labels}
        if level:
            found["cognitive_level"] = level
        parts = {
            "correct": float(right),
            "incorrect": float(not right),
            "options": 2,
            "gold_letters": 1,
            "released_correct": float(right),
            "released_multiple": 0.0,
        }
        return make.scored(number, right, found, parts=parts)

    return record


@pytest.fixture
def rows(record):
    return [
        record(1, True, "single_choice", "Energy", "comprehensive_understanding", asset_class="bond"),
        record(2, False, "single_choice", "Energy", "fine_grained_perception", asset_class="equity"),
        record(3, True, "multiple_choice", "TMT", "analysis_and_reasoning", asset_class="equity"),
        record(4, True, "numerical", "Rare earths", "analysis_and_reasoning", asset_class="bond"),
    ]


def own(make, table):
    """The first row by column, values alone."""
    assert table.kinds[0] == "run"
    return {name: make.value(cell) for name, cell in zip(table.columns, table.rows[0], strict=True)}


def test_table_3_by_hand(make, rows):
    found = own(make, finmme.table3(make.models({TASK: [rows]})))
    assert found["single choice"] == 50
    assert found["comprehensive understanding"] == 100
    assert found["fine grained perception"] == 0
    assert found["Avg."] == pytest.approx((100 + 0 + 100 + 50 + 100 + 100) / 6)
    assert found["types"] == pytest.approx((50 + 100 + 100) / 3)
    assert found["FinScore"] == pytest.approx(100 * finscore.finscore(rows))


def test_published_rows_follow_with_their_marks(make, rows):
    table = finmme.table3(make.models({TASK: [rows]}))
    assert table.kinds == ["run"] + ["published"] * 17
    by_name = {make.value(row[0]): row for row in table.rows}
    misprint = by_name["Qwen2-VL 7B (published)"][7]
    assert misprint.value == 41.8
    assert misprint.marks == ["fails its check: the mean of the six columns gives 38.38"]
    assert by_name["GPT-4o (published)"][7] == 46.56
    # the published FinScore stands where it belongs, and nowhere else
    assert by_name["GPT-4o (published)"][9] is None
    assert by_name["GPT-4o (published)"][-1].value == 15.34
    assert table.rows[0][0].marks == ["not the published figures' items: finmme_finscore 4 of 11,099"]


def test_table_4_puts_domains_under_the_papers_columns(make, rows):
    table = finmme.table4(make.models({TASK: [rows]}))
    found = own(make, table)
    assert (found["Energy"], found["TMT"], found["Rare earths"], found["Equity"]) == (50, 100, 100, None)
    assert list(table.columns[1:]) == [*finmme.DOMAINS, "Rare earths"]


@pytest.mark.parametrize(
    ("domain", "column"),
    [
        ("Materials", "Meteri."),
        ("Real estate", "Estate"),
        ("Fixed income", "Fixed."),
        ("Consumer goods", "Consum."),
        ("TMT", "TMT"),
        ("Rare earths", None),
    ],
)
def test_domains_by_their_beginning(domain, column):
    assert finmme._column(domain) == column


def test_table_5_gives_mean_and_sample_deviation(make, record, rows):
    other = [record(1, False), *rows[1:]]
    table = finmme.table5(make.models({TASK: [rows, other]}))
    assert own(make, table)["runs"] == "2"
    cell = table.rows[0][2]
    assert (cell.value, cell.spread) == (25, pytest.approx(35.355, abs=0.001))
    assert "25.00 ± 35.36" in table.to_markdown()
    assert table.rows[0][0].value == "m (2 runs)"


def test_breakdowns_hold_the_labels_that_occur(make, rows):
    found = finmme.tables(make.models({TASK: [rows], "finmme_prompt_a": [rows]}))
    assert [table.title for table in found] == [
        "FinMME, table 3",
        "FinMME, table 4: knowledge domains",
        "FinMME: asset classes",
        "FinMME: other wordings and pictures",
    ]
    assert own(make, found[2]) == {"model": "m", "bond": 100, "equity": 50}
