"""The tasks by name, as the YAML has them."""

from __future__ import annotations

import pytest

from lmms_eval_finance import plugin
from lmms_eval_finance.data.schemas import BENCHMARKS, benchmark
from lmms_eval_finance.tasks import registry


def all_tasks():
    return [name for about in BENCHMARKS for name in registry.names(about)]


def test_it_knows_the_tasks_that_the_host_is_told_of():
    ours = {name for name, entry in plugin.index().items() if entry["type"] == "task"}
    assert set(all_tasks()) == {name for name in ours if not name.startswith("lm_")}


@pytest.mark.parametrize("name", all_tasks())
def test_every_task_has_its_hooks(name):
    task = registry.find(name)
    assert task.split in benchmark(task.benchmark).splits
    assert callable(task.process_results)
    assert callable(task.process_docs)
    assert callable(task.rescore)


@pytest.mark.parametrize(
    "name", ["", "finmme", "mmmu", "mfe_", "mfe", "../mfe/mfe_text", "_mfe", "finmme_\x00", "mfe_text/../x"]
)
def test_other_names_are_no_tasks(name):
    assert registry.find(name) is None
