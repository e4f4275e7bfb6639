from __future__ import annotations

import csv
import io

import pytest

from lmms_eval_finance.metrics import finscore
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report import finmme
from lmms_eval_finance.report.table import Table


def record(number, right, kind="single_choice", domain="Energy", level=None, **labels):
    found = {"question_type": kind, "knowledge_domain": domain, **labels}
    if level:
        found["cognitive_level"] = level
    return Record(
        str(number),
        Outcome.CORRECT if right else Outcome.WRONG,
        float(right),
        found,
        parts={
            "correct": float(right),
            "incorrect": float(not right),
            "options": 2,
            "gold_letters": 1,
            "released_correct": float(right),
            "released_multiple": 0.0,
        },
    )


ROWS = [
    record(1, True, "single_choice", "Energy", "comprehensive_understanding", asset_class="bond"),
    record(2, False, "single_choice", "Energy", "fine_grained_perception", asset_class="equity"),
    record(3, True, "multiple_choice", "TMT", "analysis_and_reasoning", asset_class="equity"),
    record(4, True, "numerical", "TMT", "analysis_and_reasoning", asset_class="bond"),
]


def test_table_3_by_hand():
    (row,) = finmme.table3({"m": ROWS}).rows
    by_name = dict(zip(finmme.table3({"m": ROWS}).columns, row, strict=True))
    assert by_name["single choice"] == 50
    assert by_name["comprehensive understanding"] == 100
    assert by_name["fine grained perception"] == 0
    assert by_name["Avg."] == pytest.approx((100 + 0 + 100 + 50 + 100 + 100) / 6)
    assert by_name["types"] == pytest.approx((50 + 100 + 100) / 3)
    assert by_name["FinScore"] == pytest.approx(100 * finscore.finscore(ROWS))


def test_breakdowns_hold_the_labels_that_occur():
    titles = [table.title for table in finmme.tables({"m": ROWS})]
    assert titles == ["FinMME, table 3", "FinMME, table 4: knowledge domains", "FinMME: asset classes"]
    domains = finmme.table4({"m": ROWS})
    assert (list(domains.columns), list(domains.rows[0])) == (["model", "Energy", "TMT"], ["m", 50.0, 100.0])


def test_table_5_gives_mean_and_sample_deviation():
    other = [record(1, False), *ROWS[1:]]
    (row,) = finmme.table5({"m": [ROWS, other]}).rows
    assert row[1] == "2"
    assert row[2] == "25.00 ± 35.36"


def test_tables_survive_csv_and_markdown():
    table = Table("t", ["a", "b"], [["x|y\nz", 1 / 3], [None, None]])
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [["a", "b"], ["x|y\nz", str(1 / 3)], ["", ""]]
    assert table.to_markdown().splitlines()[4:] == ["| x\\|y z | 0.33 |", "|  |  |"]
