"""A local server that speaks the OpenAI chat protocol, with scripted replies and faults.

In tests use the fixture `openai_server` (or `from openai_server import OpenAIServer, Reply`,
which conftest.py makes importable)::

    openai_server.reply = "Correct"                        # every request
    openai_server.reply = lambda body: body["messages"][-1]["content"]
    openai_server.script(Reply(status=429, headers={"Retry-After": "0"}), Reply(drop=True))
    ... point a client at openai_server.url (".../v1") ...
    assert openai_server.requests[0].text == "..."

A callable decides by the request body and may return a text or a `Reply`; scripted
replies are used up first, one a request, in order of arrival. As a program
(`python tests/openai_server.py --latency 0.05`) it prints its URL and serves until it
is killed, so that a benchmark's client and server do not share an interpreter.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What the server does with one request.

    Attributes:
        text: the assistant's message; None sends a null content.
        status: the HTTP status; anything but 200 sends an error object with `text` as its message.
        headers: further response headers.
        latency: seconds to wait first; None means the server's own latency.
        drop: close the connection without an answer (with a reset).
        cut: send only this many bytes of the announced body, then close.
        body: raw bytes to send in place of the JSON answer.
        finish_reason: as in the protocol ("length" for a truncated answer).
        usage: whether to report token usage.
    """

    text: str | None = "Correct"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float | None = None
    drop: bool = False
    cut: int | None = None
    body: bytes | None = None
    finish_reason: str = "stop"
    usage: bool = True


@dataclass
class Request:
    """One request as it arrived: path, headers (lower-case names), JSON body, time of arrival."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    time: float

    @property
    def text(self) -> str:
        """All text parts of all messages, joined by line breaks."""
        texts = (part.get("text") if isinstance(part, dict) else part for part in self._parts())
        return "\n".join(text for text in texts if text)

    @property
    def images(self) -> list[str]:
        """The URLs (usually data URLs) of all image parts, in order."""
        return [
            part["image_url"]["url"]
            for part in self._parts()
            if isinstance(part, dict) and part.get("type") == "image_url"
        ]

    def _parts(self) -> list[Any]:
        contents = [message.get("content") for message in self.body.get("messages", [])]
        return [
            part for content in contents for part in (content if isinstance(content, list) else [content])
        ]


class OpenAIServer:
    """The server, listening on 127.0.0.1 from entering the context to leaving it.

    Attributes:
        reply: the answer to every request that no scripted reply takes (text, Reply or callable of the body).
        latency: seconds between a request and its answer.
        requests: every chat request, in order of arrival.
        max_in_flight: the most requests that were being answered at one time.
    """

    def __init__(self, reply: Any = "Correct", *, latency: float = 0.0, port: int = 0) -> None:
        self.reply: str | Reply | Callable[[dict[str, Any]], str | Reply] = reply
        self.latency = latency
        self.requests: list[Request] = []
        self.max_in_flight = 0
        self._in_flight = 0
        self._scripted: deque[Reply] = deque()
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.server = self

    @property
    def url(self) -> str:
        """The base URL that clients are given."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def script(self, *replies: Reply | str) -> None:
        """Queue replies for the next requests, one each."""
        with self._lock:
            self._scripted.extend(Reply(reply) if isinstance(reply, str) else reply for reply in replies)

    def __enter__(self) -> OpenAIServer:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, request: Request) -> Reply:
        """Record the request and choose its reply."""
        with self._lock:
            self.requests.append(request)
            if self._scripted:
                return self._scripted.popleft()
        reply = self.reply(request.body) if callable(self.reply) else self.reply
        return reply if isinstance(reply, Reply) else Reply(reply)

    def count(self, step: int) -> None:
        """Keep the number of requests in flight."""
        with self._lock:
            self._in_flight += step
            self.max_in_flight = max(self.max_in_flight, self._in_flight)

    def completion(self, request: Request, reply: Reply) -> dict[str, Any]:
        """The protocol's answer to the request."""
        answer: dict[str, Any] = {
            "id": f"chatcmpl-{next(self._ids)}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": request.body.get("model", "test"),
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": reply.text},
                    "finish_reason": reply.finish_reason,
                }
            ],
        }
        if reply.usage:
            prompt, completion = len(request.text) // 4 + 1, len(reply.text or "") // 4 + 1
            answer["usage"] = {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            }
        return answer


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    server: OpenAIServer

    def handle_error(self, *_: object) -> None:
        """Clients that hang up are part of the tests, not worth a traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            self._send(200, {"object": "list", "data": [{"id": "test", "object": "model"}]})
        else:
            self._send(404, {"error": {"message": f"no such path: {self.path}"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.path.rstrip("/").endswith("/chat/completions"):
            self._send(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(raw), time.time())
        server = self.server.server
        server.count(+1)
        try:
            reply = server.answer(request)
            time.sleep(server.latency if reply.latency is None else reply.latency)
            if reply.drop:
                # linger 0 turns the close into a reset, as a crashed server does
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
                return
            if reply.status == 200:
                self._send(200, server.completion(request, reply), reply)
            else:
                self._send(reply.status, {"error": {"message": reply.text, "type": "scripted"}}, reply)
        finally:
            server.count(-1)

    def _send(self, status: int, data: dict[str, Any], reply: Reply | None = None) -> None:
        reply = reply or Reply()
        body = json.dumps(data).encode() if reply.body is None else reply.body
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if reply.cut is None else body[: reply.cut])
        if reply.cut is not None:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Stay silent."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the OpenAI chat protocol on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--text", default="Correct", help="the answer to every request")
    parser.add_argument("--fail", type=float, default=0.0, help="share of requests answered with status 500")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)

    def reply(_: dict[str, Any]) -> Reply:
        return Reply(args.text) if rng.random() >= args.fail else Reply("scripted failure", status=500)

    with OpenAIServer(reply, latency=args.latency, port=args.port) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
