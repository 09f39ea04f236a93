"""Exercises as data, and a submission held against them: what is right, what is not, and which known fault it is."""
