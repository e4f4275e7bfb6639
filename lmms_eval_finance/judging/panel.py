"""The panel of language judges, and `judge_items`: the one way in, during a run and after it.

::

    panel = shared_panel()              # from LMMS_EVAL_FINANCE_JUDGES; None when unset
    votes = judge_items(items, panel)   # blocks; from any thread
    outcome, score, reason = resolve(rule, [vote.to_json() for vote in votes[0]])
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import re
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from lmms_eval_finance import prompts, settings
from lmms_eval_finance.judging.cache import ReplyCache, request_key
from lmms_eval_finance.judging.client import Budget, ChatClient, JudgeError, Reply, estimated_tokens
from lmms_eval_finance.judging.config import Judge, JudgesConfig, configured
from lmms_eval_finance.judging.items import (
    JudgeItem,
    JudgeRequired,
    Vote,
    closing_line,
    majority,
    require_judged,
)
from lmms_eval_finance.judging.verdicts import parse_verdict
from lmms_eval_finance.settings import SettingError

PRESETS = ("famma", "famma_choice", "mfe", "cfmme", "error_choice")
"""Names of prompts: preset `x` is the template `judge_x`. `*_choice` reads which option an answer names."""
_VERDICT_PRESETS = tuple(preset for preset in PRESETS if not preset.endswith("_choice"))

_LONGEST_VALUE, _LONGEST_REPLY, _LONGEST_OPENING = 20_000, 2_000, 40
# A value that closed its own tag could pose as the prompt's text.
_TAGS = "context|question|options|unit|reference|student_answer|student_explanation|candidate|answer"
_CLOSING_TAG = re.compile(rf"</(?=\s*(?:{_TAGS})\b)", re.IGNORECASE)
_LETTERS = r"[A-J](?:[\s,;/&+]*[A-J]){0,9}"
_OPTION_LINE = re.compile(rf"\W*option\W+(none|{_LETTERS})\W*", re.IGNORECASE)
# A gold that gives its option's text too: "B. Floating".
_LABELLED = re.compile(r"\s*[(\[]?([A-Ja-j])[)\].:、]\s*\S")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Share:
    """What one judge would still have to do: requests, estimated tokens, and cost where prices are given.

    `completion_tokens` and `cost` are upper bounds: every reply as long as its limit.
    """

    judge: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


class Panel:
    """Judges with their cache, budget and threads; thread-safe.

    Args:
        config: a checked judges.toml.

    Raises:
        SettingError: cache, template or preset cannot be used.
    """

    def __init__(self, config: JudgesConfig) -> None:
        self.config = config
        self.judges = config.judges
        for number, judge in enumerate(self.judges, 1):
            if judge.prompt is not None and judge.prompt not in _VERDICT_PRESETS:
                raise SettingError(
                    f"{config.path}: judge {number}: prompt: there is no preset {judge.prompt!r}: "
                    f"use one of {', '.join(_VERDICT_PRESETS)} (LMMS_EVAL_FINANCE_PROMPTS replaces their wording)"
                )
        self._templates = {preset: prompts.load(f"judge_{preset}") for preset in PRESETS}
        self.cache = ReplyCache(config.cache)
        self.budget = Budget(config.limits)
        self._clients = {judge.name: ChatClient(judge, self.budget) for judge in self.judges}
        # a pool for each judge: its size bounds the requests in flight, and a slow judge holds up no other
        self._pools = {
            judge.name: ThreadPoolExecutor(judge.concurrency, thread_name_prefix=f"judge-{number}")
            for number, judge in enumerate(self.judges)
        }
        self._flights = _KeyedLocks()
        self._count_lock = threading.Lock()
        self._cache_warned = False
        self.items = 0
        self.failed = 0
        self.from_cache = 0
        self.failures: Counter[str] = Counter()

    def signature(self, preset: str) -> str:
        """Models, prompts and parameters, as a field of a score's signature; no names, addresses or keys."""
        return "+".join(self._judge_signature(judge, preset) for judge in self.judges)

    def _judge_signature(self, judge: Judge, preset: str) -> str:
        chosen = _preset(judge, preset)
        parameters = [
            f"{name}={value if isinstance(value, str) else json.dumps(value, sort_keys=True)}"
            for name, value in sorted(judge.parameters.items())
        ]
        return ",".join([judge.model, f"{chosen}@{self._templates[chosen].hash}", *parameters])

    def knows(self, preset: str) -> bool:
        """Whether there is a prompt of that name."""
        return preset in self._templates

    def plan(self, items: Sequence[JudgeItem]) -> list[Share]:
        """What judging these items would send, without sending anything."""
        return [self._share(judge, items) for judge in self.judges]

    def _share(self, judge: Judge, items: Sequence[JudgeItem]) -> Share:
        cached = prompt_tokens = 0
        keys = set()
        for item in items:
            prompt = self._prompt(judge, item)
            key = self._key(judge, self._clients[judge.name].body(prompt))
            if key in keys or self.cache.get(key) is not None:
                cached += 1
                continue
            keys.add(key)
            prompt_tokens += estimated_tokens(prompt)
        completion_tokens = len(keys) * judge.completion_limit
        cost = None
        if judge.price is not None:
            cost = (prompt_tokens * judge.price.input + completion_tokens * judge.price.output) / 1e6
        return Share(judge.name, len(keys), cached, prompt_tokens, completion_tokens, cost)

    def submit(self, item: JudgeItem) -> list[Future[Vote]]:
        """Start asking every judge about the item."""
        return [self._pools[judge.name].submit(self._vote, judge, item) for judge in self.judges]

    def stop(self) -> None:
        """Let requests in flight end and fail all others, so that a program can end soon."""
        for client in self._clients.values():
            client.stop()

    def close(self) -> None:
        """Wait for requests in flight, then close connections and cache."""
        self.stop()
        for pool in self._pools.values():
            pool.shutdown()
        for client in self._clients.values():
            client.close()
        self.cache.close()

    def count(self, votes: Sequence[Vote]) -> None:
        """Count one judged item for the closing line."""
        failed = majority([vote.to_json() for vote in votes]) is None
        with self._count_lock:
            self.items += 1
            self.failed += failed
            self.failures.update(f"{vote.judge}: {vote.reason}" for vote in votes if vote.verdict is None)

    def closing_line(self) -> str:
        """On how many items the judges failed, what was sent, and why most failures were."""
        spent = f"{self.budget.calls:,} calls, {self.budget.tokens:,} tokens"
        line = f"{closing_line(self.failed, self.items)} ({spent}, {self.from_cache:,} from the cache)"
        for reason, count in self.failures.most_common(1):
            line += f"; most frequent failure: {reason} ({count:,})"
        return line

    def _vote(self, judge: Judge, item: JudgeItem) -> Vote:
        try:
            reply = self._reply(judge, self._prompt(judge, item))
        except (JudgeError, sqlite3.Error) as error:
            return _failed(judge, item, str(error))
        except Exception as error:
            # a fault of ours on one item must not cost the host its whole run
            _log.exception("judging failed on item %s", item.id)
            return _failed(judge, item, f"{type(error).__name__} in this program")
        vote = _read(judge, item, reply)
        # a judge's reasoning would tell the gold
        return replace(vote, reply="") if item.masked else vote

    def _reply(self, judge: Judge, prompt: str) -> Reply:
        client = self._clients[judge.name]
        body = client.body(prompt)
        key = self._key(judge, body)
        with self._flights.hold(key):
            stored = self.cache.get(key)
            if stored is not None:
                with self._count_lock:
                    self.from_cache += 1
                return Reply(**stored)
            reply = client.complete(body)
            try:
                self.cache.put(key, reply.to_json())
            except sqlite3.Error as error:
                self._warn_of_cache(error)
            return reply

    def _key(self, judge: Judge, body: dict[str, Any]) -> str:
        return request_key(self._clients[judge.name].url, body)

    def _prompt(self, judge: Judge, item: JudgeItem) -> str:
        values = {
            "question": item.question,
            "context": item.context,
            "options": "\n".join(item.options),
            "unit": item.unit,
            "gold": item.gold,
            "answer": item.answer,
            "explanation": item.explanation,
        }
        template = self._templates[_preset(judge, item.preset)]
        return template.render(**{name: _harmless(value) for name, value in values.items()})

    def _warn_of_cache(self, error: sqlite3.Error) -> None:
        with self._count_lock:
            warned, self._cache_warned = self._cache_warned, True
        if not warned:
            _log.warning("judges' replies can no longer be stored in %s: %s", self.cache.path, error)


def judge_items(
    items: Sequence[JudgeItem],
    panel: Panel,
    on_done: Callable[[JudgeItem, Sequence[Vote]], object] | None = None,
) -> list[list[Vote]]:
    """Ask every judge of the panel about every item; block until all have voted or failed.

    Safe from many threads at once, with or without a running event loop. Nothing an answer, a
    judge or the network does raises: a failed judge is a vote without a verdict.

    Args:
        items: what is to be judged.
        panel: the judges.
        on_done: called with each item and its votes, in the order of items (for progress).

    Returns:
        For each item the votes in the order of `panel.judges`.
    """
    futures = [panel.submit(item) for item in items]
    try:
        results = []
        for item, waiting in zip(items, futures, strict=True):
            votes = [future.result() for future in waiting]
            panel.count(votes)
            if on_done is not None:
                on_done(item, votes)
            results.append(votes)
        return results
    except BaseException:
        for waiting in futures:
            for future in waiting:
                future.cancel()
        raise


_shared: dict[str | None, Panel | None] = {}
_shared_lock = threading.Lock()


def shared_panel() -> Panel | None:
    """The process's panel as ``LMMS_EVAL_FINANCE_JUDGES`` says; None when it is unset.

    One closing line goes to stderr when the process ends, and an error where a judge is required
    and failed. An exception there would cost the run its results; `judge RUN` and `rescore RUN`
    end with an exit code instead.

    Raises:
        SettingError: the file cannot be used, or a judge is required and none is set.
    """
    setting = settings.value("JUDGES")
    with _shared_lock:
        if setting not in _shared:
            config = configured()
            _shared[setting] = panel = None if config is None else Panel(config)
            if panel is not None:
                atexit.register(_close, panel)
        return _shared[setting]


def _forget_shared() -> None:
    """In a forked child, which may use neither the parent's connections nor its cache file or lock."""
    global _shared_lock
    _shared_lock = threading.Lock()
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_shared)


def _close(panel: Panel) -> None:
    if panel.items:
        print(panel.closing_line(), file=sys.stderr)
        try:
            require_judged(panel.failed, panel.items)
        except JudgeRequired as error:
            print(f"error: {error}", file=sys.stderr)
    panel.close()


def _preset(judge: Judge, preset: str) -> str:
    """A judge's own prompt, except that only the item says whether an option is to be read."""
    return preset if judge.prompt is None or preset.endswith("_choice") else judge.prompt


def _reads_choice(judge: Judge, item: JudgeItem) -> bool:
    return _preset(judge, item.preset).endswith("_choice")


def _harmless(value: str) -> str:
    if len(value) > _LONGEST_VALUE:
        half = _LONGEST_VALUE // 2
        left_out = len(value) - 2 * half
        value = f"{value[:half]}\n[... {left_out} characters left out ...]\n{value[-half:]}"
    # lone surrogates cannot be sent
    return _CLOSING_TAG.sub("< /", value).encode("utf-8", "replace").decode("utf-8")


def _failed(judge: Judge, item: JudgeItem, reason: str, reply: str = "") -> Vote:
    return Vote(judge.name, None, reason, reply, choice="" if _reads_choice(judge, item) else None)


def _read(judge: Judge, item: JudgeItem, reply: Reply) -> Vote:
    """The vote that a reply states."""
    text = reply.text
    shown = (
        text
        if len(text) <= _LONGEST_REPLY
        else f"{text[: _LONGEST_REPLY // 2]} [...] {text[-_LONGEST_REPLY // 2 :]}"
    )
    truncated = reply.finish_reason == "length"
    if _reads_choice(judge, item):
        return _read_choice(judge, item, text, shown)
    if truncated:
        # reasoning that breaks off proves nothing; only a verdict that opened the reply does
        text = next((line for line in text.splitlines() if line.strip()), "")[: _LONGEST_OPENING + 1]
        text = "" if len(text) > _LONGEST_OPENING else text
    verdict = parse_verdict(text)
    reason = ""
    if verdict is None:
        reason = "the reply is truncated" if truncated else "the reply holds no verdict"
        if reply.finish_reason not in ("stop", "length"):
            reason = f"the reply ended with {reply.finish_reason}"
    return Vote(judge.name, verdict, reason, shown)


def _read_choice(judge: Judge, item: JudgeItem, text: str, shown: str) -> Vote:
    gold = _letters(item.gold)
    labelled = _LABELLED.match(item.gold)
    if not gold and labelled:
        gold = labelled[1].upper()
    lines = [
        found[1] for line in text.splitlines() if (found := _OPTION_LINE.fullmatch(line[:_LONGEST_OPENING]))
    ]
    if not lines:
        return _failed(judge, item, "the reply names no option", shown)
    choice = "" if lines[-1].lower() == "none" else _letters(lines[-1])
    if not gold:
        return Vote(judge.name, None, "the gold answer is no option letter", shown, choice)
    return Vote(judge.name, choice == gold, reply=shown, choice=choice)


def _letters(text: str) -> str:
    """Option letters in order, from "B", "c." or "A, C"; empty for anything else.

    >>> _letters("c, A."), _letters("none of them")
    ('AC', '')
    """
    text = text.strip(" .()[]*").upper()
    return "".join(sorted(set(re.findall("[A-Z]", text)))) if re.fullmatch(_LETTERS, text) else ""


class _KeyedLocks:
    """A lock for each key in use, so that one request is not sent twice at the same time."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[None]:
        with self._guard:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks[key]
                if users == 1:
                    del self._locks[key]
                else:
                    self._locks[key] = lock, users - 1
