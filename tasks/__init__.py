"""The benchmarks as lmms-eval tasks: YAML and the hooks it names."""
