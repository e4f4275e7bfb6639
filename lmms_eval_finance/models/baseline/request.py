"""What a request asks for, read from its words alone, whatever template made it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

LONGEST = 200_000
"""Characters of a request that are read, from the end."""


class Kind(Enum):
    """The form that an answer has to take."""

    QUESTION = "question"
    QUESTIONS = "questions"
    BOXES = "boxes"
    HTML = "html"
    LATEX = "latex"
    FIELDS = "fields"
    SEAL = "seal"


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        text: the question itself.
        options: letter -> text; empty for an open question.
        multiple: whether several options may be right.
        numeric: whether the answer has to be a number.
        key: under which the answer is asked for, among several.
    """

    text: str
    options: Mapping[str, str] = field(default_factory=dict)
    multiple: bool = False
    numeric: bool = False
    key: str = ""


@dataclass(frozen=True)
class Request:
    """A request: its kind, its questions, the text that came with them, the images.

    Attributes:
        wants_line: whether the answer has to stand on a line ``Answer: X``.
        keys: names of the fields that are asked for.
        scale: unit of the coordinates that are asked for: 1000, 1, or 0 for pixels.
    """

    kind: Kind
    questions: Sequence[Question]
    context: str = ""
    images: Sequence[Image.Image] = ()
    wants_line: bool = False
    keys: Sequence[str] = ()
    scale: float = 0.0


_LABELS = {
    "question": "question|task|q|问题|题目",
    "options": "options|choices|选项",
    "unit": "unit(?: of the answer)?|the answer is expressed in|单位",
    "answer": "answer|réponse|答案",
    "context": (
        "caption(?: of the chart)?|chart caption|what the figure shows|related passages|context|from the report"
        "|text that accompanies the chart|material|the table, as html|contexte"
    ),
}
_LABEL = re.compile(
    r"^[ \t]*(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in _LABELS.items())
    + r")[ \t]*[:：][ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_OPTION = re.compile(r"^[ \t]*[(（]?([A-N])[ \t]*[.:)）、．：][ \t]*(\S.*)$", re.MULTILINE)
_INSTRUCTION = re.compile(
    r"^\W*(?:you (?:read|are)\b|here is an extract|answer (?:the|every|each) question|give the answer|reply with|work it out"
    r"|then finish|finish with|close your reply|your last line|write the (?:result|formula)|base your reply|exactly one option"
    r"|one or more options|the answer is a number|several options|study the chart|state the value in|use the material"
    r"|it has one key|- \"(?:answer|explanation)\"|choose (?:it|every)|the statement is)",
    re.IGNORECASE,
)
_MULTIPLE = re.compile(
    r"one or more options|several options|more than one|every option that is right|choose all|多选|letters of the options",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"the answer is a number|is a plain number", re.IGNORECASE)
_SECTION = re.compile(
    r"^[ \t]*Question[ \t]+(\S{1,40})[ \t]*(?:\(([^()\n]{0,40})\))?[ \t]*[:：][ \t]*", re.MULTILINE
)
_ANSWER_LINE = re.compile(r"^[^\w\n]*answer[ ]?:[ ]?x\b", re.IGNORECASE | re.MULTILINE)


def read(messages: Sequence[Mapping[str, Any]]) -> Request:
    """Read chat messages: roles, and contents of texts and images in the host's form."""
    turns: list[str] = []
    images: list[Any] = []
    for message in messages:
        content = message.get("content", "")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        turn = []
        for part in parts:
            if part.get("type") == "image":
                images.append(part.get("url", part.get("image")))
            elif isinstance(part.get("text"), str):
                turn.append(part["text"])
        text = "".join(turn)
        if message.get("role") == "user":
            turns.append(text)
    return read_text(turns[-1] if turns else "", images, turns[:-1])


def read_text(text: str, images: Sequence[Any] = (), earlier: Sequence[str] = ()) -> Request:
    """Read a request given as one text with images beside it; `earlier` are the user's turns before it.

    >>> request = read_text("Question: What is the fee?\\n\\nOptions:\\nA. 1 %\\nB. 2 %\\n\\nAnswer:")
    >>> request.questions[0].text, dict(request.questions[0].options)
    ('What is the fee?', {'A': '1 %', 'B': '2 %'})
    """
    text = text[-LONGEST:].replace("\r\n", "\n")
    shown = tuple(images)
    kind = _kind(text)
    if kind is Kind.BOXES:
        return Request(kind, (), images=shown, scale=_scale(text))
    if kind is Kind.FIELDS:
        return Request(kind, (), images=shown, keys=_keys(text))
    if kind in (Kind.LATEX, Kind.HTML, Kind.SEAL):
        return Request(kind, (), images=shown)
    if kind is Kind.QUESTIONS:
        questions, context = _sections(text)
        return Request(kind, questions, context, shown)
    question, context = _question(text)
    materials = [_question(turn[-LONGEST:])[1] for turn in earlier[:3]] + [context]
    return Request(
        kind,
        (question,),
        "\n\n".join(material for material in materials if material),
        shown,
        wants_line=_ANSWER_LINE.search(text) is not None,
    )


def _kind(text: str) -> Kind:
    if re.search(r"bbox", text):
        return Kind.BOXES
    if "JSON" in text and len(_SECTION.findall(text)) > 0:
        return Kind.QUESTIONS
    asked = any(found.lastgroup in ("question", "options") for found in _LABEL.finditer(text))
    if asked or _options(text):
        return Kind.QUESTION
    # Short requests without a question name the form of the answer.
    if len(text) < 4000 and "?" not in text and "？" not in text:
        if re.search(r"latex", text, re.IGNORECASE):
            return Kind.LATEX
        if "JSON" in text:
            return Kind.FIELDS
        if re.search(r"\bhtml\b", text, re.IGNORECASE):
            return Kind.HTML
        if re.search(r"\bseal\b|\bstamp\b|印章|公章", text, re.IGNORECASE):
            return Kind.SEAL
    return Kind.QUESTION


def _scale(text: str) -> float:
    if re.search(r"0 to 1000|0-1000|thousand", text):
        return 1000.0
    return 1.0 if re.search(r"0 to 1\b|fraction", text) else 0.0


_KEYS = re.compile(r"(?:keys?|fields?)\b[^:：\n]{0,80}[:：][ ]*([^\n]{1,4000})", re.IGNORECASE)


def _keys(text: str) -> tuple[str, ...]:
    """The names of fields that follow ``keys ...:``, up to the end of the sentence."""
    found = _KEYS.search(text)
    if found is None:
        return ()
    listed = re.split(r"\.(?:\s|$)|。", found[1])[0]
    names = re.findall(r'"([^"\n]{1,80})"', listed) or re.split(r"[,，、;；]", listed)
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def _options(text: str) -> dict[str, str]:
    """The last list of options in the text: lines that are lettered in order from A."""
    best: dict[str, str] = {}
    run: dict[str, str] = {}
    for found in _OPTION.finditer(text):
        letter = found[1]
        if letter == "A":
            run = {"A": found[2].strip()}
        elif run and ord(letter) == ord(max(run)) + 1:
            run[letter] = found[2].strip()
        if len(run) > 1:
            best = run
    return dict(best)


def _question(text: str) -> tuple[Question, str]:
    """The question of a request and the material that came with it."""
    asked = [found for found in _LABEL.finditer(text) if found.lastgroup == "question"]
    # Earlier turns may stand between the first question and the last: only what precedes all is material.
    before, body = (text[: asked[0].start()], text[asked[-1].end() :]) if asked else ("", text)
    options = _options(body)
    if options:
        body = body[: max(found.start() for found in _OPTION.finditer(body) if found[1] == "A")]
    if asked:
        following = _LABEL.search(body)
        wording = _without_instructions(body[: following.start()] if following else body)
        material = _material(before)
    else:
        paragraphs = [
            paragraph
            for paragraph in re.split(r"\n[ \t]*\n", _LABEL.sub(_mark, body))
            if _without_instructions(paragraph).strip("\0 \n")
        ]
        plain = [number for number, paragraph in enumerate(paragraphs) if "\0" not in paragraph]
        asking = [number for number in plain if re.search(r"[?？]", paragraphs[number])]
        place = (asking or plain or [-1])[-1]
        wording = _without_instructions(paragraphs[place]) if paragraphs else ""
        rest = [paragraph for number, paragraph in enumerate(paragraphs) if number != place]
        material = _without_instructions("\n\n".join(rest).replace("\0", ""))
    return (
        Question(
            wording.strip(),
            options,
            multiple=bool(options) and _MULTIPLE.search(text) is not None,
            numeric=not options and _NUMERIC.search(text) is not None,
        ),
        material.strip(),
    )


def _mark(found: re.Match[str]) -> str:
    """Labels go; what they label, but for a question's, is marked as material."""
    return "" if found.lastgroup in ("answer", "options") else "\0"


def _without_instructions(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not _INSTRUCTION.match(line))


def _material(text: str) -> str:
    """Text without instructions and labels of questions."""
    return _without_instructions(text).strip()


def _sections(text: str) -> tuple[list[Question], str]:
    """The questions under headings ``Question KEY (type):`` and the material before the first."""
    heads = list(_SECTION.finditer(text))
    questions = []
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        body = text[head.end() : end]
        if number + 1 == len(heads):
            body = re.split(r"^[ \t]*Reply with\b", body, flags=re.MULTILINE)[0]
        options = _options(body) if "choice" in (head[2] or "choice") else {}
        if options:
            start = max(found.start() for found in _OPTION.finditer(body) if found[1] == "A")
            body = body[:start]
        questions.append(Question(body.strip(), options, key=head[1]))
    return questions, _material(text[: heads[0].start()])
