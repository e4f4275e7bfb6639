"""The host's response cache under a run that stops midway."""

from __future__ import annotations

import pytest
from lmms_eval.api.instance import GenerationResult, Instance
from lmms_eval.caching.response_cache import ResponseCache

from lmms_eval_finance.models.caching import in_slices


class Model:
    """Answers until it is to die; counts what it answers."""

    def __init__(self, dies_after=None, reply="reply to {}"):
        self.left, self.reply, self.asked = dies_after, reply, []

    def generate_until(self, requests):
        outputs = []
        for request in requests:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left = None if self.left is None else self.left - 1
            self.asked.append(request.doc_id)
            outputs.append(GenerationResult(self.reply.format(request.doc_id)))
        return outputs

    def generate_until_multi_round(self, requests):
        return [[one.text, "and"] for one in self.generate_until(requests)]


def requests(count, task="ours", kind="generate_until"):
    # The text is the same for all, as with pictures that are only to be transcribed.
    return [
        Instance(
            kind,
            ("Transcribe.", None, {"temperature": 0, "until": []}, number, task, "test"),
            0,
            {"task": task, "doc_id": number, "repeats": 1},
        )
        for number in range(count)
    ]


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.setenv("LMMS_CACHE_RUN_ID", "one")
    monkeypatch.setenv("LMMS_CACHE_CHECKPOINT_INTERVAL", "4")
    return lambda: ResponseCache.create(str(tmp_path), model="model", model_args="a=1")


execute = in_slices(ResponseCache.execute, ours={"ours"})


@pytest.mark.parametrize("kind", ["generate_until", "generate_until_multi_round"])
def test_a_run_that_dies_keeps_all_but_its_last_slice(opened, kind):
    with pytest.raises(KeyboardInterrupt):
        execute(opened(), Model(dies_after=10), kind, requests(15, kind=kind))
    second = Model()
    found = execute(opened(), second, kind, requests(15, kind=kind))
    assert second.asked == list(range(8, 15))
    texts = [one.text if isinstance(one, GenerationResult) else one for one in found]
    whole = [f"reply to {number}" for number in range(15)]
    assert texts == (whole if kind == "generate_until" else [[text, "and"] for text in whole])


def test_the_hosts_own_loses_everything(opened):
    """Why slices are needed; when this fails, they are not any more."""
    with pytest.raises(KeyboardInterrupt):
        ResponseCache.execute(opened(), Model(dies_after=10), "generate_until", requests(15))
    second = Model()
    ResponseCache.execute(opened(), second, "generate_until", requests(15))
    assert len(second.asked) == 15


@pytest.mark.parametrize(
    ("kind", "failure"),
    [
        ("generate_until", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error."),
        ("generate_until_multi_round", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error."),
        ("generate_until", "[LMMS_EVAL_BUDGET_EXCEEDED]"),
    ],
)
def test_what_is_no_reply_is_asked_again(opened, kind, failure):
    execute(opened(), Model(reply=failure), kind, requests(5, kind=kind))
    second = Model()
    found = execute(opened(), second, kind, requests(5, kind=kind))
    assert second.asked == list(range(5))
    third = Model()
    again = execute(opened(), third, kind, requests(5, kind=kind))
    assert third.asked == []
    assert [getattr(one, "text", one) for one in found] == again


def test_tasks_of_others_go_the_hosts_way(opened):
    model = Model()
    calls = []
    model.generate_until = lambda asked: calls.append(len(asked)) or [GenerationResult("x")] * len(asked)
    execute(opened(), model, "generate_until", requests(9, task="theirs"))
    execute(opened(), model, "generate_until", requests(9))
    assert calls == [9, 4, 4, 1]


def test_nothing_asked_is_nothing_answered(opened):
    assert execute(opened(), Model(), "generate_until", []) == []
