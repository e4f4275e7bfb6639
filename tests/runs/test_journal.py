from __future__ import annotations

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.runs.journal import append_line, item_of, read_lines, write_lines
from lmms_eval_finance.settings import SettingError


def row(number, **more):
    return {"task": "t", "id": str(number), **more}


def test_what_is_appended_is_read(tmp_path):
    path = tmp_path / "d.jsonl"
    assert list(read_lines(path)) == []
    for number in range(3):
        append_line(path, row(number, text="é\ud800"))
    assert [item_of(found) for found in read_lines(path)] == [("t", "0"), ("t", "1"), ("t", "2")]


@given(st.integers(0, 200), st.integers(1, 4))
def test_a_torn_end_costs_only_what_was_not_reported(tmp_path_factory, cut, count):
    path = tmp_path_factory.mktemp("j") / "d.jsonl"
    for number in range(count):
        append_line(path, row(number, decision="correct"))
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - cut)])
    kept = sum(end <= len(whole) - cut for end in _ends(whole, count))
    append_line(path, row(99))
    ids = [found["id"] for found in read_lines(path)]
    assert ids == [*map(str, range(kept)), "99"]


def _ends(data, count):
    """Where each line's object ends, its line break not counted."""
    ends, position = [], 0
    for _ in range(count):
        position = data.index(b"\n", position) + 1
        ends.append(position - 1)
    return ends


def test_a_damaged_line_is_an_error(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"task": "t", "id": "1"}\nnonsense\n')
    with pytest.raises(SettingError, match=r"d\.jsonl:2: cannot be read"):
        list(read_lines(path))
    path.write_text('{"task": "t"}\n')
    with pytest.raises(SettingError, match="no object with task and id"):
        list(read_lines(path))


def test_appending_from_many_threads(tmp_path):
    path = tmp_path / "d.jsonl"
    threads = [threading.Thread(target=append_line, args=(path, row(n, pad="x" * 3000))) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(found["id"]) for found in read_lines(path)) == list(range(40))


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "v.jsonl"
    write_lines(path, [row(1)])

    def failing():
        yield row(2)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_lines(path, failing())
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["1"]
    with pytest.raises(SettingError, match="cannot be written"):
        write_lines(tmp_path / "absent" / "v.jsonl", [row(1)])
