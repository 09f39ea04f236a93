"""A whole class: submissions found, told apart, graded by many workers, kept in a gradebook, and summed up."""
