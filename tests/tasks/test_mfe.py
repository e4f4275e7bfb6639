"""Records of Multimodal Finance Eval, on every real question."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.data import errata, sources
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.tasks import delivery
from lmms_eval_finance.tasks.mfe import utils

SPLITS = ("text", "table", "table_yn_tf", "chart", "special_case", "conversation")


@pytest.fixture(scope="module")
def rows(shared_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        assert (
            main(
                ["data", "import", "mfe", str(shared_dir / "data/multimodal_finance_eval"), "-o", str(folder)]
            )
            == 0
        )
        patch.setenv("LMMS_EVAL_FINANCE_DATA", str(folder))
        yield {
            split: sources.locate("mfe", split).load().remove_columns(["image", "image_144"])
            if split != "text"
            else sources.locate("mfe", split).load()
            for split in SPLITS
        }


def variant(split):
    return utils.VARIANTS["conversation_gold" if split == "conversation" else split]


@pytest.mark.parametrize("split", SPLITS)
def test_every_gold_verbatim_is_right(rows, split):
    hooks = variant(split)
    records = [hooks.record(row, f"Answer: {row['answer']}") for row in rows[split]]
    missed = [(r.id, r.gold, r.outcome.value, r.reason) for r in records if r.score != 1.0]
    assert missed == []


def test_answers_of_other_questions_are_not(rows):
    shuffler = random.Random(0)
    right = asked = 0
    for split in ("text", "table", "chart", "special_case"):
        items = [row for row in rows[split] if row["question_type"] == "open"]
        answers = [row["answer"] for row in items]
        shuffler.shuffle(answers)
        for row, answer in zip(items, answers, strict=True):
            if " ".join(answer.lower().split()) != " ".join(row["answer"].lower().split()):
                asked += 1
                right += variant(split).record(row, answer).score or 0
    assert asked > 750
    assert right / asked < 0.03


def test_errata_change_exactly_the_listed_golds(rows, monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", "1")
    changed = Counter(
        record.parts["errata"]
        for split in SPLITS
        for record in (variant(split).record(row, "x") for row in rows[split])
    )
    assert changed[1.0] == len(errata.load("mfe").corrections) > 40
    (place, fix), *_ = errata.load("mfe").corrections.items()
    row = next(row for row in rows[place[0]] if row["id"] == place[1])
    record = variant(place[0]).record(row, fix.corrected)
    assert record.score == 1.0
    assert record.gold == fix.corrected


@pytest.fixture
def sample(monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")


class TestRequests:
    @pytest.fixture(autouse=True)
    def _sample(self, sample):
        # Whatever another test noted of a model.
        delivery.note(messages=True, prefill=False)
        yield
        delivery.note(messages=True, prefill=False)

    def turns(self):
        return utils.process_turns(sources.locate("mfe", "conversation").load())

    def test_the_page_and_the_question_are_asked_with_the_cue_at_the_end(self):
        row = sources.locate("mfe", "table").load()[0]
        (message,) = utils.doc_to_messages__table(row)
        assert [part["type"] for part in message["content"]] == ["image", "text"]
        assert row["question"] in message["content"][1]["text"]
        assert message["content"][1]["text"].endswith("Answer:")
        assert utils.doc_to_text__table(row) == message["content"][1]["text"]

    def test_text_items_bring_their_context_and_no_image(self):
        row = sources.locate("mfe", "text").load()[0]
        assert row["context"] in utils.doc_to_text__text(row)
        assert utils.doc_to_visual__text(row) == []

    def test_the_resolution_is_the_variants(self):
        row = sources.locate("mfe", "table").load()[0]
        low, high = utils.doc_to_visual__table(row)[0], utils.doc_to_visual__table_144dpi(row)[0]
        assert high.width == pytest.approx(2 * low.width, abs=2)
        assert "dpi:144" in str(utils.VARIANTS["table_144dpi"].signature())

    def test_earlier_turns_hold_the_gold(self):
        doc = self.turns()[3]
        messages = utils.doc_to_messages__conversation_gold(doc)
        golds = [turn["answer"] for turn in json.loads(doc["turns"])]
        assert [message["role"] for message in messages] == ["user", "assistant"] * 3 + ["user"]
        said = [message["content"][0]["text"] for message in messages if message["role"] == "assistant"]
        assert said == [f"Answer: {gold}" for gold in golds[:3]]

    def test_a_prefill_ends_the_messages_where_it_can_be_continued(self):
        delivery.note(messages=True, prefill=True)
        messages = utils.doc_to_messages__conversation_gold(self.turns()[1])
        assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
        assert messages[-1]["content"][0]["text"] == "Answer:"
        assert not messages[-2]["content"][0]["text"].endswith("Answer:")
        assert "prefill:message" in str(utils.VARIANTS["conversation_gold"].signature())

    def test_rounds_follow_the_hosts_protocol_and_end(self):
        docs = utils.process_dialogues(sources.locate("mfe", "conversation").load())
        doc = docs[0]
        hooks = utils.VARIANTS["conversation"]
        said, rounds = [], 0
        messages = hooks.dialogue_to_messages(doc)
        while True:
            assert len(messages) == 2 * rounds + 1
            said.append(f" Answer: reply {rounds}")
            rounds += 1
            messages, ended, _, _ = hooks.dialogue_to_messages(doc, round_idx=rounds, previous_output=said)
            if ended:
                break
        assert rounds == 5
        pictures, text, *_ = hooks.dialogue_to_text(doc, round_idx=2, previous_output=["Answer: one", "two"])
        assert [picture.size for picture in pictures] == [hooks.doc_to_visual(doc)[0].size]
        assert text.index("Answer: one") < text.index("Answer: two") < text.rindex("Question:")

    def test_a_model_that_stopped_answering_leaves_empty_turns(self):
        doc = utils.process_dialogues(sources.locate("mfe", "conversation").load())[0]
        figures = utils.process_dialogue__conversation(doc, [["B", "A"]])
        outcomes = [record["outcome"] for record in figures["accuracy"]["items"]]
        assert len(outcomes) == 5
        assert outcomes[2:] == [Outcome.EMPTY.value] * 3

    def test_replies_that_the_host_wrote_as_one_text_are_read_back(self):
        """Two wrappers give tuples of replies, which the host makes texts of."""
        doc = utils.process_dialogues(sources.locate("mfe", "conversation").load())[0]
        replies = ["Answer: l'action", 'Answer: "B"\n', "5 %", "", "\\"]
        listed, written = (
            utils.process_dialogue__conversation(doc, [given]) for given in (replies, str(tuple(replies)))
        )
        assert [item["response"] for item in written["accuracy"]["items"]] == replies
        assert written == listed

    @pytest.mark.parametrize("response", ["", "\0", "Answer:", "é" * 5000, "{" * 3000, "None"])
    def test_any_response_gives_a_record(self, response):
        for split in SPLITS:
            row = sources.locate("mfe", split).load()[0]
            record = variant(split).record(row, response)
            assert json.loads(json.dumps(record.to_json())) == record.to_json()
