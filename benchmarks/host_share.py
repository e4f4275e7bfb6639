"""What this package adds to an evaluation: its share of the wall time, at replies of a fixed length.

    python benchmarks/host_share.py                                  # a tiny Qwen2.5-VL on the CPU
    python benchmarks/host_share.py --size 3b --device cuda          # one of 3 billion parameters, in bfloat16

Runs the host's own command in this process, with ``--model qwen2_5_vl`` on random weights
built on the spot (nothing is downloaded) and every reply `--tokens` tokens long, and takes
the time of each hook of the tasks. What is scored in place of the noise that such a model
says is the gold answer, so that readers and metrics have their usual work; each task's
scorer is warmed up before the clock starts. `LMMS_EVAL_FINANCE_DATA` chooses the data (the
packaged sample where it is unset).
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

TASKS = (
    "finmme_finscore",
    "mfe_text",
    "mfe_table",
    "mfe_conversation",
    "famma",
    "cfmme_qa",
    "cfmme_seal_detection",
    "cfmme_table_recognition",
    "cfmme_formula_recognition",
    "cfmme_information_extraction",
)
OURS = ("requests", "images", "scoring", "aggregation")
HOOKS = {"doc_to_text": "requests", "doc_to_messages": "requests", "doc_to_visual": "images"}


class Clock:
    """Seconds by (task, activity); an activity within another is not counted twice.

    One that belongs to no task belongs to that of the activity around it.
    """

    def __init__(self) -> None:
        self.seconds: Counter[tuple[str, str]] = Counter()
        self._running: list[tuple[str, str]] = []
        self._since = 0.0

    @contextmanager
    def during(self, task: str, activity: str) -> Iterator[None]:
        self._switch()
        self._running.append((task or self._running[-1][0] if self._running else task, activity))
        try:
            yield
        finally:
            self._switch()
            self._running.pop()

    def _switch(self) -> None:
        now = time.perf_counter()
        if self._running:
            self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def timed(self, function: Callable[..., Any], task: str, activity: str) -> Callable[..., Any]:
        @functools.wraps(function)  # the host looks at signatures
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.during(task, activity):
                return function(*args, **kwargs)

        return wrapped


def gold_reply(task: str, doc: dict[str, Any], target: Callable[..., Any]) -> str:
    """The gold in the form that the task asks for."""
    if not task.startswith("famma"):
        return str(target(doc))
    answers = {
        question["key"]: {"answer": question["answers"], "explanation": "as the table says"}
        for question in json.loads(doc["questions"])
    }
    return json.dumps(answers, ensure_ascii=False)


def prepare(clock: Clock, items: Counter[str]) -> None:
    """Put the clock around the hooks of the tasks, the model and the evaluation."""
    import lmms_eval.evaluator as host
    from lmms_eval.api.task import ConfigurableTask

    from lmms_eval_finance.data import images

    make = ConfigurableTask.__init__
    warming: dict[str, Callable[[int], None]] = {}

    def make_timed(self: Any, *args: Any) -> None:
        config = args[3]
        name = config["task"]
        for hook, activity in HOOKS.items():
            if callable(config.get(hook)):
                config[hook] = clock.timed(config[hook], name, activity)
        for metric in config["metric_list"]:
            metric["aggregation"] = clock.timed(metric["aggregation"], name, "aggregation")
        score, target = config["process_results"], config["doc_to_target"]

        def scored(doc: dict[str, Any], results: list[Any]) -> Any:
            rounds = len(results[0]) if isinstance(results[0], list) else 0
            reply = gold_reply(name, doc, target)
            items[name] += rounds or 1
            with clock.during(name, "scoring"):
                return score(doc, [[reply] * rounds] if rounds else [reply])

        def warm(docs: int) -> None:
            for doc in itertools.islice(self.eval_docs_no_media, docs):
                # Other texts than those that count, or a cache would answer for the scorer.
                score(doc, [f"So: {gold_reply(name, doc, target)}"])

        config["process_results"] = scored
        warming[name] = warm
        make(self, *args)

    ConfigurableTask.__init__ = make_timed
    for helper in ("to_rgb", "as_jpeg", "shrink"):
        setattr(images, helper, clock.timed(getattr(images, helper), "", "images"))

    evaluate = host.evaluate

    def evaluate_timed(lm: Any, task_dict: dict[str, Any], **kwargs: Any) -> Any:
        for name in task_dict:
            warming[name](int(kwargs["limit"]))
            items[name] = 0
        clock.seconds.clear()
        generate = lm.generate_until

        def generate_timed(requests: list[Any]) -> list[Any]:
            outputs: list[Any] = []
            for name, group in itertools.groupby(requests, key=lambda request: request.task_name):
                with clock.during(name, "model"):
                    outputs += generate(list(group))
            return outputs

        lm.generate_until = generate_timed
        with clock.during("", "host"):
            return evaluate(lm=lm, task_dict=task_dict, **kwargs)

    host.evaluate = evaluate_timed


def run(args: argparse.Namespace, folder: Path) -> tuple[Clock, Counter[str]]:
    """Build the model unless `--model` names one, and run the host."""
    model = args.model or folder / "model"
    if args.model is None:
        from random_models import build_qwen2_5_vl

        build_qwen2_5_vl(model, args.size, "bfloat16", args.device)
    file = model / "generation_config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**settings, "min_new_tokens": args.tokens}), encoding="utf-8")

    clock, items = Clock(), Counter[str]()
    prepare(clock, items)
    from lmms_eval.__main__ import cli_evaluate

    sys.argv = [
        *("lmms-eval", "--model", "qwen2_5_vl", "--device", args.device),
        *("--model_args", f"pretrained={model},device_map={args.device}"),
        *("--tasks", args.tasks, "--limit", str(args.items), "--batch_size", str(args.batch_size)),
        *("--gen_kwargs", f"max_new_tokens={args.tokens}", "--output_path", str(folder / "out")),
        # One thread, so that the seconds of scoring are seconds of work and not of waiting.
        *("--log_samples", "--process_docs_parallel", "1"),
    ]
    cli_evaluate()
    if not list((folder / "out").rglob("*_results.json")):
        raise SystemExit("the evaluation failed")
    tokens = [
        count["output_tokens"]
        for file in (folder / "out").rglob("*_samples_*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
        for count in json.loads(line)["token_counts"]
        if count
    ]
    assert set(tokens) == {args.tokens}, f"replies of other lengths than asked for: {sorted(set(tokens))}"
    return clock, items


def table(clock: Clock, items: Counter[str]) -> str:
    """Milliseconds per scored item, and shares of the time of hooks and model."""
    lines = [
        f"| task | items | {' | '.join(OURS)} | model | share |",
        "|---|" + "---:|" * (len(OURS) + 3),
    ]
    for task, count in items.items():
        spent = [clock.seconds[task, activity] for activity in OURS]
        model = clock.seconds[task, "model"]
        cells = [f"{1000 * seconds / count:.2f}" for seconds in spent]
        share = sum(spent) / (sum(spent) + model)
        lines.append(f"| {task} | {count} | {' | '.join(cells)} | {1000 * model / count:.0f} | {share:.2%} |")
    whole = sum(clock.seconds.values())
    ours = sum(seconds for (_, activity), seconds in clock.seconds.items() if activity in OURS)
    host = clock.seconds["", "host"]
    lines.append("")
    lines.append(
        f"All {items.total()} items: {1000 * ours / items.total():.2f} ms an item of this package, "
        f"{ours / whole:.2%} of {whole:.1f} s (model {(whole - ours - host) / whole:.1%}, rest of the host {host / whole:.1%})."
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure this package's share of an evaluation's wall time.")
    parser.add_argument("--tasks", default=",".join(TASKS), help="comma-separated")
    parser.add_argument("--items", type=int, default=6, help="docs of each task")
    parser.add_argument("--tokens", type=int, default=64, help="length of every reply")
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--size", choices=["tiny", "3b"], default="tiny")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--model", type=Path, help="a Qwen2.5-VL at hand, instead of building one")
    args = parser.parse_args()
    os.environ.setdefault("LMMS_EVAL_FINANCE_DATA", "sample")
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        clock, items = run(args, Path(folder))
        elapsed = time.perf_counter() - start
    import torch

    device = torch.cuda.get_device_name() if args.device.startswith("cuda") else platform.processor() or "CPU"
    print(
        f"\n{args.size} Qwen2.5-VL, {args.tokens} tokens a reply, batches of {args.batch_size}, {device}, "
        f"torch {torch.__version__}, lmms-eval {version('lmms-eval')}; "
        f"{elapsed:.0f} s with building and loading\n"
    )
    print(table(clock, items))


if __name__ == "__main__":
    main()
