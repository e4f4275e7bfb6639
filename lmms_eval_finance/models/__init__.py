"""The offline baseline model and generation presets."""
