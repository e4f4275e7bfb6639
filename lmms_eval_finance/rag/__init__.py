"""Retrieval from reference books: read, cut into passages, indexed once, searched under a token budget."""
