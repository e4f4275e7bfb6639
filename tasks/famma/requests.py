"""The request of a FAMMA doc: its text with each image at the place where it is mentioned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_eval_finance.data import images
from lmms_eval_finance.tasks.common import Doc
from lmms_eval_finance.tasks.famma.rows import questions_of

_PLACEHOLDER = re.compile(r"<\s?image[_ ]?([1-9])\s?>", re.IGNORECASE)
_TYPE_NAMES = {"multiple_choice": "multiple choice", "open": "open question"}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Request:
    """A text that images interrupt.

    Attributes:
        parts: texts, and images as their number from 0 in `images`, in reading order.
        images: indices into the doc's images in the order of their numbers, each once:
            those that no text mentions first, then by first mention.
    """

    parts: tuple[str | int, ...]
    images: tuple[int, ...]

    @classmethod
    def of(cls, marked: str, doc: Doc) -> Request:
        """The request behind a text that `material` went into."""
        pieces = [int(piece) if place % 2 else piece for place, piece in enumerate(marked.split("\0"))]
        mentioned = dict.fromkeys(piece for piece in pieces if isinstance(piece, int))
        stored = sorted({index for question in questions_of(doc) for index in question["images"].values()})
        order = [*(index for index in stored if index not in mentioned), *mentioned]
        return cls(
            tuple(piece if isinstance(piece, str) else order.index(piece) for piece in pieces), tuple(order)
        )

    @property
    def text(self) -> str:
        """The request as one text; images stand beside it and are referred to by number."""
        return "".join(part if isinstance(part, str) else f"[image {part + 1}]" for part in self.parts)

    def pictures(self, doc: Doc) -> list[Any]:
        """The doc's images in the order of their numbers, ready for a model."""
        return [images.to_rgb(doc["images"][index]) for index in self.images]

    def content(self, doc: Doc) -> list[dict[str, Any]]:
        """The request as the content of one message, each image at its first mention, unmentioned ones ahead."""
        pictures = [images.content(picture) for picture in self.pictures(doc)]
        shown = set(range(len(pictures))).difference(part for part in self.parts if isinstance(part, int))
        content = [pictures[number] for number in sorted(shown)]
        for part in self.parts:
            if isinstance(part, str):
                if part.strip():
                    content.append({"type": "text", "text": part})
            elif part in shown:
                content.append({"type": "text", "text": f"[image {part + 1}, shown above]"})
            else:
                shown.add(part)
                content.append(pictures[part])
        return content


def material(doc: Doc) -> dict[str, str]:
    """What a prompt template can name: context, questions, keys, language; images are marked in it for `Request.of`."""
    questions = questions_of(doc)
    # The context belongs to all: a later sub-question may bring an image that it mentions.
    shared = {
        number: index for question in reversed(questions) for number, index in question["images"].items()
    }
    return {
        "context": _marked(doc["context"], shared),
        "questions": "\n\n".join(map(_question_text, questions)),
        "keys": ", ".join(f'"{question["key"]}"' for question in questions),
        "language": questions[0]["language"].capitalize(),
    }


def unmarked(text: str) -> str:
    """A text from elsewhere without the sign that marks images."""
    return text.replace("\0", "")


def lettered(options: Sequence[str]) -> list[str]:
    """Options with their letters, whether the release wrote them or not.

    >>> lettered(["Fixed", "Floating"]), lettered(["(A) Fixed", "B）Floating", "c"])
    (['A. Fixed', 'B. Floating'], ['A. (A) Fixed', 'B. B）Floating', 'C. c'])
    >>> lettered(["(a) Fixed", "b）Floating"])
    ['A. Fixed', 'B. Floating']
    """
    own = [_LABEL.match(option) for option in options]
    letters = _LETTERS[: len(options)]
    if "".join(label[1].upper() for label in own if label) == letters and all(own):
        options = [option[label.end() :] for option, label in zip(options, own, strict=True) if label]
    return [f"{letter}. {option.strip()}" for letter, option in zip(letters, options, strict=False)]


_LABEL = re.compile(r"\s*[(\[（]?([A-Za-z])[)\]）]?\s*(?:(?<=[)\]）])[.:：]?|[.:：、．])\s*")


def _question_text(question: Mapping[str, Any]) -> str:
    head = f"Question {question['key']} ({_TYPE_NAMES[question['type']]}):"
    options = lettered(question["options"]) if question["type"] == "multiple_choice" else []
    return _marked("\n".join([head, question["question"], *options]), question["images"])


def _marked(text: str, numbered: Mapping[str, int]) -> str:
    """The text with a mark for each placeholder that has an image; others stay as text.

    A mark is the image's index between two NUL: no text that a model is shown holds one.
    """
    return _PLACEHOLDER.sub(
        lambda found: f"\0{numbered[found[1]]}\0" if found[1] in numbered else found[0], unmarked(text)
    )
