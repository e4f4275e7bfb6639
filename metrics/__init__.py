"""Finance-specific metrics as pure functions, independent of any evaluation framework."""
