"""`judge RUN` as users call it: against the scripted server, broken off, killed and gone on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from openai_server import Reply as Scripted

from lmms_eval_finance.cli import main
from lmms_eval_finance.judging import client as client_module
from lmms_eval_finance.judging.items import Vote
from lmms_eval_finance.runs.judge import load_verdicts
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.settings import SettingError

KEY = "sk-verysecret-0123456789"


def figure(out, name):
    """The value that `rescore` prints for a figure."""
    return next(line.split()[1] for line in out.splitlines() if line.split()[:1] == [name])


def _heed_interrupts():
    """A test run in the background passes on that interrupts are ignored; the command has to get them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setattr(client_module, "_FIRST_WAIT", 0.005)
    monkeypatch.setenv("JUDGE_KEY", KEY)
    monkeypatch.delenv("LMMS_EVAL_FINANCE_JUDGES", raising=False)
    monkeypatch.delenv("LMMS_EVAL_FINANCE_REQUIRE_JUDGE", raising=False)


@pytest.fixture
def judges(tmp_path, openai_server):
    def judges(names=("a",), top="", each=""):
        tables = "".join(
            f'[[judge]]\nname = "{name}"\nmodel = "model-{name}"\nbase_url = "{openai_server.url}"\n'
            f'key_env = "JUDGE_KEY"\n{each}\n'
            for name in names
        )
        path = tmp_path / "judges.toml"
        path.write_text(f'cache = "cache.sqlite"\n{top}\n{tables}')
        return str(path)

    return judges


@pytest.fixture
def run(write_run, make):
    """40 open answers, every fourth right; one empty answer that no judge is to see."""
    records = [make.judged(n, answer=f"gold {n}" if n % 4 == 0 else f"answer {n}") for n in range(40)]
    return write_run({"mfe_text": [*records, make.empty(99)]})


def honest(body):
    """Says Correct exactly if the answer between the tags is the reference."""
    text = body["messages"][0]["content"]
    parts = [text.rsplit(f"<{tag}>", 1)[1].split(f"</{tag}>")[0] for tag in ("reference", "candidate")]
    return "Correct" if parts[0] == parts[1] else "Incorrect"


def test_from_the_run_to_the_score(run, judges, openai_server, capsys):
    openai_server.reply = honest
    assert main(["rescore", str(run)]) == 0
    assert figure(capsys.readouterr().out, "rate_empty") == "0.0244"
    assert main(["judge", str(run), "--judges", judges("abc")]) == 0
    out, err = capsys.readouterr()
    assert "40 items for 3 judges:" in out
    assert "a: 40 calls (0 in the cache), about" in out
    assert "| a / b / c | 40 | 1.000 [1.000, 1.000] |" in out
    assert "asked about 40 items, failed on 0 of them" in err
    assert len(openai_server.requests) == 120
    verdicts = load_verdicts(open_run(run))
    assert len(verdicts) == 40
    assert [vote["judge"] for vote in verdicts["mfe_text", "0"].votes] == ["a", "b", "c"]
    assert main(["rescore", str(run)]) == 0
    out = capsys.readouterr().out
    assert "mfe_text: 41 of 41 items scored" in out
    assert figure(out, "accuracy") == "0.2439"  # 10 of 41
    assert main(["judge", str(run), "--judges", judges("abc")]) == 0
    assert len(openai_server.requests) == 120


def test_a_dry_run_sends_and_writes_nothing(run, judges, openai_server, capsys):
    each = "price = {input = 1, output = 2}\nparameters = {max_tokens = 10}"
    before = sorted(run.iterdir())
    assert main(["judge", str(run), "--judges", judges("ab", each=each), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "a: 40 calls (0 in the cache)" in out
    assert "at most 400 reply tokens, at most 0.0" in out
    assert "together: 80 calls, at most 0.0" in out
    assert openai_server.requests == []
    assert sorted(run.iterdir()) == before


def test_failures_are_counted_and_never_a_zero(run, judges, openai_server, capsys, monkeypatch):
    openai_server.reply = lambda body: (
        Scripted("no", status=400) if "gold 7<" in str(body) else Scripted("Correct")
    )
    openai_server.reply = lambda body: (
        Scripted("no", status=400) if "Question 7?" in body["messages"][0]["content"] else Scripted("Correct")
    )
    assert main(["judge", str(run), "--judges", judges()]) == 0
    assert "failed on 1 of them (judge_failed: not scored" in capsys.readouterr().err
    main(["rescore", str(run)])
    out = capsys.readouterr().out
    assert "mfe_text: 40 of 41 items scored" in out
    assert figure(out, "accuracy") == "0.9750"  # 39 right, 1 empty, 1 left out
    assert figure(out, "rate_judge_failed") == "0.0244"
    monkeypatch.setenv("LMMS_EVAL_FINANCE_REQUIRE_JUDGE", "1")
    assert main(["judge", str(run), "--judges", judges()]) == 1
    assert "REQUIRE_JUDGE is set" in capsys.readouterr().err
    assert main(["rescore", str(run)]) == 1
    assert "REQUIRE_JUDGE is set and judges failed on 1 of 41 items" in capsys.readouterr().err
    # only the failed one was asked again
    assert len(openai_server.requests) == 41
    openai_server.reply = "Incorrect"
    assert main(["judge", str(run), "--judges", judges()]) == 0
    assert len(openai_server.requests) == 42


def test_a_server_that_only_fails_ends_the_run_and_scores_nothing(run, judges, openai_server, capsys):
    openai_server.reply = Scripted("down", status=500)
    assert main(["judge", str(run), "--judges", judges(each="retries = 1")]) == 0
    assert "failed on 40 of them" in capsys.readouterr().err
    main(["rescore", str(run)])
    out = capsys.readouterr().out
    assert "mfe_text: 1 of 41 items scored" in out  # the empty answer
    assert figure(out, "accuracy") == "0.0000"


def test_nothing_scored_is_no_zero(write_run, make, judges, openai_server, capsys):
    folder = write_run({"mfe_text": [make.judged(1)]})
    openai_server.reply = Scripted("down", status=400)
    main(["judge", str(folder), "--judges", judges()])
    capsys.readouterr()
    main(["rescore", str(folder)])
    out = capsys.readouterr().out
    assert "mfe_text: 0 of 1 items scored" in out
    assert "  accuracy " not in out


def test_judges_of_the_run_itself_can_be_replaced(write_run, make, judges, openai_server, capsys):
    folder = write_run({"mfe_text": [make.judged(1, votes=[Vote("old", False, reply="Incorrect")])]})
    main(["judge", str(folder), "--judges", judges()])
    capsys.readouterr()
    main(["rescore", str(folder)])
    assert figure(capsys.readouterr().out, "accuracy") == "1.0000"


def start(run, judges):
    command = [sys.executable, "-m", "lmms_eval_finance.cli", "judge", str(run), "--judges", judges]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_interrupts
    )


def wait_for(openai_server, count, process):
    while len(openai_server.requests) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def sent(openai_server):
    return Counter(request.text for request in openai_server.requests)


def test_broken_off_and_gone_on_nothing_is_paid_twice(run, judges, openai_server):
    openai_server.latency = 0.05
    path = judges(each="concurrency = 4")
    process = start(run, path)
    wait_for(openai_server, 10, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "the same command goes on from there" in err
    assert "Traceback" not in err
    assert len(openai_server.requests) < 40
    assert main(["judge", str(run), "--judges", path]) == 0
    assert len(sent(openai_server)) == 40
    assert set(sent(openai_server).values()) == {1}
    assert KEY not in out + err


def test_killed_again_and_again_only_requests_in_flight_are_repeated(run, judges, openai_server):
    openai_server.latency = 0.05
    path = judges(each="concurrency = 4")
    for kill in range(3):
        process = start(run, path)
        wait_for(openai_server, 8 * (kill + 1), process)
        process.kill()
        process.communicate()
    openai_server.latency = 0.0
    assert main(["judge", str(run), "--judges", path]) == 0
    assert len(sent(openai_server)) == 40
    assert len(openai_server.requests) - 40 <= 3 * 4
    assert len(load_verdicts(open_run(run))) == 40


def test_two_at_once_share_the_cache(run, judges, openai_server):
    openai_server.latency = 0.02
    path = judges(each="concurrency = 4")
    processes = [start(run, path) for _ in range(2)]
    for process in processes:
        assert process.communicate(timeout=60) is not None
        assert process.returncode == 0
    assert len(sent(openai_server)) == 40
    assert len(load_verdicts(open_run(run))) == 40
    assert not [path for path in run.iterdir() if path.suffix == ".part"]


@pytest.mark.parametrize("verb", ["judge", "rescore", "review"])
def test_wrong_use_is_one_line(verb, tmp_path, capsys):
    extra = ["--judges", str(tmp_path / "absent.toml")] if verb == "judge" else []
    assert main([verb, str(tmp_path / "absent"), *extra]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "no such file" in err


def test_a_judge_must_be_named(run, capsys):
    assert main(["judge", str(run)]) == 2
    assert "name the judges" in capsys.readouterr().err
    assert main(["judge"]) == 2
    assert "name a run" in capsys.readouterr().err


def test_a_run_without_open_answers(write_run, make, judges, capsys):
    folder = write_run({"finmme": [make.empty(1)]})
    assert main(["judge", str(folder), "--judges", judges()]) == 2
    assert "no item of this run is for a judge" in capsys.readouterr().err


def test_an_unknown_preset(write_run, make, judges, capsys):
    folder = write_run({"mfe_text": [make.judged(1, preset="other")]})
    assert main(["judge", str(folder), "--judges", judges()]) == 2
    assert "item 1: no judge's prompt is called 'other'" in capsys.readouterr().err


def test_broken_lines_can_be_left_out(run, judges, capsys):
    samples = next(run.glob("*_samples_*"))
    samples.write_bytes(samples.read_bytes() + b"broken\n")
    assert main(["judge", str(run), "--judges", judges()]) == 2
    assert ":42: not JSON" in capsys.readouterr().err
    assert main(["judge", str(run), "--judges", judges(), "--skip-broken"]) == 0
    assert "left out: " in capsys.readouterr().err
    assert main(["rescore", str(run), "--skip-broken"]) == 0
    assert "1 lines left out" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["famma", "mfe", "cfmme"])
def test_examples_are_files_that_work(name, tmp_path, capsys):
    from lmms_eval_finance.judging.config import load_judges

    assert main(["judge", "--example", name]) == 0
    path = tmp_path / "judges.toml"
    path.write_text(capsys.readouterr().out)
    assert len(load_judges(path).judges) == (3 if name == "mfe" else 1)
    # with every comment that holds a setting taken at its word
    lines = path.read_text().splitlines()
    text = "\n".join(line.removeprefix("# ") if "=" in line or "# [" in line else line for line in lines)
    path.write_text(text)
    os.environ["OPENAI_API_KEY"] = os.environ.get("OPENAI_API_KEY", "EMPTY")
    config = load_judges(path)
    assert config.limits.calls == 5000
    assert config.judges[0].price is not None


def test_the_key_is_in_no_file_of_the_run(run, judges, openai_server, tmp_path):
    openai_server.reply = Scripted(f"Correct {KEY}")
    assert main(["judge", str(run), "--judges", judges("ab")]) == 0
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()


def test_a_damaged_verdicts_file(run, judges):
    main(["judge", str(run), "--judges", judges()])
    found = open_run(run)
    path = found.companion("verdicts")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(json.dumps({**rows[0], "votes": "x"}) + "\n")
    with pytest.raises(SettingError, match="damaged: judge the run again"):
        load_verdicts(found)
