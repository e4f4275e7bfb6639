"""Answers to several sub-questions that a model gives in one JSON object."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from lmms_eval_finance.metrics.answers.lexicon import words
from lmms_eval_finance.metrics.answers.sections import read_sections
from lmms_eval_finance.metrics.json_reading import Found, find_json
from lmms_eval_finance.metrics.normalise import strip_reasoning
from lmms_eval_finance.metrics.replies import cut_before_answer

__all__ = ["JsonAnswers", "MatchedBy", "extract_json_answers", "read_json_answers"]

MatchedBy: TypeAlias = Literal["id", "number", "order"]

_ANSWER_KEYS = (
    "answer", "answers", "final_answer", "finalanswer", "correct_answer", "ans", "value", "choice", "option", "letter",
    "selection", "selected", "selected_option", "result", "response", "output", "prediction", "solution", "答案", "选项",
    "结果", "reponse", "reponses", "choix", "resultat",
)  # fmt: skip
_REASON_KEYS = (
    "explanation", "explanations", "reasoning", "reason", "reasons", "rationale", "justification", "analysis", "thought",
    "thoughts", "steps", "step", "working", "work", "calculation", "why", "details", "解释", "理由", "分析", "解析", "过程",
    "推理", "explication", "explications", "raisonnement", "calcul",
)  # fmt: skip
_OTHER_KEYS = words(
    "confidence score note notes comment comments unit units type language context title format"
)
_ID_KEYS = (
    "id", "question_id", "questionid", "qid", "sub_question_id", "subquestion_id", "sub_id", "sub_question", "subquestion",
    "question", "question_number", "number", "no", "num", "index", "idx", "key", "q", "题号", "问题", "编号", "numero",
)  # fmt: skip


@dataclass(frozen=True)
class JsonAnswers:
    """What one reply answers, sub-question by sub-question.

    Attributes:
        answers: id -> the answer as written; None where the reply gives none.
        explanations: id -> the explanation, for the ids that have one.
        matched_by: id -> how its answer was found: by the id itself, by its number, or by its place.
        truncated: the reply broke off before its JSON was complete.
    """

    answers: Mapping[str, str | None]
    explanations: Mapping[str, str] = field(default_factory=dict)
    matched_by: Mapping[str, MatchedBy] = field(default_factory=dict)
    truncated: bool = False


class _Entry(NamedTuple):
    key: str
    answer: str | None
    explanation: str


def extract_json_answers(text: str, ids: Sequence[str]) -> dict[str, str | None]:
    """Id -> answer as written, None where the reply gives none; see `read_json_answers`.

    >>> extract_json_answers('```json\\n{"q7_1": "A", "q7_2": 1250,}\\n```', ["q7_1", "q7_2"])
    {'q7_1': 'A', 'q7_2': '1250'}
    """
    return dict(read_json_answers(text, ids).answers)


def read_json_answers(text: str, ids: Sequence[str]) -> JsonAnswers:
    """Read the answers to the sub-questions `ids` out of a reply.

    Entries are matched to ids by the id in their key (`q7_1`, `Question Q7-1`), else by
    the number in which the ids differ (`1`, `question_1`, 第一题), else, if there are as
    many entries as ids, by order. What a truncated reply finished counts; a value that
    was cut does not. Of repeated entries the last one that holds an answer counts.

    Args:
        text: the reply; fences, prose and reasoning around the JSON are passed over. A
            reply without JSON is read line by line (`q7_1: A`).
        ids: the ids asked for, unique, in the order asked.

    >>> read = read_json_answers('{"1": {"answer": "B", "explanation": "up"}, "2": "C', ["q7_1", "q7_2"])
    >>> read.answers, read.explanations, read.matched_by, read.truncated
    ({'q7_1': 'B', 'q7_2': None}, {'q7_1': 'up'}, {'q7_1': 'number'}, True)
    """
    names = tuple(dict.fromkeys(map(str, ids)))
    reply = strip_reasoning(text) if isinstance(text, str) else ""
    found = [part for part in find_json(reply, parse_number=str) if not _is_citation(part, reply)]
    truncated = cut_before_answer(reply) or (bool(found) and not found[-1].closed)
    entries = [entry for value in found for entry in _entries(value.value, names)]
    matches = _match(entries, names, truncated)
    if not matches and "{" not in reply:
        matches = _match_prose(reply, names)
    return JsonAnswers(
        answers={name: matches[name][0].answer if name in matches else None for name in names},
        explanations={name: entry.explanation for name, (entry, _) in matches.items() if entry.explanation},
        matched_by={name: how for name, (_, how) in matches.items()},
        truncated=truncated,
    )


def _is_citation(part: Found, reply: str) -> bool:
    """Whether a list is just a number in brackets among prose ('see [1]')."""
    if not isinstance(part.value, list) or len(part.value) != 1 or not str(part.value[0]).isdecimal():
        return False
    return any(character.isalnum() for character in reply[: part.start] + reply[part.end :])


# ---- from JSON values to entries ---------------------------------------------------


def _entries(value: Any, names: tuple[str, ...], depth: int = 0) -> list[_Entry]:
    """The (key, answer, explanation) triples of a JSON value."""
    if depth > 4:
        return []
    if isinstance(value, list):
        return [entry for item in value for entry in _item(item, names, depth)]
    answer_key, id_key = _first_key(value, _ANSWER_KEYS), _first_key(value, _ID_KEYS)
    if answer_key and not _holds_several(value[answer_key], names):  # {"id": ..., "answer": ...}
        name = value[id_key] if id_key and isinstance(value[id_key], str) and len(value[id_key]) < 40 else ""
        return [_entry(name, value)]
    reason_key = _first_key(value, _REASON_KEYS)
    inner = [
        part for key, part in value.items() if key != reason_key and isinstance(part, dict | list) and part
    ]
    named = any(_place(key, names) for key in value)
    if inner and (not named or (len(value) == 1 and _names_questions(inner[0], names))):  # {"answers": {...}}
        entries = [entry for part in inner for entry in _entries(part, names, depth + 1)]
        reasons = value[reason_key] if reason_key and isinstance(value[reason_key], dict) else {}
        return [
            entry._replace(explanation=entry.explanation or _written(reasons.get(entry.key)) or "")
            for entry in entries
        ]
    return list(_pairs(value))


def _item(item: Any, names: tuple[str, ...], depth: int) -> list[_Entry]:
    return _entries(item, names, depth + 1) if isinstance(item, dict) else [_Entry("", _written(item), "")]


def _holds_several(value: Any, names: tuple[str, ...]) -> bool:
    """Whether the value of an answer field answers several questions: an object, or a list with one item for each."""
    if isinstance(value, dict):
        return _names_questions(value, names) or not _first_key(value, _ANSWER_KEYS)
    return isinstance(value, list) and (
        len(value) == len(names) > 1 or any(isinstance(item, dict) for item in value)
    )


def _names_questions(value: Any, names: tuple[str, ...]) -> bool:
    if not isinstance(value, dict) or _first_key(value, _ANSWER_KEYS):
        return False
    return any(_place(key, names) for key in value)


def _pairs(value: Mapping[str, Any]) -> Iterable[_Entry]:
    """The entries of an object whose keys name questions; `q1_explanation` goes with `q1`."""
    reasons: dict[str, str] = {}
    for key, inner in value.items():
        if (stem := _without(key, _REASON_KEYS)) is not None:
            reasons[stem] = _written(inner) or ""
    for key, inner in value.items():
        if _without(key, _REASON_KEYS) is not None or _plain(key) in _OTHER_KEYS:
            continue
        stem = _without(key, _ANSWER_KEYS)
        entry = _entry(key, inner)
        reason = entry.explanation or reasons.get(_plain(key) if stem is None else stem, "")
        yield entry._replace(explanation=reason)


def _entry(key: str, value: Any) -> _Entry:
    if not isinstance(value, dict):
        return _Entry(key, _written(value), "")
    answer_key, reason_key = _first_key(value, _ANSWER_KEYS), _first_key(value, _REASON_KEYS)
    if not answer_key:
        rest = [
            name for name in value if name != reason_key and _plain(name) not in _OTHER_KEYS | set(_ID_KEYS)
        ]
        answer_key = rest[0] if len(rest) == 1 else ""
    answer = _written(value[answer_key]) if answer_key else None
    return _Entry(key, answer, (_written(value[reason_key]) or "") if reason_key else "")


def _written(value: Any) -> str | None:
    """A value as text, as the model wrote it; a list of plain values is joined; nothing is None."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        parts = [_written(item) for item in value]
        return ", ".join(part for part in parts if part) or None
    if isinstance(value, dict):
        return _entry("", value).answer
    return None


@functools.lru_cache(maxsize=4096)
def _plain(key: str) -> str:
    decomposed = unicodedata.normalize("NFKD", key).casefold()
    return "_".join(re.findall(r"[^\W_]+", "".join(c for c in decomposed if not unicodedata.combining(c))))


def _first_key(value: Mapping[str, Any], names: Sequence[str]) -> str:
    plain = {_plain(key): key for key in reversed(list(value))}
    return next((plain[name] for name in names if name in plain), "")


def _without(key: str, words: Sequence[str]) -> str | None:
    """The key without one of the words ('q1_explanation' -> 'q1'); None if it holds none."""
    parts = _plain(key).split("_")
    if (kept := [part for part in parts if part not in words]) == parts:
        return None
    return "_".join(kept)


# ---- from entries to ids -----------------------------------------------------------

_TOKENS = re.compile(r"\d+|[^\W\d_]+")
_CHINESE_NUMBER = {character: str(index) for index, character in enumerate("一二三四五六七八九十", 1)}
_ORDINAL = {
    word: str(index)
    for index, names in enumerate(
        ("first one premiere premier", "second two deuxieme", "third three troisieme", "fourth four quatrieme",
         "fifth five cinquieme", "sixth six sixieme", "seventh seven septieme", "eighth eight huitieme"), 1,
    )
    for word in names.split()
}  # fmt: skip


@functools.lru_cache(maxsize=4096)
def _tokens(key: str) -> tuple[str, ...]:
    tokens: list[str] = []
    for token in _TOKENS.findall(_plain(key)):
        chinese = re.fullmatch(
            r"第?([一二三四五六七八九十])[题问小]*|(?:小?问题?|题目?)([一二三四五六七八九十])", token
        )
        if chinese:
            tokens.append(_CHINESE_NUMBER[chinese[1] or chinese[2]])
        else:
            tokens.append(
                str(int(token)) if token.isdecimal() and token.isascii() else _ORDINAL.get(token, token)
            )
    return tuple(tokens)


@functools.lru_cache(maxsize=4096)
def _place(key: str, names: tuple[str, ...]) -> tuple[str, MatchedBy] | None:
    """The id that a key names, by itself or by number."""
    tokens = _tokens(key)
    if not tokens:
        return None
    named = [name for name in names if _holds(tokens, _tokens(name))]
    if named:
        longest = max(named, key=lambda name: len(_tokens(name)))
        return longest, "id"
    numbers = [token for token in tokens if token.isdecimal()]
    own = _numbers(names)
    if numbers and (match := [name for name in names if own.get(name) == numbers[-1]]):
        return match[0], "number"
    return None


def _holds(tokens: Sequence[str], part: Sequence[str]) -> bool:
    """Whether a key contains an id, up to words like 'answer' around it."""
    if not part or (len(part) == 1 and not part[0].isdecimal() and len(tokens) > 1):
        return tokens == part
    width = len(part)
    ends = [at for at in range(len(tokens) - width + 1) if tokens[at : at + width] == part]
    # the number after an id would make it another one: q7_1 is not in q7_1_2, nor in q71
    return any(not any(token.isdecimal() for token in tokens[at + width :]) for at in ends)


@functools.lru_cache(maxsize=256)
def _numbers(names: tuple[str, ...]) -> Mapping[str, str]:
    """The number in which the ids differ: their 2nd in english_7_1_r3, english_7_2_r3."""
    digits = [[token for token in _tokens(name) if token.isdecimal()] for name in names]
    if not digits or not digits[0] or len({len(row) for row in digits}) != 1:
        return {}
    columns = list(zip(*digits, strict=True))
    for column in reversed(columns):
        if len(set(column)) == len(names) and (len(names) > 1 or len(columns) == 1):
            return dict(zip(names, column, strict=True))
    return {}


Matches: TypeAlias = dict[str, tuple[_Entry, MatchedBy]]


def _match(entries: Sequence[_Entry], names: tuple[str, ...], truncated: bool) -> Matches:
    if matches := _match_by_name(entries, names):
        return matches
    unique = {entry.key or f"#{index}": entry for index, entry in enumerate(entries)}
    if len(unique) == len(names) or (truncated and len(unique) < len(names)):
        return {name: (entry, "order") for name, entry in zip(names, unique.values(), strict=False)}
    return {}


def _match_by_name(entries: Iterable[_Entry], names: tuple[str, ...]) -> Matches:
    keyed = [entry for entry in entries if entry.key]
    places = [(entry, place) for entry in keyed if (place := _place(entry.key, names))]
    by_id = {name for _, (name, how) in places if how == "id"}
    if not by_id and not _numbering_agrees([entry.key for entry in keyed], names):
        return {}
    matches: Matches = {}
    for entry, (name, how) in places:
        if (how == "id" or name not in by_id) and (entry.answer is not None or name not in matches):
            matches[name] = (entry, how)
    return matches


def _numbering_agrees(keys: Sequence[str], names: tuple[str, ...]) -> bool:
    """Whether the keys count as the ids do; keys 1 and 2 for the ids 2 and 3 only share a number by chance."""
    theirs = {
        numbers[-1] for key in keys if (numbers := [token for token in _tokens(key) if token.isdecimal()])
    }
    ours = set(_numbers(names).values())
    return theirs <= ours or theirs >= ours


def _match_prose(reply: str, names: tuple[str, ...]) -> Matches:
    """Answers of a reply without JSON: a line for each, or whatever it says about each; the fuller reading counts."""
    by_line = _match_by_name(_lines(reply), names)
    if len(by_line) == len(names):
        return by_line
    sections = read_sections(reply, lambda piece: _place(piece, names) is not None)
    by_section = _match_by_name([_Entry(key, said or None, "") for key, said in sections], names)
    return by_section if len(by_section) > len(by_line) else by_line


_LINE = re.compile(
    r"[\s*#>\-|\"'(]{0,12}([^\n:=|]{1,60}?)[\"'*)]{0,4}\s*(?:[:=|：.)]|->|→)\s*\**\s*(\S[^\n]{0,2000})"
)


# What stands before the colon or stop of `q1: A` is a name; `The answer to q1 is B.` is a sentence.
_SAYS_MORE = re.compile(
    r"\d\W+\w+(?:\W+\w+)*$(?<!answer)(?<!is)(?<!are)|\b[a-z]*\d+ (?:is|are) \S", re.IGNORECASE
)


def _lines(text: str) -> Iterable[_Entry]:
    for line in text.splitlines()[:500]:
        match = _LINE.match(" ".join(line.split()))
        if match and not _SAYS_MORE.search(match[1]):
            yield _Entry(match[1], match[2].strip(" *|\"'`,") or None, "")
