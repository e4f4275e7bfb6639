"""The settings of a run: checked before anything is generated, and told apart in the host's response cache."""

from __future__ import annotations

import hashlib

from lmms_eval_finance import prompts
from lmms_eval_finance.data import errata, selection
from lmms_eval_finance.judging import config


def check(benchmark: str) -> None:
    """Read every setting once, so that a wrong one stops the run before generation and not after.

    Raises:
        SettingError: a setting cannot be used.
    """
    selection.wanted_ids()
    errata.load(benchmark)
    config.configured()
    for name in prompts.names():
        prompts.load(name)


def what_is_asked() -> dict[str, str]:
    """What decides on the requests beside the rows, as hashes.

    The host's response cache knows an item by its place and its text. The former shifts
    with the chosen ids, and the text is the same for all pictures of some tasks; but the
    cache also looks at the task's metadata.

    Raises:
        SettingError: a setting cannot be used.
    """
    ids = selection.wanted_ids()
    texts = [f"{name}@{prompts.load(name).hash}" for name in prompts.names()]
    return {"ids": "all" if ids is None else _hash(sorted(ids)), "prompts": _hash(texts)}


def _hash(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()[:12]
