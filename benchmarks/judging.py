"""Language judging: speed beside the host's own provider, the cache, and failures.

A local server answers after a fixed latency, in a process of its own. Measured in one run on it:

- `judge_items` with one judge on N items, against the ideal N x latency / concurrency;
- the host's `local` provider in its default 4 threads, on a slice, extrapolated to N;
- the same judging again, from the cache;
- with 1% of requests failing at random, and with all failing.

    python benchmarks/judging.py [--items 3612] [--latency 0.05] [--concurrency 32] [--slice 240]
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lmms_eval_finance import prompts
from lmms_eval_finance.judging.config import load_judges
from lmms_eval_finance.judging.items import JudgeItem, resolve
from lmms_eval_finance.judging.panel import Panel, judge_items

SERVER = Path(__file__).resolve().parents[1] / "tests" / "openai_server.py"


@contextlib.contextmanager
def server(latency: float, fail: float = 0.0) -> Iterator[str]:
    """The address of a test server in its own process."""
    command = [sys.executable, str(SERVER), "--latency", str(latency), "--fail", str(fail)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def panel(folder: Path, url: str, concurrency: int) -> Panel:
    path = folder / "judges.toml"
    path.write_text(
        f'cache = "cache.sqlite"\n[[judge]]\nmodel = "m"\nbase_url = "{url}"\nconcurrency = {concurrency}\n'
    )
    return Panel(load_judges(path))


def judged(
    items: list[JudgeItem], url: str, concurrency: int, folder: Path
) -> tuple[float, Panel, Counter[str]]:
    """Seconds, the panel with its counts, and how many items had which outcome."""
    opened = panel(folder, url, concurrency)
    began = time.perf_counter()
    votes = judge_items(items, opened)
    seconds = time.perf_counter() - began
    opened.close()
    outcomes = Counter(resolve(None, [vote.to_json() for vote in given])[0].value for given in votes)
    return seconds, opened, outcomes


def default_threads() -> int:
    """In how many threads the host runs process_results, and so its judges, unless told otherwise."""
    from lmms_eval.evaluator import simple_evaluate

    return int(inspect.signature(simple_evaluate).parameters["process_docs_parallel"].default)


def host_seconds(url: str, texts: list[str], threads: int) -> float:
    """Seconds that the host's local provider needs for these prompts."""
    os.environ["LLM_JUDGE_URL"] = f"{url}/chat/completions"
    from lmms_eval.llm_judge import ProviderFactory, Request, ServerConfig

    provider = ProviderFactory.create_provider("local", ServerConfig(model_name="m"))
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        for response in pool.map(
            lambda text: provider.evaluate(Request(messages=[{"role": "user", "content": text}])), texts
        ):
            assert response.content == "Correct"
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=3612)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--slice", type=int, default=240, help="prompts for the host's provider")
    args = parser.parse_args()

    items = [
        JudgeItem(str(n), "mfe", f"Quelle est la valeur {n} ?", f"{n} %", f"{n},0 %")
        for n in range(args.items)
    ]
    template = prompts.load("judge_mfe")
    texts = [
        template.render(question=item.question, options="", gold=item.gold, answer=item.answer)
        for item in items[: args.slice]
    ]
    ideal = args.items * args.latency / args.concurrency
    with tempfile.TemporaryDirectory() as name, server(args.latency) as url:
        folder = Path(name)
        seconds, opened, outcomes = judged(items, url, args.concurrency, folder)
        print(
            f"judge_items: {args.items:,} judgements in {seconds:.2f} s ({opened.budget.calls:,} calls, {dict(outcomes)})"
        )
        print(
            f"  ideal {args.items:,} x {args.latency:g} s / {args.concurrency} = {ideal:.2f} s; ratio {seconds / ideal:.2f} (wanted: at most 1.5)"
        )
        for threads, note in (
            (default_threads(), "by default; wanted: at least 4"),
            (args.concurrency, "as many as ours"),
        ):
            slice_seconds = host_seconds(url, texts, threads)
            whole = slice_seconds * args.items / len(texts)
            print(
                f"host's local provider, {threads} threads ({note}): {len(texts)} judgements in {slice_seconds:.2f} s, "
                f"extrapolated to {args.items:,}: {whole:.1f} s, {whole / seconds:.1f} times as long"
            )
        again, opened, outcomes = judged(items, url, args.concurrency, folder)
        print(
            f"second run: {again:.2f} s, {opened.budget.calls} calls, {dict(outcomes)} (wanted: under 2 s, 0 calls)"
        )
    for fail in (0.01, 1.0):
        with tempfile.TemporaryDirectory() as name, server(args.latency, fail) as url:
            seconds, opened, outcomes = judged(items, url, args.concurrency, Path(name))
            print(
                f"{fail:.0%} of requests fail: {seconds:.1f} s, {opened.budget.calls:,} calls, {dict(outcomes)}"
            )


if __name__ == "__main__":
    main()
