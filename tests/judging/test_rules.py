"""The rule judge: own labelled answers, the released votes, properties and limits."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.judging.rules import judge

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).resolve().parents[2]


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


CASES = rows("rule_cases.jsonl")
TRIPLES = {"en": rows("triples_en.jsonl"), "zh": rows("triples_zh.jsonl")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['gold']} | {case['prediction']}"[:60])
def test_single_cases(case: dict) -> None:
    judgement = judge(
        case["question"],
        case["gold"],
        case["prediction"],
        language=case["language"],
        question_type=case["question_type"],
    )
    assert judgement.verdict in case["allowed"], judgement


@pytest.mark.parametrize(("language", "least"), [("en", 150), ("zh", 50)])
def test_own_triples(language: str, least: int) -> None:
    triples = TRIPLES[language]
    assert len(triples) >= least
    verdicts = [
        judge(
            triple.get("hint", ""),
            triple["gold"],
            triple["prediction"],
            language=language,
            question_type="open",
        ).verdict
        for triple in triples
    ]
    decided = [
        (verdict, triple) for verdict, triple in zip(verdicts, triples, strict=True) if verdict != "undecided"
    ]
    wrong = [
        (triple["gold"], triple["prediction"]) for verdict, triple in decided if verdict != triple["label"]
    ]
    assert len(wrong) <= 0.015 * len(decided), wrong
    assert len(decided) >= 0.80 * len(triples)


@pytest.fixture(scope="module")
def measure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rule_judge_benchmark", ROOT / "benchmarks/rule_judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_released_votes(measure: ModuleType, shared_dir: Path) -> None:
    """On answers that three language judges agree on: decided share and agreement, for each model."""
    by_model = defaultdict(list)
    for item in measure.items(shared_dir / "data/multimodal_finance_eval", []):
        if item.agreed is not None:
            by_model[item.model].append(item)
    assert len(by_model) >= 4
    for model, items in by_model.items():
        decided = [item for item in items if item.decided is not None]
        right = sum(item.decided == item.agreed for item in decided)
        assert len(decided) >= 0.80 * len(items), model
        assert right >= 0.985 * len(decided), model


def test_every_gold_is_its_own_answer(measure: ModuleType, shared_dir: Path) -> None:
    folder = shared_dir / "data/multimodal_finance_eval/dataset_json"
    for path in folder.glob("*.json"):
        for row in json.loads(path.read_text(encoding="utf-8")):
            question_type = measure.TYPES.get((row.get("Question_type") or "open").strip().lower(), "open")
            judgement = judge(
                row["Question"], row["Answer"], str(row["Answer"]), language="fr", question_type=question_type
            )
            assert judgement.verdict == "correct", (row["Answer"], judgement)


DECIDED = [
    (case["question"], case["gold"], case["prediction"], case["language"], case["question_type"])
    for case in CASES
    if len(case["allowed"]) == 1 and case["question_type"] != "choice" and case["prediction"].strip()
]
WRAPPERS: dict[str, Callable[[str], str]] = {
    "blanks": lambda text: f"  {text}\n",
    "bold": lambda text: f"**{text}**",
    "thinking": lambda text: f"<think>no, 17 %? yes, Stock Q</think>{text}",
    "label": lambda text: f"Answer: {text}",
    "json": lambda text: json.dumps(
        {"answer": text, "explanation": "because 17 is not 18"}, ensure_ascii=False
    ),
    "no-break": lambda text: text.replace(" %", "\u202f%"),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrapping_an_answer_changes_nothing(name: str) -> None:
    for question, gold, prediction, language, question_type in DECIDED:
        plain = judge(question, gold, prediction, language=language, question_type=question_type).verdict
        wrapped = judge(
            question, gold, WRAPPERS[name](prediction), language=language, question_type=question_type
        ).verdict
        assert wrapped == plain, (gold, WRAPPERS[name](prediction))


AMOUNTS = st.integers(2, 99_999_999)


@given(AMOUNTS, AMOUNTS, st.sampled_from(["€", "%", "ans", "$"]))
def test_another_whole_number_is_never_right(gold: int, answer: int, unit: str) -> None:
    verdict = judge("", f"{gold} {unit}", f"{answer} {unit}", language="fr", question_type="open").verdict
    if gold == answer:
        assert verdict == "correct"
    else:
        assert verdict in ("incorrect", "undecided")
        if abs(gold - answer) > gold / 100:
            assert verdict == "incorrect"


@given(st.decimals("0.10", "99.99", places=2))
def test_a_percentage_in_every_writing(value) -> None:
    french, english = str(value).replace(".", ","), str(value)
    for gold in (f"{french} %", f"{english}%", f"{value / 100}"):
        for answer in (f"{english} percent", f"{french} %", f"{english}%", f"Le taux est de {french} %."):
            judgement = judge("Quel est le taux ?", gold, answer, language="fr", question_type="open")
            assert judgement.verdict == "correct", (gold, answer, judgement)


FACTS = st.lists(
    st.sampled_from(
        ["couverture", "exposition", "arbitrage", "actions", "taux", "change", "crédit", "Fonds BNP"]
    ),
    min_size=2,
    max_size=6,
    unique=True,
)


@given(FACTS, st.randoms(), st.sampled_from(["; ", ", ", "\n- "]))
def test_facts_hold_in_any_order_and_a_missing_one_is_wrong(facts: list[str], random, separator: str) -> None:
    gold = " ; ".join(facts)
    shuffled = random.sample(facts, len(facts))
    assert judge("", gold, separator.join(shuffled), language="fr", question_type="open").verdict == "correct"
    if len(facts) > 2:
        verdict = judge("", gold, separator.join(shuffled[1:]), language="fr", question_type="open").verdict
        assert verdict == "incorrect"
    added = separator.join([*shuffled, "options sur indices"])
    assert judge("", gold, added, language="fr", question_type="open").verdict == "incorrect"


@given(
    st.from_regex(r"(?:FR|LU|DE|IE)[0-9]{9}[0-9]", fullmatch=True),
    st.integers(2, 11),
    st.sampled_from("0123456789"),
)
def test_one_other_sign_is_another_code(code: str, place: int, sign: str) -> None:
    other = code[:place] + sign + code[place + 1 :]
    spaced = f"Le code ISIN est {other[:4].lower()} {other[4:8]} {other[8:]}."
    verdict = judge("Quel est le code ISIN ?", code, spaced, language="fr", question_type="open").verdict
    assert verdict == ("correct" if other == code else "incorrect")


@pytest.mark.parametrize("language", ["en", "fr", "zh"])
@pytest.mark.parametrize("question_type", ["yes_no", "true_false"])
def test_yes_and_no_in_three_languages(language: str, question_type: str) -> None:
    yes = ["Yes", "oui.", "VRAI", "True", "是", "对", "正确", "**Oui**", "Answer: yes"]
    no = ["No", "non.", "FAUX", "False", "不是", "不对", "错误", "否", "Answer: false"]
    for gold, right, wrong in (("Oui", yes, no), ("Faux", no, yes), ("是", yes, no), ("No", no, yes)):
        for answers, verdict in ((right, "correct"), (wrong, "incorrect")):
            for answer in answers:
                judgement = judge("", gold, answer, language=language, question_type=question_type)
                assert judgement.verdict == verdict, (gold, answer)


@given(
    st.text(max_size=120),
    st.one_of(st.text(max_size=120), st.floats(allow_nan=True), st.integers(), st.none(), st.booleans()),
    st.text(max_size=300),
    st.sampled_from(["en", "fr", "zh"]),
    st.sampled_from(["open", "yes_no", "true_false", "choice"]),
    st.one_of(st.none(), st.lists(st.text(max_size=20), max_size=5)),
)
def test_any_input_has_a_judgement(question, gold, prediction, language, question_type, options) -> None:
    judgement = judge(
        question, gold, prediction, language=language, question_type=question_type, options=options
    )
    assert judgement.verdict in ("correct", "incorrect", "undecided")
    assert judgement.reason


@pytest.mark.parametrize("arguments", [{"language": "de"}, {"question_type": "Oui / Non"}])
def test_unknown_language_or_type_is_told(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        judge("", "5", "5", **({"language": "fr", "question_type": "open"} | arguments))


HOSTILE = [
    "1,",
    "a, ",
    "十\n",
    "USD and ",
    "\\boxed{",
    "=",
    "mars 2021 ",
    "(",
    "et ou ",
    "1 2 3 4 ",
    "risque ",
    "不",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_texts_are_bounded(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    for gold in ("couverture ; exposition", "E(r_X)=20%\nE(r_Y)=10%", "3 à 5 ans", "CACEIS Bank", text):
        start = time.process_time()
        judge(text, gold, text if gold is not text else "5 %", language="fr", question_type="open")
        assert time.process_time() - start < 2  # milliseconds; a backtracking pattern would take minutes


def test_the_documented_reading_still_holds(measure: ModuleType, shared_dir: Path) -> None:
    """docs/judging.md sorts these answers by cause; each stands there with the verdict that the rules give it."""
    reading = [
        json.loads(line) for line in (ROOT / "docs/data/rule_judge_reading.jsonl").open(encoding="utf-8")
    ]
    assert len(reading) >= 150
    verdicts = defaultdict(set)
    for item in measure.items(shared_dir / "data/multimodal_finance_eval", []):
        verdicts[item.task, item.row, " ".join(item.prediction.split())[:159]].add(item.judgement.verdict)
    for row in reading:
        key = (row["task"], row["row"], row["prediction"].removesuffix("…")[:159])
        assert row["rules"] in verdicts[key], row


def test_letters_of_realigned_dialogues(shared_dir: Path) -> None:
    """Options stand in the question; the share right is the one known for the realigned dialogues."""
    folder = shared_dir / "data/multimodal_finance_eval"
    turns = json.loads(
        (folder / "dataset_json/Q&A_finance.dataset_calculs_conversation.json").read_text("utf-8")
    )
    generated = sorted(turns, key=lambda turn: turn["Element_id"])
    expected = {"Qwen3-VL-32B": 56, "Qwen3-VL-8B": 51, "gemma-3-12b": 42, "Pixtral-12B": 39}
    for name, right in expected.items():
        (path,) = (folder / "released_predictions").glob(f"*{name}*")
        answers = [json.loads(line) for line in path.open(encoding="utf-8")]
        verdicts = []
        for answer in answers:
            if answer["task"] == "calculs_conversation":
                turn = generated[answer["row"]]
                verdicts.append(
                    judge(
                        turn["Question"],
                        turn["Answer"],
                        answer["prediction"],
                        language="fr",
                        question_type="choice",
                    ).verdict
                )
        assert len(verdicts) == 65
        assert verdicts.count("correct") == right, name
