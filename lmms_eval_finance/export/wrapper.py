"""What an exported task knows of the model's wrapper: how requests reach it, and whether it has rounds.

The host hands tasks no model, and most of its wrappers do not implement
`generate_until_multi_round`. It would find that out after it has generated everything that
is not asked in rounds, and lose all of it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from lmms_eval_finance.tasks import delivery

_METHOD = "generate_until_multi_round"


def suited(process_docs: Callable[[Any], Any], *, rounds: bool = False) -> Callable[[Any], Any]:
    """A hook on rows that notes what the wrapper in use takes, and ends the run if it lacks what the task needs.

    Args:
        process_docs: the hook.
        rounds: whether the task is asked in rounds.
    """

    @functools.wraps(process_docs)
    def prepared(rows: Any) -> Any:
        wrapper = in_use()
        if wrapper is not None:
            delivery.note(messages=not getattr(wrapper, "is_simple", True), prefill=False)
            if rounds and not has_rounds(wrapper):
                raise SystemExit(
                    _REFUSAL.format(name=type(wrapper).__name__, module=type(wrapper).__module__)
                )
        return process_docs(rows)

    return prepared


_REFUSAL = (
    "lmms-eval-finance: this task is asked in rounds, which the host's wrapper {name} ({module}) does not implement; nothing was "
    "generated. Use a wrapper that does (in lmms-eval 0.7.3: vllm, qwen2_vl, llava_onevision, and qwen2_5_vl with "
    "--force_simple), or leave out the tasks asked in rounds: the README names them"
)


def in_use() -> Any:
    """The wrapper of the run that loads the task, None where there is none: a local of the host's evaluation."""
    frame = sys._getframe().f_back
    while frame is not None:
        wrapper = frame.f_locals.get("lm")
        if hasattr(wrapper, _METHOD):
            return wrapper
        frame = frame.f_back
    return None


def has_rounds(wrapper: Any) -> bool:
    """Whether a wrapper's `generate_until_multi_round` can be used.

    It cannot where all that it does is raise NotImplementedError, or where a wrapper that takes
    messages inherited it from one that takes texts: the host's requests differ.
    """
    owner = next(kind for kind in type(wrapper).__mro__ if _METHOD in vars(kind))
    code = getattr(vars(owner)[_METHOD], "__code__", None)
    unwritten = code is not None and code.co_names[:1] == ("NotImplementedError",)
    simple = getattr(wrapper, "is_simple", True)
    return not unwritten and getattr(owner, "is_simple", simple) == simple
