from __future__ import annotations

import json

import pytest
from PIL import Image

from lmms_eval_finance.data import errata, sources
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.tasks.finmme import utils

ROW = {
    "id": 7,
    "question_text": "How much?",
    "question_type": "multiple_choice",
    "options": "A: one\nB: two\nC: three\nD: four",
    "answer": "A,C",
    "unit": None,
    "tolerance": None,
    "verified_caption": "A caption with {braces}",
    "related_sentences": None,
    "knowledge_domain": "Energy",
    "cognitive_level": "Fine-grained Perception",
}
NUMBER = {
    **ROW,
    "question_type": "numerical",
    "options": None,
    "answer": "12.5",
    "unit": "%",
    "tolerance": 0.5,
}


@pytest.fixture(autouse=True)
def sample(monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")


class TestRequest:
    def test_the_prompt_holds_what_the_contract_asks_for(self):
        text = utils.doc_to_text__default(ROW)
        for part in ("How much?", "A: one", "A caption with {braces}", "Answer: X", "separated by commas"):
            assert part in text
        assert "Related passages" not in text
        assert "Unit" not in text

    def test_a_number_is_asked_in_its_unit_and_without_options(self):
        text = utils.doc_to_text__default({**NUMBER, "options": "stray"})
        assert "Unit of the answer: %" in text
        assert "stray" not in text

    @pytest.mark.parametrize("variant", utils.VARIANTS)
    def test_every_variant_asks_for_the_same_last_line(self, variant):
        hooks = utils.VARIANTS[variant]
        for row in (ROW, NUMBER, {**ROW, "question_type": "single_choice"}):
            assert hooks.doc_to_text(row).splitlines()[-1].startswith("Answer: X")

    def test_wordings_differ_and_so_do_signatures(self):
        texts = {
            utils.VARIANTS[name].doc_to_text(ROW) for name in ("default", "prompt_a", "prompt_b", "prompt_c")
        }
        assert len(texts) == 4
        assert len({str(hooks.signature()) for hooks in utils.VARIANTS.values()}) == len(utils.VARIANTS)

    def test_text_stands_before_or_after_the_image(self):
        row = {**ROW, "image": Image.new("RGB", (40, 40))}
        kinds = [
            [part["type"] for part in utils.VARIANTS[name].doc_to_messages(row)[0]["content"]]
            for name in ("default", "image_first")
        ]
        assert kinds == [["text", "image"], ["image", "text"]]

    def test_the_released_preparation_shrinks_and_goes_through_jpeg(self):
        noisy = Image.effect_noise((3000, 1500), 90).convert("RGB")
        plain, prepared = (
            utils.VARIANTS[name].doc_to_visual({"image": noisy})[0] for name in ("default", "released_image")
        )
        assert plain.size == (3000, 1500)
        assert prepared.size == (1024, 512)


class TestRecord:
    @pytest.mark.parametrize(
        ("row", "response", "outcome", "parts"),
        [
            (
                ROW,
                "Answer: A, C",
                Outcome.CORRECT,
                {"correct": 2, "incorrect": 0, "gold_letters": 2, "options": 4},
            ),
            (ROW, "Answer: A,B", Outcome.WRONG, {"correct": 1, "incorrect": 1}),
            (ROW, "", Outcome.EMPTY, {"correct": 0, "incorrect": 0}),
            (ROW, "I like charts.", Outcome.UNREADABLE, {"correct": 0, "incorrect": 0}),
            ({**ROW, "answer": None}, "Answer: A", Outcome.GOLD_UNUSABLE, {}),
            (
                {**ROW, "question_type": "single_choice", "answer": "B"},
                "Answer: b",
                Outcome.CORRECT,
                {"correct": 1},
            ),
            (
                {**ROW, "question_type": "single_choice", "answer": "B"},
                "Answer: A",
                Outcome.WRONG,
                {"incorrect": 1},
            ),
            (NUMBER, "Answer: 13.0", Outcome.CORRECT, {"correct": 1, "incorrect": 0}),
            (NUMBER, "Answer: 13.1", Outcome.WRONG, {"correct": 0, "incorrect": 1}),
            (NUMBER, "Answer: 12.5%", Outcome.CORRECT, {"correct": 1}),
            ({**NUMBER, "tolerance": None}, "Answer: 12.5", Outcome.CORRECT, {"correct": 1}),
            (NUMBER, "no idea at all", Outcome.UNREADABLE, {"correct": 0, "incorrect": 0}),
        ],
    )
    def test_outcomes_and_selections(self, row, response, outcome, parts):
        record = utils.record(row, response)
        assert record.outcome is outcome
        assert {name: record.parts[name] for name in parts} == parts
        assert json.loads(json.dumps(record.to_json())) == record.to_json()

    @pytest.mark.parametrize(
        "message",
        [
            "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error code: 500 - boom",
            "Error code: 400 - answer: A",
            '{"error": {"message": "The server is overloaded", "code": 13}}',
        ],
    )
    def test_a_failed_request_is_no_answer_whatever_numbers_its_message_holds(self, message):
        for row in (ROW, NUMBER, {**NUMBER, "answer": "5", "tolerance": 500}):
            record = utils.record(row, message)
            assert (record.outcome, record.score, record.prediction) == (Outcome.REQUEST_FAILED, None, None)

    def test_labels_come_under_their_own_names(self):
        assert utils.labels(ROW) == {
            "question_type": "multiple_choice",
            "knowledge_domain": "Energy",
            "cognitive_level": "fine_grained_perception",
        }

    def test_metrics_of_one_record(self):
        figures = utils.as_metrics(utils.record(ROW, "Answer: A, C"))
        assert Record.from_json(figures["accuracy"]).score == 1.0
        assert figures["accuracy_multiple_choice"] == 1.0
        assert figures["accuracy_fine_grained_perception"] == 1.0
        assert "accuracy_numerical" not in figures
        assert figures["rate_empty"] == 0.0

    def test_an_item_that_cannot_be_scored_enters_no_figure(self):
        figures = utils.as_metrics(utils.record({**ROW, "answer": None}, "Answer: A"))
        assert "score" not in figures["accuracy"]
        assert "accuracy_multiple_choice" not in figures

    def test_a_fault_of_ours_on_one_item_does_not_end_the_run(self, monkeypatch):
        monkeypatch.setattr(utils.answers, "extract_letters", lambda *_, **__: 1 / 0)
        figures = utils.process_results__default(ROW, ["Answer: A"])
        assert figures["accuracy"]["outcome"] == "unreadable"

    def test_both_scores_with_errata(self, monkeypatch, tmp_path):
        fix = {"benchmark": "finmme", "task": "train", "id": "7", "released": "A,C", "corrected": "B",
               "evidence": "q", "date": "2026-11-29"}  # fmt: skip
        (tmp_path / "e.jsonl").write_text(json.dumps(fix))
        monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", str(tmp_path / "e.jsonl"))
        errata._read.cache_clear()
        record = utils.record(ROW, "Answer: B")
        assert (record.score, record.gold) == (1.0, "B")
        assert utils.as_metrics(record)["errata_changed"] == 1.0
        assert utils.as_metrics(record)["accuracy_on_released_gold"] == 0.0
        unchanged = utils.record({**ROW, "id": 8}, "Answer: A,C")
        assert utils.as_metrics(unchanged)["errata_changed"] == 0.0
        assert utils.as_metrics(unchanged)["accuracy_on_released_gold"] == 1.0
        assert "errata:no" not in str(utils.VARIANTS["default"].signature())


def test_a_model_that_knows_every_gold_is_right_everywhere():
    rows = sources.locate("finmme", "train").load()
    for row in rows:
        record = utils.record(row, f"Answer: {row['answer']}")
        assert record.outcome is Outcome.CORRECT, (row["id"], record)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("A: Q1\nB: Q2", {"A": "Q1", "B": "Q2"}),
        ("A. Foo\nB. Bar\nmore", {"A": "Foo", "B": "Bar more"}),
        ("(A) x\n(B) y", {"A": "x", "B": "y"}),
        ("A、甲\nB、乙", {"A": "甲", "B": "乙"}),
        ("yes\nno", {"A": "yes", "B": "no"}),
        ("", {}),
    ],
)
def test_options(text, options):
    assert utils.parse_options(text) == options
