"""The engine in its process: loops, threads, forks, limits, renewal."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import py_mini_racer
import pytest

from lmms_eval_finance.metrics.formula import EngineError, cdm, mathjax
from lmms_eval_finance.metrics.formula.mathjax import drawing, layouts
from lmms_eval_finance.metrics.outcomes import Outcome


@pytest.fixture
def cold() -> None:
    """No warm isolate."""
    mathjax._POOL.close()


@pytest.mark.usefixtures("cold")
def test_inside_a_running_event_loop() -> None:
    async def score() -> float | None:
        first = cdm("a+b", "a+b").f1
        await asyncio.sleep(0)
        return first

    assert asyncio.run(score()) == 1
    # The isolate outlives the loop that it was made in.
    assert cdm("a+b", "a-b").f1 == pytest.approx(2 / 3)


def test_many_threads_get_what_one_gets() -> None:
    sources = [rf"x_{{{k}}}^{{{k % 7}}}+\frac{{{k}}}{{y}}" for k in range(60)]
    alone = layouts(sources)
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda source: layouts([source])[0], sources))
    assert together == alone


def test_isolates_are_made_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made at once by several threads, the first ones now and then abort the process."""
    under_way: list[int] = []
    most: list[int] = []

    class Slow(py_mini_racer.MiniRacer):
        def __init__(self) -> None:
            under_way.append(1)
            most.append(len(under_way))
            time.sleep(0.05)
            super().__init__()
            under_way.pop()

    monkeypatch.setattr(py_mini_racer, "MiniRacer", Slow)
    monkeypatch.setattr(mathjax, "_POOL", mathjax._Pool())
    monkeypatch.setattr(mathjax._POOL, "_turn", threading.BoundedSemaphore(3))
    together = threading.Barrier(3)

    def ask(source: str) -> int:
        together.wait()
        return len(layouts([source]))

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(ask, ["x", "y", "z"])) == [1, 1, 1]
    mathjax._POOL.close()
    assert len(most) > 1
    assert max(most) == 1


def test_long_lists_are_shared_out_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mathjax, "_WORTH_SHARING", 10)
    sources = [f"x_{{{k}}}" for k in range(70)]
    assert ["".join(glyph.char for glyph in layout.glyphs) for layout in layouts(sources)] == [
        f"x{k}" for k in range(len(sources))
    ]


def _score_in_child(pair: tuple[str, str]) -> float | None:
    return cdm(*pair).f1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_after_a_fork() -> None:
    assert cdm("x", "x").exact  # a warm isolate that the children must not touch
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert (
            pool.map(_score_in_child, [("a+b", "a+b"), ("a+b", "a-b")] * 3) == [1.0, pytest.approx(2 / 3)] * 3
        )
    assert cdm("x", "x").exact


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_ends() -> None:
    script = (
        "import os, sys\n"
        "from lmms_eval_finance.metrics.formula import cdm\n"
        "cdm('x', 'x')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    sys.exit(0 if cdm('y', 'y').exact else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


def test_a_formula_that_takes_too_long_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mathjax, "TIME_LIMIT", 0.02)
    slow, fast = layouts(["x_" * 1900 + "x", "x"])
    monkeypatch.undo()
    assert slow.problem is Outcome.TIMED_OUT
    assert "seconds" in slow.message
    assert fast.problem in (None, Outcome.TIMED_OUT)  # a loaded machine may stop even this one
    assert layouts(["x"])[0].glyphs


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("globalThis.layouts = () => { while (true) {} }", Outcome.TIMED_OUT),
        (
            "globalThis.layouts = () => { const all = []; while (true) all.push(new Array(9999).fill(1)) }",
            Outcome.TIMED_OUT,
        ),
        ("globalThis.layouts = () => { throw new Error('broken') }", Outcome.UNREADABLE),
    ],
    ids=["time", "memory", "fault"],
)
@pytest.mark.usefixtures("cold")
def test_a_stopped_isolate_is_replaced(
    script: str, problem: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mathjax._POOL.isolate() as isolate:
        isolate.racer.eval(script)
    monkeypatch.setattr(mathjax, "TIME_LIMIT", 2.0)
    monkeypatch.setattr(mathjax, "_MEMORY_LIMIT", 128 * 1024 * 1024)
    assert layouts(["x"])[0].problem is problem
    monkeypatch.undo()
    assert layouts(["x"])[0].glyphs


@pytest.mark.usefixtures("cold")
def test_isolates_are_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mathjax, "_FORMULAS_AN_ISOLATE", 3)
    with mathjax._POOL.isolate() as first:
        pass
    for k in range(3):
        layouts([f"x_{k}"])
    with mathjax._POOL.isolate() as second:
        assert second is not first
        assert second.usable


def test_memory_stays_bounded() -> None:
    sources = [rf"\frac{{x_{{{k}}}}}{{y}}" for k in range(16)]
    with mathjax._POOL.isolate() as isolate:
        isolate.ask(sources, draw=False)
        isolate.racer.low_memory_notification()
        before = isolate.racer.heap_stats()["used_heap_size"]
        for _ in range(20):
            isolate.ask(sources, draw=False)
        isolate.racer.low_memory_notification()
        grown = isolate.racer.heap_stats()["used_heap_size"] - before
    a_formula = max(grown, 0) / (20 * 16)
    assert a_formula * mathjax._FORMULAS_AN_ISOLATE < 200 * 1024 * 1024


def test_the_isolate_has_no_way_out() -> None:
    with mathjax._POOL.isolate() as isolate:
        for name in ("require", "process", "fetch", "XMLHttpRequest", "importScripts", "WebSocket", "Deno"):
            assert isolate.racer.eval(f"typeof {name}") == "undefined"
    (layout,) = layouts([r"\require{mhchem}x"])
    assert layout.glyphs[0].kind == "unknown"


def test_missing_files_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    mathjax._files.cache_clear()
    monkeypatch.setattr(mathjax.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match="pip install mini-racer django-static-mathjax"):
        mathjax._files()
    monkeypatch.undo()
    assert mathjax._files().is_dir()


def test_a_drawing_is_an_svg_or_nothing() -> None:
    assert drawing("x^2").startswith("<svg")
    assert drawing(r"\frac{") == ""
    assert drawing("x" * 5000) == ""
