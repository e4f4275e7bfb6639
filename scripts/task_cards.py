"""Writes the generated part of every task card, tasks/BENCHMARK/README.md.

Run ``python scripts/task_cards.py``; with ``--check`` nothing is written and a stale card is an error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lmms_eval_finance import prompts
from lmms_eval_finance.data import sources
from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.tasks import registry

TASKS = Path(__file__).resolve().parents[1] / "tasks"
BEGIN = "<!-- begin: written by scripts/task_cards.py -->"
END = "<!-- end -->"


def main() -> int:
    """Write the cards, or name those that are stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a card is stale")
    check = parser.parse_args().check
    for name in [name for name in os.environ if name.startswith("LMMS_EVAL_FINANCE_")]:
        del os.environ[name]
    os.environ["LMMS_EVAL_FINANCE_DATA"] = "sample"
    stale = []
    for benchmark in BENCHMARKS:
        path = TASKS / benchmark / "README.md"
        before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
        _, found, after = rest.partition(END)
        if not found:
            sys.exit(f"{path}: it lacks the lines {BEGIN} and {END}")
        card = f"{before}{BEGIN}\n\n{generated(benchmark)}\n\n{END}{after}"
        if card != path.read_text(encoding="utf-8"):
            stale.append(path)
            if not check:
                path.write_text(card, encoding="utf-8")
    if check and stale:
        print(f"stale: {', '.join(map(str, stale))}; run `python scripts/task_cards.py`", file=sys.stderr)
        return 1
    return 0


def generated(benchmark: str) -> str:
    """Tables of tasks, metrics and templates."""
    tasks = {
        name: registry.settings_of(TASKS / benchmark / f"{name}.yaml") for name in registry.names(benchmark)
    }
    return "\n\n".join(
        [
            "| task | split | signature (of the first item; HASH: of the rows) |\n|---|---|---|\n"
            + "\n".join(
                f"| `{name}` | `{about['test_split']}` | `{signature(name)}` |"
                for name, about in tasks.items()
            ),
            *groups(benchmark),
            "| metric | better | tasks |\n|---|---|---|\n" + "\n".join(metrics(tasks)),
            "| prompt template | hash |\n|---|---|\n" + "\n".join(templates(benchmark)),
        ]
    )


def signature(task: str) -> str:
    """The signature of the task's scores, spaces for its ``|``, which would end a table's cell."""
    found = registry.find(task)
    assert found is not None
    if "rag" in task.split("_"):  # its signature names an index of the reader's own books
        return "as without retrieval, prompt=famma_rag, index=HASH"
    docs = found.process_docs(sources.locate(found.benchmark, found.split).load())
    text = next(signatures(found.process_results(docs[0], [""])))
    rows = f"{found.benchmark}/{found.split}@HASH"
    return " ".join(f"{name}={value}" for name, value in Signature.parse(text).with_fields(data=rows).fields)


def signatures(value: Any) -> Iterator[str]:
    """Every signature in what a scoring hook returns."""
    if isinstance(value, Mapping):
        if value.get("signature"):
            yield value["signature"]
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from signatures(part)


def groups(benchmark: str) -> list[str]:
    """A table of groups and tags; nothing where there is neither."""
    members: dict[str, list[str]] = {}
    for path in sorted((TASKS / benchmark).glob("*.yaml")):
        about = registry.settings_of(path)
        if isinstance(about.get("task"), list):
            members[about["group"]] = about["task"]
        elif "tag" in about:
            members.setdefault(about["tag"], []).append(about["task"])
    if not members:
        return []
    lines = [f"| `{name}` | {listed(tasks)} |" for name, tasks in sorted(members.items())]
    return ["| group or tag | tasks |\n|---|---|\n" + "\n".join(lines)]


def metrics(tasks: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A row for each metric: which way is better, which tasks have it."""
    users: dict[tuple[str, str], list[str]] = {}
    for name, about in tasks.items():
        for metric in about["metric_list"]:
            better = "higher" if metric["higher_is_better"] else "lower"
            users.setdefault((metric["metric"], better), []).append(name)
    for (metric, better), names in users.items():
        yield f"| `{metric}` | {better} | {'all' if len(names) == len(tasks) else listed(names)} |"


def listed(names: list[str]) -> str:
    """Names as code, joined by commas."""
    return ", ".join(f"`{name}`" for name in names)


def templates(benchmark: str) -> Iterator[str]:
    """A row for each prompt template that the benchmark or its judge uses."""
    for name in prompts.names():
        if benchmark in name.split("_"):
            yield f"| `{name}` | `{prompts.load(name).hash}` |"


if __name__ == "__main__":
    sys.exit(main())
