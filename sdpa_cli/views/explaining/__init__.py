"""Explanations as people and programs read them: terminal, Markdown, HTML and JSON."""
