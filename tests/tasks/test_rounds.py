"""Replies of several rounds as the host hands them on."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from lmms_eval_finance.tasks.common import text_of, texts_of_rounds

TEXT = st.text(st.characters(codec=None))


@given(st.lists(TEXT, min_size=1, max_size=5))
@example(["it's", 'say "x"', "\\", "', '", "\ud800", "\0"])
def test_a_tuple_is_read_back_from_what_python_writes(replies):
    assert texts_of_rounds(str(tuple(replies))) == list(map(text_of, replies))
    assert texts_of_rounds(replies) == list(map(text_of, replies))


@given(TEXT | st.none() | st.integers())
@example("('a' 'b')")
@example("('a')")
@example(r"('\x', 'a')")
@example("('a', b)")
@example("(" * 10_000)
@example("('" + "a', '" * 2_000)
@example("('" + "\\" * 9_999)
def test_anything_else_is_one_reply(response):
    assert texts_of_rounds(response) == [text_of(response)]
