"""One OpenAI-compatible chat endpoint, with retries, a budget and an end to futile calls.

Blocking and thread-safe: it works in any thread, with or without an event loop there.
"""

from __future__ import annotations

import email.utils
import json
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import httpx
import tenacity

from lmms_eval_finance.judging.config import Judge, Limits

_FIRST_WAIT, _LONGEST_WAIT, _LONGEST_ASKED_WAIT = 0.5, 30.0, 300.0
_LARGEST_REPLY = 8 * 2**20
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
_HIDDEN, _SHORTEST_KEY = "[key]", 8


class JudgeError(Exception):
    """A request that will get no reply; the text says why and never holds the key."""


class BudgetSpent(JudgeError):
    """The request was not sent because it could exceed the budget."""


class _Transient(JudgeError):
    """A fault that another try may not meet."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True)
class Reply:
    """A completion: its text, why it ended ("stop", "length", ...) and its tokens (None: not reported)."""

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, as it stands in the cache."""
        return asdict(self)


def estimated_tokens(text: str) -> int:
    """A rough count without any tokenizer: four ASCII characters a token, one of any other script.

    >>> estimated_tokens("abcdefgh"), estimated_tokens("市盈率")
    (2, 3)
    """
    ascii_count = sum(character < "\x80" for character in text)
    return len(text) - ascii_count + (ascii_count + 3) // 4


class Budget:
    """Counts calls and tokens against the limits of one invocation; thread-safe.

    A call is every request that leaves, retries included. Tokens are reserved before a request
    (prompt estimated, reply at its limit) and corrected by what the server reports.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._settled = threading.Condition()
        self._in_flight = 0
        self.calls = 0
        self.tokens = 0

    def reserve(self, tokens: int) -> None:
        """Book one call; while others in flight could still give tokens back, wait for them.

        Raises:
            BudgetSpent: it could exceed the budget.
        """
        limits = self._limits
        with self._settled:
            if limits.tokens is not None:
                while self.tokens + tokens > limits.tokens and self._in_flight:
                    self._settled.wait()
                if self.tokens + tokens > limits.tokens:
                    raise BudgetSpent(f"the budget of {limits.tokens:,} tokens is spent")
            if limits.calls is not None and self.calls + 1 > limits.calls:
                raise BudgetSpent(f"the budget of {limits.calls:,} calls is spent")
            self.calls += 1
            self.tokens += tokens
            self._in_flight += 1

    def settle(self, reserved: int, used: int) -> None:
        """Replace a reservation by what was used."""
        with self._settled:
            self.tokens += used - reserved
            self._in_flight -= 1
            self._settled.notify_all()


class ChatClient:
    """Asks one judge. Raises nothing but `JudgeError`.

    Transient faults (429, 408, 5xx, timeouts, lost connections, replies that are no completion) are
    retried `judge.retries` times with exponential waits and jitter, or as long as Retry-After says.
    A refused key or address, or more failures in a row than the endpoint could have had by
    chance, end the judge's work: every later call then fails at once, with the same reason.
    """

    def __init__(self, judge: Judge, budget: Budget) -> None:
        self.judge = judge
        self.url = f"{judge.base_url}/chat/completions"
        self._budget = budget
        self._given_up = ""
        self._failures = 0
        self._patience = max(10, judge.concurrency)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        headers = {"Authorization": f"Bearer {judge.key}"} if judge.key else {}
        limit = judge.concurrency
        self._http = httpx.Client(
            headers=headers,
            timeout=judge.timeout,
            limits=httpx.Limits(max_connections=limit, max_keepalive_connections=limit),
        )

    def body(self, prompt: str) -> dict[str, Any]:
        """The request's body for a prompt."""
        messages = [{"role": "user", "content": prompt}]
        return {"model": self.judge.model, "messages": messages, **self.judge.parameters}

    def complete(self, body: Mapping[str, Any]) -> Reply:
        """Send the request, with retries, and return the reply.

        Raises:
            JudgeError: there is no reply.
        """
        if self._given_up:
            raise JudgeError(self._given_up)
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.judge.retries + 1),
            wait=_wait,
            retry=tenacity.retry_if_exception_type(_Transient),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            reply = retrying(self._once, body)
        except BudgetSpent:
            raise
        except JudgeError as error:
            self._count_failure(str(error))
            raise
        with self._lock:
            self._failures = 0
        return reply

    def stop(self) -> None:
        """Let requests in flight end, and fail all that wait or come later."""
        self._given_up = "stopped"
        self._stop.set()

    def close(self) -> None:
        """Close all connections."""
        self.stop()
        self._http.close()

    def _sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds) or self._given_up:
            raise JudgeError(self._given_up)

    def _count_failure(self, reason: str) -> None:
        with self._lock:
            self._failures += 1
            if self._failures >= self._patience and not self._given_up:
                self._given_up = f"given up after {self._failures} failures in a row, the last: {reason}"

    def _once(self, body: Mapping[str, Any]) -> Reply:
        expected = estimated_tokens(body["messages"][0]["content"]) + self.judge.completion_limit
        self._budget.reserve(expected)
        used = 0
        try:
            status, headers, content = self._post(body)
            if status != 200:
                raise self._refusal(status, headers, content)
            reply = self._read(content)
            used = _used(reply, body)
            return reply
        finally:
            self._budget.settle(expected, used)

    def _post(self, body: Mapping[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        """Status, headers and body, within the judge's time limit as a whole and a fixed size."""
        deadline = time.monotonic() + self.judge.timeout
        try:
            with self._http.stream("POST", self.url, json=body) as response:
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _LARGEST_REPLY:
                        raise JudgeError(f"the reply is larger than {_LARGEST_REPLY:,} bytes")
                    if time.monotonic() > deadline:
                        raise _Transient(f"no whole reply within {self.judge.timeout:g} s")
                return response.status_code, response.headers, bytes(content)
        except httpx.TimeoutException:
            raise _Transient(f"no reply within {self.judge.timeout:g} s") from None
        except httpx.TransportError as error:
            raise _Transient(self._hide(f"connection lost ({type(error).__name__}: {error})")) from None
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError, ValueError, OSError) as error:
            # a response that cannot be decoded, a proxy that is no address, a client closed meanwhile
            raise JudgeError(self._hide(f"{type(error).__name__}: {error}")) from None

    def _refusal(self, status: int, headers: httpx.Headers, content: bytes) -> JudgeError:
        reason = f"HTTP {status}: {self._start(content)}"
        if status in _TRANSIENT_STATUS or status >= 500:
            return _Transient(reason, _retry_after(headers.get("retry-after")))
        if status in (401, 404):
            # the same for every request: key or address
            self._given_up = reason
        return JudgeError(reason)

    def _read(self, content: bytes) -> Reply:
        try:
            data = json.loads(content)
            choice = data["choices"][0]
            text = choice["message"].get("content")
            if isinstance(text, list):
                text = "".join(part.get("text") or "" for part in text)
            if not isinstance(text, str | None):
                raise TypeError
            usage = data.get("usage") or {}
            tokens = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
            prompt_tokens, completion_tokens = [n if type(n) is int and n >= 0 else None for n in tokens]
            finish = str(choice.get("finish_reason") or "stop")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise _Transient(f"the reply is no chat completion: {self._start(content)}") from None
        # lone surrogates, legal in JSON, could not be written to any file
        text, finish = (self._hide(part).encode("utf-8", "replace").decode() for part in (text or "", finish))
        return Reply(text, finish[:40], prompt_tokens, completion_tokens)

    def _start(self, content: bytes) -> str:
        """The start of what a server sent, as one line for a message."""
        # hidden before it is cut: a cut key would no longer be recognised
        start = self._hide(content.decode("utf-8", "replace"))[:200]
        return " ".join("".join(c if c.isprintable() else " " for c in start).split())

    def _hide(self, text: str) -> str:
        # placeholders for servers without keys ("EMPTY", "x") are no secrets and may be words of a reply
        return text.replace(self.judge.key, _HIDDEN) if len(self.judge.key) >= _SHORTEST_KEY else text


def _wait(state: tenacity.RetryCallState) -> float:
    """Seconds to the next try: as asked by the server, else doubling; with jitter, so that threads spread."""
    error = state.outcome.exception() if state.outcome is not None else None
    if isinstance(error, _Transient) and error.wait is not None:
        return min(error.wait, _LONGEST_ASKED_WAIT) * random.uniform(1.0, 1.1)
    longest = min(_FIRST_WAIT * 2 ** (state.attempt_number - 1), _LONGEST_WAIT)
    return random.uniform(longest / 2, longest)


def _retry_after(value: str | None) -> float | None:
    """Retry-After in seconds, from a number or an HTTP date; None when absent or unreadable."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


def _used(reply: Reply, body: Mapping[str, Any]) -> int:
    prompt, completion = reply.prompt_tokens, reply.completion_tokens
    if prompt is None:
        prompt = estimated_tokens(body["messages"][0]["content"])
    return prompt + (estimated_tokens(reply.text) if completion is None else completion)
