"""The review: which items are listed, what the server lets through, and the page in a real browser."""

from __future__ import annotations

import dataclasses
import http.client
import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

import pytest

from lmms_eval_finance.data import sources
from lmms_eval_finance.judging.items import Vote
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.rescore import rescored
from lmms_eval_finance.runs.review import add_decision, load_decisions, load_review, why_review, write_review
from lmms_eval_finance.runs.review_server import ReviewServer

YES, NO, FAILED = Vote("a", True), Vote("b", False), Vote("c", None, "HTTP 500")


def _heed_interrupts():
    """A test run in the background passes on that interrupts are ignored; the command has to get them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def votes(*given):
    return [vote.to_json() for vote in given]


@pytest.mark.parametrize(
    ("verdict", "given", "why"),
    [
        ("correct", [], ""),
        ("incorrect", [], ""),
        ("undecided", [], "the rule could not tell"),
        ("correct", [YES], ""),
        ("correct", [NO], "the rule says correct, the judges incorrect"),
        ("incorrect", [YES, YES, NO], "the rule says incorrect, the judges correct"),
        ("undecided", [YES], ""),
        ("correct", [YES, NO], "the judges are tied or failed"),
        ("correct", [FAILED], "the judges are tied or failed"),
    ],
)
def test_who_disagrees(make, verdict, given, why):
    assert why_review(make.judged(1, verdict, votes=given), votes(*given)) == why


def choice(rule_choice, outcome=Outcome.WRONG):
    rule = {"verdict": "incorrect" if rule_choice else "undecided", "reason": "r", "choice": rule_choice}
    return Record("1", outcome, 0.0, details={"judge_preset": "famma_choice", "rule": rule, "votes": []})


@pytest.mark.parametrize(
    ("record", "given", "why"),
    [
        (choice("B"), [Vote("a", False, choice="B")], ""),
        (choice("B"), [Vote("a", True, choice="C")], "the rule reads B, language judges C"),
        # both wrong, but read differently
        (choice("B"), [Vote("a", False, choice="D")], "the rule reads B, language judges D"),
        (choice("B"), [Vote("a", False, choice="")], "the rule reads B, language judges no option"),
        (choice(None, Outcome.UNREADABLE), [Vote("a", False, choice="")], ""),
        (
            choice(None, Outcome.UNREADABLE),
            [Vote("a", True, choice="C")],
            "the rule reads no option, language judges C",
        ),
        (choice("B"), [Vote("a", None, "HTTP 500", choice="")], ""),
        (choice(None, Outcome.UNREADABLE), [], "the rule could not tell"),
        (Record("1", Outcome.WRONG, 0.0, details={"review": "odd options"}), [], "odd options"),
        (Record("1", Outcome.WRONG, 0.0), [], ""),
        (Record("1", Outcome.EMPTY, 0.0, details={"rule": {"verdict": "undecided"}}), [], ""),
    ],
)
def test_readings_that_differ(record, given, why):
    assert why_review(record, votes(*given)) == why


def test_a_damaged_reading_is_shown_as_it_is():
    damaged = [{"judge": "a", "verdict": False, "choice": 7}]
    assert why_review(choice("B"), damaged) == "the rule reads B, language judges 7"


HOSTILE = [
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\"'></div><svg onload=document.title='owned'>",
    "javascript:alert(1)",
    "</textarea><style>body{display:none}</style>",
    "\u202eright to left",
    "\ud800 lone surrogate",
    "\x00\x1b[31m control",
    "日本語 " * 50 + "x" * 3000,
    "${7*7} {{7*7}} `${document.title='owned'}`",
]


@pytest.fixture
def run(write_run, make):
    """Items 0 to 9 hostile in every field, 10 and 11 contradictory votes, 12 in no need of a review."""
    hostile = [
        make.judged(
            number,
            gold=text,
            answer=text + "!",
            context=text,
            explanation=text,
            options=(text, text),
            unit=text[:40],
            votes=[Vote(text, True, text, text), Vote("b", False)],
        )
        for number, text in enumerate(HOSTILE)
    ]
    contradicted = [make.judged(number, "correct", votes=[NO]) for number in (10, 11)]
    return open_run(write_run({"mfe_text": [*hostile, *contradicted, make.judged(12, "correct")]}))


def test_the_review_file(run):
    assert write_review(run) == 12
    rows = load_review(run)
    assert [row["id"] for row in rows] == [str(number) for number in range(12)]
    shown = rows[10]
    assert (shown["task"], shown["why"]) == ("mfe_text", "the rule says correct, the judges incorrect")
    assert (shown["question"], shown["gold"], shown["prediction"]) == ("Question 10?", "gold 10", "answer 10")
    assert (shown["data"], shown["images"]) == ("mfe/mfe_text@abc", ["10"])
    assert shown["votes"] == [{"judge": "b", "verdict": False}]


@pytest.fixture
def server(run):
    write_review(run)
    with ReviewServer(
        load_review(run), {}, lambda item, decision: add_decision(run, item, decision)
    ) as server:
        yield server


def ask(server, path="", method="GET", body=None, token=None, host=None, **headers):
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Host": host or f"127.0.0.1:{port}", **headers}
    connection.request(method, f"/{token or server.token}/{path}", body, headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data, answer.headers


def decide(server, number, decision, **headers):
    body = json.dumps({"number": number, "decision": decision})
    return ask(server, "decide", "POST", body, **{"Content-Type": "application/json", **headers})


def test_it_listens_on_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"


def test_pages_carry_a_strict_policy(server):
    for path in ("", "review.js", "review.css", "state", "item/0"):
        status, _, headers = ask(server, path)
        assert status == 200
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_without_token_or_host_there_is_nothing(server):
    assert ask(server, token="x" * 32)[0] == 404
    assert ask(server, token="%C3%A9")[0] == 404
    assert ask(server, host="evil.example")[0] == 421
    assert ask(server, host=f"evil.example:{server.server_address[1]}")[0] == 421
    assert ask(server, "state", host=f"localhost:{server.server_address[1]}")[0] == 200
    status, data, _ = decide(server, 0, "correct", host="evil.example")
    assert status == 421
    assert server.token.encode() not in data
    assert server.state()["decisions"][0] is None


def test_other_pages_cannot_decide(server, run):
    assert decide(server, 0, "correct", Origin="http://evil.example")[0] == 403
    assert decide(server, 0, "correct", **{"Content-Type": "text/plain"})[0] == 415
    assert load_decisions(run) == {}
    assert decide(server, 0, "correct", Origin=server.url.rsplit("/", 2)[0])[0] == 200
    assert load_decisions(run) == {("mfe_text", "0"): "correct"}


@pytest.mark.parametrize(
    "path",
    [
        "item/12",
        "item/-1",
        "item/x",
        "item/٣",
        "item/99999999999999999999",
        "item",
        "item/0/1",
        "image/0/0",
        "image/0/count",
        "../review.js",
        "..%2freview.py",
        "review.py",
        "",
        "decide",
    ],
)
def test_paths_lead_nowhere_else(server, path):
    status, data, _ = ask(server, urllib.parse.quote(path, safe="/%.-"))
    assert status == (200 if path == "" else 404)
    assert b"import" not in data


@pytest.mark.parametrize(
    "body",
    [
        "",
        "nonsense",
        "[]",
        "null",
        '{"number": 0}',
        '{"number": true, "decision": "correct"}',
        '{"number": 12, "decision": "correct"}',
        '{"number": -1, "decision": "correct"}',
        '{"number": "0", "decision": "correct"}',
        '{"number": 0, "decision": "perhaps"}',
        '{"number": 0, "decision": ["correct"]}',
        '{"number": 0, "decision": {}}',
        "[" * 5000,
    ],
)
def test_nonsense_decides_nothing(server, run, body):
    headers = {"Content-Type": "application/json"}
    assert ask(server, "decide", "POST", body, **headers)[0] == 400
    assert load_decisions(run) == {}


def test_bodies_are_bounded(server):
    assert decide(server, 0, "x" * 20_000)[0] == 413
    assert (
        ask(server, "decide", "POST", None, **{"Content-Type": "application/json", "Content-Length": "-5"})[0]
        == 413
    )


def test_a_decision_that_cannot_be_stored_is_reported(run):
    def failing(item, decision):
        raise OSError(28, "No space left on device")

    write_review(run)
    with ReviewServer(load_review(run), {}, failing) as server:
        status, data, _ = decide(server, 0, "correct")
        assert status == 500
        assert b"No space left" in data
        assert server.state()["decisions"][0] is None


def test_earlier_decisions_are_shown_and_other_choices_can_be_served(run):
    write_review(run)
    decided = {("mfe_text", "1"): "typo"}
    taken = []
    choices = ["typo", "other", "skip"]
    with ReviewServer(load_review(run), decided, lambda *wish: taken.append(wish), choices=choices) as server:
        assert json.loads(ask(server, "state")[1])["decisions"][:3] == [None, "typo", None]
        assert decide(server, 0, "correct")[0] == 400
        assert decide(server, 0, "other")[0] == 200
        assert decide(server, 1, "skip")[0] == 200
        assert json.loads(ask(server, "state")[1])["decisions"][:3] == ["other", None, None]
    assert taken == [(("mfe_text", "0"), "other"), (("mfe_text", "1"), "skip")]


# -- the command and the page in a browser -------------------------------------------------------


@pytest.fixture
def page(run):
    command = [sys.executable, "-m", "lmms_eval_finance.cli", "review", str(run.folder)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_interrupts
    )
    lines = [process.stdout.readline(), process.stdout.readline()]
    assert lines[1].startswith("open http://127.0.0.1:"), (lines, process.stderr.read())
    yield lines[1].split()[1]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 0
    assert err == ""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("Chromium or its driver is not installed (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("profile")
    for flag in (
        *("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
        *(f"user-data-dir={profile}", "window-size=1280,900"),
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


def wait(browser, script, *arguments):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if browser.execute_script(f"return {script}", *arguments):
            return
        time.sleep(0.02)
    raise AssertionError(script)


def press(browser, key):
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(key).perform()


def text_of(browser, name):
    return browser.execute_script("return document.getElementById(arguments[0]).textContent", name)


def shown(browser, number):
    wait(browser, f"document.body.dataset.shown === '{number}'")


def test_deciding_by_keys(browser, page, run):
    from selenium.webdriver import Keys

    browser.get(page)
    shown(browser, 0)
    assert text_of(browser, "progress-text") == "0 of 12 decided"
    press(browser, "1")
    shown(browser, 1)
    press(browser, "2")
    shown(browser, 2)
    press(browser, "3")
    shown(browser, 3)
    assert text_of(browser, "progress-text") == "2 of 12 decided"
    press(browser, Keys.ARROW_LEFT)
    shown(browser, 2)
    press(browser, Keys.ARROW_LEFT)
    shown(browser, 1)
    # a decision can be changed; then on to the next open item
    press(browser, "1")
    shown(browser, 2)
    assert load_decisions(run) == {("mfe_text", "0"): "correct", ("mfe_text", "1"): "correct"}
    for number in range(2, 12):
        shown(browser, number)
        press(browser, "2")
    wait(browser, "document.getElementById('message').textContent.startsWith('Every item is decided')")
    assert text_of(browser, "progress-text") == "12 of 12 decided"
    scores = [record.score for _, record in rescored(run)]
    assert scores == [1.0, 1.0, *[0.0] * 10, 1.0]


def test_hostile_text_is_only_text(browser, page):
    browser.get(page)
    for number, hostile in enumerate(HOSTILE):
        browser.execute_script("go(arguments[0])", number)
        shown(browser, number)
        if "\ud800" not in hostile and "\x00" not in hostile:
            for name in ("gold", "context", "explanation"):
                assert text_of(browser, name) == hostile
            assert hostile in text_of(browser, "verdicts")
        inside = "#texts script, #texts style, #texts svg, #texts img, #texts iframe, #texts [onerror]"
        assert browser.execute_script("return document.querySelectorAll(arguments[0]).length", inside) == 0
        assert browser.title == "Review"
        # long words and wide text do not push the page sideways
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    errors = [entry for entry in browser.get_log("browser") if "404" not in entry["message"]]
    assert errors == []


def test_the_policy_stops_what_escaping_would_have_missed(browser, page):
    browser.get(page)
    shown(browser, 0)
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = \"document.title='owned'\"; document.body.append(s);"
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">');"
    )
    time.sleep(0.3)
    assert browser.title == "Review"
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_the_image_is_shown(browser, write_run, make, monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    record = dataclasses.replace(
        make.judged(1), signature=f"task:mfe_table|data:{sources.locate('mfe', 'table').fingerprint}"
    )
    run = open_run(write_run({"mfe_table": [record]}))
    write_review(run)
    with ReviewServer(load_review(run), {}, lambda *_: None) as server:
        browser.get(server.url)
        wait(browser, "document.querySelector('#pictures img')?.naturalWidth > 300")
        assert browser.execute_script("return document.querySelectorAll('#pictures img').length") == 1


def test_the_server_gone_is_said(browser, run):
    write_review(run)
    with ReviewServer(load_review(run), {}, lambda *_: None) as server:
        browser.get(server.url)
        shown(browser, 0)
    press(browser, "1")
    wait(browser, "document.getElementById('message').textContent.startsWith('Not stored')")


def test_nothing_to_review(write_run, make, capsys):
    from lmms_eval_finance.cli import main

    folder = write_run({"mfe_text": [make.judged(1, "correct")]})
    assert main(["review", str(folder)]) == 0
    assert "0 items to review" in capsys.readouterr().out


def test_a_port_that_is_taken(run, server, capsys):
    from lmms_eval_finance.cli import main

    port = str(server.server_address[1])
    assert main(["review", str(run.folder), "--port", port]) == 2
    assert f"--port {port} cannot be used" in capsys.readouterr().err
    assert main(["review", str(run.folder), "--port", "99999"]) == 2


def test_the_assets_are_packaged():
    from lmms_eval_finance import runs

    folder = Path(runs.__file__).parent
    for name in ("review.html", "review.css", "review.js"):
        text = (folder / name).read_text("utf-8")
        assert "innerHTML" not in text
        assert "http://" not in text
        assert "https://" not in text
