from __future__ import annotations

import json

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report.cfmme_studies import change
from lmms_eval_finance.settings import SettingError

SIGNATURE = "task:cfmme_qa|version:1|data:cfmme/qa@ab|image:{}|errata:no"


def record(number, right, image="as-is", cluster=None):
    outcome = Outcome.GOLD_UNUSABLE if right is None else Outcome.CORRECT if right else Outcome.WRONG
    return Record(
        str(number),
        outcome,
        None if right is None else float(right),
        cluster=cluster or str(number),
        signature=SIGNATURE.format(image),
    )


def test_the_change_is_taken_over_items_scored_in_both():
    base = [record(i, right) for i, right in enumerate([1, 1, 1, 0, None])]
    turned = [record(i, right, "rot90@1") for i, right in enumerate([0, 1, None, 1, 1])]
    found = change(base, turned)
    assert (found.items, found.before, found.after) == (3, 2 / 3, 2 / 3)
    assert found.difference.estimate == 0
    assert found.difference.low < 0 < found.difference.high
    assert change(base, []) is None


def test_items_on_one_picture_are_drawn_together():
    rights = [1, 0] * 20
    apart = change([record(i, 1) for i in range(40)], [record(i, r, "x") for i, r in enumerate(rights)])
    base = [record(i, 1, cluster=str(i // 2)) for i in range(40)]
    paired = change(base, [record(i, r, "x") for i, r in enumerate(rights)])
    assert apart.difference.estimate == paired.difference.estimate == -0.5
    assert apart.difference.standard_error > 0
    assert paired.difference.standard_error == 0  # each picture lost one of two


def test_other_conditions_are_refused():
    with pytest.raises(SettingError, match=r"item 1: .*data: cfmme/qa@ab and cfmme/qa@cd"):
        change(
            [record(1, 1)],
            [Record("1", Outcome.WRONG, 0.0, signature=SIGNATURE.format("x").replace("@ab", "@cd"))],
        )


def write(folder, task, records):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"doc_id": i, "accuracy": record.to_json()}) + "\n" for i, record in enumerate(records)
    ]
    (folder / f"20261129_120000_samples_{task}.jsonl").write_text("".join(lines))
    return folder


def test_tables_of_runs_in_several_places(tmp_path, capsys):
    first = write(tmp_path / "one" / "my-model", "cfmme_qa", [record(i, i < 3) for i in range(4)])
    second = write(
        tmp_path / "two" / "my-model", "cfmme_qa_rot90", [record(i, i < 1, "rot90@1") for i in range(4)]
    )
    write(second, "cfmme_qa_robust_jpeg", [record(i, i < 2, "jpeg@1") for i in range(4)])
    write(second, "cfmme_subject", [record(0, 1)])
    assert main(["tables", str(first), str(second)]) == 0
    printed = capsys.readouterr().out
    orientation, robustness = printed.split("**CFMME robustness, change item by item**")
    orientation = orientation.split("**CFMME table 6: orientation, change item by item**")[1]
    (line,) = [line for line in orientation.splitlines() if line.startswith("| my-model")]
    assert line.startswith("| my-model | 90 | 4 | 75.00 | 25.00 | -50.00 | ")
    assert orientation.count("(published)") == 4 * 3
    assert "| Qwen3-VL-8B-Thinking (published) | 180 | 790 | 44.22 | 31.39 | -12.83 |  |  |" in orientation
    assert "published" not in robustness
    assert "| my-model | jpeg | 4 | 75.00 | 50.00 | -25.00 |" in robustness


def test_without_a_pair_there_is_no_study(tmp_path, capsys):
    folder = write(tmp_path / "m", "cfmme_qa", [record(0, 1)])
    assert main(["tables", str(folder)]) == 0
    assert "orientation" not in capsys.readouterr().out
    folder = write(tmp_path / "other", "someones_task", [record(0, 1)])
    assert main(["tables", str(folder)]) == 2
    assert "tables of its own" in capsys.readouterr().err
