"""Dialogues for every wrapper: the host's multi-round protocol on top of `generate_until`.

The host leaves multi-round generation to each wrapper: many have none, some lose the
turns' order, the rest run one dialogue at a time. This driver asks the task for each
round's request as the protocol says and hands the rounds of all running dialogues to
the wrapper's own `generate_until`, so batching, concurrency and images work as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_ROUNDS = 100
"""A dialogue that has not ended by then is cut off; no benchmark here has so many turns."""


@dataclass
class _Dialogue:
    request: Any
    outputs: list[str] = field(default_factory=list)
    info: Any = None
    over: bool = False


def run_dialogues(
    requests: Sequence[Any],
    *,
    messages: bool,
    dataset: Callable[[str, str], Any],
    generate: Callable[[list[Any]], Sequence[Any]],
) -> list[list[str]]:
    """Generate all rounds of all dialogues, a round of every running dialogue at a time.

    Args:
        requests: the host's multi-round instances.
        messages: whether they carry `doc_to_messages` (chat wrappers) or `doc_to_text` and
            `doc_to_visual` (simple wrappers).
        dataset: (task, split) -> its rows.
        generate: the wrapper's `generate_until`, from instances to outputs.

    Returns:
        The outputs of each dialogue in the order of its rounds.
    """
    dialogues = [_Dialogue(request) for request in requests]
    following = _next_chat if messages else _next_simple
    for number in range(MOST_ROUNDS):
        turns = []
        for dialogue in dialogues:
            if not dialogue.over:
                turn = following(dialogue, number, dataset)
                if turn is None:
                    dialogue.over = True
                else:
                    turns.append((dialogue, turn))
        if not turns:
            break
        for (dialogue, _), output in zip(turns, generate([turn for _, turn in turns]), strict=True):
            dialogue.outputs.append(_text(output))
    return [dialogue.outputs for dialogue in dialogues]


def _text(output: Any) -> str:
    from lmms_eval.api.instance import unwrap_generation_output

    text, _ = unwrap_generation_output(output)
    return text if isinstance(text, str) else ""


def _instance(request: Any, arguments: tuple[Any, ...]) -> Any:
    return type(request)(
        request_type="generate_until",
        arguments=arguments,
        idx=request.idx,
        metadata=dict(request.metadata),
    )


def _next_chat(dialogue: _Dialogue, number: int, dataset: Callable[[str, str], Any]) -> Any | None:
    context, doc_to_messages, options, doc_id, task, split = dialogue.request.arguments
    doc = dataset(task, split)[doc_id]
    if number == 0:
        turn = doc_to_messages(doc)
    else:
        turn, ended, _, dialogue.info = doc_to_messages(
            doc, round_idx=number, previous_output=list(dialogue.outputs), previous_round_info=dialogue.info
        )
        if ended:
            return None
    # The host's caches tell requests apart by their text, so each round carries its own.
    history = "\n".join([context, *dialogue.outputs])
    return _instance(dialogue.request, (history, lambda _doc: turn, dict(options), doc_id, task, split))


def _next_simple(dialogue: _Dialogue, number: int, dataset: Callable[[str, str], Any]) -> Any | None:
    context, options, doc_to_visual, doc_to_text, doc_id, task, split = dialogue.request.arguments
    text, visual = context, doc_to_visual
    if number:
        pictures, text, ended, _, dialogue.info = doc_to_text(
            dataset(task, split)[doc_id],
            round_idx=number,
            previous_output=list(dialogue.outputs),
            previous_round_info=dialogue.info,
        )
        if ended:
            return None
        if pictures is not None:
            visual = lambda _doc: pictures  # noqa: E731
    return _instance(dialogue.request, (text, dict(options), visual, doc_id, task, split))
