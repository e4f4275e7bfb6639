from __future__ import annotations

import json

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.report import stats


def table(tables, words):
    (found,) = [table for table in tables if words in table.title]
    return {row[0]: dict(zip(found.columns[1:], row[1:], strict=True)) for row in found.rows}


@pytest.fixture
def famma(shared_dir, tmp_path, monkeypatch):
    assert main(["data", "import", "famma", str(shared_dir / "data/famma"), "-o", str(tmp_path)]) == 0
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path))
    return stats.stats("famma")


def test_fammas_english_counts_against_table_8(famma, shared_dir):
    """The paper counts an earlier release: 1,385 English questions against 1,378 here, in two subfields."""
    published = json.loads((shared_dir / "published/famma.json").read_text(encoding="utf-8"))
    counts = table(famma, "table 8")
    assert counts["total"]["total"] == 1378
    differing = {}
    for subfield, by_language in published["table8_counts_easy_medium_hard"].items():
        here, printed = counts[subfield]["total"], sum(by_language["english"])
        if here != printed:
            differing[subfield] = (here, printed)
    assert differing == {"fixed income": (184, 185), "portfolio management": (385, 391)}
    # Difficulties were relabelled since: easy, medium and hard are 563, 252 and 563 now, 520, 234 and 631 then.
    assert [counts["total"][difficulty] for difficulty in ("easy", "medium", "hard")] == [563, 252, 563]


def test_mfes_counts_are_table_1s(shared_dir, tmp_path, monkeypatch):
    """But for two chart rows that the paper's table swaps (73 and 55 items)."""
    source = shared_dir / "data/multimodal_finance_eval"
    assert main(["data", "import", "mfe", str(source), "-o", str(tmp_path)]) == 0
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", str(tmp_path))
    published = json.loads(
        (shared_dir / "published/multimodal_finance_eval.json").read_text(encoding="utf-8")
    )
    types = table(stats.stats("mfe"), "question types")
    names = {"multiple_choice": "choice"}
    for kind, by_task in published["table1_counts"]["question_type"].items():
        for task, count in by_task.items():
            assert types[names.get(kind, kind)].get(task, 0) == count
    sizes = table(stats.stats("mfe"), "context sizes")
    swapped = {"chart": 55, "chart_and_small_text": 73}
    for size in ("small_text", "medium_text", "large_text", "table", "table_and_small_text"):
        for task, count in published["table1_counts"]["context_type"][size].items():
            assert sizes[size][task] == count
    assert {size: sizes[size]["chart"] for size in swapped} == swapped


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_sample_has_its_tables_and_totals_add_up(name, monkeypatch, capsys):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    assert main(["data", "stats", name]) == 0
    assert "items" in capsys.readouterr().out
    for found in stats.stats(name):
        if found.rows and found.rows[-1][0] == "total":
            for place in range(1, len(found.columns)):
                assert found.rows[-1][place] == sum(row[place] for row in found.rows[:-1])
