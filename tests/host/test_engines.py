"""Every task through the host's own vLLM and OpenAI wrappers: what the engine or the server is sent.

The engine is a stub (`stubs/vllm`), the server a local one. What a task's hooks make of a row
is taken from the hooks (they have tests of their own): here it has to arrive whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest
from asked import TASKS, fingerprint, messages_of

from lmms_eval_finance.tasks import delivery, registry

pytestmark = pytest.mark.host

LIMIT = 3
BATCH = 4
STUBS = Path(__file__).parent / "stubs"
MIXED = ("finmme_finscore", "mfe_chart", "mfe_conversation", "mfe_text")


@dataclass
class Asked:
    """One request as the hooks make it, and the reply that the host has for it."""

    task: str
    request: tuple
    reply: str


@pytest.fixture(scope="module")
def asked(settings_of_all_tasks):
    """asked(run, tasks, model) -> all requests of a run, made from the replies in its sample files."""

    def of(run, tasks, model, *, prefill=False):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings_of_all_tasks.items():
                patch.setenv(name, value)
            patch.setattr(delivery, "current", delivery.Delivery(prefill=prefill))
            return [
                Asked(task, fingerprint(messages), reply)
                for task in tasks
                for line in run.samples(task)
                for messages, reply in zip(messages_of(task, line, model=model), replies(line), strict=True)
            ]

    return of


def replies(line):
    found = line["filtered_resps"]
    return [found] if isinstance(found, str) else found


def assert_all_arrived(sent, expected):
    """`sent`: messages and the reply to them. Each request was sent as often as asked, each reply is in its place."""
    received = [(fingerprint(messages), reply) for messages, reply in sent]
    assert Counter(received) == Counter((one.request, one.reply) for one in expected)


def longest_reply(task):
    found = registry.find(task)
    config = registry.settings_of(registry.FOLDER / found.benchmark / f"{task}.yaml")
    return config["generation_kwargs"]["max_new_tokens"]


def record(run, task):
    found = run.samples(task)[0]["accuracy"]
    return found.get("items", [found])[0]


@pytest.fixture(scope="module")
def run_vllm(run_host, tmp_path_factory, settings_of_all_tasks):
    """run_vllm(model, tasks) -> the run, and the lines that the engine recorded."""

    def run(model, tasks):
        lines = tmp_path_factory.mktemp("engine") / "lines.jsonl"
        path = os.pathsep.join(filter(None, [str(STUBS), os.environ.get("PYTHONPATH")]))
        done = run_host(
            # the wrapper lets replies be at least as long as its own max_new_tokens
            *("--model", model, "--model_args", "model=stub,max_new_tokens=1,max_model_len=4096"),
            *("--batch_size", str(BATCH), "--tasks", ",".join(tasks), "--limit", str(LIMIT)),
            env={**settings_of_all_tasks, "PYTHONPATH": path, "VLLM_STUB_RECORD": str(lines)},
        )
        assert done.results
        return done, [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]

    return run


class TestVLLM:
    @pytest.fixture(scope="class")
    def ran(self, run_vllm):
        return run_vllm("vllm", TASKS)

    def test_the_engine_gets_the_users_options(self, ran):
        engines = [line["engine"] for line in ran[1] if "engine" in line]
        assert len(engines) == 1
        assert engines[0]["model"] == "stub"
        assert engines[0]["max_model_len"] == 4096
        assert engines[0]["tensor_parallel_size"] == 1

    def test_every_request_arrives_whole_and_every_reply_comes_back(self, ran, asked):
        run, lines = ran
        assert_all_arrived(exchanges(lines), asked(run, TASKS, "vllm"))

    def test_sampling_is_the_tasks(self, ran, asked):
        run, lines = ran
        tasks = {one.request: one.task for one in asked(run, TASKS, "vllm")}
        for line in lines:
            for said, params in zip(line.get("messages", []), line.get("sampling", []), strict=True):
                assert params["temperature"] == 0
                assert params["max_tokens"] == longest_reply(tasks[fingerprint(said)])

    def test_requests_come_in_full_batches(self, ran):
        sizes = [len(line["messages"]) for line in ran[1] if "messages" in line]
        rounds = max(len(replies(line)) for task in TASKS for line in ran[0].samples(task))
        assert max(sizes) == BATCH
        assert sum(size < BATCH for size in sizes) <= 1 + rounds

    def test_nothing_is_continued(self, ran):
        for line in ran[1]:
            assert "engine" in line or (line["begins"] and not line["continues"])


class TestVLLMPrefill:
    @pytest.fixture(scope="class")
    def ran(self, run_vllm):
        return run_vllm("vllm_prefill", MIXED)

    def test_every_request_arrives_whole_and_every_reply_comes_back(self, ran, asked):
        run, lines = ran
        assert_all_arrived(exchanges(lines), asked(run, MIXED, "vllm_prefill", prefill=True))

    def test_what_the_assistant_began_is_continued_and_nothing_else(self, ran):
        kinds = Counter()
        for line in ran[1]:
            for said in line.get("messages", []):
                begun = said[-1]["role"] == "assistant"
                assert line["continues"] is begun
                assert line["begins"] is not begun
                assert not begun or said[-1]["content"] == [{"type": "text", "text": "Answer:"}]
                kinds[begun] += 1
        assert kinds[True] > 5
        assert kinds[False] == LIMIT

    def test_the_signature_says_so(self, ran):
        assert "prefill:message" in record(ran[0], "mfe_conversation")["signature"]


def exchanges(lines):
    return [(said, stub_reply(said)) for line in lines for said in line.get("messages", [])]


def stub_reply(said):
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:8]


def server_reply(body):
    return "Answer: " + stub_reply(body["messages"])


class TestOpenAI:
    @pytest.fixture(scope="class")
    def ran(self, run_host, settings_of_all_tasks):
        from openai_server import OpenAIServer

        with OpenAIServer(server_reply) as server:
            settings = f"model_version=test,base_url={server.url},api_key=none,max_retries=1"
            run = run_host(
                *("--model", "openai", "--model_args", settings),
                *("--tasks", ",".join(TASKS), "--limit", str(LIMIT)),
                env={**settings_of_all_tasks, "OPENAI_API_KEY": "none"},
            )
            assert run.results
        return run, server.requests

    def test_every_request_arrives_whole_and_every_reply_comes_back(self, ran, asked):
        run, requests = ran
        sent = [(request.body["messages"], server_reply(request.body)) for request in requests]
        assert_all_arrived(sent, asked(run, TASKS, "openai"))

    def test_parameters_are_the_tasks(self, ran, asked):
        run, requests = ran
        tasks = {one.request: one.task for one in asked(run, TASKS, "openai")}
        for request in requests:
            body = {name: value for name, value in request.body.items() if name != "messages"}
            longest = longest_reply(tasks[fingerprint(request.body["messages"])])
            assert body == {"model": "test", "temperature": 0, "max_tokens": longest}

    def test_families_have_several_images_and_several_turns(self, ran):
        counts = defaultdict(set)
        for request in ran[1]:
            counts["images"].add(len(request.images))
            counts["messages"].add(len(request.body["messages"]))
        assert {0, 1, 2} <= counts["images"]
        assert {1, 3, 5, 7, 9} <= counts["messages"]
