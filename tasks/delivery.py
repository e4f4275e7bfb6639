"""How requests reach the model in this process: the plugin notes it, hooks and signatures read it.

A hook cannot see the model. What it has to know about it is noted once when the host
picks the model's class.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from loguru import logger


@dataclass
class Delivery:
    """What the model's wrapper takes.

    Attributes:
        messages: whether it takes chat messages; else one text with images beside it.
        prefill: whether it continues a trailing assistant message; else the cue ends the user's text.
    """

    messages: bool = True
    prefill: bool = False


current = Delivery()


def note(*, messages: bool, prefill: bool) -> None:
    """Note what the wrapper in use takes."""
    current.messages = messages
    current.prefill = prefill


@functools.lru_cache(maxsize=1)
def warn_of_history_as_text() -> None:
    """Say once in the log that earlier turns reach the wrapper in use as text."""
    logger.warning(
        "this model's wrapper takes one text, not messages: what was said before stands in it as text "
        "(the signature says so)"
    )
