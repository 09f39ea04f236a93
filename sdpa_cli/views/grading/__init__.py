"""Views of what grading found: for a terminal, for programs, for continuous integration."""
