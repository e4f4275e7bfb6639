r"""CDM: what it costs, with and without TeX in the same run, and what each variant sees.

    python benchmarks/formula.py speed [--pairs 200] [--calls 10]
    python benchmarks/formula.py variants
    python benchmarks/formula.py engines

`speed` measures start-up and warm time of the engine "mathjax" and, where pdflatex is installed, one
pdflatex call per formula (what the reference implementation does, without its ImageMagick and KaTeX
steps) and the engine "tex" in one run. `variants` rewrites formulas in ways that print the same and in
ways that do not and says how many pairs each variant calls exact. `engines` compares the scores of
both engines on all of these pairs.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FORMULAS = [
    r"NPV=\sum_{t=1}^{T}\frac{CF_t}{(1+r)^t}-I_0",
    r"P=\frac{C}{y}\left(1-\frac{1}{(1+y)^n}\right)+\frac{F}{(1+y)^n}",
    r"d_1=\frac{\ln(S_0/K)+\left(r-q+\frac{\sigma^2}{2}\right)T}{\sigma\sqrt{T}},\quad d_2=d_1-\sigma\sqrt{T}",
    r"c=S_0e^{-qT}\Phi(d_1)-Ke^{-rT}\Phi(d_2)",
    r"\beta_i=\frac{\operatorname{Cov}(R_i,R_m)}{\sigma_m^2}=\rho_{im}\frac{\sigma_i}{\sigma_m}",
    r"\mathbb{E}[R_p]=\sum_{i=1}^{n}w_i\mathbb{E}[R_i]",
    r"\sigma_p^2=\sum_{i=1}^{n}\sum_{j=1}^{n}w_iw_j\sigma_{ij}",
    r"r_{\text{real}}=\frac{1+r_{\text{nominal}}}{1+\pi}-1",
    r"D_{\text{mod}}=\frac{D_{\text{mac}}}{1+\frac{y}{m}}",
    r"\frac{\partial V}{\partial t}+\frac{1}{2}\sigma^2S^2\frac{\partial^2V}{\partial S^2}+rS\frac{\partial V}{\partial S}-rV=0",
    r"dS_t=\mu S_t\,dt+\sigma S_t\,dW_t",
    r"S_T=S_0\exp\left(\left(\mu-\frac{\sigma^2}{2}\right)T+\sigma W_T\right)",
    r"\hat{\theta}=\arg\max_{\theta}\sum_{i=1}^{n}\log f(x_i;\theta)",
    r"\bar{x}\pm t_{\alpha/2,n-1}\frac{s}{\sqrt{n}}",
    r"\text{净资产收益率}=\frac{\text{净利润}}{\text{平均净资产}}\times 100\%",
    r"\text{毛利率}=\frac{\text{营业收入}-\text{营业成本}}{\text{营业收入}}",
    r"\text{市盈率}=\frac{\text{每股市价}}{\text{每股收益}}",
    r"\text{资产负债率}=\frac{\text{负债总额}}{\text{资产总额}}\le 60\%",
    r"FV=PV\left(1+\frac{r}{m}\right)^{mn}",
    r"\text{VaR}_{\alpha}=-\inf\{x\in\mathbb{R}:F_X(x)>\alpha\}",
    r"WACC=\frac{E}{E+D}r_e+\frac{D}{E+D}r_d(1-\tau)",
    r"g=\text{ROE}\times(1-\text{payout})",
    r"f(x)=\begin{cases} S_T-K, & S_T>K \\ 0, & S_T\le K \end{cases}",
    r"\Sigma=\begin{pmatrix} \sigma_1^2 & \rho\sigma_1\sigma_2 \\ \rho\sigma_1\sigma_2 & \sigma_2^2 \end{pmatrix}",
    r"\begin{aligned} EVA &= NOPAT-WACC\times IC \\ &= (ROIC-WACC)\times IC \end{aligned}",
    r"\left|\frac{\Delta P}{P}\right|\approx D\,\Delta y-\frac{1}{2}C(\Delta y)^2",
    r"\int_0^{T}\sigma_s^2\,ds=\lim_{n\to\infty}\sum_{k=1}^{n}(r_k)^2",
    r"x_{i_1}^{2}+y_{j}^{n_k}\neq z",
    r"\vec{w}^{\top}\Sigma\vec{w}\geq 0",
    r"\overline{ROA}=\frac{1}{N}\sum_{k=1}^{N}ROA_k",
    r"\binom{n}{k}p^k(1-p)^{n-k}",
    r"\sqrt[n]{\prod_{i=1}^{n}(1+r_i)}-1",
    r"\text{Marge nette}=\frac{\text{Résultat net}}{\text{Chiffre d'affaires}}",
    r"A=P\frac{i(1+i)^n}{(1+i)^n-1}",
    r"EPS=\frac{1,234.5}{467.8}=2.64",
    r"i=\frac{1.075-1.032}{1.032}\approx 4.17\%",
    r"\text{流动比率}=\frac{35,820}{17,460}=2.05",
    r"\Pr(|X-\mu|\ge k\sigma)\le\frac{1}{k^2}",
    r"\lambda_{max}\leftarrow\max\{\lambda_1,\ldots,\lambda_n\}",
]

Rewrite = Callable[[str, random.Random], str]


def one(pattern: str, replacement: Callable[[re.Match[str]], str]) -> Rewrite:
    """Rewrite one match of a pattern, chosen by the generator."""

    def rewrite(formula: str, generator: random.Random) -> str:
        matches = list(re.finditer(pattern, formula))
        if not matches:
            return formula
        match = generator.choice(matches)
        return formula[: match.start()] + replacement(match) + formula[match.end() :]

    return rewrite


def every(pattern: str, replacement: str) -> Rewrite:
    return lambda formula, generator: re.sub(pattern, lambda match: match.expand(replacement), formula)


ARGUMENT = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
LETTER = r"(?<![\\a-zA-Z{])[A-Za-z](?![a-zA-Z}])"
SAME: dict[str, Rewrite] = {
    "braces around letters": every(f"({LETTER})", r"{\1}"),
    "white space": every(r"([=+\-])", r" \1  "),
    "dollar signs": lambda formula, generator: f"$${formula}$$",
    "a code fence": lambda formula, generator: f"```latex\n{formula}\n```",
    "order of scripts": every(r"_(\w|\{\w+\})\^(\w|\{\w+\})", r"^\2_\1"),
    "other names": lambda formula, generator: (
        (formula.replace(r"\le ", r"\leq ").replace(r"\neq", r"\ne").replace(r"\frac", r"\dfrac"))
        if formula.count(r"\frac") == 1 and "{\\frac" not in formula and "cases" not in formula
        else formula.replace(r"\le ", r"\leq ").replace(r"\neq", r"\ne")
    ),
    "\\text as \\mathrm": every(r"\\text\{([A-Za-z一-鿿]+)\}", r"\\mathrm{\1}"),
}
OTHER: dict[str, Rewrite] = {
    "sub- as superscript": one(r"_(?=[{\w])", lambda match: "^"),
    "super- as subscript": one(r"\^(?=[{\w])", lambda match: "_"),
    "script on the line": one(r"[_^]\{?(\w+)\}?", lambda match: match.group(1)),
    "script of a script": one(r"_\{(\w)(\w)\}", lambda match: f"_{{{match.group(1)}_{match.group(2)}}}"),
    "fraction upside down": one(
        rf"\\frac{ARGUMENT}{ARGUMENT}",
        lambda match: f"\\frac{{{match.group(2)}}}{{{match.group(1)}}}",
    ),
    "two digits swapped": one(r"(\d)((?!\1)\d)", lambda match: match.group(2) + match.group(1)),
    "two lines swapped": one(
        r"(?<=\} )([^{}]+(?:\{[^{}]*\})?[^{}]*?) \\\\ (.+?) (?=\\end)",
        lambda match: f"{match.group(2)} \\\\ {match.group(1)}",
    ),
    "one letter wrong": one(LETTER, lambda match: "q"),
    "one letter missing": one(LETTER, lambda match: ""),
    "one letter too many": one(LETTER, lambda match: match.group() + "q"),
    "one sign wrong": one(r"(?<=[\w)}])[-+=](?=[\w(\\])", lambda match: {"-": "+"}.get(match.group(), "-")),
}


def pairs(
    kinds: dict[str, Rewrite], generator: random.Random, each: int = 3
) -> dict[str, list[tuple[str, str]]]:
    """Distinct pairs (formula, rewritten formula) by kind."""
    found = {}
    for kind, rewrite in kinds.items():
        drawn = [(formula, rewrite(formula, generator)) for formula in FORMULAS for _ in range(each)]
        found[kind] = [pair for pair in dict.fromkeys(drawn) if pair[0] != pair[1]]
    return found


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def pdflatex_calls(formulas: list[str]) -> float:
    """Seconds of one pdflatex call for each formula."""
    template = (
        r"\documentclass[12pt]{article}\usepackage{amsmath,amssymb,upgreek,CJK}\pagestyle{empty}\begin{document}"
        r"\begin{CJK}{UTF8}{gkai}\[%s\]\end{CJK}\end{document}"
    )
    with tempfile.TemporaryDirectory() as folder:

        def all_calls() -> None:
            for index, formula in enumerate(formulas):
                Path(folder, f"{index}.tex").write_text(template % formula, encoding="utf-8")
                subprocess.run(
                    ["pdflatex", "-no-shell-escape", "-interaction=batchmode", f"{index}.tex"],
                    cwd=folder,
                    capture_output=True,
                    check=False,
                )

        return timed(all_calls)


def speed(count: int, calls: int) -> None:
    cold = timed(
        lambda: subprocess.run([sys.executable, "-c", "import lmms_eval_finance.metrics.formula"], check=True)
    )
    first = timed(
        lambda: subprocess.run(
            [sys.executable, "-c", "from lmms_eval_finance.metrics.formula import cdm; cdm('x', 'x')"],
            check=True,
        )
    )
    print(f"start-up: {first - cold:.2f} s for the engine, {cold:.2f} s for Python and the imports")

    from lmms_eval_finance.metrics.formula import cdm, cdm_batch

    generator = random.Random(1)
    drawn = [pair for kind in pairs({**SAME, **OTHER}, generator).values() for pair in kind]
    chosen = generator.sample(drawn, min(count, len(drawn)))
    cdm("x", "x")
    busy = time.process_time()
    one_by_one = timed(lambda: [cdm(gold, pred) for gold, pred in chosen]) / len(chosen)
    busy = (time.process_time() - busy) / len(chosen)
    print(
        f"mathjax, one by one: {one_by_one * 1000:.1f} ms a pair, {busy * 1000:.1f} ms of CPU ({len(chosen)} pairs)"
    )
    formulas = list(dict.fromkeys(formula for pair in chosen for formula in pair))
    from lmms_eval_finance.metrics.formula import mathjax

    alone = min(timed(lambda: mathjax.layouts(formulas)) for _ in range(3)) / len(formulas)
    print(f"mathjax, typesetting: {alone * 1000:.2f} ms a formula ({len(formulas)} formulas)")
    batch = timed(
        lambda: subprocess.run(
            [sys.executable, __file__, "batch", "--pairs", str(len(chosen))], check=True, capture_output=True
        )
    )
    print(f"mathjax, a new process for {len(chosen)} pairs: {batch:.2f} s with all imports")
    if not shutil.which("pdflatex"):
        print("pdflatex is not installed: no comparison")
        return
    each = pdflatex_calls(formulas[:calls]) / calls
    print(
        f"one pdflatex call a formula: {each * 1000:.0f} ms a formula; mathjax is {each / alone:.0f} times as fast"
    )
    together = timed(lambda: cdm_batch(chosen, variant="reference", engine="tex"))
    print(f"tex, one run: {together / len(formulas) * 1000:.1f} ms a formula, matching included")


def batch(count: int) -> None:
    from lmms_eval_finance.metrics.formula import cdm_batch

    generator = random.Random(1)
    drawn = [pair for kind in pairs({**SAME, **OTHER}, generator).values() for pair in kind]
    cdm_batch(generator.sample(drawn, min(count, len(drawn))))


def variants() -> None:
    from lmms_eval_finance.metrics.formula import cdm_batch

    generator = random.Random(2)
    print("| rewritten | pairs | exact, reference | exact, default | F1, reference | F1, default |")
    print("| --- | --- | --- | --- | --- | --- |")
    for title, kinds in (("prints the same", SAME), ("prints differently", OTHER)):
        total: dict[str, list[float]] = {"reference": [], "default": []}
        for kind, drawn in pairs(kinds, generator).items():
            cells = {}
            for variant in total:
                scores = cdm_batch(drawn, variant=variant)
                total[variant] += [score.f1 for score in scores]
                cells[variant] = (
                    f"{statistics.fmean(score.exact for score in scores):.0%}",
                    f"{statistics.fmean(score.f1 for score in scores):.3f}",
                )
            rows = [cells[variant][part] for part in (0, 1) for variant in total]
            print(f"| {kind} | {len(drawn)} | {' | '.join(rows)} |")
        exact = {variant: statistics.fmean(f1 == 1 for f1 in values) for variant, values in total.items()}
        print(
            f"| **{title}** | {len(total['default'])} | {exact['reference']:.1%} | {exact['default']:.1%} | | |"
        )


def engines() -> None:
    from lmms_eval_finance.metrics.formula import cdm_batch

    drawn = [pair for kind in pairs({**SAME, **OTHER}, random.Random(3)).values() for pair in kind]
    ours = cdm_batch(drawn, variant="reference")
    tex = cdm_batch(drawn, variant="reference", engine="tex")
    both = [
        (a, b, pair)
        for a, b, pair in zip(ours, tex, drawn, strict=True)
        if a.f1 is not None and b.f1 is not None
    ]
    gaps = [abs(a.f1 - b.f1) for a, b, _ in both]
    for a, b, pair in both:
        if abs(a.f1 - b.f1) > 0.02:
            print(f"mathjax {a.f1:.3f}, tex {b.f1:.3f}: {pair[0]}  ->  {pair[1]}")
    same = sum(a.exact == b.exact for a, b, _ in both)
    print(
        f"mean difference {statistics.fmean(gaps):.4f}, exact decision equal on {same} of {len(both)} pairs"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "variants", "engines", "batch"])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--calls", type=int, default=10)
    args = parser.parse_args()
    if args.what == "speed":
        speed(args.pairs, args.calls)
    elif args.what == "batch":
        batch(args.pairs)
    elif args.what == "variants":
        variants()
    else:
        engines()


if __name__ == "__main__":
    main()
