"""Multimodal Finance Eval through the real host, on the real questions where they are at hand."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from lmms_eval_finance.cli import main

pytestmark = pytest.mark.host

SINGLE = ("mfe_text", "mfe_table", "mfe_table_yn_tf", "mfe_chart", "mfe_special_case")
DIALOGUES = ("mfe_conversation_gold", "mfe_conversation")
COUNTS = dict(zip(SINGLE + DIALOGUES, (501, 368, 120, 128, 22, 65, 65), strict=True))
FILES = {
    "mfe_text": "NER",
    "mfe_table": "tables",
    "mfe_table_yn_tf": "tables_yn_tf_paraphrase",
    "mfe_chart": "charts",
    "mfe_special_case": "special_cases",
    "mfe_conversation_gold": "calculs_conversation",
    "mfe_conversation": "calculs_conversation",
}


@pytest.fixture(scope="module")
def data(shared_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    assert (
        main(["data", "import", "mfe", str(shared_dir / "data/multimodal_finance_eval"), "-o", str(folder)])
        == 0
    )
    return str(folder)


def released(shared_dir, task):
    name = f"Q&A_finance.dataset_{FILES[task]}.json"
    path = shared_dir / "data/multimodal_finance_eval/dataset_json" / name
    return json.loads(path.read_text(encoding="utf-8"))


def records(run, task):
    found = [line["accuracy"] for line in run.samples(task)]
    return [record for item in found for record in item.get("items", [item])]


@pytest.fixture(scope="module")
def always_yes(run_host, data):
    return run_host(
        *("--model", "dummy", "--model_args", "response=Oui", "--tasks", "mfe"),
        env={"LMMS_EVAL_FINANCE_DATA": data},
    )


@pytest.mark.parametrize("task", COUNTS)
def test_every_question_is_asked_once(always_yes, shared_dir, task):
    found = records(always_yes, task)
    assert len(found) == COUNTS[task] == len(released(shared_dir, task))
    assert len({record["id"] for record in found}) == COUNTS[task]
    docs = 7 if task == "mfe_conversation" else COUNTS[task]
    assert len(always_yes.samples(task)) == docs


@pytest.mark.parametrize("task", SINGLE)
def test_a_constant_answer_scores_what_a_direct_count_says(always_yes, shared_dir, task):
    """`Oui` is right where the gold says Oui (once: Yes), or Vrai: the release's judges agree on that to a man."""
    rows = released(shared_dir, task)
    right = [re.match(r"(oui|vrai|yes)\b", str(row["Answer"]).strip().lower()) is not None for row in rows]
    figures = always_yes.figures(task)
    assert figures["accuracy"] == pytest.approx(sum(right) / len(rows))
    closed = [
        hit for hit, row in zip(right, rows, strict=True) if row.get("Question_type", "").startswith("Oui")
    ]
    if closed:
        assert figures["accuracy_yes_no"] == pytest.approx(sum(closed) / len(closed))


def test_the_groups_averages_are_those_of_their_parts(always_yes):
    group = {
        key.partition(",")[0]: value
        for key, value in always_yes.results["groups"]["mfe"].items()
        if "," in key and "stderr" not in key
    }
    tasks = {task: always_yes.figures(task) for task in COUNTS}
    printed = [figures["average_as_printed"] for figures in tasks.values()]
    assert group["average_as_printed"] == pytest.approx(sum(printed) / 7)
    first = [record["score"] for record in records(always_yes, "mfe_table") if int(record["id"]) <= 120]
    assert len(first) == 120
    assert tasks["mfe_table"]["average_as_printed"] == pytest.approx(sum(first) / 120)
    six = {task: figures["accuracy"] for task, figures in tasks.items() if task != "mfe_table_yn_tf"}
    assert group["average_macro"] == pytest.approx(sum(six.values()) / 6)
    items = sum(COUNTS[task] for task in six)
    assert group["average_items"] == pytest.approx(sum(six[task] * COUNTS[task] for task in six) / items)


@pytest.fixture(scope="module")
def server():
    from openai_server import OpenAIServer

    with OpenAIServer() as running:
        yield running


def openai(server, *extra):
    return (
        *("--model", "openai", "--batch_size", "1"),
        *(
            "--model_args",
            f"model_version=test,base_url={server.url},api_key=none,num_concurrent=8,max_retries=1",
        ),
        *extra,
    )


def answer_key(shared_dir):
    """Question text -> gold, for every question of the release."""
    key = {}
    for task in FILES:
        for row in released(shared_dir, task):
            key.setdefault(" ".join(row["Question"].split()), []).append(str(row["Answer"]).strip())
    return key


def last_question(body):
    """The question of the last user turn of a request."""
    turns = [message for message in body["messages"] if message["role"] == "user"]
    text = "\n".join(part["text"] for part in turns[-1]["content"] if part["type"] == "text")
    text = text.split("Question: ", 1)[-1]
    return " ".join(re.sub(r"\n\nAnswer:\s*$", "", text).split())


def test_golds_verbatim_are_all_right(run_host, server, data, shared_dir):
    """Where one question text has several golds (on several pages), the page decides: they rotate."""
    key, used = answer_key(shared_dir), Counter()

    def reply(body):
        question = last_question(body)
        golds = key[question]
        used[question] += 1
        return golds[(used[question] - 1) % len(golds)]

    server.reply = reply
    run = run_host(
        *openai(
            server,
            "--tasks",
            "mfe_chart,mfe_special_case,mfe_table_yn_tf,mfe_conversation_gold,mfe_conversation",
        ),
        env={"LMMS_EVAL_FINANCE_DATA": data, "OPENAI_API_KEY": "none"},
    )
    for task in ("mfe_special_case", "mfe_table_yn_tf", "mfe_conversation_gold", "mfe_conversation"):
        wrong = [
            record
            for record in records(run, task)
            if record.get("score") != 1.0 and record["outcome"] != "gold_unusable"
        ]
        assert not wrong, wrong[:3]


class TestDialogue:
    """On the packaged sample: one dialogue of five turns."""

    TASKS = ("--tasks", "mfe_conversation,mfe_conversation_gold")

    @pytest.fixture(scope="class")
    def run(self, run_host, server):
        server.requests.clear()
        server.reply = lambda body: "C" if len(body["messages"]) == 1 else "Answer: B"
        return run_host(*openai(server, *self.TASKS), env={"OPENAI_API_KEY": "none"})

    def test_own_answers_stand_in_the_history_in_order(self, run, server):
        own = [request for request in server.requests if _history(request.body)[:1] == ["Answer: C"]]
        assert [len(request.body["messages"]) for request in own] == [3, 5, 7, 9]
        assert _history(own[-1].body) == ["Answer: C", "Answer: B", "Answer: B", "Answer: B"]

    def test_roles_alternate_and_only_the_first_turn_has_the_image(self, run, server):
        for request in server.requests:
            roles = [message["role"] for message in request.body["messages"]]
            assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
            kinds = [{part["type"] for part in message["content"]} for message in request.body["messages"]]
            assert "image_url" in kinds[0]
            assert all("image_url" not in kind for kind in kinds[1:])
            assert len(request.images) == 1

    def test_gold_answers_stand_in_the_history_of_the_gold_task(self, run, server):
        golds = [record["gold"] for record in records(run, "mfe_conversation_gold")]
        longest = max(
            (_history(request.body) for request in server.requests if len(request.body["messages"]) == 9),
            key=lambda history: history == [f"Answer: {gold}" for gold in golds[:4]],
        )
        assert longest == [f"Answer: {gold}" for gold in golds[:4]]

    def test_every_turn_is_an_item_with_its_own_answer(self, run):
        found = records(run, "mfe_conversation")
        assert [record["labels"]["turn"] for record in found] == ["1", "2", "3", "4", "5"]
        assert [record["prediction"] for record in found] == ["C", "B", "B", "B", "B"]
        assert "history:own|prefill:cue" in found[0]["signature"]

    def test_wrappers_of_texts_get_the_history_as_text(self, run_host):
        run = run_host(*("--model", "dummy", "--model_args", "response=B"), *self.TASKS)
        assert "history:own-as-text" in records(run, "mfe_conversation")[0]["signature"]
        assert "history:gold-as-text" in records(run, "mfe_conversation_gold")[0]["signature"]
        assert run.output.count("stands in it as text") == 1

    def test_a_prefill_is_continued_by_a_wrapper_that_can(self, run_host, server):
        server.requests.clear()
        server.reply = " B"
        command = list(openai(server, *self.TASKS))
        command[1] = "openai_prefill"
        run = run_host(*command, env={"OPENAI_API_KEY": "none"})
        assert "prefill:message" in records(run, "mfe_conversation")[0]["signature"]
        for request in server.requests:
            assert request.body["messages"][-1] == {
                "role": "assistant",
                "content": [{"type": "text", "text": "Answer:"}],
            }
            assert request.body["continue_final_message"] is True
            assert request.body["add_generation_prompt"] is False


def _history(body):
    return [message["content"][0]["text"] for message in body["messages"] if message["role"] == "assistant"]
