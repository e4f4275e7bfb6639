"""CFMME (arXiv 2605.29462)."""
