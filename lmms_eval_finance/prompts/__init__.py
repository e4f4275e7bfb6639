"""Prompt templates, one file each, loaded by name and hashed into the signature."""
