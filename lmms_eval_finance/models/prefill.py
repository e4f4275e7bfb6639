"""Host wrappers that continue an assistant message: for prefills such as ``Answer:``.

The host's wrappers start a new assistant turn whatever the last message is. These two
differ in one respect: when the last message is the assistant's, the server (or engine)
is asked to continue it. The server has to support ``continue_final_message``, as vLLM
and SGLang do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}


def _ends_with_assistant(messages: list[dict[str, Any]]) -> bool:
    return bool(messages) and messages[-1].get("role") == "assistant"


class _Proxy:
    """Another object with one attribute replaced."""

    def __init__(self, inner: Any, **replaced: Any) -> None:
        self._inner = inner
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def continuing_openai(client: Any) -> Any:
    """An OpenAI client whose chat completions continue a trailing assistant message."""
    completions = client.chat.completions

    def create(**payload: Any) -> Any:
        if _ends_with_assistant(payload["messages"]):
            payload["extra_body"] = {**payload.get("extra_body", {}), **CONTINUE}
        return completions.create(**payload)

    return _Proxy(client, chat=_Proxy(client.chat, completions=_Proxy(completions, create=create)))


def continuing_vllm(engine: Any) -> Any:
    """A vLLM engine whose `chat` continues trailing assistant messages.

    The engine's switch is for a whole batch, which may hold several tasks: conversations
    that end otherwise go apart.
    """

    def chat(messages: Any, sampling_params: Any = None, **options: Any) -> list[Any]:
        outputs: list[Any] = [None] * len(messages)
        for ending, switch in ((True, CONTINUE), (False, {})):
            places = [place for place, said in enumerate(messages) if _ends_with_assistant(said) is ending]
            if not places:
                continue
            several = isinstance(sampling_params, (list, tuple))
            params = [sampling_params[place] for place in places] if several else sampling_params
            said = [messages[place] for place in places]
            replies = engine.chat(messages=said, sampling_params=params, **options, **switch)
            for place, reply in zip(places, replies, strict=True):
                outputs[place] = reply
        return outputs

    return _Proxy(engine, chat=chat)


if TYPE_CHECKING:
    OpenAIPrefill: Any
    VLLMPrefill: Any


def __getattr__(name: str) -> Any:
    """Make the classes when the host asks for one: vLLM need not be there for the other."""
    base: Any
    wrap: Callable[[Any], Any]
    if name == "OpenAIPrefill":
        from lmms_eval.models.chat.openai import OpenAICompatible

        base, wrap = OpenAICompatible, continuing_openai
    elif name == "VLLMPrefill":
        from lmms_eval.models.chat.vllm import VLLM

        base, wrap = VLLM, continuing_vllm
    else:
        raise AttributeError(name)

    class Prefill(base):  # type: ignore[misc]
        continues_assistant = True

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.client: Any = wrap(self.client)

    Prefill.__name__ = Prefill.__qualname__ = name
    Prefill.__module__ = __name__
    Prefill.__doc__ = f"`{base.__name__}` of the host that continues a trailing assistant message."
    return Prefill
