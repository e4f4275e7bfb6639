"""CDM of a pair of formulas and of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lmms_eval_finance.metrics.formula import mathjax, tex
from lmms_eval_finance.metrics.formula.glyphs import Layout, Variant
from lmms_eval_finance.metrics.formula.matching import match
from lmms_eval_finance.metrics.formula.source import clean
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.signature import Signature

Engine: TypeAlias = Literal["mathjax", "tex"]

VERSIONS: Mapping[Variant, str] = {"default": "1", "reference": "1"}
"""Version of each variant's definition, for signatures; it changes whenever a value can."""
_MAX_TEXT = 50_000


@dataclass(frozen=True)
class CDMScore:
    """How well a formula was read.

    Attributes:
        f1, precision, recall: shares of matched glyphs, in [0, 1]; None when the gold cannot be
            typeset (outcome `gold_unusable`), so that no mean can take it for a zero.
        exact: every glyph of both formulas is matched. Its share is ExpRate@CDM.
        outcome: correct, partial or wrong; empty (nothing printed), unreadable (broken LaTeX) or
            timed_out (over a limit), which all score 0; gold_unusable.
    """

    f1: float | None
    precision: float | None
    recall: float | None
    exact: bool
    outcome: Outcome


@dataclass(frozen=True)
class Comparison:
    """A score with what it came from: both cleaned sources and layouts and the matched glyphs.

    `pairs` holds (index in the gold's glyphs, index in the prediction's).
    """

    score: CDMScore
    gold_source: str
    pred_source: str
    gold: Layout
    pred: Layout
    pairs: tuple[tuple[int, int], ...] = ()


def cdm(gold: str, pred: str, *, variant: Variant = "default", engine: Engine = "mathjax") -> CDMScore:
    r"""Character detection matching of two formulas (Wang et al. 2024, arXiv 2409.03643).

    Both are typeset; their glyphs are matched by what they print and where (`matching.match`);
    F1 is twice the matches over the glyphs of both.

    Args:
        gold: LaTeX of the gold formula; fences and delimiters do not matter (`source.clean`).
        pred: what the model wrote.
        variant: `reference` follows the released implementation: glyphs match whatever their
            alphabet and wherever they stand within 20 pixels, so that swapped sub- and superscripts
            are right. `default` also compares the alphabet and the vertical place, script by script,
            and gives the same F1 whichever formula comes first.
        engine: `mathjax`, or `tex` (pdflatex; variant `reference` only).

    Raises:
        ValueError: an unknown variant or engine, or one that the other does not know.
        EngineError: the engine is not installed; the message says what to install.

    >>> cdm(r"\frac{a}{b}+c", r"$$ {a \over b} + c $$").exact
    True
    >>> cdm(r"\sigma^2", r"\sigma_2").f1, cdm(r"\sigma^2", r"\sigma_2", variant="reference").f1
    (0.5, 1.0)
    >>> cdm("x", r"\frac{x").outcome.value, cdm(r"\frac{x", "x").f1
    ('unreadable', None)
    """
    return cdm_batch([(gold, pred)], variant=variant, engine=engine)[0]


def cdm_batch(
    pairs: Iterable[tuple[str, str]], *, variant: Variant = "default", engine: Engine = "mathjax"
) -> list[CDMScore]:
    """`cdm` of many pairs (gold, prediction), in order; the engine typesets them together.

    >>> [score.f1 for score in cdm_batch([("x+y", "x+y"), ("x+y", "x-y")])]
    [1.0, 0.6666666666666666]
    """
    return [comparison.score for comparison in compare_batch(pairs, variant=variant, engine=engine)]


def compare_batch(
    pairs: Iterable[tuple[str, str]], *, variant: Variant = "default", engine: Engine = "mathjax"
) -> list[Comparison]:
    """`cdm_batch` with layouts and matched glyphs, for reports."""
    _check(variant, engine)
    sources = [(_source(gold), _source(pred)) for gold, pred in pairs]
    distinct = list(dict.fromkeys(source for pair in sources for source in pair if source))
    layouts = dict(zip(distinct, _ENGINES[engine](distinct), strict=True))
    layouts[""] = Layout()
    too_long = Layout(problem=Outcome.TIMED_OUT, message=f"longer than {_MAX_TEXT} characters")
    return [
        _compare(
            gold or "",
            pred or "",
            too_long if gold is None else layouts[gold],
            too_long if pred is None else layouts[pred],
            variant,
        )
        for gold, pred in sources
    ]


def signature(variant: Variant = "default", engine: Engine = "mathjax") -> Signature:
    """What must agree before two CDM figures are compared.

    >>> str(signature())
    'metric:cdm|variant:default|version:1|engine:mathjax-3...'
    """
    _check(variant, engine)
    return Signature.of(
        metric="cdm",
        variant=variant,
        version=VERSIONS[variant],
        engine=f"{engine}-{_ENGINE_VERSIONS[engine]()}",
    )


_ENGINES: Mapping[Engine, Callable[[Sequence[str]], list[Layout]]] = {
    "mathjax": mathjax.layouts,
    "tex": tex.layouts,
}
_ENGINE_VERSIONS: Mapping[Engine, Callable[[], str]] = {"mathjax": mathjax.version, "tex": tex.version}


def _check(variant: str, engine: str) -> None:
    if variant not in VERSIONS:
        raise ValueError(f"unknown CDM variant {variant!r}: use one of {', '.join(VERSIONS)}")
    if engine not in _ENGINES:
        raise ValueError(f"unknown CDM engine {engine!r}: use one of {', '.join(_ENGINES)}")
    if engine == "tex" and variant != "reference":
        raise ValueError("the engine 'tex' sees no scripts: use variant='reference' with it")


def _source(text: str) -> str | None:
    """The cleaned source; None when the text is too long to be looked at."""
    return clean(text) if len(text) <= _MAX_TEXT else None


def _compare(gold_source: str, pred_source: str, gold: Layout, pred: Layout, variant: Variant) -> Comparison:
    pairs: Sequence[tuple[int, int]] = ()
    if gold.problem or not gold.glyphs:
        score = CDMScore(None, None, None, exact=False, outcome=Outcome.GOLD_UNUSABLE)
    elif pred.problem or not pred.glyphs:
        score = CDMScore(0.0, 0.0, 0.0, exact=False, outcome=pred.problem or Outcome.EMPTY)
    else:
        pairs = match(gold.glyphs, pred.glyphs, variant)
        score = _score(len(pairs), len(gold.glyphs), len(pred.glyphs))
    return Comparison(score, gold_source, pred_source, gold, pred, tuple(pairs))


def _score(matched: int, gold: int, pred: int) -> CDMScore:
    exact = matched == gold == pred
    outcome = Outcome.CORRECT if exact else Outcome.PARTIAL if matched else Outcome.WRONG
    return CDMScore(2 * matched / (gold + pred), matched / pred, matched / gold, exact, outcome)
