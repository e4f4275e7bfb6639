"""The review page: a small web server on this machine that shows items and takes decisions.

What it shows comes from models and data sets and may be hostile. It reaches the page only as
JSON that the page's script puts into text nodes, under a content security policy that allows
no other script, style or connection than the server's own. The server listens on 127.0.0.1,
answers only under a random token and only to requests addressed to it by that name, so other
pages in the same browser can neither read nor decide anything.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any

from lmms_eval_finance.judging.items import CORRECT, INCORRECT
from lmms_eval_finance.runs.images import ImagesMissing, item_images
from lmms_eval_finance.runs.journal import Item, item_of
from lmms_eval_finance.runs.review import SKIP

CHOICES = (CORRECT, INCORRECT, SKIP)
_LARGEST_BODY = 10_000
_PAGE = {
    "": ("review.html", "text/html; charset=utf-8"),
    "review.css": ("review.css", "text/css; charset=utf-8"),
    "review.js": ("review.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ReviewServer(ThreadingHTTPServer):
    """Serves rows of a review; a context manager that runs in a thread of its own.

    Args:
        rows: from `review.load_review`, or rows of that kind with other choices.
        decided: decisions that stand already.
        decide: takes item and decision and stores them safely; raises OSError where it cannot.
        choices: what a person can choose, chosen by the keys 1, 2, 3 ...; "skip" decides nothing.
        port: 0 for any free one.

    Raises:
        OSError: the port is taken.
    """

    daemon_threads = True

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        decided: Mapping[Item, str],
        decide: Callable[[Item, str], None],
        *,
        choices: Sequence[str] = CHOICES,
        port: int = 0,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.rows = rows
        self.choices = choices
        self.token = secrets.token_urlsafe(24)
        self._decide = decide
        self._lock = threading.Lock()
        self._numbers = {item_of(row): number for number, row in enumerate(rows)}
        self._decisions = [decided.get(item_of(row)) for row in rows]

    @property
    def url(self) -> str:
        """The page's address, token included."""
        return f"http://127.0.0.1:{self.server_address[1]}/{self.token}/"

    @property
    def hosts(self) -> frozenset[str]:
        """Names under which a browser may address the server."""
        port = self.server_address[1]
        return frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    def state(self) -> dict[str, Any]:
        """Choices and decisions so far, one entry a row."""
        with self._lock:
            return {"choices": list(self.choices), "decisions": list(self._decisions)}

    def decide(self, number: int, decision: str) -> None:
        """Store a decision on a row, then show it in the state."""
        with self._lock:
            self._decide(item_of(self.rows[number]), decision)
            self._decisions[number] = None if decision == SKIP else decision

    def __enter__(self) -> ReviewServer:
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is no fault worth a traceback."""


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    server_version = "review"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        parts = self._parts()
        if parts is None:
            return
        if len(parts) == 1 and parts[0] in _PAGE:
            name, kind = _PAGE[parts[0]]
            self._send(200, resources.files("lmms_eval_finance.runs").joinpath(name).read_bytes(), kind)
        elif parts == ["state"]:
            self._send_json(200, self.server.state())
        elif len(parts) == 2 and parts[0] == "item" and (row := self._row(parts[1])) is not None:
            self._send_json(200, row)
        elif len(parts) == 3 and parts[0] == "image" and (row := self._row(parts[1])) is not None:
            self._send_image(row, parts[2])
        else:
            self._send_json(404, {"error": "no such page"})

    def do_POST(self) -> None:
        parts = self._parts()
        if parts is None:
            return
        origin = self.headers.get("Origin")
        length = self.headers.get("Content-Length", "")
        if parts != ["decide"]:
            self._send_json(404, {"error": "no such page"})
        elif origin is not None and origin.removeprefix("http://") not in self.server.hosts:
            self._send_json(403, {"error": "from another page"})
        elif self.headers.get_content_type() != "application/json":
            self._send_json(415, {"error": "not JSON"})
        elif not length.isascii() or not length.isdigit() or int(length) > _LARGEST_BODY:
            self._send_json(413, {"error": "too long"})
        else:
            self._take(self.rfile.read(int(length)))

    def _take(self, body: bytes) -> None:
        try:
            wish = json.loads(body)
            number, decision = wish["number"], wish["decision"]
            known = type(number) is int and 0 <= number < len(self.server.rows)
        except (ValueError, KeyError, TypeError, RecursionError):
            known, decision = False, None
        if not known or decision not in self.server.choices:
            self._send_json(400, {"error": "no such item or decision"})
            return
        try:
            self.server.decide(number, decision)
        except OSError as error:
            self._send_json(500, {"error": f"the decision could not be stored: {error.strerror or error}"})
            return
        self._send_json(200, self.server.state())

    def _parts(self) -> list[str] | None:
        """The path behind the token; None, with an answer sent, where host or token are not ours."""
        host = self.headers.get("Host", "")
        token, _, rest = self.path.removeprefix("/").partition("/")
        if host not in self.server.hosts:
            self._send_json(421, {"error": "addressed to another host"})
            return None
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._send_json(404, {"error": "no such page"})
            return None
        return rest.partition("?")[0].split("/")

    def _row(self, number: str) -> Mapping[str, Any] | None:
        rows = self.server.rows
        known = number.isascii() and number.isdigit() and len(number) < 10 and int(number) < len(rows)
        return rows[int(number)] if known else None

    def _send_image(self, row: Mapping[str, Any], number: str) -> None:
        try:
            images = item_images(str(row.get("data", "")), tuple(map(str, row.get("images", ()))))
        except ImagesMissing as error:
            self._send_json(404, {"error": str(error)})
            return
        if number == "count":
            self._send_json(200, {"count": len(images)})
        elif number.isascii() and number.isdigit() and len(number) < 4 and int(number) < len(images):
            self._send(200, images[int(number)], "image/png")
        else:
            self._send_json(404, {"error": "no such image"})

    def _send_json(self, status: int, data: Mapping[str, Any]) -> None:
        # ASCII: lone surrogates in a model's output stay legal JSON
        self._send(status, json.dumps(data).encode("ascii"), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged: their paths hold the token."""
