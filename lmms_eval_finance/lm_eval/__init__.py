"""Text-only variants of the tasks for lm-eval."""
