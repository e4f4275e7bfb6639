"""Dialogues for every wrapper: the host's multi-round protocol on top of `generate_until`.

The host leaves multi-round generation to each wrapper: many have none, some lose the
turns' order, the rest run one dialogue at a time. This driver asks the task for each
round's request as the protocol says and hands the rounds of all running dialogues to
the wrapper's own `generate_until`, so batching, concurrency and images work as ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

_TAG = re.compile(r"<(\|?\w{1,40}\|?)>")
_MEDIA = re.compile(r"image|img|video|audio|vision", re.IGNORECASE)

MOST_ROUNDS = 100
"""A dialogue that has not ended by then is cut off; no benchmark here has so many turns."""


@dataclass
class _Dialogue:
    """A host request under way.

    Attributes:
        request: the multi-round instance.
        identity: the `id` of its doc.
        outputs: the model's replies so far.
        info: what the task handed over with the last round, and gets back with this one.
    """

    request: Any
    identity: Any
    outputs: list[str] = field(default_factory=list)
    info: Any = None
    over: bool = False


@dataclass(frozen=True)
class _Round:
    """What the task says to one round: its text; messages or images; whether there is none; info."""

    text: str
    content: Any
    ended: bool = False
    info: Any = None


def run_dialogues(
    requests: Sequence[Any],
    *,
    messages: bool,
    dataset: Callable[[str, str], Any],
    generate: Callable[[list[Any]], Sequence[Any]],
    together: Callable[[int], int] = int,
) -> list[list[str]]:
    """Generate all rounds of all dialogues, a round of every running dialogue at a time.

    Args:
        requests: the host's multi-round instances.
        messages: whether they carry `doc_to_messages` (chat wrappers) or `doc_to_text` and
            `doc_to_visual` (simple wrappers).
        dataset: (task, split) -> its rows, with a column `id`.
        generate: the wrapper's `generate_until`, from instances to outputs.
        together: for processes that work in step, from the number of requests here to the
            largest in any process: each makes as many, however its own dialogues end.

    Returns:
        The outputs of each dialogue in the order of its rounds.
    """
    ask = _ask_chat if messages else _ask_simple
    dialogues = _dialogues(requests, dataset)
    last: list[Any] = []
    for number in range(MOST_ROUNDS):
        rounds = []
        for dialogue in [dialogue for dialogue in dialogues if not dialogue.over]:
            doc_id, task, split = dialogue.request.arguments[-3:]
            found = ask(dialogue, number, dataset(task, split)[doc_id])
            dialogue.over = found.ended
            if not found.ended:
                # Without the content: the images of all dialogues at once would not fit into memory.
                rounds.append((dialogue, found.text, found.info))
        most = together(len(rounds))
        if not most:
            break
        running = [replace(dialogue, outputs=list(dialogue.outputs)) for dialogue, _, _ in rounds]
        instances = [
            _instance(dialogue, text, _hook(dialogue, running, number, ask), messages)
            for dialogue, (_, text, _) in zip(running, rounds, strict=True)
        ]
        last = instances[-1:] or last
        outputs = generate([*instances, *last * (most - len(instances))])[: len(instances)]
        for (dialogue, _, info), output in zip(rounds, outputs, strict=True):
            dialogue.outputs.append(_text(output))
            dialogue.info = info
    return [dialogue.outputs for dialogue in dialogues]


def _dialogues(requests: Sequence[Any], dataset: Callable[[str, str], Any]) -> list[_Dialogue]:
    ids: dict[tuple[str, str], Sequence[Any]] = {}
    dialogues = []
    for request in requests:
        doc_id, task, split = request.arguments[-3:]
        if (task, split) not in ids:
            ids[task, split] = list(dataset(task, split)["id"])
        dialogues.append(_Dialogue(request, ids[task, split][doc_id]))
    return dialogues


def _ask_chat(dialogue: _Dialogue, number: int, doc: Mapping[str, Any]) -> _Round:
    context, doc_to_messages = dialogue.request.arguments[:2]
    if number == 0:
        return _Round(context, doc_to_messages(doc))
    content, ended, _, info = doc_to_messages(
        doc, round_idx=number, previous_output=_history(dialogue), previous_round_info=dialogue.info
    )
    return _Round("\n".join([context, *_history(dialogue)]), content, ended, info)


def _ask_simple(dialogue: _Dialogue, number: int, doc: Mapping[str, Any]) -> _Round:
    context, _, doc_to_visual, doc_to_text = dialogue.request.arguments[:4]
    if number == 0:
        return _Round(context, doc_to_visual(doc))
    pictures, text, ended, _, info = doc_to_text(
        doc, round_idx=number, previous_output=_history(dialogue), previous_round_info=dialogue.info
    )
    return _Round(text, pictures, ended, info)


def _history(dialogue: _Dialogue) -> list[str]:
    """The replies so far, in which nothing stands for an image: a model that says ``<image>`` has none to show."""

    def opened(tag: re.Match[str]) -> str:
        return f"< {tag[1]}>" if _MEDIA.search(tag[1]) else tag[0]

    return [_TAG.sub(opened, output) for output in dialogue.outputs]


def _hook(own: _Dialogue, running: Sequence[_Dialogue], number: int, ask: Callable[..., _Round]) -> Any:
    """`doc_to_messages` or `doc_to_visual` of one round.

    Some wrappers call that of a batch's first request with the docs of all, so it knows
    the other dialogues of its task.
    """
    others = {
        dialogue.identity: dialogue
        for dialogue in running
        if dialogue.request.arguments[-2:] == own.request.arguments[-2:]
    }

    def content(doc: Mapping[str, Any]) -> Any:
        dialogue = own if doc["id"] == own.identity else others[doc["id"]]
        return ask(dialogue, number, doc).content

    return content


def _instance(dialogue: _Dialogue, text: str, hook: Any, messages: bool) -> Any:
    request = dialogue.request
    where = request.arguments[-3:]
    options = dict(request.arguments[2 if messages else 1])
    return type(request)(
        request_type="generate_until",
        arguments=(text, hook, options, *where) if messages else (text, options, hook, *where),
        idx=request.idx,
        metadata=dict(request.metadata),
    )


def _text(output: Any) -> str:
    from lmms_eval.api.instance import unwrap_generation_output

    text, _ = unwrap_generation_output(output)
    return text if isinstance(text, str) else ""
