"""Financial-document benchmarks and scorers for lmms-eval and lm-eval."""

__version__ = "0.1.0"
