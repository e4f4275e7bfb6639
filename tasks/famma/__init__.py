"""FAMMA (arXiv 2410.04526)."""
