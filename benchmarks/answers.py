"""Option letters: how many labelled replies are read rightly, and replies a second, beside the host's own readers.

    python benchmarks/answers.py [--texts 3000] [--repeats 5]

The labelled replies are the single choices of tests/metrics/data/letters.json and, where the
folder `shared` lies beside the checkout, the handed ones. The timed replies are generated
chains of reasoning of 200 characters in three languages, each ending in its answer. The
host's readers are what lmms-eval runs on multiple choice: the shared `extract_mcq_answer`,
MMMU's (`parse_mmmu_multi_choice_response`, which guesses where it reads nothing), and the
filter `MultiChoiceRegexFilter`. Last come the slowest replies of 10,000 characters that are
known, made of every shred of markup, list and negation. Times are the best of the repeats,
in processor time, on one core.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_eval.filters.extraction import MultiChoiceRegexFilter
from lmms_eval.tasks._task_utils.mcq_extract import extract_mcq_answer
from lmms_eval.tasks._task_utils.mmmu_mcq_utils import parse_mmmu_multi_choice_response

from lmms_eval_finance.metrics.answers import extract_letters
from lmms_eval_finance.metrics.outcomes import of_unreadable

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
OPTIONS = {"A": "Net margin", "B": "Dividend yield", "C": "Debt ratio", "D": "Free cash flow"}

Case = tuple[str, Mapping[str, str], "str | None"]
# From replies with their options to letters; in batches, since the filter prepares a table of all of Unicode first.
Reader = Callable[[Sequence[Case]], "list[str | None]"]

FILTER = MultiChoiceRegexFilter(regex_pattern=r"answer is \(?([A-Z])\)?", ignore_case=True)


def ours(cases: Sequence[Case]) -> list[str | None]:
    return [min(extract_letters(text, options) or [""]) or None for text, options, _ in cases]


def host_shared(cases: Sequence[Case]) -> list[str | None]:
    return [extract_mcq_answer(text, list(options)) or None for text, options, _ in cases]


def host_mmmu(cases: Sequence[Case]) -> list[str | None]:
    random.seed(0)
    return [
        str(parse_mmmu_multi_choice_response(text, list(options), dict(options)))
        for text, options, _ in cases
    ]


def host_filter(cases: Sequence[Case]) -> list[str | None]:
    docs = [{"choices": list(options.values())} for _, options, _ in cases]
    letters = [str(read[0]).strip("()") for read in FILTER.apply([[text] for text, _, _ in cases], docs)]
    return [
        letter if letter in options else None for letter, (_, options, _) in zip(letters, cases, strict=True)
    ]


READERS: dict[str, Reader] = {
    "lmms_eval_finance extract_letters": ours,
    "lmms-eval extract_mcq_answer": host_shared,
    "lmms-eval parse_mmmu_multi_choice_response": host_mmmu,
    "lmms-eval MultiChoiceRegexFilter": host_filter,
}


def own_cases() -> list[Case]:
    corpus = json.loads((ROOT / "tests/metrics/data/letters.json").read_text(encoding="utf-8"))
    cases: list[Case] = []
    for name, multiple, text, expected in corpus["cases"]:
        options = corpus["options"][name]
        if not multiple and isinstance(options, dict) and set(options) <= set("ABCDEFGHI"):
            cases.append((text, options, expected[0] if expected else None))
    return cases


def handed_cases() -> list[Case]:
    lines = (SHARED / "cases/answers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] == "mc_single_extract"]
    return [(row["prediction"], row["options"], row["expected"]) for row in rows]


def reading_rates(cases: Sequence[Case]) -> None:
    answered = [case for case in cases if case[2]]
    print(f"{'':45} all {len(cases):5}   with an answer {len(answered):5}")
    for name, reader in READERS.items():
        right = [letter == expected for letter, (_, _, expected) in zip(reader(cases), cases, strict=True)]
        right_of_answered = [ok for ok, (_, _, expected) in zip(right, cases, strict=True) if expected]
        print(f"{name:45} {sum(right) / len(right):9.1%}   {sum(right_of_answered) / len(answered):20.1%}")


THOUGHTS: dict[str, list[str]] = {
    "en": [
        "The table shows total debt of {n} million against assets of {m} million in {y}.",
        "Profit barely moved between {y} and the year before.",
        "Option A measures profitability, which does not change here.",
        "The payout stayed at {n} cents a share, so B is not affected.",
        "Dividing {n} by {m} gives the share that lenders financed.",
        "A look at the footnote confirms this reading.",
    ],
    "fr": [
        "Le tableau indique une dette de {n} millions pour un actif de {m} millions en {y}.",
        "La marge n'a guère varié depuis {y}.",
        "L'option A mesure la rentabilité, qui reste stable.",
        "En divisant {n} par {m}, on obtient la part financée par les prêteurs.",
    ],
    "zh": [
        "根据表格，{y}年公司的总负债为{n}百万元，总资产为{m}百万元。",
        "净利润与上年相比变化不大。",
        "A选项衡量盈利能力，与题意无关。",
        "用{n}除以{m}，可以得到负债占资产的比例。",
    ],
}
ENDINGS: dict[str, list[str]] = {
    "en": [
        "The answer is {l}.",
        "**Answer: {l}**",
        "So the correct option is ({l}).",
        "\\boxed{{{l}}}",
        "Hence {l}.",
    ],
    "fr": ["La bonne réponse est {l}.", "**Réponse : {l}**", "Donc {l}."],
    "zh": ["因此，答案是{l}。", "故选{l}。", "**答案：{l}**"],
}


def timed_cases(count: int) -> list[Case]:
    rng = random.Random(7)
    cases: list[Case] = []
    for index in range(count):
        language = ("en", "en", "fr", "zh")[index % 4]
        letter = rng.choice("ABCD")
        ending = rng.choice(ENDINGS[language]).format(l=letter)
        text = ending
        while len(text) < 200:  # the beginning is cut, so that every sentence before the answer is whole
            thought = rng.choice(THOUGHTS[language])
            numbers = {"n": rng.randint(10, 99), "m": rng.randint(100, 999), "y": rng.randint(2015, 2024)}
            text = thought.format(**numbers) + " " + text
        cases.append((text[-200:], OPTIONS, letter))
    return cases


def speeds(cases: Sequence[Case], repeats: int) -> None:
    print(f"\n{'':45} replies a second   relative   read rightly")
    ours_a_second = 0.0
    for name, reader in READERS.items():
        best = 0.0
        for _ in range(repeats):
            start = time.process_time()
            letters = reader(cases)
            best = max(best, len(cases) / (time.process_time() - start))
        ours_a_second = ours_a_second or best
        right = sum(letter == expected for letter, (_, _, expected) in zip(letters, cases, strict=True))
        print(f"{name:45} {best:16,.0f} {best / ours_a_second:10.2f} {right / len(cases):14.1%}")


SHREDS = [
    "A ", "A x ", "A, ", "(A) ", "the answer is A ", "A is not ", "not ", "answer is ", "<think>", "</think>", "\\boxed{",
    "{", "[", "**", "*", "_", "~~", "`", "```\n", "#", " ", "\n", "- A\n", "A.\n", "\ufdfa", "é", "中", "选A", "不", "答案是",
    "A、", "net margin ", "5 ", "5,5", "$", "$A$", "&amp;", "<", "<answer>", "wait ", "\"answer\": \"A\" ", "\\text{", "'", "A?",
    "A or ", "\x02", "ABCD ", "all ", "none of the ", "true ", "not true ", "\u0301", "\u200b", "İ", "is a a a ", "A is correct ",
    "I ", "l'", "[x] A ", "A: x ", "error: ", "I cannot ", "sorry, ",
]  # fmt: skip
ALL_OPTIONS: list[Any] = [
    OPTIONS,
    {"A": "5", "B": "7.5%", "C": "12", "D": "1"},
    {"A": "True", "B": "False"},
    [f"Statement {n}" for n in range(1, 6)],
]


def worst_case() -> None:
    rng = random.Random(3)
    texts = [(shred * 10_000)[:10_000] for shred in SHREDS]
    texts += ["".join(rng.choices(SHREDS, k=6_000))[:10_000] for _ in range(40)]
    slowest = (0.0, "", "")
    for text in texts:
        for options in ALL_OPTIONS:
            for multiple in (False, True):
                start = time.process_time()
                extract_letters(text, options, multiple=multiple)
                slowest = max(slowest, (time.process_time() - start, "extract_letters", text[:20]))
        start = time.process_time()
        of_unreadable(text)
        slowest = max(slowest, (time.process_time() - start, "of_unreadable", text[:20]))
    print(f"\nslowest of 10,000 characters: {slowest[0] * 1000:.1f} ms ({slowest[1]} on {slowest[2]!r} ...)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print("own labelled single choices")
    reading_rates(own_cases())
    if SHARED.is_dir():
        print("\nhanded single choices")
        reading_rates(handed_cases())
    speeds(timed_cases(args.texts), args.repeats)
    worst_case()


if __name__ == "__main__":
    main()
