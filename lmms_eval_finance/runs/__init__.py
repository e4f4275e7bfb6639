"""Reading saved runs back: re-scoring, comparison, error analysis, review."""
