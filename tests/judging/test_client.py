"""One endpoint against the scripted server."""

from __future__ import annotations

import email.utils
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from openai_server import Reply as Scripted

from lmms_eval_finance.judging import client as module
from lmms_eval_finance.judging.client import Budget, BudgetSpent, ChatClient, JudgeError, estimated_tokens
from lmms_eval_finance.judging.config import Judge, Limits

KEY = "sk-verysecret-0123456789"
NO_LIMITS = Limits()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_WAIT", 0.01)


@pytest.fixture
def connect(openai_server):
    clients = []

    def connect(limits=NO_LIMITS, **changes):
        settings = {"name": "j", "model": "m", "base_url": openai_server.url, "timeout": 5.0, "key": KEY}
        clients.append(ChatClient(Judge(**{**settings, **changes}), Budget(limits)))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def ask(client, prompt="Is it?"):
    return client.complete(client.body(prompt))


def test_the_request_and_the_reply(connect, openai_server):
    openai_server.reply = Scripted("Incorrect", finish_reason="stop")
    client = connect(parameters={"temperature": 0, "seed": 3})
    reply = ask(client)
    assert (reply.text, reply.finish_reason) == ("Incorrect", "stop")
    assert reply.completion_tokens == 3
    (request,) = openai_server.requests
    messages = [{"role": "user", "content": "Is it?"}]
    assert request.body == {"model": "m", "messages": messages, "temperature": 0, "seed": 3}
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_no_key_no_header(connect, openai_server):
    ask(connect(key=""))
    assert "authorization" not in openai_server.requests[0].headers


TRANSIENT = [
    *(Scripted("busy", status=status) for status in (408, 425, 429, 500, 502, 503, 529)),
    Scripted(drop=True),
    Scripted(cut=0),
    Scripted(cut=30),
    Scripted(body=b"<html>gateway</html>"),
    Scripted(body=b""),
    Scripted(body=b"[]"),
    Scripted(body=b'{"choices": []}'),
    Scripted(body=b'{"choices": [{"message": {"content": 5}}]}'),
    Scripted(body=b'{"choices": [{"message": null}]}'),
    Scripted(body=b'{"error": "model overloaded"}'),
    Scripted(body=b"[" * 100_000),
    Scripted(body=b'\xff\xfe{"choices"'),
]


@pytest.mark.parametrize(
    "fault", TRANSIENT, ids=lambda fault: f"{fault.status}-{fault.body or fault.cut}"[:30]
)
def test_transient_faults_are_tried_again(connect, openai_server, fault):
    openai_server.script(fault, fault)
    assert ask(connect()).text == "Correct"
    assert len(openai_server.requests) == 3


@pytest.mark.parametrize("status", [400, 403, 413, 422, 307])
def test_final_faults_are_not(connect, openai_server, status):
    openai_server.script(Scripted("context too long", status=status))
    client = connect()
    with pytest.raises(JudgeError, match=f"HTTP {status}: .*context too long"):
        ask(client)
    assert len(openai_server.requests) == 1
    assert ask(client).text == "Correct"


@pytest.mark.parametrize("status", [401, 404])
def test_a_refused_key_or_address_ends_it_at_once(connect, openai_server, status):
    openai_server.reply = Scripted("no", status=status)
    client = connect()
    for _ in range(3):
        with pytest.raises(JudgeError, match=f"HTTP {status}"):
            ask(client)
    assert len(openai_server.requests) == 1


def test_retries_end(connect, openai_server):
    openai_server.reply = Scripted("down", status=500)
    with pytest.raises(JudgeError, match=r"HTTP 500: .*down"):
        ask(connect(retries=2))
    assert len(openai_server.requests) == 3


def test_a_time_limit_holds_for_silence_and_for_a_trickle(connect, openai_server):
    openai_server.latency = 1.0
    client = connect(timeout=0.1, retries=1)
    began = time.monotonic()
    with pytest.raises(JudgeError, match=r"no reply within 0\.1 s"):
        ask(client)
    assert time.monotonic() - began < 1.0
    assert len(openai_server.requests) == 2


def test_a_trickling_server_is_cut_off(connect):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def trickle():
            peer, _ = listener.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                for _ in range(100):
                    try:
                        peer.sendall(b" ")
                    except OSError:
                        return
                    time.sleep(0.02)

        threading.Thread(target=trickle, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        began = time.monotonic()
        with pytest.raises(JudgeError, match=r"no whole reply within 0\.2 s"):
            ask(connect(base_url=url, timeout=0.2, retries=0))
        assert time.monotonic() - began < 1.5


def test_an_endless_reply_is_cut_off(connect, openai_server, monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_REPLY", 10_000)
    openai_server.reply = "x" * 200_000
    with pytest.raises(JudgeError, match="larger than 10,000 bytes"):
        ask(connect(retries=0))


def test_nobody_listens(connect):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(JudgeError, match="connection lost"):
        ask(connect(base_url=f"http://127.0.0.1:{port}/v1", retries=1))


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_waited_for(connect, openai_server, as_date):
    # an HTTP date has whole seconds only
    value = email.utils.formatdate(time.time() + 2, usegmt=True) if as_date else "0.4"
    openai_server.script(Scripted("slow down", status=429, headers={"Retry-After": value}))
    began = time.monotonic()
    assert ask(connect()).text == "Correct"
    assert 0.4 <= time.monotonic() - began < 4


@pytest.mark.parametrize("value", ["", "soon", "nan", "-5", "1e400", "Wed, 99 Foo 2020"])
def test_odd_retry_after_values(value):
    wait = module._retry_after(value)
    assert wait is None or wait >= 0


def test_waits_grow_are_capped_and_differ(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_WAIT", 0.5)
    state = type("State", (), {"outcome": None, "attempt_number": 1})()
    seen = {}
    for attempt in (1, 2, 4, 30, 2000):
        state.attempt_number = min(attempt, 1000)
        seen[attempt] = [module._wait(state) for _ in range(50)]
        assert len(set(seen[attempt])) > 1
    assert 0.25 <= min(seen[1]) <= max(seen[1]) <= 0.5
    assert 2 <= min(seen[4]) <= max(seen[4]) <= 4
    assert max(seen[2000]) <= 30


def test_an_endpoint_that_is_down_is_given_up(connect, openai_server):
    openai_server.reply = Scripted("down", status=500)
    client = connect(retries=0, concurrency=4)
    reasons = []
    for _ in range(30):
        with pytest.raises(JudgeError) as caught:
            ask(client)
        reasons.append(str(caught.value))
    assert len(openai_server.requests) == 10
    assert reasons[-1].startswith("given up after 10 failures in a row, the last: HTTP 500")


def test_single_failures_do_not_add_up(connect, openai_server):
    client = connect(retries=0)
    for _ in range(15):
        openai_server.script(Scripted("hiccup", status=500), "Correct")
        with pytest.raises(JudgeError):
            ask(client)
        assert ask(client).text == "Correct"


def test_the_key_is_in_no_reply_and_no_message(connect, openai_server):
    client = connect(retries=0)
    openai_server.script(
        Scripted(f"you sent {KEY}"),
        Scripted(f"bad key {KEY}", status=400),
        # the key stands where the message is cut
        Scripted("x" * 160 + KEY, status=400),
        Scripted(body=f"no json {KEY}".encode()),
        Scripted("ok", finish_reason=KEY),
    )
    assert KEY not in str(ask(client).text)
    for _ in range(3):
        with pytest.raises(JudgeError) as caught:
            ask(client)
        assert "verysecret" not in str(caught.value)
        assert "sk-very" not in str(caught.value)
    assert KEY not in ask(client).finish_reason


def test_messages_are_one_printable_line(connect, openai_server):
    openai_server.reply = Scripted(body=b"a\x1b[2J\r\nb\x00\xff" + b"c" * 1000, status=400)
    with pytest.raises(JudgeError) as caught:
        ask(connect())
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 220


def test_a_stand_in_for_a_key_is_no_secret(connect, openai_server):
    openai_server.reply = "Score: 1"
    assert ask(connect(key="1")).text == "Score: 1"


def test_content_in_parts_and_null_content(connect, openai_server):
    parts = b'{"choices": [{"message": {"content": [{"type": "text", "text": "Cor"}, {"text": "rect"}]}}]}'
    openai_server.script(Scripted(body=parts), Scripted(None, finish_reason="length"))
    client = connect()
    assert ask(client).text == "Correct"
    assert (ask(client).text) == ""


def test_the_call_budget_counts_every_request(connect, openai_server):
    openai_server.script(Scripted("hiccup", status=500))
    client = connect(Limits(calls=3))
    ask(client)
    ask(client)
    with pytest.raises(BudgetSpent, match="the budget of 3 calls is spent"):
        ask(client)
    assert len(openai_server.requests) == 3


def test_the_token_budget_is_never_exceeded(connect, openai_server):
    openai_server.latency = 0.01
    client = connect(Limits(tokens=2_000), parameters={"max_tokens": 100}, concurrency=8)

    def once(_):
        try:
            return ask(client, "word " * 100)
        except BudgetSpent:
            return None

    with ThreadPoolExecutor(8) as pool:
        replies = [reply for reply in pool.map(once, range(60)) if reply]
    used = sum(reply.prompt_tokens + reply.completion_tokens for reply in replies)
    assert used <= 2_000
    # a reservation is not a bill: most of the budget is put to use
    assert used >= 1_500


def test_usage_is_estimated_where_the_server_reports_none(connect, openai_server):
    openai_server.reply = Scripted("Correct", usage=False)
    client = connect(Limits(tokens=10_000))
    reply = ask(client, "abcd" * 10)
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)
    assert client._budget.tokens == 10 + 2


def test_tokens_of_three_scripts():
    assert estimated_tokens("") == 0
    assert estimated_tokens("a" * 400) == 100
    assert estimated_tokens("股" * 100) == 100


def test_stopping_wakes_those_that_wait(connect, openai_server, monkeypatch):
    monkeypatch.setattr(module, "_FIRST_WAIT", 60)
    openai_server.reply = Scripted("down", status=500)
    client = connect()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, client)
        while not openai_server.requests:
            time.sleep(0.01)
        time.sleep(0.05)
        client.stop()
        with pytest.raises(JudgeError, match="stopped"):
            waiting.result(timeout=5)
