"""Dynamic chain of thought: a conversation in which the model takes one step in each turn.

The model is asked for one JSON object a turn, {title, content, next_action}. When a step's
next action is the final answer, one more turn asks for it. What was said so far decides
what is asked next, so nothing is remembered between rounds.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_eval_finance import prompts
from lmms_eval_finance.metrics.json_reading import find_json, without_escaping
from lmms_eval_finance.metrics.normalise import strip_reasoning
from lmms_eval_finance.metrics.records import Json
from lmms_eval_finance.tasks import common, delivery
from lmms_eval_finance.tasks.common import Doc
from lmms_eval_finance.tasks.famma.requests import Request, material
from lmms_eval_finance.tasks.famma.variant import Variant

FEWEST_STEPS = 3
MOST_TURNS = 25
MOST_UNREADABLE = 3
"""So many replies in a row that hold no step end the steps: the model will not follow the form."""

_FINAL = re.compile(r"final|finish|\b(?:done|stop|end)\b|最终|最后|结束", re.IGNORECASE)
_GOES_ON = re.compile(r"continu|继续", re.IGNORECASE)
_TITLES = ("title", "step_title", "step", "name", "标题")
_CONTENTS = ("content", "contents", "reasoning", "thought", "text", "内容")
_ACTIONS = ("next_action", "nextaction", "action", "next", "next_step", "下一步")


@dataclass(frozen=True)
class Step:
    """One step of reasoning; `readable` says whether it had the form asked for."""

    title: str
    content: str
    final: bool
    readable: bool

    def to_json(self) -> dict[str, Json]:
        """Plain JSON for records."""
        found: dict[str, Json] = {
            "title": self.title,
            "content": self.content,
            "next_action": "final answer" if self.final else "continue",
        }
        return found if self.readable else {**found, "readable": False}


def read_steps(reply: str) -> list[Step]:
    """The steps that a reply takes, at least one; text without a step's form is a step of its own, to be continued.

    >>> read_steps('```json\\n{"Title": "Price", "content": "1000 / 1.1", "next action": "Final Answer"}```')
    [Step(title='Price', content='1000 / 1.1', final=True, readable=True)]
    >>> read_steps("The price falls.")
    [Step(title='', content='The price falls.', final=False, readable=False)]
    """
    text = without_escaping(strip_reasoning(reply)).strip()
    taken = (
        step
        for found in find_json(text)
        for value in _objects(found.value)
        for step in _step(value, found.closed)
    )
    steps = list(itertools.islice(taken, MOST_TURNS))
    return steps or [Step("", text, final=False, readable=False)]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Objects of a list, or the one object; objects that merely wrap steps are opened."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, dict):
            inner = [held for held in part.values() if isinstance(held, (dict, list)) and held]
            if inner and not _first(part, _CONTENTS):
                yield from (held for group in inner for held in _objects(group))
            else:
                yield part


def _step(value: dict[str, Any], closed: bool) -> Iterator[Step]:
    content, action = _first(value, _CONTENTS), _first(value, _ACTIONS)
    if content or action:
        final = bool(_FINAL.search(action)) and not _GOES_ON.search(action)
        yield Step(_first(value, _TITLES), content, final, readable=closed or bool(action))


def _first(value: dict[str, Any], names: Sequence[str]) -> str:
    plain = {re.sub(r"[\s-]+", "_", str(key).strip().lower()): held for key, held in value.items()}
    held = next((plain[name] for name in names if plain.get(name) is not None), "")
    return held.strip() if isinstance(held, str) else str(held)


@dataclass(frozen=True)
class Progress:
    """How far a conversation is.

    Attributes:
        turns: the steps of each reply before the final answer was asked for.
        wants_final: no further step is to be asked for.
        remark: what is to be said with the request for the next step.
    """

    turns: tuple[tuple[Step, ...], ...]
    wants_final: bool
    remark: str


def progress(replies: Sequence[str]) -> Progress:
    """Follow a conversation through its replies."""
    turns: list[tuple[Step, ...]] = []
    taken = unreadable = 0
    remark = ""
    for reply in replies:
        steps = read_steps(reply)
        turns.append(tuple(steps))
        taken += len(steps)
        readable = any(step.readable for step in steps)
        unreadable = 0 if readable else unreadable + 1
        early = steps[-1].final and taken < FEWEST_STEPS
        if (steps[-1].final and not early) or len(turns) == MOST_TURNS or unreadable == MOST_UNREADABLE:
            return Progress(tuple(turns), True, "")
        remark = ""
        if not readable:
            remark = "That was no JSON object in the form asked for."
        elif early:
            remark = f"Take at least {FEWEST_STEPS} steps: check the result, or look for another way to it."
    return Progress(tuple(turns), False, remark)


class StepsVariant(Variant):
    """One split asked in steps, by the host's multi-round protocol."""

    def doc_to_text(
        self,
        doc: Doc,
        lmms_eval_specific_kwargs: object = None,
        round_idx: int = 0,
        previous_output: Sequence[str] = (),
        previous_round_info: object = None,
    ) -> Any:
        """For wrappers that take texts: a text, in later rounds (images, text, ended, outputs, info)."""
        replies = list(previous_output)[:round_idx]
        turns = self._turns(doc, replies)
        if round_idx == 0:
            return self._as_text(doc, turns)
        if not turns:
            return None, "", True, replies, None
        return self.doc_to_visual(doc), self._as_text(doc, turns), False, replies, None

    def doc_to_messages(
        self,
        doc: Doc,
        round_idx: int = 0,
        previous_output: Sequence[str] = (),
        previous_round_info: object = None,
    ) -> Any:
        """For wrappers that take messages: messages, in later rounds (messages, ended, outputs, info)."""
        replies = list(previous_output)[:round_idx]
        turns = self._turns(doc, replies)
        messages = self._as_messages(doc, turns) if turns else []
        return messages if round_idx == 0 else (messages, not turns, replies, None)

    def process_results(self, doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
        """The records of all sub-questions, read from the final answer; the steps are kept as `trace`."""
        replies = common.texts_of_rounds(results[0])
        steps = progress(replies).turns
        final = replies[len(steps)] if len(steps) < len(replies) else ""
        trace: list[Json] = [step.to_json() for turn in steps for step in turn]
        return self.score(doc, final, {"trace": trace})

    def request(self, doc: Doc) -> Request:
        """The opening question."""
        return Request.of(prompts.load("famma_steps_question").render(**material(doc)), doc)

    def templates(self) -> Sequence[str]:
        """Names of the prompts that the model sees."""
        return [f"famma_steps{part}" for part in ("", "_agreed", "_question", "_next", "_final")]

    def options(self) -> dict[str, str]:
        """Further fields of the signature."""
        history = "messages" if delivery.current.messages else "text"
        return {"steps": f"{FEWEST_STEPS}-{MOST_TURNS}", "history": history}

    def _turns(self, doc: Doc, replies: Sequence[str]) -> list[str]:
        """What assistant and user say in turn after the question, a request of ours last; empty once it is over."""
        asked = len(progress(replies).turns) if progress(replies).wants_final else len(replies)
        if len(replies) > asked:
            return []
        turns = [prompts.load("famma_steps_agreed").render()]
        for number in range(len(replies) + 1):
            so_far = progress(replies[:number])
            if so_far.wants_final:
                turns.append(prompts.load("famma_steps_final").render(**material(doc)))
            else:
                turns.append(
                    prompts.load("famma_steps_next").render(step=str(number + 1), remark=so_far.remark)
                )
            if number < len(replies):
                turns.append(strip_reasoning(replies[number]).strip() or "(no reply)")
        return turns

    def _as_text(self, doc: Doc, turns: Sequence[str]) -> str:
        if not delivery.current.messages:
            delivery.warn_of_history_as_text()
        said = [f"{'User' if place % 2 else 'Assistant'}: {turn}" for place, turn in enumerate(turns)]
        system = prompts.load("famma_steps").render()
        return "\n\n".join([system, f"User: {self.request(doc).text}", *said, "Assistant:"])

    def _as_messages(self, doc: Doc, turns: Sequence[str]) -> list[dict[str, Any]]:
        said = [_message("user" if place % 2 else "assistant", turn) for place, turn in enumerate(turns)]
        system = _message("system", prompts.load("famma_steps").render())
        return [system, {"role": "user", "content": self.request(doc).content(doc)}, *said]


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}
