from __future__ import annotations

import json
import random
import statistics
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.formula import Variant, cdm, cdm_batch, compare_batch, signature
from lmms_eval_finance.metrics.outcomes import Outcome

SAME = [
    (r"P=\frac{D_1}{k-g}", r"```latex" "\n" r"P=\frac{D_1}{k-g}" "\n```"),
    (r"P=\frac{D_1}{k-g}", r"\[ P = \frac { D _ { 1 } } { k - g } \]"),
    (r"x\ne y", r"x\neq y"),
    (r"x\not=y", r"x\ne y"),
    (r"0\le x\ge 1", r"0\leq x\geq 1"),
    (r"\text{ROE}", r"\mathrm{ROE}"),
    (r"\operatorname{Cov}(x)", r"\mathrm{Cov}(x)"),
    (r"\alpha\beta\le\Omega", "αβ≤Ω"),
    ("x", "𝑥"),
    (r"\mathbb{E}", "𝔼"),
    (r"\phi\varphi", "ϕφ"),
    (r"100\%", "100%"),
    (r"100\%", "100％"),
    ("5€", r"\text{5€}"),
    ("5€", r"5\texteuro"),
    ("¥5", "￥5"),
    (r"¥5", r"\yen 5"),
    (r"\$5", r"\text{\$5}"),
    ("净利润=收入-成本", r"\text{净利润}=\text{收入}-\text{成本}"),
    ("净利润=收入-成本", r"\text{净利润=收入-成本}"),
    ("市盈率（PE）", "市盈率(PE)"),
    ("f（a，b）：c；d", "f(a,b):c;d"),
    (r"\sigma_i^2", r"\sigma^2_i"),
    (r"{a\over b}", r"\dfrac{a}{b}"),
    (r"\sum_{i=1}^n x", r"\sum\limits_{i=1}^{n} x"),
    (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", r"\left(\begin{array}{cc}a&b\\c&d\end{array}\right)"),
    (r"\begin{aligned}a&=b\\c&=d\end{aligned}", r"\begin{align*}a&=b\\c&=d\end{align*}"),
    (r"\begin{aligned}a&=b\\c&=d\end{aligned}", r"a&=b\\c&=d"),
    (r"\begin{gathered}a\\b\end{gathered}", r"a\\b"),
    (r"\begin{equation}x=y\tag{1}\end{equation}", r"x=y\qquad(1)"),
    (r"\begin{equation}\label{e}x=y\end{equation}", "x=y"),
    (r"\begin{cases}a&b\\c&d\end{cases}", r"\left\{\begin{array}{ll}a&b\\c&d\end{array}\right."),
    (r"\left.x\right|_0", r"\left.x\right\vert_{0}"),
    (r"\|x\|", r"\Vert x\Vert"),
    ("x''", r"x^{\prime\prime}"),
    ("m²", "m^2"),
    ("90°", r"90^\circ"),
    (r"x^2^3", r"x^2{}^3"),
    (r"x_1_2", r"x_1{}_2"),
    (r"{x_1}^2", r"x_1^2"),
    (r"\text{a \times b}", r"\text{a }\times b"),
    (r"\text{R&D}", r"\text{R\&D}"),
    (r"\text{b\'en\'efice}", r"\text{bénéfice}"),
    (r"\color{red}{x}", "x"),
    (r"\href{http://example.org}{x}", "x"),
    (r"a\quad b", r"a\,b"),
]
DIFFERENT = [
    (r"\hat{x}", "x"),
    (r"\hat{x}", r"\bar{x}"),
    (r"\hat{x}", r"\widehat{x}"),
    (r"\bar{x}", r"\overline{x}"),
    (r"\dot{x}", r"\ddot{x}"),
    (r"\phi", r"\varphi"),
    (r"\epsilon", r"\varepsilon"),
    (r"\mathbb{E}", "E"),
    (r"\mathcal{L}", "L"),
    (r"\mathfrak{g}", "g"),
    (r"\cdots", r"\ldots"),
    (r"x^2", r"x_2"),
    (r"x_{ij}", r"x_{i_j}"),
    (r"e^{rT}", r"e^rT"),
    (r"\frac{a}{b}", r"\frac{b}{a}"),
    (r"\frac{ab+c}{def}", r"\frac{def}{ab+c}"),
    (r"\sqrt{x}", "x"),
    (r"\sqrt[3]{x}", r"\sqrt[4]{x}"),
    (r"\boxed{x}", "x"),
    ("5€", r"5\$"),
    ("ab", "ba"),
    ("1,234.5", "1,243.5"),
    ("a-b", "b-a"),
    (r"a+b=c\\d+e=f", r"d+e=f\\a+b=c"),
    (r"\frac{a}{b}\times\frac{c}{d}", r"\frac{c}{d}\times\frac{a}{b}"),
    (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", r"\begin{bmatrix}a&b\\c&d\end{bmatrix}"),
    (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", r"\begin{pmatrix}d&b\\c&a\end{pmatrix}"),
    ("未", "末"),
]


@pytest.mark.parametrize(("gold", "pred"), SAME)
def test_what_prints_the_same_is_exact(gold: str, pred: str) -> None:
    for variant in ("default", "reference"):
        score = cdm(gold, pred, variant=variant)
        assert (score.f1, score.exact, score.outcome) == (1.0, True, Outcome.CORRECT)


@pytest.mark.parametrize(("gold", "pred"), DIFFERENT)
def test_what_prints_differently_is_not(gold: str, pred: str) -> None:
    score = cdm(gold, pred)
    assert not score.exact
    assert score.f1 is not None
    assert score.f1 < 1


def test_reference_takes_what_the_released_implementation_takes() -> None:
    for gold, pred in [
        ("1,234.5", "1,243.5"),
        (r"x^2", r"x_2"),
        (r"\phi", r"\varphi"),
        (r"\mathbb{E}", "E"),
        (r"\cdots", r"\ldots"),
    ]:
        assert cdm(gold, pred, variant="reference").exact


@pytest.mark.parametrize(
    ("gold", "pred", "outcome", "f1"),
    [
        ("x", "", Outcome.EMPTY, 0.0),
        ("x", "$$ $$", Outcome.EMPTY, 0.0),
        ("x", r"\quad{}", Outcome.EMPTY, 0.0),
        ("x", r"\frac{x", Outcome.UNREADABLE, 0.0),
        ("x", "x}", Outcome.UNREADABLE, 0.0),
        ("x", r"\left(x", Outcome.UNREADABLE, 0.0),
        ("x", r"\begin{cases}x", Outcome.UNREADABLE, 0.0),
        ("x", r"\def\a{\a\a}\a", Outcome.UNREADABLE, 0.0),
        ("x", "{" * 1500 + "x" + "}" * 1500, Outcome.UNREADABLE, 0.0),
        ("x", "x" * 4001, Outcome.TIMED_OUT, 0.0),
        ("x", "x" * 3000, Outcome.TIMED_OUT, 0.0),
        ("x", "x" * 1_000_000, Outcome.TIMED_OUT, 0.0),
        ("x", "y", Outcome.WRONG, 0.0),
        ("x+y", "x-y", Outcome.PARTIAL, 2 / 3),
        (r"\frac{x", "x", Outcome.GOLD_UNUSABLE, None),
        ("", "", Outcome.GOLD_UNUSABLE, None),
        ("x" * 4001, "x", Outcome.GOLD_UNUSABLE, None),
        ("x" * 100_000, "x", Outcome.GOLD_UNUSABLE, None),
    ],
)
def test_outcomes(gold: str, pred: str, outcome: Outcome, f1: float | None) -> None:
    score = cdm(gold, pred)
    assert score.outcome is outcome
    assert score.f1 == pytest.approx(f1) if f1 is not None else score.f1 is None
    assert not score.exact
    assert outcome.scored == (score.f1 is not None)


def test_an_unknown_command_costs_its_token_only() -> None:
    gold = r"E(R_i)=R_f+\beta_i\left(E(R_m)-R_f\right)"
    score = cdm(gold, gold.replace(r"\beta", r"\betaa"))
    assert score.f1 == pytest.approx(2 * 20 / 42)
    assert cdm(r"\foo x", r"\foo x").exact


def test_an_unknown_environment_is_its_content() -> None:
    assert cdm("x+y", r"\begin{foo}x+y\end{foo}").exact


def test_precision_and_recall() -> None:
    score = cdm("a+b", "a+b=c")
    assert (score.precision, score.recall) == (3 / 5, 1.0)
    back = cdm("a+b=c", "a+b")
    assert (back.precision, back.recall) == (1.0, 3 / 5)


def test_nothing_leaks_from_one_formula_to_the_next() -> None:
    plain = cdm(r"\foo\sum x", "x")
    for definition in (
        r"\newcommand{\foo}{a}\renewcommand{\sum}{b}",
        r"\def\foo{a}\def\sum{b}",
        r"\let\sum=\int",
        r"\DeclareMathOperator{\foo}{a}",
        r"\newenvironment{cases}{a}{b}",
        r"\DeclarePairedDelimiter{\foo}{a}{b}",
        r"\label{a}\tag{1}",
        r"\frac{",
        r"\require{physics}",
        r"\definecolor{red}{rgb}{0,0,0}",
    ):
        cdm("x", definition)
        assert cdm(r"\foo\sum x", "x") == plain
    assert cdm(r"\label{a}x", r"\label{a}x").exact


def test_wrong_usage_is_said() -> None:
    with pytest.raises(ValueError, match="use one of default, reference"):
        cdm("x", "x", variant="strict")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="use one of mathjax, tex"):
        cdm("x", "x", engine="katex")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="variant='reference'"):
        cdm("x", "x", engine="tex")


def test_signatures_differ_by_variant() -> None:
    assert set(signature("default").differences(signature("reference"))) == {"variant"}


LETTERS = "abcdefgxyzABC"
atoms = st.sampled_from([*LETTERS, *"123", r"\alpha", r"\sigma", "+", "-", "=", "(", ")", r"\text{净}", ","])


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(parts, min_size=1, max_size=4).map(" ".join)


def composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    part = joined(inner)
    return st.one_of(
        st.tuples(part, part).map(lambda p: rf"\frac{{{p[0]}}}{{{p[1]}}}"),
        st.tuples(st.sampled_from(LETTERS), part).map(lambda p: rf"{p[0]}_{{{p[1]}}}"),
        st.tuples(st.sampled_from(LETTERS), part, part).map(lambda p: rf"{p[0]}_{{{p[1]}}}^{{{p[2]}}}"),
        part.map(lambda p: rf"\sqrt{{{p}}}"),
        part.map(lambda p: rf"\hat{{{p}}}"),
        st.tuples(part, part).map(lambda p: rf"\begin{{pmatrix}}{p[0]}&{p[1]}\\a&b\end{{pmatrix}}"),
        part.map(lambda p: rf"\left({p}\right]"),
    )


formulas = joined(st.recursive(atoms, composed, max_leaves=10))
variants = st.sampled_from(["default", "reference"])
lightly = settings(deadline=None, max_examples=40)


@lightly
@given(formulas, variants)
def test_a_formula_is_itself(formula: str, variant: Variant) -> None:
    score = cdm(formula, formula, variant=variant)
    assert (score.f1, score.precision, score.recall, score.exact) == (1.0, 1.0, 1.0, True)


@lightly
@given(formulas, formulas)
def test_f1_is_bounded_and_symmetric(gold: str, pred: str) -> None:
    score, back = cdm(gold, pred), cdm(pred, gold)
    assert score.f1 is not None
    assert 0 <= score.f1 <= 1
    assert (score.f1, score.precision, score.recall) == (back.f1, back.recall, back.precision)
    assert score.exact == (score.f1 == 1)


@lightly
@given(formulas, st.randoms(use_true_random=False), variants)
def test_one_changed_glyph_lowers_it(formula: str, generator: random.Random, variant: Variant) -> None:
    at = [i for i, char in enumerate(formula) if char in "123"]
    assume(at)
    i = generator.choice(at)
    score = cdm(formula, formula[:i] + "7" + formula[i + 1 :], variant=variant)
    assert score.f1 is not None
    assert score.f1 < 1
    assert not score.exact


@lightly
@given(formulas, formulas, variants)
def test_white_space_and_braces_do_not_matter(gold: str, pred: str, variant: Variant) -> None:
    braced = "{" + pred.replace(" ", "  ") + "}"
    for letter in "xyz":  # in places where they are whole atoms
        braced = braced.replace(f" {letter} ", f" {{{letter}}} ")
    assert cdm(gold, f"\n{braced} ", variant=variant) == cdm(gold, pred, variant=variant)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(formulas, formulas), max_size=6), st.randoms(use_true_random=False), variants)
def test_a_batch_is_its_items_in_any_order(
    pairs: list[tuple[str, str]], generator: random.Random, variant: Variant
) -> None:
    one_by_one = [cdm(gold, pred, variant=variant) for gold, pred in pairs]
    order = list(range(len(pairs)))
    generator.shuffle(order)
    scores = cdm_batch([pairs[i] for i in order], variant=variant)
    assert scores == [one_by_one[i] for i in order]


COMMANDS = [
    r"\\",
    r"\frac",
    r"\left",
    r"\right",
    r"\begin{array}",
    r"\end{array}",
    r"\begin{cases}",
    r"\text",
    r"\sqrt",
    r"\over",
    r"\hline",
    r"\tag",
    r"\def\x",
    r"\color",
    r"\rule",
    r"\unicode",
    r"\mathop",
    r"\limits",
    r"\middle|",
    r"\hat",
    r"\not",
    r"\href",
    r"\verb",
    r"\ref",
    r"\label",
    r"\cssId",
    r"\style",
    r"\mmlToken",
    r"1em",
]


@settings(deadline=None, max_examples=150)
@given(
    st.one_of(
        st.text(max_size=30),
        st.lists(
            st.sampled_from([*"{}[]()^_&%$#~'\"\\ \n€净😀\ud800", *COMMANDS]),
            max_size=14,
        ).map("".join),
    )
)
def test_anything_a_model_writes_gets_a_score(pred: str) -> None:
    score = cdm("x+1", pred)
    assert score.f1 is not None
    assert 0 <= score.f1 <= 1


def test_parity_with_the_reference(shared_dir: Path) -> None:
    lines = (shared_dir / "cases" / "formulas.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [
        row
        for row in map(json.loads, lines)
        if row["reference_f1"] is not None and "reference_fault" not in row
    ]
    scores = cdm_batch([(row["gt"], row["pred"]) for row in rows], variant="reference")
    gaps = [abs((score.f1 or 0) - row["reference_f1"]) for score, row in zip(scores, rows, strict=True)]
    same = [score.exact == (row["reference_f1"] == 1) for score, row in zip(scores, rows, strict=True)]
    assert statistics.fmean(gaps) <= 0.005
    assert statistics.fmean(same) >= 0.95


def test_compare_says_which_glyphs_match() -> None:
    (comparison,) = compare_batch([("a+b", "$a-b$")])
    assert [
        (comparison.gold.glyphs[i].char, comparison.pred.glyphs[j].char) for i, j in comparison.pairs
    ] == [
        ("a", "a"),
        ("b", "b"),
    ]
    assert comparison.pred_source == "a-b"
