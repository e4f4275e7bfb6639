"""Multimodal Finance Eval (arXiv 2602.10384)."""
