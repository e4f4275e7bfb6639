"""The reply cache under threads, processes and kill -9."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.judging.cache import ReplyCache, request_key
from lmms_eval_finance.settings import SettingError

# Writes replies until it is killed and names each one on stdout as soon as put() has returned.
WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from lmms_eval_finance.judging.cache import ReplyCache
path, tag, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
cache = ReplyCache(path)
def write(number):
    key = f"{tag}-{number}"
    cache.put(key, {"text": key * 50})
    sys.stdout.write(key + "\\n")
    sys.stdout.flush()
with ThreadPoolExecutor(8) as pool:
    list(pool.map(write, range(count)))
"""


def start(path, tag, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path, tag, str(count)], stdout=subprocess.PIPE, text=True
    )


def whole_lines(text):
    return text.split("\n")[:-1]


def test_killed_twenty_times_nothing_is_lost_and_nothing_torn(tmp_path):
    path = tmp_path / "cache.sqlite"
    reported = []
    for attempt in range(20):
        writer = start(path, f"w{attempt}", 1_000_000)
        lines = [writer.stdout.readline()]  # it is writing now
        time.sleep(0.003 * (attempt % 7))
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.readlines()
        writer.wait()
        assert writer.returncode == -signal.SIGKILL
        reported += whole_lines("".join(lines))
    assert len(reported) >= 20
    cache = ReplyCache(path)
    for key in reported:
        assert cache.get(key) == {"text": key * 50}
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        # what was written but not reported in time is whole, too
        for key, reply in connection.execute("SELECT request, reply FROM replies"):
            assert key * 50 in reply


def test_two_processes_and_many_threads_write_at_once(tmp_path):
    path = tmp_path / "cache.sqlite"
    writers = [start(path, "same", 400), start(path, "same", 400)]
    cache = ReplyCache(path)
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda number: cache.put(f"here-{number}", {"n": number}), range(640)))
    for writer in writers:
        out, _ = writer.communicate(timeout=60)
        assert writer.returncode == 0
        assert len(whole_lines(out)) == 400
    assert len(cache) == 400 + 640
    assert all(cache.get(f"here-{number}") == {"n": number} for number in range(640))


def test_32_threads_read_and_write_one_cache(tmp_path):
    cache = ReplyCache(tmp_path / "cache.sqlite")
    gate = threading.Barrier(32)

    def work(thread):
        gate.wait()
        for number in range(20):
            cache.put(f"k{number}", {"n": number})
            assert cache.get(f"k{number}") == {"n": number}
        return thread

    with ThreadPoolExecutor(32) as pool:
        assert sorted(pool.map(work, range(32))) == list(range(32))
    assert len(cache) == 20


def test_the_first_reply_stays(tmp_path):
    cache = ReplyCache(tmp_path / "cache.sqlite")
    cache.put("k", {"n": 1})
    cache.put("k", {"n": 2})
    cache.close()
    assert ReplyCache(tmp_path / "cache.sqlite").get("k") == {"n": 1}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(), json_values, max_size=4), st.dictionaries(st.text(), json_values, max_size=4)
)
def test_the_key_is_the_whole_request(one, other):
    assert request_key("u", one) == request_key("u", dict(reversed(one.items())))
    assert request_key("u", one) != request_key("v", one)
    if one != other:
        assert request_key("u", one) != request_key("u", other)


@given(st.text())
def test_any_text_survives(text):
    cache = ReplyCache(Path(":memory:"))
    cache.put("k", {"text": text})
    assert cache.get("k") == {"text": text}
    cache.close()


def test_files_that_cannot_be_a_cache(tmp_path):
    (tmp_path / "text").write_text("no database, but a text that is long enough to be looked at " * 20)
    with pytest.raises(SettingError, match="cannot be used as the judges' cache"):
        ReplyCache(tmp_path / "text")
    with pytest.raises(SettingError, match="name another file"):
        ReplyCache(tmp_path / "text" / "below-a-file.sqlite")
    with pytest.raises(SettingError, match="name another file"):
        ReplyCache(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(SettingError, match="name another file"):
        ReplyCache(tmp_path / "cache.sqlite")
