from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from pathlib import Path

import pytest

from lmms_eval_finance.metrics.formula import EngineError, cdm_batch, signature, tex
from lmms_eval_finance.metrics.formula.source import clean
from lmms_eval_finance.metrics.outcomes import Outcome


def _has_tex() -> bool:
    if not shutil.which("pdflatex") or not shutil.which("kpsewhich"):
        return False
    found = subprocess.run(
        ["kpsewhich", "amsmath.sty", "amssymb.sty"], capture_output=True, text=True, check=False
    )
    return len(found.stdout.split()) == 2


needs_tex = pytest.mark.skipif(not _has_tex(), reason="pdflatex with amsmath is not installed")


def read(*sources: str) -> list[str]:
    return [
        " ".join(f"{glyph.kind}:{glyph.char}" if glyph.kind else glyph.char for glyph in layout.glyphs)
        for layout in tex.layouts([clean(source) for source in sources])
    ]


@needs_tex
def test_large_and_composed_signs_are_one_glyph() -> None:
    tall = r"\begin{array}{c}a\\b\\c\\d\\e\end{array}"
    assert read(
        rf"\left({tall}\right\}}",
        rf"\left\{{{tall}\right|",
        rf"\sqrt{{{tall}}}",
        "((||x",
        r"x\ne y\Longrightarrow z",
        r"\underbrace{abc}_n",
        r"\left[\frac{a}{b}\right]",
        r"\widehat{xyz}\bar{x}",
        r"\text{office}",
        r"\ldots\sum_i\int_0^1",
    ) == [
        "( a b c d e }",
        "{ a b c d e |",
        "radical:√ a b c d e",
        "( ( | | x",
        "x ≠ y =⇒ z",
        "a b c accent:⏞ n",
        "[ a b ] fraction:─",
        "x y z accent:^ x accent:¯",
        "o f f i c e",
        ". . . ∑ i ∫ 1 0",
    ]


@needs_tex
def test_broken_and_hostile_sources_cost_only_themselves(tmp_path: Path) -> None:
    secret = tmp_path / "secret.tex"
    secret.write_text("stolen", encoding="utf-8")
    sources = [
        "x",
        r"\frac{x",
        "x}",
        r"\begin{cases}x",
        rf"\input{{{secret}}}",
        r"\csname input\endcsname{x}",
        r"^^5cinput x",
        r"\def\x{\x}\x",
        r"\write18{touch pwned}",
        r"\end{document}",
        r"\shipout\hbox{x}",
        "x" * 5000,
        r"\left(x",
        r"\frac{a}",
        r"x^2^3",
        r"\foo y",
        r"a&=b\\c&=d",
        r"\begin{align*}a&=b\end{align*}",
        "y",
    ]
    layouts = tex.layouts(sources)
    assert [layout.problem for layout in layouts[1:11]] == [Outcome.UNREADABLE] * 10
    assert layouts[11].problem is Outcome.TIMED_OUT
    assert read("x", *sources[12:]) == [
        "x",
        "( x",
        "a fraction:─",
        "x 2 3",
        "y",
        "a = b c = d",
        "a = b",
        "y",
    ]


@needs_tex
def test_tex_itself_is_kept_from_files_and_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tex, "_problem", lambda source: None)  # whatever would get past the list
    secret, written = tmp_path / "secret.tex", tmp_path / "written"
    secret.write_text("stolen", encoding="utf-8")
    layouts = tex.layouts(
        [
            rf"\input{{{secret}}}y",
            rf"\newread\r\openin\r={secret} \read\r to\x \x",
            rf"\immediate\write18{{touch {written}}}z",
            rf"\newwrite\w\immediate\openout\w={written} z",
        ]
    )
    printed = ["".join(glyph.char for glyph in layout.glyphs) for layout in layouts]
    assert "stolen" not in "".join(printed)
    assert not written.exists()


@needs_tex
def test_a_run_that_loses_a_page_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    # `\stop` ends the run; here it slips through.
    monkeypatch.setattr(tex, "_problem", lambda source: None)
    a, b, c, d = tex.layouts(["a", "b", r"\stop", "d"])
    assert [layout.glyphs[0].char for layout in (a, b, d)] == ["a", "b", "d"]
    assert c.problem is Outcome.UNREADABLE


@needs_tex
def test_a_run_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tex, "_problem", lambda source: None)
    monkeypatch.setattr(tex, "TIME_LIMIT", 2.0)
    start = time.perf_counter()
    (layout,) = tex.layouts([r"\def\x{\x}\x"])
    assert layout.problem is Outcome.TIMED_OUT
    assert time.perf_counter() - start < 30


@needs_tex
def test_engines_agree() -> None:
    pairs = [
        (r"P=\frac{D_1}{k-g}", r"P=\frac{D_1}{k+g}"),
        (
            r"d_1=\frac{\ln(S/K)+(r+\frac{\sigma^2}{2})T}{\sigma\sqrt{T}}",
            r"d_1=\frac{\ln(S/K)+rT}{\sigma\sqrt{T}}",
        ),
        (r"\sigma^2", r"\sigma_2"),
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", r"\begin{pmatrix}a&c\\b&d\end{pmatrix}"),
        (r"\sum_{t=1}^{T}\frac{CF_t}{(1+r)^t}", r"\sum_{t=0}^{T}\frac{CF_t}{(1+r)^t}"),
        (r"\left|\frac{\Delta P}{P}\right|\approx D", r"\left|\frac{\Delta P}{P}\right|=D"),
        (r"\hat{x}+\vec{y}", r"x+\vec{y}"),
        (r"x\ne y", r"x=y"),
    ]
    ours = cdm_batch(pairs, variant="reference")
    theirs = cdm_batch(pairs, variant="reference", engine="tex")
    gaps = [abs((a.f1 or 0) - (b.f1 or 0)) for a, b in zip(ours, theirs, strict=True)]
    assert statistics.fmean(gaps) < 0.01
    assert [a.exact for a in ours] == [b.exact for b in theirs]


@needs_tex
def test_signature_names_the_engine() -> None:
    assert dict(signature("reference", "tex").fields)["engine"].startswith("tex-1.")


def test_absence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    tex._pdflatex.cache_clear()
    monkeypatch.setattr(tex.shutil, "which", lambda name: None)
    with pytest.raises(EngineError, match="apt-get install"):
        tex.layouts(["x"])
    monkeypatch.undo()
    tex._pdflatex.cache_clear()
