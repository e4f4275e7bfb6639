"""CDM, the similarity of formulas by what they print: without TeX, two orders of magnitude faster.

>>> cdm("E=mc^2", "E=mc^3").f1
0.8
"""

from lmms_eval_finance.metrics.formula.glyphs import EngineError, Glyph, Layout, Variant
from lmms_eval_finance.metrics.formula.mathjax import drawing
from lmms_eval_finance.metrics.formula.scoring import (
    VERSIONS,
    CDMScore,
    Comparison,
    Engine,
    cdm,
    cdm_batch,
    compare_batch,
    signature,
)

__all__ = [
    "VERSIONS",
    "CDMScore",
    "Comparison",
    "Engine",
    "EngineError",
    "Glyph",
    "Layout",
    "Variant",
    "cdm",
    "cdm_batch",
    "compare_batch",
    "drawing",
    "signature",
]
