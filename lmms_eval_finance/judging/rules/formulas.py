r"""Golds in LaTeX that are formulas rather than figures.

Two formulas that read the same are the same; two that read differently may still be equal
(terms in another order), so a difference leaves the answer open.
"""

from __future__ import annotations

import re

from lmms_eval_finance.judging.rules.findings import Finding

__all__ = ["compare_formulas"]

_IS_FORMULA = re.compile(r"\\[a-zA-Z]{2,}|[\w})\]]\s*(?:=|<|>|≤|≥)\s*[\w({\\]|[\w}]\s*\^|_\{?\w")
# "label = figure", once or several times: a value with a name, compared as a value.
_IS_VALUE = re.compile(r"(?:[^=\n;<>]{1,80}(?:=|≈|\\approx)\s*\$?[-−–+]?\$?\s?[\d.][^=\n;<>]{0,40}[\n;,.]*)+")
_WORD = re.compile(r"(?<![\\A-Za-zÀ-ÿ])[A-Za-zÀ-ÿ]{4,}")
_DROPPED = re.compile(
    r"\\(?:left|right|displaystyle|textstyle|quad|qquad|[bB]igg?[lr]?|,|;|!|:| )|\\(?:text|mathrm|mathbf|mathit|mathbb|operatorname)(?![a-zA-Z])"
    r"|\\[()\[\]]|\$|[\s{}~]"
)
_SAME = [
    (r"\\(?:leqslant|leq|le)(?![a-zA-Z])", "≤"),
    (r"\\(?:geqslant|geq|ge)(?![a-zA-Z])", "≥"),
    (r"\\lt(?![a-zA-Z])", "<"),
    (r"\\gt(?![a-zA-Z])", ">"),
    (r"\\(?:cdot|times|ast)(?![a-zA-Z])|[×·⋅*]", ""),
    (r"\\[dtc]frac", r"\\frac"),
    (r"\\var(epsilon|phi|sigma|rho|theta)", r"\\\1"),
    (r"[−–]", "-"),
]
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "Δ": "Delta", "λ": "lambda", "μ": "mu", "ρ": "rho",
    "σ": "sigma", "φ": "phi", "ϕ": "phi", "ξ": "xi", "π": "pi", "ε": "epsilon", "θ": "theta",
}  # fmt: skip


def compare_formulas(gold: str, answer: str) -> Finding | None:
    r"""Compare an answer with a gold that is a formula; None for other golds.

    >>> compare_formulas(r"$c_{2} \le 0.5(c_{1}+c_{3})$", r"\( c_2 \leq 0.5 (c_1 + c_3) \)").verdict
    True
    >>> compare_formulas("$V_0=S_0$", "V_0 = S_1").verdict is None, compare_formulas("CACEIS", "CACEIS") is None
    (True, True)
    """
    if not re.search(r"[A-Za-zα-ω]", re.sub(r"\\[A-Za-z]+", "", gold)):
        return None
    if not _IS_FORMULA.search(gold) or _IS_VALUE.fullmatch(gold) or len(_WORD.findall(gold)) > 2:
        return None
    wanted = _plain(gold)
    if not re.search(r"[a-z]", wanted) or len(wanted) < 3:
        return None
    given = _plain(answer)
    if wanted == given or (len(wanted) >= 5 and _stands_in(wanted, given)):
        return Finding(True, "the same formula")
    if _turned(wanted) == given:
        return Finding(False, "the opposite relation")
    return Finding(None, "a formula in other writing")


def _turned(formula: str) -> str:
    return formula.translate(str.maketrans("<>≤≥", "><≥≤"))


def _stands_in(wanted: str, given: str) -> bool:
    position = given.find(wanted)
    if position < 0:
        return False
    rest = given[position + len(wanted) :]
    return (
        re.match(r"[\w+*/^_\\(-]", rest) is None
        or re.match(r"(?:\.|,|where|because|since|by)", rest) is not None
    )


def _plain(text: str) -> str:
    for pattern, same in _SAME:
        text = re.sub(pattern, same, text)
    for sign, name in _GREEK.items():
        text = text.replace(sign, "\\" + name)
    return _DROPPED.sub("", text).lower().rstrip(".;,")
