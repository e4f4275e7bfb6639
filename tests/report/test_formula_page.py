from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lxml import html as lxml_html

from lmms_eval_finance.metrics.formula import compare_batch, signature
from lmms_eval_finance.report.formula_page import render

HOSTILE = [
    "<script>alert(1)</script>",
    r"\text{</text></svg><script>alert(1)</script>}",
    r"\href{javascript:alert(1)}{x}",
    r"\style{background:url(http://evil.example/)}{y}",
    r'\class{"><img src=x onerror=alert(1)>}{z}',
    r'\cssId{a" onload="alert(1)}{w}',
    r"\unicode[x;position:fixed]{x3C}script",
    r'\mmlToken{mi}[href="javascript:alert(1)" onclick="alert(1)"]{q}',
    r"\color{red;background:url(http://evil.example/)}{x}\colorbox{red}{y}",
    r"\text{&lt;script&gt; &amp; \]]> <!-- -->}",
    "\ud800<b>",
]


def page(*pairs: tuple[str, str], **options: object) -> str:
    return render(compare_batch(pairs), signature(), **options)  # type: ignore[arg-type]


def test_every_glyph_has_its_box() -> None:
    text = page((r"P=\frac{D_1}{k-g}", r"P=\frac{D_1}{k+g}"))
    assert len(re.findall('<rect class="hit"', text)) == 14
    assert len(re.findall('<rect class="miss"', text)) == 2
    assert "F1 0.8750" in text
    assert "1 (numerator, lowered): matched" in text
    assert "metric:cdm|variant:default" in text


@pytest.mark.parametrize("latex", HOSTILE)
def test_hostile_formulas_stay_text(latex: str) -> None:
    text = page(("x", latex), (latex, "x"), ids=["<img src=x onerror=alert(1)>", '\ud800"><script>'])
    tree = lxml_html.document_fromstring(text.encode("utf-8"))
    allowed = {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "h1",
            "h2",
            "p",
            "span",
            "div",
            "section",
            "code",
        ),
        *(
            "table",
            "tbody",
            "tr",
            "th",
            "td",
            "svg",
            "g",
            "rect",
            "path",
            "use",
            "text",
            "defs",
            "line",
            "ellipse",
        ),
    }
    assert {element.tag for element in tree.iter()} <= allowed
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name != "style"
            assert not (name == "href" and not re.fullmatch(r"#s\d+", value))
            assert "javascript" not in value
            assert "http" not in value or name == "http-equiv"


def test_it_says_why_there_is_no_drawing() -> None:
    text = page(("x", r"\frac{"), ("x", ""), ("x", "x" * 5000), (r"\left(", "x"))
    for message in ("Missing close brace", "prints nothing", "longer than 4000 characters", "not scored"):
        assert message in text
    assert "pairs scored</th><td>3 of 4" in text


def test_worst_first_and_no_more_than_asked_for() -> None:
    text = page(("a", "a"), ("a", "b"), ("a+b", "a-b"), ids=["right", "wrong", "partly"], limit=2)
    assert text.index("wrong:") < text.index("partly:")
    assert "right:" not in text
    assert "1 more pairs are not drawn" in text


def test_an_empty_page_has_no_mean() -> None:
    assert "mean F1" not in page()


@pytest.mark.skipif(not shutil.which("chromium"), reason="Chromium is not installed")
def test_a_browser_shows_it(tmp_path: Path) -> None:
    pairs = [(r"P=\frac{D_1}{k-g}", r"P=\frac{D_1}{k+g}"), *(("x", latex) for latex in HOSTILE)]
    tmp_path.joinpath("page.html").write_text(page(*pairs), encoding="utf-8")
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--virtual-time-budget=2000",
        "--dump-dom",
    ]
    shown = subprocess.run(
        ["chromium", *flags, f"--user-data-dir={tmp_path / 'profile'}", f"file://{tmp_path / 'page.html'}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    assert shown.count('class="miss"') > 2
    assert "<script" not in shown
