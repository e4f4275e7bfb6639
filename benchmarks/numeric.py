"""Numeric answers: how many labelled answers are graded rightly, and texts a second, beside the host's own readers.

    python benchmarks/numeric.py [--texts 4000] [--repeats 3]

The labelled answers are those of tests/metrics/test_numbers.py and, where the folder `shared`
lies beside the checkout, the handed numeric cases and the released answers of Multimodal
Finance Eval (label: the majority of its three judges; single numeric golds only). The timed
texts are generated chains of reasoning of about 200 characters in three languages, each with
its own gold; last come the slowest of many hostile texts. The host's readers are what lmms-eval runs on open numeric answers: MMMU's
(`parse_open_response` and `eval_open`), ChartQA's `relaxed_correctness` (5% tolerance) and its
rule verifier for numbers. (This file is not called numbers.py because a script's folder comes
first on the import path, where the standard library's `numbers` would be hidden.)
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lmms_eval.tasks.chartqa.utils import relaxed_correctness
from lmms_eval.tasks.mmmu.utils import eval_open, parse_open_response
from lmms_eval.verifiers.rule import NumericToleranceVerifier

from lmms_eval_finance.metrics.numbers import numbers_match, parse_gold_values

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

Grader = Callable[[str, str, dict[str, Any]], bool]
Case = tuple[str, str, dict[str, Any], bool]

VERIFIER = NumericToleranceVerifier(rel_tol=0.0, abs_tol=1e-9)


def ours(gold: str, answer: str, options: dict[str, Any]) -> bool:
    return numbers_match(gold, answer, **options)


def mmmu(gold: str, answer: str, options: dict[str, Any]) -> bool:
    return bool(eval_open(gold, parse_open_response(answer)))


def chartqa(gold: str, answer: str, options: dict[str, Any]) -> bool:
    return relaxed_correctness(answer, gold)


def verifier(gold: str, answer: str, options: dict[str, Any]) -> bool:
    return bool(VERIFIER.verify("", answer, gold).is_correct)


GRADERS: dict[str, Grader] = {
    "lmms_eval_finance numbers_match": ours,
    "lmms-eval mmmu parse_open_response": mmmu,
    "lmms-eval chartqa relaxed_correctness": chartqa,
    "lmms-eval NumericToleranceVerifier": verifier,
}


def own_cases() -> list[Case]:
    spec = importlib.util.spec_from_file_location("labelled", ROOT / "tests/metrics/test_numbers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [
        (case[0], case[1], case[2] if len(case) > 2 else {}, label)
        for blocks, label in ((module.ACCEPTED, True), (module.REJECTED, False))
        for cases in blocks.values()
        for case in cases
    ]


def handed_cases() -> list[Case]:
    cases: list[Case] = []
    for line in (SHARED / "cases/answers.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] == "numeric_match":
            names = ("unit", "tolerance", "tolerance_type", "language", "context")
            options = {name: row[name] for name in names if row.get(name) is not None}
            cases.append((row["gold"], row["prediction"], options, row["expected"]))
    return cases


def released_cases() -> list[Case]:
    folder = SHARED / "data/multimodal_finance_eval"
    files = {"NER": "NER", "charts": "charts", "special_cases": "special_cases", "tables": "tables"}
    cases: dict[tuple[str, str, str], Case] = {}
    for task, name in files.items():
        questions = {
            str(row["id"]): row
            for row in json.loads(
                (folder / f"dataset_json/Q&A_finance.dataset_{name}.json").read_text(encoding="utf-8")
            )
        }
        for path in sorted((folder / "released_predictions").glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                question = questions.get(row["id"]) if row["task"] == task else None
                if question is None:
                    continue
                gold = str(question["Answer"]).strip()
                # numbers only: no dates, identifiers or sentences
                if (
                    len(gold) > 30
                    or not re.match(r"[-\d]", gold)
                    or "T00:00" in gold
                    or re.search(r"\d[./]\d+[./]", gold)
                ):
                    continue
                if len(parse_gold_values(gold, "fr")) != 1 or re.search(r"[A-Z]{2}\d", gold):
                    continue
                options = {"language": "fr", "context": question["Question"]}
                label = sum(row["votes"].values()) * 2 > len(row["votes"])
                cases[task, row["id"], row["prediction"]] = (gold, row["prediction"], options, label)
    return list(cases.values())


def reading_rate(name: str, cases: list[Case]) -> None:
    print(f"\n{name}: {len(cases)} answers, {sum(case[3] for case in cases)} of them right")
    for grader, grade in GRADERS.items():
        right = missed = passed = 0
        for gold, answer, options, label in cases:
            try:
                verdict = grade(gold, answer, options)
            except Exception:  # the host's readers may raise on garbage; that is a wrong grading
                verdict = not label
            right += verdict == label
            missed += label and not verdict
            passed += verdict and not label
        print(
            f"  {grader:40} {right / len(cases):6.1%} graded rightly  ({missed} right answers missed, {passed} wrong ones passed)"
        )


def texts(count: int, generator: random.Random) -> list[tuple[str, str, dict[str, Any]]]:
    made: list[tuple[str, str, dict[str, Any]]] = []
    for _ in range(count):
        revenue, cost = generator.randint(500, 9999), generator.randint(100, 499)
        margin = f"{100 * cost / revenue:.2f}"
        year = generator.randint(2008, 2024)
        language = generator.choice(["en", "fr", "zh"])
        if language == "en":
            text = (
                f"According to the table, revenue in {year} was ${revenue:,} million and net income was ${cost:,} million. "
                f"The net margin is net income divided by revenue, {cost} / {revenue}. Therefore, the net margin is {margin}%."
            )
        elif language == "fr":
            text = (
                f"D'après le tableau, le chiffre d'affaires de {year} s'élève à {revenue} M€ et le résultat net à {cost} M€. "
                f"La marge nette est le rapport des deux, soit environ {margin.replace('.', ',')} %.\nRéponse : {margin.replace('.', ',')} %"
            )
        else:
            text = (
                f"根据表格,{year}年公司营业收入为{revenue}百万元,净利润为{cost}百万元。净利率等于净利润除以营业收入,即{cost}/{revenue},"
                f"与上一年相比有所提高,主要由于成本下降以及产品结构的优化。分业务看,第一季度的增速最快,其中海外市场贡献了大部分的增量。"
                f"综合以上的计算,并考虑四舍五入的影响,该公司{year}年全年的净利率约为{margin}%。答案:{margin}%"
            )
        made.append((f"{margin}%", text, {"unit": "%", "language": language}))
    return made


def speed(count: int, repeats: int) -> None:
    made = texts(count, random.Random(7))
    print(
        f"\n{count} texts of {sum(len(text) for _, text, _ in made) / count:.0f} characters, one process, best of {repeats}"
    )
    rates: dict[str, float] = {}
    for grader, grade in GRADERS.items():
        best = float("inf")
        for _ in range(repeats):
            start = time.process_time()
            accepted = sum(grade(gold, text, options) for gold, text, options in made)
            best = min(best, time.process_time() - start)
        rates[grader] = count / best
        print(
            f"  {grader:40} {rates[grader]:9,.0f} texts a second of CPU time ({accepted / count:.0%} of these right answers accepted)"
        )
    names = list(rates)
    print(f"  ratio to {names[1]}: {rates[names[0]] / rates[names[1]]:.2f}")


HOSTILE = (
    "1 ", "1,", "1.", "1/", "1-", "(1", "((", "$1$", "%", "10^", "x10^", "\\frac{", "\\boxed{", "{", "answer: ", "answer", "答案", "final answer 1\n",
    "\n1", "- 1\n", "1. 1\n", "一", "百分之", "1亿", "2021-", "Q1", "12/11/2021", "1:1", "june ", "one ", "million ", "1 of ", "1 to 2 ", "1 or ",
    "up from ", "<think>", "**1**", "_1", "[1](a)", "&amp;", "1'000", "½", "wait, ", "no fees ", "S&P 500 ", "a$1a$", "\u200b", "İ1 ", "é1", "\ufeff",
)  # fmt: skip


def slowest() -> None:
    worst = []
    for first in HOSTILE:
        for second in ("", *HOSTILE[::7]):
            text = ((first + second) * 10_000)[:10_000]
            best = float("inf")
            for _ in range(3):
                start = time.process_time()
                numbers_match("5", text, unit=text, context=text, language="fr")
                best = min(best, time.process_time() - start)
            worst.append((best, first + second))
    worst.sort(reverse=True)
    print(f"\n{len(worst)} hostile texts of 10,000 characters: the slowest take (best of 3, CPU time)")
    for seconds, text in worst[:3]:
        print(f"  {seconds * 1000:5.1f} ms  {text!r} repeated")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    reading_rate("own labelled answers", own_cases())
    if SHARED.is_dir():
        reading_rate("handed cases", handed_cases())
        reading_rate("released answers of Multimodal Finance Eval", released_cases())
    speed(args.texts, args.repeats)
    slowest()


if __name__ == "__main__":
    main()
