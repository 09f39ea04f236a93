"""The closed set of things a check can demand. Exercises combine them as data; a new exercise needs no new one."""
