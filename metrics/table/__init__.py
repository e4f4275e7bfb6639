"""TEDS, the similarity of tables by tree edit distance: exact, tolerant of how models answer, bounded.

>>> teds("<table><tr><td>1</td></tr></table>", "<table><tr><td>2</td></tr></table>")
0.5
"""

from lmms_eval_finance.metrics.table.scoring import TIME_LIMIT, VERSIONS, Engine, Variant, teds, teds_batch
from lmms_eval_finance.metrics.table.trees import TedsLimit

__all__ = ["TIME_LIMIT", "VERSIONS", "Engine", "TedsLimit", "Variant", "teds", "teds_batch"]
