"""FAMMA through the host: all real questions with its openai wrapper, everything else on the packaged sample."""

from __future__ import annotations

import base64
import csv
import json
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from lmms_eval_finance.cli import main

pytestmark = pytest.mark.host

MANNERS = ("perfect", "damaged", "half", "prose", "other")


@pytest.fixture(scope="module")
def rows(shared_dir):
    """The release as the csv module reads it, by context, without help of this package."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    contexts = defaultdict(list)
    with (shared_dir / "data/famma/release_basic_txt_english.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            contexts[int(row["main_question_id"])].append(row)
    return {
        main: sorted(rows, key=lambda row: int(row["sub_question_id"])) for main, rows in contexts.items()
    }


@pytest.fixture(scope="module")
def server():
    from openai_server import OpenAIServer

    with OpenAIServer() as running:
        yield running


def openai(server, *extra):
    arguments = f"model_version=test,base_url={server.url},api_key=none,num_concurrent=8,max_retries=1"
    return ("--model", "openai", "--batch_size", "1", "--model_args", arguments, *extra)


def asked(body):
    """The text of the last user turn."""
    (*_, last) = (message for message in body["messages"] if message["role"] == "user")
    return "\n".join(part["text"] for part in last["content"] if part["type"] == "text")


def keys_in(text):
    return re.findall(r"^Question (q\d+) \(", text, re.MULTILINE)


def manner_of(main):
    return MANNERS[main % len(MANNERS)]


def in_manner(manner, answers, rng):
    """What a model of that manner replies: question number -> answer."""
    if manner == "damaged":
        kept = [
            f"'q{number}': {{'answer': {json.dumps(text, ensure_ascii=False)}, explanation: 'so'}}"
            for number, text in answers.items()
        ]
        return "Here you are:\n```json\n{" + ",\n".join(kept) + ",}\n"
    if manner == "half":
        answers = dict(list(answers.items())[: len(answers) // 2])
    if manner == "prose":
        return "I have looked at everything with care.\n" + "\n".join(
            f"The answer to q{number} is {text.strip()}" for number, text in answers.items()
        )
    return json.dumps(
        {f"q{number}": {"answer": text, "explanation": "so"} for number, text in answers.items()}
    )


def records_of(run, task):
    return [record for line in run.samples(task) for record in line["accuracy"]["items"]]


class TestAllRealQuestions:
    @pytest.fixture(scope="class")
    def run(self, run_host, server, rows, tmp_path_factory, shared_dir):
        folder = tmp_path_factory.mktemp("data")
        assert main(["data", "import", "famma", str(shared_dir / "data/famma"), "-o", str(folder)]) == 0
        by_question = {}
        for number, members in rows.items():
            by_question.setdefault(" ".join(members[0]["question"].split()), []).append(number)
        opens = [
            row for members in rows.values() for row in members if row["question_type"] == "open question"
        ]
        shuffled = [row["answers"] for row in opens]
        random.Random(0).shuffle(shuffled)
        other = {row["question_id"]: answer for row, answer in zip(opens, shuffled, strict=True)}

        def reply(body):
            text = asked(body)
            first = " ".join(re.split(r"^Question q\d+ \([a-z ]+\):\n", text, flags=re.MULTILINE)[1].split())
            keys = keys_in(text)
            (number,) = [
                candidate
                for question, candidates in by_question.items()
                if first.startswith(question)
                for candidate in candidates
                if [f"q{row['sub_question_id']}" for row in rows[candidate]] == keys
                and all(
                    " ".join(row["question"].split()) in " ".join(text.split()) for row in rows[candidate]
                )
                and " ".join(rows[candidate][0]["context"].split()) in " ".join(text.split())
            ][:1]
            manner = manner_of(number)
            answers = {
                row["sub_question_id"]: other.get(row["question_id"], "A")
                if manner == "other"
                else row["answers"]
                for row in rows[number]
            }
            return in_manner(manner, answers, random.Random(number))

        server.requests.clear()
        server.reply = reply
        return run_host(
            *openai(server, "--tasks", "famma_txt"),
            env={"LMMS_EVAL_FINANCE_DATA": str(folder), "OPENAI_API_KEY": "none"},
        )

    def by_manner(self, run):
        found = defaultdict(list)
        for record in records_of(run, "famma_txt"):
            found[manner_of(int(record["cluster"].rpartition("_")[2]))].append(record)
        return found

    def test_every_context_is_one_request_and_every_question_one_item(self, run, server, rows):
        found = records_of(run, "famma_txt")
        assert len(server.requests) == len(rows) == 487
        assert len(run.samples("famma_txt")) == 487
        assert len({record["id"] for record in found}) == len(found) == 1378

    @pytest.mark.parametrize("manner", ["perfect", "damaged"])
    def test_golds_verbatim_are_right(self, run, rows, manner):
        found = self.by_manner(run)[manner]
        assert len(found) == sum(len(members) for main, members in rows.items() if manner_of(main) == manner)
        missed = [
            (record["id"], record["gold"], record["reason"]) for record in found if record.get("score") != 1.0
        ]
        assert len(missed) <= 0.01 * len(found), missed

    def test_half_an_answer_scores_its_half(self, run, rows):
        outcomes = Counter(record["outcome"] for record in self.by_manner(run)["half"])
        sizes = [len(members) for main, members in rows.items() if manner_of(main) == "half"]
        given = sum(size // 2 for size in sizes)
        left_out = sum(size - size // 2 for size in sizes)
        assert outcomes["correct"] == given
        # a reply that answers nothing at all is an empty object
        assert outcomes["empty"] + outcomes["unreadable"] == left_out

    def test_prose_is_read(self, run):
        found = [
            record
            for record in self.by_manner(run)["prose"]
            if record["labels"]["question_type"] == "multiple_choice"
        ]
        missed = [(record["gold"], record["prediction"]) for record in found if record.get("score") != 1.0]
        assert len(found) > 100
        assert missed == []

    def test_answers_of_other_questions_are_wrong(self, run):
        opens = [
            record for record in self.by_manner(run)["other"] if record["labels"]["question_type"] == "open"
        ]
        assert len(opens) > 80
        assert sum(record["score"] for record in opens) / len(opens) < 0.04

    def test_the_table_is_the_mean_of_the_records_and_breakdowns_sum_to_it(self, run):
        found = records_of(run, "famma_txt")
        figures = run.figures("famma_txt")
        assert figures["accuracy"] == pytest.approx(sum(record["score"] for record in found) / 1378)
        assert figures["accuracy_english"] == pytest.approx(figures["accuracy"])
        for label, values in (
            ("difficulty", ("easy", "medium", "hard")),
            ("question_type", ("multiple_choice", "open")),
        ):
            counts = Counter(record["labels"][label] for record in found)
            assert sum(counts.values()) == 1378
            total = sum(figures[f"accuracy_{value}"] * counts[value] for value in values)
            assert total == pytest.approx(figures["accuracy"] * 1378)
            for value in values:
                if label == "difficulty":
                    assert figures[f"accuracy_english_{value}"] == pytest.approx(figures[f"accuracy_{value}"])
        assert 0.005 < figures["standard_error"] < 0.05


# -- the packaged sample -----------------------------------------------------------------------------

BOOK = """The duration of a zero-coupon bond equals its maturity.

The current yield of a bond is its annual coupon divided by its price.
"""


@pytest.fixture(scope="module")
def sample_run(run_host, server, tmp_path_factory):
    """One run of every task but famma_txt; the model says step, step, final, and answers A or 5."""
    books = tmp_path_factory.mktemp("books")
    (books / "bonds.txt").write_text(BOOK)
    assert main(["rag", "index", str(books)]) == 0

    def reply(body):
        text = asked(body)
        if text.endswith('"content" and "next_action".'):
            number = sum(message["role"] == "assistant" for message in body["messages"])
            return json.dumps(
                {
                    "title": f"step {number}",
                    "content": "c",
                    "next_action": "final answer" if number > 2 else "continue",
                }
            )
        whole = "\n".join(
            part["text"]
            for message in body["messages"]
            for part in message["content"]
            if part["type"] == "text"
        )
        return json.dumps({key: {"answer": "A"} for key in keys_in(whole)})

    server.requests.clear()
    server.reply = reply
    tasks = (
        "famma,famma_single,famma_livepro,famma_livepro_txt,famma_validation,famma_test,famma_dynamic_cot,"
        "famma_dynamic_cot_txt,famma_rag,famma_rag_txt"
    )
    return run_host(
        *openai(server, "--tasks", tasks),
        env={"OPENAI_API_KEY": "none", "LMMS_EVAL_FINANCE_RAG": str(books)},
    )


@pytest.mark.parametrize(
    ("task", "docs", "items"),
    [
        ("famma", 8, 19),
        ("famma_single", 19, 19),
        ("famma_livepro", 2, 4),
        ("famma_livepro_txt", 2, 4),
        ("famma_validation", 3, 8),
        ("famma_test", 3, 6),
        ("famma_dynamic_cot", 8, 19),
        ("famma_dynamic_cot_txt", 8, 19),
        ("famma_rag", 8, 19),
        ("famma_rag_txt", 8, 19),
    ],
)
def test_every_task_scores_every_question(sample_run, task, docs, items):
    assert len(sample_run.samples(task)) == docs
    found = records_of(sample_run, task)
    assert len(found) == len({record["id"] for record in found}) == items
    choices = [record for record in found if record["labels"]["question_type"] == "multiple_choice"]
    if task != "famma_test":
        right = [record["gold"].strip(". ").upper() in ("A", "QQ==") for record in choices]
        assert [record["score"] == 1.0 for record in choices] == right
        assert any(right)
        assert "accuracy" in sample_run.figures(task)


def test_images_go_out_in_place_and_once(sample_run, server):
    single = [
        request
        for request in server.requests
        if "Seven sectors" in request.text and len(request.body["messages"]) == 1 and request.images
    ]
    assert len(single) == 4  # famma, famma_rag, and famma_single's two questions
    for request in single:
        (message,) = request.body["messages"]
        kinds = "".join("i" if part["type"] == "image_url" else "t" for part in message["content"])
        assert kinds == "tititititititit"
        assert len(set(request.images)) == 7
    twice = [
        request
        for request in server.requests
        if "Two funds" in request.text and "Question q2" in request.text
    ]
    assert twice
    assert all(len(request.images) in (0, 2) for request in twice)


def test_no_file_of_the_run_tells_a_masked_gold(sample_run):
    sample = Path(__file__).parents[2] / "lmms_eval_finance/data/sample/famma/release_livepro.jsonl"
    masked = [json.loads(line)["answers"] for line in sample.read_text("utf-8").splitlines()]
    golds = [base64.b64decode(text).decode() for text in masked]
    spelled = [gold for gold in golds if len(gold) > 1]
    assert spelled == ["2%", "7.2万元"]
    for file in [*sample_run.folder.rglob("*livepro*"), *sample_run.folder.rglob("*results.json")]:
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            if number == 1 or "results" in file.name:  # the context with open questions
                assert "7.2万元" not in line, file
                assert '"2%' not in line, file
                assert " 2%" not in line, file
    assert "7.2万元" not in sample_run.output


def test_a_split_without_golds_leaves_a_submission_and_says_so(sample_run):
    (file,) = sample_run.folder.glob("out/*_submission_famma_test.json")
    assert set(json.loads(file.read_text("utf-8"))) == {
        record["id"] for record in records_of(sample_run, "famma_test")
    }
    assert "nothing is scored; 6 answers are in" in sample_run.output
    assert sample_run.figures("famma_test").get("accuracy") in (None, "None", "")


def test_steps_are_a_conversation_and_kept(sample_run, server):
    talks = [
        request.body["messages"]
        for request in server.requests
        if request.body["messages"][0]["role"] == "system"
    ]
    longest = [talk for talk in talks if len(talk) == 10]
    assert len(longest) == 16
    for talk in longest:
        assert [message["role"] for message in talk] == ["system", "user", "assistant", "user"] + [
            "assistant",
            "user",
        ] * 3
        assert "step 3" in talk[8]["content"][0]["text"]
    for task in ("famma_dynamic_cot", "famma_dynamic_cot_txt"):
        for record in records_of(sample_run, task):
            assert [step["title"] for step in record["details"]["trace"]] == ["step 1", "step 2", "step 3"]
            assert "history:messages" in record["signature"]


def test_passages_stand_in_the_request_and_in_the_record(sample_run, server):
    shown = [request for request in server.requests if "[1] bonds.txt" in request.text]
    assert any("What is its Macaulay duration?" in request.text for request in shown)
    record = next(
        record for record in records_of(sample_run, "famma_rag") if record["id"] == "english_2_2_s1"
    )
    assert record["details"]["passages"] == ["bonds.txt"]
    assert re.search(r"\|index:[0-9a-f]{12}", record["signature"])
    assert sample_run.results["configs"]["famma_rag"]["metadata"]["index"]["passages"] == 1


def test_wrappers_of_texts(run_host):
    run = run_host(
        *("--model", "dummy", "--model_args", "response=A", "--tasks", "famma_dynamic_cot,famma_single"),
    )
    assert "history:text" in records_of(run, "famma_dynamic_cot")[0]["signature"]
    assert len(records_of(run, "famma_single")) == 19
