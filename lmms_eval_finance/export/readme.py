"""The README of an exported task folder, made from the benchmark's task card."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_eval_finance import __version__
from lmms_eval_finance.data.schemas import benchmark as about_benchmark
from lmms_eval_finance.export.hosts import Host
from lmms_eval_finance.export.sources import ROWS
from lmms_eval_finance.export.task_files import TASKS
from lmms_eval_finance.tasks import registry

_ITEM = re.compile(r"^- `(\w+)`: (.+)$", re.MULTILINE)
_CHECKLIST = """\
* [x] Is the task an existing benchmark in the literature?
  * [x] Have you referenced the original paper that introduced the task?
  * [x] If yes, does the original paper provide a reference implementation? If so, have you checked against the
    reference implementation and documented how to run such a test? See Metrics; the tests of lmms-eval-finance hold
    the scorers to definitions, released figures and, where there is one, the released scorer.

If other tasks on this dataset are already supported:
* [x] Is the "Main" variant of this task clearly denoted?
* [x] Have you provided a short sentence in a README on what each new variant adds / evaluates?
* [x] Have you noted which, if any, published evaluation setups are matched by this variant?"""


def readme(benchmark: str, host: Host, names: Sequence[str], requirements: Sequence[str]) -> str:
    """The README in the hosts' template: paper, citation, groups and tasks, checklist, changelog.

    Args:
        benchmark: whose card to use.
        host: which host the folder is for.
        names: of the tasks and groups in the folder.
        requirements: what has to be installed beside the host.
    """
    card = sections((TASKS / benchmark / "README.md").read_text(encoding="utf-8"))
    said = dict(_ITEM.findall(card["Groups and tasks"])) | _text_only(benchmark)
    title = about_benchmark(benchmark).title
    parts = [
        f"# {title}",
        f"### Paper\n\n{card['Paper']}",
        f"### Citation\n\n{card['Citation']}",
        f"### Data\n\n{card['Data']}" + _where_rows_are(benchmark),
        "### Groups, Tags, and Tasks",
    ]
    groups = [name for name in said if name in names and _is_group(benchmark, name)]
    tasks = [name for name in said if name in names and name not in groups]
    for heading, listed in (("Groups", groups), ("Tasks", tasks)):
        if listed:
            lines = "\n".join(f"* `{name}`: {said[name]}" for name in listed)
            parts.append(f"#### {heading}\n\n{lines}")
    in_rounds = any("in rounds" in said[name] for name in tasks)
    install = f"    pip install {' '.join(map(_quoted, requirements))}"
    parts += [
        f"### Metrics\n\n{card['Metrics']}",
        f"### Requirements\n\nBeside {host.name}:\n\n{install}",
        f"### Running\n\n    {host.command} --model MODEL --tasks {tasks[0]}\n\n{_SETTINGS}"
        + _ROUNDS * in_rounds,
        f"### Checklist\n\nFor adding novel benchmarks/datasets to the library:\n{_CHECKLIST}",
        f"### Changelog\n\n* version 1.0: as in lmms-eval-finance {__version__}",
    ]
    return "\n\n".join(parts) + "\n"


_SETTINGS = """\
Environment variables: `LMMS_EVAL_FINANCE_ERRATA=1` scores on corrected golds where there are any,
`LMMS_EVAL_FINANCE_JUDGES` names a file of language judges for open answers (without it, rules decide),
`LMMS_EVAL_FINANCE_IDS` restricts the items. A wrong one, and rows that lack a column or repeat an id, end the run
before anything is generated. Every record carries a signature that names the rows by their hash."""


_ROUNDS = """

What is asked in rounds needs a model wrapper that implements `generate_until_multi_round` (in lmms-eval 0.7.3
`vllm`, `qwen2_vl`, `llava_onevision`, and `qwen2_5_vl` with `--force_simple`); with any other the run ends before
anything is generated."""


def sections(card: str) -> dict[str, str]:
    """Heading -> text of a card's second-level sections.

    >>> sections("# T\\n\\n## A\\n\\none\\n\\n## B\\ntwo\\n")
    {'A': 'one', 'B': 'two'}
    """
    pieces = re.split(r"^## (.+)\n", card, flags=re.MULTILINE)[1:]
    return {heading: text.strip() for heading, text in zip(pieces[::2], pieces[1::2], strict=True)}


def _text_only(benchmark: str) -> dict[str, str]:
    """The lm-eval tasks that no lmms-eval task is called like."""
    if benchmark != "cfmme":
        return {}
    return {
        "cfmme_subject_text": "question and options of `cfmme_subject` alone, a floor for models without eyes.",
        "cfmme_certification_text": "the same of `cfmme_certification`.",
    }


def _is_group(benchmark: str, name: str) -> bool:
    path = registry.FOLDER / benchmark / f"{name}.yaml"
    return path.is_file() and isinstance(registry.settings_of(path).get("task"), list)


def _where_rows_are(benchmark: str) -> str:
    about = about_benchmark(benchmark)
    if about.hub:
        return ""
    return (
        f"\n\nThere is no hub copy yet. Until there is one to name as `dataset_path`, the tasks read "
        f"`{ROWS.format(split='SPLIT')}` beside the YAML. `lmms-eval-finance export upstream DEST --with-data` writes "
        "these files."
    )


def _quoted(requirement: str) -> str:
    return f'"{requirement}"'
