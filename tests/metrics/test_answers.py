from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.answers import (
    extract_json_answers,
    extract_letters,
    letters,
    parse_gold_letters,
    read_json_answers,
)
from lmms_eval_finance.metrics.answers import options as option_sets

CORPUS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "letters.json").read_text(encoding="utf-8")
)
OPTIONS: dict[str, Any] = CORPUS["options"]
BONDS = OPTIONS["en"]
STATEMENTS = OPTIONS["five"]


@pytest.mark.parametrize(("options", "multiple", "text", "expected"), CORPUS["cases"])
def test_the_letters_that_a_careful_person_reads(
    options: str, multiple: bool, text: str, expected: list[str] | None
) -> None:
    letters = extract_letters(text, OPTIONS[options], multiple=multiple)
    assert (None if letters is None else sorted(letters)) == expected


# ---- short cuts --------------------------------------------------------------------

WORDS = (
    "The chart shows debt ratio, high. not No; wait option answer: answer is fund the\n C B. (d) a\n b) I D, only"
    " Question: \\boxed{B} <answer> **A** none of them true if maybe\n\n"
).split(" ")


@settings(max_examples=600)
@given(
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=20),
    st.sampled_from(["Answer: ", "answer:", "Final answer: ", "Final Answer: ", "The answer: ", "Answers: "]),
    st.lists(st.sampled_from("ABCDEI"), min_size=1, max_size=4),
    st.sampled_from([", ", ",", " "]),
    st.sampled_from(["", ".", " ", "\n"]),
    st.booleans(),
    st.sampled_from(
        [
            {"A": "Debt ratio", "B": "high", "C": "c", "D": "$5"},
            ["a, c", "b"],
            ["5", "7"],
            ["Yes", "No", "Answer"],
            ["1 1", "1 2"],
        ]
    ),
)
def test_a_plain_last_line_says_what_the_whole_reading_says(
    head: str, announced: str, named: list[str], sign: str, end: str, multiple: bool, options: Any
) -> None:
    for joint in ("\n", " ", ""):
        text = f"{head}{joint}{announced}{sign.join(named)}{end}"
        read = extract_letters(text, options, multiple)
        with patch.object(letters, "_plain_answer", return_value=None):
            assert read == extract_letters(text, options, multiple), text


def test_a_plain_last_line_of_a_model_that_repeats_itself_is_read_as_any_other() -> None:
    named = ["A"] * 40 + ["C"] + ["B"] * 140
    assert extract_letters(f"Answer: {', '.join(named)}", ["x", "y", "z"], True) == frozenset("A")


@given(st.sampled_from("ABCDE"), st.lists(st.sampled_from(["a", "b", "A", "Yes", "5", "A, B"]), max_size=5))
def test_a_gold_of_one_letter_is_read_as_any_other(gold: str, options: list[str]) -> None:
    assert parse_gold_letters(gold, options) == parse_gold_letters([gold], options)


def test_options_that_are_no_texts_are_told_apart_whatever_was_read_before() -> None:
    for value in (1, True, 1.0, 1):
        assert option_sets.option_set({"A": value}).texts == {"A": str(value).lower()}  # type: ignore[dict-item]
        assert option_sets.option_set({value: "x"}).keys == {"\ue000": str(value)}  # type: ignore[dict-item]


@given(st.from_regex(r"[A-Za-z0-9 .,;%'()?-]*", fullmatch=True))
def test_a_plain_option_is_digested_as_any_other(text: str) -> None:
    with patch.object(option_sets, "_PLAIN", re.compile("(?!)")):
        digested = option_sets._digest.__wrapped__((("A", text),))
    assert option_sets._digest.__wrapped__((("A", text),)) == digested


def test_an_option_too_long_to_be_read_whole_is_cut_whatever_is_in_it() -> None:
    plain, marked = ({"A": sign + "b" * 30_000} for sign in ("b", "ß"))
    assert len(option_sets.option_set(plain).texts["A"]) == len(option_sets.option_set(marked).texts["A"])


# ---- what must not matter ----------------------------------------------------------

WIDE = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)} | {0x20: "\u3000"}
MARKED = re.compile(r"[\\<>{}◁\[\]`*_#~$&|]|\d\.|^\s*$")
WRAPPINGS = {
    "blank lines around": lambda text: f"\n\n  {text}\n \n",
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "doubled blanks": lambda text: text.replace(" ", "  "),
    "no-break blanks": lambda text: text.replace(" ", "\u00a0"),
    "invisible characters": lambda text: (
        "\ufeff" + text.replace(" ", " \u200b").replace(":", ":\u2060") + "\u200b"
    ),
    "full width": lambda text: text if MARKED.search(text) else text.translate(WIDE),
    "decomposed accents": lambda text: unicodedata.normalize("NFD", text),
    "bold": lambda text: text if MARKED.search(text) or "\n" in text else f"**{text}**",
    "heading": lambda text: text if MARKED.search(text) or "\n" in text else f"## {text}",
    "quotation": lambda text: text if MARKED.search(text) else "> " + text.replace("\n", "\n> "),
    "code": lambda text: text if MARKED.search(text) else f"```\n{text}\n```",
    "thinking before": lambda text: (
        text if "think" in text.lower() else f"<think>A? B? The answer is D.</think>{text}"
    ),
    "typographic quotes": lambda text: text.replace("'", "’"),
}


@given(st.sampled_from(CORPUS["cases"]), st.sampled_from(sorted(WRAPPINGS)))
def test_wrapping_does_not_matter(case: tuple[str, bool, str, list[str] | None], wrapping: str) -> None:
    options, multiple, text, expected = case
    letters = extract_letters(WRAPPINGS[wrapping](text), OPTIONS[options], multiple=multiple)
    assert (None if letters is None else sorted(letters)) == expected, wrapping


CUES = [
    "The answer is {}", "Answer: {}", "I choose {}.", "So the correct option is {}.", "My final answer: {}", "It must be {}",
    "La bonne réponse est {}.", "Réponse : {}", "Je choisis {}", "答案是{}。", "故选{}", "正确答案：{}",
]  # fmt: skip
DRESSES = [
    "{}",
    "({})",
    "**{}**",
    "[{}]",
    '"{}"',
    "$\\boxed{{{}}}$",
    "{}.",
    "`{}`",
    "<b>{}</b>",
    "【{}】",
    "\\text{{{}}}",
]


@given(
    st.sampled_from(CUES),
    st.sampled_from(DRESSES),
    st.sampled_from("ABCD"),
    st.sampled_from([str, str.upper, str.lower]),
)
def test_a_stated_letter_is_read_in_every_dress(cue: str, dress: str, letter: str, case: Any) -> None:
    reply = case(cue).replace("{}", dress.replace("{}", letter).replace("{{", "{").replace("}}", "}"))
    assert extract_letters(reply, BONDS) == {letter}


NOTATIONS = [
    ", ".join, ",".join, " ".join, "".join, "、".join, "; ".join, "/".join, " & ".join, " + ".join, "\n".join,
    lambda chosen: "- " + "\n- ".join(chosen),
    lambda chosen: "\\boxed{" + ", ".join(chosen) + "}",
    lambda chosen: json.dumps({"answer": list(chosen)}),
    lambda chosen: ", ".join(chosen[:-1]) + " and " * (len(chosen) > 1) + chosen[-1],
    lambda chosen: ", ".join(chosen[:-1]) + " et " * (len(chosen) > 1) + chosen[-1],
    lambda chosen: "、".join(chosen[:-1]) + "和" * (len(chosen) > 1) + chosen[-1],
    lambda chosen: "\n".join(f"{letter}. {STATEMENTS[letter]}" for letter in chosen),
    lambda chosen: "\n".join(f"{letter}: {'true' if letter in chosen else 'false'}" for letter in STATEMENTS),
]  # fmt: skip


@given(
    st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True),
    st.sampled_from(NOTATIONS),
    st.sampled_from(["", "Answer: ", "The answer is ", "Réponse : ", "答案：", "I choose "]),
)
def test_a_selection_survives_every_notation(chosen: list[str], notation: Any, cue: str) -> None:
    text = notation(sorted(chosen))
    if "\n" not in text and "{" not in text:
        text = cue + text
    assert extract_letters(text, STATEMENTS, multiple=True) == set(chosen)
    if len(chosen) > 1:
        assert extract_letters(text, STATEMENTS) is None


WORDS = st.text("bcdfghjklmnpqrstvwxz", min_size=3, max_size=9)


@given(
    st.lists(st.lists(WORDS, min_size=2, max_size=4).map(" ".join), min_size=2, max_size=6, unique=True),
    st.data(),
)
def test_an_option_is_known_by_its_text(texts: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(texts) - 1))
    template = data.draw(
        st.sampled_from(["{}", "The answer is {}.", "**{}**", "La réponse est « {} ».", "答案是{}。"])
    )
    if any(other != texts[index] and other in texts[index] for other in texts):
        return
    assert extract_letters(template.format(texts[index]), texts) == {"ABCDEF"[index]}
    assert extract_letters(
        template.format(texts[index].upper()), [f"{'ABCDEF'[n]}. {t}" for n, t in enumerate(texts)]
    ) == {"ABCDEF"[index]}


# ---- robustness --------------------------------------------------------------------

SHREDS = st.lists(
    st.sampled_from(
        "A|B|(C)|D.|is|not|the answer|:|,|\n|. |and|or|correct|wrong|<think>|</think>|\\boxed{|}|**|选|不|答案|、|net|true|all|none|wait"
        '|"answer": |{|[x]|I|a|é|Ｃ|5.62%|?|but|so|only|E'.split("|")
    ),
    max_size=40,
).map(" ".join)
ANY_OPTIONS = (
    st.dictionaries(st.text(max_size=3), st.text(max_size=12), max_size=6)
    | st.lists(st.text(max_size=12), max_size=30)
    | st.sampled_from(list(OPTIONS.values()))
)


@given(st.text() | SHREDS, ANY_OPTIONS, st.booleans())
def test_any_reply_gives_letters_of_the_options_or_none(text: str, options: Any, multiple: bool) -> None:
    read = extract_letters(text, options, multiple=multiple)
    if read is not None:
        assert multiple or len(read) == 1
        if isinstance(options, dict) and options:
            assert read <= set(options)
    gold = parse_gold_letters(text, options)
    assert gold is None or gold


@given(SHREDS | st.sampled_from([text for _, _, text, _ in CORPUS["cases"]]), st.booleans())
def test_reading_from_the_end_gives_what_reading_everything_gives(text: str, multiple: bool) -> None:
    from_the_end = extract_letters(text, BONDS, multiple=multiple)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letters._Reading, "claims", _all_claims)
        assert extract_letters(text, BONDS, multiple=multiple) == from_the_end


def _all_claims(self: letters._Reading) -> list[letters._Claim]:
    cues = [self.cue(index) for index in range(len(self.mentions))]
    return [
        letters._Claim(mention, cue)
        for mention, cue in zip(self.mentions, cues, strict=True)
        if not (mention.needs_cue and cue.strength in (0, 1))
    ]


@pytest.mark.parametrize("text", [None, 3, b"A", ["A"]])
def test_what_is_no_text_is_unreadable(text: Any) -> None:
    assert extract_letters(text, BONDS) is None
    assert extract_json_answers(text, ["1"]) == {"1": None}


@pytest.mark.parametrize(
    "shred",
    [
        "A ",
        "A, ",
        "5 ",
        "$",
        "**",
        "<",
        "{",
        "[",
        "\\boxed{",
        "not A ",
        "选A",
        "\ufdfa",
        "wait A ",
        "x" * 50 + " A ",
    ],
)
def test_long_repetitions_are_read_in_bounded_time(shred: str) -> None:
    for options in (BONDS, OPTIONS["amounts"], OPTIONS["tf"], STATEMENTS):
        extract_letters(shred * (60_000 // len(shred)), options, multiple=True)


# ---- golds -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "gold", "expected"),
    [
        ("en", "C", "C"), ("en", "d", "D"), ("en", "c.", "C"), ("en", "(B)", "B"), ("en", " A ", "A"), ("en", "Ｂ", "B"),
        ("en", "A,C", "AC"), ("en", "A, C", "AC"), ("en", "AC", "AC"), ("en", "ac", "AC"), ("en", "A、C", "AC"), ("en", "A and C", "AC"),
        ("en", "A;C", "AC"), ("en", ["A", "C"], "AC"), ("en", "C,A", "AC"), ("en", "B. Convexity", "B"), ("en", "B. something else", "B"),
        ("en", "Convexity", "B"), ("en", "convexity.", "B"), ("en", "A. Duration; C. Yield to maturity", "AC"),
        ("en", "E", None), ("en", "A,E", None), ("en", "", None), ("en", None, None), ("en", "none", None), ("en", "42", None),
        ("tf", "True", "A"), ("tf", "false", "B"), ("tf", "F", None), ("tf", "√", "A"), ("tf", "×", "B"), ("zq", "√", "A"), ("zq", "×", "B"),
        ("zq", "对", "A"), ("zq", "错误", "B"), ("zd", "正确", "A"), ("zd", "错", "B"), ("vf", "Vrai", "A"), ("on", "Non", "B"), ("yn", "no", "B"),
        ("amounts", "5.62%", "B"), ("amounts", "B", "B"), ("rating", "A+", "C"), ("rating", "C. A+", "C"), ("rating", "C", "C"), ("low", "b", "b"),
    ],
)  # fmt: skip
def test_golds(options: str, gold: Any, expected: str | None) -> None:
    read = parse_gold_letters(gold, OPTIONS[options])
    assert (None if read is None else "".join(sorted(read))) == expected


def test_options_may_be_listed_labelled_lettered_small_or_missing() -> None:
    assert extract_letters("b", {"a": "Bonds", "b": "Stocks"}) == {"b"}
    assert extract_letters("Stocks", ["A. Bonds", "B. Stocks"]) == {"B"}
    assert extract_letters("The answer is C", []) == {"C"}
    assert extract_letters("Stocks", {"1": "Bonds", "2": "Stocks"}) == {"2"}
    assert parse_gold_letters("d", []) == {"D"}


# ---- JSON answers ------------------------------------------------------------------

IDS = ["q7_1", "q7_2"]
BOTH = {"q7_1": "A", "q7_2": "1250"}


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ('{"q7_1": "A", "q7_2": "1250"}', "id"),
        ('{"q7_1": "A", "q7_2": 1250}', "id"),
        ("{'q7_1': 'A', 'q7_2': '1250'}", "id"),
        ('{"q7_2": "1250", "q7_1": "A"}', "id"),
        ('```json\n{"q7_1": "A", // first\n "q7_2": "1250",}\n```', "id"),
        ('Sure! {"q7_1": "A", "q7_2": "1250"} Let me know.', "id"),
        ("{“q7_1”：“A”，“q7_2”：“1250”}", "id"),
        ("{q7_1: A, q7_2: 1250}", "id"),
        ('{"q7_1": "A"\n "q7_2": "1250"}', "id"),
        ('{"q7_1": "A"}\n{"q7_2": "1250"}', "id"),
        ('<think>{"q7_1": "B"}</think>{"q7_1": "A", "q7_2": "1250"}', "id"),
        ('Draft: {"q7_1": "B", "q7_2": "1"} Final: {"q7_1": "A", "q7_2": "1250"}', "id"),
        ('{"Q7_1": "A", "Question Q7-2": "1250"}', "id"),
        ('{"answers": {"q7_1": "A", "q7_2": "1250"}}', "id"),
        ('[{"id": "q7_1", "answer": "A"}, {"id": "q7_2", "answer": 1250}]', "id"),
        (
            '{"q7_1": {"answer": "A", "explanation": "x"}, "q7_2": {"explanation": "y", "answer": "1250"}}',
            "id",
        ),
        (
            '{"q7_1_answer": "A", "q7_1_explanation": "x", "q7_2_answer": "1250", "q7_2_explanation": "y"}',
            "id",
        ),
        ("q7_1: A\nq7_2: 1250", "id"),
        ("| q7_1 | A |\n| q7_2 | 1250 |", "id"),
        ('{"1": "A", "2": "1250"}', "number"),
        ('{"question_1": "A", "question_2": "1250"}', "number"),
        ('{"answer_1": "A", "explanation_1": "x", "answer_2": "1250", "explanation_2": "y"}', "number"),
        ('{"first": "A", "second": "1250"}', "number"),
        ('{"第一题": "A", "第二题": "1250"}', "number"),
        ('{"q7": {"1": "A", "2": "1250"}}', "number"),
        ('{"1": "A", "2": "1250", "3": "more"}', "number"),
        ("1. A\n2. 1250", "number"),
        ('["A", "1250"]', "order"),
        ('{"answers": ["A", "1250"]}', "order"),
        ('{"a": "A", "b": "1250"}', "order"),
        ('[{"answer": "A", "explanation": "x"}, {"answer": "1250"}]', "order"),
        ('{"4": "A", "5": "1250"}', "order"),
    ],
)
def test_sub_answers(text: str, how: str) -> None:
    read = read_json_answers(text, IDS)
    assert read.answers == BOTH
    assert set(read.matched_by.values()) == {how}
    assert not read.truncated
    assert extract_json_answers(text, IDS) == BOTH


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"q7_1": "A", "q7_2": "12', {"q7_1": "A", "q7_2": None}),
        ('{"q7_1": "A", "q7_2": 12', {"q7_1": "A", "q7_2": None}),
        ('{"q7_1": "A", "q7_2":', {"q7_1": "A", "q7_2": None}),
        ('{"q7_1": "A", "q7', {"q7_1": "A", "q7_2": None}),
        ('{"q7_1": {"answer": "A", "explanation": "since the', {"q7_1": "A", "q7_2": None}),
        ('{"q7_1": "A", "q7_2": "1250"', BOTH),
        ('["A", "12', {"q7_1": "A", "q7_2": None}),
        ('{"q7_1": "', {"q7_1": None, "q7_2": None}),
    ],
)
def test_what_a_cut_reply_finished_counts(text: str, expected: dict[str, str | None]) -> None:
    read = read_json_answers(text, IDS)
    assert read.answers == expected
    assert read.truncated


@pytest.mark.parametrize(
    ("text", "ids", "expected"),
    [
        ("", IDS, [None, None]),
        ("no json", IDS, [None, None]),
        ('{"q7_1": "", "q7_2": null}', IDS, [None, None]),
        ('{"q7_1": ["A", "C"], "q7_2": true}', IDS, ["A, C", "true"]),
        ('{"q7_1": "A. Growth", "q7_2": "1,250 million"}', IDS, ["A. Growth", "1,250 million"]),
        ('{"q7_1": "A", "q7_1": "B"}', ["q7_1"], ["B"]),
        ('{"answer": "A"}', IDS, [None, None]),
        ('{"x": "A", "y": "B", "z": "C"}', IDS, [None, None]),
        ('{"1": "A", "2": "B"}', ["q7_2", "q7_3"], ["A", "B"]),
        ('{"1": "A", "2": "B"}', ["english_7_1_r3", "english_7_2_r3"], ["A", "B"]),
        ('{"1": "A", "10": "B", "11": "C"}', ["1", "10", "11"], ["A", "B", "C"]),
        ('{"7_1": "A"}', ["q7_1", "q7_11"], ["A", None]),
        ('{"q7_11": "A"}', ["q7_1", "q7_11"], [None, "A"]),
        ('{"answer": "A", "explanation": "x"}', ["english_7_1_r3"], ["A"]),
        ('{"answer": ["A", "C"]}', ["q"], ["A, C"]),
        ("see [1]", ["q"], [None]),
        ("\\frac{1}{2}", ["q"], [None]),
        ('{"q7_1": "\\frac{1}{2}", "q7_2": "the "best" one"}', IDS, ["\\frac{1}{2}", 'the "best" one']),
    ],
)
def test_sub_answers_in_detail(text: str, ids: list[str], expected: list[str | None]) -> None:
    assert list(extract_json_answers(text, ids).values()) == expected


def test_explanations_come_along() -> None:
    text = '{"q7_1": {"answer": "A", "explanation": "up"}, "q7_2": "B", "q7_2_reasoning": "down"}'
    assert read_json_answers(text, IDS).explanations == {"q7_1": "up", "q7_2": "down"}


@given(
    st.lists(
        st.from_regex(r"[a-z]{1,3}[1-9]?_[1-9][0-9]?", fullmatch=True), min_size=1, max_size=5, unique=True
    ),
    st.data(),
)
def test_any_ids_and_answers_round_trip(ids: list[str], data: st.DataObject) -> None:
    answer = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6).map(str.strip).filter(bool)
    answers = {name: data.draw(answer) for name in ids}
    assert extract_json_answers(json.dumps(answers, ensure_ascii=False), ids) == answers
    nested = {name: {"answer": value, "explanation": "x {y} [z]"} for name, value in answers.items()}
    assert extract_json_answers(f"```json\n{json.dumps(nested, indent=2)}\n```", ids) == answers


@given(st.text() | SHREDS, st.lists(st.text(max_size=5), max_size=4))
def test_any_reply_gives_every_id_an_answer_or_none(text: str, ids: list[str]) -> None:
    assert list(extract_json_answers(text, ids)) == list(dict.fromkeys(ids))
