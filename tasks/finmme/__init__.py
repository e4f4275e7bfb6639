"""FinMME (arXiv 2505.24714)."""
