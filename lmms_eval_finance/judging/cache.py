"""Judges' replies on disk, so that no request is paid for twice.

One SQLite file in WAL mode: any number of threads and processes may read and write it,
and a process killed in mid-write loses nothing that was reported as written and leaves
nothing half-written. WAL needs a local disk; on a network file system SQLite falls back
to slower locking or refuses, and `cache` in judges.toml should name a local path.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_eval_finance.settings import SettingError

_BUSY_SECONDS = 60.0
_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    request TEXT PRIMARY KEY,
    reply TEXT NOT NULL,
    written REAL NOT NULL
) WITHOUT ROWID
"""


def request_key(url: str, body: Mapping[str, Any]) -> str:
    """The key of a request: SHA-256 over its address and its whole body, in canonical JSON.

    >>> request_key("u", {"a": 1, "b": 2}) == request_key("u", {"b": 2, "a": 1})
    True
    """
    text = json.dumps([url, body], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class ReplyCache:
    """Replies by request key; values are plain JSON objects.

    Raises:
        SettingError: the file cannot be opened as a cache.

    >>> cache = ReplyCache(Path(":memory:"))
    >>> cache.put("k", {"text": "Correct"})
    >>> cache.get("k"), cache.get("other")
    ({'text': 'Correct'}, None)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            if str(path) != ":memory:":
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            # In WAL mode this survives a killed process; only a power cut can cost the last replies.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise SettingError(
                f"{path}: cannot be used as the judges' cache ({error}): name another file as `cache` in judges.toml"
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """The stored reply, or None."""
        with self._lock:
            row = self._connection.execute("SELECT reply FROM replies WHERE request = ?", (key,)).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def put(self, key: str, reply: Mapping[str, Any]) -> None:
        """Store a reply; when this returns it is safe. The first reply to a request stays.

        Raises:
            sqlite3.Error: the disk is full or the file has become unusable.
        """
        text = json.dumps(reply)
        with self._lock:
            self._connection.execute(
                "INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, text, time.time())
            )

    def __len__(self) -> int:
        with self._lock:
            return int(self._connection.execute("SELECT COUNT(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
