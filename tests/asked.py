"""What the hooks of a task ask of a model, for comparison with what reached one.

`messages_of` calls the hooks that the task's YAML names, with the replies that the host's
sample file holds; `fingerprint` makes messages of the hooks and of the OpenAI protocol comparable.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import pkgutil
from collections.abc import Iterator
from typing import Any

from PIL import Image

from lmms_eval_finance import plugin
from lmms_eval_finance.data import sources
from lmms_eval_finance.tasks import registry

TASKS = [name for name, entry in plugin.index().items() if entry["type"] == "task"]


def messages_of(
    task: str, line: dict[str, Any], *, model: str = "", chat: bool = True
) -> Iterator[list[dict[str, Any]]]:
    """The requests behind one line of a task's sample file: one, or one a round.

    Args:
        task: its name.
        line: the sample, of which the doc's number and the replies count.
        model: the host's name of the model, which decides on model-specific arguments.
        chat: whether messages are asked of the hooks; else images and text, given as one user turn.
    """
    config = registry.settings_of(registry.FOLDER / registry.find(task).benchmark / f"{task}.yaml")
    specific = config.get("lmms_eval_specific_kwargs")
    kwargs = pkgutil.resolve_name(specific) if specific else {}
    extra = (kwargs.get(model) or kwargs["default"],) if kwargs else ()
    hooks = {name: pkgutil.resolve_name(config[name]) for name in config if name.startswith("doc_to_")}
    doc = docs(task)[line["doc_id"]]
    replies = line["filtered_resps"]
    rounds = len(replies) if config["output_type"] == "generate_until_multi_round" else 1
    for number in range(rounds):
        past = {"round_idx": number, "previous_output": replies[:number]} if number else {}
        if chat:
            asked = hooks["doc_to_messages"](doc, *extra, **past)
            yield asked[0] if number else asked
        else:
            asked = hooks["doc_to_text"](doc, *extra, **past)
            pictures = hooks["doc_to_visual"](doc) if "doc_to_visual" in hooks else []
            text = {"type": "text", "text": asked[1] if number else asked}
            images = [{"type": "image", "url": picture} for picture in pictures]
            yield [{"role": "user", "content": [*images, text]}]


@functools.cache
def docs(task: str) -> Any:
    """The docs of a task as the settings say, by number."""
    found = registry.find(task)
    return found.process_docs(sources.locate(found.benchmark, found.split).load())


def fingerprint(messages: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Roles, texts and images (size and hash of the pixels) in order."""
    return tuple((message["role"], tuple(map(_part, message["content"]))) for message in messages)


def _part(part: dict[str, Any]) -> Any:
    if part["type"] == "text":
        return part["text"]
    image = part.get("url") or decoded(part["image_url"]["url"])
    return image.size, hashlib.sha256(image.convert("RGB").tobytes()).hexdigest()


def decoded(data_url: str) -> Image.Image:
    """The image in a data URL."""
    head, _, data = data_url.partition(",")
    assert head in ("data:image/png;base64", "data:image/jpeg;base64")
    return Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
