"""The engine "tex": all formulas in one sandboxed run of pdflatex, glyph boxes read from the PDF.

For comparing with the reference implementation, which typesets with TeX; it needs
pdflatex with amsmath (and the CJK package with its gkai font for Chinese). The run has no shell escape, reads and writes nothing outside its scratch
folder and the TeX installation, and is bounded in time; sources that program TeX are
not let in. Formulas stand each on a page of its own size, so none is clipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from lmms_eval_finance.metrics.formula.glyphs import (
    MAX_CHARACTERS,
    MAX_GLYPHS,
    Box,
    EngineError,
    Glyph,
    Layout,
    glyphs_of,
)
from lmms_eval_finance.metrics.outcomes import Outcome

TIME_LIMIT = 20.0
"""Seconds of one run, to which each formula adds a twentieth."""
_FORMULAS_A_RUN = 400
_EM = 12 * 72 / 72.27  # of a 12 pt document, in PDF points

# Whatever defines, loops, or could reach files, other formulas or the run itself, and the ways to spell it.
_FORBIDDEN = re.compile(
    r"\^\^|\\(?:csname|[egx]?def(?![a-z])|(?:future)?let(?![a-z])|(?:re)?new|provide|Declare|global|(?:cat|lc|uc)code"
    r"|(?:end)?input|include|open(?:in|out)|read(?:line)?(?![a-z])|write|immediate|special|shipout|pdf|stop(?![a-z])"
    r"|end\s*\{?\s*document|dump|(?:batch|scroll|nonstop|errorstop)mode|loop(?![a-z])|every|output|after|expandafter"
    r"|scantokens|message|typeout|errmessage|show|trac|verb|begin\s*\{\s*verbatim|makeat|usepackage"
    r"|documentclass|Require|NewDocument|lowercase|uppercase|string(?![a-z])|(?:endline|escape|newline)char"
    r"|par(?![a-z])|page(?![a-z])|jobname|font(?![a-z]))"
)
_TOKEN = re.compile(r"\\(begin|end)\s*\{\s*([A-Za-z]+\*?)\s*\}|\\.|[{}&]", re.DOTALL)
# Display environments have no place inside a formula; what they print has.
_INNER = {
    **dict.fromkeys(("equation", "displaymath", "math"), ""),
    **dict.fromkeys(("align", "eqnarray", "flalign", "alignat"), "aligned"),
    **dict.fromkeys(("gather", "multline"), "gathered"),
    "tabular": "array",
}

# pdfTeX knows the Unicode value of most glyphs, but not of the sizes and pieces of large signs.
_SIZES = ("", "big", "Big", "bigg", "Bigg", "tp", "bt", "ex", "mid")
_LARGE = {
    **{f"parenleft{size}": "(" for size in _SIZES}, **{f"parenright{size}": ")" for size in _SIZES},
    **{f"bracketleft{size}": "[" for size in _SIZES}, **{f"bracketright{size}": "]" for size in _SIZES},
    **{f"braceleft{size}": "{" for size in _SIZES}, **{f"braceright{size}": "}" for size in _SIZES},
    **{f"angbracketleft{size}": "⟨" for size in _SIZES}, **{f"angbracketright{size}": "⟩" for size in _SIZES},
    **{f"floorleft{size}": "⌊" for size in _SIZES}, **{f"floorright{size}": "⌋" for size in _SIZES},
    **{f"ceilingleft{size}": "⌈" for size in _SIZES}, **{f"ceilingright{size}": "⌉" for size in _SIZES},
    **{f"slash{size}": "/" for size in _SIZES}, **{f"backslash{size}": "\\" for size in _SIZES},
    **{f"radical{size}": "√" for size in (*_SIZES, "vertex")},
    **{
        f"{name}{style}": sign
        for style in ("text", "display")
        for name, sign in {
            "summation": "∑", "product": "∏", "integral": "∫", "contintegral": "∮", "coproduct": "∐",
            "union": "⋃", "intersection": "⋂", "logicaland": "⋀", "logicalor": "⋁", "unionmulti": "⨄",
            "circledot": "⨀", "circleplus": "⨁", "circlemultiply": "⨂", "unionsq": "⨆",
        }.items()
    },
    "braceex": "⎪", "arrowvertex": "|", "arrowvertexdbl": "‖", "vextendsingle": "|", "vextenddouble": "‖", "mapsto": "↦",
    **dict.fromkeys(("hatwide", "hatwider", "hatwidest"), "ˆ"),
    **dict.fromkeys(("tildewide", "tildewider", "tildewidest"), "˜"),
    **{f"bracehtip{end}": "⏞" for end in ("downleft", "downright", "upleft", "upright")},
}  # fmt: skip
_PREAMBLE = r"""\documentclass[12pt]{article}
\usepackage{amsmath,amssymb}
\makeatletter
\@for\name:=mathtools,upgreek,cancel,textcomp,CJK\do{\IfFileExists{\name.sty}{\usepackage{\name}}{}}
\makeatother
\input{glyphtounicode}\pdfgentounicode=1
%s
\hoffset=-1in \voffset=-1in
\def\page#1{\setbox0\hbox{$\displaystyle{} #1\relax$}%%
  \pdfpagewidth=\dimexpr\wd0+20pt\relax \pdfpageheight=\dimexpr\ht0+\dp0+20pt\relax
  \shipout\vbox{\kern10pt\moveright10pt\box0}\setbox0\vbox{x\par}}
\begin{document}
\ifdefined\CJK\begin{CJK}{UTF8}{gkai}\fi
%s
\ifdefined\CJK\end{CJK}\fi
\end{document}
"""
_ACCENTS = {
    "ˆ": "^",
    "˜": "~",
    "¯": "¯",
    "˙": "˙",
    "¨": "¨",
    "ˇ": "ˇ",
    "˘": "˘",
    "´": "´",
    "`": "`",
    "⃗": "→",
    "⏞": "⏞",
}

_PDFIUM = threading.Lock()  # PDFium is not thread-safe


@lru_cache(maxsize=1)
def version() -> str:
    """The version of pdfTeX, for signatures.

    Raises:
        EngineError: pdflatex is not installed.
    """
    shown = subprocess.run(
        [_pdflatex(), "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    found = re.search(r"pdfTeX \S*?-([\d.]+)\s", shown.stdout)
    return found.group(1) if found else "unknown"


def layouts(sources: Sequence[str]) -> list[Layout]:
    """The layout of each cleaned source, in order.

    Raises:
        EngineError: pdflatex is not installed.
    """
    _pdflatex()
    found: dict[int, Layout] = {}
    pages: dict[int, str] = {}
    for index, source in enumerate(sources):
        problem = _problem(source)
        if problem:
            found[index] = problem
        else:
            pages[index] = _page(source)
    todo = list(pages)
    for at in range(0, len(todo), _FORMULAS_A_RUN):
        part = todo[at : at + _FORMULAS_A_RUN]
        found.update(zip(part, _run([pages[index] for index in part]), strict=True))
    return [found[index] for index in range(len(sources))]


def _problem(source: str) -> Layout | None:
    """Why a source is not given to TeX: too long, programming, or not closed."""
    if len(source) > MAX_CHARACTERS:
        return Layout(problem=Outcome.TIMED_OUT, message=f"longer than {MAX_CHARACTERS} characters")
    command = _FORBIDDEN.search(source)
    if command:
        return Layout(problem=Outcome.UNREADABLE, message=f"{command.group()} is not let into TeX")
    open_ones: list[str] = []
    for token in _TOKEN.finditer(source):
        kind, name = token.group(1, 2)
        if token.group() == "{" or kind == "begin":
            open_ones.append(name or "{")
        elif (token.group() == "}" or kind == "end") and (not open_ones or open_ones.pop() != (name or "{")):
            return Layout(problem=Outcome.UNREADABLE, message=f"{token.group()} closes nothing")
    if open_ones:
        return Layout(problem=Outcome.UNREADABLE, message=f"{open_ones[-1]} is not closed")
    return None


def _page(source: str) -> str:
    """A source as pdflatex takes it inside a formula."""

    def environment(match: re.Match[str]) -> str:
        if not match.group(1):
            return match.group()
        inner = _INNER.get(match.group(2).rstrip("*"))
        return match.group() if inner is None else f"\\{match.group(1)}{{{inner}}}" if inner else ""

    depth, lines = 0, False
    for token in _TOKEN.finditer(source):
        depth += {"begin": 1, "end": -1}.get(token.group(1) or "", {"{": 1, "}": -1}.get(token.group(), 0))
        lines |= depth == 0 and token.group() in ("&", r"\\")
    source = _TOKEN.sub(environment, source)
    # pdfTeX has no Unicode in formulas.
    source = re.sub(r"[^\x00-\x7f]+", lambda match: rf"\text{{{match.group()}}}", source)
    return rf"\begin{{aligned}}{source}\end{{aligned}}" if lines else source


def _run(pages: Sequence[str]) -> list[Layout]:
    """The layouts of these pages; a run that fails is halved until the culprit stands alone."""
    if not pages:
        return []
    try:
        pdf = _typeset(pages)
        if pdf is not None:
            read = _read(pdf, len(pages))
            if read is not None:
                return read
        alone = Layout(problem=Outcome.UNREADABLE, message="pdflatex produced no page")
    except subprocess.TimeoutExpired:
        alone = Layout(problem=Outcome.TIMED_OUT, message="pdflatex took too long")
    if len(pages) == 1:
        return [alone]
    middle = len(pages) // 2
    return _run(pages[:middle]) + _run(pages[middle:])


def _typeset(pages: Sequence[str]) -> bytes | None:
    names = "".join(
        rf"\pdfglyphtounicode{{{name}}}{{{ord(sign):04X}}}" + "\n" for name, sign in _LARGE.items()
    )
    document = _PREAMBLE % (names, "\n".join(rf"\page{{{page}}}" for page in pages))
    with tempfile.TemporaryDirectory(prefix="cdm-") as scratch:
        folder = Path(scratch)
        folder.joinpath("formulas.tex").write_text(document, encoding="utf-8")
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": scratch,
            "TEXMFOUTPUT": scratch,
            "openin_any": "p",
            "openout_any": "p",
            "shell_escape": "f",
            **dict.fromkeys(("MKTEXPK", "MKTEXTFM", "MKTEXMF", "MKTEXFMT"), "0"),
        }
        subprocess.run(
            [_pdflatex(), "-no-shell-escape", "-interaction=batchmode", "formulas.tex"],
            cwd=scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIME_LIMIT + len(pages) / 20,
            check=False,
        )
        pdf = folder / "formulas.pdf"
        return pdf.read_bytes() if pdf.is_file() else None


def _read(pdf: bytes, expected: int) -> list[Layout] | None:
    """The layouts of all pages; None where the file is broken or their number is not the formulas'."""
    import pypdfium2

    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(pdf)
        except pypdfium2.PdfiumError:
            return None
        try:
            if len(document) != expected:
                return None
            return [_layout(list(_marks(page))) for page in document]
        finally:
            document.close()


_Mark = tuple[str, Box]


def _marks(page: Any) -> Iterator[_Mark]:
    """The characters and rules (as an empty text) of a page, in em from its lower left margin."""
    import pypdfium2.raw as raw

    def em(left: float, bottom: float, right: float, top: float) -> Box:
        return (left / _EM, bottom / _EM, right / _EM, top / _EM)

    text = page.get_textpage()
    last = None
    for index in range(text.count_chars()):
        if raw.FPDFText_IsGenerated(text, index) == 1:
            continue
        code = raw.FPDFText_GetUnicode(text, index)
        if not code or 0xD800 <= code < 0xE000:
            continue
        mark = (chr(code), em(*text.get_charbox(index)))
        if last and last[1] == mark[1]:  # a ligature
            last = (last[0] + mark[0], mark[1])
            continue
        if last:
            yield last
        last = mark
    if last:
        yield last
    for rule in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH]):
        yield "", em(*rule.get_bounds())


def _layout(marks: Sequence[_Mark]) -> Layout:
    """Glyphs of characters and rules: pieces, bars of roots, struck and composed signs put together."""
    signs: list[_Mark] = []
    for char, box in marks:
        if char and signs and signs[-1][0]:
            before, old = signs[-1]
            if before == "\u0338":
                signs[-1] = (unicodedata.normalize("NFC", char + before), _union(old, box))
                continue
            if _pieces(before, char) and (char == "⏞" or _stacked(old, box)):
                signs[-1] = (char if before == "⎪" else before, _union(old, box))
                continue
            if _symbols(before + char) and box[0] < old[2] - 0.02 and abs(box[1] - old[1]) < 0.5:
                signs[-1] = (before + char, _union(old, box))
                continue
        elif not char:
            root = next((i for i, (sign, old) in enumerate(signs) if sign == "√" and _bar_of(old, box)), None)
            if root is not None:
                signs[root] = ("√", _union(signs[root][1], box))
                continue
        signs.append((char, box))
    if len(signs) > MAX_GLYPHS:
        return Layout(problem=Outcome.TIMED_OUT, message=f"more than {MAX_GLYPHS} glyphs")
    return Layout(tuple(glyph for char, box in signs for glyph in _glyphs(char, box)))


def _glyphs(char: str, box: Box) -> Iterator[Glyph]:
    if not char:
        yield Glyph("─", "fraction", "", box)
    elif char == "√":
        yield Glyph(char, "radical", "", box)
    elif char in _ACCENTS:
        yield Glyph(_ACCENTS[char], "accent", "", box)
    elif _symbols(char) and len(char) > 1:
        yield Glyph(char, "", "", box)
    else:
        yield from glyphs_of(char, "", "", box)


def _symbols(text: str) -> bool:
    return all(unicodedata.category(char) == "Sm" for char in text)


def _union(one: Box, other: Box) -> Box:
    return (min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3]))


def _pieces(one: str, other: str) -> bool:
    """Whether two characters can be pieces of one large sign."""
    return one == other or (one in "{}" and other == "⎪") or (one == "⎪" and other in "{}")


def _stacked(one: Box, other: Box) -> bool:
    """Whether one box continues the other upwards or downwards."""
    gap = max(one[1], other[1]) - min(one[3], other[3])
    return min(one[2], other[2]) > max(one[0], other[0]) - 0.05 and abs(gap) < 0.15


def _bar_of(root: Box, rule: Box) -> bool:
    return abs(root[2] - rule[0]) < 0.1 and abs(root[3] - rule[3]) < 0.1


@lru_cache(maxsize=1)
def _pdflatex() -> str:
    found = shutil.which("pdflatex")
    if not found:
        raise EngineError(
            "the engine 'tex' needs pdflatex (Debian: apt-get install texlive-latex-extra texlive-lang-chinese);"
            " the engine 'mathjax' needs no TeX"
        )
    return found
