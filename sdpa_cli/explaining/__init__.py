"""Explanations: a case, a fault or a topic in, a frozen `Trace` of steps out. Prose is in ``texts``, none in code."""
