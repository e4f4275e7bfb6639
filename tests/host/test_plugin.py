"""The tasks are found by every route, whatever stands beside them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lmms_eval_finance import plugin

pytestmark = pytest.mark.host

BIN = Path(sys.executable).parent
TASK = "finmme_finscore"
DUMMY = ("--model", "dummy", "--model_args", "response=Answer: A", "--tasks", TASK)


@pytest.fixture(scope="module")
def plain(run_host):
    return run_host(*DUMMY)


def test_the_plain_command_runs_a_task(plain):
    assert plain.figures(TASK)["accuracy"] > 0
    assert len(plain.samples(TASK)) == 26


@pytest.mark.parametrize(
    "command",
    [
        (str(BIN / "lmms-eval"), "eval"),
        (sys.executable, "-m", "lmms_eval"),
        (
            str(BIN / "accelerate"),
            "launch",
            "--num_processes",
            "2",
            "--cpu",
            "-m",
            "lmms_eval",
        ),
    ],
    ids=["eval", "module", "two-processes"],
)
def test_every_command_gives_the_same_figures(run_host, plain, command):
    other = run_host(*DUMMY, command=command)
    assert other.figures(TASK) == plain.figures(TASK)
    assert sorted(line["accuracy"]["id"] for line in other.samples(TASK)) == sorted(
        line["accuracy"]["id"] for line in plain.samples(TASK)
    )


def test_include_path_works_where_the_entry_point_does_not(run_host, plain):
    folder = subprocess.check_output([BIN / "lmms-eval-finance", "path"], text=True).strip()
    assert run_host(*DUMMY, "--include_path", folder).figures(TASK) == plain.figures(TASK)
    listed = run_host("tasks", "list", "--include-path", folder, save=False)
    assert TASK in listed.output


def test_tasks_list_names_them(run_host):
    assert TASK in run_host("--tasks", "list", save=False).output


def test_a_program_gets_the_same_figures(plain, tmp_path, host_environment):
    code = (
        "import json, lmms_eval.evaluator as e\n"
        f"found = e.simple_evaluate(model='dummy', model_args='response=Answer: A', tasks=['{TASK}'])\n"
        f"json.dump({{k.split(',')[0]: v for k, v in found['results']['{TASK}'].items() if ',none' in k and '_stderr' not in k}},"
        " open('figures.json', 'w'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=host_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads((tmp_path / "figures.json").read_text()) == plain.figures(TASK)


def test_index_is_the_hosts_own():
    from lmms_eval.tasks import TaskManager

    theirs = TaskManager("ERROR", include_defaults=False)._get_task_and_group(str(plugin.TASKS))
    ours = plugin.index()
    assert {name: entry["type"] for name, entry in ours.items()} == {
        name: entry["type"] for name, entry in theirs.items()
    }
    for name, entry in ours.items():
        assert entry["yaml_path"] == theirs[name]["yaml_path"]
        if entry["type"] == "tag":
            assert sorted(entry["task"]) == sorted(theirs[name]["task"])


def test_names_of_the_host_keep_precedence(monkeypatch):
    from lmms_eval.tasks import TaskManager

    plugin.register()
    monkeypatch.setattr(
        plugin,
        "index",
        lambda: {
            "mmmu_val": {"type": "task", "yaml_path": "ours"},
            "only_ours": {"type": "task", "yaml_path": "ours"},
        },
    )
    manager = TaskManager("ERROR")
    assert manager.task_index["mmmu_val"]["yaml_path"] != "ours"
    assert manager.task_index["only_ours"]["yaml_path"] == "ours"


def test_registering_twice_wraps_once():
    from lmms_eval.tasks import TaskManager

    plugin.register()
    once = TaskManager.initialize_tasks
    plugin.register()
    assert TaskManager.initialize_tasks is once


def test_it_never_raises(monkeypatch):
    def broken():
        raise RuntimeError("no such host")

    monkeypatch.setattr(plugin, "_add_tasks", broken)
    with pytest.warns(UserWarning, match="--include_path"):
        assert plugin.register() == []


def test_an_untested_host_is_one_warning(monkeypatch):
    monkeypatch.setattr(plugin, "host_version", lambda: "0.9.0")
    with pytest.warns(UserWarning, match="not with 0.9.0") as caught:
        plugin.register()
    assert len(caught) == 1


def test_start_up_cost_is_small():
    """Not a limit but a guard against reading YAML the slow way: generous by a factor of five."""
    start = time.perf_counter()
    plugin.index()
    assert time.perf_counter() - start < 0.25


def test_no_pth_file_and_nothing_written_into_the_host():
    from importlib.metadata import distribution

    files = [str(file) for file in distribution("lmms-eval-finance").files or []]
    assert not [file for file in files if file.startswith("lmms_eval/")]
