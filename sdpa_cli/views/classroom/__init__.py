"""Views of a graded class: for the instructor, for each student, for learning platforms and for pipelines."""
