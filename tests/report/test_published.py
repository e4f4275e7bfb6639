"""The published figures: those of the handed files, and an audit that finds the known misprints and no others."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.report import published
from lmms_eval_finance.report.published import Check, audit, misprints


def failing(name):
    return set(misprints(name))


def test_finmmes_misprints():
    assert failing("finmme") == {
        ("table 3", "Qwen2-VL 7B", "average"),
        ("table 3", "DeepSeekVL-2 Small", "average"),
        *(("table 5", "Qwen2-VL 7B", column) for column in ("single_choice", "multiple_choice", "numerical")),
        ("table 5", "Qwen2-VL 7B", "average"),
    }
    computed = {one.row: one.computed for one in audit("finmme") if one.column == "average" and not one.holds}
    assert computed["DeepSeekVL-2 Small"] == pytest.approx(39.68, abs=0.005)


def test_fammas_misprints():
    found = failing("famma")
    assert {
        ("table 7", "fixed income", "count"),
        ("table 7", "financial statement analysis", "count"),
        ("table 5", "rag", "total"),
        ("text", "Human", "overall"),
        ("text", "GPT-4o", "overall"),
        ("text", "Claude-35-Sonnet", "overall"),
        ("text", "ambiguous answers", "share"),
        ("appendix B.1", "CFA-based estimate", "overall"),
        ("section 4.1", "CFA-based estimate", "overall"),
    } < found
    assert not any(table in ("table 1", "table 8") for table, _, _ in found)
    (estimate,) = {one.computed for one in audit("famma") if one.row == "CFA-based estimate"}
    assert estimate == pytest.approx(62.22, abs=0.005)


def test_mfes_averages_are_of_seven_columns():
    checks = audit("mfe")
    assert all(one.holds for one in checks if one.column == "average")
    assert sum(not one.holds for one in checks) == 12
    assert {one.column for one in checks if not one.holds} == {"table", "conversation"}


def test_cfmmes_averages_hold():
    checks = audit("cfmme")
    averages = [one for one in checks if one.column == "average"]
    assert len(averages) == 17 + 9
    assert all(one.holds for one in averages)
    pooled = [one for one in checks if one.column == "knowledge_accuracy"]
    assert sum(one.holds for one in pooled) == 15
    assert all(abs(one.printed - one.computed) < 0.12 for one in pooled)
    assert ("table 2", "table recognition", "total") in failing("cfmme")


def test_a_check_can_fail():
    assert not Check("t", "r", "c", 1.0, 1.02, 0.01, "x").holds
    assert Check("t", "r", "c", 1.0, 1.01, 0.01, "x").holds


def numbers(value):
    """All numbers of a nested value, sorted."""
    if isinstance(value, dict):
        return sorted(number for member in value.values() for number in numbers(member))
    if isinstance(value, list):
        return sorted(number for member in value for number in numbers(member))
    return [float(value)] if isinstance(value, (int, float)) else []


@pytest.mark.parametrize(
    ("name", "theirs", "ours"),
    [
        ("finmme", ("table3", "rows"), "table3"),
        ("finmme", ("table4", "rows"), "table4"),
        ("finmme", ("table5_std_of_5_runs", "rows"), "table5"),
        ("famma", ("table2_accuracy_percent",), "table2"),
        ("famma", ("corrected_of_100_errors",), "table5"),
        ("famma", ("error_types_gpt4o_percent", "by_language_top2"), "table3"),
        ("cfmme", ("table3",), "table3"),
        ("cfmme", ("table4",), "table4"),
        ("cfmme", ("table9",), "table9"),
        ("cfmme", ("table10_ie_f1",), "table10"),
        ("cfmme", ("table11_map",), "table11"),
        ("cfmme", ("table6_orientation",), "table6"),
    ],
)
def test_figures_are_those_handed(shared_dir, name, theirs, ours):
    found = json.loads((shared_dir / "published" / f"{name}.json").read_text(encoding="utf-8"))
    for key in theirs:
        found = found[key]
    mine = [model[ours] for model in published.load(name)["models"] if ours in model]
    assert numbers(mine) == numbers(found)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_tables_hold_every_model_and_mark_what_fails(name):
    tables = published.tables(name)
    marks = [mark for table in tables for mark in table.footnotes]
    printed = {one.mark for one in audit(name) if not one.holds and one.table in ("table 3", "table 2")}
    assert any(mark in printed for mark in marks)
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
        list(csv.reader(io.StringIO(table.to_csv())))


def test_the_command(capsys):
    assert main(["published", "finmme", "--audit"]) == 0
    out = capsys.readouterr().out
    assert "| table 3 | Qwen2-VL 7B | average | 41.80 | 38.38 |" in out
    assert "table 3 15 of 17" in out
    assert main(["published", "--csv"]) == 0
    assert "Gemini Flash 2.0,49.89" in capsys.readouterr().out
    assert main(["published", "famma", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["famma"]["counts"]["total"] == 1758
    assert main(["published", "imagenet"]) == 2
    assert "there are famma, finmme, mfe, cfmme" in capsys.readouterr().err


def test_a_terminal_without_the_signs_shows_the_tables():
    command = [sys.executable, "-m", "lmms_eval_finance.cli", "published", "famma"]
    shown = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=True
    )
    assert b"Human" in shown.stdout
