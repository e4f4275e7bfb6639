"""Judging open answers: verdicts, rules, language judges, cache, agreement."""
