"""Several processes, and a run that is killed and begun again: the figures are those of one undisturbed run."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from asked import TASKS
from openai_server import OpenAIServer

pytestmark = pytest.mark.host

BIN = Path(sys.executable).parent
GROUPS = ("mfe", "cfmme", "finmme_prompts")
ASKED = ("--tasks", ",".join([*TASKS, *GROUPS]))
HOST = str(Path(__file__).parent / "replying_host.py")
LAUNCH = (str(BIN / "accelerate"), "launch", "--num_processes", "3", "--cpu")


def replies(run, task):
    """Place of each doc and what was said to it, in no order."""
    return sorted((line["doc_id"], json.dumps(line["filtered_resps"])) for line in run.samples(task))


def all_figures(run):
    """Every figure of every task and group, without the host's own standard errors."""
    return {
        name: {key: value for key, value in figures.items() if "," in key and "_stderr" not in key}
        for part in ("results", "groups")
        for name, figures in run.results.get(part, {}).items()
    }


class TestSeveralProcesses:
    @pytest.fixture(scope="class")
    def one(self, run_host, settings_of_all_tasks):
        return run_host("--model", "dummy", *ASKED, command=(sys.executable, HOST), env=settings_of_all_tasks)

    @pytest.fixture(scope="class")
    def three(self, run_host, settings_of_all_tasks):
        env = {**settings_of_all_tasks, "OMP_NUM_THREADS": "1"}
        return run_host("--model", "dummy", *ASKED, command=(*LAUNCH, HOST), env=env)

    def test_every_figure_is_the_same(self, one, three):
        figures = all_figures(one)
        assert set(TASKS) | set(GROUPS) <= set(figures)
        assert len({value for task in figures.values() for value in task.values()}) > 50
        assert all_figures(three) == figures

    @pytest.mark.parametrize("task", TASKS)
    def test_no_item_is_lost_or_doubled(self, one, three, task):
        numbers = [number for number, _ in replies(one, task)]
        assert numbers == list(range(len(numbers)))
        assert replies(three, task) == replies(one, task)


class TestKilled:
    """Killed in the middle, begun again with the host's response cache."""

    TASKS = ("mfe_text", "mfe_chart", "mfe_conversation", "cfmme_table_recognition", "famma_dynamic_cot_txt")
    DIES_AT = 31
    """The request at which the first run is killed: in the middle of the dialogues, which the host runs last."""

    @pytest.fixture(scope="class")
    def runs(self, run_host, host_environment, tmp_path_factory):
        """The undisturbed run and the second of two after a kill; how many requests each of the three sent."""
        reached, killed = threading.Event(), threading.Event()

        def reply(body):
            if reached.is_set() or (dying and len(server.requests) >= self.DIES_AT):
                reached.set()
                killed.wait(60)
            return "Answer: " + hashlib.sha256(json.dumps(body).encode()).hexdigest()[:6]

        with OpenAIServer(reply) as server:
            model = f"model_version=test,base_url={server.url},api_key=none,num_concurrent=1,max_retries=1"
            arguments = ("--model", "openai", "--model_args", model, "--tasks", ",".join(self.TASKS))
            cached = (*arguments, "--use_cache", str(tmp_path_factory.mktemp("cache")))
            settings = {
                "OPENAI_API_KEY": "none",
                "LMMS_CACHE_RUN_ID": "resumed",
                "LMMS_CACHE_CHECKPOINT_INTERVAL": "4",
            }
            dying = False
            whole = run_host(*arguments, env=settings)
            counts = [len(server.requests)]
            dying = True
            server.requests.clear()
            first = subprocess.Popen(
                [BIN / "lmms-eval", *cached],
                cwd=tmp_path_factory.mktemp("killed"),
                env=host_environment(**settings),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            assert reached.wait(300)
            first.kill()
            first.wait()
            counts.append(len(server.requests))
            dying = False
            reached.clear()
            killed.set()
            server.requests.clear()
            resumed = run_host(*cached, env=settings)
            counts.append(len(server.requests))
        return whole, resumed, counts

    def test_the_figures_are_those_of_one_run(self, runs):
        whole, resumed, _ = runs
        assert all_figures(resumed) == all_figures(whole)
        for task in self.TASKS:
            assert replies(resumed, task) == replies(whole, task)

    def test_what_was_answered_is_not_asked_again(self, runs):
        _, _, (whole, first, second) = runs
        assert first == self.DIES_AT
        assert whole <= first + second < whole + 20
