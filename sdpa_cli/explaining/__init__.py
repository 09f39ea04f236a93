"""Explanations: a case, a fault or a topic in, a frozen `Trace` of steps out. Its prose is in ``texts``, none in code."""
