"""Frozen results in, text out. The only room that knows Rich, and the only one that knows how things look."""
