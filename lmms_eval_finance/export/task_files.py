"""Task files as the hosts want them: functions from the `utils.py` beside them, data by literal names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import lmms_eval_finance.tasks
from lmms_eval_finance.data.schemas import benchmark as about_benchmark
from lmms_eval_finance.tasks import registry

TASKS = Path(str(lmms_eval_finance.tasks.__file__)).parent
LM_EVAL = Path(__file__).parents[1] / "lm_eval"
_PACKAGE = "lmms_eval_finance."
_FUNCTION = re.compile(r"!function ([\w.]+)")
_SOURCE = re.compile(r"^( *)(\w+): !function \S*\b(path|kwargs|source)__([a-z]+?)__(\w+)\n", re.MULTILINE)
_METRICS = re.compile(r"^metric_list: !function utils\.metrics__([a-z]+)__(\w+)\n", re.MULTILINE)
_PREPARING = re.compile(r"^process_docs: !function (\S+)\n", re.MULTILINE)
_LIST = re.compile(r"^metric_list:\n(?:[ #].*\n)+", re.MULTILINE)

LEFT_OUT = ("famma_rag", "famma_rag_txt")
"""Tasks that search an index of the reader's own books.

A command of this package makes it, and no two readers' figures compare: nothing to propose to a host.
"""


@dataclass
class TaskFiles:
    """Task files of one benchmark.

    Attributes:
        texts: file name -> content.
        functions: name in `utils.py` -> dotted name of the function in this package.
        preparing: those names that prepare rows -> whether for a task asked in rounds.
        local_splits: splits whose rows stand beside the tasks.
    """

    texts: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    preparing: dict[str, bool] = field(default_factory=dict)
    local_splits: set[str] = field(default_factory=set)

    @property
    def begins_turn(self) -> bool:
        """Whether some task has the host begin the assistant's turn."""
        return any("\ngen_prefix:" in text for text in self.texts.values())

    @property
    def names(self) -> list[str]:
        """The tasks and groups."""
        return [name.removesuffix(".yaml") for name in self.texts if name.endswith(".yaml")]

    def add(self, name: str, text: str, *, asked_in_rounds: str = "") -> None:
        """Take in a file, its functions and data rewritten.

        Args:
            name: of the file.
            text: its content.
            asked_in_rounds: for a task that is, the dotted name of the hook that prepares its rows.
        """
        text = _METRICS.sub(lambda found: _metric_list(found[1], found[2]), text)
        text = _SOURCE.sub(_literal, text)
        if asked_in_rounds:
            text = _PREPARING.sub("", text)
        text = _FUNCTION.sub(self._local, text)
        self.preparing |= {hook.removeprefix("utils."): False for hook in _PREPARING.findall(text)}
        if asked_in_rounds:
            hook = f"{asked_in_rounds.rpartition('.')[2]}_in_rounds"
            text = text.replace("\noutput_type:", f"\nprocess_docs: !function utils.{hook}\noutput_type:", 1)
            self.functions[hook] = asked_in_rounds
            self.preparing[hook] = True
        self.texts[name] = text

    def _local(self, found: re.Match[str]) -> str:
        dotted = found[1]
        if dotted.startswith("utils.data__"):
            self.local_splits.add(dotted.removeprefix("utils.data__"))
            return found[0]
        if dotted.startswith("utils."):  # ``utils.BENCHMARK__HOOK`` of the lm-eval tasks
            benchmark, _, hook = dotted.removeprefix("utils.").partition("__")
            dotted = f"{_PACKAGE}tasks.{benchmark}.utils.{hook}"
        name = dotted.rpartition(".")[2]
        if self.functions.setdefault(name, dotted) != dotted:
            # ``common.mean`` and ``utils.mean``, say: the second is named for its module too.
            name = "_".join(dotted.split(".")[-2:])
            self.functions[name] = dotted
        return f"!function utils.{name}"


def for_lmms_eval(benchmark: str) -> TaskFiles:
    """The files of a benchmark's tasks and groups; files that others include get lmms-eval's names."""
    files = TaskFiles()
    shared = {path.name: _template_name(path.stem) for path in (TASKS / benchmark).glob("_*.yaml")}
    for path in sorted((TASKS / benchmark).glob("*.yaml")):
        if path.stem in LEFT_OUT:
            continue
        text = path.read_text(encoding="utf-8")
        for theirs, name in shared.items():
            text = text.replace(f"include: {theirs}\n", f"include: {name}\n")
        settings = registry.settings_of(path)
        rounds = settings.get("output_type") == "generate_until_multi_round"
        hook = settings["process_docs"] if rounds else ""
        files.add(shared.get(path.name, path.name), text, asked_in_rounds=hook)
    return files


def for_lm_eval(benchmark: str) -> TaskFiles:
    """The files of a benchmark's text-only tasks."""
    files = TaskFiles()
    for path in sorted(LM_EVAL.glob(f"{benchmark}_*.yaml")):
        files.add(path.name, path.read_text(encoding="utf-8"))
    return files


def _template_name(stem: str) -> str:
    """``_cfmme`` -> ``_default_template_yaml``, ``_cfmme_qa`` -> ``_default_template_qa_yaml``."""
    kind = stem.strip("_").partition("_")[2]
    return f"_default_template_{kind}_yaml" if kind else "_default_template_yaml"


def _metric_list(benchmark: str, file: str) -> str:
    """The metrics of a file of the lmms-eval tasks."""
    found = _LIST.search((TASKS / benchmark / f"{file}.yaml").read_text(encoding="utf-8"))
    assert found is not None, file
    return found[0]


def _literal(found: re.Match[str]) -> str:
    indent, key, what, benchmark, split = found.groups()
    hub = about_benchmark(benchmark).hub
    if what == "path":
        return f"{indent}{key}: {hub or 'parquet'}\n"
    if what == "kwargs" and hub is None:
        return f"{indent}{key}:\n{indent}  data_files:\n{indent}    {split}: !function utils.data__{split}\n"
    if what == "source":
        return f"{indent}asked: !function {_PACKAGE}data.sources.asked\n"
    return ""
