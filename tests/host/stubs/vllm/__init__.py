"""Stands in the place of vLLM, with as much of it as the host's wrappers use; refuses what it would refuse.

Each engine and each `chat` call is a line of JSON in the file that VLLM_STUB_RECORD names.
The reply to a conversation is made of its content alone, so that equal requests have equal replies:
a few letters, or one of the texts in the file (a JSON list) that VLLM_STUB_REPLIES names.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any


@dataclass
class SamplingParams:
    """Names and ranges of vLLM's own."""

    n: int = 1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: list[str] | None = None
    max_tokens: int | None = 16

    def __post_init__(self) -> None:
        if not self.temperature >= 0 or not 0 < self.top_p <= 1 or not (self.max_tokens or 0) >= 1:
            raise ValueError(f"out of range: {self}")


class LLM:
    """An engine that answers every conversation with a few letters."""

    def __init__(self, model: str, **options: Any) -> None:
        record(engine={"model": model, **options})

    def chat(
        self,
        messages: list[list[dict[str, Any]]],
        sampling_params: SamplingParams | list[SamplingParams] | None = None,
        use_tqdm: bool = True,
        chat_template: str | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
    ) -> list[Any]:
        several = isinstance(sampling_params, list)
        if several and len(sampling_params) != len(messages):
            raise ValueError("as many sampling parameters as conversations are needed")
        if add_generation_prompt and continue_final_message:
            raise ValueError("a message is either begun or continued")
        for conversation in messages:
            if continue_final_message and conversation[-1]["role"] != "assistant":
                raise ValueError("only what the assistant began can be continued")
            for part in (part for message in conversation for part in message["content"]):
                if part["type"] not in ("text", "image_url"):
                    raise ValueError(f"unknown content: {part['type']}")
        record(
            messages=messages,
            sampling=[asdict(params) for params in (sampling_params if several else [sampling_params])],
            begins=add_generation_prompt,
            continues=continue_final_message,
        )
        return [SimpleNamespace(outputs=[SimpleNamespace(text=reply(said))]) for said in messages]

    def get_metrics(self) -> list[Any]:
        return []


def reply(conversation: list[dict[str, Any]]) -> str:
    digest = hashlib.sha256(json.dumps(conversation).encode()).hexdigest()
    if "VLLM_STUB_REPLIES" not in os.environ:
        return digest[:8]
    with open(os.environ["VLLM_STUB_REPLIES"], encoding="utf-8") as file:
        replies = json.load(file)
    return str(replies[int(digest, 16) % len(replies)])


def record(**line: Any) -> None:
    with open(os.environ["VLLM_STUB_RECORD"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
