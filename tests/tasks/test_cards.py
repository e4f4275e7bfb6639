"""The task cards: generated parts up to date, every task and group described, none that is not there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.tasks import registry

ROOT = Path(__file__).resolve().parents[2]


def test_the_generated_parts_are_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "task_cards.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def described(benchmark):
    card = (ROOT / "tasks" / benchmark / "README.md").read_text(encoding="utf-8")
    section = card.partition("\n## Groups and tasks\n")[2].partition("\n## ")[0]
    return re.findall(r"^- `(\w+)`: \S", section, re.MULTILINE)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_task_and_group_is_described_once(benchmark):
    files = (ROOT / "tasks" / benchmark).glob("*.yaml")
    about = [registry.settings_of(path) for path in files if not path.name.startswith("_")]
    there = sorted(one["group"] if isinstance(one["task"], list) else one["task"] for one in about)
    assert sorted(described(benchmark)) == there


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_metric_of_the_benchmark_is_listed(benchmark):
    card = (ROOT / "tasks" / benchmark / "README.md").read_text(encoding="utf-8")
    for name in registry.names(benchmark):
        for metric in registry.settings_of(registry.FOLDER / benchmark / f"{name}.yaml")["metric_list"]:
            assert f"| `{metric['metric']}` |" in card
