"""The tasks by name, read from the YAML that the host reads: what is known of one, and its hooks."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_eval_finance.data.errata import Errata
from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.metrics.records import Record

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: as the host knows it.
        benchmark, split: whose rows it asks.
        scoring: dotted name of its `process_results` hook.
        preparing: dotted name of its `process_docs` hook; empty for none.
    """

    name: str
    benchmark: str
    split: str
    scoring: str
    preparing: str = ""

    @property
    def process_results(self) -> Callable[[Mapping[str, Any], Sequence[Any]], dict[str, Any]]:
        """A doc and the responses to it -> what the host collects, the records among it."""
        found: Callable[..., dict[str, Any]] = _load(self.scoring)
        return found

    @property
    def process_docs(self) -> Callable[[Any], Any]:
        """The split's rows -> the task's docs."""
        return _load(self.preparing) if self.preparing else lambda rows: rows

    @property
    def rescore(self) -> Callable[[Sequence[Record], Errata | None], list[Record]]:
        """The records of one doc -> the same scored again (`tasks.rescoring`)."""
        module, _, hook = self.scoring.rpartition(".")
        found: Callable[..., list[Record]] = _load(f"{module}.rescore__{hook.partition('__')[2]}")
        return found


@functools.lru_cache(maxsize=256)
def find(name: str) -> Task | None:
    """The task of that name; None where this package has none."""
    benchmark = name.partition("_")[0]
    path = FOLDER / benchmark / f"{name}.yaml"
    if benchmark not in BENCHMARKS or not name.replace("_", "").isalnum() or not path.is_file():
        return None
    config = settings_of(path)
    if not isinstance(config.get("task"), str):
        return None
    return Task(
        name, benchmark, config["test_split"], config["process_results"], config.get("process_docs", "")
    )


def names(benchmark: str) -> list[str]:
    """The benchmark's tasks, in alphabetical order."""
    found = sorted(path.stem for path in (FOLDER / benchmark).glob("*.yaml"))
    return [name for name in found if find(name) is not None]


def settings_of(path: Path) -> dict[str, Any]:
    """What a task or group file says, files it includes among it; functions as dotted names."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Keeps what ``!function`` refers to as its dotted name."""

    Loader.add_constructor("!function", lambda loader, node: node.value)
    config: dict[str, Any] = yaml.load(path.read_bytes(), Loader)
    included = config.pop("include", None)
    return {**settings_of(path.parent / included), **config} if included else config


def _load(dotted: str) -> Any:
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)
