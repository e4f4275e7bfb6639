"""The host's multi-round protocol on single requests: order, own history, docs that are not mixed up."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lmms_eval.api.instance import GenerationResult, Instance

from lmms_eval_finance.models import dialogue
from lmms_eval_finance.models.dialogue import run_dialogues


class Rows(list):
    """Rows as the host's data sets give them: a list by number, a column by name."""

    def __getitem__(self, key):
        return [row[key] for row in self] if isinstance(key, str) else dict(super().__getitem__(key))


def rows(lengths):
    return Rows({"id": f"doc{number}", "turns": turns} for number, turns in enumerate(lengths))


def ask(doc, number, replies, info):
    """A task in which each round shows the replies so far and counts rounds in its info."""
    assert info == (number - 1 if number > 1 else None)
    assert len(replies) == number
    return f"{doc['id']} round {number} after {list(replies)}"


def messages(doc, round_idx=0, previous_output=(), previous_round_info=None):
    said = [{"role": "user", "content": ask(doc, round_idx, previous_output, previous_round_info)}]
    return said if round_idx == 0 else (said, round_idx >= doc["turns"], list(previous_output), round_idx)


def text(doc, round_idx=0, previous_output=(), previous_round_info=None):
    if round_idx == 0:
        return ask(doc, 0, (), None)
    ended = round_idx >= doc["turns"]
    said = "" if ended else ask(doc, round_idx, previous_output, previous_round_info)
    return visual(doc), said, ended, list(previous_output), round_idx


def visual(doc):
    return [f"picture of {doc['id']}"]


def instance(number, chat, task="task"):
    metadata = {"task": task, "doc_id": number, "repeats": 1}
    options = {"temperature": 0}
    doc = {"id": f"doc{number}"}
    arguments = (
        (ask(doc, 0, (), None), messages, options, number, task, "test")
        if chat
        else (ask(doc, 0, (), None), options, visual, text, number, task, "test")
    )
    return Instance("generate_until_multi_round", arguments, 0, metadata)


def reply(doc_id, shown):
    return f"<{doc_id}:{shown.count('<')}>"


def generate(data, chat, batches_take_the_first_hook, calls, instances):
    """A wrapper: one output per request; each call is written down."""
    calls.append(len(instances))
    outputs = []
    for one in instances:
        assert one.request_type == "generate_until"
        if chat:
            context, hook, options, doc_id, *_ = one.arguments
        else:
            context, options, hook, doc_id, *_ = one.arguments
        if batches_take_the_first_hook:
            hook = instances[0].arguments[1 if chat else 2]
        content = hook(data[doc_id])
        if chat:
            shown = content[0]["content"]
        else:
            assert content == [f"picture of doc{doc_id}"]
            shown = context
        assert shown.startswith(f"doc{doc_id} ")
        options["changed"] = True  # as some wrappers do
        outputs.append(GenerationResult(reply(doc_id, shown)))
    return outputs


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("batches", [True, False])
@given(lengths=st.lists(st.integers(1, 6), max_size=6))
def test_each_dialogue_gets_its_own_replies_in_order(chat, batches, lengths):
    data, calls = rows(lengths), []
    requests = [instance(number, chat) for number in range(len(lengths))]
    found = run_dialogues(
        requests,
        messages=chat,
        dataset=lambda task, split: data,
        generate=partial(generate, data, chat, batches, calls),
    )
    assert found == [[f"<{number}:{turn}>" for turn in range(turns)] for number, turns in enumerate(lengths)]
    # One call a round, with every dialogue that still runs: they run side by side.
    assert calls == [sum(turns > number for turns in lengths) for number in range(max(lengths, default=0))]
    assert json.loads(json.dumps(found)) == found
    assert all("changed" not in part for one in requests for part in one.arguments if isinstance(part, dict))


@pytest.mark.parametrize("chat", [True, False])
def test_the_copies_that_pad_a_process_disturb_nobody(chat):
    data = rows([3, 2])
    requests = [instance(0, chat), instance(1, chat), instance(1, chat), instance(1, chat)]
    found = run_dialogues(
        requests,
        messages=chat,
        dataset=lambda task, split: data,
        generate=partial(generate, data, chat, False, []),
    )
    assert found == [["<0:0>", "<0:1>", "<0:2>"], *[["<1:0>", "<1:1>"]] * 3]


@given(lengths=st.lists(st.lists(st.integers(1, 5), max_size=3), min_size=2, max_size=3), chat=st.booleans())
def test_processes_in_step_make_as_many_requests_each_round(lengths, chat):
    """Each waits in every request for all the others, as those that share a model do."""
    count = len(lengths)
    at_gate = threading.Barrier(count)
    counts, calls, found = [0] * count, [[] for _ in lengths], [None] * count

    def process(rank):
        data = rows(lengths[rank])

        def together(here):
            counts[rank] = here
            at_gate.wait(20)
            most = max(counts)
            at_gate.wait(20)
            return most

        def answer(instances):
            if data:
                return generate(data, chat, False, calls[rank], instances)
            assert instances == []
            return []

        found[rank] = run_dialogues(
            [instance(number, chat) for number in range(len(data))],
            messages=chat,
            dataset=lambda task, split: data,
            generate=answer,
            together=together,
        )

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(process, range(count)))
    assert found == [
        [[f"<{number}:{turn}>" for turn in range(turns)] for number, turns in enumerate(mine)]
        for mine in lengths
    ]
    assert len({tuple(made) for made, mine in zip(calls, lengths, strict=True) if mine}) <= 1


def test_docs_of_two_tasks_with_one_id_are_two():
    data = {"one": rows([2]), "two": Rows([{"id": "doc0", "turns": 3}])}
    requests = [instance(0, True, "one"), instance(0, True, "two")]

    def answer(instances):
        return [
            f"<{one.arguments[4]}{len(one.arguments[1](data[one.arguments[4]][0])[0]['content'].split('<')) - 1}>"
            for one in instances
        ]

    found = run_dialogues(requests, messages=True, dataset=lambda task, split: data[task], generate=answer)
    assert found == [["<one0>", "<one1>"], ["<two0>", "<two1>", "<two2>"]]


def test_a_dialogue_without_an_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(dialogue, "MOST_ROUNDS", 4)
    data = rows([10**9])
    (outputs,) = run_dialogues(
        [instance(0, True)],
        messages=True,
        dataset=lambda task, split: data,
        generate=partial(generate, data, True, False, []),
    )
    assert len(outputs) == 4


@pytest.mark.parametrize(
    "said",
    [
        "see <image>",
        "<|image_pad|><|vision_start|>",
        "<IMAGE_1> <img> <video>",
        "<start_of_image>",
        "<|audio|>",
    ],
)
def test_a_reply_cannot_stand_for_an_image(said):
    """A processor that finds more placeholders than images stops the whole run."""
    data, shown = rows([2]), []

    def answer(instances):
        (one,) = instances
        shown.append(one.arguments[0] + one.arguments[1](data[0])[0]["content"])
        return [said]

    found = run_dialogues(
        [instance(0, True)], messages=True, dataset=lambda task, split: data, generate=answer
    )
    assert found == [[said, said]]
    assert not [tag for tag in said.split() if tag in shown[1] and "<" in tag]
    assert re.sub(r"< ", "<", shown[1]).count(said) == 2


@pytest.mark.parametrize(
    "said", ["a < b > c", "<table><tr><td>1</td></tr></table>", "x<y and y>z", "<" * 10_000]
)
def test_other_replies_stay_as_they_are(said):
    data, shown = rows([2]), []

    def answer(instances):
        shown.append(instances[0].arguments[0])
        return [said]

    run_dialogues([instance(0, True)], messages=True, dataset=lambda task, split: data, generate=answer)
    assert shown[1].endswith(said)


def test_what_is_no_text_counts_as_an_empty_reply():
    data = rows([2])

    def answer(instances):
        return [GenerationResult(None)] * len(instances)

    found = run_dialogues(
        [instance(0, True)], messages=True, dataset=lambda task, split: data, generate=answer
    )
    assert found == [["", ""]]
